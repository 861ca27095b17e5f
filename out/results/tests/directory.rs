//! Run directories.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use results::{Artifact, Error, RunDirectory};

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

fn text(text: &'static str) -> impl FnOnce(&mut io::BufWriter<fs::File>) -> io::Result<()> {
    move |out| out.write_all(text.as_bytes())
}

fn failing(out: &mut io::BufWriter<fs::File>) -> io::Result<()> {
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
    assert_eq!(
        contents(&path),
        files(&[(".ranks.csv.partial", "ranks"), (".summary.json.partial", "summary")])
    );
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
    for name in ["notes", "ranks.csv", "messages.csv", ".timeline.paje.partial"] {
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
    fs::write(scratch.path().join(".messages.csv.partial"), "half").unwrap();
    let mut run = RunDirectory::create(scratch.path(), false).unwrap();
    run.write(Artifact::Summary, text("{}")).unwrap();
    run.finish().unwrap();
    assert_eq!(contents(scratch.path()), files(&[("summary.json", "{}")]));
}
