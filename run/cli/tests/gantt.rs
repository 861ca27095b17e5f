//! The timeline below the summary.

mod common;

use std::process::Command;

use common::Folder;

/// Rank 0 computes and sends: o = 1 us each. The receive is from 1 + 1 + L to 5 us, with L = 2 us.
const EXPERIMENT: &str = "\
[workload]
source = \"app.goal\"
[loggops]
o = \"1 us\"
L = \"2 us\"
[output]
gantt = true
";
const SCHEDULE: &str = "\
num_ranks 2
rank 0 { a: calc 1000  b: send 1b to 1  b requires a }
rank 1 { recv 1b from 0 }
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("app.goal", SCHEDULE);
    folder.write("e.toml", EXPERIMENT);
    folder
}

/// 100 columns without a terminal, of which 9 are for the label and the sides: 91 cells of 5/91 us.
/// Computing ends at cell 18.2, the send at 36.4, the receive begins at 72.8. The axis has marks at
/// 0, 1, 2, 3 and 4 us, in the cells 0, 18.2, 36.4, 54.6 and 72.8.
#[test]
fn below_the_summary_and_without_colours() {
    let folder = folder("gantt-table");
    let ended = folder.heddle("run e.toml --per-rank");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let cells =
        |runs: &[(&str, usize)]| runs.iter().map(|(cell, n)| cell.repeat(*n)).collect::<String>();
    let rows = [
        format!("       ┌{}─┐", "┬─────────────────".repeat(5)),
        format!("rank 0 │{}│", cells(&[("█", 18), ("▀", 18), (" ", 55)])),
        format!("rank 1 │{}│", cells(&[("·", 73), ("▄", 18)])),
    ];
    let (summary, rest) = ended.stdout.split_once("\n\n").expect("an empty line");
    assert!(summary.starts_with("makespan        5 us\n"), "{summary}");
    let (chart, finish) = rest.split_once("\n\n").expect("an empty line");
    assert_eq!(chart.lines().skip(1).take(3).collect::<Vec<_>>(), rows);
    assert_eq!(finish.lines().count(), 3);
}

#[test]
fn by_flag_or_not_at_all() {
    let folder = folder("gantt-flag");
    let drawn = |arguments: &str| folder.heddle(arguments).stdout.contains("rank 1 │");
    assert!(drawn("run app.goal --gantt"));
    assert!(!drawn("run app.goal"));
    assert!(!drawn("run e.toml --set output.gantt=false"));
    // A manifest says what was found, not how it was shown.
    assert!(drawn("run e.toml -o out"));
    assert!(!drawn("run out/manifest.json"));
    assert!(drawn("run out/manifest.json --gantt"));
}

/// A file's timeline has all ranks, with and without a drawing.
#[test]
fn a_timeline_in_a_file_is_the_same() {
    let folder = Folder::new("gantt-timeline");
    let run = "run pattern:gather --ranks 40 --timeline paje -q";
    assert_eq!(folder.heddle(&format!("{run} -o without")).code, 0);
    assert_eq!(folder.heddle(&format!("{run} -o with --set output.gantt=true")).code, 0);
    let (with, without) = ("with/timeline.paje", "without/timeline.paje");
    assert!(folder.read(with) == folder.read(without));
    let ended = folder.heddle("run pattern:gather --ranks 40 --gantt");
    assert!(ended.stdout.contains("│\n… 8 more ranks\n"), "{}", ended.stdout);
}

/// Nothing runs and nothing is written.
#[test]
fn not_in_json() {
    let folder = folder("gantt-json");
    for run in ["run app.goal --gantt", "run e.toml"] {
        let ended = folder.heddle(&format!("{run} --format json -o out"));
        let expected = "error: --gantt draws on the terminal, not in JSON\n  \
                        help: leave out --format json, or set output.gantt = false\n";
        assert_eq!((ended.code, ended.stderr.as_str()), (2, expected));
        assert_eq!((ended.stdout.as_str(), folder.names(".").len()), ("", 2));
    }
}

#[test]
fn not_when_quiet() {
    let folder = folder("gantt-quiet");
    assert_eq!(folder.heddle("run app.goal --gantt -q").code, 2);
    let ended = folder.heddle("run e.toml -q");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
}

/// Draws the timeline where characters are ASCII, or no locale says what they are.
#[test]
fn in_the_characters_of_the_locale() {
    let folder = folder("gantt-locale");
    let drawn = |locale: &[(&str, &str)]| {
        let mut heddle = Command::new(env!("CARGO_BIN_EXE_heddle"));
        for name in ["COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"] {
            heddle.env_remove(name);
        }
        let heddle = heddle.args(["run", "e.toml"]).current_dir(folder.path(""));
        let output = heddle.envs(locale.iter().copied()).output().expect("heddle runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let unicode = drawn(&[]);
    assert!(unicode.contains("rank 1 │"), "{unicode}");
    for locale in [
        &[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")][..],
        &[("LC_CTYPE", "POSIX"), ("LANG", "en_GB.UTF-8")],
        &[("LANG", "de_DE.ISO-8859-1")],
    ] {
        let ascii = drawn(locale);
        assert!(ascii.is_ascii(), "{locale:?}: {ascii}");
        let translated = unicode.chars().map(|character| match character {
            '█' => '#',
            '▀' => '^',
            '▄' => 'v',
            '·' => '.',
            '┌' | '┐' => '+',
            '─' => '-',
            '│' | '┬' => '|',
            other => other,
        });
        // The last lines of the summary say how long it took.
        let chart = |text: &str| text.split_once("\n\n").expect("a chart").1.to_owned();
        assert_eq!(chart(&ascii), chart(&translated.collect::<String>()));
    }
    for locale in [&[("LANG", "C.UTF-8")][..], &[("LC_ALL", "en_GB.utf8"), ("LANG", "C")]] {
        assert!(drawn(locale).contains("rank 1 │"), "{locale:?}");
    }
    // Messages are in these characters too.
    folder.write("bad.goal", "num_ranks 1\nl1: calc 1\n");
    let mut heddle = Command::new(env!("CARGO_BIN_EXE_heddle"));
    let heddle = heddle.args(["check", "bad.goal"]).current_dir(folder.path(""));
    let output = heddle.env("LC_ALL", "C").output().expect("heddle runs");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("rank N { ... }") && said.is_ascii(), "{said}");
    let mut heddle = Command::new(env!("CARGO_BIN_EXE_heddle"));
    let output = heddle.args(["mpirun", "--help"]).env("LC_ALL", "C").output().expect("help");
    assert!(output.stdout.is_ascii());
}
