//! Ranks on hosts.

use topology::{Placement, parse, place};

#[test]
fn rules() {
    // 6 ranks on 4 hosts: two on each host until all are placed.
    assert_eq!(Placement::Linear.place(6, 4).unwrap(), [0, 0, 1, 1, 2, 2]);
    assert_eq!(Placement::RoundRobin.place(6, 4).unwrap(), [0, 1, 2, 3, 0, 1]);
    let random = Placement::Random { seed: 7 }.place(64, 64).unwrap();
    assert_eq!(random, Placement::Random { seed: 7 }.place(64, 64).unwrap());
    assert_ne!(random, Placement::Random { seed: 8 }.place(64, 64).unwrap());
    let mut sorted = random;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..64));
    assert!(Placement::Linear.place(1, 0).is_err());
}

#[test]
fn files() {
    let graph = parse("star:hosts=4").unwrap().graph;
    assert_eq!(place::from_file("1 h3\n0 h1 # first\n", 2, &graph.host_names()).unwrap(), [1, 3]);
    let text = "0 h1\n1 h9\n0 h2\n7 h1\nx h1\n2\n";
    let faults = place::from_file(text, 4, &graph.host_names()).unwrap_err().0;
    let places: Vec<_> = faults.iter().map(|fault| (fault.line, fault.column)).collect();
    assert_eq!(places, [(0, 0), (2, 3), (3, 1), (4, 1), (5, 1), (6, 1)]);
    assert!(faults[0].message.contains("rank 2 and 1 others are not placed"));
    assert!(faults[2].message.contains("rank 0 is placed twice, first in line 1"));
}

#[test]
fn recorded_names() {
    let graph = parse("star:hosts=4").unwrap().graph;
    assert_eq!(place::by_names(&["h2", "h0.cluster.org"], &graph).unwrap(), [2, 0]);
    assert_eq!(place::by_names(&["x", "h0", "y"], &graph).unwrap_err().0.len(), 2);
}

/// Slots are filled in order, or one of each host in turn; hosts without a number of slots share
/// what the others leave.
#[test]
fn on_listed_hosts() {
    let hosts = [(5, Some(2)), (1, Some(1)), (3, Some(3))];
    assert_eq!(Placement::Linear.on(6, &hosts).unwrap(), [5, 5, 1, 3, 3, 3]);
    assert_eq!(Placement::RoundRobin.on(6, &hosts).unwrap(), [5, 1, 3, 5, 3, 3]);
    assert_eq!(Placement::Linear.on(3, &hosts).unwrap(), [5, 5, 1]);
    // Two are said; of the other five, each of the two hosts takes three at most.
    let some = [(0, None), (1, Some(2)), (2, None)];
    assert_eq!(Placement::Linear.on(7, &some).unwrap(), [0, 0, 0, 1, 1, 2, 2]);
    let fault = Placement::Linear.on(7, &hosts).unwrap_err();
    assert_eq!(fault.message, "7 ranks, but 3 hosts have room for 6");
    let fault = Placement::Linear.on(7, &hosts[..1]).unwrap_err();
    assert_eq!(fault.message, "7 ranks, but 1 host has room for 2");
    let mut random = Placement::Random { seed: 3 }.on(6, &hosts).unwrap();
    random.sort_unstable();
    assert_eq!(random, [1, 3, 3, 3, 5, 5]);
}

#[test]
fn lists_of_hosts() {
    let names = ["node-1.site.org", "node-2.site.org", "node:7", "gpu"];
    let listed = |text: &str| place::listed(text, &names);
    let expected = [(1, Some(4)), (0, None), (3, Some(2)), (2, None)];
    assert_eq!(listed("node-2:4,node-1.site.org gpu gpu,node:7").unwrap(), expected);
    // A number that is no name.
    assert_eq!(listed("3:2,0").unwrap(), [(3, Some(2)), (0, None)]);
    let all = [(1, Some(2)), (2, Some(2)), (3, Some(2)), (0, None)];
    assert_eq!(listed("1-3:2,0").unwrap(), all);
    for wrong in ["2-1", "2-4", "0-", "-1", "0-4294967296"] {
        let faults = listed(wrong).unwrap_err().0;
        assert_eq!(faults[0].message, format!("there is no host `{wrong}`"));
    }
    let names: Vec<String> = (0..1 << 16).map(|host| format!("h{host}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let faults = place::listed(&"0-65535,".repeat(65), &names).unwrap_err().0;
    assert!(faults[0].message.contains("too many in all"), "{faults:?}");
    let faults = listed("nodee-1,gpu:x,9").unwrap_err().0;
    let said: Vec<_> = faults.iter().map(|fault| fault.message.as_str()).collect();
    let slots = "expected a number of slots behind the colon, found `gpu:x`";
    assert_eq!(said, ["there is no host `nodee-1`", slots, "there is no host `9`"]);
}

/// Open MPI's rank files, as its manual page shows them.
#[test]
fn rank_files() {
    let text = "rank 0=b slot=1:0-2\nrank 1=a slot=0:0,1\nrank 2=a\n";
    assert_eq!(place::from_file(text, 3, &["a", "b"]).unwrap(), [1, 0, 0]);
}

#[test]
fn names_of_hosts_may_hold_blanks() {
    let names = ["node one", "two"];
    assert_eq!(place::from_file("1 node one\n0 two # last\n", 2, &names).unwrap(), [1, 0]);
    let faults = place::from_file("0 two three\n1 two\n", 2, &names).unwrap_err();
    let said: Vec<_> = faults.0.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(said, ["rank 0 is not placed", "expected a rank and a host"]);
}
