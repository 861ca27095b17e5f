//! `heddle study`: runs for all combinations, in a folder that survives interruptions.

mod common;

use std::fs;

use common::Folder;

/// Two lists and two seeds; sizes go with ranks.
const STUDY: &str = r#"
[workload]
source = "pattern:linear-alltoall"

[network]
model = "infiniband"

[loggops]
o = "200 ns"

[study]
network.topology = ["torus:dims=4x4", { kind = "fat-tree", levels = 2, radix = 8 }]
ranks = [4, 8]
size = ["1KiB", "2KiB"]
seeds = 2
zip = ["ranks", "size"]
"#;

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

/// The cells of a table of a study, by row.
fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn every_combination_has_a_row() {
    let folder = Folder::new("study-rows");
    folder.write("study.toml", STUDY);
    let listed = folder.heddle("study study.toml --dry-run");
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    let (_, expected) = listed.stdout.split_once("\n8 runs\n").expect("the number of runs");
    assert!(expected.starts_with("8 runs to do: about "), "{expected}");
    assert!(expected.ends_with("operations and signals, at 5 million in a second\n"), "{expected}");
    folder.heddle("study study.toml -o half --runs 0..4");
    let half = folder.heddle("study study.toml -o half --dry-run").stdout;
    assert!(half.contains("\n4 runs to do: about "), "{half}");
    assert!(half.ends_with("operations and signals, at the speed of 4 finished runs\n"), "{half}");
    let ended = folder.heddle("study study.toml -o out --jobs 3");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, "8 of 8 runs; the table is out/runs.csv\n");
    let done = folder.heddle("study study.toml -o out --dry-run").stdout;
    assert!(done.ends_with("nothing is left to run\n"), "{done}");
    let performance = read(&folder, "out/performance.csv");
    let head = performance.lines().next().expect("a header");
    assert!(head.ends_with(",cpu_seconds,peak_rss_bytes,wall_seconds"), "{head}");
    let text = read(&folder, "out/runs.csv");
    let rows = cells(&text);
    assert_eq!(
        rows[0][..5],
        ["run", "network.topology", "workload.ranks", "workload.size", "run.seed"]
    );
    let varied: Vec<_> = rows[1..].iter().map(|row| (row[2], row[3], row[4])).collect();
    let half = [("4", "1KiB", "1"), ("4", "1KiB", "2"), ("8", "2KiB", "1"), ("8", "2KiB", "2")];
    // The topology as a table holds commas, so that its cells are in quotes.
    assert_eq!(varied[..4], half);
    assert!(text.contains("\n7,\"fat-tree:levels=2,radix=8\",8,2KiB,2,"), "{text}");
    let column = |name: &str| rows[0].iter().position(|cell| *cell == name).unwrap();
    // All to all of n ranks are n (n - 1) messages.
    assert_eq!((rows[1][column("messages")], rows[3][column("messages")]), ("12", "56"));
    let alone = folder.heddle(
        "run pattern:linear-alltoall --ranks 8 --size 2KiB --network infiniband \
         --topology torus:dims=4x4 --format json",
    );
    let makespan = format!("\"makespan_ps\":{},", rows[3][column("makespan_ps")]);
    assert!(alone.stdout.contains(&makespan), "{makespan} {}", alone.stdout);
}

/// A study that was cut off in the middle of a line goes on behind it, in parts or whole, and ends
/// with the same table.
#[test]
fn an_interrupted_study_goes_on() {
    let folder = Folder::new("study-resume");
    folder.write("study.toml", STUDY);
    folder.heddle("study study.toml -o whole");
    let part = folder.heddle("study study.toml -o parts --runs 0..3");
    assert_eq!(part.stdout, "3 of 8 runs; the table follows when all are known\n");
    let journal = folder.path("parts/found-0-3.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 20]).unwrap();
    let again = folder.heddle("study study.toml -o parts");
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("2 of 8 runs are known already"), "{}", again.stderr);
    let listed = folder.heddle("study study.toml -o parts --on commands --chunk 4 --resume");
    let lines: Vec<_> = listed.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "heddle study study.toml -o parts --resume --runs 2..6",
            "heddle study study.toml -o parts --resume --runs 6..8",
        ]
    );
    for runs in ["2..6", "6..8"] {
        let ended = folder.heddle(&format!("study study.toml -o parts --resume --runs {runs}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    }
    assert_eq!(read(&folder, "parts/runs.csv"), read(&folder, "whole/runs.csv"));
}

/// A run that fails is a row with its error; --retry-failed runs it again, and nothing else.
#[test]
fn failures_are_rows() {
    let folder = Folder::new("study-failures");
    folder.write("machine.toml", "[loggops]\nL = \"1 us\"\no = \"1 us\"\n");
    folder.write(
        "study.toml",
        "[workload]\nsource = \"pattern:linear-alltoall\"\nranks = 4\n\
         [study]\nmachine = [\"machine.toml\", \"missing.toml\"]\n",
    );
    // A machine that does not exist is found before anything runs.
    let ended = folder.heddle("study study.toml -o out");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("missing.toml"), "{}", ended.stderr);
    folder.write("missing.toml", "[network]\nmodel = \"infiniband\"\n");
    let ended = folder.heddle("study study.toml -o out");
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.starts_with("2 of 2 runs, 1 failed;"), "{}", ended.stdout);
    assert!(ended.stderr.contains("run 1 failed: "), "{}", ended.stderr);
    let table = read(&folder, "out/runs.csv");
    assert!(table.contains("1,missing.toml,"), "{table}");
    let text = "[network]\nmodel = \"infiniband\"\ntopology = \"star:hosts=4\"\n\
                [loggops]\no = \"1 us\"\n";
    folder.write("missing.toml", text);
    let ended = folder.heddle("study study.toml -o out --retry-failed");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, "2 of 2 runs; the table is out/runs.csv\n");
}

/// Reasons of failures and remarks are told once, with the runs that they are about. Mistakes in
/// topologies and routings are found before anything runs, all of them.
#[test]
fn reasons_and_remarks_name_their_runs() {
    let folder = Folder::new("study-reasons");
    let study = |varied: &str| {
        let text =
            "[workload]\nsource = \"pattern:gather\"\nranks = 8\n[study]\n".to_owned() + varied;
        folder.write("study.toml", &text);
    };
    study("size = [\"1B\", \"1KiB\"]\ntopology = [\"star:hosts=8\", \"star:hosts=4\"]\n");
    let ended = folder.heddle("study study.toml -o crowded --set loggops.o=200ns");
    assert_eq!((ended.code, &*ended.stdout), (0, "4 of 4 runs; the table is crowded/runs.csv\n"));
    assert_eq!(ended.stderr, "remark: runs 1, 3: 8 ranks on 4 hosts: up to 2 on each\n");
    study("size = [\"1B\", \"1KiB\"]\ntopology = [\"star:hosts=8\", \"torus:dims=2xx\"]\n");
    let ended = folder.heddle("study study.toml --dry-run --set network.routing=minhop");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("dims = 2xx: expected whole numbers"), "{}", ended.stderr);
    assert!(ended.stderr.contains("did you mean `min-hop`?"), "{}", ended.stderr);
    study("topology = [\"star:hosts=8\", \"ring:switches=8\"]\nsize = [\"1B\", \"1KiB\"]\n");
    let ended = folder.heddle("study study.toml -o failed --set network.routing=dal");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("all runs failed: "), "{}", ended.stderr);
}

/// Synthetic traffic has a row for each load.
#[test]
fn a_row_for_each_load() {
    let folder = Folder::new("study-traffic");
    folder.write(
        "study.toml",
        "[workload]\nsource = \"traffic:uniform\"\n[network]\nmodel = \"packet\"\n\
         topology = \"torus:dims=4x4\"\n[traffic]\nload = \"0.1:0.2:0.1\"\n\
         [study]\nrouting = [\"dimension-order\", \"adaptive\"]\n",
    );
    let ended = folder.heddle("study study.toml -o out");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let text = read(&folder, "out/runs.csv");
    let rows = cells(&text);
    let load = rows[0].iter().position(|cell| *cell == "load").unwrap();
    let found: Vec<_> = rows[1..].iter().map(|row| (row[0], row[1], row[load])).collect();
    assert_eq!(
        found,
        [
            ("0", "dimension-order", "0.1"),
            ("0", "dimension-order", "0.2"),
            ("1", "adaptive", "0.1"),
            ("1", "adaptive", "0.2"),
        ]
    );
    for time in ["latency.mean_ps", "latency.p99_ps", "measured_ps", "warm_up_ps", "zero_load_ps"] {
        assert!(rows[0].contains(&time), "{time}: {:?}", rows[0]);
    }
    // 0.25 us on the idle network; the name without the unit means the same column.
    let plot = "plot out --x load --y latency.mean --by routing -o latency.svg";
    assert_eq!(folder.heddle(plot).code, 0);
    assert!(read(&folder, "latency.svg").contains("latency.mean, ns"));
    let ended = folder.heddle("plot out --x load --y mean -o mean.svg");
    assert_eq!(ended.code, 2);
    let both = "this may be accepted.mean or latency.mean_ps";
    assert!(ended.stderr.contains(both), "{}", ended.stderr);
}

#[test]
fn mistakes_have_their_place() {
    let folder = Folder::new("study-mistakes");
    let base = "[workload]\nsource = \"pattern:linear-alltoall\"\n";
    for (study, place, said) in [
        ("foo = [1]", "study.toml:4:1", "unknown key `foo` in [study]"),
        ("rank = [1]", "study.toml:4:1", "did you mean `ranks`?"),
        ("L = [\"1us\"]", "study.toml:4:1", "write which one: `loggops.L` or `loggops.large.L`"),
        ("ranks = 4", "study.toml:4:9", "expected a list, found the number 4"),
        ("ranks = []", "study.toml:4:9", "`workload.ranks` has no values"),
        ("ranks = [2, \"x\"]", "study.toml:4:13", "found"),
        (
            "ranks = [2]\nsize = [\"1B\", \"2B\"]\nzip = [\"ranks\", \"size\"]",
            "study.toml:6:7",
            "has 1 values",
        ),
        ("zip = [\"ranks\"]", "study.toml:4:8", "no list of [study]"),
        ("seeds = 0", "study.toml:4:1", "1 to 1000000"),
        ("seeds = 1000000\nranks = [1, 2]", "study.toml", "more than 1000000 runs"),
    ] {
        folder.write("study.toml", &format!("{base}[study]\n{study}\n"));
        let ended = folder.heddle("study study.toml --dry-run");
        assert_eq!(ended.code, 1, "{study}: {}", ended.stderr);
        assert!(ended.stderr.contains(place), "{study}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{study}: {}", ended.stderr);
    }
    folder.write("study.toml", &format!("{base}[study]\nranks = [2, 3]\n"));
    let ended = folder.heddle("study study.toml -o out --set workload.ranks=5");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("workload.ranks varies in this study"), "{}", ended.stderr);
    let ended = folder.heddle("study study.toml");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("add -o DIR"), "{}", ended.stderr);
    let ended = folder.heddle("run study.toml");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("heddle study runs such a file"), "{}", ended.stderr);
}

/// There is no study by no run at a time, nor one in parts of no run.
#[test]
fn at_least_one_of_each() {
    let folder = Folder::new("study-none");
    folder.write("study.toml", "[workload]\nsource = \"pattern:gather\"\n[study]\nranks = [2]\n");
    for flags in ["--jobs 0", "-j0", "--on commands --chunk 0"] {
        let ended = folder.heddle(&format!("study study.toml -o out {flags}"));
        assert_eq!(ended.code, 2, "{flags}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("expected a whole number from 1 to 1000000"),
            "{flags}: {}",
            ended.stderr
        );
        assert_eq!(folder.names("."), ["study.toml"]);
    }
}

/// A folder belongs to one study.
#[test]
fn another_study_is_refused() {
    let folder = Folder::new("study-other");
    folder.write(
        "study.toml",
        "[workload]\nsource = \"pattern:dissemination\"\n[study]\nranks = [2]\n",
    );
    folder.heddle("study study.toml -o out");
    folder.write(
        "study.toml",
        "[workload]\nsource = \"pattern:dissemination\"\n[study]\nranks = [3]\n",
    );
    let ended = folder.heddle("study study.toml -o out --resume");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("holds another study"), "{}", ended.stderr);
    fs::create_dir(folder.path("full")).unwrap();
    folder.write("full/file", "");
    let ended = folder.heddle("study study.toml -o full");
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("is not empty"), "{}", ended.stderr);
}

/// Seeds that are counted and seeds that are listed contradict each other. A topology that varies
/// takes the place of rails, and what defaults decide is told once for all runs.
#[test]
fn contradictions_and_defaults() {
    let folder = Folder::new("study-contradictions");
    let base = "[workload]\nsource = \"pattern:bulk-reply\"\nranks = 2\n";
    for lists in ["seeds = 2\nrun.seed = [3, 4]", "run.seed = [3, 4]\nseeds = 2"] {
        folder.write("study.toml", &format!("{base}[study]\n{lists}\n"));
        let ended = folder.heddle("study study.toml -o study");
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains("`run.seed` varies already"), "{}", ended.stderr);
    }
    let rail = "model = \"loggops\"\nloggops = { L = \"1 us\", o = \"1 us\", g = \"1 us\", G = \
                \"1 ns/B\" }\n";
    let rails = format!("{base}[rail.one]\n{rail}[rail.two]\n{rail}");
    // A key of one rail varies: there and back, 2 us of overheads and 1 or 9 us of latency.
    folder
        .write("study.toml", &format!("{rails}[study]\nrail.one.loggops.L = [\"1us\", \"9us\"]\n"));
    let ended = folder.heddle("study study.toml -o one --set rails.policy=single:one");
    assert_eq!((ended.code, &*ended.stderr), (0, ""));
    let table = read(&folder, "one/runs.csv");
    let rows = cells(&table);
    assert_eq!(rows[0][1], "rail.one.loggops.L");
    let place = rows[0].iter().position(|name| *name == "makespan_ps").expect("a column");
    assert_eq!([rows[1][place], rows[2][place]], ["6000000", "22000000"]);
    for (list, expected) in [
        ("rail.one.loggops.LL = [1]", "unknown key `loggops.LL` of a rail"),
        ("rail.weight = [1, 2]", "unknown key `rail.weight` in [study]"),
        ("rail.tow.weight = [1, 2]", "the rail `tow` has no L, o, g, G"),
    ] {
        folder.write("study.toml", &format!("{rails}[study]\n{list}\n"));
        let ended = folder.heddle("study study.toml -o wrong");
        assert_eq!(ended.code, 1, "{list}");
        assert!(ended.stderr.contains(expected), "{list}: {}", ended.stderr);
    }
    let topologies = "network.topology = [\"star:hosts=2\", \"star:hosts=4\"]";
    folder.write("study.toml", &format!("{rails}[study]\n{topologies}\n"));
    let ended = folder.heddle("study study.toml -o rails");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let expected = "all runs: settings of the machine for other models than infiniband: rail.one, \
                    rail.two";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    let expected = "all runs: defaults that nobody set make more than a tenth of the critical \
                    path: overhead (loggops.o = 200 ns)";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
