//! Broken command lines: what is said, and the exit code of usage.

mod common;

use common::Folder;

/// Runs a command that is wrong and expects exactly this on standard error.
fn check(name: &str, arguments: &str, expected: &str) {
    let folder = Folder::new(&format!("flag-{name}"));
    folder.write("two.goal", "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n");
    let ended = folder.heddle(arguments);
    assert_eq!(ended.stderr, expected.trim_start());
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert_eq!(folder.names("."), ["two.goal"]);
}

#[test]
fn a_bare_number() {
    check(
        "bare-number",
        "run two.goal --set loggops.L=2500",
        r#"
error: --set loggops.L=2500: a bare number has no unit: write "2500 ns" (units of time: ps, ns, us, ms, s, min, h)
"#,
    );
}

#[test]
fn an_unknown_key() {
    check(
        "unknown-key",
        "run two.goal --set run.thread=2",
        "
error: --set run.thread=2: unknown key `run.thread`
  help: did you mean `threads`?
",
    );
}

#[test]
fn a_key_without_its_table() {
    check(
        "no-table",
        "run two.goal --set L=1us",
        "
error: --set L=1us: unknown key `L`
  help: `L` belongs to the table [loggops]
",
    );
}

#[test]
fn an_unknown_table() {
    check(
        "unknown-table",
        "run two.goal --set logops.L=1us",
        "
error: --set logops.L=1us: unknown key `logops.L`
  help: did you mean the table [loggops]?
",
    );
}

/// Tables within one have its name in common, which makes none of them likely.
#[test]
fn an_unknown_key_of_a_table_with_others() {
    let folder = Folder::new("unknown-inside");
    folder.write("two.goal", "num_ranks 1\nrank 0 { calc 1 }\n");
    let ended = folder.heddle("run two.goal --set loggops.Q=1us");
    assert!(ended.stderr.contains("help: known keys of [loggops]: "), "{}", ended.stderr);
}

#[test]
fn no_value() {
    check(
        "no-value",
        "run two.goal --set loggops.L",
        "
error: --set loggops.L: there is no `=`
  help: write --set table.key=value, such as --set loggops.L=2500ns
",
    );
}

#[test]
fn no_threads() {
    check(
        "no-threads",
        "run two.goal --threads 0",
        "
error: --threads 0: expected a whole number from 1 to 1024, found 0
",
    );
}

#[test]
fn a_size_without_its_unit() {
    check(
        "no-unit",
        "run pattern:gather --size 15",
        "
error: --size 15: a bare number has no unit: write \"15 B\" (units of size: B, kB, MB, GB, TB, PB, \
EB, KiB, MiB, GiB, TiB, PiB, EiB)
",
    );
}

#[test]
fn an_option_that_the_pattern_does_not_use() {
    check(
        "unused",
        "run pattern:gather --ways 3",
        "
error: --ways 3: pattern gather does not use \"ways\" (it is for nway-dissemination, bulk-reply)
",
    );
}

#[test]
fn an_option_of_patterns_for_a_file() {
    check(
        "file",
        "run two.goal --ranks 4",
        "
error: --ranks 4: `workload.ranks` is not used by this workload
  help: the workload is a schedule; the setting belongs to a pattern or a collective
",
    );
}

#[test]
fn a_key_set_twice() {
    check(
        "twice",
        "run two.goal --threads 2 --set run.threads=3",
        "
error: --threads 2: `run.threads` is already set by `--set run.threads=3`
",
    );
}

#[test]
fn tables_without_a_folder() {
    check(
        "no-folder",
        "run two.goal --tables messages",
        "
error: --tables messages: `output.tables` needs a folder to write to
  help: add -o DIR, or set output.directory
",
    );
}

#[test]
fn an_unknown_timeline() {
    check(
        "timeline",
        "run two.goal --timeline perfeto -o out",
        "
error: --timeline perfeto: expected one of \"none\", \"perfetto\", \"paje\", \"chrome\", found \"perfeto\"
  help: did you mean \"perfetto\"?
",
    );
}

#[test]
fn what_loggopsim_cannot_do() {
    check(
        "compat",
        "run two.goal --set loggops.compat=loggopsim --set protocol.rendezvous=rts-cts --set \
         loggops.o-recv=1us --set loggops.G=155.5ps/B",
        "
error: --set loggops.o-recv=1us: `loggops.o-recv` has no counterpart in LogGOPSim
  help: change it, or leave out loggops.compat = \"loggopsim\"
error: --set protocol.rendezvous=rts-cts: `protocol.rendezvous` has no counterpart in LogGOPSim
  help: change it, or leave out loggops.compat = \"loggopsim\"
error: --set loggops.G=155.5ps/B: LogGOPSim knows only whole picoseconds per byte
  help: change it, or leave out loggops.compat = \"loggopsim\"
",
    );
}

#[test]
fn a_setting_that_does_not_belong_to_a_pattern() {
    check(
        "foreign",
        "gen gather --set loggops.L=1us -o g.goal",
        "
error: --set loggops.L=1us: `loggops.L` does not belong to a pattern
",
    );
}

#[test]
fn all_mistakes_at_once() {
    check(
        "all",
        "run pattern:gather --threads x --root 1.5 --set loggops.o=-1ns",
        "
error: --set loggops.o=-1ns: expected a number such as 12 or 1.5, found \"-1\"
error: --root 1.5: expected a whole number from 0 to 4294967294, found 1.5
error: --threads x: expected a whole number from 1 to 1024, found x
",
    );
}

/// A value that starts like a flag.
#[test]
fn negative_values() {
    check(
        "negative",
        "run pattern:gather --size -1B --ranks -4 --compute -.5us",
        "
error: --ranks -4: expected a whole number from 1 to 4294967295, found -4
error: --size -1B: expected a number such as 12 or 1.5, found \"-1\"
error: --compute -.5us: expected a number such as 12 or 1.5, found \"-.5\"
",
    );
}

#[test]
fn noise_at_too_short_intervals() {
    check(
        "noise",
        "run two.goal --set noise.interval=999999ps --set noise.duration=1ns",
        "
error: --set noise.interval=999999ps: an interval of 999.999 ns is shorter than 1 us
  help: every activity looks at all the intervals that it covers
",
    );
    let folder = Folder::new("flag-noise-shortest");
    let shortest = "--set noise.interval=1us --set noise.duration=1us";
    assert_eq!(folder.heddle(&format!("run pattern:gather -q {shortest}")).code, 0);
}

#[test]
fn an_unknown_pattern() {
    let folder = Folder::new("flag-pattern");
    for arguments in ["run pattern:gathr", "gen gathr -o g.goal"] {
        let ended = folder.heddle(arguments);
        let start =
            "error: pattern:gathr: unknown pattern \"gathr\", did you mean \"gather\"? (patterns: ";
        assert!(ended.stderr.starts_with(start), "{}", ended.stderr);
        assert_eq!((ended.code, folder.names(".").len()), (2, 0));
    }
}

/// Mistakes that clap finds have the same exit code.
#[test]
fn an_unknown_flag_or_command() {
    let folder = Folder::new("flag-unknown");
    for (arguments, hint) in [
        ("run two.goal --thread 2", "a similar argument exists: '--threads'"),
        ("simulate two.goal", "unrecognized subcommand 'simulate'"),
        ("run", "<SOURCE>"),
        ("run two.goal --quiet --per-rank", "cannot be used with '--per-rank'"),
    ] {
        let ended = folder.heddle(arguments);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(hint), "{}", ended.stderr);
    }
}

/// Settings of traces and placements that do nothing, and what the traces do not have.
#[test]
fn settings_of_traces_without_effect() {
    let folder = Folder::new("flag-traces");
    folder.write("t-0.txt", "MPI_Init:-:1:2:10\nMPI_Barrier:12:9,0,2:13\nMPI_Finalize:15:-\n");
    folder.write("t-1.txt", "MPI_Init:-:1:2:10\nMPI_Barrier:12:9,1,2:13\nMPI_Finalize:15:-\n");
    folder.write("nobody.txt", "# no rank\n\n");
    let modes = "the modes \"durations\" and \"aligned\" use it";
    for (settings, code, wanted) in [
        ("traces.map=nobody.txt", 1, "nobody.txt: there are no ranks in it"),
        ("traces.from-collective=1000", 1, "they have 1 collectives of all ranks"),
        ("traces.from=100s", 1, "no call begins in it, the last one begins at 5 us"),
        ("traces.scale-ranks=9=2", 2, "there is no rank 9: the traces have 2 ranks, from 0"),
        ("traces.recorded-on=infiniband-ddr-simula", 2, modes),
        ("traces.mode=aligned --set traces.connect=1us", 2, "the mode \"gaps\" uses it"),
        ("traces.mode=durations --set traces.pin-per-call=1us", 2, "the mode \"gaps\" uses it"),
        ("traces.pin-limit=1MiB", 2, "what pin-per-byte or pin-per-call cost"),
    ] {
        let ended = folder.heddle(&format!("run t- --set {settings}"));
        assert!(ended.stderr.contains(wanted), "{settings}: {}", ended.stderr);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{settings}");
    }
    for (placement, code) in [("", 2), (" --placement round-robin", 2), (" --placement random", 0)]
    {
        let command = "run t- --network infiniband --topology star:hosts=4 --set placement.seed=3";
        let ended = folder.heddle(&format!("{command}{placement}"));
        assert_eq!(ended.code, code, "{placement}: {}", ended.stderr);
        assert_eq!(ended.stderr.contains("the seed is not used"), code == 2, "{placement}");
    }
    folder.write("t-1.txt", "MPI_Init:-:1:2:10\nMPI_Barrier:12:9,1,2:13\n");
    let ended = folder.heddle("run t-");
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.starts_with("warning: the trace ends without"), "{}", ended.stderr);
}

/// Of the three lengths of random noise, the one that is wrong is named.
#[test]
fn noise_that_does_not_fit() {
    let noise = "run two.goal --set noise.interval=10us --set noise.duration";
    check(
        "noise-fixed",
        &format!("{noise}=11us"),
        "
error: --set noise.duration=11us: an interruption of 11 us does not fit into `noise.interval`, 10 us
",
    );
    check(
        "noise-uniform",
        &format!("{noise}=1us --set noise.distribution=uniform --set noise.duration-max=20us"),
        "
error: --set noise.duration-max=20us: an interruption of 20 us does not fit into `noise.interval`, \
10 us
",
    );
}

#[test]
fn factors_have_limits() {
    let folder = Folder::new("flag-factor");
    for factor in ["20000000", "1e3", "0.0000001"] {
        let ended = folder.heddle(&format!("run nothing --set traces.scale={factor}"));
        let expected = format!(
            "error: --set traces.scale={factor}: expected a number such as 0.5, from 0 to 1000000, \
             with at most six decimals, found {factor}\n"
        );
        assert_eq!((ended.code, ended.stderr), (2, expected));
    }
}

/// Collectives, like patterns, refuse options that mean nothing to them.
#[test]
fn options_that_a_collective_does_not_use() {
    let folder = Folder::new("flag-collective");
    for (arguments, wanted) in [
        ("barrier --size 10B", "`workload.size` does not belong to a collective without data"),
        ("barrier --element 1B", "`workload.element` does not belong to a collective without data"),
        ("barrier --reduce-cost 1ns/B", "a collective that combines nothing"),
        ("bcast --reduce-cost 1ns/B", "a collective that combines nothing"),
        ("bcast --algorithm NTSL --segment 0B", "\"segment\" must be at least 1"),
    ] {
        let ended = folder.heddle(&format!("run collective:{arguments}"));
        assert_eq!(ended.code, 2, "{arguments}");
        assert!(ended.stderr.contains(wanted), "{arguments}: {}", ended.stderr);
    }
    for algorithm in
        ["bcast --algorithm ompi_pipeline", "bcast --algorithm default", "allgather --algorithm GB"]
    {
        let size = "--ranks 8 --size 4GiB --segment 1B";
        let ended = folder.heddle(&format!("run collective:{algorithm} {size}"));
        assert_eq!(ended.code, 1, "{algorithm}: {}", ended.stderr);
        assert!(ended.stderr.contains("too many segments"), "{algorithm}: {}", ended.stderr);
    }
    for arguments in
        ["barrier", "reduce --reduce-cost 1ns/B", "bcast --algorithm NTSL --segment 1B"]
    {
        assert_eq!(folder.heddle(&format!("run collective:{arguments} -q")).code, 0, "{arguments}");
    }
}

/// Speeds and tables that a workload has no use for.
#[test]
fn what_only_other_workloads_have() {
    let flow = "run two.goal --network flow --topology star:hosts=2";
    let help = "  help: the workload is a schedule; the setting belongs to traces\n";
    for key in ["host.speed", "host.recorded-speed"] {
        let expected =
            format!("error: --set {key}=1Gf: `{key}` is not used by this workload\n{help}");
        check("speed", &format!("{flow} --set {key}=1Gf"), &expected);
    }
    check(
        "computation",
        "run two.goal --tables computation -o out",
        "
error: --tables computation: a table of computation needs a live program whose computation is \
measured
",
    );
}

#[test]
fn a_platform_in_place_of_a_workload() {
    let folder = Folder::new("flag-platform");
    folder.write("p.xml", "<?xml version='1.0'?>\n<platform version=\"4.1\"/>\n");
    let ended = folder.heddle("run p.xml");
    let expected = "error: p.xml: this is a platform, not a workload\n\
                    \x20 help: give it with --machine p.xml, behind a workload\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (2, expected));
}

#[test]
fn a_file_in_place_of_a_pattern() {
    check(
        "gen-file",
        "gen two.goal",
        "
error: two.goal: this is no pattern
  help: heddle gen takes the name of a pattern, pattern:NAME or collective:NAME; heddle convert \
  takes files
",
    );
}

#[test]
fn all_libraries_are_named() {
    let folder = Folder::new("flag-library");
    let ended = folder.heddle("run collective:bcast --collectives foo");
    let list = "(libraries: default, openmpi, mpich, mvapich2, impi, smpi_ompi, smpi_mpich, \
                smpi_default)";
    assert!(ended.stderr.contains(list), "{}", ended.stderr);
}

/// A ladder passes over what only other models have, not what only other workloads have.
#[test]
fn what_only_other_workloads_have_on_a_ladder() {
    let unused =
        |key: &str| format!("`{key}` is not used by this workload\n  help: the workload is");
    for (number, (set, key)) in [
        ("--set traffic.length=2KiB", "traffic.length"),
        ("--over traffic.length=2KiB,4KiB", "traffic.length"),
        ("--set traces.speed=5", "traces.speed"),
        ("--over live.poll=5ns,6ns", "live.poll"),
        ("--set workload.steps=4", "workload.steps"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = Folder::new(&format!("flag-ladder-{number}"));
        folder.write("a.goal", "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n");
        let ended = folder.heddle(&format!("ladder a.goal --topology star:hosts=2 {set}"));
        assert!(ended.stderr.contains(&unused(key)), "{set}: {}", ended.stderr);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{set}");
    }
}

/// Messages have their place, the reason and what was expected, whichever command is asked.
#[test]
fn flags_of_all_commands() {
    let folder = Folder::new("flag-commands");
    folder.write("two.goal", "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n");
    let files = folder.names(".");
    for (arguments, code, expected) in [
        ("fit two.goal --replicates x", 2, "expected a whole number from 100 to 100000"),
        ("run two.goal --uncertainty 3", 2, "expected a whole number from 20 to 100000"),
        ("measure --shm -o m.toml --runs 1", 2, "expected a whole number from 2 to 1000"),
        ("mpirun --timeout x true", 2, "expected a whole number, at least 0"),
        ("mpirun --per-host 0 true", 2, "expected a whole number from 1 to 4294967295"),
        ("topology star:hosts=4 --seed x", 2, "expected a whole number, at least 0"),
        ("ladder two.goal --over loggops.L", 2, "error: --over loggops.L: there is no value\n"),
        ("run two.goal --plot x.svg", 2, "error: --plot draws the curves of traffic"),
        ("run two.goal --report-window 1us..2us", 2, "needs a folder to write to\n"),
        ("run two.goal --report-detail 3 -o out", 2, "is of a report, and none is written\n"),
        ("run traces.index", 1, "error: traces.index: No such file or directory\n"),
        ("report two.goa -o x.html", 1, "help: did you mean two.goal?\n"),
        ("measure --tcp x:1 -o m.toml --token-file no", 1, "error: --token-file no: No such file"),
    ] {
        let ended = folder.heddle(arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (code, ""),
            "{arguments}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains(expected), "{arguments}: {}", ended.stderr);
        assert_eq!(folder.names("."), files, "{arguments}");
    }
}
