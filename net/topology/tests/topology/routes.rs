//! Every pair of hosts is connected, by shortest ways where that is claimed.

use crate::common::{distances, lengths, routed};

const MINIMAL: &[(&str, &[&str])] = &[
    ("star:hosts=5", &["d-mod-k", "s-mod-k", "random-up", "min-hop", "up-down", "minimal"]),
    ("chain:switches=5,hosts=2", &["dimension-order", "min-hop", "up-down", "minimal"]),
    ("ring:switches=7", &["dimension-order", "dimension-order:lanes=1", "min-hop", "minimal"]),
    ("ring:switches=6,hosts=2", &["dimension-order", "min-hop", "minimal"]),
    ("mesh:dims=4x3x2", &["dimension-order", "min-hop", "minimal"]),
    ("torus:dims=4x5", &["dimension-order", "min-hop", "minimal"]),
    ("torus:dims=2x3x4,hosts=2", &["dimension-order", "min-hop", "minimal"]),
    ("hypercube:dimensions=4", &["dimension-order", "min-hop", "minimal"]),
    ("hyperx:dims=3x4,hosts=3", &["dimension-order", "min-hop", "minimal"]),
    ("complete:switches=5,hosts=2", &["dimension-order", "min-hop", "minimal", "up-down"]),
    (
        "fat-tree:levels=3,radix=4",
        &["d-mod-k", "s-mod-k", "random-up", "min-hop", "up-down", "minimal"],
    ),
    ("k-ary-n-tree:k=3,n=3", &["d-mod-k", "s-mod-k", "random-up", "min-hop", "up-down", "minimal"]),
    (
        "xgft:children=3x2x2,parents=1x2x3,cables=1x2x1",
        &["d-mod-k", "s-mod-k", "random-up", "min-hop", "up-down", "minimal"],
    ),
    ("xgft:children=2x4,parents=2x3,cables=2x1", &["d-mod-k", "s-mod-k", "min-hop", "up-down"]),
    ("slim-fly:q=5,hosts=1", &["minimal", "min-hop"]),
    ("rails:rails=4,hosts=3,units=2,spines=2", &["up-down", "min-hop"]),
    ("H8_S6", &["d-mod-k", "up-down"]),
];

#[test]
fn ways_are_shortest() {
    for (spec, routings) in MINIMAL {
        for routing in *routings {
            let (topology, routes) = routed(spec, Some(routing));
            let expected = distances(&topology.graph);
            assert_eq!(lengths(&topology, &routes, 1 << 62), expected, "{spec} {routing}");
        }
    }
}

/// A dragonfly's minimal ways have at most one local, one global and one local link, and two of hosts: at
/// most 5. By way of a group: at most l g l g l, 7. Slim fly by way of a switch: twice 2, and 2.
#[test]
fn ways_have_bounded_length() {
    let bounds = [
        ("dragonfly:p=2", "minimal", 5),
        ("dragonfly:p=2", "valiant", 7),
        ("dragonfly:p=2,a=4,h=2,g=5,arrangement=relative", "minimal", 5),
        ("dragonfly:p=1,a=3,h=1,g=4,arrangement=circulant", "valiant", 7),
        ("dragonfly:p=1,a=3,h=2,g=4,arrangement=circulant", "valiant", 7),
        ("slim-fly:q=5,hosts=1", "valiant", 6),
        ("slim-fly:q=7,hosts=1", "minimal", 4),
        ("hyperx:dims=3x3", "valiant", 6),
    ];
    for (spec, routing, bound) in bounds {
        let (topology, routes) = routed(spec, Some(routing));
        for random in 0..8 {
            let longest = lengths(&topology, &routes, random << 61).0;
            assert!(longest <= bound, "{spec} {routing}: {longest}");
        }
    }
}
