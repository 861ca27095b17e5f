//! The examples run, and give the figures that their comments promise.

mod common;

use common::Folder;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The path goes to and fro through all twenty messages. Before each, its sender computes: 73, 15,
/// 9, 9 and 8 us, then fifteen times 9 us; after the last, rank 0 computes for 6769 us. With 20
/// times 55 us of software and 20 times 399 999 * 545.7 ps (218 279.4543 ns, rounded to the
/// picosecond) on the wire, these are 7018 + 1100 + 4365.589 08 us.
#[test]
fn ltest() {
    let folder = Folder::new("example-ltest");
    let json = folder.heddle(&format!("run {} --format json", example("ltest.toml"))).json();
    let (compute, overhead, bandwidth) = (7_018_000_000_u64, 1_100_000_000, 20 * 218_279_454_u64);
    assert_eq!(json["makespan_ps"], compute + overhead + bandwidth);
    assert_eq!(json["critical_path"]["compute_ps"], compute);
    assert_eq!(json["critical_path"]["overhead_ps"], overhead);
    assert_eq!(json["critical_path"]["bandwidth_ps"], bandwidth);
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
