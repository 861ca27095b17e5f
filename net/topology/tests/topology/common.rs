use std::collections::BTreeSet;

use topology::{Graph, Header, Routes, Routing, Topology, parse};

/// A topology and its routes.
pub fn routed(spec: &str, routing: Option<&str>) -> (Topology, Routes) {
    let topology = parse(spec).unwrap();
    let routing = routing.map(|name| name.parse::<Routing>().unwrap());
    let routes = Routes::build(&topology, routing).unwrap();
    (topology, routes)
}

/// The number of links of a packet's way; the lanes it uses are those the route set announces.
pub fn links(graph: &Graph, routes: &Routes, header: &Header) -> u32 {
    let mut hop = routes.first_hop(header);
    let mut here = header.source;
    for count in 1..200 {
        assert!(hop.lane < routes.lanes());
        let end = graph.peer(here, hop.port).unwrap();
        if end.device == header.destination {
            return count;
        }
        assert!(!graph.is_host(end.device), "came to a wrong host");
        hop = routes.hop(end.device, end.port, hop.lane, header);
        here = end.device;
    }
    panic!("a loop");
}

/// The hosts that have a link that works.
pub fn in_service(graph: &Graph) -> Vec<u32> {
    (0..graph.hosts()).filter(|&host| graph.ends(host).iter().any(Option::is_some)).collect()
}

/// The lengths of all ways between different hosts in service, in links: the longest and the sum.
pub fn lengths(topology: &Topology, routes: &Routes, random: u64) -> (u32, u64) {
    let (mut longest, mut sum) = (0, 0);
    let hosts = in_service(&topology.graph);
    for &source in &hosts {
        for destination in hosts.iter().copied().filter(|&d| d != source) {
            let choice = routes.choose(source, destination, || random);
            let header = Header { source, destination, level: 0, choice };
            let count = links(&topology.graph, routes, &header);
            if let Some(between) = routes.distance(source, destination) {
                assert_eq!(between + 2, count, "{source} to {destination}");
            }
            longest = longest.max(count);
            sum += u64::from(count);
        }
    }
    (longest, sum)
}

/// Distances between all pairs of hosts in service by breadth-first search over the ports: the
/// longest and the sum.
pub fn distances(graph: &Graph) -> (u32, u64) {
    let (mut longest, mut sum) = (0, 0);
    let hosts = in_service(graph);
    for &source in &hosts {
        let mut distance = vec![u32::MAX; graph.devices() as usize];
        distance[source as usize] = 0;
        let mut queue = vec![source];
        let mut head = 0;
        while head < queue.len() {
            let here = queue[head];
            head += 1;
            for port in 0..graph.ports(here) {
                let Some(end) = graph.peer(here, port as u16) else { continue };
                if distance[end.device as usize] == u32::MAX {
                    distance[end.device as usize] = distance[here as usize] + 1;
                    if !graph.is_host(end.device) {
                        queue.push(end.device);
                    }
                }
            }
        }
        for &host in &hosts {
            longest = longest.max(distance[host as usize]);
            sum += u64::from(distance[host as usize]);
        }
    }
    (longest, sum)
}

/// Takes channels away that no other comes before (Kahn, 1962).
pub fn is_acyclic(after: &[BTreeSet<usize>]) -> bool {
    let mut before = vec![0; after.len()];
    for &next in after.iter().flatten() {
        before[next] += 1;
    }
    let mut free: Vec<usize> = (0..after.len()).filter(|&channel| before[channel] == 0).collect();
    let mut gone = 0;
    while let Some(channel) = free.pop() {
        gone += 1;
        for &next in &after[channel] {
            before[next] -= 1;
            if before[next] == 0 {
                free.push(next);
            }
        }
    }
    gone == after.len()
}
