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
    // So does the table as Parquet.
    let form = "--tables ranks,calls --tables-format parquet";
    success(folder.heddle(&format!("run {traces} -q -o parquet {form}")));
    let same = folder.heddle(&format!("compare {traces} parquet --format json")).json();
    assert_eq!(same["calls"], json["calls"]);
    assert_eq!(same["ranks"], json["ranks"]);
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

/// Rank 0 is 2 us in a call, rank 1 5 ns. Both columns are in the unit of the longest time.
#[test]
fn times_of_a_column_have_one_unit() {
    let folder = Folder::new("compare-units");
    std::fs::create_dir(folder.path("run")).unwrap();
    let calls = "rank,thread,call,enter_ps,return_ps,place\n\
                 0,0,MPI_Send,1000000,3000000,\n1,0,MPI_Recv,1000,6000,\n";
    std::fs::write(folder.path("run").join("calls.csv"), calls).unwrap();
    let text = success(folder.heddle("compare run run --per-rank"));
    let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(row("MPI_Recv")), "MPI_Recv 1 1 0.005 us 0.005 us +0.00 %");
    assert_eq!(words(row("MPI_Send")), "MPI_Send 1 1 2.000 us 2.000 us +0.00 %");
    assert_eq!(words(row("1 ")), "1 0.006 us 0.006 us +0.00 % 0.005 us 0.005 us +0.00 %");
}

#[test]
fn what_cannot_be_compared() {
    let folder = Folder::new("compare-wrong");
    let traces = ltest();
    let traces = traces.to_str().unwrap();
    success(folder.heddle(&format!("run {traces} -q -o out")));
    let error = failure(folder.heddle(&format!("compare {traces} out")));
    assert!(error.contains("run it again with --tables ranks,calls"), "{error}");
    let error = failure(folder.heddle(&format!("compare {traces} nothing")));
    assert!(error.contains("no traces"), "{error}");
    // The command line is wrong, not an input.
    let ended = folder.heddle("run pattern:dissemination -o tables --tables calls");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("a table of calls needs traces"), "{}", ended.stderr);
}

/// The number of a rank in a table is no number of ranks: nothing is as large as it says. Two
/// ranks and 4294967296 are not the same run; the table is like itself.
#[test]
fn a_rank_number_decides_no_allocation() {
    let folder = Folder::new("compare-rank");
    let calls = |rank: &str| {
        let head = "rank,thread,call,enter_ps,return_ps,place";
        format!("{head}\n0,0,MPI_Send,1,5,\n{rank},0,MPI_Recv,2,9,a.c:7\n")
    };
    for (name, rank) in [("large", "4294967295"), ("small", "1"), ("wraps", "4294967296")] {
        std::fs::create_dir(folder.path(name)).unwrap();
        std::fs::write(folder.path(name).join("calls.csv"), calls(rank)).unwrap();
    }
    let error = failure(folder.heddle("compare large small"));
    assert!(error.contains("large has 4294967296 ranks, small has 2"), "{error}");
    let json = folder.heddle("compare large large --format json").json();
    let ranks = json["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 2);
    assert_eq!(
        (&ranks[1]["rank"], &ranks[1]["a"]["end_ps"]),
        (&4_294_967_295_u64.into(), &9.into())
    );
    let error = failure(folder.heddle("compare wraps small"));
    assert!(error.contains("calls.csv:3: expected a whole number below 2^32"), "{error}");
}

/// A trace whose last block is damaged: comparing it says so as running it does.
#[test]
fn what_is_odd_about_traces_is_said() {
    let folder = Folder::new("compare-damaged");
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/damaged-traces");
    let traces = traces.to_str().unwrap();
    let run = folder.heddle(&format!("run {traces}"));
    let warning = run.stderr.lines().find(|line| line.starts_with("warning: ")).unwrap();
    let compared = folder.heddle(&format!("compare {traces} {traces}"));
    assert_eq!(compared.code, 0);
    assert_eq!(
        compared.stderr.lines().filter(|line| *line == warning).count(),
        1,
        "{}",
        compared.stderr
    );
}
