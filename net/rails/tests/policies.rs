//! Decisions of the policies, computed by hand. Times are in nanoseconds, G in ns/B.

use rails::{Message, Parameters, Part, Policy, Scheduler, Stripes};

/// o, L, g, G.
type Machine = [u64; 4];

/// Busy with a message of 101 bytes for 500, which is delivered after 1300.
const FAST: Machine = [100, 1000, 400, 1];
/// Busy with a message of 101 bytes for 1200, which is delivered after 3200.
const SLOW: Machine = [100, 2000, 200, 10];
const BOTH: u8 = 0b11;

fn parameters([o, l, g, per_byte]: Machine) -> Parameters {
    Parameters {
        send_overhead: o << 10,
        receive_overhead: o << 10,
        latency: l << 10,
        gap: g << 10,
        gap_per_byte: per_byte << 20,
        weight: 0,
    }
}

fn scheduler(rails: &[Machine], policy: Policy, stripes: Stripes) -> Scheduler {
    let rails: Vec<_> = rails.iter().map(|rail| parameters(*rail)).collect();
    Scheduler::new(&rails, policy, stripes)
}

/// The rails that messages of these times and sizes take.
fn chosen(rails: &[Machine], policy: Policy, messages: &[(u64, u64)]) -> Vec<u8> {
    let (mut scheduler, mut turn) = (scheduler(rails, policy, Stripes::None), 0);
    let mut choose = |&(now, bytes): &(u64, u64)| {
        scheduler.choose(Message { now: now << 10, bytes, usable: u8::MAX }, &mut turn)
    };
    messages.iter().map(&mut choose).collect()
}

/// The rails that so many messages take which are all there at the start.
fn at_once(rails: &[Machine], policy: &str, bytes: u64, count: usize) -> Vec<u8> {
    let policy = Policy::named(policy).expect("a policy");
    chosen(rails, policy, &vec![(0, bytes); count])
}

#[test]
fn one_rail_takes_all() {
    assert_eq!(chosen(&[FAST, SLOW], Policy::Single(1), &[(0, 1); 3]), [1, 1, 1]);
    let mut scheduler = scheduler(&[FAST, SLOW], Policy::Single(1), Stripes::None);
    let lost = Message { now: 0, bytes: 1, usable: 0b01 };
    assert_eq!(scheduler.choose(lost, &mut 0), 0, "it does not lead there");
    let mut scheduler = self::scheduler(&[FAST, SLOW], Policy::Single(1), Stripes::WaterFilling);
    let large = Message { now: 0, bytes: 1 << 20, usable: 0b11 };
    let parts: Vec<_> =
        scheduler.split(large, &mut 0).iter().map(|part| (part.rail, part.bytes)).collect();
    assert_eq!(parts, [(1, 1 << 20)]);
}

#[test]
fn in_turn() {
    assert_eq!(at_once(&[FAST, SLOW, FAST], "round-robin", 1, 5), [0, 1, 2, 0, 1]);
    let mut scheduler = scheduler(&[FAST, SLOW, FAST], Policy::InTurn, Stripes::None);
    let mut choose = |usable| scheduler.choose(Message { now: 0, bytes: 1, usable }, &mut 0);
    assert_eq!([0b111, 0b101, 0b101, 0b111].map(&mut choose), [0, 2, 0, 1]);
}

/// Each destination has a turn of its own.
#[test]
fn in_turn_by_destination() {
    let mut scheduler = scheduler(&[FAST, SLOW], Policy::InTurnByDestination, Stripes::None);
    let mut turns = [0; 2];
    let message = Message { now: 0, bytes: 1, usable: BOTH };
    let mut choose = |destination: usize| scheduler.choose(message, &mut turns[destination]);
    assert_eq!([0, 1, 0, 0, 1].map(&mut choose), [0, 0, 1, 0, 1]);
}

/// The fast rail has ten times the bandwidth of the slow one.
#[test]
fn in_turn_by_weight() {
    let all = at_once(&[FAST, SLOW], "weighted", 1, 23);
    let expected: Vec<u8> = [&[0; 10][..], &[1], &[0; 10], &[1], &[0]].concat();
    assert_eq!(all, expected);
}

/// Shares of 3, 2 and 1: the example of seed 003, section 4.3.4.2.
#[test]
fn in_turn_by_weights_that_are_set() {
    let rails = [3, 2, 1].map(|weight| Parameters { weight, ..parameters(FAST) });
    let mut scheduler = Scheduler::new(&rails, Policy::Weighted, Stripes::None);
    let message = Message { now: 0, bytes: 1, usable: u8::MAX };
    let all: Vec<u8> = (0..8).map(|_| scheduler.choose(message, &mut 0)).collect();
    assert_eq!(all, [0, 0, 0, 1, 1, 2, 0, 0]);
}

/// Finishing times begin at 1 and 10; with the tenth message the fast rail is at 10, too, and comes
/// first; then the slow one has its turn.
#[test]
fn fair_queuing() {
    let all = at_once(&[FAST, SLOW], "wfq", 1, 12);
    assert_eq!(all, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
}

/// By g alone, the slow rail comes first and takes two of three: 200, 400 | 400, …
#[test]
fn by_the_gap() {
    assert_eq!(at_once(&[FAST, SLOW], "vft-4.4.1", 101, 7), [1, 0, 1, 1, 0, 1, 1]);
}

/// With the size: the slow rail at 1200, the fast one at 500, 1000, 1500, then the slow one.
#[test]
fn by_the_size() {
    assert_eq!(at_once(&[FAST, SLOW], "vft-4.4.2", 101, 6), [1, 0, 0, 0, 1, 0]);
}

/// The finishing times stay behind while nothing is sent: 4.4.2 goes on to balance what is long
/// over, and 4.4.3 takes the first rail that is free, the one with the least g.
#[test]
fn pauses() {
    let messages = [(0, 101), (5000, 101), (10_000, 101), (10_000, 101)];
    assert_eq!(chosen(&[FAST, SLOW], Policy::Size, &messages), [1, 0, 0, 0]);
    assert_eq!(chosen(&[FAST, SLOW], Policy::Pauses, &messages), [1, 1, 1, 0]);
}

/// 2o + L is 1200 and 2200: the fast rail is better until it is busy for 1000 more.
#[test]
fn by_the_latency() {
    assert_eq!(at_once(&[FAST, SLOW], "vft-4.4.4", 101, 5), [0, 0, 0, 1, 0]);
}

/// Of 10 001 bytes, ten of the fast rail's would be there before one of the slow one's, which takes
/// 100 µs; the listing does not see that.
#[test]
fn the_listing_leaves_out_the_bytes() {
    assert_eq!(at_once(&[FAST, SLOW], "vft-4.4.4", 10_001, 3), [0, 1, 0]);
    assert_eq!(at_once(&[FAST, SLOW], "vft", 10_001, 9), [0; 9]);
}

/// The overhead passes while the interface is busy: the fast rail costs 1200, 1600, 2100 and 2600;
/// for the third message that is still less than the slow one's 2200.
#[test]
fn by_the_overlap() {
    assert_eq!(at_once(&[FAST, SLOW], "vft-4.4.5", 101, 5), [0, 0, 0, 1, 0]);
    let wide = [1000, 1000, 400, 1];
    // 3000, and 3000 still when it is busy for 500 or 1000, which are within o; then 3500.
    assert_eq!(at_once(&[wide, wide], "vft-4.4.5", 101, 4), [0, 0, 0, 1]);
    assert_eq!(at_once(&[wide, SLOW], "vft-4.4.4", 101, 2), [1, 0]);
}

/// Deliveries at 1300, 1800, 2300, 2800 and 3300 by the fast rail, at 3200 by the slow one.
#[test]
fn by_the_delivery() {
    assert_eq!(at_once(&[FAST, SLOW], "vft", 101, 6), [0, 0, 0, 0, 1, 0]);
    assert_eq!(at_once(&[SLOW, FAST], "vft", 101, 6), [1, 1, 1, 1, 0, 1]);
    assert_eq!(at_once(&[FAST, FAST], "vft", 101, 4), [0, 1, 0, 1]);
    assert_eq!(at_once(&[FAST, FAST, FAST], "vft", 1, 4), [0, 1, 2, 0]);
}

/// Of equals, the first in the file; a rail that is free again is as good as new.
#[test]
fn ties_go_to_the_first() {
    let spaced = [(0, 101), (500, 101), (1000, 101)];
    assert_eq!(chosen(&[FAST, FAST], Policy::Delivery, &spaced), [0, 0, 0]);
    let close = [(0, 101), (499, 101), (1000, 101)];
    assert_eq!(chosen(&[FAST, FAST], Policy::Delivery, &close), [0, 1, 0]);
}

/// As by the delivery, but a message that has waited makes the next ones wait up to a quarter
/// longer than the slow rail would take: 3300 < 3200 and a quarter, up to 3800.
#[test]
fn earliest_completion_first() {
    let all = at_once(&[FAST, SLOW], "ecf", 101, 8);
    assert_eq!(all, [0, 0, 0, 0, 0, 0, 1, 0]);
    // No slow rail is free: the fast one is waited for.
    assert_eq!(at_once(&[FAST], "ecf", 101, 2), [0, 0]);
}

/// A message to one destination keeps a rail busy for all.
#[test]
fn the_state_of_a_rail_is_one() {
    let mut scheduler = scheduler(&[FAST, FAST], Policy::Delivery, Stripes::None);
    let mut choose = |usable| scheduler.choose(Message { now: 0, bytes: 101, usable }, &mut 0);
    // The first destination is on rail 0 alone.
    assert_eq!([0b01, 0b11, 0b11].map(&mut choose), [0, 1, 0]);
}

fn parts(rails: &[Machine], stripes: Stripes, bytes: u64) -> Vec<(u8, u64)> {
    let mut scheduler = scheduler(rails, Policy::Delivery, stripes);
    let parts = scheduler.split(Message { now: 0, bytes, usable: u8::MAX }, &mut 0);
    parts.iter().map(|&Part { rail, bytes }| (rail, bytes)).collect()
}

#[test]
fn stripes_of_equal_size() {
    assert_eq!(parts(&[FAST, SLOW], Stripes::None, 1001), [(0, 1001)]);
    assert_eq!(parts(&[FAST, SLOW], Stripes::Equal, 1001), [(0, 501), (1, 500)]);
    assert_eq!(parts(&[FAST, SLOW, SLOW], Stripes::Equal, 2), [(0, 1), (1, 1)]);
    assert_eq!(parts(&[FAST, SLOW], Stripes::Equal, 0), [(0, 0)]);
}

#[test]
fn stripes_by_bandwidth() {
    assert_eq!(parts(&[FAST, SLOW], Stripes::Bandwidth, 1100), [(0, 1000), (1, 100)]);
}

/// 1 + (T - 1600) + 1 + (T - 100 - 2400)/10 = 10 002 has T = 10 773: 9174 bytes and 828, which end
/// at the same time. The slow rail begins after the overhead of the first part.
#[test]
fn stripes_that_arrive_together() {
    let split = parts(&[FAST, SLOW], Stripes::WaterFilling, 10_002);
    assert_eq!(split, [(0, 9174), (1, 828)]);
}

/// A message that the fast rail delivers before the slow one could begin is not split.
#[test]
fn no_stripe_for_a_rail_that_is_too_slow() {
    assert_eq!(parts(&[FAST, SLOW], Stripes::WaterFilling, 901), [(0, 901)]);
    assert_eq!(parts(&[SLOW, FAST], Stripes::WaterFilling, 601), [(1, 601)]);
}
