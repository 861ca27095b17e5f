//! A process that is stopped. This is one test, as it removes whatever its process has under way.

use std::fs;
use std::io::Write;

use results::{Artifact, RunDirectory, Temporary, hold};

#[test]
fn a_process_that_ends_removes_what_it_began() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    let names = || {
        let entries = fs::read_dir(scratch.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    fs::write(path("old.csv"), "old").unwrap();
    let mut old = RunDirectory::create(scratch.path(), true).unwrap();
    let mut new = RunDirectory::create(&path("new/run"), false).unwrap();
    for run in [&mut old, &mut new] {
        run.write(Artifact::Ranks, |out| out.write_all(b"ranks")).unwrap();
    }
    let (kept, _) = Temporary::file(&path("begun")).unwrap();
    hold().rename(&kept, &path("kept")).unwrap();
    let folder = Temporary::folder(&path("folder")).unwrap();
    fs::write(folder.path().join("file"), "half").unwrap();
    let partial = |name: &str| format!(".{name}.{}.partial", std::process::id());
    let [ranks, partial_folder] = ["ranks.csv", "folder"].map(partial);
    assert_eq!(names(), [&partial_folder, &ranks, "kept", "new", "old.csv"]);
    hold().remove_all();
    assert_eq!(names(), ["kept", "old.csv"]);
    // If the process goes on nevertheless, nothing more happens.
    drop((old, new, kept, folder));
    assert_eq!(names(), ["kept", "old.csv"]);
}
