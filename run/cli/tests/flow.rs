//! The model `flow`: replays against SimGrid, platforms, items, and the ladder.

mod common;

use std::{fs, path::Path};

use common::Folder;

/// Relative difference that is allowed; SimGrid lets happen together what happens within a
/// nanosecond.
const TOLERANCE: f64 = 1e-6;
const PRECISION: f64 = 2e-9;

/// Each folder holds a platform, a time-independent trace, and when SimGrid 3.32 ends its ranks
/// (`validation/simgrid/compare.py --keep`).
#[test]
fn replays_end_as_in_simgrid() {
    let replays = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/simgrid/replays");
    let mut seen = 0;
    for entry in fs::read_dir(&replays).expect("replays") {
        let place = entry.expect("an entry").path();
        let text = fs::read_to_string(place.join("expected.txt")).expect("expected.txt");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let (items, ends): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("cfg "));
        let folder = Folder::new("flow-replay");
        let [index, machine] = ["trace.index", "platform.xml"].map(|name| place.join(name));
        let items: String = items.iter().map(|item| item.replacen("cfg ", " --cfg ", 1)).collect();
        let command = format!(
            "run {} --machine {} --format json --per-rank{items}",
            index.display(),
            machine.display()
        );
        let json = folder.heddle(&command).json();
        let ours = json["finish_ps"].as_array().expect("ends");
        assert_eq!(ours.len(), ends.len(), "{}", place.display());
        for (rank, (ours, theirs)) in ours.iter().zip(&ends).enumerate() {
            let ours = ours.as_f64().expect("a time") * 1e-12;
            let theirs: f64 = theirs.parse().expect("a time");
            let apart = (ours - theirs).abs();
            assert!(
                apart <= PRECISION || apart <= TOLERANCE * theirs,
                "{}, rank {rank}: {ours}, SimGrid {theirs}",
                place.display()
            );
        }
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} replays");
}

/// A message of 1 MB between two ranks of a host: keys of ours are SimGrid's items, and both change
/// what it takes.
#[test]
fn loopback() {
    let folder = Folder::new("flow-loopback");
    let one = "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n\
               <host id=\"a\" speed=\"1Gf\" core=\"2\"/>\n</zone>\n</platform>\n";
    fs::write(folder.path("one.xml"), one).expect("written");
    let time = |more: &str| {
        let command =
            "run pattern:gather --ranks 2 --size 1MB --machine one.xml --set placement.per-host=2";
        folder.heddle(&format!("{command} --format json {more}")).json()["makespan_ps"].as_u64()
    };
    let keys = "--set flow.loopback-bandwidth=1GB/s --set flow.loopback-latency=1ms";
    let items = "--cfg network/loopback-bw:1e9 --cfg network/loopback-lat:1e-3";
    assert_eq!(time(keys), time(items));
    assert!(time(keys) > time(""));
}

const MACHINE: &str = "[loggops]\nL = \"700 ns\"\no = \"400 ns\"\ng = \"200 ns\"\n\
                       G = \"0.08 ns/B\"\n[network]\ntopology = \"fat-tree:levels=2,radix=4\"\n\
                       preset = \"infiniband-edr\"\n[flow]\nos = \"0B:1us\"\n";

/// Of a machine with all tables, each model takes its own, and none complains of the others'.
#[test]
fn the_ladder_runs_every_model() {
    let folder = Folder::new("ladder");
    fs::write(folder.path("m.toml"), MACHINE).expect("written");
    let json = folder
        .heddle(
            "ladder pattern:halo2d --ranks 8 --size 4KiB --compute 20us --machine m.toml \
                 --format json",
        )
        .json();
    let rungs = json["rungs"].as_array().expect("rungs");
    let names: Vec<_> = rungs.iter().map(|rung| rung["model"].as_str().expect("a name")).collect();
    let all =
        ["no network", "loggops", "flow, loggps", "flow, fluid", "flow, hybrid", "infiniband"];
    assert_eq!(names, all);
    // Without a network there is only the computation.
    assert_eq!(rungs[0]["makespan_ps"], 20_000_000);
    for rung in &rungs[1..] {
        let makespan = rung["makespan_ps"].as_u64().expect("a time");
        assert!(makespan > 20_000_000, "{rung}");
        // The model alone gives the same.
        let (network, variant) = match rung["model"].as_str().expect("a name") {
            "loggops" => ("loggops", "hybrid"),
            "infiniband" => ("infiniband", "hybrid"),
            name => ("flow", name.strip_prefix("flow, ").expect("a variant")),
        };
        let variant = if network == "flow" {
            format!(" --set flow.variant={variant}")
        } else {
            String::new()
        };
        let alone = folder
            .heddle(&format!(
                "run pattern:halo2d --ranks 8 --size 4KiB --compute 20us --machine m.toml \
                 --network {network}{variant} --format json"
            ))
            .json();
        assert_eq!(alone["makespan_ps"], makespan, "{rung}");
    }
}

#[test]
fn a_ladder_over_sizes_is_drawn() {
    let folder = Folder::new("ladder-over");
    fs::write(folder.path("m.toml"), MACHINE).expect("written");
    let command = "ladder pattern:gather --ranks 8 --machine m.toml --over \
                   workload.size=1KiB,64KiB --plot p.svg";
    let shown = folder.heddle(command);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert_eq!(shown.stdout.matches("flow, hybrid uses").count(), 6);
    let svg = fs::read_to_string(folder.path("p.svg")).expect("a drawing");
    // Five models with a network, two sizes.
    assert_eq!(svg.matches("<circle").count(), 10);
}

/// A platform of SimGrid supports flows; what else there might be is named with what it lacks.
#[test]
fn a_platform_has_no_lanes() {
    let folder = Folder::new("ladder-platform");
    let machine =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/machines/graphene.xml");
    let command = format!(
        "ladder pattern:pairwise-alltoall --ranks 8 --size 4KiB --machine {}",
        machine.display()
    );
    let shown = folder.heddle(&command);
    assert!(
        shown.stdout.contains("infiniband      not run: a platform has no lanes"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("loggops         not run: nothing is set in [loggops]"),
        "{}",
        shown.stdout
    );
}

/// A platform runs the same, and takes as long, in XML and in TOML; and what else the TOML sets
/// counts.
#[test]
fn platforms_in_toml() {
    let folder = Folder::new("platform-toml");
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/machines");
    let run = |machine: &Path| {
        let machine = machine.display();
        folder.heddle(&format!(
            "run pattern:pairwise-alltoall --ranks 8 --size 64KiB --format json --machine {machine}"
        ))
    };
    let makespan = |machine: &Path| -> u64 {
        let shown = run(machine);
        let summary: serde_json::Value = serde_json::from_str(&shown.stdout).expect("a summary");
        summary["makespan_ps"].as_u64().expect("a time")
    };
    let xml = makespan(&machines.join("graphene.xml"));
    assert_eq!(xml, makespan(&machines.join("graphene.toml")));
    let text = fs::read_to_string(machines.join("graphene.toml")).expect("a machine");
    let set = |name: &str, more: &str| {
        fs::write(folder.path(name), format!("{text}\n{more}\n")).expect("written");
        folder.path(name)
    };
    assert!(xml < makespan(&set("ois.toml", "[flow]\nois = \"0B:1ms\"")));
    let shown =
        run(&set("wrong.toml", "[[platform.zone.link]]\nid = \"trunk-1\"\nbandwith = \"1 GB/s\""));
    for said in
        ["wrong.toml", "column 1: <link> has no attribute `bandwith`", "did you mean `bandwidth`?"]
    {
        assert!(shown.stderr.contains(said), "{said} in {}", shown.stderr);
    }
}

#[test]
fn mistakes() {
    let folder = Folder::new("flow-mistakes");
    fs::write(
        folder.path("bad.xml"),
        "<?xml version='1.0'?>\n<platform version=\"4.1\">\n<zone id=\"w\" routing=\"Fulll\">\n\
         <host id=\"a\" speed=\"1Gf\"/>\n</zone>\n</platform>\n",
    )
    .expect("written");
    fs::write(
        folder.path("apart.xml"),
        "<?xml version='1.0'?>\n<platform version=\"4.1\">\n<zone id=\"w\" routing=\"Full\">\n\
         <host id=\"a\" speed=\"1Gf\"/>\n <host id=\"b\" speed=\"1Gf\"/>\n</zone>\n</platform>\n",
    )
    .expect("written");
    let graphene =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/machines/graphene.xml");
    let network = "--network flow --topology star:hosts=4";
    for (command, wanted) in [
        (
            format!("run pattern:gather {network} --cfg network/crosstrafic:no"),
            "did you mean network/crosstraffic?",
        ),
        (format!("run pattern:gather {network} --cfg smpi/os"), "NAME:VALUE"),
        (
            format!("run pattern:gather {network} --set loggops.L=1us"),
            "is not used by the model flow",
        ),
        (format!("run pattern:gather {network} --set flow.os=5"), "SIZE:TIME"),
        (format!("run pattern:gather {network} --set flow.eager-below=1MiB"), "must be detached"),
        ("run pattern:gather --set flow.os=0B:1us".to_owned(), "is not used by the model loggops"),
        (format!("run pattern:gather {network} --set flow.loopback-bandwidth=0B/s"), "10 GB/s"),
        (format!("run pattern:gather {network} --set host.speed=5"), "10 Gflop/s"),
        (
            "run pattern:gather --machine bad.xml".to_owned(),
            "line 3, column 14: unknown routing `Fulll`",
        ),
        (
            "run pattern:gather --ranks 2 --machine apart.xml".to_owned(),
            "apart.xml: line 5, column 2: there is no route from `b` to `a`",
        ),
        (
            format!("run pattern:gather --machine {} --routing min-hop", graphene.display()),
            "the platform states it itself",
        ),
        ("ladder pattern:gather -o out".to_owned(), "is not used by the ladder"),
        ("ladder pattern:gather --over workload.size".to_owned(), "KEY=VALUE,VALUE"),
        ("ladder pattern:gather --over sizes=1B,2B".to_owned(), "--over sizes=1B: unknown key"),
        ("ladder pattern:gather --network packet".to_owned(), "is not used by the ladder"),
    ] {
        let shown = folder.heddle(&command);
        assert!(shown.code == 1 || shown.code == 2, "{command}: {}", shown.code);
        assert!(shown.stderr.contains(wanted), "{command}: {}", shown.stderr);
        assert!(shown.stdout.is_empty(), "{command}");
    }
}

/// Configuration items that change nothing are warned about, with the file and the line.
#[test]
fn harmless_items_have_a_place() {
    let folder = Folder::new("flow-harmless");
    fs::write(
        folder.path("items.xml"),
        "<?xml version='1.0'?>\n<platform version=\"4.1\">\n<config>\n\
         <prop id=\"network/model\" value=\"SMPI\"/>\n\
         <prop id=\"contexts/factory\" value=\"thread\"/>\n</config>\n\
         <zone id=\"w\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\"/>\n</zone>\n</platform>\n",
    )
    .expect("written");
    let shown = folder.heddle("run pattern:gather --ranks 1 --machine items.xml --network flow");
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for place in ["items.xml: line 4: the platform's network/model", "items.xml: line 5: the"] {
        assert!(shown.stderr.contains(&format!("warning: {place}")), "{}", shown.stderr);
    }
}

/// A million operations at 1 Gflop/s (what traces count by), at 4 Gflop/s, and recorded time on a
/// machine a quarter as fast.
#[test]
fn computation_is_scaled_to_the_hosts() {
    let folder = Folder::new("flow-speed");
    fs::write(folder.path("t.ti"), "0 init\n0 compute 1e6\n0 finalize\n").expect("written");
    fs::write(folder.path("t.index"), "t.ti\n").expect("written");
    for (more, microseconds) in [
        ("", 1000),
        (" --set host.speed=4Gflop/s", 250),
        (" --set traces.speed=2000000000", 500),
        (" --set traces.speed=2000000000 --set host.speed=4Gf", 250),
    ] {
        let command =
            format!("run t.index --network flow --topology star:hosts=2 --format json{more}");
        let json = folder.heddle(&command).json();
        assert_eq!(json["makespan_ps"], microseconds * 1_000_000_u64, "{more}");
    }
}

/// Over flows too it is an error, and no deadlock, when time leaves its range: a message that takes
/// 3e9 s at 100 Mb/s; two computations of half the range on one core; a bandwidth and a latency
/// that a factor spoils.
#[test]
fn time_beyond_its_range_is_no_deadlock() {
    let folder = Folder::new("flow-overflow");
    folder.write(
        "big.goal",
        "num_ranks 2\nrank 0 { send 300000000000000000b to 1 }\n\
         rank 1 { recv 300000000000000000b from 0 }\n",
    );
    folder.write("small.goal", "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n");
    folder.write(
        "cores.goal",
        "num_ranks 2\nrank 0 { calc 10000000000000000 }\nrank 1 { calc 10000000000000000 }\n",
    );
    for command in [
        "run big.goal",
        "run cores.goal --set placement.hosts=0",
        "run small.goal --set flow.bandwidth-factors=0B:1e-30",
        "run small.goal --cfg smpi/lat-factor:0:1e16",
    ] {
        let shown = folder.heddle(&format!("{command} --network flow --topology torus:dims=2x2"));
        assert_eq!((shown.code, shown.stdout.as_str()), (1, ""), "{command}: {}", shown.stderr);
        assert!(shown.stderr.contains("simulated time overflows"), "{command}: {}", shown.stderr);
    }
}

/// A sleep of 1.5 s takes that on a host of 2 Gflop/s and whatever computation is scaled by, and
/// leaves the only core to the other rank: 2e9 operations take it 1 s. 4e16 operations take 40 000
/// s at 1 Tflop/s, though they would not fit at 1 Gflop/s.
#[test]
fn sleep_and_much_computation() {
    let folder = Folder::new("flow-sleep");
    for (name, speed) in [("slow.xml", "2Gf"), ("fast.xml", "1Tf")] {
        let cluster =
            format!("id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-1\" speed=\"{speed}\"");
        folder.write(
            name,
            &format!(
                "<platform version=\"4.1\"><cluster {cluster} bw=\"1Gbps\" \
                      lat=\"1us\"/></platform>\n"
            ),
        );
    }
    let ends = |zero: &str, one: &str, more: &str| {
        folder.write("r0.txt", &format!("0 init\n{zero}0 finalize\n"));
        folder.write("r1.txt", &format!("1 init\n{one}1 finalize\n"));
        folder.write("app.index", "r0.txt\nr1.txt\n");
        let json = folder.heddle(&format!("run app.index --format json --per-rank {more}")).json();
        let ends = json["finish_ps"].as_array().expect("ends").iter();
        ends.map(|end| end.as_u64().expect("a time") / 1_000_000_000).collect::<Vec<_>>()
    };
    let sleep = "0 sleep 1.5\n";
    assert_eq!(ends(sleep, "", "--machine slow.xml"), [1500, 0]);
    assert_eq!(ends(sleep, "", "--machine slow.xml --scale-compute 3"), [1500, 0]);
    assert_eq!(ends(sleep, "", "--scale-compute 3"), [1500, 0]);
    let shared = "--machine slow.xml --set placement.hosts=n0";
    assert_eq!(ends(sleep, "1 compute 2e9\n", shared), [1500, 1000]);
    assert_eq!(ends("0 compute 3e9\n", "1 compute 2e9\n", shared), [2500, 2000]);
    assert_eq!(ends("0 compute 4e16\n", "", "--machine fast.xml"), [40_000_000, 0]);
    // 10 B among two ranks are sent before the reduction's operations.
    let both = ["0 allreduce 10 4e16\n", "1 allreduce 10 4e16\n"];
    assert_eq!(ends(both[0], both[1], "--machine fast.xml"), [40_000_000; 2]);
    folder.write("r0.txt", "0 init\n0 compute 1e300\n0 finalize\n");
    let shown = folder.heddle("run app.index --machine fast.xml");
    assert_eq!(shown.code, 1);
    assert!(shown.stderr.contains("r0.txt: line 3: MPI_Finalize on rank 0"), "{}", shown.stderr);
}

/// Standard input is there once, and there are five models; who waits in a deadlock is said, and
/// the exit code tells.
#[test]
fn a_ladder_of_standard_input_and_one_that_stands_still() {
    let folder = Folder::new("ladder-input");
    let text = "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n";
    folder.write("sound.goal", text);
    folder.write("m.toml", MACHINE);
    let makespans = |ended: &common::Ended| -> Vec<_> {
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let ladders = json.as_array().cloned().unwrap_or_else(|| vec![json]);
        let rungs = ladders.iter().flat_map(|ladder| ladder["rungs"].as_array().expect("rungs"));
        rungs.map(|rung| rung["makespan_ps"].as_u64()).collect()
    };
    for more in ["", " --over loggops.L=1us,2us"] {
        let more = format!("--machine m.toml --format json{more}");
        let file = folder.heddle(&format!("ladder sound.goal {more}"));
        let input = folder.heddle_with(&format!("ladder - {more}"), text.as_bytes());
        assert_eq!((file.code, input.code), (0, 0), "{}", input.stderr);
        assert_eq!(makespans(&file), makespans(&input));
        assert!(makespans(&file).len() >= 6);
    }
    folder.write("stuck.goal", "num_ranks 2\nrank 0 { recv 8b from 1 }\nrank 1 { calc 5 }\n");
    let shown = folder.heddle("ladder stuck.goal --machine m.toml");
    assert_eq!(shown.code, 3, "{}", shown.stderr);
    let said = "no network: deadlock at 5 ns: 1 of 2 ranks can never finish\n\
                \x20 rank 0 waits in recv of 8 B from rank 1";
    assert!(shown.stdout.contains(said), "{}", shown.stdout);
    let json = folder.heddle("ladder stuck.goal --machine m.toml --format json");
    assert_eq!(json.code, 3);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["rungs"][1]["deadlock"]["pending"][0]["rank"], 0);
}

/// Interruptions that never end double computation over every model of a ladder.
#[test]
fn noise_over_every_model() {
    let folder = Folder::new("ladder-noise");
    folder.write("two.goal", "num_ranks 2\nrank 0 { calc 1000 }\nrank 1 { calc 10 }\n");
    folder.write("m.toml", MACHINE);
    folder.write("n.txt", "0 1\n");
    let ladder = "ladder two.goal --machine m.toml --set noise.trace=n.txt --format json";
    let shown = folder.heddle(ladder);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let rungs = json["rungs"].as_array().expect("rungs");
    assert!(rungs.iter().any(|rung| rung["model"] == "flow, hybrid"), "{}", shown.stdout);
    let table = folder.heddle("ladder two.goal --machine m.toml --set noise.trace=n.txt");
    assert!(!table.stdout.contains("disagree"), "{}", table.stdout);
    for rung in rungs {
        assert_eq!(rung["makespan_ps"], 2_000_000, "{}", rung["model"]);
    }
}
