//! Routings whose packets go by way of somewhere or in another order: the lengths of their ways,
//! and that no two of their channels can wait for each other.

use std::collections::BTreeSet;

use topology::{Graph, Header, Hop, Routes, Shared, parse, route::analyse};

use crate::common::{is_acyclic, links, routed};

/// Choices that a source may draw: those of 64 evenly spread random numbers.
fn choices(routes: &Routes, source: u32, destination: u32) -> BTreeSet<u32> {
    let draw = |step: u64| routes.choose(source, destination, || step << 58 | 1 << 57);
    (0..64).map(draw).chain([0]).collect()
}

/// All ways of all packets, with their numbers of links.
fn ways(graph: &Graph, routes: &Routes) -> Vec<(Header, u32)> {
    let mut all = Vec::new();
    for source in 0..graph.hosts() {
        for destination in 0..graph.hosts() {
            for choice in choices(routes, source, destination) {
                let header = Header { source, destination, level: 0, choice };
                all.push((header, links(graph, routes, &header)));
            }
        }
    }
    all
}

/// Follows every way and checks that the channels between switches have no cycle.
fn assert_free(spec: &str, graph: &Graph, routes: &Routes) {
    let lanes = usize::from(routes.lanes());
    let ports = (graph.hosts()..graph.devices()).map(|device| graph.ports(device)).max();
    let ports = ports.expect("switches") as usize;
    let mut after = vec![BTreeSet::new(); graph.devices() as usize * ports * lanes];
    for (header, _) in ways(graph, routes) {
        let (mut here, mut hop) = (header.source, routes.first_hop(&header));
        let mut before: Option<usize> = None;
        while let Some(end) = graph.peer(here, hop.port)
            && !graph.is_host(end.device)
        {
            let at = (here as usize * ports + usize::from(hop.port)) * lanes;
            let channel = (!graph.is_host(here)).then_some(at + usize::from(hop.lane));
            if let (Some(before), Some(channel)) = (before, channel) {
                let next: &mut BTreeSet<usize> = &mut after[before];
                next.insert(channel);
            }
            before = channel;
            let lane = if graph.is_host(here) { 0 } else { hop.lane };
            (here, hop) = (end.device, routes.hop(end.device, end.port, lane, &header));
        }
    }
    assert!(is_acyclic(&after), "{spec}");
    assert_eq!(analyse(graph, routes).cycle, None, "{spec}");
}

/// Packets that turn once and those that go by a switch between source and destination take
/// shortest ways, which dimension order has as well.
#[test]
fn shortest_ways() {
    for spec in ["mesh:dims=4x3", "torus:dims=5x4", "torus:dims=3x3x3", "hyperx:dims=3x4,hosts=2"] {
        let (topology, shortest) = routed(spec, Some("dimension-order"));
        let routings: &[&str] =
            if spec.starts_with("hyperx") { &["o1turn"] } else { &["o1turn", "romm"] };
        for routing in routings {
            let (_, routes) = routed(spec, Some(routing));
            assert_free(spec, &topology.graph, &routes);
            for (header, count) in ways(&topology.graph, &routes) {
                let straight = links(&topology.graph, &shortest, &Header { choice: 0, ..header });
                assert_eq!(count, straight, "{spec} {routing} {header:?}");
            }
        }
    }
}

/// On a mesh of 3 x 3 a packet from corner to corner may go by each of the nine switches, and one
/// along an edge by its three.
#[test]
fn switches_between() {
    let (_, routes) = routed("mesh:dims=3x3", Some("romm"));
    let from_zero = |to| choices(&routes, 0, to);
    assert_eq!(from_zero(8), (0..=9).collect());
    assert_eq!(from_zero(2), [0, 1, 2, 3].into());
    // The other way round the ring of 5 it is from 0 to 3 by 4.
    let (_, routes) = routed("ring:switches=5", Some("romm"));
    assert_eq!(choices(&routes, 0, 3), [0, 1, 4, 5].into());
}

/// Without a choice load has decided for the shortest way; with one packets go on lanes that are
/// free of cycles.
#[test]
fn by_load() {
    for spec in
        ["dragonfly:p=1,a=3,h=1", "hyperx:dims=3x3", "torus:dims=4x4", "slim-fly:q=3,hosts=1"]
    {
        let (topology, routes) = routed(spec, Some("ugal-l"));
        assert!(routes.is_adaptive() && !routes.is_progressive());
        assert_free(spec, &topology.graph, &routes);
        let (_, minimal) = routed(spec, Some("minimal"));
        for (header, count) in
            ways(&topology.graph, &routes).into_iter().filter(|w| w.0.choice == 0)
        {
            assert_eq!(count, links(&topology.graph, &minimal, &header), "{spec} {header:?}");
        }
    }
}

/// Follows a packet from a channel on through all ways that load can choose, and notes which
/// channels it may take one after the other. Returns the most links of a way.
fn explore(
    (graph, routes, ports): (&Graph, &Routes, usize),
    header: Header,
    (device, hop): (u32, Hop),
    before: Option<usize>,
    after: &mut [BTreeSet<usize>],
) -> u32 {
    let lanes = usize::from(routes.lanes());
    let end = graph.peer(device, hop.port).expect("a link");
    if graph.is_host(end.device) {
        assert_eq!(end.device, header.destination);
        return 1;
    }
    let from_host = graph.is_host(device);
    let at = (device as usize * ports + usize::from(hop.port)) * lanes + usize::from(hop.lane);
    assert!(hop.lane < routes.lanes());
    let channel = (!from_host).then_some(at);
    if let (Some(before), Some(channel)) = (before, channel) {
        after[before].insert(channel);
    }
    let (switch, input) = (end.device, (end.port, if from_host { 0 } else { hop.lane }));
    let found = routes.alternatives(switch, input, from_host, &header);
    let choices = found.map_or(vec![header.choice], |found| found.choices.to_vec());
    let longest = choices.into_iter().map(|choice| {
        let header = Header { choice, ..header };
        let next = routes.hop(switch, input.0, input.1, &header);
        explore((graph, routes, ports), header, (switch, next), channel, after)
    });
    1 + longest.max().expect("a way")
}

/// Wherever packets leave their shortest ways, their channels have no cycle. In a dragonfly a way
/// has at most six links between switches: two in the first group, one to the next, one there, one
/// to the last and one there. In the grids and the slim fly, with a diameter of D, a packet leaves
/// its way at the last switch but one and takes D links to and from another at most.
#[test]
fn progressive() {
    for (spec, lanes, most) in [
        ("dragonfly:p=1,a=3,h=1", 4, 6),
        ("dragonfly:p=2,a=4,h=2,g=5", 4, 6),
        ("hyperx:dims=3x3", 3, 5),
        ("torus:dims=4x4", 6, 11),
        ("slim-fly:q=3,hosts=1", 6, 5),
    ] {
        let (topology, routes) = routed(spec, Some("par"));
        let graph = &topology.graph;
        assert_eq!(routes.lanes(), lanes, "{spec}");
        assert!(routes.is_adaptive() && routes.is_progressive());
        let ports = (graph.hosts()..graph.devices()).map(|device| graph.ports(device)).max();
        let ports = ports.expect("switches") as usize;
        let mut after = vec![BTreeSet::new(); graph.devices() as usize * ports * lanes as usize];
        let mut longest = 0;
        for (header, _) in ways(graph, &routes) {
            let first = (header.source, routes.first_hop(&header));
            let links = explore((graph, &routes, ports), header, first, None, &mut after);
            longest = longest.max(links - 2);
        }
        assert!(is_acyclic(&after), "{spec}");
        assert_eq!(analyse(graph, &routes).cycle, None, "{spec}");
        assert!((most - 1..=most).contains(&longest), "{spec}: {longest}");
    }
}

/// A packet from host 0 in group 0 of a dragonfly to a host of group 1 goes by the switch of its
/// group that has the link there. It may leave its shortest way at both, and not behind that link.
#[test]
fn progressive_within_the_group() {
    let (topology, routes) = routed("dragonfly:p=1,a=3,h=1", Some("par"));
    let graph = &topology.graph;
    // In group 0 slot k leads to group k + 1: that to group 2 is at switch 1, and the way back to
    // group 0 is slot 0 of group 2.
    let header = Header { source: 0, destination: 7, level: 0, choice: 1 + 3 };
    let at_first = routes.alternatives(12, (0, 0), true, &header).expect("a choice");
    let stays = Header { choice: at_first.choices[0], ..header };
    let hop = routes.hop(12, 0, 0, &stays);
    let second = graph.peer(12, hop.port).expect("a link");
    assert_eq!((second.device, hop.lane), (13, 0));
    let at_second = routes.alternatives(13, (second.port, 0), false, &stays).expect("a choice");
    let hop = routes.hop(13, second.port, 0, &stays);
    assert_eq!((hop.port, hop.lane), (at_second.minimal, 1));
    let third = graph.peer(13, hop.port).expect("a link");
    assert_eq!(third.device, 12 + 6);
    assert_eq!(routes.alternatives(third.device, (third.port, 1), false, &stays), None);
    // The detour crosses a second local link, on the lane of the link to the other group.
    let leaves = Header { choice: at_second.choices[1], ..header };
    let hop = routes.hop(13, second.port, 0, &leaves);
    let end = graph.peer(13, hop.port).expect("a link");
    assert_eq!((leaves.choice, end.device, hop.lane), (header.choice, 14, 1));
    assert_eq!(routes.alternatives(14, (end.port, 1), false, &leaves), None);
}

/// Switch 0 of group 0 has the links to groups 1 and 2. From switch 1 the shortest way to group 1
/// and a detour by group 2 begin at the same port, on lanes that tell them apart; a detour by group
/// 8, to which switch 3 has the link, at another. By way of a switch, as in BookSim 2, ports count.
#[test]
fn lanes_tell_ways_apart() {
    let first = |routing: &str, group: u32| {
        let (topology, routes) = routed("dragonfly:p=2", Some(routing));
        let switch = topology.graph.hosts() + 1;
        let via = if routing.contains("via") { 4 * group } else { group };
        let header = Header { source: 2, destination: 8, level: 0, choice: 1 + via };
        let found = routes.alternatives(switch, (0, 0), true, &header).expect("a choice");
        let lanes =
            found.choices.map(|choice| routes.hop(switch, 0, 0, &Header { choice, ..header }).lane);
        (found.minimal == found.detour, found.lanes, lanes)
    };
    for routing in ["ugal-l", "ugal-g"] {
        assert_eq!(first(routing, 2), (true, Some([1, 0]), [1, 0]), "{routing}");
        assert_eq!(first(routing, 8), (false, None, [1, 0]), "{routing}");
    }
    assert_eq!(first("ugal-l:via=switch", 2), (true, None, [1, 0]));
    assert_eq!(first("par", 2).1, None);
}

/// Switches of a dragonfly tell the others of their group of their links to other groups; those of
/// a complete graph tell all of all.
#[test]
fn shared_queues() {
    let shared = |spec| routed(spec, Some("ugal-g")).1.shared().cloned();
    assert_eq!(shared("dragonfly:p=2"), Some(Shared { of: 5..7, with: 2..5 }));
    assert_eq!(shared("complete:switches=4,hosts=2"), Some(Shared { of: 2..5, with: 2..5 }));
    assert_eq!(routed("dragonfly:p=2", Some("ugal-l")).1.shared(), None);
}

/// In a HyperX of two dimensions the shortest way from switch 0 to switch 8 = (2, 2) has two links
/// between switches, and by (1, 2) three. With 3 flits at the output of the shortest way and 2 at
/// the other, 2 * 3 is at most 3 * 2; with 4 it is more. An offset of 2 makes that 8, not 10.
#[test]
fn alternatives() {
    let compare = |routing: &str| {
        let (topology, routes) = routed("hyperx:dims=3x3", Some(routing));
        let header = Header { source: 0, destination: 8, level: 0, choice: 1 + 7 };
        let found =
            routes.alternatives(topology.graph.hosts(), (0, 0), true, &header).expect("a choice");
        [3, 4, 5].map(|queued| found.prefers_minimal(queued, 2))
    };
    assert_eq!(compare("ugal-l:factor=hops"), [true, false, false]);
    assert_eq!(compare("ugal-l:factor=hops,offset=2"), [true, true, false]);
    assert_eq!(compare("ugal-l:factor=1,offset=0"), [false, false, false]);
    assert_eq!(compare("ugal-l:factor=1,offset=2"), [true, true, false]);
}

/// A 3-ary 2-fly: 9 hosts, two stages of three switches. Every packet crosses three links, those to
/// itself as well; output j of switch i of the first stage leads to input i of switch j.
#[test]
fn butterfly() {
    let (topology, routes) = routed("butterfly:k=3,n=2", None);
    let graph = &topology.graph;
    assert_eq!((graph.hosts(), graph.switches()), (9, 6));
    assert!(ways(graph, &routes).iter().all(|way| way.1 == 3));
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let end = graph.peer(9 + i, 3 + j as u16).expect("a link");
        assert_eq!((end.device, u32::from(end.port)), (9 + 3 + j, i));
    }
    let (topology, routes) = routed("butterfly:k=2,n=4", None);
    assert!(ways(&topology.graph, &routes).iter().all(|way| way.1 == 5));
    assert!(parse("butterfly:k=2,n=40").is_err() && parse("butterfly:k=0,n=2").is_err());
}

/// Cables in groups and between them.
#[test]
fn cables() {
    let topology = parse("dragonfly:p=1,a=2,h=1,local=10ns,global=100ns").expect("a dragonfly");
    let (hosts, mut counts) = (topology.graph.hosts(), [0; 3]);
    for link in topology.graph.links() {
        let [a, b] = link.ends.map(|plug| plug.device.checked_sub(hosts));
        let delay = link.delay.map(units::Time::ps);
        match (a, b) {
            (Some(a), Some(b)) if a / 2 == b / 2 => counts[0] += u32::from(delay == Some(10_000)),
            (Some(_), Some(_)) => counts[1] += u32::from(delay == Some(100_000)),
            _ => counts[2] += u32::from(delay.is_none()),
        }
    }
    // Three groups of two switches with a host each.
    assert_eq!(counts, [3, 3, 6]);
}

#[test]
fn misfits() {
    let wrong = |spec: &str, routing: &str| {
        let topology = parse(spec).expect(spec);
        let routing = routing.parse().map_err(|fault: topology::Fault| fault.message);
        let built = routing.and_then(|routing| {
            Routes::build(&topology, Some(routing)).map_err(|fault| fault.message)
        });
        built.err().unwrap_or_default()
    };
    let tree = "fat-tree:levels=2,radix=4";
    assert!(wrong(tree, "romm").contains("needs a grid"));
    assert!(wrong(tree, "ugal-l").contains("ways that are longer"));
    assert!(wrong(tree, "destination-tag").contains("needs a butterfly"));
    assert!(wrong("mesh:dims=3x3", "adaptive-up").contains("needs a fat tree"));
    assert!(wrong("mesh:dims=3x3", "o1turn:lanes=1").contains("needs lanes"));
    assert!(wrong("torus:dims=3x3", "minimal:bubble").contains("and to adaptive"));
    assert!(wrong("torus:dims=3x3", "adaptive:bubble=loca").contains("unknown bubble `loca`"));
    assert!(wrong("mesh:dims=3x3", "ugal-l:ofset=3").contains("unknown option `ofset=3`"));
    assert!(wrong("dragonfly:p=1", "ugal-l:factor=hops").contains("a HyperX"));
    for routing in ["dal", "dimension-adaptive"] {
        assert!(wrong("torus:dims=3x3", routing).contains("needs a HyperX"));
        assert!(
            wrong("complete:switches=4", &format!("{routing}:lanes=1")).contains("needs lanes")
        );
    }
    let six = "hyperx:dims=2x2x2x2x2x2";
    assert!(wrong(six, "dal").contains("at most 5 dimensions, and this one has 6"));
    assert_eq!(wrong(six, "dimension-adaptive"), "");
    assert!(wrong("torus:dims=4x4", "ugal-g").contains("a dragonfly or a HyperX"));
    assert!(wrong("hyperx:dims=3x3", "ugal-g").contains("of one dimension"));
    assert!(wrong("dragonfly:p=1", "par:via=switch").contains("unknown option `via=switch`"));
    assert!(wrong("torus:dims=16x16", "par:factor=hops").contains("a HyperX"));
    assert!(wrong("chain:switches=8", "par").is_empty());
}
