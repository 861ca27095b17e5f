//! The table of the calls of live programs: that of the replay of what is recorded of them.

use std::process::Command;

use crate::common::mpi::{compiled, ended, mpi};
use crate::common::{Ended, Folder};
use crate::recordings::recorder;

/// The rows of `calls.csv` in a folder, without those of functions that take no time.
fn calls(folder: &Folder, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path(name).join("calls.csv")).expect("a table");
    let took = |row: &&str| {
        let mut cells = row.rsplit(',');
        cells.next() != cells.next()
    };
    text.lines().skip(1).filter(took).map(str::to_owned).collect()
}

/// The remark on the algorithms of collectives, with how often each was taken.
fn algorithms(folder: &Folder, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.path(name).join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let remarks = summary["remarks"].as_array().expect("a list").iter();
    remarks
        .filter_map(|remark| remark.as_str())
        .find(|text| text.contains(" by "))
        .map(str::to_owned)
}

fn heddle(folder: &Folder, arguments: &str) -> Ended {
    let mut heddle = Command::new(env!("CARGO_BIN_EXE_heddle"));
    heddle.args(arguments.split_whitespace()).current_dir(folder.path("."));
    heddle.env("HEDDLE_MPI", mpi().join("lib")).env("HEDDLE_RECORDER", recorder());
    let ended = ended(&heddle.output().expect("heddle runs"));
    assert_eq!(ended.code, 0, "{arguments}: {}", ended.stderr);
    ended
}

/// A message takes 2 o + L + 999 G = 11 494 ns to be there; its send takes o = 1500 ns of that; the
/// look at the clock before is 10 ns of computation.
#[test]
fn calls_of_a_pingpong() {
    let program = compiled("pingpong").display().to_string();
    let folder = Folder::new("calls-pingpong");
    heddle(&folder, &format!("mpirun -q -n 2 --compute-time off -o run --tables calls {program}"));
    let rows = |rank: u64, first: u64| {
        let round = |number: u64| {
            let at = 10 + number * 22_988;
            let there = at + 11_494;
            match rank {
                0 => [("MPI_Send", at, at + 1500), ("MPI_Recv", at + 1500, at + 22_988)],
                _ => [
                    ("MPI_Recv", first.max(there.saturating_sub(21_488)), there),
                    ("MPI_Send", there, there + 1500),
                ],
            }
        };
        let rows = (0..100).flat_map(round);
        let row = move |(name, enter, leave)| format!("{rank},0,{name},{enter}000,{leave}000");
        rows.map(row).collect::<Vec<_>>()
    };
    assert_eq!(calls(&folder, "run"), [rows(0, 0), rows(1, 10)].concat());
}

/// Tests and looks at the clock are left out here: a replay has them as parts of the calls before.
#[test]
fn calls_are_those_of_the_replay() {
    let programs = [("collectives", 5), ("reductions", 4), ("communicators", 4), ("topologies", 4)];
    for (name, ranks) in programs {
        let program = compiled(name).display().to_string();
        let folder = Folder::new(&format!("calls-{name}"));
        let how = format!("mpirun -q -n {ranks} --compute-time off");
        heddle(&folder, &format!("{how} -o live --tables calls {program}"));
        heddle(&folder, &format!("{how} --in-process -o held --tables calls {program}"));
        heddle(
            &folder,
            &format!("record -o traces -- {} {how} {program}", env!("CARGO_BIN_EXE_heddle")),
        );
        heddle(&folder, &format!("{how} --threads 3 -o threads --tables calls {program}"));
        heddle(&folder, "run traces -q -o replay --tables calls");
        let live = calls(&folder, "live");
        assert!(live.len() > 30, "{name}: {live:?}");
        assert_eq!(live, calls(&folder, "held"), "{name}");
        assert_eq!(live, calls(&folder, "threads"), "{name}");
        assert_eq!(live, calls(&folder, "replay"), "{name}");
        assert_eq!(algorithms(&folder, "live"), algorithms(&folder, "replay"), "{name}");
    }
}
