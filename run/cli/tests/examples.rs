//! The examples run, and give the figures that their comments promise.

mod common;

use common::Folder;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The path goes to and fro through all twenty messages: rank 0's computations of 7018 us (the sum of
/// its `calc` lines), 20 times 55 us of software and 20 times 399 999 * 545.7 ps on the wire, which
/// are 7018 + 1100 + 4365.589 086 us.
#[test]
fn ltest() {
    let text = std::fs::read_to_string(example("ltest.goal")).expect("the example");
    let ranks: Vec<_> = text.split("\nrank ").collect();
    let sum = |rank: &str| -> u64 {
        let durations = rank.split("calc ").skip(1);
        durations
            .map(|rest| {
                rest.split_whitespace().next().expect("a number").parse::<u64>().expect("a number")
            })
            .sum()
    };
    assert_eq!(ranks.len(), 3);
    let computed = sum(ranks[1]);
    let folder = Folder::new("example-ltest");
    let json = folder.heddle(&format!("run {} --format json", example("ltest.toml"))).json();
    assert_eq!(json["makespan_ps"], 7_018_000_000_u64 + 1_100_000_000 + 20 * 218_279_454_u64 + 0);
    assert_eq!(json["critical_path"]["compute_ps"], computed);
}

/// Ten steps take at least ten times the computation; and noise lengthens them.
#[test]
fn halo() {
    let folder = Folder::new("example-halo");
    let run = |set: &str| {
        let command = format!("run {} --format json {set}", example("halo.toml"));
        folder.heddle(&command).json()["makespan_ps"].as_u64().expect("a number")
    };
    let (noisy, quiet) = (run(""), run("--set noise.interval=1000s"));
    assert!(quiet > 2_000_000_000, "{quiet}");
    assert!(noisy > quiet, "{noisy} {quiet}");
    assert_eq!(run("--threads 2"), noisy);
}
