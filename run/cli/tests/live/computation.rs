//! Tests of how the computation of live programs counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::mpi::{compiled, mpi, mpirun_as_it_computes as mpirun};

/// Messages take no time, and neither do looks for them.
const FREE: &str = "--set loggops.L=0ns --set loggops.o=0ns --set loggops.g=0ns --set \
                    loggops.G=0ns/B --set loggops.O=0ns/B --set live.poll=0ns";

/// The simulated time of a run.
fn makespan(options: &str, program: &Path) -> u64 {
    let ended = mpirun(&format!("-n 3 --format json {options}"), program, "");
    assert_eq!(ended.code, 0, "{options}: {}", ended.stderr);
    let summary: serde_json::Value = serde_json::from_str(&ended.stdout).expect("a summary");
    summary["makespan_ps"].as_u64().expect("a time")
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("computation-{name}"))
}

/// Each rank has eight regions: before four exchanges, before a receive and a send that are posted,
/// before the test that finds the message, and before the end.
#[test]
fn each_region_takes_the_same() {
    let program = compiled("regions");
    for how in ["", "--in-process"] {
        let options = format!("{FREE} {how} --compute-time constant --constant-time 10us");
        assert_eq!(makespan(&options, &program), 80_000_000, "{how}");
    }
}

/// Clocks show what the rank that asks has computed since it began to use MPI.
#[test]
fn computation_shows_in_wtime() {
    let program = compiled("wtime");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 3 {how}"), &program, "");
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{how}");
    }
}

/// A call that the library answers alone does not take the time that the processor's clock takes to
/// read.
#[test]
fn local_calls_leave_the_clock_alone() {
    let ended = mpirun("-q -n 2", &compiled("local_calls"), "");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// Models are compared by what a program computed once; that each measures it anew is said.
#[test]
fn ladders_of_live_programs() {
    let program = compiled("regions");
    let folder = folder("ladder");
    let shown = folder.display();
    let machine = "--network infiniband --topology star:hosts=4";
    makespan(&format!("{machine} --force -o {shown} --tables ranks,computation"), &program);
    let climb = |set: &[String]| {
        let mut ladder = Command::new(env!("CARGO_BIN_EXE_heddle"));
        ladder.arg("ladder").arg(folder.join("manifest.json")).args(set);
        let output = ladder.env("HEDDLE_MPI", mpi().join("lib")).output().expect("heddle runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    assert!(climb(&[]).contains("warning: each model measures anew"));
    let set = ["live.compute=replayed".to_owned(), format!("live.times={shown}/computation.csv")];
    assert_eq!(climb(&set.map(|set| format!("--set={set}"))), "");
}

/// A table of what was measured gives the same time again, to the picosecond, however often and
/// however ranks are held; on half as fast a processor, where messages take no time, twice that.
#[test]
fn measured_computation_is_replayed() {
    let program = compiled("regions");
    for how in ["", "--in-process"] {
        let folder = folder(&format!("replayed{how}"));
        let table = folder.join("computation.csv");
        let (folder, table) = (folder.display(), table.display());
        let measured =
            makespan(&format!("{FREE} {how} --force -o {folder} --tables computation"), &program);
        let replay = format!("{FREE} --compute-time replayed --times {table}");
        let replayed = makespan(&replay, &program);
        assert_eq!(replayed, makespan(&format!("{replay} --in-process"), &program));
        assert_eq!(2 * replayed, makespan(&format!("{replay} --set live.scale=2"), &program));
        // The program looks for a message until it is there: what that takes, it takes before the
        // first look.
        let apart = measured.abs_diff(replayed) as f64 / measured as f64;
        assert!(apart < 0.02, "{measured} and {replayed}");
        // Nothing but messages is simulated again on a network that takes time.
        assert!(makespan(&format!("--compute-time replayed --times {table}"), &program) > replayed);
    }
}

/// A table that does not fit the program is refused, with its place.
#[test]
fn tables_that_do_not_fit() {
    let program = compiled("regions");
    let table = folder("wrong.csv");
    let row = |rank| format!("{rank},1000\n");
    let rows: String = (0..3).flat_map(|rank| vec![row(rank); 8]).collect();
    let full = format!("rank,cpu_ns\n{rows}");
    let cases = [
        (format!("rank,cpu_ns\n{}", row(0)), "rank 1 at ", "more than the 0 regions"),
        (format!("{full}{}", row(2)), "rank 2 at ", "8 regions of computation where 9 are listed"),
        (format!("{full}0,x\n"), "wrong.csv:26: ", "in column `cpu_ns`, found `x`"),
        (rows, "wrong.csv:1: ", "expected `rank,cpu_ns`, found `0,1000`"),
        (format!("{full}3,5\n"), "wrong.csv:26: ", "rank 3 of a program of 3 ranks"),
    ];
    for (text, place, message) in cases {
        fs::write(&table, &text).expect("a table");
        let options = format!("-q -n 3 --compute-time replayed --times {}", table.display());
        let ended = mpirun(&options, &program, "");
        assert!(ended.code != 0, "{text}");
        for part in [place, message] {
            assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
        }
    }
    for (options, message) in [
        ("--compute-time constant", "set live.constant"),
        ("--constant-time 5us", "set live.compute = \"constant\""),
        ("--compute-time replayed", "set live.times"),
        ("--compute-time replayed --times nowhere.csv", "nowhere.csv"),
        ("--compute-time off --tables computation -o nowhere", "computation is measured"),
    ] {
        let ended = mpirun(&format!("-q -n 3 {options}"), &program, "");
        assert!(ended.code != 0 && ended.stderr.contains(message), "{options}: {}", ended.stderr);
    }
}

/// The flag chooses the algorithm. Among two ranks, a reduction to rank 0 and a broadcast are two
/// messages, one after the other: with a latency of 1000 ns and no other cost, 2000 ns. Recursive
/// doubling is one exchange: 1000 ns.
#[test]
fn algorithms_of_collectives() {
    let program = compiled("allreduce");
    for (algorithm, time) in [("redbcast", 2_000_000), ("rdb", 1_000_000)] {
        let options =
            format!("{FREE} --set loggops.L=1000ns --compute-time off --allreduce {algorithm}");
        let ended = mpirun(&format!("-n 2 --format json {options}"), &program, "");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let summary: serde_json::Value = serde_json::from_str(&ended.stdout).expect("a summary");
        assert_eq!(summary["makespan_ps"].as_u64(), Some(time), "{algorithm}");
    }
}
