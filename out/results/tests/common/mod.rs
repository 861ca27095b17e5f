//! One message of 10 bytes under the default parameters, L = 2500 ns, o = 1500 ns, G = 6 ns/B, O =
//! 0.
//!
//! Rank 0 computes 100 ns and sends; rank 1 posts its receive at 0. The send's overhead ends at 100
//! + 1500 = 1600 ns, the message arrives at 1600 + 2500 = 4100 ns, and rank 1 is busy with it for o
//! + 9 G = 1554 ns, until 5654 ns.

// Not every test file uses every item.
#![allow(dead_code)]

use std::path::Path;

use host::{Activity, CriticalPath, Outcome, RankTotals, Record};
use kernel::Probe;
use results::{Collector, Performance, Recorded, Tables, Wanted};
use units::Time;

pub const EVERYTHING: Wanted =
    Wanted { messages: true, slices: u32::MAX, operations: true, computations: true };

pub const fn ns(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

pub fn outcome() -> Outcome {
    let sender = RankTotals {
        finish: ns(1600),
        busy: ns(1600),
        sent_messages: 1,
        sent_bytes: 10,
        ..RankTotals::default()
    };
    let receiver = RankTotals {
        finish: ns(5654),
        busy: ns(1554),
        received_messages: 1,
        received_bytes: 10,
        latency: ns(2500),
        bandwidth: ns(54),
        contention: ns(7),
        ..RankTotals::default()
    };
    Outcome {
        ranks: vec![sender, receiver],
        events: 4,
        signals: 0,
        path: CriticalPath {
            rank: 1,
            compute: ns(93),
            overhead: ns(3000),
            latency: ns(2500),
            bandwidth: ns(54),
            contention: ns(7),
            waiting: Time::ZERO,
        },
        deadlock: None,
        remarks: Vec::new(),
    }
}

pub fn busy(
    (rank, cpu): (u32, u8),
    activity: Activity,
    (start, end): (Time, Time),
    message: Option<(u32, u32)>,
    operation: Option<u32>,
) -> Record {
    Record::Busy { rank, cpu, activity, start, end, message, operation }
}

/// The records of rank 0.
pub fn of_sender() -> Vec<Record> {
    vec![
        busy((0, 0), Activity::Compute, (ns(0), ns(100)), None, Some(0)),
        busy((0, 0), Activity::Send, (ns(100), ns(1600)), Some((0, 0)), Some(1)),
        Record::Sent {
            source: 0,
            sequence: 0,
            destination: 1,
            tag: 7,
            size: 10,
            posted: ns(100),
            injected: ns(1600),
        },
    ]
}

/// The records of rank 1.
pub fn of_receiver() -> Vec<Record> {
    vec![
        Record::Delivered { source: 0, sequence: 0, at: ns(4100) },
        busy((1, 0), Activity::Receive, (ns(4100), ns(5654)), Some((0, 0)), None),
        Record::Matched { source: 0, sequence: 0, at: ns(4100), receive: 3 },
    ]
}

pub fn collect(wanted: Wanted, workers: &[Vec<Record>]) -> Recorded {
    tables(wanted, workers, None).recorded().unwrap()
}

/// Everything, by collectors that may move records to files.
pub fn moved(workers: &[Vec<Record>]) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    tables(EVERYTHING, workers, Some(folder.path())).recorded().unwrap()
}

pub fn tables(wanted: Wanted, workers: &[Vec<Record>], folder: Option<&Path>) -> Tables {
    let collector = || Collector::new(wanted, folder);
    let workers = workers.iter().map(|records| filled(collector(), records));
    Collector::merge(workers.collect()).unwrap()
}

fn filled(mut collector: Collector, records: &[Record]) -> Collector {
    for &record in records {
        collector.record(record);
    }
    collector
}

pub fn recorded() -> Recorded {
    collect(EVERYTHING, &[of_sender(), of_receiver()])
}

pub const fn performance() -> Performance {
    Performance {
        wall_seconds: 0.5,
        simulation_seconds: 0.25,
        cpu_seconds: 0.4,
        peak_rss_bytes: Some(3 << 20),
        events_per_second: Some(16.0),
        messages_per_second: 4.0,
        threads: 2,
        processes: None,
    }
}
