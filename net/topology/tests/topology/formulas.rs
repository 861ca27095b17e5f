//! The formula of a dragonfly against the table that it replaced.

use topology::{Dragonfly, Header, Hop, Shape};

use crate::common::routed;

/// Ports by switch and target, as they are found by looking at all slots of a group.
struct Table<'a>(&'a Dragonfly);

impl Table<'_> {
    fn local(&self, from: u32, to: u32) -> u32 {
        self.0.hosts + if to < from { to } else { to - 1 }
    }

    /// The port of a switch to another group: by one of its own links there, or else by one of all.
    fn outward(&self, switch: u32, group: u32, key: u32) -> u32 {
        let Dragonfly { routers, global, hosts, .. } = *self.0;
        let (own, router) = (switch / routers, switch % routers);
        let leads = |slot: &u32| self.0.across(own, *slot).is_some_and(|(far, _)| far == group);
        let slots: Vec<u32> = (0..routers * global).filter(leads).collect();
        let mine: Vec<u32> = slots.iter().copied().filter(|slot| slot / global == router).collect();
        let choices = if mine.is_empty() { &slots } else { &mine };
        let slot = choices[key as usize % choices.len()];
        let gateway = slot / global;
        if gateway == router {
            hosts + routers - 1 + slot % global
        } else {
            self.local(router, gateway)
        }
    }

    fn toward(&self, switch: u32, target: u32) -> u32 {
        let routers = self.0.routers;
        if switch / routers == target / routers {
            self.local(switch % routers, target % routers)
        } else {
            self.outward(switch, target / routers, target)
        }
    }
}

const SPECS: [&str; 9] = [
    "dragonfly:p=2",
    "dragonfly:p=3",
    "dragonfly:p=1,a=4,h=2,g=5",
    "dragonfly:p=1,a=3,h=2,g=4",
    "dragonfly:p=2,a=4,h=4,g=3",
    "dragonfly:p=1,a=4,h=3,g=6",
    "dragonfly:p=1,a=6,h=1,g=2",
    "dragonfly:p=1,a=5,h=3,g=5",
    "dragonfly:p=1,a=4,h=1,g=1",
];

/// Every hop of a packet to every host from every switch, and by way of every group.
#[test]
fn dragonflies() {
    for spec in SPECS {
        for arrangement in ["absolute", "relative", "circulant"] {
            let spec = format!("{spec},arrangement={arrangement}");
            let (topology, minimal) = routed(&spec, Some("minimal"));
            let (_, valiant) = routed(&spec, Some("valiant"));
            let Shape::Dragonfly(shape) = &topology.shape else { panic!() };
            let (table, hosts) = (Table(shape), topology.graph.hosts());
            let home = |host: u32| host / shape.hosts;
            for switch in 0..shape.switches() {
                for destination in 0..hosts {
                    let header = Header { destination, ..Header::default() };
                    let port = if home(destination) == switch {
                        destination % shape.hosts
                    } else {
                        table.toward(switch, home(destination))
                    };
                    let expected = Hop { port: port as u16, lane: 0 };
                    for routes in [&minimal, &valiant] {
                        let found = routes.hop(hosts + switch, 0, 0, &header);
                        assert_eq!(found, expected, "{spec}: {switch} to {destination}");
                    }
                }
                let source = switch * shape.hosts;
                for group in 0..shape.groups {
                    let destination = (source + hosts / 2) % hosts;
                    let header = Header { source, destination, level: 0, choice: group + 1 };
                    if [home(source), home(destination)].iter().all(|s| s / shape.routers != group)
                    {
                        let found = valiant.hop(hosts + switch, 0, 0, &header).port;
                        let expected = table.outward(switch, group, switch);
                        assert_eq!(u32::from(found), expected, "{spec}: {switch} by group {group}");
                    }
                }
            }
        }
    }
}
