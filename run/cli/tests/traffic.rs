//! `heddle run traffic:NAME`.

mod common;

use common::Folder;

/// Uniform traffic on a torus of 4 by 4: the busiest links carry k/8 = 0.5 of a host's load (Dally
/// and Towles, section 3.3.1), so 0.1 and 0.2 are accepted. A message of 1004 bytes and 20 of
/// headers has 16 flits and crosses at least two switches of 61 ns and three cables of 20; hosts
/// take 16 * 33.6 ns.
#[test]
fn a_curve() {
    let folder = Folder::new("traffic");
    let command = "run traffic:uniform --network infiniband --preset infiniband-ddr-simula \
                   --topology torus:dims=4x4 --load 0.1:0.2:0.1 --length 1004B --format json -o \
                   out --set network.cable=20ns --set network.latency-in=30ns --set \
                   network.latency-out=31ns --set network.pause=0ns --set network.update=0ns";
    let json = folder.heddle(command).json();
    let points = json["points"].as_array().expect("points");
    assert_eq!(points.len(), 2);
    for (point, load) in points.iter().zip([0.1, 0.2]) {
        assert_eq!(point["load"], load);
        assert_eq!(point["saturated"], false);
        let accepted = point["accepted"]["mean"].as_f64().expect("a number");
        assert!((accepted / load - 1.0).abs() < 0.04, "{point}");
        assert_eq!(point["percentiles"][0], 2 * 61_000 + 3 * 20_000 + 16 * 33_600, "{point}");
        // The links between switches could carry twice as much as those of hosts. The mean way to
        // another host has 2 * 16/15 links between switches (the source included it would be 2).
        assert_eq!(point["bound"], 1.0, "{point}");
        let (switches, links) = (1.0 + 32.0 / 15.0, 2.0 + 32.0 / 15.0);
        let idle = 61_000.0 * switches + 20_000.0 * links + 16.0 * 33_600.0;
        let found = point["zero_load"].as_f64().expect("a number");
        assert!((found - idle).abs() < 1.0, "{found} {idle}");
    }
    let table = std::fs::read_to_string(folder.path("out/points.csv")).expect("a table");
    assert_eq!(table.lines().count(), 3);
    let again = folder.heddle("run out/manifest.json --format json --threads 2").json();
    assert_eq!(again, json);
}

/// A fixed time: sixteen hosts whose links carry 16 Gb/s make a message of 1004 bytes and 20 of
/// headers each 5.12 us at a load of 0.1, so that 1000 enter in 320 us, give or take a tenth (three
/// deviations of Poisson). All of them are delivered.
#[test]
fn a_fixed_time() {
    let folder = Folder::new("traffic-time");
    let command = "run traffic:uniform --network infiniband --preset infiniband-ddr-simula \
                   --topology torus:dims=4x4 --load 0.1 --length 1004B --format json";
    let timed = |more: &str| folder.heddle(&format!("{command} {more}"));
    let messages = |more: &str| {
        let json = timed(more).json();
        json["points"][0]["messages"].as_u64().expect("a number")
    };
    let all = messages("--set traffic.time=320us");
    assert!(all.abs_diff(1000) < 100, "{all}");
    assert_eq!(messages("--set traffic.time=320us --threads 2"), all);
    let later = messages("--set traffic.time=320us --set traffic.warm-up=320us");
    assert!(later.abs_diff(1000) < 100 && later != all, "{later} {all}");
    let says = "traffic.time says how long a point is measured";
    for (flags, help) in [
        ("--set traffic.time=1us --precision 0.1", says),
        ("--set traffic.time=1us --set traffic.batches=20", says),
        ("--set traffic.warm-up=1us", "it belongs to traffic.time"),
    ] {
        let wrong = timed(flags);
        assert_eq!(wrong.code, 2, "{flags}");
        assert!(wrong.stderr.contains(help), "{}", wrong.stderr);
    }
}

/// One load with a folder: links, flows and hops, and a drawing. A star has links to hosts alone:
/// two each.
#[test]
fn what_the_network_tells() {
    let folder = Folder::new("traffic-watch");
    let command =
        "run traffic:ring --network infiniband --topology star:hosts=4 --load 0.3 -q -o out";
    assert_eq!(folder.heddle(command).code, 0);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect(name);
    let lanes = read("out/lanes.csv");
    assert!(lanes.starts_with("device,port,lane,start_ps,flits,utilisation,"), "{lanes}");
    let hops = read("out/hops.csv");
    assert!(hops.starts_with("links,messages\n2,") && hops.lines().count() == 2, "{hops}");
    assert_eq!(read("out/flows.csv").lines().count(), 1);
    let performance: serde_json::Value =
        serde_json::from_str(&read("out/performance.json")).expect("JSON");
    assert!(performance["messages_per_second"].as_f64().expect("a number") > 0.0);
    assert_eq!(performance["threads"], 1);
    // Each link carries 0.3 in either direction.
    assert_eq!(read("out/links.svg").matches("<line").count(), 4);
}

/// Flows of a ring meet at their source and destination, and nobody else's: each link is a server
/// that the flows there share evenly (M/G/1 PS). With a message alone taking x after its latency L,
/// and the load r, the mean is L + x / (1 - r), whatever the lengths are (Kleinrock, *Queueing
/// Systems II*, section 4.4). L is twice the cable and once the switch, x 64 KiB and 16 bytes at
/// 12.5 GB/s.
#[test]
fn flows_of_a_ring() {
    let folder = Folder::new("traffic-flows");
    let command = "run traffic:ring --network flow --topology star:hosts=8 --length 64KiB --load \
                   0.3:0.6:0.3 --precision 0.01 --format json -o out --set flow.variant=fluid \
                   --set flow.cross-traffic=false --set flow.window=0B --set network.link=4xEDR \
                   --set network.cable=100ns --set network.latency-in=50ns --set \
                   network.latency-out=50ns";
    let json = folder.heddle(command).json();
    let points = json["points"].as_array().expect("points");
    let (latency, alone) = (300_000.0, 65_552.0 / 12.5e9 * 1e12);
    for (point, load) in points.iter().zip([0.3, 0.6]) {
        let (least, mean) = (&point["percentiles"][0], &point["latency"]["mean"]);
        let [least, mean] = [least, mean].map(|value| value.as_f64().expect("a number"));
        assert!((least - (latency + alone)).abs() <= 1.0, "{point}");
        let expected = latency + alone / (1.0 - load);
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean}, not {expected}");
    }
    let again = folder.heddle("run out/manifest.json --format json --threads 2").json();
    assert_eq!(again, json);
}

/// Intervals of a picosecond make more rows than can be written: that is said, and takes no memory.
/// None have no width.
#[test]
fn short_intervals() {
    let folder = Folder::new("traffic-intervals");
    let network = "--network infiniband --topology star:hosts=4 -q -o out";
    for (workload, key) in [
        ("traffic:uniform --load 0.1", "traffic"),
        ("pattern:dissemination --ranks 4 --tables lanes", "output"),
    ] {
        let run = |value: &str| {
            folder.heddle(&format!("run {workload} {network} --set {key}.interval={value}"))
        };
        let none = run("0ns");
        let wanted = format!("`{key}.interval` must be above 0");
        assert!(none.code == 2 && none.stderr.contains(&wanted), "{}", none.stderr);
    }
    let many = folder
        .heddle(&format!("run traffic:uniform --load 0.1 {network} --set traffic.interval=1ps"));
    let wanted = "lanes.csv: intervals of 1 ps make more than 20000000 rows";
    assert!(many.code == 4 && many.stderr.contains(wanted), "{}", many.stderr);
}

/// A ring on one lane comes to a standstill: a result with an exit code of its own, and no mean of
/// nothing.
#[test]
fn deadlock() {
    let folder = Folder::new("traffic-deadlock");
    let command = "run traffic:tornado --network infiniband --topology torus:dims=8 --routing \
                   dimension-order:lanes=1 -o out --force --load";
    let text = folder.heddle(&format!("{command} 0.5"));
    assert_eq!(text.code, 3, "{}", text.stderr);
    assert!(
        text.stdout.contains("deadlock at a load of 0.5: nothing moves after"),
        "{}",
        text.stdout
    );
    let table = std::fs::read_to_string(folder.path("out/points.csv")).expect("a table");
    assert!(!text.stdout.contains("inf") && !table.contains("inf"), "{table}");
    let json = folder.heddle(&format!("{command} 0.01:0.51:0.5 --format json"));
    assert_eq!(json.code, 3);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let [idle, stuck] = [&json["points"][0], &json["points"][1]];
    assert!(idle["deadlock"].is_null() && idle["latency"]["mean"].is_number(), "{idle}");
    assert!(stuck["latency"].is_null() && stuck["deadlock"]["messages"].is_u64(), "{stuck}");
    assert_eq!(stuck["saturated"], false);
}

/// A sphere is that of the hosts' places, however these are numbered: on a mesh with a host per
/// switch the nearest others are 3 links away. Of 64 hosts four may be all: in a ring on the first
/// row 3, 3, 3 and 5 links.
#[test]
fn placement() {
    let folder = Folder::new("traffic-placement");
    let hops = |options: &str| {
        let command = format!("run {options} --load 0.1 --network infiniband --format json");
        let json = folder.heddle(&command).json();
        json["points"][0]["hops"].as_f64().expect("a number")
    };
    for placement in ["linear", "random"] {
        let sphere = format!("traffic:sphere --topology mesh:dims=4x4 --placement {placement}");
        let near = hops(&format!("{sphere} --set traffic.radius=3 --set traffic.share=1"));
        assert!((near - 3.0).abs() < 1e-9, "{near}");
        assert!((hops(&format!("{sphere} --set traffic.share=1")) - 3.0).abs() < 1e-9);
    }
    let part = hops("traffic:ring --topology mesh:dims=8x8 --set placement.hosts=h0,h1,h2,h3");
    assert!((part - 3.5).abs() < 0.1, "{part}");
}

// Long because it lists what goes wrong.
#[test]
fn mistakes() {
    let folder = Folder::new("traffic-mistakes");
    let network = "--network infiniband --topology star:hosts=6";
    for (command, wanted) in [
        (format!("run traffic:unifrom {network}"), "did you mean `uniform`?"),
        (format!("run traffic:transpose {network}"), "transpose needs a square of hosts"),
        (format!("run traffic:uniform {network} --load 2"), "FIRST:LAST:STEP"),
        (format!("run traffic:uniform {network} --length 5"), "with its unit: `5 B`"),
        (format!("run traffic:uniform {network} --ranks 4"), "is not used by this workload"),
        (format!("run traffic:flows {network}"), "there is no traffic `flows`"),
        (
            format!("run traffic:uniform {network} --length uniform:4KiB:64B"),
            "`uniform:4KiB:64B`: the least length",
        ),
        (
            format!("run traffic:uniform {network} --length bimodal:1B:2B:1.5"),
            "a share of 1.5 is not",
        ),
        (
            format!("run traffic:uniform {network} -o out --timeline paje"),
            "`output.timeline` is not used",
        ),
        (format!("run traffic:uniform {network} --gantt"), "`output.gantt` is not used by this"),
        (
            format!("run traffic:uniform {network} -o out --tables messages"),
            "`output.tables` is not",
        ),
        (
            format!("run traffic:uniform {network} --set traffic.ways=2"),
            "`traffic.ways` is not used",
        ),
        (format!("run traffic:uniform {network} --set traffic.burst=2"), "`traffic.burst` is not"),
        (format!("run traffic:incast {network} --set traffic.share=0.1"), "`traffic.share` is not"),
        (
            format!("run traffic:uniform {network} -o out --set traffic.interval=1us"),
            "`traffic.interval` is not",
        ),
        (
            format!("run traffic:uniform {network} --set placement.per-host=2"),
            "`placement.per-host` is",
        ),
        (
            format!("run traffic:uniform {network} --set placement.hosts=h0:2,h1"),
            "h0 is placed twice",
        ),
        (format!("run traffic:sphere {network} --set traffic.radius=1"), "a radius of 2 holds one"),
        ("run traffic:uniform".to_owned(), "traffic needs a network with a topology"),
        (
            "run traffic:uniform --network flow --topology star:hosts=4 --set flow.os=0B:1us"
                .to_owned(),
            "`flow.os` is not used by this workload",
        ),
        (
            "run traffic:uniform --network flow --topology star:hosts=4 -o out --set \
             traffic.interval=1us"
                .to_owned(),
            "`traffic.interval` is not",
        ),
        ("run pattern:gather --load 0.5".to_owned(), "`traffic.load` is not used by this workload"),
    ] {
        let output = folder.heddle(&command);
        assert_ne!(output.code, 0, "{command}");
        assert!(output.stderr.contains(wanted), "{command}: {}", output.stderr);
    }
}

/// Traffic leaves aside what a machine says for programs, and programs leave aside what it says for
/// traffic.
#[test]
fn machines_of_programs() {
    let folder = Folder::new("traffic-machine");
    let root = format!("{}/../../examples/machines", env!("CARGO_MANIFEST_DIR"));
    let command = format!("run traffic:tornado --machine {root}/fat-tree-648.toml --load 0.1");
    let ended = folder.heddle(&command);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    folder.write(
        "m.toml",
        "[network]\nmodel = \"infiniband\"\ntopology = \"star:hosts=4\"\n[traffic]\n\
         load = \"0.5\"\n",
    );
    let ended = folder.heddle("run pattern:gather --ranks 4 --machine m.toml");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// Tornado on a balanced dragonfly of 9 groups with 8 hosts: on minimal routes the hosts of a group
/// share one global link, so at most 1/5 is accepted; by random groups, drawn for each message, two
/// crossings of 8 global links carry nearly 1/2 (W. Dally and B. Towles, section 10.1). What
/// `points.csv` says of hops is what the messages crossed.
#[test]
fn valiant_draws_for_each_message() {
    let folder = Folder::new("traffic-valiant");
    let command = "run traffic:tornado --network infiniband --topology dragonfly:p=2 --routing \
                   valiant --load 0.35 --format json";
    let json = folder.heddle(&format!("{command} -o out")).json();
    assert_eq!(json["points"][0]["saturated"], false);
    let hops = json["points"][0]["hops"].as_f64().expect("a number");
    let table = std::fs::read_to_string(folder.path("out/hops.csv")).expect("a table");
    let (mut links, mut messages) = (0.0, 0.0);
    for row in table.lines().skip(1) {
        let (link, message) = row.split_once(',').expect("two cells");
        let message: f64 = message.parse().expect("a number");
        links += link.parse::<f64>().expect("a number") * message;
        messages += message;
    }
    assert!((hops / (links / messages) - 1.0).abs() < 0.005, "{hops}, {}", links / messages);
    let json = folder.heddle(&format!("{command} --set network.choice=pair")).json();
    assert_eq!(json["points"][0]["saturated"], true);
}

/// Uniform traffic at 0.8 on a torus of 8 by 8 stalls and catches up: 0.772 of 0.800 are accepted
/// in 200 batches, and the mean latency is six times the median. Ten groups of batches do not show
/// that ever more is outstanding; batch by batch the difference does.
#[test]
fn what_lags_has_not_settled() {
    let folder = Folder::new("traffic-lags");
    let run = folder.heddle(
        "run traffic:uniform --network infiniband --topology torus:dims=8x8 --load 0.8 -o out",
    );
    assert!(run.stdout.contains("  not settled\n"), "{}", run.stdout);
    let json = std::fs::read_to_string(folder.path("out/points.json")).expect("points");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let point = &json["points"][0];
    let flags = ["steady", "growing", "saturated"].map(|key| point[key].as_bool());
    assert_eq!((flags, &point["batches"]), ([Some(false), Some(false), Some(true)], &200.into()));
}
