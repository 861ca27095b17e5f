//! No table depends on how many threads a run has.

use std::collections::BTreeMap;

use crate::common::Folder;
use crate::common::mpi::{compiled, mpirun};

/// Programs that make communicators, windows, files, requests and processes, and what they are
/// given: ranks, options, arguments.
const PROGRAMS: [(&str, u32, &str); 14] = [
    ("halves", 7, ""),
    ("communicators", 7, ""),
    ("between_groups", 7, ""),
    ("topologies", 6, ""),
    ("groups", 5, ""),
    ("sessions", 5, ""),
    ("requests", 4, ""),
    ("partitioned", 4, ""),
    ("collectives", 7, ""),
    ("synchronous", 2, ""),
    ("locks", 5, ""),
    ("epochs", 4, ""),
    ("join", 4, ""),
    ("spawn", 4, ""),
];

/// The tables of a run, by name.
fn tables(folder: &std::path::Path) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    let tables =
        names.filter(|name| std::path::Path::new(name).extension() == Some("csv".as_ref()));
    let read = |name: &String| std::fs::read_to_string(folder.join(name)).expect("a table");
    tables.map(|name| (name.clone(), read(&name))).collect()
}

/// The tables of a program's run with so many threads.
fn run(folder: &Folder, (name, ranks, network): (&str, u32, &str), threads: u32) -> Run {
    let output = folder.path(&format!("{name}-{threads}"));
    let options = format!(
        "-q -n {ranks} --jobs {threads} --tables ranks,messages -o {} {network}",
        output.display()
    );
    let ended = mpirun(&options, &compiled(name), "");
    assert_eq!(ended.code, 0, "{name}, {threads} threads: {}", ended.stderr);
    (tables(&output), ended.stdout)
}

/// Tables by name, and what the program printed.
type Run = (BTreeMap<String, String>, String);

/// Communicators, collectives and tags are numbered where ranks run, which is in another order on
/// every run with several threads: nothing of that comes into a table. Of programs that say in
/// which order they were served, the order is the same.
#[test]
fn tables_do_not_depend_on_threads() {
    let folder = Folder::new("threads");
    for program in PROGRAMS {
        let one = run(&folder, program, 1);
        assert!(one.0.len() >= 2, "{}: {:?}", program.0, one.0.keys());
        for threads in [2, 3, 7] {
            assert!(run(&folder, program, threads) == one, "{}, {threads} threads", program.0);
        }
    }
}

/// Messages of a communicator that is not the world show the tag that the program gave them, and
/// those of collectives show which of a rank's messages they are, behind 2^31.
#[test]
fn tags_are_those_of_the_program() {
    let folder = Folder::new("shown-tags");
    let (tables, _) = run(&folder, ("halves", 4, ""), 1);
    let tags = tables["messages.csv"].lines().skip(1).map(|line| {
        let tag = line.split(',').nth(3).expect("a tag");
        tag.parse::<u64>().expect("a number")
    });
    let (least, most) = (1 << 31, (1 << 31) + 4);
    assert!(tags.clone().count() > 0);
    assert!(tags.clone().all(|tag| (least..most).contains(&tag)), "{:?}", tags.max());
}
