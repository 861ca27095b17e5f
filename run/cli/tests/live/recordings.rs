//! Recordings of programs that our own `mpicc` has compiled, which have the standard binary
//! interface: their replay takes what the live run took, to the picosecond.

use std::path::Path;
use std::process::Command;

use recorder::launch::Mpi;
use recorder::libraries::{self, Outcome};

use crate::common::mpi::{compiled, ended, mpi, mpirun};
use crate::common::{Ended, Folder};

/// The folder of the recorder for the standard interface, beside the folder of our MPI.
pub fn recorder() -> &'static Path {
    static BUILT: std::sync::OnceLock<&Path> = std::sync::OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = mpi().parent().expect("a folder");
        let built = libraries::all(&[Mpi::Standard], folder);
        assert!(matches!(&built[..], [(Mpi::Standard, Outcome::Built(_))]), "{built:?}");
        folder
    })
}

fn makespan(ended: &Ended) -> String {
    // The summary of a live run stands on standard error, where it does not mix with the program's
    // output.
    let text = if ended.stdout.starts_with("makespan") { &ended.stdout } else { &ended.stderr };
    let line = text.lines().find(|line| line.starts_with("makespan"));
    line.unwrap_or_else(|| panic!("no makespan: {ended:?}")).to_owned()
}

/// Runs a program live, records it, and replays the recording: the makespans.
fn live_and_replayed(name: &str, arguments: &str) -> [String; 2] {
    let program = compiled(name);
    let live = mpirun("-n 2", &program, arguments);
    assert_eq!(live.code, 0, "{name} {arguments}: {}", live.stderr);
    let folder = Folder::new(&format!("recording-{name}-{}", arguments.replace(' ', "-")));
    let heddle = env!("CARGO_BIN_EXE_heddle");
    let mut record = Command::new(heddle);
    record.arg("record").arg("-o").arg(folder.path("traces")).args(["--", heddle, "mpirun"]);
    record.args(["-q", "-n", "2", "--compute-time", "off"]).arg(&program);
    record.args(arguments.split_whitespace());
    record.env("HEDDLE_MPI", mpi().join("lib")).env("HEDDLE_RECORDER", recorder());
    let recorded = ended(&record.output().expect("heddle runs"));
    assert_eq!((recorded.code, recorded.stderr.as_str()), (0, ""), "{name} {arguments}");
    let replayed = folder.heddle("run traces");
    assert_eq!(replayed.code, 0, "{name} {arguments}: {}", replayed.stderr);
    [live, replayed].map(|ended| makespan(&ended))
}

/// A replay waits where `MPI_Request_get_status` tells that a request is done, which it does not
/// complete. 100 000 bytes go by rendezvous: 3 us of overheads, 2.5 us, 599.994 us for the bytes
/// and 100 ns of looks.
#[test]
fn looks_at_requests() {
    for arguments in [
        "1 3000",
        "2 100000",
        "3 3000",
        "3 100000",
        "4 3000",
        "6 100000",
        "7 3000",
        "8 100000",
        "9 3000",
        "9 100000",
        "10 100000",
        "11 3000",
        "11 100000",
    ] {
        let [live, replayed] = live_and_replayed("request_get_status", arguments);
        assert_eq!(live, replayed, "{arguments}");
        if arguments == "3 100000" {
            assert!(live.ends_with(" 605.594 us"), "{live}");
        }
    }
}

/// A receive that was cancelled, or cancelled and freed, is no receive of the replay.
#[test]
fn cancelled_and_freed_receives() {
    for how in ["waited", "freed", "persistent", "late"] {
        let [live, replayed] = live_and_replayed("cancel", how);
        assert_eq!(live, replayed, "{how}");
    }
}
