//! Programs whose ranks are simulated: compiled with our own `mpicc`, run as processes and in one
//! process.

#[path = "live/calls.rs"]
mod calls;
mod common;
#[path = "live/computation.rs"]
mod computation;
#[path = "live/determinism.rs"]
mod determinism;
#[path = "live/endings.rs"]
mod endings;
#[path = "live/extras.rs"]
mod extras;
#[path = "live/in_process.rs"]
mod in_process;
#[path = "live/kernels.rs"]
mod kernels;
#[path = "live/preloaded.rs"]
mod preloaded;
#[path = "../../../app/recorder/tests/support/programs.rs"]
mod programs;
#[path = "live/recordings.rs"]
mod recordings;
#[path = "live/spawned.rs"]
mod spawned;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use common::Ended;
use common::mpi::{compiled, ended, mpi, mpirun, mpirun_as_it_computes};

/// Data is right on any number of ranks and over any network; and the time is the same however
/// ranks are held.
#[test]
fn basics_on_any_network() {
    let program = compiled("basics");
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    let infiniband = format!("--machine {machines}/fat-tree-648.toml");
    let flow = format!("--machine {machines}/graphene.xml");
    for (ranks, network) in
        [(1, ""), (2, ""), (3, ""), (8, ""), (5, infiniband.as_str()), (4, flow.as_str())]
    {
        let run = |how: &str| {
            let ended = mpirun(&format!("-q -n {ranks} {network} {how}"), &program, "");
            assert_eq!(
                (ended.code, ended.stdout.as_str()),
                (0, ""),
                "{ranks} ranks {network} {how}: {}",
                ended.stderr
            );
            ended.stderr
        };
        let processes = run("");
        assert_eq!(processes, run("--in-process"), "{ranks} ranks {network}");
        assert_eq!(processes, run(""), "{ranks} ranks {network}, again");
    }
}

/// Files, partitioned and buffered messages do what the standard says, on any number of ranks.
#[test]
fn files_and_kept_messages() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("file-of-all-ranks");
    for name in ["files", "partitioned", "buffered"] {
        let program = compiled(name);
        for ranks in [1, 2, 4] {
            for how in ["", "--in-process"] {
                let ended =
                    mpirun(&format!("-q -n {ranks} {how}"), &program, &file.to_string_lossy());
                let said = (ended.code, ended.stdout.as_str());
                assert_eq!(said, (0, ""), "{name} on {ranks} ranks {how}: {}", ended.stderr);
            }
        }
    }
}

/// The order of arrival depends on other traffic if that shares links, and only then.
#[test]
fn the_order_of_arrival() {
    let program = compiled("../../../../examples/programs/two_way_ring");
    for (network, changes) in [("infiniband", true), ("flow", true), ("loggops", false)] {
        let torus = if changes { "--topology torus:dims=6x6" } else { "" };
        let order = |how: &str, load: &str| {
            let options = format!("-q -n 36 --network {network} {torus} {how}");
            let ended = mpirun(&options, &program, &format!("10 8192 {load}"));
            let (sides, _) = ended.stdout.split_once(' ').expect("an order and its number");
            let count = |side| sides.matches(side).count();
            assert_eq!((ended.code, count('L'), count('R')), (0, 10, 10), "{}", ended.stderr);
            ended.stdout
        };
        let quiet = order("--in-process", "");
        let loaded = order("--in-process", "65536");
        assert_eq!(quiet != loaded, changes, "{network}: {quiet}{loaded}");
        assert_eq!(order("", "65536"), loaded, "{network}");
    }
}

/// Half a round takes o + L + o + 999 G = 1500 + 2500 + 1500 + 5994 ns with LogGOPSim's parameters.
#[test]
fn a_message_takes_its_time() {
    let program = compiled("pingpong");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 2 --set live.clock=0ns {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "11494.000\n"), "{}", ended.stderr);
    }
}

/// Over two rails, by the one that delivers earlier: o + L + 999 G + o = 100 + 1000 + 999 + 100 ns.
#[test]
fn a_message_over_rails() {
    let program = compiled("pingpong");
    let rail = |name: &str, latency: &str| {
        let all = format!("o=100ns L={latency} g=400ns G=1ns/B");
        let sets = all.split(' ').map(|set| format!("--set rail.{name}.loggops.{set} "));
        sets.collect::<String>()
    };
    let sets = rail("fast", "1us") + &rail("slow", "9us") + "--set live.clock=0ns";
    for how in ["", "--in-process", "--threads 2"] {
        let ended = mpirun(&format!("-q -n 2 {sets} {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "2199.000\n"), "{}", ended.stderr);
    }
}

/// A recorded live run, and what runs its traces again.
fn recorded(
    library: &programs::Mpi,
    name: &str,
    options: &str,
    program: &[&OsStr],
) -> (Ended, Command) {
    let kind = library.kind.name();
    let traces = library.recorder().join(format!("live-{kind}-{name}"));
    let mut record = Command::new(env!("CARGO_BIN_EXE_heddle"));
    record.args(["record", "--force", "-o"]).arg(&traces).args(["--mpi", kind]);
    record.arg("--").arg(env!("CARGO_BIN_EXE_heddle")).arg("mpirun");
    record.args(options.split_whitespace()).args(program);
    record.env("HEDDLE_MPI", mpi().join("lib")).env(recorder::launch::FOLDER, library.recorder());
    let recorded = ended(&record.output().expect("heddle runs"));
    let mut replay = Command::new(env!("CARGO_BIN_EXE_heddle"));
    replay.arg("run").arg(&traces).args(["--format", "json"]);
    (recorded, replay)
}

/// A program that loads its library of MPI while it runs, as Python does, is recorded in simulated
/// time.
#[test]
fn a_recording_of_a_program_that_loads_mpi() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/loads.c");
    for library in programs::libraries() {
        let made = |what: &str| library.recorder().join(format!("loads-{what}-{}", library.kind));
        let (program, part) = (made("program"), made("part"));
        for (compiler, options, made) in [
            ("cc".to_owned(), &[][..], &program),
            (library.compiler("mpicc"), &["-DPART", "-shared", "-fPIC"][..], &part),
        ] {
            let mut compile = Command::new(compiler);
            let compile = compile.args(options).arg("-o").arg(made).arg(&source).arg("-ldl");
            assert!(compile.status().expect("a compiler").success());
        }
        let options = "-n 3 --format json --compute-time off";
        let command = [program.as_os_str(), part.as_os_str()];
        let (recorded, mut replay) = recorded(library, "loads", options, &command);
        let replayed = ended(&replay.output().expect("heddle runs"));
        let time = |ended: &Ended| {
            let summary: serde_json::Value =
                serde_json::from_str(&ended.stdout).expect("a summary");
            summary["makespan_ps"].as_u64().expect("a time")
        };
        assert_eq!(time(&recorded), time(&replayed), "{}", recorded.stderr);
    }
}

/// Of a program compiled with an installed library of MPI: a live run, one that is recorded, and
/// the replay of the recording take the same time to the picosecond, and so does a run in one
/// process; with measured computation, the one that is recorded and its replay.
#[test]
// Long because it lists the programs.
fn a_live_run_and_its_replay() {
    for library in programs::libraries() {
        let (off, constant) =
            ("--compute-time off", "--compute-time constant --constant-time 10us");
        let overheads = "--network flow --topology star:hosts=4 --set flow.or=0B:400ns";
        let asleep = "--compute-time off --host-clock simulated";
        let of_sends =
            "--network flow --topology star:hosts=4 --set flow.or=0B:400ns --set flow.os=0B:300ns";
        for (name, ranks, compute, network) in [
            ("pingpong", 2, off, ""),
            ("halo", 4, off, ""),
            ("cg", 3, off, ""),
            ("cg", 3, constant, ""),
            ("cg", 4, constant, of_sends),
            ("persistent", 3, off, ""),
            ("persistent", 3, constant, ""),
            ("synchronous", 4, off, ""),
            ("communicators", 5, off, ""),
            ("looks", 3, off, ""),
            ("looks", 3, off, "--network infiniband --topology star:hosts=4"),
            ("looks", 3, off, overheads),
            ("looks", 3, constant, ""),
            ("polls", 2, off, of_sends),
            ("polls", 3, off, ""),
            ("polls", 4, constant, "--network infiniband --topology star:hosts=4"),
            ("order", 3, off, ""),
            ("order", 2, constant, "--network infiniband --topology star:hosts=4"),
            ("order", 4, off, of_sends),
            ("order", 7, off, "--network infiniband --topology star:hosts=8"),
            ("locks", 4, off, ""),
            ("locks", 5, off, ""),
            ("locks", 4, off, "--network infiniband --topology star:hosts=4"),
            ("locks", 3, off, overheads),
            ("locks", 4, constant, ""),
            ("passive", 3, off, "--network infiniband --topology star:hosts=4"),
            ("passive", 8, off, "--network flow --topology star:hosts=8"),
            ("passive", 4, constant, of_sends),
            ("files", 5, off, "--network infiniband --topology star:hosts=8"),
            ("files", 4, constant, ""),
            ("files", 6, off, of_sends),
            ("epochs", 4, off, ""),
            ("epochs", 4, off, "--network infiniband --topology star:hosts=4"),
            ("epochs", 4, off, "--network flow --topology star:hosts=4"),
            ("epochs", 4, off, overheads),
            ("epochs", 4, constant, "--network infiniband --topology star:hosts=4"),
            ("epochs", 3, off, of_sends),
            ("groups", 4, off, of_sends),
            ("mixed", 4, asleep, ""),
            ("mixed", 4, asleep, "--network infiniband --topology star:hosts=4"),
            ("mixed", 4, asleep, "--network flow --topology star:hosts=4"),
            ("mixed", 3, asleep, of_sends),
            (
                "mixed",
                7,
                asleep,
                "--network infiniband --topology star:hosts=4 --set placement.per-host=2",
            ),
            ("persistent", 3, "--compute-time measured", ""),
            ("cg", 4, "--compute-time measured", ""),
            ("looks", 3, "--compute-time measured", "--network infiniband --topology star:hosts=4"),
            ("polls", 3, "--compute-time measured", ""),
            ("order", 3, "--compute-time measured", "--network flow --topology star:hosts=4"),
            ("epochs", 4, "--compute-time measured", ""),
        ] {
            let program = library.compile(name);
            let time = |ended: Ended| {
                assert_eq!(
                    (ended.code, ended.stderr.as_str()),
                    (0, ""),
                    "{name} under {}",
                    library.kind
                );
                let line = ended.stdout.lines().last().unwrap_or_default().to_owned();
                let summary: serde_json::Value = serde_json::from_str(&line).expect("a summary");
                summary["makespan_ps"].as_u64().expect("a time")
            };
            let network: Vec<_> = network.split_whitespace().collect();
            let options = format!("-n {ranks} --format json {compute} {}", network.join(" "));
            let live = time(mpirun_as_it_computes(&options, &program, ""));
            let inside =
                time(mpirun_as_it_computes(&format!("{options} --in-process"), &program, ""));
            let command = [program.as_os_str()];
            let (recorded, mut replay) = recorded(library, name, &options, &command);
            let said = recorded.stderr.clone();
            let recorded = time(Ended { stderr: String::new(), ..recorded });
            let replayed = time(ended(&replay.args(&network).output().expect("heddle runs")));
            assert_eq!(recorded, replayed, "{name} under {}: {said}", library.kind);
            if !compute.ends_with("measured") {
                assert_eq!((live, live), (replayed, inside), "{name} under {}", library.kind);
            }
        }
    }
}

/// The code that a program ends with is its own, whatever its library of MPI calls an error.
#[test]
fn exit_codes_of_programs_of_other_libraries() {
    for library in programs::libraries() {
        let program = library.compile("code");
        for code in ["7", "42", "100", "255"] {
            let ended = mpirun("-n 1", &program, code);
            assert_eq!(ended.code.to_string(), code, "{}: {}", library.kind, ended.stderr);
        }
    }
}

/// A receive is taken in by a call that waits for it or for something else, which may never come
/// without that; over flows, where that costs the rank something, too.
#[test]
fn first_of_several() {
    let program = compiled("first_of_several");
    for network in ["", "--network flow --topology star:hosts=4 --set flow.or=0B:400ns"] {
        for how in ["", "--in-process"] {
            let ended = mpirun(&format!("-q -n 3 {how} {network}"), &program, "");
            assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "0\n", ""));
        }
    }
}

/// Whatever a rank does wrong is said, with its number, and ends all of them.
#[test]
// Long because it lists what goes wrong.
fn ranks_that_go_wrong() {
    let program = compiled("wrong");
    let cases = [
        ("abort", 7, "rank 1 at ", "MPI_Abort with code 7"),
        ("returns", 3, "error: rank 1 exited with code 3", ", and another rank"),
        ("minus", 255, "rank 1 at ", "MPI_Abort with code -1"),
        ("zero", 0, "rank 1 at ", "MPI_Abort with code 0"),
        ("exit", 1, "rank 1 at ", "it exited without MPI_Finalize"),
        ("long", 15, "MPI_Recv", "a message of 16 bytes where there is room for 8"),
        ("rank", 6, "MPI_Send", "rank 9 of a communicator of 3 ranks"),
        ("wait", 3, "rank 1 waits in MPI_Recv", "for recv of 8 B from rank 0, tag 5\n"),
        (
            "sends",
            3,
            "rank 1 waits in a blocking send of 1048576 B to rank 2, tag 4, before MPI_Recv",
            "0 -> 1 -> 2 -> 0",
        ),
        (
            "many",
            3,
            "rank 2 waits in MPI_Waitall",
            "30 operations, the first recv of 4 B from rank 1, tag 1\n",
        ),
        ("posted", 3, "rank 1 waits in a blocking send of 1048576 B to rank 2", "before MPI_Wait"),
        ("counts", 15, "MPI_Allreduce", " bytes to a reduction to which this rank gives "),
        ("early", 1, "MPI_Barrier", "was called before MPI_Init"),
        ("late", 1, "MPI_Barrier", "was called after MPI_Finalize"),
        ("short", 15, "MPI_Bcast", "a message of 16 bytes where there is room for 8"),
        ("mixed", 1, "calls the collective", "of the communicator called"),
        ("root", 1, "with root 0", "with root 1"),
        (
            "kind",
            0,
            "rank 0 of the world sent integers of 4 bytes",
            "floating-point numbers of 8 bytes",
        ),
    ];
    for (argument, code, first, second) in cases {
        for how in ["", "--in-process"] {
            let ended = mpirun(&format!("-n 3 {how}"), &program, argument);
            assert_eq!(ended.code, code, "{argument} {how}: {}", ended.stderr);
            for part in [first, second] {
                assert!(ended.stderr.contains(part), "{argument} {how}: {}", ended.stderr);
            }
            // What a rank has written before it ends the program is not lost, though it is no whole
            // line.
            if ["abort", "minus", "zero", "long", "rank"].contains(&argument) {
                assert_eq!(ended.stdout.trim_end(), "why", "{argument} {how}");
            }
        }
    }
    // The second dies when time has passed and all has been said to MPI.
    let signal = "ended by signal 11 (segmentation fault)";
    let here = "it was ended by a signal (segmentation fault)";
    for (how, argument, first, second) in [
        ("", "crash", "error: rank 1 at 0 ns: ", signal),
        (
            "",
            "last",
            "error: rank 1 was ",
            "ended by signal 11 (segmentation fault) after MPI_Finalize",
        ),
        ("--in-process", "crash", "error: rank 1 at 0.000000 us: ", here),
        ("--in-process", "last", "error: rank 1 at 12.500000 us: ", here),
    ] {
        let ended = mpirun(&format!("-n 3 {how}"), &program, argument);
        assert!(ended.code == if how.is_empty() { 139 } else { -1 }, "{}", ended.stderr);
        for part in [first, second] {
            assert!(ended.stderr.contains(part), "{argument} {how}: {}", ended.stderr);
        }
    }
    let quiet = mpirun("-q -n 3", &program, "wait");
    assert!(quiet.code == 3 && quiet.stderr.contains("deadlock of 3 ranks"), "{}", quiet.stderr);
}

/// A program that is started by itself is a world of one rank: collectives, windows, files and
/// messages to itself do what they should, and what can never come is said.
#[test]
fn without_the_simulator() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("file-of-one-rank");
    for name in ["basics", "collectives", "send_modes", "epochs", "locks", "files", "threads"] {
        let alone = Command::new(compiled(name)).arg(&file).output().expect("it runs");
        let alone = ended(&alone);
        assert_eq!((alone.code, alone.stdout.as_str()), (0, ""), "{name}: {}", alone.stderr);
    }
    let stuck = Command::new(compiled("wrong")).arg("alone").output().expect("it runs");
    let stuck = ended(&stuck);
    assert_eq!(stuck.code, 3, "{}", stuck.stderr);
    assert!(stuck.stderr.contains("MPI_Recv waits for what never comes"), "{}", stuck.stderr);
}

/// Several threads of a rank call MPI at once, however ranks are held.
#[test]
fn threads_of_a_rank() {
    let program = compiled("threads");
    for ranks in [1, 2, 3, 4] {
        for how in ["", "--in-process"] {
            let ended = mpirun(&format!("-q -n {ranks} {how}"), &program, "");
            let said = (ended.code, ended.stdout.as_str());
            assert_eq!(said, (0, ""), "{ranks} ranks {how}: {}", ended.stderr);
        }
    }
    // The library's own waits go by the clock on the wall, and what busy threads compute passes.
    for how in ["--compute-time off --host-clock simulated", "--compute-time measured"] {
        let ended = mpirun_as_it_computes(&format!("-q -n 3 {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{how}: {}", ended.stderr);
    }
}

/// Arguments of the program are its own, whatever they look like, and standard input is rank 0's.
#[test]
fn arguments_and_input_of_the_program() {
    let program = compiled("arguments");
    for how in ["", "--in-process"] {
        let options = format!("-q -np 2 --set live.clock=0ns {how}");
        let ended = mpirun(&options, &program, "-np --host -wdir --alpha -1 -- -q --set");
        let said = "2: -np --host -wdir --alpha -1 -- -q --set\n";
        assert_eq!((ended.code, ended.stdout.as_str()), (0, said), "{}", ended.stderr);
    }
}

/// A program that cannot be run is refused.
#[test]
fn what_cannot_run() {
    let missing = mpirun("-n 2", Path::new("./no-such-program"), "");
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("no-such-program"), "{}", missing.stderr);
    let none = mpirun("-n 0", Path::new("./program"), "");
    assert!(none.code == 2 && none.stderr.contains("'0' for '--np"), "{}", none.stderr);
    let none = mpirun("-n 2 ./program : -n 0", Path::new("./program"), "");
    let said = "expected a number of ranks, found `0`";
    assert!(none.code == 2 && none.stderr.contains(said), "{}", none.stderr);
    let two = mpirun("-n 2 --in-process ./a :", Path::new("./b"), "");
    assert!(two.code != 0 && two.stderr.contains("one program"), "{}", two.stderr);
}

/// These programs check themselves: they print nothing, and end with 0, on these numbers of ranks.
fn holds(name: &str, ranks: &[u32]) {
    let program = compiled(name);
    let flow =
        concat!("--machine ", env!("CARGO_MANIFEST_DIR"), "/../../examples/machines/graphene.xml");
    let together = format!("{flow} --per-host 8");
    for (options, argument) in [("", ""), (flow, "apart"), (together.as_str(), "")] {
        for ranks in ranks {
            let ended = mpirun(&format!("-q -n {ranks} {options}"), &program, argument);
            let said = (ended.code, ended.stdout.as_str());
            assert_eq!(said, (0, ""), "{name}: {ranks} ranks {options}: {}", ended.stderr);
        }
    }
}

#[test]
fn windows_with_fences_and_groups() {
    holds("epochs", &[1, 2, 4, 7]);
}

#[test]
fn windows_with_locks() {
    holds("locks", &[1, 2, 4, 7]);
}

/// Datatypes at both sides, every operation, atomic accesses, and the locks and lists that programs
/// build of them.
#[test]
fn windows_of_programs() {
    holds("remote", &[1, 2, 4, 7]);
}

#[test]
fn windows_out_of_order() {
    holds("window_errors", &[1, 3]);
}

#[test]
fn synchronous_sends() {
    holds("synchronous", &[2, 3]);
}

#[test]
fn sends_that_are_withdrawn() {
    let program = compiled("withdrawn_sends");
    for options in ["-n 1", "-n 3", "-n 1 --in-process", "-n 3 --in-process"] {
        let ended = mpirun(&format!("-q {options}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{options}: {}", ended.stderr);
    }
}

/// With a latency of 1000 ns and overheads of 100 ns, a message takes 1200 ns from send to receive,
/// and the processor of each side 100 ns of that. A request with its answer, of an access or a
/// synchronous send: 2400 ns. A put before a fence: that, and then the message of the fence, which
/// the target waits for: 3600 ns. From post to wait: the notice to the origin, the put with its
/// answer, the notice to the target: 4800 ns.
#[test]
fn accesses_take_their_time() {
    let program = compiled("one_sided_times");
    let settings = "-q -n 2 --set loggops.L=1000ns --set loggops.o=100ns --set loggops.g=0ns --set \
                    loggops.G=0ns/B --set loggops.O=0ns/B --set live.clock=0ns --set live.poll=0ns";
    let cases = [("put", 2400), ("get", 2400), ("ssend", 2400), ("fence", 3600), ("group", 4800)];
    for (what, time) in cases {
        let ended = mpirun(settings, &program, what);
        assert_eq!(
            (ended.code, ended.stdout),
            (0, format!("{time}\n")),
            "{what}: {}",
            ended.stderr
        );
    }
}

/// A message of one full packet, 34 flits of 32 ns, enters after an overhead of 100 ns and has left
/// 1088 ns later. If the host copies it, the send is done at the end of its overhead.
#[test]
fn a_send_ends_when_its_message_has_left() {
    let program = compiled("one_sided_times");
    let settings = "-q -n 2 --network infiniband --topology star:hosts=2 \
                    --preset infiniband-ddr-simula --set loggops.o=100ns \
                    --set loggops.g=0ns --set loggops.O=0ns/B \
                    --set network.pause=0ns --set network.update=0ns --set network.padded=true \
                    --set live.clock=0ns --set live.poll=0ns";
    let cases = [
        ("--set protocol.send-buffer=2155B", 1188),
        ("--set protocol.send-buffer=2156B", 100),
        ("", 100),
        ("--set protocol.send-done=overhead", 100),
    ];
    for (rule, time) in cases {
        for how in ["", "--in-process"] {
            let ended = mpirun(&format!("{settings} {rule} {how}"), &program, "send");
            let found = (ended.code, ended.stdout);
            assert_eq!(found, (0, format!("{time}\n")), "{rule} {how}: {}", ended.stderr);
        }
    }
}
