//! `heddle record` where nothing is recorded. Recorded programs: `app/recorder/tests`.

mod common;

use common::Folder;

/// A folder with something in it is refused, and stays as it is.
#[test]
fn a_full_folder() {
    let folder = Folder::new("record-full");
    std::fs::create_dir(folder.path("traces")).expect("a folder");
    folder.write("traces/rank-0.hdl", "old");
    let ended = folder.heddle("record -o traces -- true");
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("traces is not empty"), "{}", ended.stderr);
    assert_eq!(folder.read("traces/rank-0.hdl"), b"old");
}

/// Nothing shows which MPI library this is.
#[test]
fn an_unknown_library() {
    let folder = Folder::new("record-unknown");
    let ended = folder.heddle("record -o traces -- true a b");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("`true a b`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("--mpi"), "{}", ended.stderr);
}

/// A program that is not there is that, and not one whose MPI library is unknown.
#[test]
fn no_program() {
    let folder = Folder::new("record-nothing");
    for program in ["no-such-program", "./no-such-program"] {
        let ended = folder.heddle(&format!("record -o traces -- {program} a"));
        assert_eq!(ended.code, 1);
        assert_eq!(ended.stderr, format!("error: {program}: there is no such program\n"));
    }
    // What an earlier command has recorded is lost only to one that runs.
    folder.write("traces/rank-0.hdl", "old");
    assert_eq!(folder.heddle("record --force -o traces -- no-such-program").code, 1);
    assert_eq!(folder.read("traces/rank-0.hdl"), b"old");
}

/// A tail that is none is named, and the folder stays as it is.
#[test]
fn a_damaged_tail() {
    let folder = Folder::new("record-damaged");
    std::fs::create_dir(folder.path("traces")).expect("a folder");
    folder.write("traces/rank-0.tail", "nothing of ours");
    let ended = folder.heddle("record -o traces --collect");
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("rank-0.tail: not a tail"), "{}", ended.stderr);
    assert_eq!(folder.names("traces"), ["rank-0.tail"]);
    // A rank that had no room has left zeros.
    std::fs::write(folder.path("traces/rank-0.tail"), [0; 5000]).expect("a file");
    let ended = folder.heddle("record -o traces --collect");
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("rank-0.tail: its rank could not write it"), "{}", ended.stderr);
}
