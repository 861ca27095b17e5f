//! Tests of `heddle mpirun` when something is not as it should be: folders, limits, launchers
//! within it, and its own end.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::mpi::{compiled, ended, mpi, mpirun};
use common::{Ended, Folder};

const WAYS: [&str; 2] = ["", "--in-process"];

/// A script in a folder that may run `$HEDDLE mpirun` and the program `$PROGRAM`; none that does
/// not end.
fn shell(folder: &Folder, program: &Path, script: &str) -> Ended {
    let output = Command::new("timeout")
        .args(["--signal=KILL", "100", "sh", "-c", script])
        .current_dir(folder.path("."))
        .env("HEDDLE", env!("CARGO_BIN_EXE_heddle"))
        .env("HEDDLE_MPI", mpi().join("lib"))
        .env("PROGRAM", program)
        .stdin(Stdio::null())
        .output();
    ended(&output.expect("a shell"))
}

/// True if something comes true within a minute.
fn comes_true(mut what: impl FnMut() -> bool) -> bool {
    let patience = Instant::now() + Duration::from_secs(60);
    while !what() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(5));
    }
    what()
}

/// If the command is killed before its ranks have come to `MPI_Init`, they end; and so does what
/// they have started, when it comes there.
#[test]
fn the_command_is_killed_early() {
    let folder = Folder::new("killed-early");
    let program = compiled("pingpong");
    let script = "(while [ ! -e go ]; do sleep 0.05; done; $PROGRAM 2> said; echo $? > code.part; \
                  mv code.part code) & echo $$ > rank.part; mv rank.part rank; wait";
    let mut child = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args(["mpirun", "-q", "sh", "-c", script])
        .current_dir(folder.path("."))
        .env("HEDDLE_MPI", mpi().join("lib"))
        .env("PROGRAM", &program)
        .spawn()
        .expect("heddle runs");
    assert!(comes_true(|| folder.path("rank").exists()), "the rank starts");
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let rank = String::from_utf8(folder.read("rank")).expect("text");
    let status = format!("/proc/{}/stat", rank.trim());
    let is_over = || fs::read_to_string(&status).map_or(true, |stat| stat.contains(") Z "));
    assert!(comes_true(is_over), "the rank stays");
    folder.write("go", "");
    assert!(comes_true(|| folder.path("code").exists()), "the program waits for ever");
    let said = String::from_utf8(folder.read("said")).expect("text");
    assert!(said.contains("heddle mpirun has ended"), "{said}");
    assert_ne!(folder.read("code"), b"0\n");
}

/// A command that is to outlive its terminal does.
#[test]
fn without_a_terminal() {
    let folder = Folder::new("nohup");
    let script = "nohup $HEDDLE mpirun -q sh -c 'kill -HUP $PPID; sleep 0.3; $PROGRAM variables' \
                  2> /dev/null";
    let ran = shell(&folder, &compiled("launched"), script);
    assert!(ran.code == 0 && ran.stdout.starts_with("0 none "), "{ran:?}");
}

/// A rank is one process: one after another, several at once, or one that another launcher has cut
/// off, are told so.
#[test]
fn several_processes_of_a_rank() {
    let folder = Folder::new("several-processes");
    let program = compiled("launched");
    let twice = "[ $PMI_RANK = 1 ] && { sleep 1; exec $PROGRAM print; }; $PROGRAM print & $PROGRAM \
                 print; a=$?; wait $!; exit $((a + $?))";
    for (ranks, script, message) in [
        (
            1,
            "$PROGRAM x; $PROGRAM x",
            "rank 0 is over: the process that was this rank has called MPI_Finalize",
        ),
        (2, twice, "another process is or was rank 0 already"),
        (1, "$PROGRAM closed", "its descriptor was closed; a rank is one process"),
    ] {
        let ran =
            shell(&folder, &program, &format!("$HEDDLE mpirun -q -n {ranks} sh -c '{script}'"));
        assert!(ran.stderr.contains("heddle: rank 0: MPI_Init: "), "{script}: {ran:?}");
        assert!(ran.code == 16 && ran.stderr.contains(message), "{script}: {ran:?}");
    }
    // A script that goes on as if nothing had happened does not hide it.
    for script in ["$PROGRAM x; $PROGRAM x; true", "$PROGRAM x; true"] {
        let ran = shell(&folder, &program, &format!("$HEDDLE mpirun -q sh -c '{script}'"));
        assert_eq!(ran.code, i32::from(script.matches('x').count() > 1), "{script}: {ran:?}");
    }
}

/// Paths of the command line are those of where it was given, wherever the program runs or goes.
#[test]
fn paths_of_the_command_line() {
    let folder = Folder::new("paths");
    fs::create_dir(folder.path("sub")).expect("a folder");
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    fs::copy(format!("{machines}/fat-tree-648.toml"), folder.path("m.toml")).expect("a machine");
    for (number, how) in WAYS.iter().enumerate() {
        let options = format!("-q -n 2 --machine m.toml {how}");
        let script = format!(
            "$HEDDLE mpirun {options} -o out{number} --tables computation --wdir sub $PROGRAM \
             variables &&
             $HEDDLE mpirun {options} -o away{number} $PROGRAM away &&
             $HEDDLE mpirun {options} --compute-time replayed --times out{number}/computation.csv \
             --wdir sub $PROGRAM variables"
        );
        let ran = shell(&folder, &compiled("launched"), &script);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{how}");
        let there = ran.stdout.lines().filter(|line| line.ends_with("/sub")).count();
        assert_eq!(there, 4, "{how}: {}", ran.stdout);
    }
    let results = ["away0", "away1", "m.toml", "out0", "out1", "sub"];
    assert_eq!(folder.names("."), results);
    assert!(folder.names("sub").is_empty());
}

/// A manifest runs from anywhere: it says where the program ran.
#[test]
fn a_manifest_from_elsewhere() {
    let folder = Folder::new("manifest-elsewhere");
    fs::create_dir(folder.path("here")).expect("a folder");
    fs::copy(compiled("launched"), folder.path("here/program")).expect("a program");
    let script = "cd here && $HEDDLE mpirun -q -n 2 --compute-time off -o ../out ./program \
                  variables && cd / &&
                  $HEDDLE run -q $OLDPWD/../out/manifest.json";
    let ran = shell(&folder, Path::new(""), script);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let there = ran.stdout.lines().filter(|line| line.ends_with("manifest-elsewhere/here")).count();
    assert_eq!(there, 4, "{}", ran.stdout);
}

/// A thing that is missing is named.
#[test]
fn what_is_missing() {
    let folder = Folder::new("missing");
    let program = compiled("pingpong");
    for how in WAYS {
        let script = format!("$HEDDLE mpirun -n 2 {how} --wdir nowhere $PROGRAM");
        let ran = shell(&folder, &program, &script);
        assert!(ran.code == 1 && ran.stderr.contains("error: nowhere, the folder"), "{ran:?}");
        let ran = shell(
            &folder,
            &program,
            &format!("HEDDLE_MPI=$PWD/none $HEDDLE mpirun {how} $PROGRAM"),
        );
        assert!(ran.code == 1 && ran.stderr.contains("/none is not the folder"), "{ran:?}");
        let script = format!("HEDDLE_MPI=${{HEDDLE_MPI%/lib}} $HEDDLE mpirun {how} $PROGRAM");
        let ran = shell(&folder, &program, &script);
        assert!(ran.code == 1 && ran.stderr.ends_with("help: its folder `lib` is\n"), "{ran:?}");
        let ran = shell(
            &folder,
            &compiled("launched"),
            &format!("$HEDDLE mpirun -q {how} -x ONE $PROGRAM variables"),
        );
        assert!(ran.code == 0 && ran.stdout.starts_with("0 none "), "{ran:?}");
        assert_eq!(ran.stderr, "warning: -x ONE: it is not set here, and so not for the program\n");
    }
}

/// If the output of ranks cannot be written, this is said; that a reader has seen enough is no
/// failure.
#[test]
fn tagged_lines_that_are_lost() {
    let folder = Folder::new("tagged-lost");
    let program = compiled("launched");
    let full =
        shell(&folder, &program, "$HEDDLE mpirun -q -n 2 --tag-output $PROGRAM print > /dev/full");
    assert_eq!(full.code, 4, "{full:?}");
    assert!(full.stderr.contains("error: standard output: No space left on device\n"), "{full:?}");
    let read = shell(
        &folder,
        &program,
        "{ $HEDDLE mpirun -q -n 2 --tag-output $PROGRAM print 2> /dev/null; echo $? >&2; } | true",
    );
    assert_eq!(read.stderr, "0\n");
}

/// A limit of the size of files is an error that is said, and not the end; programs have the limit
/// as ever.
#[test]
fn files_that_are_too_large() {
    let folder = Folder::new("too-large");
    let program = compiled("pingpong");
    for (command, code) in [
        ("gen linear-alltoall --ranks 64 -o large.goal", 4),
        ("mpirun -q -n 2 $PROGRAM", 1),
        ("mpirun -q -n 2 --in-process -o out --tables messages $PROGRAM", 4),
    ] {
        let ran = shell(&folder, &program, &format!("ulimit -f 1; $HEDDLE {command}"));
        assert_eq!(ran.code, code, "{command}: {ran:?}");
        assert!(ran.stderr.contains("File too large"), "{command}: {ran:?}");
    }
    let program = compiled("launched");
    let script = "$HEDDLE mpirun -q sh -c 'ulimit -f 1; head -c 9999 /dev/zero > large; kill -l \
                  $?; $PROGRAM x'";
    let ran = shell(&folder, &program, script);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "XFSZ\n"), "{}", ran.stderr);
}

/// Mistakes are told in the words that were given.
#[test]
fn what_cannot_start() {
    let folder = Folder::new("starts-not");
    let program = compiled("pingpong");
    folder.write("script", "#!/nowhere/python\n");
    let start = "chmod +x script; cp $PROGRAM here; $HEDDLE mpirun";
    for (line, code, said) in [
        ("-n 2 ./script", 1, "./script: its interpreter /nowhere/python is missing"),
        ("-n 2 here", 1, "here: there is no such program on PATH\n  help: ./here is"),
        ("-n 2 nowhere", 1, "nowhere: No such file"),
        ("-n 0 ./here", 2, "--np"),
        ("-n 2 --jobs 0 ./here", 2, "--jobs 0: expected"),
        ("-n 2 --size 4 ./here", 2, "unknown option --size"),
        ("-n 2 --gantt --format json ./here", 2, "--gantt draws on the terminal"),
    ] {
        for how in WAYS {
            let ran = shell(&folder, &program, &format!("{start} {how} {line}"));
            assert!(ran.code == code && ran.stderr.contains(said), "{how} {line}: {ran:?}");
        }
    }
    let tagged = format!("{start} -n 2 --in-process --tag-output ./here");
    let ran = shell(&folder, &program, &tagged);
    assert!(ran.code == 2 && ran.stderr.contains("cannot tell ranks apart"), "{ran:?}");
    let ran = shell(
        &folder,
        &program,
        &format!("{start} -q -n 2 --jobs 2 --network flow --topology torus:dims=2x2 ./here"),
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for compiler in [
        "mpicc -cc=nobody -show",
        "env OMPI_CC=nobody mpicc -show",
        "env MPICH_CC=nobody mpicc -show",
    ] {
        let ran = shell(&folder, &program, &format!("PATH=$HEDDLE_MPI/../bin:$PATH; {compiler}"));
        assert!(ran.stdout.starts_with("nobody -I"), "{compiler}: {ran:?}");
    }
}

/// With little address space there are fewer threads, or an error that says so; neither a panic nor
/// a wait without end.
#[test]
fn little_address_space() {
    let folder = Folder::new("little");
    let program = compiled("pingpong");
    let started = "mpirun -q -n 2 --spawn-at-most 0 --tag-output $PROGRAM";
    // The system ends a command without a word whose own file has no room.
    let file = fs::metadata(env!("CARGO_BIN_EXE_heddle")).expect("the command").len() / 1024;
    let least = file as usize;
    for command in ["run pattern:linear-alltoall --ranks 64 --threads 8 -q", started] {
        for limit in (least..least + 80_000).step_by(16_000) {
            let line = format!("ulimit -v {limit}; timeout 20 $HEDDLE {command}");
            let ran = shell(&folder, &program, &line);
            let is_told = ran.stderr.contains("memory") || ran.stderr.contains("shared object");
            let is_told = is_told || ran.stderr.contains("temporarily unavailable");
            assert!(ran.code == 0 || is_told && ran.code != 124, "{limit}: {ran:?}");
            assert!(!ran.stderr.contains("panicked"), "{limit}: {ran:?}");
        }
    }
    let ran = shell(
        &folder,
        &program,
        &format!("ulimit -v {}; $HEDDLE mpirun -n 2 $PROGRAM", least + 36_000),
    );
    assert!(ran.code == 1 && ran.stderr.contains("help: --spawn-at-most 0"), "{ran:?}");
}

/// `heddle record` is told that it cannot record ranks of one process.
#[test]
fn recorded_in_one_process() {
    let folder = Folder::new("recorded");
    let ran = shell(
        &folder,
        &compiled("pingpong"),
        "HEDDLE_RECORD=. $HEDDLE mpirun -n 2 --in-process $PROGRAM",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("without --in-process, it can"), "{ran:?}");
}

/// Signals have names, and one rank is one.
#[test]
fn what_is_said() {
    let folder = Folder::new("what-is-said");
    let ran = shell(&folder, Path::new(""), "$HEDDLE mpirun -q sh -c 'kill -PIPE $$'");
    assert!(ran.code == 141 && ran.stderr.contains("signal 13 (broken pipe)"), "{ran:?}");
    let stuck = mpirun("-q", &compiled("wrong"), "alone");
    assert!(stuck.code == 3 && stuck.stderr.contains("a deadlock of 1 rank;"), "{stuck:?}");
    let version = shell(&folder, Path::new(""), "$HEDDLE mpirun --version && $HEDDLE mpirun -V");
    let name = format!("heddle-mpirun {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((version.code, version.stdout), (0, name.repeat(2)));
}

/// A limited address space (`ulimit -v`) of 8 GiB is enough, for all or for a rank; if it is too
/// small, the limit is blamed.
#[test]
fn a_limited_address_space() {
    let folder = Folder::new("limited-address-space");
    let program = compiled("large");
    for how in ["-n 4 $PROGRAM", "-n 4 --in-process $PROGRAM"] {
        let script = format!("ulimit -v 8388608; $HEDDLE mpirun -q --compute-time off {how}");
        let ran = shell(&folder, &program, &script);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{how}");
    }
    let one = "[ $PMI_RANK = 1 ] && ulimit -v 2000000; $PROGRAM";
    let ran = shell(&folder, &program, &format!("$HEDDLE mpirun -q -n 2 sh -c '{one}'"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "one rank");
    // The system grants no more than so much private memory, as where it promises no more than it
    // has (vm.overcommit_memory = 2).
    let few =
        "ulimit -d 1000000; $HEDDLE mpirun -q -n 1024 --in-process --compute-time off $PROGRAM";
    let ran = shell(&folder, &compiled("barrier"), few);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "private memory");
    // Stacks take what is left by what else is mapped in advance.
    for limit in [600_000, 1_000_000, 1_500_000, 2_000_000, 4_000_000] {
        let script = format!("ulimit -v {limit}; $HEDDLE mpirun -q -n 64 --in-process $PROGRAM");
        let ran = shell(&folder, &compiled("barrier"), &script);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{limit}");
    }
    for how in WAYS {
        let script = format!("ulimit -v 3000000; $HEDDLE mpirun -q -n 65536 {how} $PROGRAM");
        let ran = shell(&folder, &program, &script);
        let blamed = ran.stderr.contains("the address space has no room for")
            && ran.stderr.contains("ulimit -v");
        assert!(ran.code == 1 && blamed, "{how}: {} {}", ran.code, ran.stderr);
    }
}
