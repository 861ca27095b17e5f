//! Summary and performance, as JSON and on the terminal.

mod common;

use common::{ns, outcome, performance};
use host::{Deadlock, Outcome, PendingOp, RankTotals};
use results::{Pending, Performance, Summary, write_json, write_pretty, write_terminal};
use schedule::{ANY, Kind, Op};

fn summary() -> Summary {
    Summary::new(&outcome(), |_| unreachable!("there is no deadlock"))
}

/// Ranks 0, 3 and 1 wait for each other in a ring; rank 1 has not come to its receive. The send is
/// from a text, the others are not.
fn deadlock() -> Summary {
    let pending = |rank, index, started| PendingOp { rank, index, started };
    let outcome = Outcome {
        ranks: vec![RankTotals::default(); 4],
        events: 5,
        signals: 0,
        deadlock: Some(Deadlock {
            at: ns(4100),
            ranks: 3,
            pending: vec![pending(0, 2, true), pending(1, 0, false), pending(3, 1, true)],
            places: vec![],
            cycle: vec![0, 3, 1],
        }),
        remarks: vec!["zero lookahead: delta rounds".to_owned()],
        ..Outcome::default()
    };
    Summary::new(&outcome, |operation| {
        let (kind, peer, tag, size) = match operation.rank {
            0 => (Kind::Send, 3, 5, 100_000),
            1 => (Kind::Calc, 0, 0, 50),
            _ => (Kind::Recv, ANY, ANY, 10),
        };
        let op = Op { kind, peer, tag, size, cpu: 0, nic: 0 };
        let mut pending = Pending::new(operation, &op);
        if operation.rank == 0 {
            pending.line = Some(12);
            pending.text = Some("  l3: send 100000b to 3 tag 5".to_owned());
        }
        pending
    })
}

fn json(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn terminal(summary: &Summary, performance: &Performance) -> String {
    json(|out| write_terminal(out, summary, performance))
}

#[test]
fn summary_file() {
    assert_eq!(
        json(|out| write_pretty(out, &summary())),
        r#"{
  "makespan_ps": 5654000,
  "ranks": 2,
  "messages": 1,
  "bytes": 10,
  "events": 4,
  "critical_path": {
    "rank": 1,
    "compute_ps": 93000,
    "overhead_ps": 3000000,
    "latency_ps": 2500000,
    "bandwidth_ps": 54000,
    "contention_ps": 7000,
    "waiting_ps": 0
  },
  "deadlock": null,
  "remarks": []
}
"#
    );
}

#[test]
fn performance_file() {
    assert_eq!(
        json(|out| write_pretty(out, &performance())),
        r#"{
  "wall_seconds": 0.5,
  "simulation_seconds": 0.25,
  "cpu_seconds": 0.4,
  "peak_rss_bytes": 3145728,
  "events_per_second": 16.0,
  "messages_per_second": 4.0,
  "threads": 2
}
"#
    );
}

#[test]
fn one_flat_object() {
    let ranks = outcome().ranks;
    let text = json(|out| write_json(out, &summary(), &performance(), Some(&ranks)));
    assert_eq!(
        text,
        concat!(
            r#"{"makespan_ps":5654000,"ranks":2,"messages":1,"bytes":10,"events":4,"#,
            r#""critical_path":{"rank":1,"compute_ps":93000,"overhead_ps":3000000,"#,
            r#""latency_ps":2500000,"bandwidth_ps":54000,"contention_ps":7000,"waiting_ps":0},"#,
            r#""deadlock":null,"remarks":[],"wall_seconds":0.5,"simulation_seconds":0.25,"#,
            r#""cpu_seconds":0.4,"peak_rss_bytes":3145728,"events_per_second":16.0,"#,
            r#""messages_per_second":4.0,"threads":2,"finish_ps":[1600000,5654000]}"#,
            "\n"
        )
    );
    let without = json(|out| write_json(out, &summary(), &performance(), None));
    assert!(!without.contains("finish_ps"));
}

#[test]
fn a_deadlock_in_json() {
    let value = serde_json::to_value(deadlock()).unwrap();
    let expected = serde_json::json!({
        "makespan_ps": null,
        "ranks": 4,
        "messages": 0,
        "bytes": 0,
        "events": 5,
        "critical_path": null,
        "deadlock": {
            "at_ps": 4_100_000,
            "ranks": 3,
            "pending": [
                {"rank": 0, "index": 2, "kind": "send", "peer": 3, "tag": 5, "size": 100_000,
                 "started": true, "line": 12, "text": "  l3: send 100000b to 3 tag 5"},
                {"rank": 1, "index": 0, "kind": "calc", "peer": null, "tag": null, "size": 50,
                 "started": false},
                {"rank": 3, "index": 1, "kind": "recv", "peer": -1, "tag": -1, "size": 10,
                 "started": true},
            ],
            "cycle": [0, 3, 1],
        },
        "remarks": ["zero lookahead: delta rounds"],
    });
    assert_eq!(value, expected);
}

/// Shares of 5654 ns: 93 are 1.64 %, 3000 are 53.06 %, 2500 are 44.22 %, 54 are 0.96 %,
/// 7 are 0.12 %.
#[test]
fn terminal_table() {
    assert_eq!(
        terminal(&summary(), &performance()),
        "\
makespan        5.654 us
critical path   ends on rank 1 of 2
  compute        93 ns    1.6 %
  overhead        3 us   53.1 %
  latency       2.5 us   44.2 %
  bandwidth      54 ns    1.0 %
  contention      7 ns    0.1 %
  waiting         0 ps    0.0 %
messages        1 (10 B), 4/s
events          4, 16/s
time            250.0 ms simulating, 500.0 ms in all, 400.0 ms CPU, 2 threads
peak memory     3.0 MiB
"
    );
}

#[test]
fn terminal_table_of_a_deadlock() {
    let mut performance = performance();
    performance.peak_rss_bytes = None;
    assert_eq!(
        terminal(&deadlock(), &performance),
        "\
deadlock at 4.1 us: 3 of 4 ranks can never finish
  rank 0 waits in send of 100000 B to rank 3, tag 5 (line 12: l3: send 100000b to 3 tag 5)
  rank 1 has not started calc (operation 0)
  rank 3 waits in recv of 10 B from any rank, any tag (operation 1)
cycle           0 -> 3 -> 1 -> 0
messages        0 (0 B), 4/s
events          5, 16/s
time            250.0 ms simulating, 500.0 ms in all, 400.0 ms CPU, 2 threads
remark          zero lookahead: delta rounds
"
    );
}

/// 25 operations and a ring of 50 ranks: 20 and 40 are shown.
#[test]
fn a_large_deadlock_is_cut() {
    let mut summary = deadlock();
    let deadlock = summary.deadlock.as_mut().unwrap();
    deadlock.pending = vec![deadlock.pending[1].clone(); 25];
    deadlock.cycle = (0..50).collect();
    let text = terminal(&summary, &performance());
    assert_eq!(text.matches("has not started calc").count(), 20);
    assert!(text.contains("\n  and 5 further operations\n"), "{text}");
    assert!(text.contains(" -> 38 -> 39 -> (10 more) -> 0\n"), "{text}");
}

/// Nothing to simulate is a run of length zero, not an error.
#[test]
fn an_empty_program() {
    let empty = Summary::new(&Outcome::default(), |_| unreachable!("there is no deadlock"));
    assert_eq!((empty.makespan_ps, empty.ranks), (Some(0), 0));
    let text = terminal(&empty, &performance());
    assert!(text.starts_with("makespan        0 ps\n"), "{text}");
    assert!(text.contains("  compute       0 ps    0.0 %\n"), "{text}");
}

/// Eight events and two messages in half a second.
#[test]
fn rates_are_of_the_simulation_phase() {
    let half = std::time::Duration::from_millis(500);
    let measured = Performance::measure(std::time::Instant::now(), half, 3, Some(8), 2);
    assert_eq!((measured.events_per_second, measured.messages_per_second), (Some(16.0), 4.0));
    assert_eq!((measured.simulation_seconds, measured.threads), (0.5, 3));
}
