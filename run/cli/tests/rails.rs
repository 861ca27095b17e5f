//! Machines with several networks per host, as a user runs them.

mod common;

use common::{
    Folder,
    mpi::{compiled, mpirun},
};

/// Table 3.5.3.1 of A. Lichei, "Analysis and Optimization of the Packet Scheduler in Open MPI",
/// Chemnitz 2006.
const ETHERNET: &str = r#"model = "loggops"
loggops = { o = "6.1 us", L = "65.4 us", g = "897 ns", G = "8.49 ns/B" }"#;
const INFINIBAND: &str = r#"model = "loggops"
loggops = { o = "1.4 us", L = "2.82 us", g = "1.4 us", G = "1.03 ns/B" }"#;
const MYRINET: &str = r#"model = "loggops"
loggops = { o = "1.9 us", L = "24.3 us", g = "3.4 us", G = "4.09 ns/B" }"#;

fn machine(folder: &Folder, [a, b]: [&str; 2]) {
    folder.write("machine.toml", &format!("[rail.a]\n{a}\n[rail.b]\n{b}\n"));
}

/// The time of 32 messages one way and back by a policy, in nanoseconds.
fn bulk(folder: &Folder, size: u64, policy: &str) -> f64 {
    several(folder, 32, size, policy)
}

fn several(folder: &Folder, messages: u32, size: u64, policy: &str) -> f64 {
    let command = format!(
        "run pattern:bulk-reply --ranks 2 --ways {messages} --size {size}B --machine machine.toml \
         --set rails.policy={policy} --format json"
    );
    let ended = folder.heddle(&command);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.json()["makespan_ps"].as_f64().expect("a makespan") / 1000.0
}

/// Section 5.8.6: two Ethernet rails gain only where half the time of an interface is more than the
/// overhead of the CPU, (g + G(s-1))/2 > o: from 1332 B on they nearly double the bandwidth, up to
/// 614 B they bring nothing.
#[test]
fn two_ethernet_rails() {
    let folder = Folder::new("rails-ethernet");
    machine(&folder, [ETHERNET, ETHERNET]);
    let gain = |size| bulk(&folder, size, "single:a") / bulk(&folder, size, "vft");
    for size in [1, 100, 500, 600] {
        assert!((gain(size) - 1.0).abs() < 0.005, "{size}: {}", gain(size));
    }
    let part = gain(1000);
    assert!((1.1..1.6).contains(&part), "{part}");
    for (size, least) in [(4096, 1.75), (16_384, 1.9), (65_535, 1.95)] {
        assert!((least..=2.0).contains(&gain(size)), "{size}: {}", gain(size));
    }
    // In turn is as good for equal rails.
    let turn = bulk(&folder, 16_384, "round-robin") / bulk(&folder, 16_384, "vft");
    assert!((turn - 1.0).abs() < 1e-9, "{turn}");
}

/// On a ladder nothing is said of settings that the rails use and that mean nothing without a
/// network; what no model uses is still an error.
#[test]
fn a_ladder_of_rails() {
    let folder = Folder::new("rails-ladder");
    machine(&folder, [ETHERNET, ETHERNET]);
    let ladder = "ladder pattern:bulk-reply --ranks 2 --machine machine.toml";
    for flags in ["", "--set rails.policy=round-robin", "--set rail.a.loggops.o=1us"] {
        let ended = folder.heddle(&format!("{ladder} {flags}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{flags}");
    }
    let ended = folder.heddle(&format!("{ladder} --set flow.os=0B:1us"));
    assert!(ended.stderr.contains("`flow.os` is not used by any model of this ladder"));
    folder.write(
        "machine.toml",
        "[network]\nmodel = \"infiniband\"\ntopology = \"star:hosts=2\"\n\
         [rail.b]\nmodel = \"infiniband\"\ntopology = \"star:hosts=2\"\n",
    );
    let ended = folder.heddle(&format!("{ladder} --set network.mtu=2KiB"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// The benchmark of the thesis as a program: 32 messages of 4 KiB one way and back take what the
/// pattern says, but for what the barrier before leaves of the ranks' order.
#[test]
fn the_benchmark_is_a_program() {
    let folder = Folder::new("rails-program");
    let program = compiled("../../../../examples/programs/rails_bench");
    machine(&folder, [ETHERNET, INFINIBAND]);
    for policy in ["single:a", "round-robin", "vft"] {
        let machine = folder.path("machine.toml");
        let options =
            format!("-n 2 -q --machine {} --set rails.policy={policy}", machine.display());
        let ended = mpirun(&options, &program, "bulk 4096 2");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let last = ended.stdout.lines().last().expect("a row");
        let row: Vec<&str> = last.split(',').collect();
        assert_eq!(row[..3], ["bulk", "4096", "32"]);
        let found: f64 = row[3].parse().expect("a time");
        let expected = bulk(&folder, 4096, policy) / 64.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{policy}: {found} for {expected}");
    }
    let options = format!("-n 4 -q --machine {}", folder.path("machine.toml").display());
    for (test, rows) in [("random 1000 2", 2), ("halo 64 1", 8)] {
        let ended = mpirun(&options, &program, test);
        assert_eq!((ended.code, ended.stdout.lines().count()), (0, rows), "{}", ended.stderr);
    }
}

/// Two InfiniBand rails change little for small messages, where o is as long as g.
#[test]
fn two_infiniband_rails() {
    let folder = Folder::new("rails-infiniband");
    machine(&folder, [INFINIBAND, INFINIBAND]);
    for size in [1, 256] {
        let gain = bulk(&folder, size, "single:a") / bulk(&folder, size, "vft");
        assert!((1.0..1.2).contains(&gain), "{size}: {gain}");
    }
}

/// InfiniBand and Ethernet are never below InfiniBand alone; in turn they are far below it. The
/// listing of 4.4.4, which leaves out the bytes of the message, breaks the promise for a few large
/// ones.
#[test]
fn a_fast_rail_and_a_slow_one() {
    let folder = Folder::new("rails-unequal");
    machine(&folder, [INFINIBAND, ETHERNET]);
    for size in [1, 64, 1024, 4096, 16_384, 65_535] {
        let alone = bulk(&folder, size, "single:a");
        let own = bulk(&folder, size, "vft");
        assert!(own <= alone, "{size}: {own} for {alone}");
        let in_turn = bulk(&folder, size, "round-robin");
        assert!(in_turn > 2.0 * alone, "{size}: {in_turn} for {alone}");
    }
    let [alone, listing, own] =
        ["single:a", "vft-4.4.4", "vft"].map(|policy| several(&folder, 3, 65_535, policy));
    assert!(listing > 2.5 * alone && own <= alone, "{listing}, {own} for {alone}");
}

/// Myrinet and Ethernet gain for larger messages.
#[test]
fn myrinet_and_ethernet() {
    let folder = Folder::new("rails-myrinet");
    machine(&folder, [MYRINET, ETHERNET]);
    for (size, least) in [(16_384, 1.2), (65_535, 1.35)] {
        let gain = bulk(&folder, size, "single:a") / bulk(&folder, size, "vft");
        assert!((least..1.5).contains(&gain), "{size}: {gain}");
    }
}

/// A rail of each model that can be one, in one machine; its folder can be run again.
#[test]
fn rails_of_several_models() {
    let folder = Folder::new("rails-models");
    folder.write(
        "machine.toml",
        r#"[network]
            model = "infiniband"
            topology = "fat-tree:levels=2,radix=8"
            [rail.tori]
            model = "packet"
            topology = "torus:dims=4x4x2"
            loggops.o = "300 ns"
            [rail.plain]
            model = "loggops"
            weight = 2
            hosts = "0-11"
            fail-at = "20 us"
            recover-at = "30 us"
            [rail.plain.loggops]
            o = "1 us"
            L = "5 us"
            g = "4 us"
            G = "6 ns/B"
            [rail.plain.loggops.large]
            G = "2 ns/B"
            [rails]
            policy = "wfq"
            stripes = "water-filling"
            whole = "10 kB""#,
    );
    let runs = [1, 2, 3].map(|threads| {
        let name = format!("out-{threads}");
        let ended = folder.heddle(&format!(
            "run pattern:linear-alltoall --ranks 16 --size 20000B --machine machine.toml -o {name} \
             --tables ranks,messages --threads {threads}"
        ));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ["ranks.csv", "messages.csv"].map(|table| folder.read(&format!("{name}/{table}")))
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
    let ended = folder.heddle("run out-1/manifest.json -o again");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let again = ["ranks.csv", "messages.csv"].map(|table| folder.read(&format!("again/{table}")));
    assert_eq!(runs[0], again);
    // What is printed is a file that says the same.
    let printed = folder.heddle(
        "run pattern:linear-alltoall --ranks 16 --size 20000B --machine machine.toml \
         --print-config",
    );
    folder.write("printed.toml", &printed.stdout);
    let ended = folder.heddle("run printed.toml -o printed --tables ranks,messages");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(runs[0][0], folder.read("printed/ranks.csv"));
}

/// Ranks are placed on the hosts of the larger topology; the last two are not on the smaller one,
/// so that their messages take the other rail, whatever the policy says.
#[test]
fn topologies_of_different_sizes() {
    let folder = Folder::new("rails-sizes");
    folder.write(
        "machine.toml",
        "[rail.small]\nmodel = \"infiniband\"\ntopology = \"star:hosts=2\"\n[rail.large]\nmodel = \
         \"packet\"\ntopology = \"star:hosts=4\"\n",
    );
    let makespan = |from: u32, policy: &str| {
        let to = from + 1;
        let goal = format!(
            "num_ranks 4\nrank {from} {{ send 8b to {to} }}\nrank {to} {{ recv 8b from {from} }}\n\
             rank {} {{ calc 1 }}\nrank {} {{ calc 1 }}\n",
            2 - from,
            3 - from
        );
        folder.write("one.goal", &goal);
        let ended = folder.heddle(&format!(
            "run one.goal --machine machine.toml --set rails.policy={policy} --format json"
        ));
        ended.json()["makespan_ps"].as_u64().expect("a makespan")
    };
    assert_eq!(makespan(2, "single:small"), makespan(2, "single:large"));
    assert_ne!(makespan(0, "single:small"), makespan(0, "single:large"));
    assert_eq!(makespan(0, "single:large"), makespan(2, "single:large"));
}

/// The rates of a parameter that rails have each for itself are not those of the machine.
#[test]
fn sensitivity_to_what_is_not_used() {
    let folder = Folder::new("rails-sensitivity");
    machine(&folder, [ETHERNET, INFINIBAND]);
    let ended = folder
        .heddle("run pattern:bulk-reply --ranks 2 --machine machine.toml --sensitivity loggops.L");
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("the model rails does not use loggops.L"), "{}", ended.stderr);
}

/// A ladder has the rails for its finest model; a model that is asked for takes their place.
#[test]
fn other_models_on_a_machine_with_rails() {
    let folder = Folder::new("rails-ladder");
    machine(&folder, [ETHERNET, ETHERNET]);
    let ended = folder.heddle(
        "ladder pattern:bulk-reply --ranks 2 --ways 8 --size 10000B --machine machine.toml --over \
         rails.policy=single:a,vft",
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("rails"), "{}", ended.stdout);
    let ended = folder.heddle(
        "run pattern:bulk-reply --ranks 2 --machine machine.toml --network loggops --set \
         loggops.L=1us --set loggops.o=1us --set loggops.g=0ns",
    );
    assert!(ended.stdout.contains("makespan        6 us"), "{}", ended.stdout);
    assert!(ended.stdout.contains("rail.a, rail.b"), "{}", ended.stdout);
    // A topology chooses a model, too.
    let ended = folder
        .heddle("run pattern:bulk-reply --ranks 2 --machine machine.toml --topology star:hosts=2");
    assert!(ended.stdout.contains("rail.a, rail.b"), "{}", ended.stdout);
}

/// Of equal rails the first of the file takes a message, whatever it is called, and of the manifest
/// as well.
#[test]
fn order_of_the_file() {
    let folder = Folder::new("rails-order");
    folder.write("machine.toml", &format!("[rail.z]\n{ETHERNET}\n[rail.a]\n{ETHERNET}\n"));
    let order = |command: &str| {
        let shown = folder.heddle(&format!("{command} --print-config")).stdout;
        let place = |name| shown.find(&format!("\n[rail.{name}]")).expect("a rail");
        place("z") < place("a")
    };
    assert!(order("run pattern:bulk-reply --ranks 2 --machine machine.toml"));
    folder.heddle("run pattern:bulk-reply --ranks 2 --machine machine.toml -o out");
    assert!(order("run out/manifest.json"));
}

/// Settings of the command line that the policy does not use are remarked.
#[test]
fn without_effect() {
    let folder = Folder::new("rails-effect");
    machine(&folder, [ETHERNET, INFINIBAND]);
    let run = "run pattern:bulk-reply --ranks 2 --machine machine.toml --set";
    let warned = |setting: &str, about: &str| {
        let ended = folder.heddle(&format!("{run} {setting}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stderr.contains(about)
    };
    assert!(warned("rails.whole=1kB", "rails.whole has no effect"));
    assert!(!warned("rails.whole=1kB --set rails.stripes=equal", "no effect"));
    assert!(warned("rails.notice=true --set rails.policy=wfq", "rails.notice has no effect"));
    assert!(!warned("rails.notice=true", "no effect"));
    assert!(warned("rail.a.weight=3", "rail.a.weight has no effect"));
    assert!(!warned("rail.a.weight=3 --set rails.policy=weighted", "no effect"));
    // Large messages take one rail, unless they are split or the user has said that they are not.
    let large = "each large message takes one rail";
    let remarked = |settings: &str| {
        folder.heddle(&format!("{run} workload.size=1MiB {settings}")).stdout.contains(large)
    };
    assert!(remarked(""));
    for settings in ["rails.stripes=water-filling", "rails.stripes=none", "rails.policy=single:a"] {
        assert!(!remarked(&format!("--set {settings}")), "{settings}");
    }
    // Overheads that nobody set are named with their rail.
    let star = "topology = \"star:hosts=2\"";
    folder.write("machine.toml", &format!("[rail.a]\n{star}\n[rail.b]\n{star}\n"));
    let ended = folder.heddle("run pattern:bulk-reply --ranks 2 --machine machine.toml");
    assert!(ended.stdout.contains("overhead 78 % (rail.a.loggops.o"), "{}", ended.stdout);
}

/// Each mistake is told with its place and what was expected.
#[test]
fn mistakes() {
    let folder = Folder::new("rails-mistakes");
    let good = format!("[rail.a]\n{ETHERNET}\n[rail.b]\n{INFINIBAND}\n");
    let cases = [
        ("[rail]\nweight = 2\n", "a rail is a table, found `weight`, which is the number 2"),
        ("[rail.\"a b\"]\n", "consists of letters, digits, `-` and `_`, found `a b`"),
        ("[rail.c]\nmodle = \"loggops\"\n", "did you mean `model`?"),
        ("[rail.c]\nL = \"1 us\"\n", "did you mean `loggops.L`?"),
        ("[rail.c]\nloggops.S = \"1 kB\"\n", "all rails have it in common"),
        ("[rail.c]\nmodel = \"flow\"\n", "the model flow is no rail"),
        ("[rail.c]\n", "the rail `c` has no L, o, g, G"),
        ("[rail.c]\nmodel = \"loggops\"\nloggops.L = \"1 us\"\n", "the rail `c` has no o, g, G"),
        ("[rail.c]\nloggops.L = \"0 ns\"\n", "a rail needs a latency L of more than zero"),
        ("[rail.c]\ntopology = \"star:hosts=4\"\nloggops.g = \"1 us\"\n", "spaces messages itself"),
        ("[rail.c]\nhosts = \"0-x\"\n", "expected numbers of hosts such as `0-7,12`"),
        ("[rail.c]\nmtu = \"2 KiB\"\n", "`network.mtu` is not used by the model loggops"),
        ("[rail.c]\nhosts = \"5-3\"\n", "expected numbers of hosts such as `0-7,12`"),
        ("[rail.c]\nrecover-at = \"1 ms\"\n", "a rail recovers after it has failed"),
        ("[rail.c]\nfail-at = \"2 ms\"\nrecover-at = \"2 ms\"\n", "a rail recovers after"),
        ("[rail.c]\ndegrade-to = 0.5\n", "the rail does not become slower"),
        (
            "[rail.c]\ntopology = \"star:hosts=4\"\ndegrade-at = \"1 ms\"\n",
            "only a rail of the model loggops loses bandwidth",
        ),
        ("[rails]\npolicy = \"vtf\"\n", "did you mean `vft`?"),
        ("[rails]\npolicy = \"single:d\"\n", "unknown policy `single:d`"),
        ("[rails]\nstripes = \"equals\"\n", "did you mean \"equal\"?"),
    ];
    for (text, expected) in cases {
        folder.write("machine.toml", &format!("{good}{text}"));
        let ended = folder.heddle("run pattern:bulk-reply --ranks 2 --machine machine.toml");
        assert_eq!(ended.code, 1, "{text}: {}", ended.stdout);
        assert!(ended.stderr.contains(expected), "{text}: {}", ended.stderr);
        assert!(ended.stderr.contains("machine.toml:"), "{text}: {}", ended.stderr);
    }
    folder.write("machine.toml", &format!("[rail.a]\n{ETHERNET}\nfail-at = \"1 ms\"\n"));
    let ended = folder.heddle("run pattern:bulk-reply --ranks 2 --machine machine.toml");
    assert!(ended.stderr.contains("there is no rail that all hosts are on"), "{}", ended.stderr);
    assert!(ended.stderr.contains("machine.toml:4:11"), "{}", ended.stderr);
    folder.write("machine.toml", &good);
    let nics = "num_ranks 2\nrank 0 { send 1b to 1 nic 1 }\nrank 1 { recv 1b from 0 }";
    folder.write("nics.goal", nics);
    let ended = folder.heddle("run nics.goal --machine machine.toml");
    assert!(ended.stderr.contains("chooses among interfaces itself"), "{}", ended.stderr);
    let ended = folder.heddle("run pattern:bulk-reply --machine machine.toml --set rail.a.x=1");
    assert!(ended.stderr.contains("unknown key `x` of a rail"), "{}", ended.stderr);
    folder.write("named.toml", &format!("[rail.ethernet]\n{ETHERNET}\n"));
    let ended = folder
        .heddle("run pattern:bulk-reply --machine named.toml --set rail.ethernt.loggops.L=9us");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    let said = "there is no rail `ethernt`\n  help: did you mean `ethernet`?";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    let ended = folder.heddle(
        "run pattern:bulk-reply --set rails.policy=vft --network infiniband --topology \
         star:hosts=8",
    );
    assert!(ended.stderr.contains("`rails.policy` is not used"), "{}", ended.stderr);
}

/// A rail that all ranks' hosts are on is enough; other hosts need not be.
#[test]
fn hosts_of_ranks_have_a_rail() {
    let folder = Folder::new("rails-hosts");
    folder.write("machine.toml", &format!("[rail.a]\n{ETHERNET}\nhosts = \"0-3\"\n"));
    let run = "run pattern:bulk-reply --machine machine.toml --ranks";
    assert_eq!(folder.heddle(&format!("{run} 4")).code, 0);
    let ended = folder.heddle(&format!("{run} 5"));
    let expected = "there is no rail that the hosts of all ranks are on";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(ended.stderr.contains("machine.toml:4:9"), "{}", ended.stderr);
}
