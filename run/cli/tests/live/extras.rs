//! Extensions that programs can use beyond MPI: sampled blocks, memory that ranks share, simulated
//! clocks of the system.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::mpi::{compiled, mpi, mpirun_as_it_computes as mpirun};
use crate::common::{Ended, Folder};

const WAYS: [&str; 2] = ["", "--in-process"];

fn right(ended: Ended, of: &str) -> String {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{of}");
    ended.stdout
}

fn compile(compiler: &Path, words: &[&str]) {
    let status = Command::new(compiler).args(words).status();
    assert!(status.expect("a compiler").success(), "{words:?}");
}

/// `getopt`, `strtok` and random numbers go on where the rank was, whoever has run since.
#[test]
fn state_of_the_c_library() {
    let program = compiled("own_state");
    for how in WAYS {
        right(mpirun(&format!("-q -n 3 {how} --compute-time off"), &program, "-n 5 -v file"), how);
    }
}

/// A buffer of standard output that a rank gives is not another's.
#[test]
fn buffers_of_ranks() {
    let program = compiled("own_buffer");
    for how in WAYS {
        let said = right(mpirun(&format!("-q -n 3 {how} --compute-time off"), &program, ""), how);
        assert_eq!(said, "one\n".repeat(6), "{how}");
    }
}

/// A parallel region of OpenMP is its rank's alone, however ranks are held.
#[test]
fn calls_in_parallel_regions() {
    let folder = Folder::new("parallel");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/parallel.c");
    let program = folder.path("parallel");
    let words = [source.to_string_lossy(), program.to_string_lossy()];
    compile(&mpi().join("bin/mpicc"), &["-fopenmp", &words[0], "-o", &words[1]]);
    for (ranks, how) in [(3, ""), (1, "--in-process"), (3, "--in-process"), (7, "--in-process")] {
        let ended = mpirun(&format!("-q -n {ranks} {how} --compute-time off"), &program, "");
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ranks} ranks {how}");
    }
}

/// Tools can ask for what a rank sent and received.
#[test]
fn counted_messages() {
    let program = compiled("counters");
    for how in WAYS {
        for ranks in [1, 3] {
            right(mpirun(&format!("-q -n {ranks} {how} --compute-time off"), &program, ""), how);
        }
    }
}

/// A program that looks at the clock until it is time comes to an end before long.
#[test]
fn looks_at_the_clock() {
    let program = compiled("waits_for_a_time");
    for how in WAYS {
        right(mpirun(&format!("-q -n 2 {how} --compute-time off"), &program, ""), how);
    }
}

/// A rank that waits outside MPI is named, as it may wait for another that cannot run. When that
/// has been said, it gets what it waits for.
#[test]
fn a_rank_that_waits_outside_mpi() {
    let folder = Folder::new("waits-outside");
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "100", env!("CARGO_BIN_EXE_heddle"), "mpirun", "-q", "-n", "3"]);
    command.arg(compiled("waits_outside")).arg(folder.path("pipe"));
    command.env("HEDDLE_MPI", mpi().join("lib")).stderr(Stdio::piped());
    let mut child = command.spawn().expect("heddle runs");
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let said = errors.next().expect("a warning").expect("text");
    folder.write("pipe", "");
    let warning =
        "warning: rank 2 has hardly computed for 10 s, outside MPI; if it waits for another rank";
    assert!(said.starts_with(warning), "{said}");
    assert!(errors.next().is_none(), "it is said once");
    assert!(child.wait().expect("heddle ends").success());
}

/// One session begins after the other, and a rank may end behind the last.
#[test]
fn sessions_again() {
    let program = compiled("sessions_again");
    for how in WAYS {
        let of = |arguments| {
            right(mpirun(&format!("-q -n 2 {how} --compute-time off"), &program, arguments), how)
        };
        assert_eq!(of(""), "2 2 2 2\n2 2 2 2\n", "{how}");
        assert_eq!(of("without-init"), "", "{how}");
    }
}

/// Requests end as the standard says where libraries differ.
#[test]
fn ends_of_requests() {
    let program = compiled("request_ends");
    for how in WAYS {
        right(mpirun(&format!("-q -n 2 {how} --compute-time off"), &program, ""), how);
    }
}

/// The lines of a text, whichever rank was first.
fn sorted(said: &str) -> Vec<&str> {
    let mut lines: Vec<_> = said.lines().collect();
    lines.sort_unstable();
    lines
}

/// Each rank has its own floating-point environment, and ends alone if it ends at once.
#[test]
fn state_of_the_processor() {
    let program = compiled("rank_state");
    for how in WAYS {
        let said = right(mpirun(&format!("-q -n 3 {how} --compute-time off"), &program, ""), how);
        assert_eq!(sorted(&said), ["rank 0", "rank 1", "rank 2"], "{how}");
    }
}

/// Each rank has its own variables, however large.
#[test]
fn large_variables() {
    let program = compiled("large_variables");
    for how in WAYS {
        right(mpirun(&format!("-q -n 3 {how} --compute-time off"), &program, ""), how);
    }
}

/// Shared libraries of the program have a state for each rank, which is constructed and destructed
/// for each.
#[test]
fn state_of_libraries() {
    let folder = Folder::new("library");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live");
    let library = folder.path("libcounts.so");
    let program = folder.path("uses_library");
    let mut makes = Command::new("cc");
    makes.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(sources.join("library.c"));
    let mut uses = Command::new(mpi().join("bin/mpicc"));
    uses.arg("-o").arg(&program).arg(sources.join("uses_library.c")).arg(&library);
    for command in [&mut makes, &mut uses] {
        assert!(command.status().expect("a compiler").success());
    }
    for how in WAYS {
        let said = right(mpirun(&format!("-q -n 3 {how} --compute-time off"), &program, ""), how);
        assert_eq!(sorted(&said), ["3 106", "3 109", "3 112"], "{how}");
    }
}

/// The n-th look in a row costs n times as much, of probes too.
#[test]
fn looks_in_a_row() {
    let program = compiled("looks");
    for how in WAYS {
        right(mpirun(&format!("-q -n 2 {how} --compute-time off"), &program, ""), how);
    }
}

/// A program that does not use MPI ends as it likes; it is said, as it may have found another
/// library.
#[test]
fn without_mpi() {
    let ended = mpirun("-q -n 2", "echo".as_ref(), "word");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "word\nword\n"), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("warning: 2 of 2 ranks never used MPI"), "{}", ended.stderr);
    let ended = mpirun("-q -n 2", "false".as_ref(), "");
    assert!(ended.code == 1 && ended.stderr.contains("it exited with code 1"), "{}", ended.stderr);
}

/// Programs find our library whatever paths they bring: a DT_RPATH, an absolute name, no
/// LD_LIBRARY_PATH.
#[test]
fn other_paths() {
    let folder = Folder::new("other-paths");
    let at = |name: &str| folder.path(name).to_string_lossy().into_owned();
    let (source, other) = (at("other.c"), at("libmpi_abi.so.1"));
    let text =
        "#include <stdlib.h>\nint MPI_Init(int *a, char ***b) { (void)a, (void)b, exit(3); }\n";
    folder.write("other.c", text);
    compile("cc".as_ref(), &["-shared", "-fPIC", "-o", &other, &source]);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/looks.c");
    let path = format!("-Wl,--disable-new-dtags,-rpath,{}", at(""));
    for (name, how) in [("by-path", path.as_str()), ("by-name", &other)] {
        let program = at(name);
        compile(&mpi().join("bin/mpicc"), &["-o", &program, source, how]);
        let alone = Command::new(&program).env("LD_LIBRARY_PATH", mpi().join("lib")).status();
        assert_eq!(alone.expect("it runs").code(), Some(3), "{name} finds the other library");
        for how in WAYS {
            right(mpirun(&format!("-q -n 2 {how} --compute-time off"), program.as_ref(), ""), name);
        }
        let script = at("script");
        folder.write("script", &format!("unset LD_LIBRARY_PATH\nexec {program}\n"));
        right(mpirun("-q -n 2 --compute-time off", "sh".as_ref(), &script), "script");
    }
}

/// Threads may call at once also where the program has not asked for that, as far as it works with
/// other libraries.
#[test]
fn threads_that_were_not_asked_for() {
    let program = compiled("unasked_threads");
    for ranks in [1, 2, 4] {
        right(mpirun(&format!("-q -n {ranks} --compute-time off"), &program, ""), "threads");
    }
}

/// Ranks and what they start may run on all cores, though they meet the simulator on one.
#[test]
fn cores_of_a_rank() {
    let program = compiled("cores");
    for how in ["", "--jobs 2"] {
        right(mpirun(&format!("-q -n 4 {how} --compute-time off"), &program, ""), how);
    }
}

/// Of a hundred times, a block runs as often as asked for: in each of two ranks, or in both
/// together.
#[test]
fn sampled_blocks() {
    let program = compiled("sampled");
    for how in WAYS {
        for (arguments, times) in [("5 0", 10), ("100 0", 200), ("5 0 all", 5), ("0 0", 2)] {
            for compute in ["", "--compute-time off"] {
                let ended = mpirun(&format!("-q -n 2 {how} {compute}"), &program, arguments);
                let said = right(ended, arguments);
                assert_eq!(said, format!("{times}\n"), "{arguments} {how} {compute}");
            }
        }
    }
}

/// The time of blocks that do not run passes all the same: the run takes about as long as one in
/// which they do, and not a twentieth.
#[test]
fn sampled_time_passes() {
    let program = compiled("sampled");
    let time = |arguments: &str| {
        let ended = mpirun("-n 2 --format json", &program, arguments);
        let line = ended.stdout.lines().last().unwrap_or_default();
        let summary: serde_json::Value = serde_json::from_str(line).expect("a summary");
        summary["makespan_ps"].as_f64().expect("a time")
    };
    let (full, sampled) = (time("100 0"), time("5 0"));
    assert!((0.5..2.0).contains(&(sampled / full)), "{sampled} of {full}");
}

/// Arrays that ranks share have what the last one wrote, arrays of their own what they wrote
/// themselves.
#[test]
fn folded_memory() {
    let program = compiled("folded");
    let cases = [
        ("", "folded 3", 1),
        ("--fold 1MiB", "malloc 3", 1),
        ("--fold 4MiB", "malloc 3", 4),
        ("", "malloc 3", 4),
    ];
    for how in WAYS {
        for (options, arguments, own) in cases {
            let ended = mpirun(&format!("-q -n 4 {options} {how}"), &program, arguments);
            let said = right(ended, arguments);
            let count = |line: &str| said.lines().filter(|said| *said == line).count();
            let counts = (count("whole own"), count("whole other"));
            assert_eq!(counts, (own, 4 - own), "{options} {arguments} {how}: {said}");
        }
        let ended = mpirun(&format!("-n 4 --fold 1KiB {how}"), &program, "malloc 3");
        assert!(ended.code != 0 && ended.stderr.contains("65536 B"), "{}", ended.stderr);
    }
}

/// Ranks compute one after the other, or as many at once as asked for.
#[test]
fn ranks_at_the_same_time() {
    let program = compiled("together");
    for (jobs, found) in [("", "1\n"), ("--jobs 2", "2\n")] {
        let folder = Folder::new("together");
        let options = format!("-q -n 2 --compute-time off {jobs}");
        let ended = mpirun(&options, &program, &folder.path("").to_string_lossy());
        assert_eq!(right(ended, jobs), found, "{jobs}");
    }
}

/// Whoever computes at the same time, ranks take locks, tickets and places in a file from each
/// other in the same order.
#[test]
fn order_of_ranks_at_the_same_time() {
    let program = compiled("order");
    for network in ["", "--network infiniband --topology torus:dims=3x3"] {
        let folder = Folder::new("order");
        let file = folder.path("file");
        let run = |jobs| {
            let options = format!("-q -n 9 --compute-time off {network} --jobs {jobs}");
            right(mpirun(&options, &program, &file.to_string_lossy()), &options)
        };
        let one = run(1);
        for jobs in [2, 3, 5] {
            assert_eq!(run(jobs), one, "{jobs} {network}");
        }
    }
}

/// Ranks look at and change shared state when their time has come, and not when their code runs: at
/// which others are as far.
#[test]
fn moments_of_ranks() {
    let program = compiled("moments");
    let folder = Folder::new("moments");
    let file = folder.path("file");
    let square = "--topology torus:dims=2x2";
    for how in [
        "",
        "--in-process",
        "--jobs 3",
        &format!("--network infiniband {square}"),
        &format!("--network infiniband {square} --in-process"),
        &format!("--network flow {square}"),
        &format!("--network flow {square} --set flow.or=0B:400ns"),
    ] {
        let options = format!("-q -n 4 --compute-time off --host-clock simulated {how}");
        let said = right(mpirun(&options, &program, &file.to_string_lossy()), &options);
        assert_eq!(said, "", "{how}");
    }
}

/// A second, a quarter and 5 us of sleep take that, by every clock.
#[test]
fn simulated_clocks() {
    let program = compiled("clocks");
    let options = "-q -n 1 --host-clock simulated --compute-time off --set live.clock=0ns";
    for how in WAYS {
        let said = right(mpirun(&format!("{options} {how}"), &program, ""), how);
        assert_eq!(said, "1250005000 1250005000 1 1.250005\n", "{how}");
    }
}

/// Clocks are also found by a program that MPI is in where others do not see it; a thread that is
/// not the first sleeps by the host's, and not for ever.
#[test]
fn simulated_clocks_of_what_was_imported() {
    let folder = Folder::new("imported");
    let library = folder.path("libsleeper.so").display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/sleeper.c");
    compile(&mpi().join("bin/mpicc"), &["-shared", "-fPIC", "-pthread", "-o", &library, source]);
    let program = folder.path("imports");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/imports.c");
    compile("cc".as_ref(), &["-o", &program.display().to_string(), source]);
    let options = "-q -n 1 --host-clock simulated --compute-time off --set live.clock=0ns";
    assert_eq!(right(mpirun(options, &program, &library), "imported"), "999999999 0.999999999\n");
}

/// Without contents, messages are as long, say the same of themselves and take the same time;
/// buffers need not be there, and stay as they are.
#[test]
fn messages_without_contents() {
    let program = compiled("skeleton");
    for how in WAYS {
        let ended = mpirun(&format!("-q -n 4 --no-payload --compute-time off {how}"), &program, "");
        assert_eq!(right(ended, how), "1 3 1048576 2 7\n".repeat(4), "{how}");
    }
    let ended = mpirun("-q -n 4 --compute-time off", &program, "");
    assert!(ended.code != 0 && ended.stderr.contains("null pointer"), "{}", ended.stderr);
    let program = compiled("regions");
    let time = |options: &str| {
        let ended =
            mpirun(&format!("-n 4 --compute-time off --format json {options}"), &program, "");
        let line = ended.stdout.lines().last().unwrap_or_default().to_owned();
        let summary: serde_json::Value = serde_json::from_str(&line).expect("a summary");
        (summary["makespan_ps"].as_u64().expect("a time"), summary["bytes"].as_u64())
    };
    assert_eq!(time(""), time("--no-payload"));
}
