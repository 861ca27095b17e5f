//! `heddle run` over networks with switches.

mod common;

use common::Folder;
use serde_json::{Value, json};

const STAR: &str = "--network infiniband --topology star:hosts=2 --preset infiniband-ddr-simula \
                    --set loggops.o=0ns --set loggops.g=0ns --set network.cable=20ns --set \
                    network.latency-in=30ns --set network.latency-out=31ns --set network.pause=0ns \
                    --set network.update=0ns --set network.padded=true";

fn makespan(folder: &Folder, arguments: &str) -> u64 {
    let json = folder.heddle(&format!("run {arguments} --format json")).json();
    json["makespan_ps"].as_u64().expect("a number")
}

/// One message of 24 bytes, with 20 of headers one flit of 44: 20 + 61 + 20 ns to the other host,
/// and 33.6 * 44 / 64 = 23.1 ns to its memory. With o = 1 us on either side and injection at its
/// end 2 us more.
#[test]
fn one_flit() {
    let folder = Folder::new("network-one-flit");
    folder.write("app.goal", "num_ranks 2\nrank 0 { send 24b to 1 }\nrank 1 { recv 24b from 0 }\n");
    assert_eq!(makespan(&folder, &format!("app.goal {STAR}")), 124_100);
    let slow = STAR.replace("loggops.o=0ns", "loggops.o=1us");
    assert_eq!(makespan(&folder, &format!("app.goal {slow}")), 2_124_100);
    // A cable of 100 ns in place of 20, twice.
    let long = format!("app.goal {STAR} --set network.cable=100ns");
    assert_eq!(makespan(&folder, &long), 284_100);
}

/// A message of 1004 bytes, with its headers 16 flits, through a crossbar that takes 50 ns for
/// each: the last of them is 15 times that behind the first, and taken in 33.6 ns. With the links'
/// 32 ns the host's 33.6 are what counts.
#[test]
fn a_slow_crossbar() {
    let folder = Folder::new("network-crossbar");
    folder.write(
        "app.goal",
        "num_ranks 2\nrank 0 { send 1004b to 1 }\nrank 1 { recv 1004b from 0 }\n",
    );
    let with = |more: &str| makespan(&folder, &format!("app.goal {STAR} {more}"));
    assert_eq!(with("--set network.crossbar=50ns"), 101_000 + 15 * 50_000 + 33_600);
    assert_eq!(with("--set network.crossbar=0ns"), 101_000 + 16 * 33_600);
}

/// Ranks 1, 2 and 3 have service levels 0, 1 and 2, and lanes with weights of 1, 2 and 4 packets of
/// 34 flits into the link of rank 0. Each sends 140 packets there: the last of rank 3 is packet 245
/// of all, that of rank 2 then number 350, that of rank 1 number 420.
#[test]
fn weights_of_levels() {
    let folder = Folder::new("network-levels");
    let size = 140 * 2156;
    let sends = [1, 2, 3].map(|rank| format!("rank {rank} {{ send {size}b to 0 }}\n")).concat();
    let receives = [1, 2, 3].map(|rank| format!("recv {size}b from {rank}\n")).concat();
    folder.write("app.goal", &format!("num_ranks 4\n{sends}rank 0 {{\n{receives}}}\n"));
    let star = STAR.replace("hosts=2", "hosts=4");
    let run = format!(
        "run app.goal {star} --set loggops.S=1MB --set network.sink=32ns --set \
         network.levels=0,0,1,2 --set network.arbiter.low=0:34,1:68,2:136 --tables messages -q -o \
         out"
    );
    assert_eq!(folder.heddle(&run).stderr, "");
    let table = String::from_utf8(folder.read("out/messages.csv")).expect("a table");
    let packets = |source: u64| -> u64 {
        let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
        let row = rows.into_iter().find(|row| row[1] == source.to_string()).expect("a message");
        row[7].parse::<u64>().expect("a time") / (34 * 32_000)
    };
    for (source, expected) in [(3, 245), (2, 350), (1, 420)] {
        assert!(packets(source).abs_diff(expected) <= 4, "{source}: {}", packets(source));
    }
    let wrong = folder.heddle(&format!("run app.goal {star} --set network.levels=0,15"));
    assert!(wrong.stderr.contains("found `15`"), "{}", wrong.stderr);
}

/// A link of 20 m takes 100 ns, unless it has a delay.
#[test]
fn lengths_of_links() {
    let folder = Folder::new("network-length");
    folder.write("app.goal", "num_ranks 2\nrank 0 { send 24b to 1 }\nrank 1 { recv 24b from 0 }\n");
    let link = |more: &str| {
        format!(
            "[hosts]\na = 1\nb = 1\n[switches]\ns = 2\n[[link]]\nends = [\"a\", \"s\"]\n\
             length = \"20 m\"\n{more}\n[[link]]\nends = [\"b\", \"s\"]\n"
        )
    };
    let star = STAR.replace("star:hosts=2", "net.toml");
    folder.write("net.toml", &link(""));
    assert_eq!(makespan(&folder, &format!("app.goal {star}")), 124_100 + 80_000);
    folder.write("net.toml", &link("delay = \"30 ns\""));
    assert_eq!(makespan(&folder, &format!("app.goal {star}")), 124_100 + 10_000);
}

/// 40 senders of one short message each share the link to rank 0: its sink takes a flit of 44 bytes
/// per 23.1 ns, so the last is done 39 of these after the first.
#[test]
fn incast() {
    let folder = Folder::new("network-incast");
    let command = "pattern:gather --ranks 41 --size 24B --network infiniband --topology \
                   star:hosts=41 --preset infiniband-ddr-simula --set loggops.o=0ns --set \
                   loggops.g=0ns --set network.pause=0ns --set network.update=0ns --set \
                   network.padded=true";
    let all = makespan(&folder, command);
    // The link is slower than that for packets of one flit: 32 ns each.
    assert_eq!(all, 124_100 + 39 * 32_000);
}

/// Tables do not depend on threads, and a manifest runs again.
#[test]
fn manifest() {
    let folder = Folder::new("network-manifest");
    folder.write("m.toml", "[network]\nmodel = \"infiniband\"\ntopology = \"torus:dims=4x4\"\n");
    let run = "run pattern:linear-alltoall --ranks 16 --size 9KiB --machine m.toml --quiet \
               --placement random --tables ranks,messages,lanes,flows,hops,links";
    assert_eq!(folder.heddle(&format!("{run} -o one")).code, 0);
    assert_eq!(folder.heddle(&format!("{run} -o two --threads 2")).code, 0);
    assert_eq!(folder.heddle("run one/manifest.json --quiet -o again").code, 0);
    let network = ["lanes.csv", "flows.csv", "hops.csv", "links.svg"];
    for file in ["ranks.csv", "messages.csv", "summary.json"].into_iter().chain(network) {
        assert_eq!(folder.read(&format!("one/{file}")), folder.read(&format!("two/{file}")));
        assert_eq!(folder.read(&format!("one/{file}")), folder.read(&format!("again/{file}")));
    }
}

/// Dissemination among 8 ranks at one switch: 3 rounds of 8 messages over two links. Each is a
/// packet of one flit, and without acknowledgements nothing else crosses the 8 links: 24 flits from
/// hosts, 24 to them. 10 intervals of 1 us are 10 us.
#[test]
fn tables_of_the_network() {
    let folder = Folder::new("network-tables");
    let run = "run pattern:dissemination --ranks 8 --network infiniband --preset \
               infiniband-ddr-simula --topology star:hosts=8 --set network.acknowledge=false --set \
               output.interval=1us --quiet -o out";
    assert_eq!(folder.heddle(&format!("{run} --tables hops,lanes")).stderr, "");
    assert_eq!(folder.read("out/hops.csv"), b"links,messages\n2,24\n");
    let lanes = String::from_utf8(folder.read("out/lanes.csv")).expect("a table");
    let cell = |row: &str, place: usize| -> u64 {
        row.split(',').nth(place).expect("a cell").parse().expect("a number")
    };
    let flits = |of: fn(&str) -> bool| -> u64 {
        lanes.lines().skip(1).filter(|row| of(row)).map(|row| cell(row, 4)).sum()
    };
    assert_eq!((flits(|row| row.starts_with('h')), flits(|_| true)), (24, 48));
    assert!(lanes.lines().skip(1).all(|row| cell(row, 3) % 1_000_000 == 0));
    assert_eq!(
        folder.names("out"),
        ["hops.csv", "lanes.csv", "manifest.json", "performance.json", "summary.json"]
    );
    let ended = folder.heddle("run pattern:gather -o none --tables links");
    assert!(
        ended.stderr.contains("tables of the network need a network with switches"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.code, 2);
}

/// A topology as a table of its own is the same as in one text.
#[test]
fn a_topology_as_a_table() {
    let folder = Folder::new("network-inline");
    let machine =
        |topology: &str| format!("[network]\nmodel = \"infiniband\"\ntopology = {topology}\n");
    folder.write("m.toml", &machine("{ kind = \"torus\", dims = [2, 3], hosts = 2 }"));
    let printed = folder.heddle("run pattern:gather --machine m.toml --print-config").stdout;
    assert!(printed.contains("topology = \"torus:dims=2x3,hosts=2\""), "{printed}");
    for (topology, wanted) in [
        ("{ dims = [2, 3] }", "m.toml:3:12"),
        (
            "{ kind = \"torus\", dims = true }",
            "`dims`: expected a number, a text or a list of numbers, found",
        ),
        ("{ kind = \"tours\", dims = 4 }", "torus"),
    ] {
        folder.write("m.toml", &machine(topology));
        let ended = folder.heddle("run pattern:gather --machine m.toml");
        assert!(ended.stderr.contains(wanted), "{topology}: {}", ended.stderr);
        assert_eq!(ended.code, 1);
    }
}

/// `heddle topology` describes what a machine has between its hosts: a topology with its routing,
/// or a platform, in TOML as in XML.
#[test]
fn machines() {
    let folder = Folder::new("network-machines");
    let machine =
        "[network]\nmodel = \"infiniband\"\ntopology = \"torus:dims=4x4\"\nrouting = \"up-down\"\n";
    folder.write("m.toml", machine);
    let told = |arguments: &str| {
        let ended = folder.heddle(&format!("topology {arguments}"));
        assert_eq!(ended.code, 0, "{arguments}: {}", ended.stderr);
        ended.stdout
    };
    assert_eq!(told("m.toml"), told("torus:dims=4x4 --routing up-down"));
    let ordered = "--routing dimension-order";
    assert_eq!(told(&format!("m.toml {ordered}")), told(&format!("torus:dims=4x4 {ordered}")));
    let graphene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines/graphene");
    assert_eq!(told(&format!("{graphene}.toml")), told(&format!("{graphene}.xml")));
    folder.write(
        "p.toml",
        "[platform.zone]\nid = \"z\"\nrouting = \"Full\"\n[[platform.zone.host]]\nid = \"a\"\n\
                            speed = \"1 Gf\"\n[[platform.zone.route]]\nsrc = \"a\"\ndst = \"b\"\n\
                            links = []\n",
    );
    let ended = folder.heddle("topology p.toml");
    assert!(
        ended.stderr.contains("line 7, column 1: there is no host or router `b`"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.code, 1);
}

/// Messages of runs that cannot take place: the arguments, and a part of the message.
// Long because it lists them.
#[test]
fn mistakes() {
    let folder = Folder::new("network-mistakes");
    folder.write("dangling.csv", "a,1,s,1\nb,1,s\n");
    folder.write("places.txt", "0 h0\n1 h1\n1 h2\n");
    folder.write("work.toml", "[workload]\nsource = \"pattern:gather\"\n");
    folder.write("routes.txt", "0: 255 0\n");
    let cases = [
        ("--network infiniband", "needs a topology"),
        ("--network infiniband --topology star:host=8", "did you mean"),
        ("--network infiniband --topology dangling.csv", "line 2"),
        ("--network infiniband --topology missing.csv", "missing.csv"),
        ("--network infiniband --topology star:hosts=8 --routing dmodk", "unknown routing"),
        (
            "--network infiniband --topology star:hosts=8 --set network.tables=routes.txt",
            "routes.txt",
        ),
        ("--network infiniband --topology star:hosts=8 --set network.link=4xABC", "no rate"),
        (
            "--network infiniband --topology star:hosts=8 --set network.buffer=3",
            "less than one packet",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set loggops.L=1us",
            "is not used by the model infiniband",
        ),
        ("--network infiniband --topology star:hosts=8 --set network.fail=nobody", "nobody"),
        (
            "--network infiniband --topology star:hosts=8 --placement file --set \
             placement.file=places.txt",
            "placed twice",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.congestion.limit=3",
            "needs congestion control",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.choice=message",
            "must not overtake",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.pause=500ns",
            "set network.pause-period too",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.arbiter.low=0-1",
            "expected `LANE:WEIGHT`, up to 14 and 255, found `0-1`",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.arbiter.high=1:9",
            "--set network.arbiter.high=1:9: the route set uses 1 lanes, but lane 0",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.congestion.control=on \
             --set network.congestion.table=0:1,4:1",
            "found `4:1`",
        ),
        (
            "--network infiniband --topology star:hosts=8 --routing up-down --set \
             network.tables=places.txt",
            "no routes are computed",
        ),
        (
            "--network infiniband --topology star:hosts=8 --set network.buffer=10",
            "--set network.buffer=10: buffer holds 10 flits",
        ),
        ("--machine work.toml", "a machine has no workload"),
        ("--network ethernet", "\"infiniband\""),
    ];
    for (arguments, expected) in cases {
        let ended = folder.heddle(&format!("run pattern:gather --ranks 8 {arguments} -o out"));
        // 2 where an argument is wrong, 1 where a file is.
        assert!([1, 2].contains(&ended.code), "{arguments}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{arguments}: {}", ended.stderr);
        assert!(!folder.path("out").exists(), "{arguments}");
    }
}

/// The machines among the examples.
#[test]
fn examples() {
    let folder = Folder::new("network-examples");
    let root = format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"));
    // A round of dissemination takes 2 o = 600 ns and what the network takes.
    let tree = makespan(
        &folder,
        &format!(
            "pattern:dissemination --ranks 648 --size 180B --machine \
             {root}/machines/fat-tree-648.toml"
        ),
    );
    assert!((6_000_000..12_000_000).contains(&tree), "{tree}");
    // Section 5.2.4 of the thesis: 12.478847 ms.
    let ltest = makespan(
        &folder,
        &format!(
            "{root}/ltest.goal --set workload.time-unit=ps --machine {root}/machines/simula.toml"
        ),
    );
    assert!(ltest.abs_diff(12_478_847_000) < 12_478_847, "{ltest}");
}

/// Section 5.4 of the thesis, traces of a ring and an allreduce: rank 0 ends at 6730955900 ps where
/// messages take nothing, and at 6731069500 ps over H8_S6, later by one message of 4 bytes: 101 ns
/// and 12.6 ns.
#[test]
fn traces() {
    let folder = Folder::new("network-traces");
    let traces = format!("{}/../../validation/traces/ring-allreduce", env!("CARGO_MANIFEST_DIR"));
    let command = format!(
        "run {traces} --set traces.mode=durations --set traces.recorded-on=infiniband-ddr-simula \
         --set loggops.o=0ns --set loggops.g=0ns --network infiniband --topology H8_S6 --preset \
         infiniband-ddr-simula --per-rank --format json"
    );
    assert_eq!(folder.heddle(&command).json()["finish_ps"][0], 6_731_069_500_u64);
}

/// The hosts of a failed switch get no ranks and no traffic, as if all others were listed; whoever
/// names one is told.
#[test]
fn hosts_of_failed_switches() {
    let folder = Folder::new("network-out");
    let others: Vec<_> = (0..16).filter(|host| *host != 5).map(|host| format!("h{host}")).collect();
    let others = others.join(",");
    let on = |network: &str| {
        format!(
            "--network {network} --topology torus:dims=4x4 --set network.fail=s1.1 --format json"
        )
    };
    for network in ["infiniband", "flow"] {
        for placement in ["linear", "round-robin", "random"] {
            let run = format!(
                "run pattern:linear-alltoall --ranks 15 --size 4KiB --placement {placement} {}",
                on(network)
            );
            let makespan =
                |more: &str| folder.heddle(&format!("{run}{more}")).json()["makespan_ps"].clone();
            assert_eq!(
                makespan(""),
                makespan(&format!(" --set placement.hosts={others}")),
                "{run}"
            );
        }
    }
    let traffic = format!("run traffic:uniform --load 0.2 {}", on("infiniband"));
    let measured = folder.heddle(&traffic).json();
    let listed = folder.heddle(&format!("{traffic} --set placement.hosts={others}")).json();
    assert_eq!(measured, listed);
    folder.write("places.txt", "0 h4\n1 h5\n");
    for (more, code, message) in [
        (
            "--set placement.hosts=h4,h5",
            2,
            "--set placement.hosts=h4,h5: host `h5` is out of service",
        ),
        (
            "--placement file --set placement.file=places.txt",
            1,
            "places.txt: rank 1: host `h5` is out of service",
        ),
        ("--set network.fail=switches=100%", 1, "no host is in service"),
    ] {
        for network in ["infiniband", "flow"] {
            let ended = folder
                .heddle(&format!("run pattern:dissemination --ranks 2 {} {more}", on(network)));
            assert_eq!(ended.code, code, "{more}: {}", ended.stderr);
            assert!(ended.stderr.contains(message), "{more}: {}", ended.stderr);
        }
    }
    let shown = folder.heddle("topology torus:dims=4x4 --fail s1.1");
    assert!(shown.stdout.starts_with("hosts            16, 1 of them out of service\n"));
}

/// Ends of ranks in picoseconds.
/// The summary says what is out of service, as text and as JSON. A ring of 5 switches has 5 links
/// between them, and each switch one more, to its host: switch s0 takes 3 links with it, and 1 % of
/// 5 is no link.
#[test]
fn the_summary_says_what_fails() {
    let folder = Folder::new("network-out");
    let nothing = "links=1% takes nothing out of service: it is less than half of one of 5 links \
                   between switches";
    let ring = "--topology ring:switches=5";
    for (fail, expected) in [
        ("s0", "out of service: 1 switch (s0) with 3 links"),
        ("s0,links=0", "out of service: 1 switch (s0) with 3 links"),
        ("links=0", "out of service: nothing"),
        ("links=1%", nothing),
        ("links=0.01", nothing),
        ("links=20%", "out of service: 1 link ("),
        ("switches=1,links=0", "out of service: 1 switch (s"),
    ] {
        for network in ["infiniband", "flow"] {
            let run = format!("run pattern:gather --ranks 2 --network {network} {ring}");
            let ended = folder.heddle(&format!("{run} --fail {fail}"));
            assert_eq!(ended.code, 0, "{fail}: {}", ended.stderr);
            assert!(ended.stdout.contains(expected), "{}", ended.stdout);
            let json = folder.heddle(&format!("{run} --fail {fail} --format json")).json();
            let remarks = json["remarks"].as_array().expect("remarks");
            let is_said =
                |remark: &Value| remark.as_str().is_some_and(|it| it.starts_with(expected));
            assert!(remarks.iter().any(is_said), "{fail}: {remarks:?}");
        }
    }
    let traffic = "run traffic:uniform --network infiniband --load 0.1 --set traffic.batches=10";
    let ended = folder.heddle(&format!("{traffic} {ring} --fail links=1%"));
    assert!(ended.stdout.contains(&format!("note: {nothing}")), "{}", ended.stdout);
    let json = folder.heddle(&format!("{traffic} {ring} --fail s0 --format json")).json();
    assert_eq!(json["remarks"][0], "out of service: 1 switch (s0) with 3 links");
    let ended = folder.heddle("topology ring:switches=5 --fail links=1%");
    assert_eq!((ended.code, ended.stderr), (0, format!("note: {nothing}\n")));
    let ended = folder.heddle("topology ring:switches=5 --fail s0");
    assert!(ended.stdout.contains("\nout of service   1 switch (s0) with 3 links\n"));
    let json = folder.heddle("topology ring:switches=5 --fail s0 --format json").json();
    assert_eq!((&json["switches_out"], &json["links_out"]), (&json!(["s0"]), &json!([])));
}

fn ends(folder: &Folder, arguments: &str) -> Vec<u64> {
    let json = folder.heddle(&format!("run {arguments} --format json --per-rank")).json();
    let ends = json["finish_ps"].as_array().expect("a list").iter();
    ends.map(|end| end.as_u64().expect("a number")).collect()
}

/// A message of one flit of 32 ns leaves its host in that time, if the host does not copy it.
#[test]
fn a_send_is_done_when_its_message_has_left() {
    let folder = Folder::new("network-left");
    folder.write("app.goal", "num_ranks 2\nrank 0 { send 24b to 1 }\nrank 1 { recv 24b from 0 }\n");
    let with = |more: &str| ends(&folder, &format!("app.goal {STAR} {more}"));
    assert_eq!(with(""), [0, 124_100]);
    assert_eq!(with("--set protocol.send-buffer=23B"), [32_000, 124_100]);
    assert_eq!(with("--set protocol.send-done=overhead"), [0, 124_100]);
    // On a wire with G = 6 ns/B, of 24 bytes beyond S 23 leave after the overhead of 1500 ns, and
    // after the match at 4000 ns.
    let wire = |more: &str| ends(&folder, &format!("app.goal --set loggops.S=23B {more}"))[0];
    assert_eq!(wire(""), 4_000_000);
    assert_eq!(wire("--set protocol.send-done=left"), 4_000_000);
    assert_eq!(wire("--set protocol.send-done=left --set loggops.G=1us/B"), 24_500_000);
}

/// Two hosts send 1 MB each into a third over links of 5.12 ns a flit. When the last sender is
/// done, all flits but those that the buffers of two switch ports, of the host and the cables hold
/// have crossed the link into the third; its host receives them o later. By the other rule, they
/// are done while nearly all flits are still at their hosts.
#[test]
fn senders_into_one_sink() {
    let folder = Folder::new("network-sink");
    let text = "num_ranks 3\nrank 0 { send 1000000b to 2 }\nrank 1 { send 1000000b to 2 }\n\
                rank 2 {\nrecv 1000000b from 0\nrecv 1000000b from 1\n}\n";
    folder.write("app.goal", text);
    let star = "app.goal --network infiniband --topology star:hosts=3 --preset infiniband-edr";
    let found = ends(&folder, star);
    let (last, received) = (found[0].max(found[1]), found[2] - 1_500_000);
    let held = 3 * 256 + 128 + 64;
    assert!(last < received && last > received - held * 5_120, "{found:?}");
    // Both get half of the link, packet by packet, and one starts o behind the other.
    assert!(found[0].abs_diff(found[1]) < 2 * 1_500_000, "{found:?}");
    // 244 packets of 4096 bytes and one of 576, with headers 65 and 10 flits.
    let flits: u64 = 2 * (244 * 65 + 10);
    assert!(last > (flits - held) * 5_120, "{found:?}");
    let before = ends(&folder, &format!("{star} --set protocol.send-done=overhead"));
    assert_eq!(before[2], found[2]);
    assert!(before[0].max(before[1]) < 11_000_000, "{before:?}");
}

/// Who contradicts himself is told so.
#[test]
fn what_is_copied_and_when_sends_are_done() {
    let folder = Folder::new("network-send-done");
    folder.write("machine.toml", "[protocol]\nsend-buffer = \"1 KiB\"\n");
    let (star, flow) =
        ("--network infiniband --topology star:hosts=4", "--network flow --topology star:hosts=4");
    for (settings, wanted) in [
        (format!("{star} --set protocol.send-done=lef"), "did you mean \"left\"?"),
        (
            format!("{star} --set protocol.send-done=overhead --set protocol.send-buffer=1KiB"),
            "every send is done at the end of its overhead",
        ),
        (
            format!("{flow} --set protocol.send-buffer=1KiB --set flow.detached-below=1KiB"),
            "`flow.detached-below` says something else",
        ),
        ("--set protocol.send-buffer=1KiB".to_owned(), "is not used by the model loggops"),
        (
            "--set loggops.compat=loggopsim --set protocol.send-done=left".to_owned(),
            "has no counterpart in LogGOPSim",
        ),
    ] {
        let shown = folder.heddle(&format!("run pattern:gather --ranks 4 {settings}"));
        assert!(shown.code == 1 || shown.code == 2, "{settings}: {}", shown.code);
        assert!(shown.stderr.contains(wanted), "{settings}: {}", shown.stderr);
    }
    // What the machine says gives way to what the run says.
    for settings in [
        format!("{star} --set protocol.send-done=overhead"),
        format!("{flow} --set flow.detached-below=1MiB"),
        String::new(),
    ] {
        let run = format!("run pattern:gather --ranks 4 --machine machine.toml {settings}");
        let shown = folder.heddle(&run);
        assert_eq!(shown.code, 0, "{settings}: {}", shown.stderr);
    }
}

/// Over flows, a send of more bytes than are copied is done with its flow, or when that starts.
#[test]
fn sends_over_flows() {
    let folder = Folder::new("network-flows-left");
    folder.write(
        "app.goal",
        "num_ranks 2\nrank 0 { send 2000b to 1 }\nrank 1 { recv 2000b from 0 }\n",
    );
    let with = |more: &str| {
        ends(&folder, &format!("app.goal --network flow --topology star:hosts=2 {more}"))
    };
    let copied = with("");
    assert_eq!(copied[0], 0);
    assert!(copied[1] > 0);
    for limit in ["--set protocol.send-buffer=1999B", "--set flow.detached-below=2000B"] {
        assert_eq!(with(limit), [copied[1]; 2], "{limit}");
    }
    let overhead = "--set flow.detached-below=2000B --set protocol.send-done=overhead";
    assert_eq!(with(overhead), copied);
    assert_eq!(with("--set protocol.send-buffer=2000B"), copied);
}

/// One message of 2156 bytes, with 20 of headers 34 flits: the first is there after 101 ns, and the
/// 34 are taken in 33.6 ns each. Of two messages into one sink the second waits for the 34 flits of
/// the first, and for nothing else.
#[test]
fn contention_is_the_time_beyond_an_idle_network() {
    let folder = Folder::new("network-contention");
    let star = STAR.replace("hosts=2", "hosts=3");
    let two = "num_ranks 3\nrank 0 { send 2156b to 1 }\nrank 2 { send 2156b to 1 }\n\
               rank 1 { recv 2156b from 0 recv 2156b from 2 }\n";
    folder.write("two.goal", two);
    let one = "num_ranks 2\nrank 0 { send 2156b to 1 }\nrank 1 { recv 2156b from 0 }\n";
    folder.write("one.goal", one);
    for (name, contention) in [("one", 0), ("two", 34 * 33_600)] {
        let run = format!("run {name}.goal {star} --format json -o {name} --tables ranks");
        let json = folder.heddle(&run).json();
        let path = &json["critical_path"];
        let parts = ["latency_ps", "bandwidth_ps", "contention_ps", "waiting_ps"];
        let parts = parts.map(|part| path[part].as_u64().expect("a number"));
        assert_eq!(parts, [101_000, 34 * 33_600, contention, 0], "{name}");
        let makespan = parts.iter().sum::<u64>();
        assert_eq!(json["makespan_ps"], makespan, "{name}");
        let table = String::from_utf8(folder.read(&format!("{name}/ranks.csv"))).expect("text");
        let row = table.lines().nth(2).expect("rank 1");
        let end = format!(",101000,{},{contention}", 34 * 33_600);
        assert!(row.ends_with(&end), "{table}");
    }
}

/// 1024 switches of 64000 hosts and 1023 others: 65536000 hosts, as many links and 1024 * 1023 / 2
/// more. With service level 14 a switch has 16 lanes, those up to that and that of management, with
/// a queue of 8 bytes for each pair of 65023 ports: 554171 GB in all; 40 bytes of each device, 12
/// of each port and 88 of each link are 10 more. Nothing of it is made.
#[test]
fn networks_that_no_memory_holds_are_not_wired() {
    let folder = Folder::new("network-memory");
    let run = "run pattern:dissemination --ranks 8 --network infiniband --set network.level=14";
    let spec = "complete:switches=1024,hosts=64000";
    let output = folder.heddle(&format!("{run} --topology {spec}"));
    let expected = format!(
        "error: --topology {spec}: its 65536000 hosts, 1024 switches and 66059776 links, with the \
         queues between the ports of each switch, need at least 554181.2 GB of memory; this \
         machine has "
    );
    assert_eq!(output.code, 2);
    assert!(output.stderr.starts_with(&expected), "{}", output.stderr);
}
