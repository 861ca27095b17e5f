//! Command lines that somebody tries in the first hour.

mod common;

use common::Folder;
use serde_json::Value;

/// The makespans of a ladder, or of several, in JSON.
fn makespans(folder: &Folder, command: &str) -> Vec<u64> {
    let ended = folder.heddle(command);
    assert_eq!(ended.code, 0, "{command}: {}", ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let ladders = if let Value::Array(all) = json { all } else { vec![json] };
    let rungs = ladders.iter().flat_map(|ladder| ladder["rungs"].as_array().expect("rungs"));
    rungs.map(|rung| rung["makespan_ps"].as_u64().expect("an end")).collect()
}

/// A topology alone chooses a network with switches, and more ranks than hosts are remarked: the
/// eight ranks of a gather on four hosts are two on each.
#[test]
fn a_topology_alone() {
    let folder = Folder::new("first-topology");
    let run = "run pattern:gather --ranks 8 --topology star:hosts=4 --format json";
    let alone = folder.heddle(run).json();
    let named = folder.heddle(&format!("{run} --network infiniband")).json();
    assert_eq!(alone["makespan_ps"], named["makespan_ps"]);
    assert_ne!(alone["signals"], Value::Null);
    let remarks = alone["remarks"].to_string();
    assert!(remarks.contains("8 ranks on 4 hosts: up to 2 on each"), "{remarks}");
    assert!(remarks.contains("loggops.o = 200 ns"), "{remarks}");
}

/// A machine with a topology is over its switches, unless it describes LogGOPS as well: then that
/// is remarked, and traffic takes the topology.
#[test]
fn a_topology_of_a_machine() {
    let folder = Folder::new("first-machine");
    let network = "[network]\ntopology = \"star:hosts=4\"\n";
    folder.write("switches.toml", network);
    folder.write("routers.toml", &format!("{network}preset = \"packet-default\"\n"));
    folder.write("both.toml", &format!("[loggops]\nL = \"1 us\"\n{network}"));
    let run = |arguments: &str| {
        let ended =
            folder.heddle(&format!("run pattern:gather --ranks 4 {arguments} --format json"));
        let json = ended.json();
        (json["makespan_ps"].clone(), json["remarks"].to_string())
    };
    let infiniband = run("--topology star:hosts=4 --network infiniband").0;
    assert_eq!(run("--machine switches.toml").0, infiniband);
    let packet = run("--topology star:hosts=4 --network packet --preset packet-default").0;
    assert_eq!(run("--machine routers.toml").0, packet);
    let (loggops, remarks) = run("--machine both.toml");
    assert_eq!(loggops, run("--set loggops.L=1us").0);
    assert!(remarks.contains("network.topology; --network takes the topology"), "{remarks}");
    assert_eq!(run("--machine both.toml --network infiniband").0, infiniband);
    let traffic = "run traffic:uniform --load 0.1,0.2 --format json --machine both.toml";
    assert_eq!(folder.heddle(traffic).json()["points"].as_array().expect("points").len(), 2);
    let refused = folder.heddle("run pattern:gather --machine switches.toml --set loggops.L=1us");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("help: leave it out, or set network.model"),
        "{}",
        refused.stderr
    );
}

/// The configuration that is printed is an experiment file that gives the same tables.
#[test]
fn a_printed_configuration_can_be_run() {
    let folder = Folder::new("first-printed");
    let machine = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/machines/edr-cluster.toml");
    for network in ["loggops", "infiniband", "flow"] {
        let run = format!(
            "run pattern:halo2d --ranks 16 --size 3000B --machine {} --network {network}",
            machine.display()
        );
        let printed = folder.heddle(&format!("{run} --print-config"));
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        folder.write(&format!("{network}.toml"), &printed.stdout);
        for command in [
            format!("{run} -q -o {network}-first"),
            format!("run {network}.toml -q -o {network}-printed"),
        ] {
            let ended = folder.heddle(&command);
            assert_eq!(ended.code, 0, "{command}: {}", ended.stderr);
        }
        let table = |name: &str| folder.read(&format!("{network}-{name}/ranks.csv"));
        assert!(table("first") == table("printed"), "{network}");
    }
}

/// Values of a ladder that hold commas are words of their own.
#[test]
fn values_with_commas() {
    let folder = Folder::new("first-over");
    let ladder = "ladder pattern:gather --ranks 4 --topology star:hosts=4 --format json";
    let commas = makespans(&folder, &format!("{ladder} --over workload.size=1KiB,64KiB"));
    let words = makespans(&folder, &format!("{ladder} --over workload.size=1KiB 64KiB"));
    assert_eq!(commas, words);
    let levels = makespans(&folder, &format!("{ladder} --over network.levels=0,1 1,0"));
    assert_eq!(levels.len(), 2 * makespans(&folder, ladder).len());
}

/// Settings that only some models of a ladder use are remarked; those that none uses are mistakes.
#[test]
fn settings_of_a_ladder() {
    let folder = Folder::new("first-ladder");
    let some = folder
        .heddle("ladder pattern:gather --ranks 4 --topology star:hosts=4 --set network.mtu=2KiB");
    assert_eq!(some.code, 0, "{}", some.stderr);
    let expected = "warning: used by some models of the ladder only: network.mtu\n";
    assert_eq!(some.stderr, expected);
    let none = folder.heddle("ladder pattern:gather --ranks 4 --set network.mtu=2KiB");
    assert_eq!(none.code, 2, "{}", none.stderr);
    let expected = "`network.mtu` is not used by any model of this ladder";
    assert!(none.stderr.contains(expected), "{}", none.stderr);
}

/// Drawings in other forms are refused rather than written under a wrong name, and a plain name of
/// a pattern or a collective is recognised.
#[test]
fn names_that_mean_something_else() {
    let folder = Folder::new("first-names");
    for (command, code, wanted) in [
        ("topology star:hosts=4 --draw x.pdf", 2, "drawings are SVG or PNG"),
        ("ladder pattern:gather --plot x.JPG", 2, "end it in .svg or .png"),
        ("run alltoall", 1, "collective:alltoall"),
        ("run dissemination", 1, "did you mean pattern:dissemination"),
    ] {
        let ended = folder.heddle(command);
        assert_eq!(ended.code, code, "{command}: {}", ended.stderr);
        assert!(ended.stderr.contains(wanted), "{command}: {}", ended.stderr);
    }
    assert_eq!(folder.names("."), Vec::<String>::new());
}

/// A message of a million bytes over a link of 100 Gb/s takes 80 us and little more, or twice as
/// long if each byte took 0.08 ns at the receiver, too. A machine may have a G for LogGOPS; a run
/// that sets it must mean that.
#[test]
fn bytes_take_their_time_once() {
    let folder = Folder::new("network-gap");
    let costs = "[loggops]\no = \"0 ns\"\ng = \"0 ns\"\nG = \"0.08 ns/B\"\n[network]\n";
    let network = "topology = \"star:hosts=2\"\npreset = \"infiniband-edr\"\n";
    folder.write("machine.toml", &format!("{costs}{network}"));
    let run = "run pattern:binomial-bcast --ranks 2 --size 1000000B --machine machine.toml";
    let ended = folder.heddle(&format!("{run} --network infiniband --format json"));
    let time = ended.json()["makespan_ps"].as_f64().expect("a time") / 1e6;
    assert!((80.0..88.0).contains(&time), "{time}");
    assert!(ended.json()["remarks"].to_string().contains("loggops.G"), "{}", ended.stdout);
    let ended = folder.heddle(&format!("{run} --network infiniband --set loggops.G=1ns/B"));
    assert!(ended.stderr.contains("`loggops.G` is not used by the model infiniband"));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
}

/// A routing that only routers can follow leaves the other rungs of a ladder out; a key of a ladder
/// may be named by its flag.
#[test]
fn ladders_with_adaptive_routes() {
    let folder = Folder::new("first-adaptive");
    let ladder = "ladder pattern:gather --ranks 4 --topology torus:dims=4x4 --format json";
    let json = folder.heddle(&format!("{ladder} --routing adaptive --over size=1B,1KiB")).json();
    for over in json.as_array().expect("ladders") {
        let names = |part: &str| {
            let all = over[part].as_array().expect("models").iter();
            all.map(|model| model["model"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("rungs"), ["no network", "packet"]);
        assert_eq!(names("missing").last().map(String::as_str), Some("infiniband"));
    }
}
