//! Ways between switches on as few lanes as keep every lane free of deadlock.
//!
//! Source: Skeie, Lysne and Theiss, "Layered shortest path (LASH) routing in irregular system area
//! networks", IPDPS 2002: every way keeps to one lane, the lowest whose dependencies stay without a
//! cycle. Ways to a switch are looked at from the nearest on, so that a way goes with that of its
//! next switch where it can: one more dependency then. Every switch on a way counts as a source.

use super::next::Switches;
use crate::Graph;

/// A link in one direction.
#[derive(Clone, Copy)]
struct Channel {
    /// The switch at the far end, its first channel, and the place of this channel's dependencies,
    /// one per port there.
    to: u32,
    next: u32,
    dependencies: u32,
}

/// A set of lanes.
type Lanes = u16;

/// A dependency: its place, the channel that it leads to, and the channel that waits.
type Dependency = (u32, u32, u32);

struct Layers<'a> {
    table: &'a Switches,
    most: u8,
    /// First channel of each switch.
    first: Vec<u32>,
    /// A channel per port; those that lead nowhere or to hosts are never used.
    channels: Vec<Channel>,
    /// For each dependency the lanes that have it, and those where it would close a cycle.
    present: Vec<Lanes>,
    closing: Vec<Lanes>,
    /// The last search that came by each channel.
    seen: Vec<u32>,
    searches: u32,
}

/// The lane of each way, by switch and destination, and the number of lanes; `None` if it is more
/// than `most`, up to 15.
pub(super) fn layers(graph: &Graph, table: &Switches, most: u8) -> Option<(Vec<u8>, u8)> {
    let mut layers = Layers::new(graph, table, most);
    let count = table.count as usize;
    let mut of = vec![0; count * count];
    let mut used = 1;
    let populated = table.joined();
    // The lanes that the way of each switch to the present destination can take.
    let mut able = vec![0; count];
    let mut way = Vec::new();
    for &home in &populated {
        able.fill(0);
        for &source in &populated {
            if layers.step(source, home).is_none() {
                continue;
            }
            let mut here = source;
            while here != home && able[here as usize] == 0 {
                way.push(here);
                here = layers.step(here, home)?.1;
            }
            while let Some(switch) = way.pop() {
                let lanes = layers.lanes(switch, home, &able)?;
                able[switch as usize] = lanes;
                let lane = lanes.trailing_zeros() as u8;
                of[switch as usize * count + home as usize] = lane;
                used = used.max(lane + 1);
            }
        }
    }
    Some((of, used))
}

impl<'a> Layers<'a> {
    fn new(graph: &Graph, table: &'a Switches, most: u8) -> Self {
        let hosts = graph.hosts();
        let base = graph.first_port(hosts);
        let first = (hosts..graph.devices()).map(|device| graph.first_port(device) - base);
        let first: Vec<u32> = first.collect();
        let (mut channels, mut dependencies) = (Vec::new(), 0);
        for switch in 0..table.count {
            for end in graph.ends(hosts + switch) {
                let far = end.filter(|end| !graph.is_host(end.device));
                let to = far.map_or(switch, |end| end.device - hosts);
                channels.push(Channel { to, next: first[to as usize], dependencies });
                dependencies += far.map_or(0, |end| graph.ports(end.device));
            }
        }
        Self {
            table,
            most,
            first,
            seen: vec![0; channels.len()],
            searches: 0,
            channels,
            present: vec![0; dependencies as usize],
            closing: vec![0; dependencies as usize],
        }
    }

    /// The channel from a switch towards a destination, and where it ends; `None` without a way.
    fn step(&self, switch: u32, home: u32) -> Option<(u32, u32)> {
        let port = self.table.toward(switch, home);
        let channel = self.first[switch as usize] + u32::from(port);
        (port != super::NOWHERE).then(|| (channel, self.channels[channel as usize].to))
    }

    /// The dependency of a packet from a switch at the next one, unless it has arrived there.
    fn dependency(&self, switch: u32, home: u32) -> Option<Dependency> {
        let (from, next) = self.step(switch, home)?;
        let to = self.step(next, home)?.0;
        let channel = self.channels[from as usize];
        Some((channel.dependencies + to - channel.next, to, from))
    }

    /// The lanes for the way of a switch: those of the next switch that have its dependency, or
    /// else the first that can be made to have all of the way.
    fn lanes(&mut self, switch: u32, home: u32, able: &[Lanes]) -> Option<Lanes> {
        let most = self.most;
        let next = self.step(switch, home)?.1;
        if next == home {
            return Some((1 << most) - 1);
        }
        let dependency = self.dependency(switch, home)?;
        let lanes = able[next as usize] & self.present[dependency.0 as usize];
        if lanes != 0 {
            return Some(lanes);
        }
        let fits = |lane: &Lanes| {
            let mut here = switch;
            while let Some(dependency) = self.dependency(here, home) {
                if !self.admit(dependency, *lane) {
                    return false;
                }
                here = self.channels[dependency.2 as usize].to;
                if able[here as usize] & lane != 0 {
                    break;
                }
            }
            true
        };
        (0..most).map(|lane| 1 << lane).find(fits)
    }

    /// True if a lane has a dependency, or can have it without a cycle.
    fn admit(&mut self, (place, to, from): Dependency, lane: Lanes) -> bool {
        let place = place as usize;
        if self.present[place] & lane == 0 && self.closing[place] & lane == 0 {
            let closes = self.leads(to, from, lane);
            let set = if closes { &mut self.closing } else { &mut self.present };
            set[place] |= lane;
        }
        self.present[place] & lane != 0
    }

    /// True if the dependencies of a lane lead from one channel to another.
    fn leads(&mut self, from: u32, to: u32, lane: Lanes) -> bool {
        self.searches += 1;
        self.seen[from as usize] = self.searches;
        let mut waiting = vec![from];
        while let Some(channel) = waiting.pop() {
            if channel == to {
                return true;
            }
            let first = self.channels[channel as usize].dependencies as usize;
            let last =
                self.channels.get(channel as usize + 1).map(|next| next.dependencies as usize);
            let present = &self.present[first..last.unwrap_or(self.present.len())];
            let next = self.channels[channel as usize].next;
            for port in (0..present.len()).filter(|&port| present[port] & lane != 0) {
                let next = next as usize + port;
                if self.seen[next] != self.searches {
                    self.seen[next] = self.searches;
                    waiting.push(next as u32);
                }
            }
        }
        false
    }
}
