//! The command lines that users and scripts rely on.

mod common;

use std::process::{Command, Stdio};

use common::Folder;
use serde_json::json;

/// Rank 0 computes for 100 ns and then sends 10 B to rank 1.
const APP: &str = "\
num_ranks 2
rank 0 {
  a: calc 100
  b: send 10b to 1 tag 7
  b requires a
}
rank 1 {
  recv 10b from 0 tag 7
}
";

const DEADLOCK: &str = "\
num_ranks 2
rank 0 {
  a: recv 10b from 1 tag 3
  b: send 10b to 1
  b requires a
}
rank 1 {
  a: recv 10b from 0
  b: send 10b to 0 tag 3
  b requires a
}
";

/// Seed 000, section 3.1: 100 + o 1500 + L 2500 + o 1500 + 9 G 54 = 5654 ns.
#[test]
fn run_a_schedule() {
    let folder = Folder::new("run-schedule");
    folder.write("app.goal", APP);
    let ended = folder.heddle(
        "run app.goal --set loggops.L=2500ns --set loggops.o=1500ns --set loggops.G=6ns/B --format \
         json --per-rank",
    );
    let json = ended.json();
    assert_eq!(json["makespan_ps"], 5_654_000);
    assert_eq!(json["finish_ps"], json!([1_600_000, 5_654_000]));
    assert_eq!(
        (&json["ranks"], &json["messages"], &json["bytes"]),
        (&json!(2), &json!(1), &json!(10))
    );
    // Three operations and an arrival, of which the receive counts with its message.
    assert_eq!(json["events"], 4);
    assert_eq!(json["deadlock"], json!(null));
    for key in ["wall_seconds", "cpu_seconds", "peak_rss_bytes"] {
        assert!(json[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {json}");
    }
    assert_eq!(folder.names("."), ["app.goal"]);
}

/// The parameters change one by one: 100 + o + L + o + 9 max(O, G).
#[test]
fn every_parameter_can_be_set() {
    let folder = Folder::new("run-parameters");
    folder.write("app.goal", APP);
    for (set, makespan) in [
        ("loggops.L=1us", 4_154_000),
        ("loggops.o=1us", 4_654_000),
        ("loggops.o-send=1us", 5_154_000),
        ("loggops.o-recv=2us", 6_154_000),
        ("loggops.G=10ns/B", 5_690_000),
        ("loggops.G=155ps/B", 5_601_395),
        ("loggops.O=10ns/B", 5_690_000),
        ("loggops.O-recv=10ns/B", 5_690_000),
        ("loggops.inject=start", 4_154_000),
        ("workload.time-unit=ps", 5_554_100),
        ("workload.time-unit=10ns", 6_554_000),
        ("loggops.large.L=1us", 5_654_000),
    ] {
        let json = folder.heddle(&format!("run app.goal --format json --set {set}")).json();
        assert_eq!(json["makespan_ps"], makespan, "{set}");
    }
    // With S = 9 B the message is a large one, and with the sets for large messages
    // 100 + 1500 + 1000 + 1500 + 9 * 2 = 4118.
    let json = folder
        .heddle(
            "run app.goal --format json --set loggops.S=9B --set loggops.large.L=1us --set \
                 loggops.large.G=2ns/B",
        )
        .json();
    assert_eq!(json["makespan_ps"], 4_118_000);
}

/// A message of no bytes: by LogGOPSim's wrapping arithmetic its receive costs o - G, which gives
/// 5494 ns with the defaults (measured), where the model's own rules charge no bytes. Threads have
/// no effect there, which is said.
#[test]
fn run_as_loggopsim_does() {
    let folder = Folder::new("run-compat");
    folder.write("zero.goal", "num_ranks 2\nrank 0 { send 0b to 1 }\nrank 1 { recv 0b from 0 }\n");
    let run = "run zero.goal --format json";
    assert_eq!(folder.heddle(run).json()["makespan_ps"], 5_500_000);
    let compat = format!("{run} --set loggops.compat=loggopsim");
    assert_eq!(folder.heddle(&compat).json()["makespan_ps"], 5_494_000);
    let ended = folder.heddle(&format!("{compat} --threads 2"));
    let expected =
        "warning: run.threads has no effect: loggops.compat = \"loggopsim\" runs on one thread\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (0, expected));
}

/// Deadlocks and errors in a text from standard input name its lines all the same.
#[test]
fn run_standard_input() {
    let folder = Folder::new("run-stdin");
    let json = folder.heddle_with("run - --format json", APP.as_bytes()).json();
    assert_eq!(json["makespan_ps"], 5_654_000);
    let ended = folder.heddle_with("run - --format json", DEADLOCK.as_bytes());
    assert_eq!(ended.code, 3);
    assert!(
        ended.stdout.contains("\"line\":3,\"text\":\"a: recv 10b from 1 tag 3\""),
        "{}",
        ended.stdout
    );
    let short = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 7b from 0 }\n";
    let ended = folder.heddle_with("run -", short.as_bytes());
    assert!(
        ended.stderr.ends_with("\n  at standard input:3: rank 1 { recv 7b from 0 }\n"),
        "{}",
        ended.stderr
    );
    let ended = folder.heddle_with("run -", b"num_ranks 1\nrank 0 { x }\n");
    assert!(ended.stderr.contains(" --> standard input:2:12\n"), "{}", ended.stderr);
    assert_eq!(ended.code, 1);
}

/// 2^32 - 1 ranks at 256 bytes each are 1.1 * 10^12 bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_memory_cannot_hold() {
    let folder = Folder::new("run-memory");
    let ended = folder.heddle("run pattern:dissemination --ranks 4294967295 -o out");
    let start = "error: 4294967295 ranks need at least 1099.5 GB of memory; this machine has ";
    assert!(ended.stderr.starts_with(start), "{}", ended.stderr);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(folder.names(".").is_empty());
}

/// ceil(log2 1000) = 10 rounds of o + L + o + 14 G = 5584 ns.
#[test]
fn run_a_pattern() {
    let folder = Folder::new("run-pattern");
    let run = "run pattern:dissemination --ranks 1000 --size 15B --format json";
    assert_eq!(folder.heddle(run).json()["makespan_ps"], 55_840_000);
    assert_eq!(folder.heddle(&format!("{run} --threads 2")).json()["makespan_ps"], 55_840_000);
    // The pattern is symmetric, so that a permutation of its ranks changes nothing.
    assert_eq!(folder.heddle(&format!("{run} --permute 3")).json()["makespan_ps"], 55_840_000);
}

/// Flags override a file: 3 ranks send 8 B to rank 3 of 4 at once; each is received in o + 7 G =
/// 1542 ns, after o + L = 4000 ns.
#[test]
fn run_an_experiment() {
    let folder = Folder::new("run-experiment");
    folder.write(
        "e.toml",
        "[workload]\nsource = \"pattern:gather\"\nranks = 2\nroot = 3\nsize = \"8 B\"\n[output]\n\
                            directory = \"out\"\n",
    );
    let json = folder.heddle("run e.toml --ranks 4 --format json").json();
    assert_eq!(json["makespan_ps"], 4_000_000 + 3 * 1_542_000);
    assert_eq!(
        folder.names("out"),
        ["manifest.json", "performance.json", "ranks.csv", "summary.json"]
    );
    let ended = folder.heddle("run e.toml --ranks 4");
    let expected = "error: out is not empty; --force replaces the files of an earlier run in it\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (4, expected));
    assert_eq!(folder.heddle("run e.toml --ranks 4 --force --quiet").code, 0);
}

#[test]
fn a_file_is_found_from_the_experiment() {
    let folder = Folder::new("run-relative");
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    folder.write("sub/app.goal", APP);
    folder
        .write("sub/e.toml", "[workload]\nsource = \"app.goal\"\n[output]\ndirectory = \"out\"\n");
    assert_eq!(folder.heddle("run sub/e.toml --quiet").code, 0);
    assert_eq!(folder.names("sub"), ["app.goal", "e.toml", "out"]);
    assert_eq!(folder.names("sub/out").len(), 4);
}

#[test]
fn tables_and_timelines() {
    let folder = Folder::new("run-tables");
    folder.write("app.goal", APP);
    assert_eq!(folder.heddle("run app.goal -q -o a --tables messages --timeline perfetto").code, 0);
    assert_eq!(
        folder.names("a"),
        ["manifest.json", "messages.csv", "performance.json", "summary.json", "timeline.pftrace"]
    );
    // Posted at 100 ns, injected after o, delivered after L, matched at once.
    let messages = String::from_utf8(folder.read("a/messages.csv")).expect("text");
    assert_eq!(messages.lines().nth(1), Some("0,0,1,7,10,100000,1600000,4100000,4100000"));
    assert_eq!(
        folder.heddle("run app.goal -q -o b --tables ranks,messages --timeline paje").code,
        0
    );
    assert_eq!(folder.names("b").len(), 6);
    assert_eq!(folder.read("a/messages.csv"), folder.read("b/messages.csv"));
}

#[test]
fn per_rank_for_people() {
    let folder = Folder::new("run-per-rank");
    folder.write("app.goal", APP);
    let ended = folder.heddle("run app.goal --per-rank");
    assert!(ended.stdout.starts_with("makespan        5.654 us\n"), "{}", ended.stdout);
    let expected = "\n      rank  finish, us\n         0       1.600\n         1       5.654\n";
    assert!(ended.stdout.ends_with(expected), "{}", ended.stdout);
}

#[test]
fn a_deadlock_names_lines_and_cycle() {
    let folder = Folder::new("run-deadlock");
    folder.write("dead.goal", DEADLOCK);
    let ended = folder.heddle("run dead.goal");
    assert_eq!(ended.code, 3);
    for line in [
        "  rank 0 waits in recv of 10 B from rank 1, tag 3 (line 3: a: recv 10b from 1 tag 3)",
        "  rank 1 waits in recv of 10 B from rank 0, tag 0 (line 8: a: recv 10b from 0)",
        "cycle           0 -> 1 -> 0",
    ] {
        assert!(ended.stdout.contains(line), "{}", ended.stdout);
    }
    let ended = folder.heddle("run dead.goal --format json -o out");
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!((ended.code, &json["makespan_ps"]), (3, &json!(null)));
    assert_eq!(json["deadlock"]["ranks"], 2);
    assert_eq!(json["deadlock"]["pending"][1]["line"], 8);
    assert_eq!(folder.names("out").len(), 4, "a deadlock is a result");
    // A binary file has no lines.
    assert_eq!(folder.heddle("convert dead.goal dead.bin").code, 0);
    let ended = folder.heddle("run dead.bin");
    assert!(
        ended.stdout.contains("recv of 10 B from rank 1, tag 3 (operation 0)\n"),
        "{}",
        ended.stdout
    );
}

/// The second operation waits for the third, that for the second, and the last for both; the run
/// says so in the words of `check`.
#[test]
fn a_rank_that_waits_for_itself_shows_the_cycle() {
    let folder = Folder::new("run-own-cycle");
    let text = "num_ranks 2\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nd: send 1b to 1\n\
                b requires c\nc requires b\nd requires b\n}\nrank 1 { recv 1b from 0 }\n";
    folder.write("circle.goal", text);
    let words = "rank 0, operation 1 (line 4): operations 1, 2 wait each for the next, the last \
                 for the first; 3 operations can never start\n";
    let ended = folder.heddle("check circle.goal");
    assert!(ended.stderr.contains(&format!("error: {words}")), "{}", ended.stderr);
    let ended = folder.heddle("run circle.goal");
    assert_eq!(ended.code, 3);
    assert!(ended.stdout.contains(&format!("\n  {words}")), "{}", ended.stdout);
    let ended = folder.heddle("run circle.goal --format json");
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let expected = json!([{ "rank": 0, "operations": [1, 2], "stuck": 3, "line": 4 }]);
    assert_eq!(json["deadlock"]["own_cycles"], expected);
    assert_eq!(folder.heddle("convert circle.goal circle.bin").code, 0);
    let ended = folder.heddle("run circle.bin");
    assert!(ended.stdout.contains("  rank 0, operation 1: operations 1, 2"), "{}", ended.stdout);
}

#[test]
fn a_message_too_large_for_its_receive() {
    let folder = Folder::new("run-truncated");
    folder.write("t.goal", "num_ranks 2\nrank 0 { recv 5b from 1 }\nrank 1 { send 10b to 0 }\n");
    let ended = folder.heddle("run t.goal -o out");
    let expected = "\
error: rank 0: operation 0 receives 5 bytes, but the message from rank 1 that it matches has 10 \
(MPI_ERR_TRUNCATE)
  at t.goal:2: rank 0 { recv 5b from 1 }
";
    assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
    assert_eq!(folder.names("."), ["t.goal"]);
}

#[test]
fn check_a_schedule() {
    let folder = Folder::new("check");
    folder.write("app.goal", APP);
    folder.write("bad.goal", "num_ranks 2\nrank 0 { recv 5b fro 1 }\nrank 1 { snd 10b to 0 }\n");
    let ended = folder.heddle("check app.goal");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (0, "app.goal: 0 errors, 0 warnings, 0 notes\n")
    );
    let ended = folder.heddle("check bad.goal");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (1, "bad.goal: 2 errors, 0 warnings, 0 notes\n")
    );
    assert!(ended.stderr.contains(" --> bad.goal:2:18\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains(" --> bad.goal:3:10\n"), "{}", ended.stderr);
    let unmatched = b"num_ranks 2\nrank 0 { send 1b to 1 }\nrank 1 { }\n";
    let ended = folder.heddle_with("check -", unmatched);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.starts_with("-: 1 error, "), "{}", ended.stdout);
}

#[test]
fn generate_files() {
    let folder = Folder::new("gen");
    assert_eq!(folder.heddle("gen allreduce-ring --ranks 64 --size 4MiB -o ring.goal").code, 0);
    let text = String::from_utf8(folder.read("ring.goal")).expect("text");
    assert!(text.starts_with("num_ranks 64\n"));
    // 2 (n - 1) steps per rank, each with a send of 4 MiB / 64.
    assert_eq!(text.matches("send 65536b").count(), 64 * 126);
    assert_eq!(folder.heddle("gen allreduce-ring --ranks 64 --size 4MiB -o ring.bin").code, 0);
    let direct =
        folder.heddle("run pattern:allreduce-ring --ranks 64 --size 4MiB --format json").json();
    for file in ["ring.goal", "ring.bin"] {
        let json = folder.heddle(&format!("run {file} --format json")).json();
        assert_eq!(json["makespan_ps"], direct["makespan_ps"], "{file}");
    }
    assert_eq!(folder.names("."), ["ring.bin", "ring.goal"]);
    let expected =
        "num_ranks 2\n\nrank 0 {\nl1: recv 8b from 1\n}\n\nrank 1 {\nl1: send 8b to 0\n}\n";
    assert_eq!(folder.heddle("gen gather --ranks 2 --size 8B").stdout, expected);
}

#[test]
fn convert_both_ways() {
    let folder = Folder::new("convert");
    folder.write("app.goal", APP);
    assert_eq!(folder.heddle("convert app.goal app.bin").code, 0);
    assert_eq!(folder.heddle("convert app.bin back.goal").code, 0);
    assert_eq!(folder.heddle("convert back.goal back.bin").code, 0);
    let binary = folder.read("app.bin");
    assert_eq!(binary[..8], 4223_u64.to_le_bytes());
    assert_eq!(folder.read("back.bin"), binary);
    // Standard output gets the form that the input is not.
    let text = folder.heddle_with("convert - -", &binary);
    assert_eq!((text.code, text.stdout.into_bytes()), (0, folder.read("back.goal")));
    assert_eq!(folder.heddle_with("convert - again.bin", APP.as_bytes()).code, 0);
    // A schedule is replaced, but not the one that is read.
    assert_eq!(folder.heddle("convert app.goal again.bin").code, 0);
    let ended = folder.heddle("convert app.goal ./app.goal");
    let expected = "error: ./app.goal: this is the file that is read; name another one\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (2, expected));
    assert_eq!(folder.read("app.goal"), APP.as_bytes());
    assert_eq!(folder.read("again.bin"), binary);
}

#[test]
fn a_failed_conversion_leaves_nothing() {
    let folder = Folder::new("convert-failed");
    folder.write("bad.goal", "num_ranks 2\nrank 0 { snd 10b to 0 }\n");
    folder.write("old.bin", "old");
    assert_eq!(folder.heddle("convert bad.goal old.bin").code, 1);
    assert_eq!(folder.heddle("convert nothing.goal old.bin").code, 1);
    assert_eq!(folder.read("old.bin"), b"old");
    let ended = folder.heddle("gen gather -o nowhere/g.goal");
    let expected = "error: nowhere/g.goal: No such file or directory\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (4, expected));
    assert_eq!(folder.names("."), ["bad.goal", "old.bin"]);
}

#[test]
fn lists_and_help() {
    let folder = Folder::new("lists");
    let patterns = folder.heddle("patterns");
    assert_eq!((patterns.code, patterns.stdout.lines().count()), (0, 25));
    for line in patterns.stdout.lines() {
        let (name, description) = line.split_once(' ').expect("a name");
        assert!(description.trim().len() > 10, "{line}");
        let run = folder.heddle(&format!("run pattern:{name} --format json"));
        assert!(run.json()["makespan_ps"].as_u64().is_some_and(|makespan| makespan > 0), "{name}");
    }
    assert!(folder.heddle("schema").stdout.starts_with("{\n"));
    for command in ["", "run ", "check ", "gen ", "convert "] {
        let help = folder.heddle(&format!("{command}--help")).stdout;
        assert!(
            help.contains("  3  the simulated program can never finish (deadlock)\n"),
            "{help}"
        );
    }
}

/// A reader that closes its end early, as `head` does, is no failure.
#[test]
fn a_closed_pipe() {
    for arguments in
        ["gen linear-alltoall --ranks 400", "run pattern:gather --ranks 100000 --per-rank"]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_heddle"))
            .args(arguments.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("heddle starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("heddle ends");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}
