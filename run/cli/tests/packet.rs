//! The model `packet` through the command. Times are derived by hand.

mod common;

use common::Folder;

/// BookSim's router on a chain of three: a message of one flit takes 5 R + 2 cycles of 1 ns for R
/// routers, so 17 ns from end to end; each setting below adds what its comment says.
#[test]
fn settings_change_what_they_say() {
    let folder = Folder::new("packet-settings");
    folder.write(
        "one.goal",
        "num_ranks 3\nrank 0 {\nl1: send 8b to 2 tag 0\n}\nrank 1 {\n}\nrank 2 {\nl1: recv 8b from \
         0 tag 0\n}\n",
    );
    let cases = [
        ("", 17_000),
        // Three routers with a further cycle each.
        ("--set network.route-delay=2cycles", 20_000),
        ("--set network.vc-allocation-delay=2ns", 20_000),
        ("--set network.switch-allocation-delay=1500ps", 20_000),
        ("--set network.traversal-delay=2ns", 20_000),
        ("--set network.injection-delay=3ns", 19_000),
        // Four cables.
        ("--set network.cable=10ns", 57_000),
        // Stages of half a cycle: three routers save two cycles each.
        ("--set network.speed-up=2", 11_000),
        // Flits of 4 bytes take 0.5 ns on each of four links, as do twelve stages; a second flit
        // follows, and the source takes 1 ns.
        ("--set network.flit=4B", 9_500),
        // A flit of 8 bytes takes 2, 4 and 0.5 ns in the parts of a host, at both ends; on the two
        // links of hosts it takes 4 ns instead of 1.
        (
            "--set network.memory-rate=4GB/s --set network.dma-rate=2GB/s --set \
             network.hca-rate=16GB/s",
            17_000 + 2 * 6_500 + 2 * 3_000,
        ),
        // The header makes it two flits.
        ("--set network.header=8B", 18_000),
    ];
    for (settings, expected) in cases {
        let command = format!(
            "run one.goal --network packet --preset packet-booksim --topology mesh:dims=3x1 --set \
             loggops.o=0ns --set loggops.g=0ns --format json {settings}"
        );
        let ended = folder.heddle(&command);
        assert_eq!(ended.code, 0, "{settings}: {}", ended.stderr);
        assert_eq!(ended.json()["makespan_ps"], expected, "{settings}");
    }
}

/// Each mistake is told with its place.
// Long because it lists what goes wrong.
#[test]
fn mistakes() {
    let folder = Folder::new("packet-mistakes");
    let cases = [
        ("--set network.buffer=3", "network.buffer=3"),
        ("--set network.buffer=3", "cannot hold a packet of 4"),
        ("--set network.channels=1", "the routing needs 2"),
        ("--set network.vc-allocator=isilp", "did you mean \"islip\"?"),
        ("--set network.arbitration=oldset", "did you mean \"oldest\"?"),
        ("--set network.vc-allocator=wavefron", "did you mean \"wavefront\"?"),
        ("--set network.memory-rate=1kB/s", "network.memory-rate=1kB/s"),
        ("--set network.memory-rate=1kB/s", "it must be at most 16 us"),
        ("--set network.switching=cutthrough", "did you mean \"cut-through\"?"),
        ("--set network.route-delay=2ticks", "or cycles such as `2 cycles`"),
        ("--set network.vc-allocation-delay=0ns", "an allocation takes a cycle at least"),
        ("--set network.ordered=false", "must not overtake"),
        ("--preset infiniband-edr", "of another model than packet"),
        ("--set network.sink=1ns", "is not used by the model packet"),
        ("--set network.ipr=1.5", "network.ipr=1.5"),
        ("--set network.lbr=1000", "network.lbr=1000"),
        ("--set network.lbr=1000", "never has room for 1000 packets of 4 flits"),
        ("--set network.congested-after=1us", "network.congested-after=1us: congested-after arms"),
        ("--set network.threshold=1.5", "network.threshold=1.5"),
        ("--set network.threshold-update=1us", "the pace of threshold, which is not set"),
        (
            "--set network.threshold=0.5 --set network.threshold-update=1ps",
            "network.threshold-update=1ps: threshold-update is 1 ps; it must be a cycle",
        ),
        ("--set network.injector=dirction", "did you mean \"direction\"?"),
        ("--set network.ejection-ports=0", "network.ejection-ports=0"),
        (
            "--set network.ejection-ports=64 --set network.channels=8",
            "network.ejection-ports=64: with several links for each host",
        ),
        ("--routing dal", "needs a HyperX or a complete graph"),
        ("--routing dimension-adaptive:lanes=1", "needs lanes"),
        ("--routing up-dwn", "did you mean"),
        ("--routing minimal:dateline=whole", "belongs to dimension-order"),
        ("--routing minimal:halves=dimension-order", "belongs to valiant"),
        ("--routing adaptive:lanes=1", "needs lanes for its escape"),
        ("--routing adaptive --set network.channels=2", "the routing needs 3"),
        (
            "--routing minimal:bubble",
            "belongs to dimension-order and direction-order, and to adaptive",
        ),
        ("--routing adaptive:bubble --set network.buffer=7", "network.buffer=7: a buffer of 7"),
        ("--routing adaptive:bubble=globl", "did you mean `global`?"),
        (
            "--routing minimal:bubble=global",
            "the option `bubble=global` belongs to dimension-order",
        ),
        (
            "--routing adaptive:bubble --set network.switching=wormhole",
            "switching=wormhole: bubble",
        ),
        ("--set network.host-link=1kb/s", "network.host-link=1kb/s: a flit takes"),
    ];
    for (settings, expected) in cases {
        let run = "run pattern:dissemination --ranks 4 --network packet --topology torus:dims=5x5";
        let command = format!("{run} {settings}");
        let ended = folder.heddle(&command);
        assert_eq!(ended.code, 2, "{settings}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{settings}: {}", ended.stderr);
    }
    let other = "run pattern:dissemination --ranks 4 --topology star:hosts=4 --network infiniband";
    let ended = folder.heddle(&format!("{other} --preset packet-default"));
    assert!(ended.stderr.contains("of another model than infiniband"), "{}", ended.stderr);
    for model in ["infiniband", "flow"] {
        let run = "run pattern:dissemination --ranks 4 --topology torus:dims=3x3";
        let ended = folder.heddle(&format!("{run} --routing adaptive --network {model}"));
        let expected = "an adaptive routing needs routers that choose among outputs";
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        let ended =
            folder.heddle(&format!("{run} --routing dimension-order:bubble --network {model}"));
        let expected = "bubble flow control needs routers that keep room in rings";
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}

/// Traffic with all its tables, and saturation. On a ring of 8 with two lanes of a channel each,
/// tornado moves 3 further: three flows share each link upwards, of one lane near the wrap-around
/// link, where a channel passes a packet of a flit in three cycles: at most 1/9 is accepted.
#[test]
fn traffic_tables_and_saturation() {
    let folder = Folder::new("packet-traffic");
    let ring = "traffic:tornado --network packet --preset packet-booksim --topology \
                ring:switches=8 --routing dimension-order:dateline=whole --length 8B --set \
                traffic.arrivals=bernoulli";
    let json = folder.heddle(&format!("run {ring} --saturation --format json")).json();
    let found = json["saturation"]["between"][0].as_f64().expect("a load");
    assert!((0.07..=0.112).contains(&found), "{json}");
    let ended = folder.heddle(&format!("run {ring} --load 0.05 -q -o out"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let read = |name: &str| String::from_utf8(folder.read(name)).expect("text");
    // Three links between routers and two of hosts.
    assert!(read("out/hops.csv").starts_with("links,messages\n5,"), "{}", read("out/hops.csv"));
    assert!(read("out/lanes.csv").lines().count() > 8);
    assert_eq!(read("out/links.svg").matches("<line").count(), 16);
}

/// On a ring of 16 tornado moves 7 further. By round robin what hosts get beyond saturation adds up
/// to one link, 1/16 of what they offer; by age, as the default router has it, it does not fall.
#[test]
fn loads_beyond_saturation() {
    let folder = Folder::new("packet-beyond");
    let ring = "run traffic:tornado --network packet --topology ring:switches=16 --length 256B \
                --load 0.1:0.4:0.3 --set traffic.batches=20";
    let shown = |rule: &str| folder.heddle(&format!("{ring}{rule}")).stdout;
    let falls = "accepted load falls beyond saturation, from 0.1";
    let robin = shown(" --set network.arbitration=round-robin");
    assert!(robin.contains(falls) && robin.contains(" to 0.06"), "{robin}");
    assert!(robin.contains("network.arbitration = \"age\""), "{robin}");
    let usual = shown("");
    assert!(usual.contains("  saturated") && !usual.contains("falls"), "{usual}");
}

/// Programs have the tables of the network over either model with switches: all messages between
/// hosts of a star cross two links.
#[test]
fn tables_of_programs() {
    let folder = Folder::new("packet-tables");
    for model in ["packet", "infiniband"] {
        let run = "run pattern:scatter --ranks 4 --size 1kB --topology star:hosts=4 --tables \
                   lanes,hops,links -q";
        let ended = folder.heddle(&format!("{run} --network {model} -o {model}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let hops = String::from_utf8(folder.read(&format!("{model}/hops.csv"))).expect("text");
        assert!(hops.starts_with("links,messages\n2,") && hops.lines().count() == 2, "{hops}");
    }
}

/// A message of 8 bytes, which is one flit, to the next host of NSIM's machines, and the overheads
/// of 200 ns at both ends. Torus: three links of a flit's 2 ns and 100 ns, two routers of 3 * 2 and
/// 140 ns, and 1.6 ns in memory and DMA engine, each at both ends. Fat tree: one switch of 3 * 10
/// and 140 ns; two links of 200 ns, in which a flit takes the 20 ns that the adapter needs; and 20,
/// 4 and 4 ns in the parts of both hosts.
#[test]
fn machines_of_nsim() {
    let folder = Folder::new("packet-nsim");
    folder.write(
        "one.goal",
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n",
    );
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    let torus = 400_000 + 3 * 102_000 + 2 * 146_000 + 4 * 1_600;
    let cases = [
        ("nsim-torus-16x16x16", torus),
        ("nsim-torus-64x32x32", torus),
        ("nsim-fat-tree", 400_000 + 2 * 220_000 + 170_000 + 2 * 28_000),
    ];
    for (machine, expected) in cases {
        let run = format!("run one.goal --machine {machines}/{machine}.toml --format json");
        let ended = folder.heddle(&run);
        assert_eq!(ended.code, 0, "{machine}: {}", ended.stderr);
        assert_eq!(ended.json()["makespan_ps"], expected, "{machine}");
    }
    let run = "run pattern:bruck-alltoall --ranks 64 --size 4B --format json --machine";
    let ended = folder.heddle(&format!("{run} {machines}/nsim-torus-16x16x16.toml"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// A packet of 16 phits to the next host of FSIN's machines: 25 ns for each link and router, one
/// router in the tree and two else, and 15 more phits.
#[test]
fn machines_of_fsin() {
    let folder = Folder::new("packet-fsin");
    folder.write(
        "one.goal",
        "num_ranks 2\nrank 0 {\nl1: send 64b to 1 tag 0\n}\n\
         rank 1 {\nl1: recv 64b from 0 tag 0\n}\n",
    );
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    for (machine, routers) in
        [("ring-64", 2), ("torus-8x8", 2), ("torus-16x16", 2), ("tree-4x3", 1)]
    {
        let run = format!("run one.goal --machine {machines}/fsin-{machine}.toml --format json");
        let ended = folder.heddle(&run);
        assert_eq!(ended.code, 0, "{machine}: {}", ended.stderr);
        let expected = 25_000 * (routers + 1 + routers + 15);
        assert_eq!(ended.json()["makespan_ps"], expected, "{machine}");
    }
}

/// Injection control lets tori carry a tenth more at least, and what they carry without is within
/// 15 % of what FSIN says: means of five seeds.
#[test]
#[ignore = "takes long"]
fn injection_control_gains() {
    let folder = Folder::new("packet-fsin-traffic");
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines");
    let accepted = |torus: &str, rule: &str| {
        let machine = format!("{machines}/fsin-torus-{torus}.toml");
        let run = format!("run traffic:uniform --length 64B --load 1.0 --machine {machine}");
        let points = (1..=5).map(|seed| {
            let ended = folder.heddle(&format!("{run} --format json --seed {seed} {rule}"));
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            ended.json()["points"][0]["accepted"]["mean"].as_f64().expect("a number")
        });
        points.sum::<f64>() / 5.0
    };
    let (ipr, lbr) = ("--set network.ipr=1", "--set network.lbr=3");
    for (torus, fsin, rules) in [("8x8", 0.82, &[ipr][..]), ("16x16", 0.375, &[ipr, lbr])] {
        let base = accepted(torus, "");
        assert!((base / fsin - 1.0).abs() < 0.15, "{torus}: {base}");
        for rule in rules {
            let with = accepted(torus, rule);
            assert!(with > 1.1 * base, "{torus} {rule}: {with} for {base}");
        }
    }
}

/// Two charts, each with a curve and its band; a program has none.
#[test]
fn traffic_is_plotted() {
    let folder = Folder::new("packet-plot");
    let run = "run traffic:uniform --network packet --topology torus:dims=4x4 --load 0.1:0.3:0.1";
    let ended = folder.heddle(&format!("{run} -q --plot curve.svg"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let svg = String::from_utf8(folder.read("curve.svg")).expect("text");
    assert_eq!(
        (svg.matches("<polyline").count(), svg.matches("<polygon").count()),
        (2, 2),
        "{svg}"
    );
    for text in ["traffic:uniform", "mean latency, us", "accepted load", "offered load"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    // Two more curves of runs before.
    for (name, routing) in [("straight", "dimension-order"), ("free", "adaptive")] {
        let ended = folder.heddle(&format!("{run} -q --routing {routing} -o {name}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let all = "-q --plot three.svg --plot-with straight --plot-with free";
    let ended = folder.heddle(&format!("{run} {all}"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let svg = String::from_utf8(folder.read("three.svg")).expect("text");
    assert_eq!(svg.matches("<polygon").count(), 6, "{svg}");
    assert!(svg.contains("straight") && svg.contains("free"), "{svg}");
    let ended = folder.heddle(&format!("{run} -q --plot none.svg --plot-with nowhere"));
    assert!(ended.code == 1 && ended.stderr.contains("nowhere"), "{}", ended.stderr);
    let ended = folder.heddle("run pattern:dissemination --ranks 4 --plot curve.svg");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("--plot draws the curves of traffic"), "{}", ended.stderr);
}

/// Packets that nothing delays are foretold, back to back too: a signal for the head and one for
/// the credits on each of four links. Routers twice as fast as links send the flits that have come
/// before the head goes on in a row, and the others as they come: a signal more at each of three.
#[test]
fn packets_in_a_row_are_foretold() {
    let folder = Folder::new("packet-foretold");
    let run = "run send.goal --network packet --topology chain:switches=3 --format json \
               --set network.mtu=256B --set network.flit=64B";
    for packets in [1, 2, 8] {
        let size = 256 * packets;
        folder.write(
            "send.goal",
            &format!(
                "num_ranks 3\nrank 0 {{\nsend {size}b to 2\n}}\nrank 1 {{\n}}\n\
                 rank 2 {{\nrecv {size}b from 0\n}}\n"
            ),
        );
        for (speed_up, signals) in [(1, 8), (2, 11), (4, 11)] {
            let ended = folder.heddle(&format!("{run} --set network.speed-up={speed_up}"));
            assert_eq!(ended.json()["signals"], signals * packets, "{packets}, {speed_up}");
        }
    }
}

/// A host that takes in by several links sustains as much more, and the bound says so: eight hosts
/// send to one.
#[test]
fn bounds_count_ejection_ports() {
    let folder = Folder::new("packet-ejection");
    for (ports, bound) in [(1, 0.125), (2, 0.25), (4, 0.5)] {
        let run = "run traffic:incast --network packet --topology star:hosts=9 --length 256B";
        let json = folder.heddle(&format!(
            "{run} --load 0.1 --set network.ejection-ports={ports} --format json"
        ));
        assert_eq!(json.json()["points"][0]["bound"], bound, "{ports}");
    }
}
