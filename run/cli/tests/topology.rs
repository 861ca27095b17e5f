//! `heddle topology`.

mod common;

use common::Folder;

/// M9: 648 hosts on 36 leaves of 18 below 18 switches; host 0 to host 647: leaf 0, the switch above
/// that the digit of 647 decides, 647 mod 18 = 17, leaf 35 and its port 647 mod 18 = 17. Ways up
/// begin at port 18.
#[test]
fn figures_and_a_route() {
    let folder = Folder::new("topology");
    let json = folder.heddle("topology M9 --routes h0:h647 --format json").json();
    assert_eq!(json["hosts"], 648);
    assert_eq!(json["switches"], 54);
    assert_eq!(json["diameter"], 4);
    assert_eq!(json["bisection"]["links"], 324);
    assert_eq!(json["deadlock_free"], true);
    let way: Vec<String> = json["routes"][0]
        .as_array()
        .expect("a route")
        .iter()
        .map(|hop| format!("{}:{}", hop["device"].as_str().expect("a name"), hop["port"]))
        .collect();
    assert_eq!(way, ["h0:0", "s1.0:35", "s2.17:35", "s1.35:17", "h647:0"]);
}

#[test]
fn a_ring_on_one_lane_can_deadlock() {
    let command = "topology ring:switches=5 --routing dimension-order:lanes=1";
    let output = Folder::new("topology-ring").heddle(command);
    assert!(output.stdout.contains("deadlock         possible: s0:1 lane 0 -> s1:1 lane 0"));
}

#[test]
fn draws_and_reads_files() {
    let folder = Folder::new("topology-files");
    folder.write("edges.csv", "host,a\nhost,b\nswitch,s\nlink,a,s\nlink,b,s\n");
    folder.write("fdb.txt", "0: 255 0 1\n");
    let output = folder.heddle("topology edges.csv --tables fdb.txt --routes a:b --draw star.svg");
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(output.stdout.contains("route            a:0 -> s:1 -> b\n"));
    assert!(folder.read("star.svg").starts_with(b"<svg "));
    assert_eq!(folder.names("."), ["edges.csv", "fdb.txt", "star.svg"]);
    assert!(folder.heddle("topology list").stdout.contains("keys: levels, radix\n"));
}

#[test]
fn mistakes() {
    let folder = Folder::new("topology-mistakes");
    folder.write("edges.csv", "host,a\nswitch,s,2\nlink,a,s:2\n");
    for (arguments, message, code) in [
        ("topology torsu:dims=4", "did you mean `torus`?", 2),
        ("topology edges.csv", "error: edges.csv:3:8: dangling port: `s` has ports 0 to 1", 1),
        ("topology H8_S6 --fail s9", "there is no switch `s9`", 2),
        ("topology chain:switches=3 --fail s1", "there is no way from", 1),
        ("topology H8_S6 --fail h0:0 --routes h0:h1", "`h0` is out of service", 2),
        ("topology H8_S6 --routing valiantt", "did you mean `valiant`?", 2),
        ("topology H8_S6 --routes h0", "expected two hosts", 2),
        ("topology H8_S6 --routes h0:h9", "there is no host `h9`", 2),
        ("topology H8_S6 --routing dimension-order", "needs a grid", 1),
    ] {
        let output = folder.heddle(arguments);
        assert!(output.stderr.contains(message), "{arguments}: {}", output.stderr);
        assert_eq!(output.code, code, "{arguments}");
    }
}
