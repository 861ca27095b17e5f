//! `heddle fit`: from samples to a machine file that runs take at once.

mod common;

use std::fmt::Write as _;

use common::Folder;
use serde_json::json;

const HEADER: &str = "operation,n,d_ns,bytes,run,repetition,time_ns";

/// Samples without noise, rounded to nanoseconds, of L = 5 us, o = 1 us, g = 2 us, G = 0.5 ns/B:
/// PRTT(n, d, s) = 2 (2 o + L + (s-1) G) + (n-1) max(o + d, g + (s-1) G).
fn samples() -> String {
    let mut text = format!("{HEADER}\n");
    for step in 0..12 {
        let bytes = 1 + step * 2000;
        for (n, delay) in [(1, 0), (16, 0), (16, 40_000)] {
            let over = i64::max(1000 + delay, 2000 + step * 1000);
            let time = 2 * (7000 + step * 1000) + (n - 1) * over;
            for (run, repetition) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let _ = writeln!(text, "prtt,{n},{delay},{bytes},{run},{repetition},{time}");
            }
        }
    }
    text
}

#[test]
fn parameters_of_exact_samples() {
    let folder = Folder::new("fit-exact");
    folder.write("samples.csv", &samples());
    let json = folder.heddle("fit samples.csv --format json").json();
    assert_eq!(json["samples"], 144);
    let expected =
        [("L", 5000.0, "ns"), ("o", 1000.0, "ns"), ("g", 2000.0, "ns"), ("G", 0.5, "ns/B")];
    for (name, value, unit) in expected {
        let found = &json["parameters"][name];
        let number = |key: &str| found[key].as_f64().expect("a number");
        assert!((number("value") / value - 1.0).abs() < 0.001, "{name} {found}");
        assert!(number("low") <= value && value <= number("high"), "{name} {found}");
        assert_eq!(found["unit"], unit);
    }
    // O is 0: its interval ends there.
    assert_eq!(json["parameters"]["O"]["low"], 0.0);
    assert!(json["refused"]["S"].as_str().is_some_and(|text| text.contains("22001 B")), "{json}");
    assert_eq!(json["segments"]["prtt"][0]["from"], 0);
    assert_eq!(json["segments"]["prtt"][0]["to"], 22_001);
    assert!(json["diagnoses"].as_array().is_some_and(|all| all.contains(&json!("one-sided"))));
}

/// A message of 2001 bytes from rank 0 to rank 1 takes o + L + o + 2000 G: 1000 + 5000 + 1000 +
/// 1000 ns.
#[test]
fn a_run_takes_the_machine_file() {
    let folder = Folder::new("fit-machine");
    folder.write("samples.csv", &samples());
    folder.write(
        "one.goal",
        "num_ranks 2\nrank 0 {\n  send 2001b to 1\n}\nrank 1 {\n  recv 2001b from 0\n}\n",
    );
    let ended = folder.heddle("fit samples.csv -o machine.toml");
    assert!(ended.stdout.contains("parameter"), "{}", ended.stdout);
    assert_eq!(
        folder.names("."),
        ["machine.replicates.csv", "machine.toml", "one.goal", "samples.csv"]
    );
    let run = "run one.goal --machine machine.toml --format json";
    let json = folder.heddle(run).json();
    let makespan = json["makespan_ps"].as_f64().expect("a makespan");
    assert!((makespan / 8_000_000.0 - 1.0).abs() < 0.001, "{makespan}");
    let remarks = json["remarks"].to_string();
    assert!(remarks.contains("parameters measured on 20"), "{remarks}");
    assert!(remarks.contains("loggops.L 5 us (95 %: "), "{remarks}");

    let machine = String::from_utf8(folder.read("machine.toml")).expect("a text");
    let wrong = |name: &str, from: &str, to: &str| {
        assert!(machine.contains(from), "{machine}");
        folder.write("wrong.toml", &machine.replacen(from, to, 1));
        let ended = folder.heddle("run one.goal --machine wrong.toml");
        assert_eq!(ended.code, 1, "{name}");
        ended.stderr
    };
    let value = machine.lines().find(|line| line.starts_with("L = ")).expect("L").to_owned();
    assert!(wrong("value", &value, "L = \"9 us\"").contains("`loggops.L` is 9 us, outside of"));
    assert!(wrong("date", "date = \"20", "date = \"x").contains("YYYY-MM-DD"));
    assert!(wrong("key", "date = ", "dat = ").contains("did you mean `date`?"));
    folder.write("machine.replicates.csv", "loggops.L\n1\n");
    let ended = folder.heddle(run);
    assert!(ended.stderr.contains("is not the file that was written with"), "{}", ended.stderr);
}

/// A machine file may have been measured or edited, so that only `--force` replaces it; samples are
/// never replaced by what follows from them.
#[test]
fn a_machine_file_is_kept() {
    let folder = Folder::new("fit-kept");
    folder.write("samples.csv", &samples());
    folder.write("machine.toml", "# mine\n");
    let ended = folder.heddle("fit samples.csv -o machine.toml");
    let expected = "error: machine.toml exists already\n  help: --force replaces it\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (4, expected));
    assert_eq!(folder.read("machine.toml"), b"# mine\n");
    assert_eq!(folder.heddle("fit samples.csv -o machine.toml --force").code, 0);
    assert_ne!(folder.read("machine.toml"), b"# mine\n");
    let ended = folder.heddle("fit samples.csv -o samples.csv --force");
    let expected = "error: samples.csv: this is the file that is read; name another one\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (2, expected));
    assert_eq!(folder.read("samples.csv"), samples().as_bytes());
}

#[test]
fn wrong_samples_are_errors() {
    let folder = Folder::new("fit-wrong");
    let error = |name: &str, text: &str| {
        folder.write("bad.csv", text);
        let ended = folder.heddle("fit bad.csv -o machine.toml");
        assert_eq!(ended.code, 1, "{name}: {}", ended.stderr);
        assert_eq!(folder.names("."), ["bad.csv"], "{name}");
        ended.stderr
    };
    assert!(error("empty", "").contains("the file is empty"));
    assert!(error("header", HEADER).contains("no samples below the header"));
    let cut = samples();
    let cut = &cut[..cut.len() - 8];
    assert!(error("cut", cut).contains("is the file cut off?"));
    let negative = samples().replace(",14000\n", ",-14000\n");
    assert!(error("negative", &negative).contains("`time_ns` is negative"));
    let unit = samples().replace("time_ns", "time_us");
    assert!(error("unit", &unit).contains("multiply microseconds by 1000"));
    let all = samples();
    let one: Vec<&str> =
        all.lines().filter(|line| line.contains(",2001,") || line.starts_with('o')).collect();
    assert!(error("one size", &one.join("\n")).contains("all round trips are of one size"));
}

/// In the terms of PLogP: g(m) = 2 us + 0.5 ns/B (m - 1), os = 1 us, and L = (round trip) / 2 - g =
/// 7 us - 2 us. No receive is timed.
#[test]
fn parameters_of_plogp() {
    let folder = Folder::new("fit-plogp");
    folder.write("samples.csv", &samples());
    let json = folder.heddle("fit samples.csv --model plogp --format json").json();
    let near = |found: &serde_json::Value, truth: f64| {
        let value = found["value"].as_f64().expect("a number");
        assert!((value - truth).abs() < 2.0, "{truth} {found}");
    };
    near(&json["L"], 5000.0);
    for (size, bytes) in [(0, 1), (5, 10_001)] {
        let found = &json["sizes"][size];
        assert_eq!(found["bytes"], bytes);
        near(&found["g"], 2000.0 + 0.5 * f64::from(bytes - 1));
        near(&found["os"], 1000.0);
    }
    assert!(json["refused"]["or"].is_string() && json["sizes"][0]["or"].is_null(), "{json}");
    let table = folder.heddle("fit samples.csv --model plogp").stdout;
    assert!(table.contains("or is not determined: there are no receives"), "{table}");
    let ended = folder.heddle("fit samples.csv --model plogp -o m.toml");
    assert!(ended.code == 2 && ended.stderr.contains("no model of a run"), "{}", ended.stderr);
}

/// Samples of three hosts, two of which are near each other: `heddle fit` finds both classes.
#[test]
fn samples_of_several_pairs() {
    let folder = Folder::new("fit-pairs");
    let lines: Vec<String> = samples().lines().skip(1).map(str::to_owned).collect();
    let mut text = format!("{HEADER},source,destination\n");
    for (pair, more) in [("0:a,1:b", 0), ("0:a,2:c", 50_000), ("1:b,2:c", 50_000)] {
        for line in &lines {
            let (what, time) = line.rsplit_once(',').expect("a time");
            let time: i64 = time.parse().expect("a number");
            let _ = writeln!(text, "{what},{},{pair}", time + more);
        }
    }
    folder.write("samples.csv", &text);
    let json = folder.heddle("fit samples.csv --format json -o m.toml").json();
    assert_eq!(json["classes"][0]["pairs"], json!([[0, 1]]));
    assert_eq!(json["classes"][1]["pairs"], json!([[0, 2], [1, 2]]));
    let latency = |value: &serde_json::Value| value.as_f64().expect("a number").round();
    // Half of the 50 us that a round trip takes longer are of L, which was 5 us.
    assert!((latency(&json["matrix"]["L"][0][1]) - 5000.0).abs() < 1e-6, "{json}");
    assert!((latency(&json["matrix"]["L"][2][1]) - 30_000.0).abs() < 1e-6, "{json}");
    assert_eq!(json["median"], "c2");
    folder.write(
        "one.goal",
        "num_ranks 2\nrank 0 {\n  send 1b to 1\n}\nrank 1 {\n  recv 1b from 0\n}\n",
    );
    let makespan = |words: &str| {
        let run = folder.heddle(&format!("run one.goal --machine m.toml --format json {words}"));
        let found: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        (found["makespan_ps"].as_u64().expect("a time") + 500_000) / 1_000_000
    };
    assert_eq!(makespan(""), 32);
    assert_eq!(makespan("--set loggops.pairs=m.pairs.csv"), 7);
}
