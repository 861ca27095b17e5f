//! The table of the calls of live programs: that of the replay of what is recorded of them.

use std::path::Path;
use std::process::Command;

use crate::common::mpi::{compiled, ended, mpi};
use crate::common::{Ended, Folder};
use crate::recordings::recorder;

/// The rows of `calls.csv` in a folder, without those of functions that take no time: each without
/// its place, and the place.
fn rows(folder: &Folder, name: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder.path(name).join("calls.csv")).expect("a table");
    let split = |row: &str| {
        let (times, place) = row.rsplit_once(',').expect("columns");
        (times.to_owned(), place.to_owned())
    };
    let took = |(row, _): &(String, String)| {
        let mut cells = row.rsplit(',');
        cells.next() != cells.next()
    };
    text.lines().skip(1).map(split).filter(took).collect()
}

/// Those rows without their places.
fn calls(folder: &Folder, name: &str) -> Vec<String> {
    rows(folder, name).into_iter().map(|(row, _)| row).collect()
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

/// The rows of `lines.c`, whose calls are made at `first` and `second`, in this order. A message
/// takes T(n) = 2 o + L + (n - 1) G, and its send o of that: 11 494 ns and 17 494 ns, and 1500 ns.
fn there_and_back(first: [&str; 2], second: [&str; 2]) -> Vec<(String, String)> {
    let mut rows = [Vec::new(), Vec::new()];
    let (mut at, mut waits_since) = (0, 0);
    for _ in 0..3 {
        let (there, back) = (at + 11_494, at + 11_494 + 17_494);
        let round = [
            (0, "MPI_Send", at, at + 1500, first[0]),
            (0, "MPI_Recv", at + 1500, back, first[1]),
            (1, "MPI_Recv", waits_since, there, second[0]),
            (1, "MPI_Send", there, there + 1500, second[1]),
        ];
        for (rank, name, enter, leave, place) in round {
            let row = format!("{rank},0,{name},{enter}000,{leave}000");
            rows[rank].push((row.replace(",0000", ",0"), place.to_owned()));
        }
        (at, waits_since) = (back, there + 1500);
    }
    rows.concat()
}

/// The places of the calls of `lines.c` in its text.
fn lines_of_calls() -> [String; 4] {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/lines.c");
    let text = std::fs::read_to_string(source).expect("a program");
    let calls = (1..).zip(text.lines()).filter(|(_, line)| line.contains("MPI_CHAR"));
    let places: Vec<_> = calls.map(|(number, _)| format!("lines.c:{number}")).collect();
    places.try_into().expect("four calls")
}

/// Calls have the line that they stand in: in processes and in one, on one thread and several.
#[test]
fn calls_know_their_lines() {
    let folder = Folder::new("calls-lines");
    let program = compiled("lines").display().to_string();
    let lines = lines_of_calls();
    let mut tables = Vec::new();
    for (name, how) in [
        ("processes", "--threads 1"),
        ("at-once", "--threads 3"),
        ("held", "--in-process --threads 1"),
        ("held-at-once", "--in-process --threads 3"),
    ] {
        let how = format!("mpirun -q -n 2 --compute-time off {how} --tables calls");
        heddle(&folder, &format!("{how} -o {name} {program}"));
        tables.push(folder.read(&format!("{name}/calls.csv")));
        let [a, b, c, d] = &lines;
        assert_eq!(rows(&folder, name), there_and_back([a, b], [c, d]), "{name}");
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Functions of C++ have the names that they have in its text.
#[test]
fn calls_know_their_methods() {
    let folder = Folder::new("calls-methods");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/methods.cpp");
    let mut compiler = Command::new(mpi().join("bin/mpicxx"));
    compiler.arg("-O1").arg("-o").arg(folder.path("program")).arg(&source);
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("skipped: no c++");
        return;
    }
    assert!(compiler.status().expect("mpicxx runs").success());
    heddle(&folder, "mpirun -q -n 2 --compute-time off -o run --tables calls ./program");
    let places: Vec<_> = rows(&folder, "run").into_iter().map(|(_, place)| place).collect();
    assert_eq!(places, ["solver::Grid<int>::exchange(int)"; 2]);
}

/// Without lines, calls have the function that they are made in.
#[test]
fn calls_know_their_functions() {
    let folder = Folder::new("calls-functions");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/lines.c");
    for (name, flags, places) in
        [("functions", "-O1", ["first", "second"]), ("nothing", "-O1 -s", ["", ""])]
    {
        let mut compiler = Command::new(mpi().join("bin/mpicc"));
        compiler.args(flags.split(' ')).arg("-o").arg(folder.path("program")).arg(&source);
        assert!(compiler.status().expect("mpicc runs").success());
        for how in ["", "--in-process"] {
            let how = format!("mpirun -q -n 2 --compute-time off {how} --tables calls");
            heddle(&folder, &format!("{how} --force -o {name} ./program"));
            let [first, second] = places;
            let expected = there_and_back([first; 2], [second; 2]);
            assert_eq!(rows(&folder, name), expected, "{name} {how}");
        }
    }
}
