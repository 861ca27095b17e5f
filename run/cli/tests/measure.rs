//! `heddle measure`: between the ranks of a simulation, whose parameters are known, and on this
//! host.

mod common;

use std::{
    io::Read,
    process::{Command, Stdio},
};

use common::{
    Folder,
    measuring::{measure, programs},
};
use measure::programs::Program;
use recorder::launch::Mpi;
use serde_json::Value;

/// Measures a machine that is simulated as the words say, and writes `m.toml`.
fn simulated(folder: &Folder, words: &str) -> Value {
    let heddle = env!("CARGO_BIN_EXE_heddle");
    let ended = measure(
        folder,
        &format!(
            "--quick --runs 2 --format json -o m.toml -- {heddle} mpirun -q -n 2 \
             --compute-time off {words}"
        ),
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    // The machine file can be used at once.
    let run = folder.heddle("run pattern:gather --ranks 2 --machine m.toml --quiet");
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

/// Compares parameters of a machine of LogGOPS with their truth: `name=value`, in ns and ns/B, or
/// `name=refused`.
fn check(name: &str, machine: &str, truth: &str) {
    let sets: Vec<String> = machine.split_whitespace().map(|set| format!(" --set {set}")).collect();
    let sets = sets.concat();
    let found = simulated(&Folder::new(name), &sets);
    for (name, value) in truth.split_whitespace().filter_map(|word| word.split_once('=')) {
        let parameter = &found["parameters"][name];
        if value == "refused" {
            assert!(parameter.is_null() && found["refused"][name].is_string(), "{name} {found:#}");
            continue;
        }
        let value: f64 = value.parse().expect("a number");
        let of = |key: &str| parameter[key].as_f64().unwrap_or_else(|| panic!("{name} {found:#}"));
        let near = (of("value") - value).abs() <= 0.01 * value.max(0.01);
        let within = of("low") <= value && value <= of("high");
        assert!(near && within, "{name} is {value}: {parameter}");
    }
}

/// The gap is longer than the overhead: all parameters show. The step of S is found to a step of
/// the sizes, which are 16384 B and 24576 B there.
#[test]
fn a_machine_with_a_long_gap() {
    check(
        "measure-gap",
        "loggops.L=5us loggops.o=1us loggops.g=2us loggops.G=1ns/B loggops.S=16384B",
        "L=5000 o=1000 g=2000 G=1 O=0 S=16384",
    );
}

/// The clock is that of the simulation: a round of all sizes takes longer than 3 ms, the third part
/// of the time, in which 64 KiB alone take 16 * 65.5 us in a row. So each of three runs ends after
/// the first of the three repetitions that it was to have. A second is enough.
#[test]
fn a_short_time_is_said() {
    let folder = Folder::new("measure-cut");
    let heddle = env!("CARGO_BIN_EXE_heddle");
    let of = |time: &str| {
        let ended = measure(
            &folder,
            &format!(
                "--time {time} --runs 3 --force --format json -o m.toml -- {heddle} mpirun -q -n 2 \
                 --compute-time off --set loggops.L=5us --set loggops.o=1us --set loggops.g=2us \
                 --set loggops.G=1ns/B --set loggops.S=1GiB"
            ),
        );
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let found: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let latency = found["parameters"]["L"]["value"].as_f64().expect("a number");
        assert!((latency / 5000.0 - 1.0).abs() < 0.01, "{found:#}");
        (ended.stderr, String::from_utf8(folder.read("m.toml")).expect("text"))
    };
    let (said, file) = of("10ms");
    let cut = "3 of 9 repetitions in the time of 0.01 s";
    assert!(said.contains(&format!(" samples in 3 runs, {cut}, up to ")), "{said}");
    assert!(file.contains(&format!("\n# The time was short: {cut}.\n")), "{file}");
    let (said, file) = of("1");
    assert!(said.contains(" samples in 3 runs of ") && !file.contains("short"), "{said} {file}");
}

/// Interfaces receive without the CPU (Myrinet of table 3.5.3.1 of seed 003): all parameters show.
#[test]
#[ignore = "takes a minute"]
fn a_machine_whose_interfaces_receive() {
    check(
        "measure-nic",
        "loggops.receive=nic loggops.L=24.3us loggops.o=1.9us loggops.g=3.4us loggops.G=4.09ns/B \
         loggops.S=32KiB",
        "L=24300 o=1900 g=3400 G=4.09 O=0 S=32768",
    );
}

/// The overhead is longer: the receiver holds messages up, as it would if it were the gap.
#[test]
#[ignore = "takes a minute"]
fn a_machine_with_a_long_overhead() {
    check(
        "measure-overhead",
        "loggops.L=2us loggops.o=1us loggops.g=200ns loggops.G=0.1ns/B",
        "L=2000 o=1000 g=refused G=0.1 O=0",
    );
}

/// Further machines under the same rule: those of table 3.5.3.1 of seed 003 (InfiniBand, Myrinet,
/// Ethernet), of which the first has g = o and the last a longer o; and one whose bytes cost the
/// hosts as well.
#[test]
#[ignore = "takes a minute"]
fn more_machines() {
    // Where interfaces receive, the gap shows even if it is shorter than the overhead.
    check(
        "measure-nic-overhead",
        "loggops.receive=nic loggops.L=2us loggops.o=1us loggops.g=200ns loggops.G=0.1ns/B",
        "L=2000 o=1000 g=200 G=0.1 O=0",
    );
    check(
        "measure-cheap-bytes",
        "loggops.L=2us loggops.o=1us loggops.g=200ns loggops.G=0.1ns/B loggops.O=0.02ns/B",
        "L=2000 o=1000 g=refused G=0.1 O=0.02",
    );
    check(
        "measure-infiniband",
        "loggops.L=2.82us loggops.o=1.4us loggops.g=1.4us loggops.G=1.03ns/B loggops.S=12KiB",
        "L=2820 o=1400 g=refused G=1.03 O=0 S=12288",
    );
    check(
        "measure-myrinet",
        "loggops.L=24.3us loggops.o=1.9us loggops.g=3.4us loggops.G=4.09ns/B loggops.S=32KiB",
        "L=24300 o=1900 g=3400 G=4.09 O=0 S=32768",
    );
    check(
        "measure-ethernet",
        "loggops.L=65.4us loggops.o=6.1us loggops.g=897ns loggops.G=8.49ns/B",
        "L=65400 o=6100 g=refused G=8.49 O=0",
    );
    check(
        "measure-bytes",
        "loggops.L=1us loggops.o=300ns loggops.g=400ns loggops.G=0.05ns/B loggops.O=0.03ns/B \
         loggops.S=8KiB",
        "L=1000 o=300 g=400 G=0.05 O=0.03 S=8192",
    );
}

/// Two hosts with a link of 1 GB/s and 10 us, and costs and factors that change behind 8 KiB.
const FLOW: &str = "\
[platform.zone]
id = \"pair\"
routing = \"Full\"

[[platform.zone.host]]
id = \"a\"
speed = \"1 Gflop/s\"

[[platform.zone.host]]
id = \"b\"
speed = \"1 Gflop/s\"

[[platform.zone.link]]
id = \"cable\"
bandwidth = \"1 GB/s\"
latency = \"10 us\"
sharing_policy = \"FATPIPE\"

[[platform.zone.route]]
src = \"a\"
dst = \"b\"
symmetrical = true
links = [\"cable\"]

[flow]
os = \"0B:1us:0.1ns/B;8KiB:3us:0.2ns/B\"
ois = \"0B:500ns\"
or = \"0B:2us:0.3ns/B\"
eager-below = \"64 KiB\"
detached-below = \"64 KiB\"
bandwidth-factors = \"0B:0.5;8208B:0.8\"
latency-factors = \"0B:1;8208B:1.5\"
weight = \"0 B\"
window = \"0 B\"
cross-traffic = false
";

/// Pieces are those of the machine. The network's part of a round trip counts 16 B of envelope:
/// 10 us + 2 ns/B up to 8 KiB, 15 us + 1.25 ns/B beyond, so that the bandwidth beyond is 0.8 GB/s
/// and that below 0.625 of it.
#[test]
#[ignore = "takes a minute"]
fn a_machine_of_flows() {
    let folder = Folder::new("measure-flow");
    folder.write("flow.toml", FLOW);
    let found = simulated(&folder, "--machine flow.toml --network flow");
    let check = |operation: &str, piece: usize, from: u64, base: f64, slope: f64| {
        let of = |key: &str| found["segments"][operation][piece][key].as_f64().expect("a number");
        assert!((of("from") - from as f64).abs() < 0.5, "{found:#}");
        assert!((of("base") / base - 1.0).abs() < 0.01, "{operation} {found:#}");
        assert!((of("slope") - slope).abs() < 0.01 * slope.max(0.001), "{operation} {found:#}");
    };
    check("send", 0, 0, 1000.0, 0.1);
    check("send", 1, 8192, 3000.0, 0.2);
    check("isend", 0, 0, 500.0, 0.0);
    check("recv", 0, 0, 2000.0, 0.3);
    let text = String::from_utf8(folder.read("m.toml")).expect("text");
    let entries = |key: &str| -> Vec<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        let line = line.unwrap_or_else(|| panic!("{key}: {text}")).trim_end_matches('"');
        let parts = line.split(';').flat_map(|entry| entry.split("B:"));
        parts.map(|part| part.parse().expect("a number")).collect()
    };
    for (key, expected) in [
        ("latency-factors", [0.0, 1.0, 8208.0, 1.5]),
        ("bandwidth-factors", [0.0, 0.625, 8208.0, 1.0]),
    ] {
        for (found, expected) in entries(key).iter().zip(expected) {
            assert!((found - expected).abs() <= 0.01 * expected, "{key} {text}");
        }
    }
    let link = "a latency of 10";
    assert!(text.contains(link) || text.contains("a latency of 9.9"), "{text}");
}

/// A single message between idle hosts of an InfiniBand network takes what the measured machine
/// says, at sizes that were not measured.
#[test]
#[ignore = "takes a minute"]
fn a_machine_of_packets() {
    let folder = Folder::new("measure-packets");
    let network = "--network infiniband --topology fat-tree:levels=1,radix=4";
    simulated(&folder, network);
    for size in [100, 5000, 20_000, 40_000] {
        let goal = format!(
            "num_ranks 2\nrank 0 {{\nsend {size}b to 1\n}}\nrank 1 {{\nrecv {size}b from 0\n}}\n"
        );
        folder.write("one.goal", &goal);
        let time = |machine: &str| {
            let ended = folder.heddle(&format!("run one.goal {machine} --format json"));
            ended.json()["makespan_ps"].as_f64().expect("a time")
        };
        let (truth, said) = (time(network), time("--machine m.toml"));
        assert!((said / truth - 1.0).abs() < 0.01, "{size} B take {truth} ps, predicted {said}");
    }
}

#[test]
fn shared_memory_of_this_host() {
    let folder = Folder::new("measure-shared");
    let ended = measure(&folder, "--shm --time 0.2 --runs 3 -o node.toml --samples s.csv");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(folder.names(""), ["node.replicates.csv", "node.toml", "s.csv"]);
    let text = String::from_utf8(folder.read("node.toml")).expect("text");
    assert!(text.contains("\nsamples = \"s.csv\"\n"), "{text}");
    assert!(text.contains("\nmpi = \"shared memory\"\n"), "{text}");
    let run = folder.heddle("run pattern:gather --ranks 2 --machine node.toml");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// Nothing is measured if its result has no place.
#[test]
fn an_earlier_measurement_is_kept() {
    let folder = Folder::new("measure-kept");
    for (name, command) in [
        ("node.toml", "measure --shm -o node.toml"),
        ("node.samples.csv", "measure --shm -o node.toml"),
        ("node.replicates.csv", "measure --shm -o node.toml"),
        ("s.csv", "measure --shm -o node.toml --samples s.csv"),
        ("noise.txt", "measure --noise -o noise.txt"),
    ] {
        folder.write(name, "earlier");
        let ended = folder.heddle(command);
        let expected = format!("error: {name} exists already\n  help: --force replaces it\n");
        assert_eq!((ended.code, ended.stderr), (4, expected), "{command}");
        assert_eq!(folder.read(name), b"earlier", "{command}");
        std::fs::remove_file(folder.path(name)).expect("removed");
    }
    folder.write("noise.txt", "earlier");
    let ended = folder.heddle("measure --noise --time 0.1 -o noise.txt --force");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_ne!(folder.read("noise.txt"), b"earlier");
}

/// Any MPI library whose launcher and headers are here.
#[test]
fn real_libraries() {
    for (launcher, mpi) in [("mpirun.openmpi", Mpi::OpenMpi), ("mpirun.mpich", Mpi::Mpich)] {
        let is_built = programs().join(Program::Mpi(mpi).file()).is_file();
        if !is_built || Command::new(launcher).arg("--version").output().is_err() {
            eprintln!("{launcher} is not here");
            continue;
        }
        let folder = Folder::new(&format!("measure-{}", mpi.name()));
        let ended = measure(&folder, &format!("--time 0.1 --runs 2 -o m.toml -- {launcher} -n 2"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let samples = String::from_utf8(folder.read("m.samples.csv")).expect("text");
        for operation in ["first,1,0,1,1,0,", "recv-busy,1,", "collective:allreduce,2,0,"] {
            assert!(samples.contains(&format!("\n{operation}")), "{operation}");
        }
        // Not two ranks, and a launcher that fails: nothing is left.
        let folder = Folder::new(&format!("measure-{}-wrong", mpi.name()));
        let ended = measure(&folder, &format!("-o m.toml -- {launcher} -n 3"));
        assert_eq!(ended.code, 1);
        let said = "measuring takes two ranks, and the launcher started 3";
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
        let ended = measure(&folder, &format!("-o m.toml -- {launcher} --no-such-option -n 2"));
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains("error: the measurement failed"), "{}", ended.stderr);
        assert!(folder.names("").is_empty());
    }
}

/// A launcher that starts nothing, no launcher, and a folder that is not there.
#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new("measure-wrong");
    let said = |arguments: &str, code: i32, text: &str| {
        let ended = measure(&folder, arguments);
        assert_eq!(ended.code, code, "{}", ended.stderr);
        assert!(ended.stderr.contains(text), "{}", ended.stderr);
        assert!(folder.names("").is_empty());
    };
    said("-o m.toml --mpi standard -- true", 1, "rank 0 wrote nothing");
    said("-o m.toml -- no-such-program", 1, "no-such-program: there is no such program");
    said("-o m.toml -- true", 1, "say it with --mpi");
    said("-o m.toml --mpi standard -- false", 1, "ended with exit status: 1");
    said("-o no/m.toml --shm", 4, "no/m.toml: ");
    said("-o m.toml", 2, "required");
    said("-o m.toml --shm --noise", 2, "cannot be used with");
    said("-o m.toml --tcp 127.0.0.1:1", 2, "--token-file");
    said("-o m.toml --tcp 127.0.0.1:1 --token-file none", 1, "none: ");
}

#[test]
fn sockets_without_mpi() {
    let folder = Folder::new("measure-tcp");
    let mut server = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args(["measure", "--serve", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a server");
    let mut token = vec![0; 65];
    server.stdout.as_mut().expect("a pipe").read_exact(&mut token).expect("a token");
    std::fs::write(folder.path("token"), &token).expect("written");
    let mut said = vec![0; 64];
    server.stderr.as_mut().expect("a pipe").read_exact(&mut said).expect("a line");
    let said = String::from_utf8(said).expect("text");
    let address = said.split_whitespace().nth(3).expect("an address").trim_end_matches(';');
    let line = format!("--time 0.2 --runs 2 -o t.toml --tcp {address} --token-file");
    folder.write("wrong", "00");
    let wrong = measure(&folder, &format!("{line} wrong"));
    let right = measure(&folder, &format!("{line} token"));
    server.kill().and_then(|()| server.wait()).expect("ended");
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("the server refused the token"), "{}", wrong.stderr);
    assert_eq!(right.code, 0, "{}", right.stderr);
    assert!(folder.path("t.samples.csv").is_file());
}

/// The trace of interruptions is one that `[noise]` reads.
#[test]
fn noise_of_this_host() {
    let folder = Folder::new("measure-noise");
    let ended = measure(&folder, "--noise --time 0.3 -o noise.txt");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("interruptions in 0.3"), "{}", ended.stdout);
    if folder.read("noise.txt").is_empty() {
        return;
    }
    let run = folder.heddle("run pattern:gather --ranks 4 --set noise.trace=noise.txt");
    assert_eq!(run.code, 0, "{}", run.stderr);
}
