//! The corner cases of the book, with the default parameters: L = 2500 ns, o = 1500 ns,
//! g = 1000 ns, G = 6 ns/B, O = 0, S = 65535 B.

use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/corner-cases");

struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn heddle(arguments: &[&str]) -> Ended {
    let command = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args(arguments)
        .current_dir(FOLDER)
        .output()
        .expect("heddle runs");
    Ended {
        code: command.status.code().expect("no signal"),
        stdout: String::from_utf8(command.stdout).expect("text"),
        stderr: String::from_utf8(command.stderr).expect("text"),
    }
}

/// Runs a case; the summary with the finish times of all ranks, in JSON.
fn run(name: &str, code: i32, more: &[&str]) -> serde_json::Value {
    let ended = heddle(&[&["run", name, "--format", "json", "--per-rank"], more].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (code, ""), "{name}");
    serde_json::from_str(&ended.stdout).expect("JSON")
}

/// The output of `check` besides its count, and its exit code.
fn check(name: &str) -> (String, i32) {
    let ended = heddle(&["check", name]);
    assert!(ended.stdout.starts_with(&format!("{name}: ")), "{}", ended.stdout);
    (ended.stderr, ended.code)
}

/// Both receives are posted at once; nothing else ever happens.
#[test]
fn deadlock() {
    let ended = heddle(&["run", "deadlock.goal"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (3, ""));
    let lines: Vec<&str> = ended.stdout.lines().take(4).collect();
    assert_eq!(
        lines,
        [
            "deadlock at 0 ps: 2 of 2 ranks can never finish",
            "  rank 0 waits in recv of 8 B from rank 1, tag 0 (line 4: r: recv 8b from 1)",
            "  rank 1 waits in recv of 8 B from rank 0, tag 0 (line 9: r: recv 8b from 0)",
            "cycle           0 -> 1 -> 0",
        ]
    );
    let json = run("deadlock.goal", 3, &[]);
    assert!(json["makespan_ps"].is_null() && json["critical_path"].is_null());
    assert_eq!(json["deadlock"]["cycle"], serde_json::json!([0, 1]));
    // The schedule is sound as far as one can see without running it.
    assert_eq!(check("deadlock.goal").1, 0);
}

/// Both messages arrive at 1500 + 2500 = 4000 ns. That of rank 1 is received until
/// 4000 + 1500 + 7 * 6 = 5542 ns, that of rank 2 for as long again: until 7084 ns.
#[test]
fn wildcard_race() {
    for threads in ["1", "3"] {
        let json = run("wildcard-race.goal", 0, &["--threads", threads]);
        assert_eq!(json["finish_ps"], serde_json::json!([7_084_000, 1_500_000, 1_500_000]));
    }
    let (said, code) = check("wildcard-race.goal");
    assert!(said.contains("may take messages of several senders, whichever comes first"), "{said}");
    assert_eq!(code, 0);
}

/// Rank 1 sends 1 ns later, so that its message arrives at 4001 ns and is received after the other.
/// Nobody is left to send to the second receive, and the message of rank 1 meets no receive.
#[test]
fn wildcard_race_lost() {
    let json = run("wildcard-race-lost.goal", 3, &[]);
    let pending = &json["deadlock"]["pending"];
    assert_eq!(pending.as_array().map(Vec::len), Some(1));
    let op = ["rank", "index", "kind", "peer", "line"].map(|key| pending[0][key].clone());
    assert_eq!(op, [0.into(), 1.into(), "recv".into(), 2.into(), serde_json::json!(6)]);
    assert_eq!(json["messages"], 2);
}

/// MPI's truncation error: exit code 1, no summary, and nothing left in a folder.
#[test]
fn size_mismatch() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("size-mismatch");
    let output = folder.to_str().expect("text");
    let ended = heddle(&["run", "size-mismatch.goal", "-o", output]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("receives 10 bytes"), "{}", ended.stderr);
    assert!(ended.stderr.contains("has 100 (MPI_ERR_TRUNCATE)"), "{}", ended.stderr);
    assert!(ended.stderr.contains("at size-mismatch.goal:4: "), "{}", ended.stderr);
    assert!(!folder.exists());
    assert_eq!(check("size-mismatch.goal").1, 1);
}

/// 1500 + 2500 + 1500 + 7 * 6 = 5542 ns, whatever rank 1 does not do.
#[test]
fn empty_rank() {
    let json = run("empty-rank.goal", 0, &[]);
    assert_eq!(json["finish_ps"], serde_json::json!([1_500_000, 0, 5_542_000]));
    let (said, code) = check("empty-rank.goal");
    assert_eq!(
        (said.trim_end(), code),
        ("empty-rank.goal: note: rank 1: the rank does nothing", 0)
    );
}

/// There is no byte after the first: 1500 + 2500 + 1500 ns. LogGOPSim has s - 1 wrap below zero and
/// ends at 5500 - 6 ns.
#[test]
fn zero_byte_message() {
    let json = run("zero-byte-message.goal", 0, &[]);
    assert_eq!(json["finish_ps"], serde_json::json!([1_500_000, 5_500_000]));
    let json = run("zero-byte-message.goal", 0, &["--set", "loggops.compat=loggopsim"]);
    assert_eq!(json["finish_ps"], serde_json::json!([1_500_000, 5_494_000]));
}

/// A message to the own rank takes as long as one between two ranks: 1500 + 2500 + 1500 + 7 * 6 =
/// 5542 ns. With 8 bytes above the eager limit nothing changes: the receive is posted before the
/// message arrives.
#[test]
fn self_send() {
    for limit in ["S=65535B", "S=4B"] {
        let json = run("self-send.goal", 0, &["--set", &format!("loggops.{limit}")]);
        assert_eq!(json["finish_ps"], serde_json::json!([5_542_000]), "{limit}");
    }
    assert!(check("self-send.goal").0.contains("a message to the rank itself"));
}

/// Each file of the folder has its test here.
#[test]
fn all_are_tested() {
    let source = include_str!("corner_cases.rs");
    for entry in std::fs::read_dir(FOLDER).expect("the folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("text");
        assert!(source.contains(&format!("\"{name}\"")), "{name}");
    }
}
