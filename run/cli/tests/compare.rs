//! `heddle compare`: a recorded run against its replay, and what is said when that cannot be done.

mod common;

use std::path::{Path, PathBuf};

use common::{Ended, Folder};

fn ltest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/traces/ltest")
}

fn success(ended: Ended) -> String {
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stdout
}

fn failure(ended: Ended) -> String {
    assert_eq!(ended.code, 1);
    ended.stderr
}

/// Rank 0 of the seed's ltest leaves MPI_Init at 1302767374553965 and enters MPI_Finalize at
/// 1302767374567772: 13.807 ms later. It sends ten times and receives ten times, as does rank 1.
/// With mode `gaps`, time outside of calls is what it was, except for calls that only ask something
/// (`MPI_Comm_rank`), which count as such on both sides.
#[test]
fn recorded_and_simulated() {
    let folder = Folder::new("compare");
    let traces = ltest();
    let traces = traces.to_str().unwrap();
    success(folder.heddle(&format!("run {traces} -q -o out --tables ranks,calls")));
    let json = folder.heddle(&format!("compare {traces} out --format json")).json();
    assert_eq!(json["ranks"][0]["a"]["end_ps"], 13_807_000_000_u64);
    assert_eq!(json["a"]["outside_ps"], json["b"]["outside_ps"]);
    let sends = json["calls"].as_array().unwrap().iter().find(|call| call["call"] == "MPI_Send");
    let sends = sends.unwrap();
    assert_eq!((&sends["a"]["count"], &sends["b"]["count"]), (&20.into(), &20.into()));
    // The table of calls says the same as the summary.
    let run = folder.heddle(&format!("run {traces} --format json")).json();
    assert_eq!(json["b"]["makespan_ps"], run["makespan_ps"]);
}

/// A run is no different from itself; both are on the timeline.
#[test]
fn a_run_with_itself() {
    let folder = Folder::new("compare-itself");
    let traces = ltest();
    let traces = traces.to_str().unwrap();
    let command = format!("compare {traces} {traces} --per-rank --timeline both.pftrace");
    let text = success(folder.heddle(&command));
    assert!(text.contains("makespan"), "{text}");
    assert!(!text.contains("+0.01 %"), "{text}");
    let timeline = std::fs::read(folder.path("both.pftrace")).unwrap();
    let count = |needle: &[u8]| timeline.windows(needle.len()).filter(|at| *at == needle).count();
    // Two processes, two ranks each.
    assert_eq!((count(b"ltest (recorded)"), count(b"rank 0"), count(b"rank 1")), (2, 2, 2));
}

#[test]
fn what_cannot_be_compared() {
    let folder = Folder::new("compare-wrong");
    let traces = ltest();
    let traces = traces.to_str().unwrap();
    success(folder.heddle(&format!("run {traces} -q -o out")));
    let error = failure(folder.heddle(&format!("compare {traces} out")));
    assert!(error.contains("run its traces again with --tables ranks,calls"), "{error}");
    let error = failure(folder.heddle(&format!("compare {traces} nothing")));
    assert!(error.contains("no traces"), "{error}");
    // The command line is wrong, not an input.
    let ended = folder.heddle("run pattern:dissemination -o tables --tables calls");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("a table of calls needs traces"), "{}", ended.stderr);
}
