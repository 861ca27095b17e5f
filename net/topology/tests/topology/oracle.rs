//! The deadlock analysis against a naive one, which sends every packet on its way.

use topology::{
    Amount, Candidate, Candidates, Failure, Header, Topology, parse,
    route::{Channel, Routes, analyse},
};

use crate::common::{distances, in_service, lengths};

/// The dependencies of every channel between switches; a channel is numbered by device, port and
/// lane.
struct Naive {
    first: Vec<usize>,
    lanes: usize,
    after: Vec<Vec<usize>>,
    /// The buffer for candidates, of which these routings write one: their hop.
    candidates: Candidates,
}

impl Naive {
    /// All packets between all hosts with everything that a source can choose.
    fn new(topology: &Topology, routes: &Routes) -> Self {
        let graph = &topology.graph;
        let mut first = vec![0];
        for device in 0..graph.devices() {
            first.push(first[device as usize] + graph.ports(device) as usize);
        }
        let lanes = usize::from(routes.lanes());
        let after = vec![Vec::new(); first[graph.devices() as usize] * lanes];
        let mut naive = Self { first, lanes, after, candidates: Candidates::new() };
        let hosts = in_service(graph);
        for &source in &hosts {
            for destination in hosts.iter().copied().filter(|&host| host != source) {
                let choose = |n: u64| routes.choose(source, destination, || n << 56);
                let mut choices: Vec<_> = (0..256).map(choose).collect();
                choices.sort_unstable();
                choices.dedup();
                for choice in choices {
                    let header = Header { source, destination, level: 0, choice };
                    naive.send(topology, routes, &header);
                }
            }
        }
        naive
    }

    fn number(&self, channel: Channel) -> usize {
        let port = self.first[channel.from.device as usize] + usize::from(channel.from.port);
        port * self.lanes + usize::from(channel.lane)
    }

    fn send(&mut self, topology: &Topology, routes: &Routes, header: &Header) {
        let graph = &topology.graph;
        let (mut here, mut hop, mut from) = (header.source, routes.first_hop(header), None);
        for _ in 0..200 {
            let end = graph.peer(here, hop.port).unwrap();
            if end.device == header.destination {
                return;
            }
            if !graph.is_host(here) {
                let plug = topology::Plug { device: here, port: hop.port };
                let channel = self.number(Channel { from: plug, lane: hop.lane });
                if let Some(from) = from.replace(channel)
                    && !self.after[from].contains(&channel)
                {
                    self.after[from].push(channel);
                }
            }
            here = end.device;
            let (port, lane) = (end.port, hop.lane);
            hop = routes.hop(here, port, lane, header);
            routes.candidates(here, port, lane, header, &mut self.candidates);
            let only =
                Candidate { port: hop.port, ports: 1, lane: hop.lane, priority: 0, links: 0 };
            assert_eq!(self.candidates.as_slice()[0], only, "{header:?} at {here}");
            assert!(routes.is_adaptive() || self.candidates.as_slice().len() == 1);
        }
        panic!("{header:?} goes round in a loop");
    }

    /// Takes channels away that nothing waits for until there are none (Kahn, 1962): what is left
    /// has a cycle.
    fn has_cycle(&self) -> bool {
        let mut waiting = vec![0; self.after.len()];
        for &next in self.after.iter().flatten() {
            waiting[next] += 1;
        }
        let mut free: Vec<_> =
            (0..waiting.len()).filter(|&channel| waiting[channel] == 0).collect();
        let mut gone = 0;
        while let Some(channel) = free.pop() {
            gone += 1;
            for &next in &self.after[channel] {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    free.push(next);
                }
            }
        }
        gone < waiting.len()
    }
}

/// The answer is that of the naive analysis, and a cycle is one of its dependencies; of halves that
/// meet on one lane more turns are counted than there are packets for, so that around failures a
/// cycle may be seen where there is none.
fn check(topology: &Topology, routing: &str) -> bool {
    let routes = Routes::build(topology, Some(routing.parse().unwrap())).unwrap();
    let naive = Naive::new(topology, &routes);
    let cycle = analyse(&topology.graph, &routes).cycle;
    let name = format!("{:?} {routing}", topology.shape);
    let halves = routing == "valiant:lanes=1";
    if !halves || topology.is_intact() {
        assert_eq!(cycle.is_some(), naive.has_cycle(), "{name}");
    } else {
        assert!(cycle.is_some() || !naive.has_cycle(), "{name}");
    }
    let cycle = cycle.unwrap_or_default();
    if halves {
        return !cycle.is_empty();
    }
    for (index, &channel) in cycle.iter().enumerate() {
        let next = naive.number(cycle[(index + 1) % cycle.len()]);
        assert!(naive.after[naive.number(channel)].contains(&next), "{name}: {cycle:?}");
    }
    !cycle.is_empty()
}

const GRIDS: [&str; 16] = [
    "chain:switches=5",
    "ring:switches=3",
    "ring:switches=4",
    "ring:switches=4,hosts=2",
    "ring:switches=5",
    "ring:switches=6",
    "ring:switches=7",
    "mesh:dims=4x3",
    "mesh:dims=2x3x2",
    "torus:dims=4x4",
    "torus:dims=3x5",
    "torus:dims=4x2x5",
    "torus:dims=5x5",
    "hypercube:dimensions=4",
    "hyperx:dims=4x3",
    "complete:switches=5",
];

const OTHERS: [&str; 11] = [
    "star:hosts=4",
    "fat-tree:levels=2,radix=6",
    "fat-tree:levels=3,radix=4",
    "xgft:children=2x3x2,parents=1x2x2,cables=1x2x1",
    "dragonfly:p=2",
    "dragonfly:p=1,a=4,h=2,g=5,arrangement=circulant",
    "dragonfly:p=1,a=3,h=1,g=2",
    "dragonfly:p=1,a=2,h=1,g=3,arrangement=relative",
    "slim-fly:q=3,hosts=1",
    "slim-fly:q=4,hosts=1",
    "slim-fly:q=5,hosts=1",
];

#[test]
fn all_routings_of_grids() {
    let free = ["dimension-order", "direction-order", "up-down", "minimal", "valiant"];
    for spec in GRIDS {
        let topology = parse(spec).unwrap();
        for routing in free {
            assert!(!check(&topology, routing), "{spec} {routing}");
        }
        for routing in [
            "dimension-order:dateline=whole",
            "direction-order:dateline=whole",
            "adaptive",
            "valiant:halves=dimension-order",
        ] {
            assert!(!check(&topology, routing), "{spec} {routing}");
        }
        for routing in [
            "dimension-order:lanes=1",
            "direction-order:lanes=1",
            "min-hop",
            "minimal:lanes=1",
            "valiant:lanes=1",
        ] {
            check(&topology, routing);
        }
    }
}

#[test]
fn all_routings_of_others() {
    for spec in OTHERS {
        let topology = parse(spec).unwrap();
        for routing in ["up-down", "minimal", "valiant"] {
            assert!(!check(&topology, routing), "{spec} {routing}");
        }
        for routing in ["min-hop", "minimal:lanes=1", "valiant:lanes=1"] {
            check(&topology, routing);
        }
    }
    for spec in &OTHERS[..4] {
        for routing in ["d-mod-k", "s-mod-k", "random-up"] {
            assert!(!check(&parse(spec).unwrap(), routing), "{spec} {routing}");
        }
    }
    let rails = parse("rails:rails=3,hosts=2,units=3,spines=2").unwrap();
    assert!(!check(&rails, "up-down"));
    check(&rails, "min-hop");
}

#[test]
fn around_failures() {
    for spec in GRIDS.iter().chain(&OTHERS).filter(|spec| !spec.contains("star")) {
        for seed in 0..6 {
            let mut topology = parse(spec).unwrap();
            let failure =
                [Failure::Links(Amount::Share(0.1)), Failure::Switches(Amount::Share(0.15))]
                    [seed as usize % 2]
                    .clone();
            topology.fail(&[failure], seed).unwrap();
            if topology.metrics().diameter.is_none() {
                continue;
            }
            for routing in
                ["up-down", "d-mod-k", "min-hop", "minimal", "valiant", "valiant:lanes=1"]
            {
                // Ways up and down need not join all that are joined, and d-mod-k is for trees.
                if Routes::build(&topology, Some(routing.parse().unwrap())).is_ok() {
                    check(&topology, routing);
                }
            }
        }
    }
}

/// By way of another switch on one lane: three switches that are all joined send a packet each by
/// way of the next, and wait for each other; three in a row do not, as the ways go one way or the
/// other.
#[test]
fn valiant_on_one_lane() {
    for (spec, possible) in [
        ("complete:switches=3", true),
        ("chain:switches=3", false),
        ("dragonfly:p=2", true),
        ("slim-fly:q=5,hosts=1", true),
        ("torus:dims=8x8", true),
        ("fat-tree:levels=2,radix=4", true),
    ] {
        let topology = parse(spec).unwrap();
        let routes = Routes::build(&topology, Some("valiant:lanes=1".parse().unwrap())).unwrap();
        assert_eq!(routes.lanes(), 1, "{spec}");
        assert_eq!(check(&topology, "valiant:lanes=1"), possible, "{spec}");
    }
}

/// Formulas answer for many switches as fast as for few: a walk took minutes here.
#[test]
fn large_grids() {
    for (spec, routing, channels) in [
        ("torus:dims=32x32", "dimension-order:lanes=1", 32),
        ("torus:dims=2x32x32x32", "dimension-order:lanes=1", 32),
        ("torus:dims=32x32x32", "dimension-order", 0),
        ("chain:switches=60000", "dimension-order:lanes=1", 0),
    ] {
        let topology = parse(spec).unwrap();
        let routes = Routes::build(&topology, Some(routing.parse().unwrap())).unwrap();
        let cycle = analyse(&topology.graph, &routes).cycle.unwrap_or_default();
        assert_eq!(cycle.len(), channels, "{spec} {routing}");
    }
}

/// Ways have as few lanes as stay without a cycle, if a lane per link would take more than the 15
/// lanes of InfiniBand: rings need two; the ways along a chain need one, those of both halves by
/// way of somewhere one each.
#[test]
fn lanes_of_long_ways() {
    for (spec, routing, broken, most) in [
        ("ring:switches=31", "minimal", 0.0, 15),
        ("ring:switches=32", "minimal", 0.0, 2),
        ("ring:switches=32,hosts=2", "minimal", 0.03, 2),
        ("chain:switches=20,hosts=2", "minimal", 0.0, 1),
        ("chain:switches=20", "valiant", 0.0, 2),
        ("torus:dims=8x8", "valiant", 0.0, 8),
        ("torus:dims=7x8", "valiant", 0.1, 14),
        ("torus:dims=16x16", "minimal", 0.01, 8),
        ("mesh:dims=12x8", "minimal", 0.05, 8),
    ] {
        let mut topology = parse(spec).unwrap();
        topology.fail(&[Failure::Links(Amount::Share(broken))], 1).unwrap();
        assert!(!check(&topology, routing), "{spec} {routing}");
        let routes = Routes::build(&topology, Some(routing.parse().unwrap())).unwrap();
        assert!(routes.lanes() <= most, "{spec} {routing}: {}", routes.lanes());
        let shortest =
            routing == "valiant" || lengths(&topology, &routes, 0) == distances(&topology.graph);
        assert!(shortest, "{spec} {routing}");
    }
}
