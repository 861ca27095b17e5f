//! Files: what they mean, and what is said of broken ones.

use topology::{
    Failure, Faults, Header, Imported, Rate, Speed,
    import::{self, csv, fdb_vectors, ibnetdiscover, lft_dump, simgrid, toml},
};

use crate::common::links;

const CSV: &str = "\
# two switches, three hosts
host,a
host,b
host,c
switch,s0,4
switch,s1,4
link,a,s0:0,20 ns,3 m,4xDDR
link,b,s0:1
link,c,s1:2
link,s0:3,s1:3,,,12xEDR
";

const TOML: &str = r#"
[hosts]
b = 1
a = 1

[switches]
s0 = 3

[[link]]
ends = ["a", "s0"]
rate = "100 Gb/s"

[[link]]
ends = ["b:0", "s0:0"]
delay = "5 ns"
length = "50 cm"
"#;

const DISCOVERED: &str = r#"#
# Topology file: generated
#
vendid=0x2c9
switchguid=0x2c90000000001(2c90000000001)
Switch	4 "S-0002c90000000001"		# "sw one" enhanced port 0 lid 1 lmc 0
[1]	"H-0002c90000000011"[1](2c90000000012) 		# "alpha HCA-1" lid 4 4xDDR
[2]	"S-0002c90000000002"[4]		# "sw two" lid 2 4xQDR

switchguid=0x2c90000000002(2c90000000002)
Switch	4 "S-0002c90000000002"		# "sw two" enhanced port 0 lid 2 lmc 0
[4]	"S-0002c90000000001"[2]		# "sw one" lid 1 4xQDR
[3]	"H-0002c90000000021"[1](2c90000000022) 		# "beta HCA-1" lid 7 4xDDR

caguid=0x2c90000000011
Ca	1 "H-0002c90000000011"		# "alpha HCA-1"
[1](2c90000000012) 	"S-0002c90000000001"[1]		# lid 4 lmc 0 "sw one" lid 1 4xDDR

caguid=0x2c90000000021
Ca	1 "H-0002c90000000021"		# "beta HCA-1"
[1](2c90000000022) 	"S-0002c90000000002"[3]		# lid 7 lmc 0 "sw two" lid 2 4xDDR
"#;

const LFTS: &str = "\
Unicast lids [0x0-0x7] of switch Lid 1 guid 0x0002c90000000001 (sw one):
  Lid  Out   Destination
       Port     Info
0x0004 001 : (Channel Adapter portguid 0x0002c90000000012: 'alpha HCA-1')
0x0007 002 : (Channel Adapter portguid 0x0002c90000000022: 'beta HCA-1')
2 valid lids dumped
Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0002c90000000002 (sw two):
0x0001 004 : (Switch portguid 0x0002c90000000001: 'sw one')
0x0004 004 : (Channel Adapter portguid 0x0002c90000000012: 'alpha HCA-1')
0x0007 003 : (Channel Adapter portguid 0x0002c90000000022: 'beta HCA-1')
";

const PLATFORM: &str = r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="Full">
    <host id="n1" speed="1Gf"/>
    <host id="n2" speed="1Gf"/>
    <host id="n3" speed="1Gf"/>
    <link id="l1" bandwidth="125MBps" latency="50us"/>
    <link id="l2" bandwidth="1Gbps" latency="0.00005"/>
    <link id="l3" bandwidth="1.25e8" latency="50us"/>
    <link id="backbone" bandwidth="10GBps" latency="500ns"/>
    <route src="n1" dst="n2"><link_ctn id="l1"/><link_ctn id="backbone"/><link_ctn id="l2"/></route>
    <route src="n1" dst="n3"><link_ctn id="l1"/><link_ctn id="backbone"/><link_ctn id="l3"/></route>
    <route src="n2" dst="n3"><link_ctn id="l2"/><link_ctn id="backbone"/><link_ctn id="l3"/></route>
  </zone>
</platform>
"#;

/// Number of links between two hosts by the tables of `routes`.
fn hops(imported: &Imported, routes: &topology::Routes, source: u32, destination: u32) -> u32 {
    let header = Header { source, destination, ..Header::default() };
    links(&imported.topology.graph, routes, &header)
}

#[test]
fn edge_lists() {
    let graph = csv(CSV).unwrap().topology.graph;
    assert_eq!((graph.hosts(), graph.switches(), graph.links().len()), (3, 2, 4));
    let first = graph.link(0);
    assert_eq!(first.delay.unwrap().ps(), 20_000);
    assert_eq!(first.length, Some(3000));
    assert_eq!(first.rate, Some(Rate::Lanes(4, Speed::Ddr)));
    // 4 lanes of 5 Gb/s, 8 bits of data in 10.
    assert_eq!(first.rate.unwrap().bandwidth().bits_per_second(), 16_000_000_000);
    let end = graph.peer(graph.switch("s0").unwrap(), 3).unwrap();
    assert_eq!((graph.name(end.device), end.port), ("s1", 3));

    let graph = toml(TOML).unwrap().topology.graph;
    // In the order of the file. The open port of s0 is the lowest that no cable names.
    assert_eq!((graph.name(0), graph.name(1)), ("b", "a"));
    assert_eq!(graph.peer(1, 0).unwrap().port, 1);
    assert_eq!(graph.link(1).length, Some(500));
}

#[test]
fn discovered() {
    let imported = ibnetdiscover(DISCOVERED).unwrap();
    let graph = &imported.topology.graph;
    assert_eq!((graph.hosts(), graph.switches(), graph.links().len()), (2, 2, 3));
    let [alpha, beta] = ["alpha", "beta"].map(|name| graph.host(name).unwrap());
    assert_eq!(imported.lids.iter().collect::<Vec<_>>(), [(&4, &alpha), (&7, &beta)]);
    let one = graph.switch("S-0002c90000000001").unwrap();
    assert_eq!(graph.peer(one, 1).unwrap().port, 3);
    let routes = lft_dump(LFTS, &imported).unwrap().routes;
    assert_eq!(hops(&imported, &routes, alpha, beta), 3);
    let vectors = "0: 255 255 255 255 0 255 255 1\n1: 255,255,255,255,3\n1: 255 255 2\n";
    let routes = fdb_vectors(vectors, &imported).unwrap().routes;
    assert_eq!(hops(&imported, &routes, beta, alpha), 3);
}

/// Each node has a link of its own to the backbone, which thus is a switch.
#[test]
fn platforms() {
    let graph = simgrid(PLATFORM).unwrap().topology.graph;
    assert_eq!((graph.hosts(), graph.switches(), graph.links().len()), (3, 1, 3));
    for host in 0..3 {
        let end = graph.peer(host, 0).unwrap();
        assert_eq!(graph.name(end.device), "link backbone");
        let link = graph.link(end.link);
        assert_eq!(link.delay.unwrap().ps(), 50_000_000);
        // 125 MB/s, written in three ways.
        assert_eq!(link.rate.unwrap().bandwidth().bits_per_second(), 1_000_000_000);
    }
    // Two cables in a row meet in a switch; a plain cluster is a star.
    let row = "<platform version='4.1'><zone id='a' routing='Full'><host id='x'/><host \
        id='y'/><link id='k'/><link id='l'/><route src='x' dst='y'><link_ctn id='k'/><link_ctn \
        id='l'/></route><cluster id='c' prefix='n' suffix='' radical='0-2,5' bw='1GBps' \
        lat='1us'/></zone></platform>";
    let graph = simgrid(row).unwrap().topology.graph;
    assert_eq!((graph.hosts(), graph.switches(), graph.links().len()), (6, 2, 6));
    assert_eq!(graph.neighbours(graph.switch("c_router").unwrap()).count(), 4);
}

#[test]
fn numbers_of_hosts_that_are_too_large() {
    let row = |radical| {
        format!(
            "<platform version='4.1'><cluster id='c' prefix='n' suffix='' radical='{radical}' \
             bw='1GBps' lat='1us'/></platform>"
        )
    };
    for (radical, wanted) in [
        ("0-99999999999", "radical: 99999999999 is more than 4294967295"),
        ("0-x", "radical: expected numbers such as 0-15, found `0-x`"),
    ] {
        assert_eq!(simgrid(&row(radical)).unwrap_err().0[0].message, wanted);
    }
}

#[test]
fn formats_are_recognised() {
    for text in [CSV, TOML, DISCOVERED, PLATFORM] {
        assert!(import::any(text).is_ok());
    }
}

/// The first bytes of a compressed file, as they are read.
#[test]
fn what_is_not_text() {
    let faults = import::any("\u{1f}\u{fffd}\u{8}\u{0}host,a\n").unwrap_err();
    assert_eq!(faults.to_string(), "this is not a text file");
}

/// Packets to all six hosts come to the second switch.
#[test]
fn a_missing_table_is_reported_once() {
    let imported = topology::parse("mesh:dims=3,hosts=2").map(Imported::from).unwrap();
    let faults = fdb_vectors("0: 255 0 1 2 2 2 2\n2: 255 3 3 3 3 0 1\n", &imported).unwrap_err();
    assert_eq!(faults.to_string(), "there is no table for switch `s1`");
}

/// Entries towards a host out of service, and those of a switch without links, mean nothing; others
/// must lead somewhere.
#[test]
fn tables_around_failures() {
    let vectors = "0: 255 0 1 2\n1: 255 0 0 1\n";
    let read = |failed: &str| {
        let mut imported = csv(
            "host,a\nhost,b\nhost,c\nswitch,s\nswitch,t\nlink,a,s\nlink,b,s\nlink,s,t\nlink,c,t\n",
        )
        .unwrap();
        imported.topology.fail(&[Failure::parse(failed).unwrap()], 0).unwrap();
        fdb_vectors(vectors, &imported).map(|tables| hops(&imported, &tables.routes, 0, 1))
    };
    assert_eq!(read("t"), Ok(2));
    assert_eq!(read("c:0"), Ok(2));
    let faults = read("s:2").unwrap_err().to_string();
    assert!(faults.contains("1:12: port 2 of `s`, towards `c`, leads nowhere"), "{faults}");
}

/// Checks the text and the place of messages about mistakes, which were counted by hand.
fn check<T>(
    read: impl Fn(&str) -> Result<T, Faults>,
    sound: &str,
    cases: &[(&str, &str, (u32, u32), &str)],
) {
    for (from, to, place, message) in cases {
        assert!(sound.contains(from), "{from}");
        let Err(faults) = read(&sound.replacen(from, to, 1)) else { panic!("{to} is accepted") };
        let expected = |fault: &topology::Fault| {
            fault.message.contains(message) && (fault.line, fault.column) == *place
        };
        assert!(faults.0.iter().any(expected), "{to}: {faults}");
    }
}

#[test]
fn broken_csv() {
    check(
        csv,
        CSV,
        &[
            ("s0:0", "s0:4", (7, 8), "dangling port: `s0` has ports 0 to 3"),
            ("s0:1", "s0:0", (8, 8), "port 0 of `s0` has a cable already, from line 7"),
            ("4xDDR", "4xDDX", (7, 23), "there is no rate `4xDDX`"),
            ("4xDDR", "3xDDR", (7, 23), "there is no rate `3xDDR`"),
            ("20 ns", "20", (7, 13), "delay"),
            ("3 m", "3", (7, 19), "length"),
            ("link,b,", "link,d,", (8, 6), "there is no device `d`"),
            ("host,b", "host,a", (3, 6), "`a` is declared twice, first in line 2"),
            ("switch,s1,4", "switch,s1,x", (6, 11), "expected a number of ports, found `x`"),
            ("host,c", "hots,c", (4, 1), "expected host, switch or link, found `hots`"),
            ("link,c,s1:2", "link,c,b", (9, 6), "are hosts"),
            ("link,c,s1:2", "link,c", (9, 1), "expected link,END,END"),
            ("s0:3,s1:3", "s0:3,s0:2", (10, 6), "linked to itself"),
        ],
    );
}

#[test]
fn broken_toml() {
    check(
        toml,
        TOML,
        &[
            ("\"s0:0\"", "\"s0:3\"", (14, 16), "dangling port: `s0` has ports 0 to 2"),
            ("ends = [\"a\", \"s0\"]", "ends = [\"a\", \"s0:0\"]", (14, 16), "has a cable already"),
            ("100 Gb/s", "8xFOO", (11, 8), "there is no rate"),
            ("5 ns", "5 nx", (15, 9), "delay"),
            ("50 cm", "50 inches", (16, 10), "length"),
            ("s0 = 3", "s0 = true", (7, 6), "expected a number of ports"),
            ("s0 = 3", "s0 = 0", (7, 1), "needs 1 to 65535 ports"),
            ("[switches]", "[switch]", (6, 2), "unknown key `switch`"),
            ("[\"a\", \"s0\"]", "[\"a\"]", (9, 1), "a link has two ends, found 1"),
            ("rate =", "rates =", (11, 1), "a link has no key `rates`"),
            ("[\"a\", \"s0\"]", "[\"a\", \"s1\"]", (10, 14), "there is no device `s1`"),
            ("b = 1", "b = = 1", (3, 5), ""),
        ],
    );
}

#[test]
fn broken_discoveries() {
    check(
        ibnetdiscover,
        DISCOVERED,
        &[
            (
                "[2]\t\"S-",
                "[5]\t\"S-",
                (8, 1),
                "dangling port: `S-0002c90000000001` has ports 1 to 4",
            ),
            ("[2]\t\"S-", "[1]\t\"S-", (8, 1), "port 1 has a cable already, from line 7"),
            ("4xQDR", "4xQDX", (8, 47), "there is no rate `4xQDX`"),
            (
                "[3]\t\"H-0002c90000000021\"[1]",
                "[3]\t\"H-0002c90000000021\"[2]",
                (13, 6),
                "dangling port",
            ),
            ("\"S-0002c90000000001\"[2]", "\"S-0002c90000000001\"[3]", (8, 6), "leads elsewhere"),
            (
                "Ca\t1 \"H-0002c90000000021\"",
                "Ca\t1 \"H-0002c90000000011\"",
                (20, 7),
                "declared twice",
            ),
            (
                "Switch\t4 \"S-0002c90000000001\"",
                "Switch\tx \"S-0002c90000000001\"",
                (6, 8),
                "expected a number of ports",
            ),
            (
                "Switch\t4 \"S-0002c90000000001\"",
                "Swich\t4 \"S-0002c90000000001\"",
                (6, 1),
                "expected Switch, Ca",
            ),
            (
                "[1]\t\"H-0002c90000000011\"[1]",
                "[1]\tH-0002c90000000011[1]",
                (7, 1),
                "expected a port such as",
            ),
            ("[2]\t\"S-", "[0]\t\"S-", (8, 1), "expected a port such as"),
        ],
    );
}

#[test]
fn broken_platforms() {
    check(
        simgrid,
        PLATFORM,
        &[
            ("125MBps", "125MBpx", (8, 5), "bandwidth: expected a quantity"),
            ("latency=\"50us\"", "latency=\"50 parsecs\"", (8, 5), "latency: expected a quantity"),
            ("<host id=\"n2\"", "<host id=\"n1\"", (6, 5), "`n1` is declared twice"),
            ("<link id=\"l2\"", "<link id=\"l1\"", (9, 5), "link `l1` is declared twice"),
            ("<link_ctn id=\"l1\"/>", "<link_ctn id=\"l9\"/>", (12, 30), "there is no link `l9`"),
            ("dst=\"n2\"", "dst=\"n9\"", (12, 5), "there is no host or router `n9`"),
            ("src=\"n1\"", "from=\"n1\"", (12, 5), "<route> needs the attribute `src`"),
            ("<host id=\"n3\"", "<hosts id=\"n3\"", (7, 5), "unknown element <hosts>"),
            ("</zone>", "</zome>", (15, 3), ""),
            ("<host id=\"n1\"", "<host name=\"n1\"", (5, 5), "<host> needs the attribute `id`"),
            (
                "<host id=\"n1\" speed=\"1Gf\"/>",
                "<cluster id=\"c\" topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"/>",
                (5, 5),
                "use `xgft:children=4x4,parents=1x2,cables=1x2`",
            ),
        ],
    );
}

#[test]
fn broken_tables() {
    let imported = ibnetdiscover(DISCOVERED).unwrap();
    check(
        |text| lft_dump(text, &imported),
        LFTS,
        &[
            ("0x0007 002", "0x0007 005", (5, 8), "has ports 0 to 3, found 4"),
            ("0x0007 002", "0x0007 003", (5, 8), "leads nowhere"),
            ("0x0007 002", "0x0007 001", (5, 8), "leads to host `alpha`"),
            ("0x0007 002", "0x0007 xxx", (5, 8), "expected an output port, found `xxx`"),
            ("0x0007 002", "0x000g 002", (5, 1), "expected a local identifier"),
            ("0x0007 002", "0x0004 001", (5, 8), "has an entry for `alpha` already, in line 4"),
            (
                "0x0007 002",
                "0x0008 002",
                (1, 0),
                "hole: the table of `S-0002c90000000001` has no port towards `beta`",
            ),
            ("0x0007 003", "0x0007 004", (5, 8), "loop: packets to `beta` go round by"),
            ("0x0002c90000000002 (sw two)", "0x0002c90000000009 (x)", (7, 45), "no switch of guid"),
            (
                "Unicast lids [0x0-0x7] of switch Lid 1",
                "Multicast",
                (4, 1),
                "an entry before the first",
            ),
            ("of switch Lid 1", "of switcq Lid 1", (1, 1), "expected `Unicast lids … of switch …`"),
            ("Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0002c90000000002", "#", (9, 8), ""),
        ],
    );
    let vectors = "0: 255 255 255 255 0 255 255 1\n1: 255 255 255 255 3 255 255 2\n";
    check(
        |text| fdb_vectors(text, &imported),
        vectors,
        &[
            ("0 255 255 1", "255 255 255 1", (1, 0), "hole: the table of `S-0002c90000000001`"),
            ("0 255 255 1", "0 255 255", (1, 0), "hole"),
            ("255 255 2\n", "255 255 3\n", (1, 30), "loop"),
            ("1: 255", "2: 255", (2, 1), "expected the index of a switch, 0 to 1, found `2`"),
            ("1: 255", "1 255", (2, 1), "expected INDEX"),
            ("1: 255", "1: x", (2, 4), "expected a port from 0, or 255 for none, found `x`"),
            ("0 255 255 1", "9 255 255 1", (1, 20), "has ports 0 to 3, found 9"),
            ("0 255 255 1", "2 255 255 1", (1, 20), "leads nowhere"),
            ("3 255 255 2", "2 255 255 2", (2, 20), "leads to host `beta`"),
            ("1: 255 255 255 255 3 255 255 2\n", "", (0, 0), "there is no table for switch"),
        ],
    );
}
