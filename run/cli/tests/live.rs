//! Programs whose ranks are simulated: compiled with our own `mpicc`, run as processes and in one process.

mod common;

use std::path::Path;

use common::mpi::{compiled, mpirun};

/// Data is right on any number of ranks and over any network; and the time is the same however ranks are held.
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

/// Half a round takes o + L + o + 999 G = 1500 + 2500 + 1500 + 5994 ns with LogGOPSim's parameters.
#[test]
fn a_message_takes_its_time() {
    let program = compiled("pingpong");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 2 --set live.clock=0ns {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "11494.000\n"), "{}", ended.stderr);
    }
}

/// Whatever a rank does wrong is said, with its number, and ends all of them.
#[test]
fn ranks_that_go_wrong() {
    let program = compiled("wrong");
    let cases = [
        ("abort", 7, "rank 1 at ", "MPI_Abort with code 7"),
        ("exit", 1, "rank 1 at ", "it exited without MPI_Finalize"),
        ("long", 15, "MPI_Recv", "a message of 16 bytes where there is room for 8"),
        ("rank", 6, "MPI_Send", "rank 9 of a communicator of 3 ranks"),
        ("wait", 3, "deadlock", "MPI_Recv"),
    ];
    for (argument, code, first, second) in cases {
        for how in ["", "--in-process"] {
            let ended = mpirun(&format!("-n 3 {how}"), &program, argument);
            assert_eq!(ended.code, code, "{argument} {how}: {}", ended.stderr);
            for part in [first, second] {
                assert!(ended.stderr.contains(part), "{argument} {how}: {}", ended.stderr);
            }
        }
    }
    let ended = mpirun("-n 3", &program, "crash");
    assert_eq!(ended.code, 139, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("rank 1 at ") && ended.stderr.contains("segmentation fault"),
        "{}",
        ended.stderr
    );
}

/// What cannot be run is refused.
#[test]
fn what_cannot_run() {
    let missing = mpirun("-n 2", Path::new("./no-such-program"), "");
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("no-such-program"), "{}", missing.stderr);
    let none = mpirun("-n 0", Path::new("./program"), "");
    assert!(
        none.code != 0 && none.stderr.contains("expected a number of ranks"),
        "{}",
        none.stderr
    );
    let two = mpirun("-n 2 --in-process ./a :", Path::new("./b"), "");
    assert!(two.code != 0 && two.stderr.contains("one program"), "{}", two.stderr);
}
