//! Run directories.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use results::{Artifact, Error, OutputFile, RunDirectory};

/// The folder's files with their contents, by name.
fn contents(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect();
    files.sort();
    files
}

fn files(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn text(text: &'static str) -> impl FnOnce(&mut OutputFile) -> io::Result<()> {
    move |out| out.write_all(text.as_bytes())
}

fn failing(out: &mut OutputFile) -> io::Result<()> {
    out.write_all(b"half")?;
    Err(io::Error::other("no more"))
}

#[test]
fn files_get_their_names_at_the_end() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a/b");
    let mut run = RunDirectory::create(&path, false).unwrap();
    run.write(Artifact::Ranks, text("ranks")).unwrap();
    run.write(Artifact::Summary, text("summary")).unwrap();
    let process = std::process::id();
    let partial = ["ranks.csv", "summary.json"].map(|name| format!(".{name}.{process}.partial"));
    assert_eq!(contents(&path), files(&[(&partial[0], "ranks"), (&partial[1], "summary")]));
    run.finish().unwrap();
    assert_eq!(contents(&path), files(&[("ranks.csv", "ranks"), ("summary.json", "summary")]));
}

#[test]
fn an_empty_folder_is_welcome() {
    let scratch = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(scratch.path(), false).unwrap();
    run.finish().unwrap();
    assert_eq!(contents(scratch.path()), files(&[]));
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("notes"), "mine").unwrap();
    let error = RunDirectory::create(scratch.path(), false).unwrap_err();
    assert!(matches!(error, Error::NotEmpty(_)));
    let message = format!(
        "{} is not empty; --force replaces the files of an earlier run in it",
        scratch.path().display()
    );
    assert_eq!(error.to_string(), message);
    assert_eq!(contents(scratch.path()), files(&[("notes", "mine")]));
}

/// Also those that the new run does not write, and what a run left that was killed.
#[test]
fn force_replaces_the_files_of_heddle_and_no_others() {
    let scratch = tempfile::tempdir().unwrap();
    for name in ["notes", "ranks.csv", "messages.csv", ".timeline.paje.4194305.partial"] {
        fs::write(scratch.path().join(name), "old").unwrap();
    }
    let mut run = RunDirectory::create(scratch.path(), true).unwrap();
    run.write(Artifact::Ranks, text("new")).unwrap();
    run.finish().unwrap();
    assert_eq!(contents(scratch.path()), files(&[("notes", "old"), ("ranks.csv", "new")]));
}

#[test]
fn an_unfinished_run_leaves_the_old_files() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("ranks.csv"), "old").unwrap();
    let mut run = RunDirectory::create(scratch.path(), true).unwrap();
    run.write(Artifact::Ranks, text("new")).unwrap();
    drop(run);
    assert_eq!(contents(scratch.path()), files(&[("ranks.csv", "old")]));
}

#[test]
fn an_unfinished_run_takes_its_folder_back() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("out");
    let mut run = RunDirectory::create(&path, false).unwrap();
    run.write(Artifact::Summary, text("summary")).unwrap();
    drop(run);
    assert!(!path.exists());
}

/// With those above it that it made, and no others.
#[test]
fn an_unfinished_run_takes_all_its_folders_back() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("mine")).unwrap();
    for path in ["mine/a/b/c", "mine/a/../b/c"] {
        let run = RunDirectory::create(&scratch.path().join(path), false).unwrap();
        assert!(scratch.path().join(path).is_dir());
        drop(run);
        assert_eq!(fs::read_dir(scratch.path().join("mine")).unwrap().count(), 0);
    }
}

#[test]
fn an_error_while_writing_names_the_file_and_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("out");
    let mut run = RunDirectory::create(&path, false).unwrap();
    run.write(Artifact::Summary, text("summary")).unwrap();
    let error = run.write(Artifact::Ranks, failing).unwrap_err();
    let file = path.join("ranks.csv");
    assert_eq!(error.to_string(), format!("{}: no more", file.display()));
    drop(run);
    assert!(!path.exists());
}

#[test]
fn writing_a_file_again_replaces_it() {
    let scratch = tempfile::tempdir().unwrap();
    let mut run = RunDirectory::create(scratch.path(), false).unwrap();
    run.write(Artifact::Summary, text("the first version")).unwrap();
    run.write(Artifact::Summary, text("second")).unwrap();
    run.finish().unwrap();
    assert_eq!(contents(scratch.path()), files(&[("summary.json", "second")]));
}

#[test]
fn a_file_is_not_a_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("file");
    fs::write(&path, "").unwrap();
    for force in [false, true] {
        let error = RunDirectory::create(&path, force).unwrap_err();
        assert!(matches!(error, Error::NotAFolder(_)), "{error}");
        // Nor can there be a folder in it; the file is what is in the way.
        let error = RunDirectory::create(&path.join("a/b"), force).unwrap_err();
        assert_eq!(error.to_string(), format!("{} exists and is not a folder", path.display()));
    }
}

/// A folder under the name of a file cannot be replaced; the new files must not stay behind.
#[test]
fn a_name_that_is_taken_by_a_folder_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let taken = scratch.path().join("ranks.csv");
    fs::create_dir(&taken).unwrap();
    let mut run = RunDirectory::create(scratch.path(), true).unwrap();
    run.write(Artifact::Summary, text("summary")).unwrap();
    assert!(matches!(run.finish(), Err(Error::Io { path, .. }) if path == taken));
    let names: Vec<_> =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["ranks.csv"]);
}

/// A run that was killed cannot clean up; the next one does.
#[test]
fn what_a_stopped_run_left_is_no_obstacle() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join(".messages.csv.4194305.partial"), "half").unwrap();
    let mut run = RunDirectory::create(scratch.path(), false).unwrap();
    run.write(Artifact::Summary, text("{}")).unwrap();
    run.finish().unwrap();
    assert_eq!(contents(scratch.path()), files(&[("summary.json", "{}")]));
}

/// Whatever is in the folder and is not the rest of a killed run is somebody's: a link under a
/// partial name, another's hidden file, and what a run that goes on is writing.
#[cfg(unix)]
#[test]
fn hidden_files_of_others_are_an_obstacle() {
    for name in [".manifest.json.partial", ".manifest.json.4194305.partial"] {
        let scratch = tempfile::tempdir().unwrap();
        let secret = scratch.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        let folder = scratch.path().join("out");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&secret, folder.join(name)).unwrap();
        assert!(matches!(RunDirectory::create(&folder, false), Err(Error::NotEmpty(_))), "{name}");
    }
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join(".notes"), "mine").unwrap();
    assert!(matches!(RunDirectory::create(scratch.path(), false), Err(Error::NotEmpty(_))));
    let scratch = tempfile::tempdir().unwrap();
    let name = scratch.path().join(".ranks.csv.4194305.partial");
    let other = fs::File::create(&name).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(matches!(RunDirectory::create(scratch.path(), false), Err(Error::NotEmpty(_))));
    assert!(name.exists());
    drop(other);
    RunDirectory::create(scratch.path(), false).unwrap();
    assert!(!name.exists());
}

/// A link that waits under the very name that a file gets until it is complete is not followed.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let scratch = tempfile::tempdir().unwrap();
    let secret = scratch.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let folder = scratch.path().join("out");
    fs::create_dir(&folder).unwrap();
    let name = format!(".ranks.csv.{}.partial", std::process::id());
    std::os::unix::fs::symlink(&secret, folder.join(&name)).unwrap();
    let mut run = RunDirectory::create(&folder, true).unwrap();
    let error = run.write(Artifact::Ranks, text("ranks")).unwrap_err();
    assert!(error.to_string().contains("exists"), "{error}");
    drop(run);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    // A link under the final name is replaced, and not followed either.
    fs::remove_file(folder.join(&name)).unwrap();
    std::os::unix::fs::symlink(&secret, folder.join("ranks.csv")).unwrap();
    let mut run = RunDirectory::create(&folder, true).unwrap();
    run.write(Artifact::Ranks, text("ranks")).unwrap();
    run.finish().unwrap();
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(contents(&folder), files(&[("ranks.csv", "ranks")]));
}
