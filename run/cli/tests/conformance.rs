//! Programs of one chapter of the standard each, that check themselves and print a line per
//! failure.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::mpi::{compiled, mpirun};

const PROGRAMS: [&str; 19] = [
    "buffers",
    "send_modes",
    "requests",
    "types",
    "collectives",
    "started",
    "communicators",
    "topologies",
    "errors",
    "attributes",
    "layouts",
    "reductions",
    "between_groups",
    "statuses",
    "groups",
    "window_variables",
    "join",
    "misuse",
    "callbacks",
];

/// Programs that other implementations, as packaged, cannot run or get wrong.
const OF_OURS: [&str; 5] = ["sessions", "edges", "partitioned_ends", "new_handlers", "unaccepted"];

/// Programs that only ranks can run that are processes.
const OF_PROCESSES: [&str; 1] = ["spawn"];

/// Each number of ranks is another shape of every algorithm: one, a power of two, neither even nor
/// a power of two.
#[test]
fn programs_find_nothing_wrong() {
    find_nothing_wrong(&[1, 3, 4]);
}

#[test]
#[ignore = "takes a minute"]
fn programs_find_nothing_wrong_either() {
    find_nothing_wrong(&[2, 7]);
}

fn find_nothing_wrong(ranks: &[u32]) {
    for name in PROGRAMS.into_iter().chain(OF_OURS) {
        let program = compiled(name);
        for ranks in ranks {
            for how in ["", "--in-process"] {
                clean(name, &program, &format!("-q -n {ranks} {how}"));
            }
        }
    }
}

/// A call within another, by something that MPI does not call, is an error that names both.
#[test]
fn calls_within_a_call() {
    let program = compiled("nested_calls");
    let ended = mpirun("-q -n 2", &program, "returns");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
    let ended = mpirun("-q -n 2", &program, "");
    let said = "rank 0: MPI_Barrier on MPI_COMM_SELF: the call began within MPI_Recv, by something \
                that MPI does not call, such as a signal handler or an allocator (MPI_ERR_OTHER)";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    assert_ne!(ended.code, 0);
}

/// There is no limit for tags, communicators and partitioned requests but memory.
#[test]
fn as_many_as_memory_holds() {
    let program = compiled("many_of_each");
    clean("many_of_each", &program, "-q -n 2 --in-process");
}

/// A call that makes a communicator or a session ends the program, if it fails and was given the
/// handler that does so.
#[test]
fn new_handlers_may_end_the_program() {
    let program = compiled("new_handlers");
    for call in ["session", "group", "groups"] {
        let ended = mpirun("-q -n 1", &program, call);
        assert!(ended.code != 0 && ended.stdout.is_empty(), "{call}: {}", ended.stdout);
    }
}

/// Programs that start processes find nothing wrong either, over each kind of network.
#[test]
fn processes_find_nothing_wrong() {
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    for name in OF_PROCESSES {
        let program = compiled(name);
        for ranks in [1, 2, 3, 4, 7] {
            clean(name, &program, &format!("-q -n {ranks}"));
        }
        for machine in ["fat-tree-648.toml", "graphene.xml"] {
            clean(name, &program, &format!("-q -n 5 --machine {machines}/{machine}"));
        }
    }
}

/// A network changes the time of messages, but nothing that a program may rely on. This one has
/// overheads of receives, which belong to the calls that take messages in.
#[test]
fn a_network_changes_no_result() {
    networks_change_no_result(&["edr-cluster.toml --network flow"]);
}

#[test]
#[ignore = "takes a minute"]
fn other_networks_change_no_result() {
    networks_change_no_result(&["fat-tree-648.toml", "graphene.xml"]);
}

fn networks_change_no_result(networks: &[&str]) {
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    for name in PROGRAMS.into_iter().chain(["locks", "looks", "threads"]) {
        let program = compiled(name);
        for machine in networks {
            clean(name, &program, &format!("-q -n 5 --machine {machines}/{machine}"));
        }
    }
}

fn clean(name: &str, program: &Path, options: &str) {
    let ended = mpirun(options, program, "");
    let said = (ended.code, ended.stdout.as_str());
    assert_eq!(said, (0, ""), "{name} {options}: {}", ended.stderr);
}

/// Points in which other implementations depart from the standard: the persistent gather of MPICH
/// 4.0.2 gathers once and not again, and as packaged it neither starts processes nor joins ranks;
/// Open MPI 4.1.4 has no persistent collectives, and to its `MPI_Waitall` a truncated receive among
/// others is no error, and it does not look at buffers that are the same.
const DEPARTURES: [(&str, &str); 6] = [
    ("mpich", "started"),
    ("mpich", "spawn"),
    ("mpich", "join"),
    ("openmpi", "started"),
    ("openmpi", "statuses"),
    ("openmpi", "misuse"),
];

/// The programs themselves are right: other implementations of MPI find nothing either.
#[test]
#[ignore = "needs another implementation of MPI"]
fn other_implementations_agree() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live");
    let folder = common::Folder::new("conformance");
    let mut wrong = Vec::new();
    for library in ["mpich", "openmpi"] {
        let fits = |name: &&str| !DEPARTURES.contains(&(library, *name));
        for name in PROGRAMS.into_iter().chain(OF_PROCESSES).filter(fits) {
            let made: PathBuf = folder.path(name);
            let source = sources.join(name).with_extension("c");
            let mut compiler = Command::new(format!("mpicc.{library}"));
            let status = compiler.args(["-pthread", "-o"]).arg(&made).arg(source).status();
            assert!(status.is_ok_and(|status| status.success()), "{library} {name}");
            let mut run = Command::new("timeout");
            run.arg("600").arg(format!("mpirun.{library}"));
            if library == "openmpi" {
                run.args(["--allow-run-as-root", "--oversubscribe"]);
            }
            let output = run.args(["-n", "4"]).arg(&made).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if output.status.code() != Some(0) || !said.is_empty() {
                wrong.push(format!("{library} {name}: {} {said}", output.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
