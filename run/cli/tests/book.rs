//! The book says what the command says.

mod common;

use common::Folder;

const CHAPTER: &str = include_str!("../../../docs/src/command-line.md");

/// The table of exit codes in the book is that of the help text.
#[test]
fn exit_codes() {
    let help = Folder::new("book").heddle("--help").stdout;
    let (_, codes) = help.split_once("Exit codes:\n").expect("exit codes");
    assert_eq!(codes.lines().count(), 8);
    for line in codes.lines() {
        let (code, meaning) = line.trim().split_once("  ").expect("a code");
        assert!(CHAPTER.contains(&format!("\n| {code} | {meaning} |\n")), "{line}");
    }
}

/// Every key that the chapter promises is in the JSON object.
#[test]
fn keys_of_the_summary() {
    let json =
        Folder::new("book-json").heddle("run pattern:gather --format json --per-rank").json();
    let rows = CHAPTER.lines().skip_while(|line| *line != "| key | meaning |").skip(2);
    let names = rows
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| line.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
    let names: Vec<_> = names.collect();
    assert!(names.len() >= 13, "{names:?}");
    for name in names {
        assert!(json.get(name).is_some(), "{name}");
    }
}
