//! The timeline on the terminal.

mod common;

use common::{busy, ns};
use host::{Activity, Deadlock, Outcome, PendingOp, RankTotals, Record};
use proptest::prelude::*;
use results::{Pending, Screen, Summary, Wanted, write_gantt};
use schedule::{Kind, Op};

use Activity::{Compute, Receive, Send};

const SLICES: Wanted =
    Wanted { messages: false, slices: u32::MAX, operations: false, computations: false };

/// The columns of a label such as `rank 0 ` and of the two sides.
const FRAME: u16 = 9;

fn work(cpu: (u32, u8), activity: Activity, (start, end): (u64, u64)) -> Record {
    busy(cpu, activity, (ns(start), ns(end)), None, None)
}

/// Ranks that finish at these times, in nanoseconds.
fn finishing(at: &[u64]) -> Outcome {
    let rank = |&finish| RankTotals { finish: ns(finish), ..RankTotals::default() };
    Outcome { ranks: at.iter().map(rank).collect(), ..Outcome::default() }
}

fn draw(outcome: &Outcome, records: Vec<Record>, width: u16, colour: bool) -> String {
    let tables = common::tables(SLICES, &[records], None);
    let summary = Summary::new(outcome, |pending: &PendingOp| {
        Pending::new(pending, &Op { kind: Kind::Recv, peer: 0, tag: 0, size: 1, cpu: 0, nic: 0 })
    });
    let screen = Screen { width, colour, unicode: true };
    let mut out = Vec::new();
    write_gantt(&mut out, &summary, &outcome.ranks, &tables.slices, screen).unwrap();
    String::from_utf8(out).unwrap()
}

/// The lines between the axis and the legend, without what stands before the side.
fn cells(chart: &str) -> Vec<&str> {
    chart.lines().filter_map(|line| line.split_once('│')?.1.strip_suffix('│')).collect()
}

/// One byte there and back, with L = 1500 ns and o = 1000 ns; the answer takes a computation of
/// 1000 ns. Rank 0 sends from 0 to 1, the byte arrives at 2.5, rank 1 receives until 3.5, computes
/// until 4.5 and sends until 5.5; the answer arrives at 7 and is received until 8 us.
fn ping_pong() -> (Outcome, Vec<Record>) {
    let records = vec![
        work((0, 0), Send, (0, 1000)),
        work((0, 0), Receive, (7000, 8000)),
        work((1, 0), Receive, (2500, 3500)),
        work((1, 0), Compute, (3500, 4500)),
        work((1, 0), Send, (4500, 5500)),
    ];
    (finishing(&[8000, 5500]), records)
}

/// With 32 cells, one lasts 250 ns. Marks are at least 12 cells apart, 3 us, and so at 0 and 5 us;
/// the latter is cell 20.
#[test]
fn a_ping_pong() {
    let (outcome, records) = ping_pong();
    let expected = "        \
        0                   5 us
       ┌┬───────────────────┬───────────┐
rank 0 │▀▀▀▀························▄▄▄▄│
rank 1 │··········▄▄▄▄████▀▀▀▀          │
        █ compute   ▀ send overhead   ▄ receive overhead, with bytes   · waiting
";
    assert_eq!(draw(&outcome, records, FRAME + 32, false), expected);
}

/// 24 cells, so that one lasts 1/3 us: rank 1 receives from 7.5 to 10.5 cells, computes until 13.5
/// and sends until 16.5. Of the halves, cell 7 goes to receiving rather than waiting, cells 10 and
/// 13 to computing, cell 16 to sending rather than to the time after the end.
#[test]
fn ties_go_to_the_first_of_the_legend() {
    let (outcome, records) = ping_pong();
    let chart = draw(&outcome, records, 0, false);
    assert_eq!(cells(&chart), ["▀▀▀··················▄▄▄", "·······▄▄▄████▀▀▀       "]);
}

/// In a cell of 100 ns are 30 of computing, 40 of sending in two parts, 20 of receiving and 10 of
/// waiting; then 45 of computing and 55 of waiting; then 45 of computing and 55 after the end.
#[test]
fn a_cell_shows_what_took_most_of_it() {
    let records = vec![
        work((0, 0), Send, (0, 20)),
        work((0, 0), Compute, (20, 50)),
        work((0, 0), Receive, (60, 80)),
        work((0, 0), Send, (80, 100)),
        work((0, 0), Compute, (120, 165)),
        work((0, 0), Compute, (200, 245)),
    ];
    let chart = draw(&finishing(&[245, 2400]), records, 0, false);
    assert_eq!(cells(&chart)[0], format!("▀·{}", " ".repeat(22)));
}

#[test]
fn colours_begin_and_end_with_each_run() {
    let (outcome, records) = ping_pong();
    let chart = draw(&outcome, records, FRAME + 32, true);
    let waiting = "·".repeat(24);
    let row = format!("│\x1b[33m▀▀▀▀\x1b[0m\x1b[2m{waiting}\x1b[0m\x1b[36m▄▄▄▄\x1b[0m│");
    assert!(chart.contains(&row), "{chart:?}");
    // What is empty has no colour.
    assert!(chart.contains("▀▀▀▀\x1b[0m          │\n"), "{chart:?}");
}

/// Ranks that are stuck wait to the end: rank 0 does since 600, rank 1 has finished at 1200, half
/// of the time.
#[test]
fn a_deadlock() {
    let records = vec![work((0, 0), Compute, (0, 600)), work((1, 0), Compute, (0, 1200))];
    let outcome = Outcome {
        deadlock: Some(Deadlock {
            at: ns(2400),
            ranks: 1,
            pending: vec![PendingOp { rank: 0, index: 1, started: true }],
            places: vec![],
            cycle: vec![],
        }),
        ..finishing(&[600, 1200])
    };
    let chart = draw(&outcome, records, 0, false);
    let (stuck, done) = ("█".repeat(6) + &"·".repeat(18), "█".repeat(12) + &" ".repeat(12));
    assert_eq!(cells(&chart), [stuck, done]);
}

/// Rank 1 has two CPUs, so that all CPUs are named.
#[test]
fn a_row_per_cpu() {
    let records = vec![
        work((0, 0), Compute, (0, 2400)),
        work((1, 0), Compute, (0, 1200)),
        work((1, 10), Send, (1200, 2400)),
    ];
    let chart = draw(&finishing(&[2400, 2400]), records, 0, false);
    let labels: Vec<_> = chart.lines().filter_map(|line| Some(line.split_once('│')?.0)).collect();
    assert_eq!(labels, ["rank 0 cpu  0 ", "rank 1 cpu  0 ", "rank 1 cpu 10 "]);
    let (half, rest) = ("█".repeat(12) + &"·".repeat(12), "·".repeat(12) + &"▀".repeat(12));
    assert_eq!(cells(&chart)[1..], [half, rest]);
}

#[test]
fn further_ranks_are_counted() {
    let chart = draw(&finishing(&[100; 33]), vec![], 80, false);
    assert_eq!(cells(&chart).len(), 32);
    assert!(chart.contains("\nrank 31 │·"), "{chart}");
    assert!(chart.contains("│\n… 1 more rank\n"), "{chart}");
    let chart = draw(&finishing(&[100; 32]), vec![], 80, false);
    assert!(!chart.contains('…'), "{chart}");
}

/// One row for rank 0 and 40 for rank 1, of which 31 fit.
#[test]
fn further_cpus_are_counted() {
    let records = (0..40).map(|cpu| work((1, cpu), Compute, (0, 100))).collect();
    let chart = draw(&finishing(&[100; 9]), records, 80, false);
    assert_eq!(cells(&chart).len(), 32);
    assert!(chart.contains("│\n… 9 more CPUs of rank 1\n… 7 more ranks\n"), "{chart}");
}

#[test]
fn nothing_to_draw() {
    for ranks in [&[][..], &[0, 0]] {
        let chart = draw(&finishing(ranks), vec![], 80, false);
        assert_eq!(chart, "no timeline: nothing takes any time\n");
    }
}

/// The longest time there is, and the widest terminal: a tick per 12 cells, none beyond the end.
#[test]
fn extremes() {
    let ranks = [RankTotals { finish: units::Time::MAX, ..RankTotals::default() }];
    let outcome = Outcome { ranks: ranks.to_vec(), ..Outcome::default() };
    let all = busy((0, 0), Compute, (units::Time::ZERO, units::Time::MAX), None, None);
    let chart = draw(&outcome, vec![all], u16::MAX, false);
    assert_eq!(cells(&chart), ["█".repeat(usize::from(u16::MAX - FRAME))]);
    // A picosecond: every cell is a part of it.
    let ranks = [RankTotals { finish: units::Time::from_ps(1), ..RankTotals::default() }];
    let outcome = Outcome { ranks: ranks.to_vec(), ..Outcome::default() };
    let all = busy((0, 0), Compute, (units::Time::ZERO, units::Time::from_ps(1)), None, None);
    assert_eq!(cells(&draw(&outcome, vec![all], 0, false)), ["█".repeat(24)]);
}

fn activity() -> impl Strategy<Value = Activity> {
    prop_oneof![Just(Compute), Just(Send), Just(Receive)]
}

proptest! {
    /// The frame and all rows are as wide as the terminal, and neither axis nor rows are wider.
    #[test]
    fn every_row_has_the_same_width(
        slices in prop::collection::vec(
            (0..40_u32, 0..3_u8, activity(), 0..5000_u64, 0..5000_u64), 0..60
        ),
        finish in prop::collection::vec(0..10_000_u64, 1..40),
        width in 40..200_u16,
    ) {
        let records = slices.into_iter().map(|(rank, cpu, activity, start, length)| {
            work((rank, cpu), activity, (start, start + length))
        });
        let mut finish = finish;
        finish[0] += 1;
        let chart = draw(&finishing(&finish), records.collect(), width, false);
        let widths = |mark| {
            chart.lines().filter(move |line| line.ends_with(mark)).map(|line| line.chars().count())
        };
        prop_assert_eq!(widths('┐').count(), 1);
        prop_assert!(widths('│').count() >= finish.len().min(32));
        prop_assert!(widths('┐').chain(widths('│')).all(|found| found == usize::from(width)));
        prop_assert!(chart.lines().next().is_some_and(|times| times.len() < usize::from(width)));
    }
}
