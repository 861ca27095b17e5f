//! Files as tools write them and as users break them: inputs that readers once refused, misread or
//! took minutes for.

use std::{fmt::Write as _, fs};

use topology::{
    Imported, Rate, Speed,
    import::{self, fdb_vectors, lft_dump},
    parse, place,
};

fn case(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Four hosts on two switches, with one link between these.
fn check_four_hosts(imported: &Imported, file: &str) {
    let graph = &imported.topology.graph;
    assert_eq!((graph.hosts(), graph.switches(), graph.links().len()), (4, 2, 5), "{file}");
    let lids: Vec<u32> = imported.lids.keys().copied().collect();
    assert_eq!(lids, [11, 12, 13, 14], "{file}");
    for lid in [1, 2] {
        assert!(imported.other_lids.contains(&lid), "{file}");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let imported = import::any(&case("csv-bom.csv")).unwrap();
    assert!(imported.topology.graph.hosts() > 0);
    check_four_hosts(&import::any(&case("ibnetdiscover-bom.txt")).unwrap(), "bom");
}

/// The headings and external ports of `ibnetdiscover -g`.
#[test]
fn chassis() {
    let imported = import::any(&case("ibnetdiscover-chassis.txt")).unwrap();
    check_four_hosts(&imported, "chassis");
    assert_eq!(imported.warnings.0, []);
}

/// XDR is 200 Gb/s per lane (roadmap of the InfiniBand Trade Association).
#[test]
fn xdr() {
    let imported = import::any(&case("ibnetdiscover-xdr.txt")).unwrap();
    check_four_hosts(&imported, "xdr");
    let rate = imported.topology.graph.link(0).rate.unwrap();
    assert_eq!(rate, Rate::Lanes(4, Speed::Xdr));
    assert_eq!(rate.bandwidth().bits_per_second(), 800_000_000_000);
}

/// A router is no host and no switch of this subnet: line 51 declares it.
#[test]
fn routers_are_left_out() {
    let text = case("ibnetdiscover-router.txt");
    let imported = import::any(&text).unwrap();
    check_four_hosts(&imported, "router");
    let warning = &imported.warnings.0[0];
    let line = text.lines().position(|line| line.starts_with("Rt")).unwrap() as u32 + 1;
    assert_eq!((warning.line, imported.warnings.0.len()), (line, 1));
    assert!(warning.message.contains("`R-00000000000000f1` leads to other subnets"));
    assert!(imported.other_lids.contains(&30));
}

/// The nodes with which switches reduce look like adapters.
#[test]
fn aggregation_nodes_are_no_hosts() {
    let text = case("ibnetdiscover-router.txt")
        .replace("\"R-", "\"H-")
        .replace("Rt\t2", "Ca\t2")
        .replace("# \"router\"", "# \"Mellanox Technologies Aggregation Node\"");
    let imported = import::any(&text).unwrap();
    check_four_hosts(&imported, "aggregation node");
    let warning = &imported.warnings.0[0].message;
    assert!(warning.contains("`H-00000000000000f1` is an aggregation node"), "{warning}");
}

#[test]
fn what_discoveries_do_not_say() {
    let sound = case("ibnetdiscover-chassis.txt");
    for (from, to, message) in [
        ("devid=", "deviid=", "unknown key `deviid`"),
        ("Chassis 1 (guid", "Chasis 1 (guid", "found `Chasis`"),
        ("[1](d1) \t\t# \"node1", "[1](d1) \t\t; \"node1", "expected a port such as"),
    ] {
        assert!(sound.contains(from), "{from}");
        let faults = import::any(&sound.replacen(from, to, 1)).unwrap_err();
        assert!(faults.to_string().contains(message), "{to}: {faults}");
    }
}

#[test]
fn two_tables_for_one_switch() {
    let star = parse("star:hosts=4").map(Imported::from).unwrap();
    let faults = fdb_vectors(&case("lft-conflict.lfts"), &star).unwrap_err();
    assert_eq!((faults.0[0].line, faults.0[0].column), (2, 1));
    assert!(faults.0[0].message.starts_with("switch 0 has two tables"), "{faults}");
    // A table may go on in another line.
    assert!(fdb_vectors("0: 255 0 1\n0: 2 3\n", &star).is_ok());

    let discovered = import::any(&case("ibnetdiscover-xdr.txt")).unwrap();
    let table = |guid: char, ports: [u32; 4]| {
        let mut text = format!("Unicast lids [0x0-0xe] of switch Lid 1 guid 0x{guid}1 (leaf):\n");
        for (lid, port) in (11..).zip(ports) {
            writeln!(text, "{lid:#06x} {port:03} :").unwrap();
        }
        text
    };
    let sound = table('a', [1, 2, 36, 36]) + &table('b', [36, 36, 1, 2]);
    assert!(lft_dump(&sound, &discovered).unwrap().warnings.0.is_empty());
    let faults = lft_dump(&(sound.clone() + &table('a', [1, 2, 36, 36])), &discovered).unwrap_err();
    assert_eq!(faults.0[0].line, 11);
    assert!(faults.0[0].message.contains("has two tables, the first in line 1"), "{faults}");
    // Entries that mean nothing.
    let stranger = sound.replacen("0x000b", "0x0063 001 :\n0x000b", 1);
    let warnings = lft_dump(&stranger, &discovered).unwrap().warnings;
    assert_eq!(warnings.0[0].line, 2);
    assert!(warnings.0[0].message.contains("local identifier 99"), "{warnings}");
    let faults = lft_dump(&sound.replacen("0x000b 001", "0x000b 000", 1), &discovered).unwrap_err();
    assert!(faults.to_string().contains("is a host, which is not at port 0"), "{faults}");
    let faults = lft_dump(&sound.replacen("0x000b", "Ox000b", 1), &discovered).unwrap_err();
    assert!(faults.to_string().contains("found `Ox000b`"), "{faults}");
}

/// Of hosts 1 to 4 and a fifth identifier that nobody has.
#[test]
fn ports_for_nobody() {
    let star = parse("star:hosts=4").map(Imported::from).unwrap();
    let warnings = fdb_vectors("0: 255 0 1 2 3 2\n", &star).unwrap().warnings;
    assert_eq!((warnings.0[0].line, warnings.0[0].column), (1, 16));
    assert!(warnings.render_warnings("t").starts_with("warning: t:1:16: no device has"));
}

/// Readers that look at all words again for each mistake take minutes here. The first twenty
/// mistakes are shown, with the number of the others.
#[test]
fn many_mistakes_take_linear_time() {
    const COUNT: usize = 60_000;
    let lines = |line: &dyn Fn(usize) -> String| (0..COUNT).map(line).collect::<String>();
    let csv = lines(&|n| format!("host,h{n}\nlink,h{n},s{n}\n"));
    let toml = String::from("[hosts]\n")
        + &lines(&|n| format!("h{n} = 1\n"))
        + &lines(&|n| format!("[[link]]\nends = [\"h{n}\", \"s{n}\"]\n"));
    let routes = lines(&|n| format!("<host id='h{n}'/><route src='h{n}' dst='x{n}'/>"));
    let xml = format!("<platform version='4.1'><zone id='z'>{routes}</zone></platform>");
    for text in [csv, toml, xml] {
        let faults = import::any(&text).unwrap_err();
        assert_eq!(faults.0.len(), COUNT);
        let shown = faults.render("f");
        assert_eq!(shown.matches("error: f:").count(), 20);
        assert!(shown.ends_with("error: 59980 more mistakes are not shown\n"), "{shown}");
    }
    let names: Vec<String> = (0..COUNT).map(|n| format!("node{n}.cluster")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wrong = lines(&|n| format!("mode{n},"));
    assert_eq!(place::listed(&wrong, &names).unwrap_err().0.len(), COUNT);
    let right = lines(&|n| format!("node{n},"));
    assert_eq!(place::listed(&right, &names).unwrap().len(), COUNT);
    let wrong = lines(&|n| format!("{n} mode{n}\n"));
    let faults = place::from_file(&wrong, COUNT as u32, &names).unwrap_err();
    assert_eq!(faults.0.len(), COUNT);
}

/// A switch whose ports are all left open, and a table of long lines.
#[test]
fn many_ports_take_linear_time() {
    let count = 60_000;
    let mut csv = String::from("switch,s\n");
    (0..count).for_each(|n| writeln!(csv, "host,h{n}\nlink,h{n},s").unwrap());
    let imported = import::any(&csv).unwrap();
    assert_eq!(imported.topology.graph.ports(count), count);
    let mut table = String::from("0: 255");
    (0..count).for_each(|port| write!(table, " {}", port + u32::from(port == 255)).unwrap());
    // As port 255 means none, the entry of the host there leads to another one.
    let faults = fdb_vectors(&table, &imported).unwrap_err();
    assert_eq!(faults.0.len(), 1, "{faults}");
}

/// Few bytes that stand for many hosts, levels or ports.
#[test]
fn numbers_decide_no_allocation() {
    let cluster = |radical: &str| {
        let hosts = format!("prefix='n' suffix='' radical='{radical}' bw='1GBps' lat='1us'");
        format!("<platform version='4.1'><cluster id='c' {hosts}/></platform>")
    };
    for radical in ["0-4294967295", "0-1048576", &"0-600000,".repeat(2000)] {
        let faults = import::any(&cluster(radical)).unwrap_err();
        let expected = "radical: the clusters of a file have at most 1048576 hosts";
        assert!(faults.0.iter().any(|fault| fault.message == expected), "{radical:.20}");
    }
    let declared = |n| format!("switch,s{n},65535\n");
    let csv = String::from("host,a\n") + &(0..2000).map(declared).collect::<String>();
    assert!(import::any(&csv).unwrap_err().to_string().contains("ports are too many"));
    let large = parse("torus:dims=128x128").map(Imported::from).unwrap();
    assert!(fdb_vectors("0: 1", &large).unwrap_err().to_string().contains("are too large"));
    let ones = "1x".repeat(100_000) + "1";
    for spec in [
        format!("xgft:children={ones},parents={ones}"),
        format!("mesh:dims={ones}"),
        "star:hosts=4294967295".to_owned(),
        "fat-tree:levels=4294967295,radix=4294967294".to_owned(),
        "k-ary-n-tree:k=4294967295,n=4294967295".to_owned(),
        "torus:dims=4294967295x4294967295".to_owned(),
        "hypercube:dimensions=4294967295".to_owned(),
        "complete:switches=4294967295,hosts=4294967295".to_owned(),
        "dragonfly:p=4294967295".to_owned(),
        "dragonfly:p=1,a=4294967295,h=4294967295,g=4294967295".to_owned(),
        "slim-fly:q=4294967295".to_owned(),
        "slim-fly:q=997,hosts=4294967295".to_owned(),
        "rails:rails=4294967295,hosts=4294967295,units=4294967295,spines=4294967295".to_owned(),
    ] {
        assert!(parse(&spec).is_err(), "{spec:.60}");
    }
}
