//! Properties, remarks, machines from topologies, and the machine that is shipped.

use platform::{Platform, Rates, Sharing};
use topology::{Routes, import::quantity};

fn names(platform: &Platform, links: &[u32]) -> Vec<String> {
    links.iter().map(|&link| platform.links()[link as usize].name.clone()).collect()
}

#[test]
fn properties_keep_their_place_and_disks_are_remarked() {
    let text = r#"<platform version="4.1">
<config id="General"><prop id="network/crosstraffic" value="no"/></config>
<zone id="z" routing="Full"><prop id="owner" value="me &amp; you"/>
<host id="a" speed="1Gf"><prop id="smpi/os" value="0:1e-6:0"/>
<disk id="d" read_bw="1MBps" write_bw="1MBps"/></host>
</zone></platform>"#;
    let platform = Platform::read(text).unwrap();
    let found: Vec<_> = platform
        .properties
        .iter()
        .map(|p| (p.zone.as_deref(), p.name.as_str(), p.value.as_str(), p.place))
        .collect();
    let expected =
        [(None, "network/crosstraffic", "no", (2, 22)), (Some("z"), "owner", "me & you", (3, 29))];
    assert_eq!(found, expected);
    assert_eq!(platform.hosts[0].properties["smpi/os"], "0:1e-6:0");
    assert_eq!(platform.remarks.len(), 1);
    assert_eq!((platform.remarks[0].line, platform.remarks[0].column), (5, 1));
}

/// In TOML, a platform is what it is in XML: hosts, links, routes and properties.
#[test]
fn toml_says_the_same() {
    let xml = Platform::read(include_str!("../../../../examples/machines/graphene.xml")).unwrap();
    let toml = include_str!("../../../../examples/machines/graphene.toml");
    let mut toml = Platform::read_toml(toml).unwrap();
    assert!(toml.hosts.iter().all(|host| host.place.0 > 0));
    for (host, same) in toml.hosts.iter_mut().zip(&xml.hosts) {
        host.place = same.place;
    }
    assert!(xml.hosts == toml.hosts);
    assert_eq!(xml.links(), toml.links());
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for (from, to) in [(0, 0), (0, 1), (0, 40), (143, 75), (100, 101)] {
        one.clear();
        other.clear();
        let latencies = (xml.route(from, to, &mut one), toml.route(from, to, &mut other));
        assert!(latencies.0.is_ok() && latencies.0 == latencies.1 && one == other, "{from} {to}");
    }
}

#[test]
fn what_toml_has_in_other_words() {
    let text = r#"
[platform.config]
"network/crosstraffic" = "no"
[platform.zone]
id = "z"
routing = "Vivaldi"
properties = { owner = "me", floor = 3 }
[[platform.zone.host]]
id = "b"
speed = "2 Gflop/s, 1 Gflop/s"
pstate = 1
coordinates = "1 2 3"
[[platform.zone.host]]
id = "a"
speed = "1Gf"
coordinates = "1 2 4"
properties = { "smpi/os" = "0:1e-6:0" }
[run]
seed = 3
"#;
    let platform = Platform::read_toml(text).unwrap();
    let found: Vec<_> = platform
        .properties
        .iter()
        .map(|p| (p.zone.as_deref(), p.name.as_str(), p.value.as_str(), p.place))
        .collect();
    let expected = [
        (None, "network/crosstraffic", "no", (3, 1)),
        (Some("z"), "owner", "me", (7, 16)),
        (Some("z"), "floor", "3", (7, 30)),
    ];
    assert_eq!(found, expected);
    let hosts: Vec<_> = platform.hosts.iter().map(|h| (h.name.as_str(), h.speed)).collect();
    assert_eq!(hosts, [("b", 1e9), ("a", 1e9)], "in the order of the file");
    assert_eq!(platform.hosts[1].properties["smpi/os"], "0:1e-6:0");
}

#[test]
fn mistakes_in_toml_have_their_places() {
    let text = r#"
[platform.zone]
id = "z"
routing = "Ful"
[[platform.zone.host]]
id = "a"
speed = 1000000000
[[platform.zone.lnk]]
id = "l"
[[platform.zone.link]]
id = "m"
bandwidth = "-1 GB/s"
[[platform.zone.route]]
src = "a"
dst = "b"
links = ["m", 3]
[[platform.zone.host]]
id = "c"
speed = "1 Gflop/s"
lnk = []
"#;
    let faults = Platform::read_toml(text).err().unwrap_or_default().0;
    let said: Vec<_> = faults.iter().map(|fault| (fault.line, fault.message.as_str())).collect();
    let expected = [
        (4, "unknown routing `Ful`"),
        (5, "<host> needs the attribute `speed`"),
        (7, "`speed`: expected a quantity with its unit"),
        (8, "unknown element <lnk>"),
        (12, "`bandwidth`: -1GBps is negative"),
        (15, "there is no host, router or zone `b`"),
        (16, "expected the name of a link"),
        (20, "`lnk`: expected a text, a number, or a table"),
    ];
    for (line, message) in expected {
        assert!(
            said.iter().any(|said| said.0 == line && said.1.starts_with(message)),
            "{message} in {said:#?}"
        );
    }
    assert!(Platform::read_toml("a = 1").is_err() && Platform::read_toml("[platform").is_err());
    let deep = format!("[platform{}]\nid = \"a\"", ".zone".repeat(10_000));
    assert!(Platform::read_toml(&deep).is_err());
}

/// A cable takes 100 ns and a switch 30 ns: from leaf to leaf through a spine it is four cables and
/// three switches.
#[test]
fn a_topology_is_a_machine() {
    let topology = topology::parse("xgft:children=2x2,parents=1x2,cables=1x1").unwrap();
    let routes = Routes::build(&topology, None).unwrap();
    let rates = Rates { bandwidth: 12.5e9, cable: 100e-9, switch: 30e-9, speed: 1e9 };
    let platform = Platform::from_topology(&topology, &routes, rates);
    // 4 cables of hosts and 4 between switches, two links each, and the loopback.
    assert_eq!((platform.hosts.len(), platform.links().len()), (4, 17));
    let mut links = Vec::new();
    for from in 0..4 {
        for to in 0..4 {
            let latency = platform.route(from, to, &mut links).unwrap();
            let (cables, switches) = match (from == to, from / 2 == to / 2) {
                (true, _) => (0_u32, 0),
                (_, true) => (2, 1),
                _ => (4, 3),
            };
            let expected = 100e-9 * f64::from(cables) + 30e-9 * f64::from(switches);
            assert!((latency - expected).abs() < 1e-15, "{from} {to} {latency}");
            assert_eq!(links.len(), cables.max(1) as usize);
            // Each link leads on from where the one before it ended, and no link is used both ways.
            let ends = |link: &u32| {
                let cable = topology.graph.link(link / 2).ends.map(|end| end.device);
                if link.is_multiple_of(2) { (cable[0], cable[1]) } else { (cable[1], cable[0]) }
            };
            if from != to {
                let way: Vec<_> = links.iter().map(ends).collect();
                assert_eq!((way[0].0, way[way.len() - 1].1), (from, to));
                assert!(way.windows(2).all(|pair| pair[0].1 == pair[1].0));
            }
        }
    }
    assert_eq!(names(&platform, &links), ["__loopback__"]);
}

/// A link's own rate and delay count: 100 Gb/s is 12.5 GB/s.
#[test]
fn a_topology_s_own_figures_come_first() {
    let text = "host,a\nhost,b\nswitch,s\nlink,a,s,5 ns,,100 Gb/s\nlink,b,s\n";
    let imported = topology::import::csv(text).unwrap();
    let routes = Routes::build(&imported.topology, None).unwrap();
    let rates = Rates { bandwidth: 1e9, cable: 1e-6, switch: 0.0, speed: 1e9 };
    let platform = Platform::from_topology(&imported.topology, &routes, rates);
    let mut links = Vec::new();
    let latency = platform.route(0, 1, &mut links).unwrap();
    assert!((latency - 1.005e-6).abs() < 1e-18);
    let bandwidths: Vec<f64> =
        links.iter().map(|&l| platform.links()[l as usize].bandwidth).collect();
    assert_eq!(bandwidths, [12.5e9, 1e9]);
}

/// Seed figures: 144 nodes in four cabinets; 1 Gb/s and a limiter of 1.5 times that for each node,
/// 10 Gb/s and a limiter of 13 Gb/s for each cabinet.
#[test]
fn graphene_is_as_the_paper_draws_it() {
    let platform =
        Platform::read(include_str!("../../../../examples/machines/graphene.xml")).unwrap();
    assert_eq!(platform.hosts.len(), 144);
    let host = |name: &str| platform.hosts.iter().position(|h| h.name == name).unwrap() as u32;
    let mut links = Vec::new();
    let bandwidths = |links: &[u32]| -> Vec<f64> {
        links.iter().map(|&link| platform.links()[link as usize].bandwidth * 8.0).collect()
    };
    // Within a cabinet: the limiter and the links of both nodes.
    platform.route(host("graphene-1"), host("graphene-39"), &mut links).unwrap();
    assert_eq!(bandwidths(&links), [1.5e9, 1e9, 1e9, 1.5e9]);
    // Figure 5: from node 40 to node 104 also uplink, downlink and limiter of both cabinets.
    platform.route(host("graphene-40"), host("graphene-104"), &mut links).unwrap();
    let (forth, mut sorted) = (links.clone(), bandwidths(&links));
    sorted.sort_by(f64::total_cmp);
    assert_eq!(sorted, [1e9, 1e9, 1.5e9, 1.5e9, 1e10, 1e10, 1.3e10, 1.3e10]);
    // The way back shares the limiters, and nothing else.
    platform.route(host("graphene-104"), host("graphene-40"), &mut links).unwrap();
    let both: Vec<u32> = links.iter().copied().filter(|link| forth.contains(link)).collect();
    let mut shared = bandwidths(&both);
    shared.sort_by(f64::total_cmp);
    assert_eq!(shared, [1.5e9, 1.5e9, 1.3e10, 1.3e10]);
    // 144 loopbacks and SMPI's own serve each flow for itself.
    let alone = platform.links().iter().filter(|link| link.sharing == Sharing::FatPipe).count();
    assert_eq!(alone, 145);
}

/// A byte has 8 bits, k is 1000 and Ki 1024; a bare number is in bytes per second, seconds or flop
/// per second.
#[test]
fn quantities_have_simgrid_s_units() {
    let bandwidths = [
        ("1Gbps", 125e6),
        ("125MBps", 125e6),
        ("1.5kbps", 187.5),
        ("1GiBps", 1_073_741_824.0),
        ("8Kibps", 1024.0),
        ("1EBps", 1e18),
        ("1e9Bps", 1e9),
        ("42", 42.0),
    ];
    for (text, expected) in bandwidths {
        assert_eq!(quantity::bandwidth(text), Some(expected), "{text}");
    }
    for (text, expected) in [("50us", 5e-5), ("1w", 604_800.0), ("2m", 120.0), ("3", 3.0)] {
        let seconds = quantity::seconds(text).unwrap();
        assert!((seconds - expected).abs() <= 1e-15 * expected, "{text}");
    }
    for (text, expected) in [("1Gf", 1e9), ("2.5megaflops", 2.5e6), ("7flops", 7.0), ("1Tf", 1e12)]
    {
        assert_eq!(quantity::flops(text), Some(expected), "{text}");
    }
    assert_eq!(quantity::bandwidth("1 Gb/s"), None);
    assert_eq!((quantity::seconds("5x"), quantity::flops("fast")), (None, None));
}
