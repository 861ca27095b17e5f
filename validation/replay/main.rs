//! Programs recorded here with the MPI libraries that are installed, and replayed.
//!
//! Without an MPI library there is nothing to record: the tests say so and pass. What the second
//! test prints (`--nocapture`) stands in the chapter on traces.

#[path = "../../run/cli/tests/common/mod.rs"]
mod common;
mod fit;
#[path = "../../app/recorder/tests/support/programs.rs"]
mod programs;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use common::Folder;
use fit::{Fitted, Round, Span, fit};
use programs::{Mpi, libraries};
use traces::record::Record;
use traces::source::Traces;

/// One recording at a time: the processors are few.
static ALONE: Mutex<()> = Mutex::new(());

/// A program of which no rank fails.
fn record(mpi: &Mpi, name: &str, ranks: u32, arguments: &[&str]) -> String {
    let (traces, status) = mpi.traces(name, ranks, arguments, &[]);
    assert!(status.success(), "{name} under {}: {status}", mpi.kind);
    traces.to_str().expect("a path in UTF-8").to_owned()
}

/// Point to point, neighbours, reductions, communicators with collectives of uneven counts,
/// persistent and one-sided operations, Fortran's two modules: each in all three modes, without a
/// word of warning.
#[test]
fn recorded_programs_replay_without_a_warning() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("replay-modes");
    for mpi in libraries() {
        let programs = [
            ("pingpong", 2),
            ("halo", 4),
            ("cg", 3),
            ("groups", 4),
            ("persistent", 3),
            ("onesided", 3),
            ("classic", 3),
            ("modern", 3),
        ];
        for (name, ranks) in programs {
            let traces = record(mpi, name, ranks, &[]);
            for mode in ["gaps", "durations", "aligned"] {
                let ended =
                    folder.heddle(&format!("run {traces} --set traces.mode={mode} --format json"));
                assert_eq!(ended.stderr, "", "{name} under {}, mode {mode}", mpi.kind);
                let run = ended.json();
                assert_eq!(run["ranks"], ranks);
                assert!(run["makespan_ps"].as_u64().expect("a time") > 0, "{name}");
            }
        }
    }
}

/// The calls of a rank of a recorded ping-pong: name, times in nanoseconds, bytes of a send.
fn recorded(traces: &str, rank: u32) -> Vec<(String, Span, u64)> {
    let traces = Traces::find(Path::new(traces)).expect("traces");
    let mut stream = traces.open(rank).expect("a trace");
    let (mut record, mut calls) = (Record::default(), Vec::new());
    while stream.next(&mut record).expect("readable") {
        let Some(call) = record.call() else { continue };
        let span = Span { enter: record.enter as f64 / 1e3, leave: record.leave as f64 / 1e3 };
        // Count and size of the datatype.
        let bytes = match record.values[..] {
            [_, count, _, size, ..] => (count * size).cast_unsigned(),
            _ => 0,
        };
        calls.push((call.name.to_owned(), span, bytes));
    }
    calls
}

/// The calls of a rank in a table of simulated ones.
fn simulated(table: &str, rank: u32) -> Vec<Span> {
    let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    let own =
        rows.filter(|row| row[0] == rank.to_string() && ["MPI_Send", "MPI_Recv"].contains(&row[2]));
    let time = |cell: &str| cell.parse::<f64>().expect("a time") / 1e3;
    own.map(|row| Span { enter: time(row[3]), leave: time(row[4]) }).collect()
}

/// Rounds of rank 0's sends and receives and rank 1's receives and sends.
fn rounds(first: &[Span], second: &[Span], bytes: &[u64]) -> Vec<Round> {
    let pairs = first.chunks(2).zip(second.chunks(2)).zip(bytes);
    pairs
        .map(|((first, second), bytes)| Round {
            bytes: *bytes,
            send: first[0],
            receive: first[1],
            pause: second[1].enter - second[0].leave,
        })
        .collect()
}

/// The parameters of a recorded ping-pong; and the sizes of its rounds.
fn fitted(traces: &str) -> (Fitted, Vec<u64>) {
    let exchange = |rank| {
        let calls = recorded(traces, rank);
        calls.into_iter().filter(|(name, ..)| ["MPI_Send", "MPI_Recv"].contains(&name.as_str()))
    };
    let bytes: Vec<u64> =
        exchange(0).filter(|call| call.0 == "MPI_Send").map(|call| call.2).collect();
    let spans = |rank| exchange(rank).map(|call| call.1).collect::<Vec<_>>();
    (fit(&rounds(&spans(0), &spans(1), &bytes)), bytes)
}

const KNOWN: Fitted = Fitted { overhead: 1000.0, small: (2000.0, 2.0), large: (3000.0, 1.0) };

/// The parameters are these but for what is rounded.
fn near(found: Fitted, known: Fitted) {
    let all = |fitted: Fitted| {
        [fitted.overhead, fitted.small.0, fitted.small.1, fitted.large.0, fitted.large.1]
    };
    let pairs = all(found).into_iter().zip(all(known));
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}");
}

/// o = 1000 ns, L = 2000 ns, G = 2 ns/B, rank 1 computes for 300 ns: a round of s bytes takes
/// 2 (2000 + 2000 + 2 (s - 1)) + 300 ns; above 4096 bytes L = 3000 ns and G = 1 ns/B,
/// 2 (2000 + 3000 + (s - 1)) + 300 ns. One round of each size is disturbed by 1 ms, and one size
/// takes 5 us longer.
#[test]
fn a_line_is_found_again() {
    let mut now = 0.0;
    let mut all = Vec::new();
    for bytes in [1, 16, 256, 1024, 4096, 16384, 32768, 65536] {
        for round in 0..5 {
            let disturbed = if round == 2 { 1e6 } else { 0.0 };
            let slow = if bytes == 1024 { 1e4 } else { 0.0 };
            let (constant, rate) = if bytes > 4096 { (5000.0, 1.0) } else { (4000.0, 2.0) };
            let took = 2.0 * (constant + rate * (bytes as f64 - 1.0)) + 300.0 + disturbed + slow;
            all.push(Round {
                bytes,
                send: Span { enter: now, leave: now + 1000.0 },
                receive: Span { enter: now + 1000.0, leave: now + took },
                pause: 300.0,
            });
            now += took + 50.0;
        }
    }
    near(fit(&all), KNOWN);
}

/// The recorded ping-pong gives parameters; with these, programs on two ranks are predicted and
/// compared with what was recorded. How near that comes depends on what else the machine does, so
/// that it is printed and not asserted; what is asserted is that a ping-pong simulated with known
/// parameters gives these.
#[test]
fn a_pingpong_predicts_other_programs() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::new("replay-fit");
    for mpi in libraries() {
        let pingpong = record(mpi, "pingpong", 2, &[]);
        let (machine, bytes) = fitted(&pingpong);
        println!("{}: {machine}", mpi.kind);
        let run = "--tables ranks,calls -o out --force --quiet";
        let ended = folder.heddle(&format!("run {pingpong} {KNOWN} {run}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let table = String::from_utf8(folder.read("out/calls.csv")).expect("a table");
        near(fit(&rounds(&simulated(&table, 0), &simulated(&table, 1), &bytes)), KNOWN);
        let programs: [(&str, &[&str]); 7] = [
            ("pingpong", &[]),
            ("cg", &["200"]),
            ("halo", &["500"]),
            ("persistent", &[]),
            ("onesided", &[]),
            ("classic", &[]),
            ("modern", &[]),
        ];
        for (name, arguments) in programs {
            let traces =
                if name == "pingpong" { pingpong.clone() } else { record(mpi, name, 2, arguments) };
            let ended = folder.heddle(&format!("run {traces} {machine} {run}"));
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{name}");
            let both = folder.heddle(&format!("compare {traces} out --format json")).json();
            let makespan =
                |side: &str| both[side]["makespan_ps"].as_u64().expect("a time") as f64 / 1e6;
            let (recorded, predicted) = (makespan("a"), makespan("b"));
            assert!(recorded > 0.0 && predicted > 0.0);
            let error = (predicted / recorded - 1.0) * 100.0;
            println!(
                "  {name:<12}{recorded:>12.1} us recorded {predicted:>12.1} us predicted \
                 {error:>+8.1} %"
            );
        }
    }
}
