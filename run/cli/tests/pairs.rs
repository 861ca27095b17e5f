//! Classes of pairs of hosts: `heddle measure --pairs` finds them, machine files have them, and
//! runs give each pair the costs of its class.

mod common;

use std::process::Command;

use common::{
    Folder,
    measuring::{measure, programs},
};
use measure::programs::Program;
use recorder::launch::Mpi;
use serde_json::{Value, json};

/// Hosts 0 and 1 are in a rack, hosts 2 and 3 in another. Within racks L = 5 us and G = 1 ns/B,
/// between them 20 us and 2 ns/B; o = 1 us and g = 2 us everywhere.
const MACHINE: &str = r#"
[loggops]
L = "20 us"
o = "1 us"
g = "2 us"
G = "2 ns/B"
S = "1 GiB"
pairs = "racks.csv"

[loggops.class.near]
L = "5 us"
G = "1 ns/B"
"#;

const RACKS: &str = "source,destination,class\n0,1,near\n2,3,near\n";

/// Sends a message of 1001 bytes within a rack and one between racks, one after the other.
const PROGRAM: &str = "num_ranks 4
rank 0 {
  near: send 1001b to 1
  far: send 1001b to 2
  far requires near
}
rank 1 {
  recv 1001b from 0
}
rank 2 {
  recv 1001b from 0
}
rank 3 {
}
";

fn machine(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("machine.toml", MACHINE);
    folder.write("racks.csv", RACKS);
    folder.write("program.goal", PROGRAM);
    folder
}

/// Returns the time at which each rank of the program ends, in nanoseconds.
fn ends(folder: &Folder, words: &str) -> Vec<f64> {
    let run =
        folder.heddle(&format!("run program.goal --format json --per-rank {words} -o out --force"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let ends = found["finish_ps"].as_array().expect("an end of each rank");
    ends.iter().map(|end| end.as_f64().expect("a time") / 1000.0).collect()
}

/// Within the rack: o + L + o + 1000 G = 1 + 5 + 1 + 1 us. The interface of rank 0 is busy for
/// g + 1000 G = 3 us with that message, so that the next one starts then and takes 1 + 20 + 1 + 2
/// us more. Without classes it is 1 + 20 + 1 + 2 us, and the next one starts after g + 1000 G = 4
/// us.
#[test]
fn messages_cost_what_their_class_does() {
    let folder = machine("pairs-run");
    let of_classes = ends(&folder, "--machine machine.toml");
    assert_eq!(of_classes[1..3], [8000.0, 27_000.0]);
    assert_eq!(ends(&folder, "--machine machine.toml --threads 2"), of_classes);
    folder.write("racks.csv", "source,destination,class\n2,3,near\n");
    assert_eq!(ends(&folder, "--machine machine.toml")[1..3], [24_000.0, 28_000.0]);
}

/// Large messages of a class: L of its table `large`, or else that of the class.
#[test]
fn classes_have_large_messages() {
    let folder = machine("pairs-large");
    let text = MACHINE
        .replace("1 GiB", "1000 B")
        .replace("[loggops.class", "\n[loggops.large]\nL = \"90 us\"\n\n[loggops.class");
    folder.write("machine.toml", &text);
    // The data travels at once: 1 + 5 + 1 + 1 us within the rack, more than 90 us between racks.
    let ended = ends(&folder, "--machine machine.toml");
    assert!((ended[1] - 8000.0).abs() < 1e-9 && ended[2] > 90_000.0, "{ended:?}");
    folder.write("machine.toml", &format!("{text}[loggops.class.near.large]\nL = \"7 us\"\n"));
    let ended = ends(&folder, "--machine machine.toml");
    assert!((ended[1] - 10_000.0).abs() < 1e-9, "{ended:?}");
}

/// Mistakes in classes and their file are told with their place, and what is not used, too.
#[test]
fn mistakes_in_classes() {
    let folder = machine("pairs-mistakes");
    let refused = |words: &str, text: &str| {
        let run = folder.heddle(&format!("run program.goal {words}"));
        // Mistakes in arguments end with another code than files that are not there.
        let is_usage = run.stderr.starts_with("error: --set") && !run.stderr.contains("No such");
        let code = if is_usage { 2 } else { 1 };
        assert!(run.code == code && run.stderr.contains(text), "{text}: {}", run.stderr);
    };
    let machine = "--machine machine.toml";
    folder.write("racks.csv", "source,destination,class\n0,1,neer\n0,9x,near\n");
    refused(machine, "machine.toml:8");
    refused(machine, "line 2: there is no class `neer`; did you mean `near`?");
    refused(machine, "line 3: expected the number of a host, found `9x`");
    folder.write("racks.csv", RACKS);
    refused(&format!("{machine} --set loggops.pairs=none.csv"), "none.csv");
    refused("--set loggops.pairs=racks.csv", "there is no table [loggops.class.NAME]");
    refused(&format!("{machine} --set loggops.class.near.S=4KiB"), "set `loggops.S` outside");
    refused(&format!("{machine} --set loggops.class.near.Q=4us"), "unknown key `Q` of a class");
    refused(&format!("{machine} --set loggops.class.neer.L=4us"), "did you mean `near`?");
    refused(&format!("{machine} --set loggops.class.a+b.L=4us"), "the name of a class consists of");
    refused(&format!("{machine} --set loggops.compat=loggopsim"), "`loggops.pairs` has no");
    folder.write("class.toml", "[loggops.class.near]\nlatency = \"4 us\"\n");
    refused("--machine class.toml", "class.toml:2");
    folder.write("class.toml", "[loggops.class]\nL = \"4 us\"\n");
    refused("--machine class.toml", "write [loggops.class.NAME] on a line of its own");
    // Classes to which no pair belongs are no mistake, but they are not left aside in silence.
    folder.write("machine.toml", &MACHINE.replace("pairs =", "# pairs ="));
    let run = folder.heddle(&format!("run program.goal {machine}"));
    let said = run.stdout + &run.stderr;
    assert!(said.contains("names no file that puts them into the classes near"), "{said}");
    let run = folder.heddle(&format!("run program.goal {machine} --set network.topology=M9"));
    let said = run.stdout + &run.stderr;
    assert!(said.contains("loggops.class.near"), "{said}");
}

/// A run again by its manifest has the same classes, and notices that the file of pairs changed.
#[test]
fn manifests_have_classes() {
    let folder = machine("pairs-manifest");
    let first = ends(&folder, "--machine machine.toml");
    let again = folder.heddle("run out/manifest.json -o again");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(folder.read("out/ranks.csv"), folder.read("again/ranks.csv"));
    folder.write("racks.csv", "source,destination,class\n0,2,near\n");
    let changed = folder.heddle("run out/manifest.json -o changed");
    assert!(changed.stderr.contains("racks.csv"), "{}", changed.stderr);
    assert_eq!(first.len(), 4);
    let shown = folder.heddle("run program.goal --machine machine.toml --print-config");
    assert!(shown.stdout.contains("[loggops.class.near]\nL = \"5 us\""), "{}", shown.stdout);
}

/// Checks the replicates that were measured, and a run of the program that draws from them; its
/// makespan is known in nanoseconds.
fn check_replicates(folder: &Folder, makespan: f64) {
    // Replicates are of both classes, and those of [loggops] are those of the median class.
    let table = String::from_utf8(folder.read("m.replicates.csv")).expect("text");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        let place = rows[0].iter().position(|found| *found == name).expect("a column");
        rows[1..].iter().map(|row| row[place]).collect::<Vec<_>>()
    };
    assert!(rows.len() > 900, "{}", rows.len());
    for key in ["L", "o", "g", "G"] {
        assert_eq!(column(&format!("loggops.{key}")), column(&format!("loggops.class.c2.{key}")));
        assert_ne!(column(&format!("loggops.{key}")), column(&format!("loggops.class.c1.{key}")));
    }
    let file = String::from_utf8(folder.read("m.toml")).expect("text");
    assert!(file.contains("\n[calibration.loggops.class.c1.L]\nlow = \""), "{file}");
    let doubt = "run program.goal --machine m.toml --uncertainty 100 --format json --set \
                 loggops.pairs=m.pairs.csv";
    let doubt = folder.heddle(doubt).json()["uncertainty"].clone();
    let ps = |name: &str| doubt[name].as_f64().expect("a time");
    assert!((ps("median_ps") / makespan / 1000.0 - 1.0).abs() < 0.01, "{doubt}");
    assert!(ps("low_ps") < ps("median_ps") && ps("median_ps") < ps("high_ps"), "{doubt}");
    assert!(doubt["variance_without"]["loggops.class.c1.L"].is_number(), "{doubt}");
    let run = "run program.goal --machine m.toml --set loggops.pairs=m.pairs.csv -o doubt";
    let said = folder.heddle(run);
    assert!(said.stdout.contains("loggops.class.c1.L "), "{} {}", said.stdout, said.stderr);
    assert_eq!(folder.heddle("run doubt/manifest.json -o again").code, 0);
}

/// Checks the costs of calls in the machine file that was measured.
fn check_flow(folder: &Folder) {
    let file = String::from_utf8(folder.read("m.toml")).expect("text");
    // One pair of the median class timed sends: they take o, and what is left of a round trip one
    // way is L + o + 2 ns/B, of sizes with an envelope of 16 bytes and less one.
    let number = |before: &str, after: &str| -> f64 {
        let rest = file.split_once(before).expect(before).1;
        rest.split_once(after).expect(after).0.parse().expect("a number")
    };
    assert!(file.contains("[flow]\n# This is of the class c2, measured between "), "{file}");
    for (found, truth) in [
        (number("\nos = \"0B:", "ns:"), 1000.0),
        (number("\nois = \"0B:", "ns:"), 1000.0),
        (number("route with a latency of ", " ns"), 21_000.0 - 17.0 * 2.0),
        (number("a bandwidth of ", " GB/s"), 0.5),
    ] {
        assert!((found / truth - 1.0).abs() < 0.01, "{found} {truth} {file}");
    }
}

/// Measured in the simulation of that machine, classes and their parameters come back, and a run
/// with the machine file that is written takes as long as with the true one.
#[test]
fn measured_classes_come_back() {
    let folder = machine("pairs-loop");
    let heddle = env!("CARGO_BIN_EXE_heddle");
    let ended = measure(
        &folder,
        &format!(
            "--pairs all --quick --runs 2 --format json -o m.toml -- {heddle} mpirun -q -n 4 \
             --compute-time off --machine {}",
            folder.path("machine.toml").display()
        ),
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("note: 6 pairs of 4 hosts in 3 rounds"), "{}", ended.stderr);
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(found["classes"][0]["pairs"], json!([[0, 1], [2, 3]]));
    assert_eq!(found["classes"][1]["pairs"], json!([[0, 2], [0, 3], [1, 2], [1, 3]]));
    assert_eq!((&found["median"], &found["classes"][2]), (&json!("c2"), &Value::Null));
    let truth = |one: usize, other: usize| {
        if one / 2 == other / 2 { [5000.0, 1.0] } else { [20_000.0, 2.0] }
    };
    for (one, other) in (0..4).flat_map(|one| (0..4).map(move |other| (one, other))) {
        for (name, truth) in ["L", "G"].into_iter().zip(truth(one, other)) {
            let value = &found["matrix"][name][one][other];
            if one == other {
                assert!(value.is_null(), "{value}");
                continue;
            }
            let value = value.as_f64().expect("a number");
            assert!((value / truth - 1.0).abs() < 0.01, "{name} {one} {other}: {value}");
        }
    }
    let file: &[u8] = b"source,destination,class\n0,1,c1\n0,2,c2\n0,3,c2\n1,2,c2\n1,3,c2\n2,3,c1\n";
    assert_eq!(folder.read("m.pairs.csv"), file);
    let truth = ends(&folder, "--machine machine.toml");
    let measured = ends(&folder, "--machine m.toml --set loggops.pairs=m.pairs.csv");
    for (measured, truth) in measured.iter().zip(&truth).filter(|(_, truth)| **truth > 0.0) {
        assert!((measured / truth - 1.0).abs() < 0.01, "{measured} {truth}");
    }
    check_replicates(&folder, truth[2]);
    check_flow(&folder);
    // By default all pairs are of the median class, which is that between racks.
    let median = ends(&folder, "--machine m.toml");
    assert!((median[1] / 24_000.0 - 1.0).abs() < 0.01, "{median:?}");
    // The samples say the same again.
    let again = folder.heddle("fit m.samples.csv --format json").json();
    assert_eq!(again, found);
}

/// On this host, ranks stand for hosts: Open MPI and MPICH measure a ring of three and one pair of
/// them.
#[test]
fn pairs_over_mpi_libraries() {
    for (name, mpi) in [("openmpi", Mpi::OpenMpi), ("mpich", Mpi::Mpich)] {
        let launcher = format!("mpirun.{name}");
        let there = Command::new(&launcher).arg("--version").output().is_ok();
        if !there || !programs().join(Program::Mpi(mpi).file()).exists() {
            eprintln!("{name} is not here");
            continue;
        }
        let folder = Folder::new(&format!("pairs-{name}"));
        for (choice, pairs, rounds) in [("ring", 3, 3), ("sample:1", 1, 1)] {
            let words = format!(
                "--pairs {choice} --time 0.2 --runs 2 --format json -o m.toml --force -- \
                 {launcher} -n 3"
            );
            let ended = measure(&folder, &words);
            // On a machine that is busy with other things, noise may hide everything.
            let hidden = ended.stderr.contains("the samples determine no parameter");
            assert!(ended.code == 0 || hidden, "{}", ended.stderr);
            let said = format!("note: {pairs} pairs of 3 hosts in {rounds} rounds");
            assert!(ended.stderr.contains(&said), "{}", ended.stderr);
            let samples = String::from_utf8(folder.read("m.samples.csv")).expect("text");
            // The first repetition of each run is always done, and all three if there was time.
            let last = if ended.stderr.contains("repetitions in the time of") { 0 } else { 2 };
            assert!(samples.contains(&format!("prtt,16,0,1,1,{last},")), "{samples:.200}");
        }
    }
}

#[test]
fn wrong_requests() {
    let folder = Folder::new("pairs-wrong");
    for (words, text) in [
        ("--pairs every -o m.toml -- mpirun -n 4", "expected ring, sample:N or all"),
        ("--pairs sample:none -o m.toml -- mpirun -n 4", "such as sample:100"),
        ("--pairs all --shm -o m.toml", "cannot be used with"),
    ] {
        let ended = measure(&folder, words);
        assert!(ended.code == 2 && ended.stderr.contains(text), "{}", ended.stderr);
    }
    let heddle = env!("CARGO_BIN_EXE_heddle");
    let alone = format!("--pairs all --quick -o m.toml -- {heddle} mpirun -q -n 1");
    let ended = measure(&folder, &alone);
    let text = "two ranks at least, and the launcher started 1";
    assert!(ended.code == 1 && ended.stderr.contains(text), "{}", ended.stderr);
    assert!(!folder.path("m.toml").exists());
}
