//! Formulas that take the place of tables and searches at sizes too large for tests: on small
//! topologies they must give shortest ways, free of deadlock, and the figures of the search.

use crate::{
    Algorithm, Header, Routes, Routing, Topology, metrics, parse,
    route::{Search, by_formula_alone},
};

/// The routes by formula, which a topology of this size has no need of.
fn by_formula(topology: &Topology, routing: impl Into<Routing>) -> Routes {
    by_formula_alone(topology, routing.into()).unwrap()
}

/// The channels between switches, as (device, port, lane), on the way of a packet.
fn way(topology: &Topology, routes: &Routes, header: &Header) -> Vec<(u32, u16, u8)> {
    let graph = &topology.graph;
    let (mut here, mut hop) = (header.source, routes.first_hop(header));
    let mut channels = Vec::new();
    while channels.len() < 100 {
        let end = graph.peer(here, hop.port).unwrap();
        if end.device == header.destination {
            return channels;
        }
        assert!(!graph.is_host(end.device), "came to a wrong host: {header:?}");
        if !graph.is_host(here) {
            channels.push((here, hop.port, hop.lane));
        }
        here = end.device;
        hop = routes.hop(here, end.port, hop.lane, header);
        assert!(hop.lane < routes.lanes(), "{header:?}");
    }
    panic!("a loop: {header:?}");
}

const SPECS: [&str; 17] = [
    "slim-fly:q=3,hosts=1",
    "slim-fly:q=4,hosts=1",
    "slim-fly:q=5,hosts=2",
    "slim-fly:q=7,hosts=1",
    "slim-fly:q=8,hosts=1",
    "slim-fly:q=9,hosts=1",
    "slim-fly:q=11,hosts=1",
    "hyperx:dims=4,hosts=2",
    "hyperx:dims=4x3,hosts=2",
    "hyperx:dims=3x2x4",
    "hypercube:dimensions=4",
    "mesh:dims=4x3x2",
    "chain:switches=5",
    "torus:dims=4x5",
    "torus:dims=5x2x3,hosts=2",
    "ring:switches=7",
    "dragonfly:p=2",
];

#[test]
fn ways_by_formula_are_shortest() {
    // Of dragonflies they have at most one global link, which need not be shortest.
    for spec in &SPECS[..SPECS.len() - 1] {
        let topology = parse(spec).unwrap();
        let graph = &topology.graph;
        let routes = by_formula(&topology, Algorithm::Minimal);
        let mut search = Search::minimal(graph);
        let home = |host| graph.peer(host, 0).unwrap().device - graph.hosts();
        for destination in 0..graph.hosts() {
            search.run(&[home(destination)]);
            for source in (0..graph.hosts()).filter(|&source| source != destination) {
                let header = Header { source, destination, ..Header::default() };
                let links = way(&topology, &routes, &header).len() as u32;
                assert_eq!(Some(links), search.distance(home(source)), "{spec} {header:?}");
            }
        }
    }
}

/// Every packet on every way that its source can choose: the channels wait for each other in no
/// circle.
#[test]
fn ways_by_formula_are_free_of_deadlock() {
    for spec in SPECS.iter().filter(|spec| !spec.contains("q=11")) {
        let topology = parse(spec).unwrap();
        for algorithm in [Algorithm::Minimal, Algorithm::Valiant] {
            let routes = by_formula(&topology, algorithm);
            let mut channels = rustc_hash::FxHashMap::default();
            let mut after: Vec<Vec<u32>> = Vec::new();
            let hosts = topology.graph.hosts();
            for source in 0..hosts {
                for destination in (0..hosts).filter(|&destination| destination != source) {
                    let choose = |n: u64| routes.choose(source, destination, || n << 58);
                    let mut choices: Vec<u32> = (0..64).map(choose).collect();
                    choices.sort_unstable();
                    choices.dedup();
                    for choice in choices {
                        let header = Header { source, destination, level: 0, choice };
                        let mut from: Option<u32> = None;
                        for channel in way(&topology, &routes, &header) {
                            let next = channels.len() as u32;
                            let number = *channels.entry(channel).or_insert(next);
                            after.resize(channels.len(), Vec::new());
                            if let Some(from) = from.replace(number)
                                && !after[from as usize].contains(&number)
                            {
                                after[from as usize].push(number);
                            }
                        }
                    }
                }
            }
            assert!(is_acyclic(&after), "{spec} {algorithm:?}");
        }
    }
}

/// Kahn's algorithm, 1962: takes away what nothing waits for until there is nothing left.
fn is_acyclic(after: &[Vec<u32>]) -> bool {
    let mut waiting = vec![0; after.len()];
    for &next in after.iter().flatten() {
        waiting[next as usize] += 1;
    }
    let mut free: Vec<usize> = (0..after.len()).filter(|&channel| waiting[channel] == 0).collect();
    let mut gone = 0;
    while let Some(channel) = free.pop() {
        gone += 1;
        for &next in &after[channel] {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                free.push(next as usize);
            }
        }
    }
    gone == after.len()
}

/// Valiant's ways pass by the chosen switch, so that packets spread over all of them.
#[test]
fn valiant_by_formula_passes_by_the_choice() {
    for spec in ["torus:dims=4x5", "mesh:dims=3x4", "hyperx:dims=3x4", "slim-fly:q=5,hosts=1"] {
        let topology = parse(spec).unwrap();
        let routes = by_formula(&topology, Algorithm::Valiant);
        let hosts = topology.graph.hosts();
        for (source, destination) in [(0, hosts - 1), (hosts / 2, 1)] {
            for choice in (0..hosts).filter(|via| *via != source && *via != destination) {
                let header = Header { source, destination, level: 0, choice: choice + 1 };
                let way = way(&topology, &routes, &header);
                let passes = way.iter().any(|(device, ..)| *device == hosts + choice);
                assert!(passes, "{spec} {header:?}: {way:?}");
            }
        }
    }
}

#[test]
fn closed_forms_are_the_figures_of_the_search() {
    let trees = [
        "star:hosts=7",
        "fat-tree:levels=3,radix=4",
        "k-ary-n-tree:k=3,n=3",
        "xgft:children=3x1x4,parents=1x2x3,cables=1x2x1",
        "xgft:children=2x4,parents=2x3,cables=2x1",
    ];
    for spec in SPECS[..SPECS.len() - 1].iter().chain(&trees) {
        let topology = parse(spec).unwrap();
        let searched = topology.metrics();
        let (diameter, mean) = metrics::closed_form(&topology.shape).unwrap();
        assert_eq!(Some(diameter), searched.diameter, "{spec}");
        assert!((mean - searched.mean_hops).abs() < 1e-12, "{spec}: {mean}");
    }
}
