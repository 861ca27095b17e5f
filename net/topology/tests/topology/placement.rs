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
