//! Congestion control at work: an incast with a victim, a parking lot. Shares follow from round
//! robin.

use crate::scenarios::{Seen, incast, parking_lot, play};

fn close(found: f64, wanted: f64, part: f64) {
    assert!((found / wanted - 1.0).abs() < part, "{found}, expected {wanted}");
}

/// Without congestion control: the link to leaf 0 carries 1, a quarter from each of the four leaves
/// by round robin, and 1/32 from each sender. The victim takes turns with the eight senders of its
/// leaf at their common uplink, whose buffer behind is full of the others' packets: it gets no more
/// than one of them. With it the victim has at least eight times that (8/32), and the incast still
/// nearly the whole link.
#[test]
fn victim_of_an_incast() {
    let without = play(incast(), false, 1);
    let share = |seen: &Seen| {
        let sources = &seen.observed.by_source;
        (sources[17], sources.iter().sum::<f64>() - sources[17])
    };
    let (victim, others) = share(&without);
    println!("without: victim {victim}, incast {others}");
    close(others, 1.0, 0.01);
    close(victim, 1.0 / 32.0, 0.02);
    for (source, &found) in without.observed.by_source.iter().enumerate() {
        if (9..45).contains(&source) && source % 9 < 8 {
            close(found, 1.0 / 32.0, 0.02);
        }
    }
    assert!(without.watched.flows.is_empty());

    let with = play(incast(), true, 1);
    let (victim, others) = share(&with);
    println!("with: victim {victim}, incast {others}");
    assert!(victim > 8.0 / 32.0, "{victim}");
    assert!(others > 0.85 && others < 1.0 + 1e-6, "{others}");
    // All flows of the incast are told of.
    let told = with.watched.flows.keys().filter(|flow| flow.1 == 0).count();
    assert_eq!(told, 32);
}

/// Round robin at each switch between its own host and all hosts behind it: 1/2, 1/4, 1/8 and 1/8
/// of the link to host 0. Congestion control evens that out: the worst has more, and Jain's index
/// of fairness, (sum)^2 / (n sum of squares), exceeds the 1 / (4 (1/4 + 1/16 + 2/64)) = 0.727 of
/// those shares. It takes no more than a quarter of the link for that.
#[test]
fn shares_of_a_parking_lot() {
    let without = play(parking_lot(), false, 1).observed.by_source;
    for (found, wanted) in without[1..].iter().zip([0.5, 0.25, 0.125, 0.125]) {
        close(*found, wanted, 0.02);
    }
    let with = play(parking_lot(), true, 1).observed.by_source;
    println!("with: {with:?}");
    let sum: f64 = with[1..].iter().sum();
    let squares: f64 = with[1..].iter().map(|share| share * share).sum();
    assert!(sum * sum / (4.0 * squares) > 0.8, "{with:?}");
    assert!(sum > 0.75, "{with:?}");
}

/// The records are equal on any number of threads, and agrees with what was delivered:
/// flits on the link to host 0 (link of port 0 of the first switch, device 5) are those of the
/// messages delivered there, 34 each; every message of host h crosses h + 2 links.
#[test]
fn watch_of_a_parking_lot() {
    let one = play(parking_lot(), false, 1);
    let two = play(parking_lot(), false, 2);
    assert_eq!(one.watched, two.watched);
    let (messages, _) = one.observed.delivered;
    let flits: u64 =
        one.watched.lanes.range((5, 0, 0)..=(5, 0, 255)).map(|(_, lane)| lane.flits()).sum();
    assert_eq!(flits, 34 * messages);
    assert_eq!(one.watched.hops.keys().copied().collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert_eq!(one.watched.hops.values().sum::<u64>(), messages);
    // The link to host 0 carries the load of four hosts, each that of a link until the end of the
    // last batch; what is left then runs empty.
    let used = one.link_utilisation();
    let busiest = used.iter().copied().fold(0.0, f64::max);
    assert!((busiest - 4.0).abs() < 0.01, "{used:?}");
}
