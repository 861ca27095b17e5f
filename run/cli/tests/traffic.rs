//! `heddle run traffic:NAME`.

mod common;

use common::Folder;

/// Uniform traffic on a torus of 4 by 4: the busiest links carry k/8 = 0.5 of a host's load (Dally and Towles,
/// section 3.3.1), so 0.1 and 0.2 are accepted. A message of 1004 bytes and 20 of headers has 16 flits and crosses at
/// least two switches of 61 ns and three cables of 20; hosts take 16 * 33.6 ns.
#[test]
fn a_curve() {
    let folder = Folder::new("traffic");
    let command = "run traffic:uniform --network infiniband --preset infiniband-ddr-simula --topology torus:dims=4x4 --load \
                   0.1:0.2:0.1 --length 1004B --format json -o out --set network.cable=20ns --set network.latency-in=30ns \
                   --set network.latency-out=31ns --set network.pause=0ns --set network.update=0ns";
    let json = folder.heddle(command).json();
    let points = json["points"].as_array().expect("points");
    assert_eq!(points.len(), 2);
    for (point, load) in points.iter().zip([0.1, 0.2]) {
        assert_eq!(point["load"], load);
        assert_eq!(point["saturated"], false);
        let accepted = point["accepted"]["mean"].as_f64().expect("a number");
        assert!((accepted / load - 1.0).abs() < 0.04, "{point}");
        assert_eq!(point["percentiles"][0], 2 * 61_000 + 3 * 20_000 + 16 * 33_600, "{point}");
    }
    let table = std::fs::read_to_string(folder.path("out/points.csv")).expect("a table");
    assert_eq!(table.lines().count(), 3);
    let again = folder.heddle("run out/manifest.json --format json --threads 2").json();
    assert_eq!(again, json);
}

/// One load with a folder: links, flows and hops, and a drawing. A star has links to hosts alone: two each.
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
        ("run traffic:uniform".to_owned(), "traffic needs a network with switches"),
        ("run pattern:gather --load 0.5".to_owned(), "`traffic.load` is not used by this workload"),
    ] {
        let output = folder.heddle(&command);
        assert_ne!(output.code, 0, "{command}");
        assert!(output.stderr.contains(wanted), "{command}: {}", output.stderr);
    }
}

/// What a machine says for programs is left aside by traffic, and what it says for traffic by programs.
#[test]
fn machines_of_programs() {
    let folder = Folder::new("traffic-machine");
    let root = format!("{}/../../examples/machines", env!("CARGO_MANIFEST_DIR"));
    let command = format!("run traffic:tornado --machine {root}/fat-tree-648.toml --load 0.1");
    let ended = folder.heddle(&command);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    folder.write(
        "m.toml",
        "[network]\nmodel = \"infiniband\"\ntopology = \"star:hosts=4\"\n[traffic]\nload = \"0.5\"\n",
    );
    let ended = folder.heddle("run pattern:gather --ranks 4 --machine m.toml");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// Tornado on a balanced dragonfly of 9 groups with 8 hosts: on minimal routes the hosts of a group share one global link, so at
/// most 1/5 is accepted; by random groups, drawn for each message, two crossings of 8 global links carry nearly 1/2 (W. Dally
/// and B. Towles, section 10.1). What `points.csv` says of hops is what the messages crossed.
#[test]
fn valiant_draws_for_each_message() {
    let folder = Folder::new("traffic-valiant");
    let command = "run traffic:tornado --network infiniband --topology dragonfly:p=2 --routing valiant --load 0.35 --format json";
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
