//! Broken experiment files: what is said, where, and that nothing is left behind.

mod common;

use common::Folder;

/// Runs an experiment file that asks for output and expects exactly this on standard error.
fn check(name: &str, text: &str, expected: &str) {
    let folder = Folder::new(&format!("file-{name}"));
    folder.write("e.toml", text);
    folder.write("two.goal", "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n");
    let ended = folder.heddle("run e.toml -o out");
    assert_eq!(ended.stderr, expected.trim_start());
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert_eq!(folder.names("."), ["e.toml", "two.goal"]);
}

#[test]
fn a_bare_number() {
    check(
        "bare-number",
        "[workload]\nsource = \"two.goal\"\n[loggops]\nL = 2500\n",
        r#"
error: a bare number has no unit: write "2500 ns" (units of time: ps, ns, us, ms, s, min, h)
 --> e.toml:4:5
  |
4 | L = 2500
  |     ^^^^
"#,
    );
}

#[test]
fn a_quantity_without_quotes() {
    check(
        "unquoted",
        "[workload]\nsource = \"two.goal\"\n[loggops]\no = 2500 ns\n",
        r#"
error: string values must be quoted, expected literal string
 --> e.toml:4:5
  |
4 | o = 2500 ns
  |     ^^^^^^^
  |
  = help: a text stands in quotes: o = "2500 ns"
"#,
    );
}

#[test]
fn an_unknown_unit() {
    check(
        "unknown-unit",
        "[workload]\nsource = \"two.goal\"\n[loggops]\nS = \"64 kiB\"\n",
        r#"
error: unknown unit "kiB", did you mean "KiB"? (units of size: B, kB, MB, GB, TB, PB, EB, KiB, MiB, GiB, TiB, PiB, EiB)
 --> e.toml:4:9
  |
4 | S = "64 kiB"
  |         ^^^
"#,
    );
}

/// Values that are right but for their quotes or brackets are said in the right form.
#[test]
fn quotes_and_brackets() {
    let folder = Folder::new("quotes-and-brackets");
    for (line, help) in [
        ("[run]\nthreads = \"2\"", "leave out the quotes: 2"),
        ("[network]\nbit-error-rate = \"1e-12\"", "leave out the quotes: 1e-12"),
        ("[traffic]\nload = 0.5", "put it in quotes: \"0.5\""),
        ("[output]\ntables = \"ranks,messages\"", "write a list: [\"ranks\", \"messages\"]"),
    ] {
        folder.write("e.toml", &format!("[workload]\nsource = \"pattern:gather\"\n{line}\n"));
        let ended = folder.heddle("run e.toml");
        assert_eq!(ended.code, 1, "{line}");
        assert!(ended.stderr.contains(help), "{line}: {}", ended.stderr);
    }
}

#[test]
fn an_unknown_key() {
    check(
        "unknown-key",
        "[workload]\nsource = \"two.goal\"\n[run]\nthread = 2\n",
        "
error: unknown key `thread` in [run]
 --> e.toml:4:1
  |
4 | thread = 2
  | ^^^^^^
  |
  = help: did you mean `threads`?
",
    );
}

/// The settings below a header that is not closed belong to its table, so that nothing is said of
/// them; those of the next table are checked.
#[test]
fn a_header_that_is_not_closed() {
    check(
        "unclosed-header",
        "[workload]\nsource = \"two.goal\"\n[loggops\nL = \"1us\"\no = 2\n[run]\nthread = 2\n",
        "
error: unclosed table, expected `]`
 --> e.toml:3:9
  |
3 | [loggops
  |         ^
error: unknown key `thread` in [run]
 --> e.toml:7:1
  |
7 | thread = 2
  | ^^^^^^
  |
  = help: did you mean `threads`?
",
    );
}

#[test]
fn an_unknown_table() {
    check(
        "unknown-table",
        "[workload]\nsource = \"two.goal\"\n[logops]\nL = \"1 ns\"\n",
        "
error: unknown table `logops`
 --> e.toml:3:2
  |
3 | [logops]
  |  ^^^^^^
  |
  = help: did you mean the table [loggops]?
",
    );
}

#[test]
fn an_unknown_word() {
    check(
        "unknown-word",
        "[workload]\nsource = \"two.goal\"\n[protocol]\nrendezvous = \"rtscts\"\n",
        r#"
error: expected one of "abstract", "rts-cts", found "rtscts"
 --> e.toml:4:14
  |
4 | rendezvous = "rtscts"
  |              ^^^^^^^^
  |
  = help: did you mean "rts-cts"?
"#,
    );
}

#[test]
fn a_key_in_place_of_a_table() {
    check(
        "no-table",
        "loggops = \"fast\"\n[workload]\nsource = \"two.goal\"\n",
        "
error: `loggops` is a table of settings, found the text \"fast\"
 --> e.toml:1:11
  |
1 | loggops = \"fast\"
  |           ^^^^^^
  |
  = help: write [loggops] on a line of its own, and `L = …` below it
",
    );
}

#[test]
fn no_workload() {
    check(
        "no-workload",
        "[loggops]\nL = \"1 us\"\n",
        "
error: there is no workload
  help: set `source` in [workload] to a GOAL file or \"pattern:NAME\"; if the file describes \
         a machine: heddle run WORKLOAD --machine FILE
",
    );
}

#[test]
fn a_pattern_that_cannot_be() {
    check(
        "no-pattern",
        "[workload]\nsource = \"pattern:gather\"\nranks = 4\nroot = 4\n",
        "
error: \"root\" is 4, but the ranks are 0 to 3
 --> e.toml:4:8
  |
4 | root = 4
  |        ^
",
    );
}

#[test]
fn a_schedule_that_is_not_there() {
    check(
        "no-schedule",
        "[workload]\nsource = \"three.goal\"\n",
        r#"
error: three.goal: No such file or directory
 --> e.toml:2:10
  |
2 | source = "three.goal"
  |          ^^^^^^^^^^^^
"#,
    );
}

/// A file that a key names is looked for before anything else, and named with the place of the key
/// and with the nearest file: one rule for all keys, which the settings check one by one.
#[test]
fn files_that_are_not_there() {
    let folder = Folder::new("file-absent");
    let edges = "host,a\nhost,b\nswitch,s\nlink,a,s\nlink,b,s\n";
    for (name, text) in [("edges.csv", edges), ("places.txt", "0 a\n1 b\n"), ("m.toml", "")] {
        folder.write(name, text);
    }
    let switched = "[network]\nmodel = \"infiniband\"\ntopology = \"edges.csv\"\n";
    let gather = "[workload]\nsource = \"pattern:gather\"\nranks = 2\n";
    for (text, command, place, missing, help) in [
        ("[network]\ntopology = \"edge.csv\"\n", "run", "e.toml:5:12", "edge.csv", "edges.csv"),
        (
            &*format!("{switched}[placement]\nkind = \"file\"\nfile = \"place.txt\"\n"),
            "run",
            "e.toml:9:8",
            "place.txt",
            "places.txt",
        ),
        (
            &*format!("{switched}[study]\nnetwork.tables = [\"places.txt\", \"place.txt\"]\n"),
            "study --dry-run",
            "e.toml:8:33",
            "place.txt",
            "places.txt",
        ),
        ("[study]\nmachine = [\"m.toml\", \"n.toml\"]\n", "study", "e.toml:5:22", "n.toml", ""),
        ("[noise]\ntrace = \".\"\n", "run", "e.toml:5:9", "this is a folder", ""),
    ] {
        folder.write("e.toml", &format!("{gather}{text}"));
        let ended = folder.heddle(&format!("{command} e.toml"));
        assert_eq!(ended.code, 1, "{text}: {}", ended.stderr);
        for wanted in [format!("--> {place}\n"), missing.to_owned(), help.to_owned()] {
            assert!(ended.stderr.contains(&wanted), "{text}: {wanted}: {}", ended.stderr);
        }
    }
    let none = "No such file or directory";
    for (command, expected) in [
        ("--machine n.csv", format!("--machine n.csv: {none}\n")),
        ("--network infiniband --topology edge.csv", format!("--topology edge.csv: {none}\n")),
        ("--set noise.trace=place.txt", format!("--set noise.trace=place.txt: {none}\n")),
    ] {
        let ended = folder.heddle(&format!("run pattern:gather --ranks 2 {command}"));
        assert_eq!(ended.code, 1, "{command}: {}", ended.stderr);
        assert!(ended.stderr.starts_with(&format!("error: {expected}")), "{}", ended.stderr);
    }
    let ended = folder.heddle("mpirun --hostfile place.txt --topology star:hosts=2 true");
    let expected =
        format!("error: --hostfile place.txt: {none}\n  help: did you mean places.txt?\n");
    assert_eq!((ended.code, ended.stderr.as_str()), (1, &*expected));
    // A pattern's name is no file's.
    folder.write("e.toml", "[workload]\nsource = \"alltoall\"\n");
    let ended = folder.heddle("run e.toml");
    assert!(ended.stderr.contains("--> e.toml:2:10\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("collective:alltoall"), "{}", ended.stderr);
}

#[test]
fn noise_of_two_kinds_and_options_of_patterns() {
    check(
        "two-kinds",
        "[workload]\nsource = \"two.goal\"\nways = 2\n[noise]\ntrace = \"two.goal\"\n\
         interval = \"1 ms\"\n",
        "
error: `workload.ways` is not used by this workload
 --> e.toml:3:8
  |
3 | ways = 2
  |        ^
  |
  = help: the workload is a schedule; the setting belongs to a pattern
error: `noise.interval` and `noise.trace` exclude each other
 --> e.toml:6:12
  |
6 | interval = \"1 ms\"
  |            ^^^^^^
  |
  = help: noise is either recorded or random
",
    );
}

#[test]
fn a_noise_trace_that_goes_back() {
    let folder = Folder::new("file-noise");
    folder.write("n.txt", "# start duration\n100\t50\n120 10\n1e3 5\n");
    let ended = folder.heddle("run pattern:gather --set noise.trace=n.txt");
    let expected = "\
error: this begins before the last interruption ends, at 150 ns
 --> n.txt:3:1
  |
3 | 120 10
  | ^^^^^^
  |
  = help: interruptions ascend and do not overlap
error: expected the start and the duration of an interruption
 --> n.txt:4:1
  |
4 | 1e3 5
  | ^^^^^
  |
  = help: two whole numbers of nanoseconds
";
    assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
}

/// Every mistake is reported, in the order of the file, and what recovery makes of a line with a
/// mistake in its syntax is not.
#[test]
fn many_mistakes_at_once() {
    let text = "\
[workload]
source = \"two.goal\"
ranks = \"8\"
[loggops]
lo = \"2 ns\"
G = \"100 Gbs\"
o = 2500 ns
[run]
seed = -5
threads = 1.5
[output]
tables = [\"rank\", 3]
timeline = true
";
    let folder = Folder::new("file-many");
    folder.write("e.toml", text);
    let ended = folder.heddle("run e.toml");
    let places: Vec<_> =
        ended.stderr.lines().filter_map(|line| line.trim().strip_prefix("--> ")).collect();
    // That the schedule is not there, the first of them, is found when all is read.
    let expected = [
        "e.toml:2:10",
        "e.toml:3:9",
        "e.toml:5:1",
        "e.toml:6:10",
        "e.toml:7:5",
        "e.toml:9:8",
        "e.toml:10:11",
        "e.toml:12:11",
        "e.toml:12:19",
        "e.toml:13:12",
    ];
    assert_eq!(places, expected, "{}", ended.stderr);
}

#[test]
fn a_file_that_is_no_text_or_no_file() {
    let folder = Folder::new("file-bytes");
    std::fs::write(folder.path("e.toml"), b"a = \"\xff\"").expect("written");
    let ended = folder.heddle("run e.toml");
    assert_eq!((ended.code, ended.stderr.as_str()), (1, "error: e.toml: not a text in UTF-8\n"));
    let ended = folder.heddle("run f.toml");
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (1, "error: f.toml: No such file or directory\n")
    );
}

/// A device that has no end would fill the memory.
#[test]
fn a_device_is_no_file() {
    let folder = Folder::new("file-device");
    let commands = [
        "run /dev/zero",
        "run pattern:ring --machine /dev/zero",
        "check /dev/full",
        "fit /dev/zero",
        "plot /dev/zero --x a --y b -o a.svg",
        "study /dev/zero",
        "topology /dev/zero",
        "convert /dev/zero a.goal",
        "run booksim:/dev/zero",
    ];
    for command in commands {
        let ended = folder.heddle(command);
        assert!(ended.code != 0, "{command}");
        assert!(ended.stderr.contains("it is a device, not a file"), "{command}: {}", ended.stderr);
    }
}

/// A file of the wrong kind is not worth a thousand messages.
#[test]
fn hundreds_of_mistakes() {
    let folder = Folder::new("file-hundreds");
    let lines: Vec<_> = (0..300).map(|number| format!("key{number} = 1")).collect();
    folder.write("e.toml", &lines.join("\n"));
    let ended = folder.heddle("run e.toml");
    assert!(
        ended.stderr.ends_with("\nerror: 280 more mistakes are not shown\n"),
        "{}",
        ended.stderr
    );
}
