//! Route sets that can and cannot deadlock.

use topology::{
    Amount, Bubble, Failure,
    route::{Routes, analyse},
};

use crate::common::routed;

#[test]
fn free_where_theory_says_so() {
    let cases = [
        ("H8_S2", "dimension-order"),
        ("H8_S4", "dimension-order"),
        ("fat-tree:levels=3,radix=6", "d-mod-k"),
        ("fat-tree:levels=3,radix=6", "s-mod-k"),
        ("fat-tree:levels=3,radix=6", "up-down"),
        ("fat-tree:levels=2,radix=8", "min-hop"),
        ("xgft:children=3x4,parents=2x2,cables=1x2", "d-mod-k"),
        ("ring:switches=8", "dimension-order"),
        ("torus:dims=5x4x3", "dimension-order"),
        ("torus:dims=4x4", "up-down"),
        ("mesh:dims=4x4", "dimension-order:lanes=1"),
        ("hypercube:dimensions=5", "dimension-order"),
        ("hyperx:dims=4x3", "dimension-order"),
        ("hyperx:dims=4x3", "valiant"),
        ("dragonfly:p=2", "minimal"),
        ("dragonfly:p=2,arrangement=circulant", "valiant"),
        ("dragonfly:p=1,a=4,h=2,g=5", "valiant"),
        ("slim-fly:q=5,hosts=1", "minimal"),
        ("slim-fly:q=5,hosts=1", "valiant"),
        ("slim-fly:q=5,hosts=1", "up-down"),
        ("rails:rails=4,hosts=3,units=3,spines=2", "up-down"),
    ];
    for (spec, routing) in cases {
        let (topology, routes) = routed(spec, Some(routing));
        assert_eq!(analyse(&topology.graph, &routes).cycle, None, "{spec} {routing}");
    }
}

/// Lanes: 1 in trees and grids without rings, 2 in tori (Dally and Seitz), 2 in a minimal and 3 in
/// a Valiant dragonfly (Kim et al.), 2 in a slim fly of diameter 2, twice as many by way of a
/// switch.
#[test]
fn lanes() {
    let cases = [
        ("M9", "d-mod-k", 1),
        ("mesh:dims=4x4", "dimension-order", 1),
        ("torus:dims=4x4", "dimension-order", 2),
        ("dragonfly:p=2", "minimal", 2),
        ("dragonfly:p=2", "valiant", 3),
        ("slim-fly:q=5", "minimal", 2),
        ("slim-fly:q=5", "valiant", 4),
    ];
    for (spec, routing, lanes) in cases {
        let (_, routes) = routed(spec, Some(routing));
        assert_eq!(routes.lanes(), lanes, "{spec} {routing}");
        assert_eq!(routes.with_levels(3).lanes(), 3 * lanes);
    }
}

/// On one lane a ring of five switches, all ways shortest, has ways of two links each way round:
/// the five channels of one direction wait for each other.
#[test]
fn a_ring_on_one_lane_has_a_cycle() {
    let (topology, routes) = routed("ring:switches=5", Some("min-hop"));
    let analysis = analyse(&topology.graph, &routes);
    assert_eq!(analysis.dependencies, Some(10));
    let cycle = analysis.cycle.unwrap();
    assert_eq!(cycle.len(), 5);
    let mut here = cycle[0].from;
    for channel in &cycle {
        assert_eq!(channel.from.device, here.device);
        let end = topology.graph.peer(channel.from.device, channel.from.port).unwrap();
        here = topology::Plug { device: end.device, port: end.port };
    }
    assert_eq!(here.device, cycle[0].from.device);
}

/// Single-lane minimal ways on a torus, a dragonfly and a slim fly can wait for each other in a
/// circle.
#[test]
fn other_cycles_on_one_lane() {
    for (spec, routing) in [
        ("torus:dims=5x5", "dimension-order:lanes=1"),
        ("torus:dims=5x5", "min-hop"),
        ("dragonfly:p=2", "minimal:lanes=1"),
        ("slim-fly:q=5,hosts=1", "minimal:lanes=1"),
    ] {
        let (topology, routes) = routed(spec, Some(routing));
        assert!(analyse(&topology.graph, &routes).cycle.is_some(), "{spec} {routing}");
    }
}

/// With the bubble, rings of one lane are free; without it they are not.
#[test]
fn bubbles_take_the_place_of_datelines() {
    for (routing, lanes, bubble) in [
        ("dimension-order:bubble", 1, Bubble::Local),
        ("direction-order:bubble=local", 1, Bubble::Local),
        ("adaptive:bubble", 2, Bubble::Local),
        ("dimension-order:bubble=global", 1, Bubble::Global),
        ("direction-order:bubble=global", 1, Bubble::Global),
        ("adaptive:bubble=global", 2, Bubble::Global),
    ] {
        let (topology, routes) = routed("torus:dims=5x5", Some(routing));
        assert_eq!((routes.lanes(), routes.bubble()), (lanes, Some(bubble)), "{routing}");
        assert_eq!(analyse(&topology.graph, &routes).cycle, None);
        let (_, mesh) = routed("mesh:dims=5x5", Some(routing));
        assert_eq!(mesh.bubble(), None, "a mesh has no rings");
    }
}

#[test]
fn around_failures() {
    for (spec, routing) in [
        ("fat-tree:levels=3,radix=6", "d-mod-k"),
        ("torus:dims=5x5", "minimal"),
        ("dragonfly:p=2", "valiant"),
        ("slim-fly:q=5,hosts=1", "minimal"),
    ] {
        let (mut topology, _) = routed(spec, Some(routing));
        topology.fail(&[Failure::Links(Amount::Share(0.04))], 3).unwrap();
        let routes = Routes::build(&topology, Some(routing.parse().unwrap())).unwrap();
        assert_eq!(analyse(&topology.graph, &routes).cycle, None, "{spec} {routing}");
        crate::common::lengths(&topology, &routes, 5 << 60);
    }
}
