//! Random topologies and failures.

use proptest::prelude::*;
use topology::{
    Amount, Failure, Placement,
    import::{csv, ibnetdiscover, simgrid, toml},
    parse,
    route::{Routes, analyse},
};

use crate::common::{distances, in_service, lengths};

const SPECS: &[&str] = &[
    "fat-tree:levels=2,radix=6",
    "fat-tree:levels=3,radix=4",
    "xgft:children=2x3,parents=2x2,cables=1x2",
    "torus:dims=3x4",
    "mesh:dims=3x3,hosts=2",
    "hyperx:dims=3x3",
    "dragonfly:p=1,a=4,h=2",
    "slim-fly:q=3,hosts=1",
    "slim-fly:q=4,hosts=1",
    "rails:rails=2,hosts=3,units=2,spines=2",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever links and switches fail: routes reach every host that has a link by ways that work,
    /// free of deadlock; if there are none, two hosts are cut off, or only ways up and down are.
    #[test]
    fn failures(
        which in 0..SPECS.len(), fraction in 0.0..0.4, switches in 0.0..0.3, seed in 0_u64..1000
    ) {
        let mut topology = parse(SPECS[which]).unwrap();
        topology.fail(
            &[Failure::Links(Amount::Share(fraction)), Failure::Switches(Amount::Share(switches))],
            seed
        ).unwrap();
        prop_assert_eq!(
            topology.graph.hosts() as usize,
            in_service(&topology.graph).len() + topology.graph.hosts_out().len()
        );
        let joined = topology.metrics().diameter.is_some();
        for routing in [None, Some("up-down"), Some("min-hop"), Some("minimal"), Some("valiant")] {
            // Hosts of several ports do not look for the nearer one, and have tables by host only.
            let several = topology.graph.ports(0) > 1;
            let routing = routing.filter(
                |name| !(several && ["minimal", "valiant"].contains(name))
            );
            match Routes::build(&topology, routing.map(|name| name.parse().unwrap())) {
                Ok(routes) => {
                    let found = lengths(&topology, &routes, seed << 50);
                    if routing == Some("min-hop") && !several {
                        prop_assert_eq!(found, distances(&topology.graph));
                    }
                    if routing != Some("min-hop") {
                        prop_assert_eq!(analyse(&topology.graph, &routes).cycle, None);
                    }
                }
                Err(fault) => {
                    prop_assert!(fault.message.contains("there is no way from"));
                    let climbs = routing.is_none() || routing == Some("up-down");
                    prop_assert!(!joined || climbs, "{}", fault.message);
                }
            }
        }
    }

    /// A placement by rule uses as few ranks per host as possible.
    #[test]
    fn placements(ranks in 1_u32..200, hosts in 1_u32..50, seed: u64) {
        for rule in [Placement::Linear, Placement::RoundRobin, Placement::Random { seed }] {
            let placed = rule.place(ranks, hosts).unwrap();
            let most = (0..hosts).map(|host| placed.iter().filter(|&&h| h == host).count()).max();
            prop_assert_eq!(most, Some(ranks.div_ceil(hosts) as usize));
            prop_assert!(placed.iter().all(|&host| host < hosts));
        }
    }

    /// No text makes an importer or the parser of specifications panic.
    #[test]
    fn texts(text in "([a-z]{0,3}|host,|switch,|link,|[0-9]|:|,|\"|\\[|\\]|=|\n\
                      |<link |/>|Ca 1 |>){0,40}") {
        let _ = csv(&text);
        let _ = toml(&text);
        let _ = ibnetdiscover(&text);
        let _ = simgrid(&text);
        let _ = parse(&text);
        let _ = Failure::parse(&text);
    }
}
