//! Adaptive routing on grids: every candidate is on a shortest way, and the escape channels cannot
//! wait for each other, whatever lies between two of them.

use std::collections::{BTreeSet, VecDeque};

use topology::{Candidates, Graph, Header, Routes};

use crate::common::{is_acyclic, routed};

const GRIDS: [&str; 7] = [
    "ring:switches=4",
    "ring:switches=7",
    "mesh:dims=4x3",
    "torus:dims=4x4",
    "torus:dims=5x3,hosts=2",
    "torus:dims=4x2x3",
    "hyperx:dims=3x4",
];

/// The candidates of a packet at a switch, port by port: port, lane and priority.
fn offered(routes: &Routes, here: u32, header: &Header) -> Vec<(u16, u8, u8)> {
    let mut candidates = Candidates::new();
    routes.candidates(here, 0, 0, header, &mut candidates);
    let ports = candidates.as_slice().iter().flat_map(|candidate| {
        let ports = candidate.port..candidate.port + candidate.ports;
        ports.map(move |port| (port, candidate.lane, candidate.priority))
    });
    ports.collect()
}

/// The number of links from a device to every other.
fn links_from(graph: &Graph, device: u32) -> Vec<usize> {
    let mut links = vec![usize::MAX; graph.devices() as usize];
    links[device as usize] = 0;
    let mut queue = VecDeque::from([device]);
    while let Some(here) = queue.pop_front() {
        for (_, end) in graph.neighbours(here) {
            if links[end.device as usize] == usize::MAX {
                links[end.device as usize] = links[here as usize] + 1;
                queue.push_back(end.device);
            }
        }
    }
    links
}

/// All switches and destinations.
fn pairs(graph: &Graph) -> impl Iterator<Item = (u32, u32)> {
    let (hosts, devices) = (graph.hosts(), graph.devices());
    (hosts..devices).flat_map(move |here| (0..hosts).map(move |destination| (here, destination)))
}

/// The ports of the adaptive lane are those of all neighbours that are nearer to the destination.
#[test]
fn candidates_are_all_shortest_ways() {
    for spec in GRIDS {
        for routing in ["adaptive", "adaptive:bubble"] {
            let (topology, routes) = routed(spec, Some(routing));
            let graph = &topology.graph;
            for (here, destination) in pairs(graph) {
                let home = graph.peer(destination, 0).unwrap();
                let header = Header { destination, ..Header::default() };
                let found = offered(&routes, here, &header);
                if home.device == here {
                    assert_eq!(found, [(home.port, 0, 0)], "{spec}");
                    continue;
                }
                let links = links_from(graph, destination);
                let nearer = graph.neighbours(here).filter(|(_, end)| {
                    !graph.is_host(end.device) && links[end.device as usize] < links[here as usize]
                });
                let nearer: BTreeSet<u16> = nearer.map(|(port, _)| port).collect();
                let adaptive = routes.lanes() - 1;
                let free =
                    found.iter().filter(|(_, lane, priority)| (*lane, *priority) == (adaptive, 1));
                assert_eq!(free.map(|found| found.0).collect::<BTreeSet<_>>(), nearer, "{spec}");
                let escapes: Vec<_> = found.iter().filter(|found| found.2 == 0).collect();
                assert_eq!(escapes.len(), 1, "{spec}");
                assert!(escapes[0].1 < adaptive && nearer.contains(&escapes[0].0), "{spec}");
            }
        }
    }
}

/// Duato's condition: of the escape channels that a packet may take one after the other, with any
/// number of adaptive hops between them, no cycle can be made.
#[test]
fn escapes_have_no_cycle() {
    for spec in GRIDS {
        let (topology, routes) = routed(spec, Some("adaptive"));
        let graph = &topology.graph;
        let lanes = usize::from(routes.lanes());
        let most = (graph.hosts()..graph.devices()).map(|device| graph.ports(device)).max();
        let ports = most.unwrap() as usize;
        let number = |device: u32, port: u16, lane: u8| {
            (device as usize * ports + usize::from(port)) * lanes + usize::from(lane)
        };
        let mut after = vec![BTreeSet::new(); graph.devices() as usize * ports * lanes];
        for (start, destination) in pairs(graph) {
            let header = Header { destination, ..Header::default() };
            let (port, lane, _) = offered(&routes, start, &header)[0];
            let first = number(start, port, lane);
            // All switches that the packet can come to behind this escape channel.
            let mut reached = BTreeSet::new();
            let mut open = vec![graph.peer(start, port).unwrap().device];
            while let Some(here) = open.pop() {
                if graph.is_host(here) || !reached.insert(here) {
                    continue;
                }
                let found = offered(&routes, here, &header);
                let (port, lane, _) = found[0];
                if !graph.is_host(graph.peer(here, port).unwrap().device) {
                    after[first].insert(number(here, port, lane));
                }
                let ways = found.iter().map(|(port, ..)| graph.peer(here, *port).unwrap().device);
                open.extend(ways);
            }
        }
        assert!(is_acyclic(&after), "{spec}");
    }
}

/// The channels that a packet may take behind each other, over all ways from all sources, and the
/// most links between switches on one of them.
fn followed(spec: &str, routing: &str) -> (Vec<BTreeSet<usize>>, usize, Routes) {
    let (topology, routes) = routed(spec, Some(routing));
    let graph = &topology.graph;
    let lanes = usize::from(routes.lanes());
    let ports = (graph.hosts()..graph.devices()).map(|device| graph.ports(device)).max().unwrap();
    let number = |device: u32, port: u16, lane: u8| {
        (device as usize * ports as usize + usize::from(port)) * lanes + usize::from(lane)
    };
    let mut after = vec![BTreeSet::new(); graph.devices() as usize * ports as usize * lanes];
    let mut most = 0;
    for (source, destination) in
        (0..graph.hosts()).flat_map(|from| (0..graph.hosts()).map(move |to| (from, to)))
    {
        let header = Header { source, destination, ..Header::default() };
        let start = graph.peer(source, 0).unwrap();
        // A switch, the port and lane there, the channel before and the links so far.
        let mut open = vec![(start.device, (start.port, 0), None, 0)];
        let mut seen = BTreeSet::new();
        while let Some((here, input, before, links)) = open.pop() {
            let mut candidates = Candidates::new();
            routes.candidates(here, input.0, input.1, &header, &mut candidates);
            for candidate in candidates.as_slice() {
                for port in candidate.port..candidate.port + candidate.ports {
                    let end = graph.peer(here, port).unwrap();
                    if graph.is_host(end.device) {
                        assert_eq!(end.device, destination, "{spec} {routing}");
                        most = most.max(links);
                        continue;
                    }
                    let channel = number(here, port, candidate.lane);
                    if let Some(before) = before {
                        let set: &mut BTreeSet<usize> = &mut after[before];
                        set.insert(channel);
                    }
                    assert!(candidate.lane < routes.lanes() && links < 20, "{spec} {routing}");
                    if seen.insert((before, channel)) {
                        let input = (end.port, candidate.lane);
                        open.push((end.device, input, Some(channel), links + 1));
                    }
                }
            }
        }
    }
    (after, most, routes)
}

/// With deroutes a packet crosses a line by two links at most, of two switches by one; whatever it
/// takes, it comes to its destination, and channels do not wait for each other in a circle.
#[test]
fn deroutes_in_a_hyperx() {
    for (spec, links, lanes) in [
        ("complete:switches=5,hosts=2", 2, 2),
        ("hyperx:dims=3x4", 4, 4),
        ("hyperx:dims=2x3x3", 5, 5),
        ("hyperx:dims=1x4,hosts=2", 2, 2),
    ] {
        for (routing, lanes) in [("dal", lanes), ("dimension-adaptive", 2)] {
            let (after, most, routes) = followed(spec, routing);
            assert_eq!((most, routes.lanes()), (links, lanes), "{spec} {routing}");
            assert!(is_acyclic(&after), "{spec} {routing}");
            assert!(routes.is_adaptive() && routes.weighs_ports());
        }
    }
}

/// In a HyperX of 4x4 with a host on each switch, from (0, 0) to (2, 1): two links are left by the
/// shortest ways, ports 1 + 1 and 4 + 0, and three by the others. At (1, 0), behind a deroute, the
/// first dimension has the shortest way alone.
#[test]
fn candidates_with_deroutes() {
    let (_, routes) = routed("hyperx:dims=4x4", Some("dal"));
    let header = Header { source: 0, destination: 6, ..Header::default() };
    let offered = |routes: &Routes, switch: u32, input: (u16, u8)| {
        let mut candidates = Candidates::new();
        routes.candidates(16 + switch, input.0, input.1, &header, &mut candidates);
        let ports = candidates.as_slice().iter().flat_map(|candidate| {
            let ports = candidate.port..candidate.port + candidate.ports;
            ports.map(|port| (port, candidate.lane, candidate.links))
        });
        ports.collect::<Vec<_>>()
    };
    let first = [(2, 0, 2), (1, 0, 3), (3, 0, 3), (4, 0, 2), (5, 0, 3), (6, 0, 3)];
    assert_eq!(offered(&routes, 0, (0, 0)), first);
    assert_eq!(offered(&routes, 1, (1, 0)), [(2, 1, 2), (4, 1, 2), (5, 1, 3), (6, 1, 3)]);
    assert_eq!(offered(&routes, 6, (4, 1)), [(0, 0, 0)]);
    let (_, routes) = routed("hyperx:dims=4x4", Some("dimension-adaptive"));
    assert_eq!(offered(&routes, 0, (0, 0)), [(2, 1, 2), (1, 0, 3), (3, 0, 3)]);
    assert_eq!(offered(&routes, 1, (1, 0)), [(2, 1, 2)]);
    assert_eq!(offered(&routes, 2, (2, 1)), [(4, 1, 1), (5, 0, 2), (6, 0, 2)]);
}
