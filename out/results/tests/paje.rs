//! Paje timelines.

mod common;

use common::{EVERYTHING, busy, collect, ns, of_sender, recorded};
use host::Activity;
use results::{LinkLoad, Recorded, write_paje};
use units::Time;

fn paje(ranks: u32, recorded: &Recorded) -> String {
    let mut out = Vec::new();
    write_paje(&mut out, ranks, recorded).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the part behind the fixed header: from the first container of a rank on.
fn body(ranks: u32, recorded: &Recorded) -> String {
    let text = paje(ranks, recorded);
    let (_, body) = text.split_once("heddle\n").expect("the root container");
    body.to_owned()
}

#[test]
fn one_message() {
    assert_eq!(
        body(2, &recorded()),
        "\
4 0.000000000000 r0 R p \"rank 0\"
4 0.000000000000 r1 R p \"rank 1\"
6 0.000000000000 S r0 Sc
7 0.000000100000 S r0
6 0.000000100000 S r0 Ss
7 0.000001600000 S r0
8 0.000001600000 L p r0 message 0 7 10
6 0.000004100000 S r1 Sr
9 0.000004100000 L p r1 message 0
7 0.000005654000 S r1
5 0.000005654000 R r0
5 0.000005654000 R r1
5 0.000005654000 P p
"
    );
}

/// Each line has as many fields as its event's definition says.
#[test]
fn lines_fit_the_definitions() {
    let mut recorded = recorded();
    let loads = vec![(Time::ZERO, 5), (Time::from_ps(1_600_000), 0)];
    recorded.links = vec![LinkLoad { name: "up".to_owned(), bandwidth: 20, loads }];
    let text = paje(2, &recorded);
    // 5 of 20 B/s, then nothing.
    assert!(text.contains("\n11 0.000000000000 U k0 0.250000\n"), "{text}");
    assert!(text.contains("\n11 0.000001600000 U k0 0.000000\n"), "{text}");
    let mut widths = std::collections::BTreeMap::new();
    let mut defining = "";
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["%EventDef", _, id] => defining = id,
            ["%EndEventDef"] => {}
            ["%", _, _] => *widths.entry(defining).or_insert(0) += 1,
            _ => {
                // Names in quotation marks are one field.
                let quoted = line.split('"').skip(1).step_by(2);
                let inner: usize = quoted.map(|name| name.matches(' ').count()).sum();
                assert_eq!(words.len() - 1 - inner, widths[words[0]], "{line}");
            }
        }
    }
    assert_eq!(widths.len(), 12);
}

/// Rank 0 has two CPUs: its states lie in containers of their own.
#[test]
fn several_cpus() {
    let on = |rank, cpu| busy((rank, cpu), Activity::Compute, (ns(0), ns(1)), None, None);
    let recorded = collect(EVERYTHING, &[vec![on(0, 0), on(0, 2), on(1, 0)]]);
    assert_eq!(
        body(2, &recorded),
        "\
4 0.000000000000 r0 R p \"rank 0\"
4 0.000000000000 r1 R p \"rank 1\"
4 0.000000000000 r0c0 C r0 \"rank 0 cpu 0\"
4 0.000000000000 r0c2 C r0 \"rank 0 cpu 2\"
4 0.000000000000 r1c0 C r1 \"rank 1 cpu 0\"
6 0.000000000000 T r0c0 Tc
6 0.000000000000 T r0c2 Tc
6 0.000000000000 T r1c0 Tc
7 0.000000001000 T r0c0
7 0.000000001000 T r0c2
7 0.000000001000 T r1c0
5 0.000000001000 C r0c0
5 0.000000001000 C r0c2
5 0.000000001000 C r1c0
5 0.000000001000 R r0
5 0.000000001000 R r1
5 0.000000001000 P p
"
    );
}

/// Slices of no length end before the next begins, at the same time.
#[test]
fn empty_slices_do_not_nest() {
    let at = |start, end| busy((0, 0), Activity::Compute, (ns(start), ns(end)), None, None);
    let recorded = collect(EVERYTHING, &[vec![at(0, 5), at(5, 5), at(5, 9)]]);
    let letters: String =
        body(1, &recorded).lines().filter_map(|line| line.chars().next()).collect();
    assert_eq!(letters, "467676755");
}

/// A message that never arrives has no link, and a time of 213 days keeps its picoseconds.
#[test]
fn lost_messages_and_long_times() {
    let mut records = of_sender();
    let late = Time::from_ps(u64::MAX - 1);
    records.push(busy((1, 0), Activity::Compute, (ns(0), late), None, None));
    let text = body(2, &collect(EVERYTHING, &[records]));
    assert!(!text.lines().any(|line| line.starts_with(['8', '9'])), "{text}");
    assert!(text.contains("\n7 18446744.073709551614 S r1\n"), "{text}");
}
