//! Routes in fat trees by formula: up until the destination is below, then down.
//!
//! Way up: the digit of a key (Zahavi, 2012, equation of D-Mod-K): destination, source or a random
//! choice.

use super::{Candidate, Candidates, Header};
use crate::shape::Tree;

/// The number that decides the way up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The destination: d-mod-k.
    Destination,
    /// The source: s-mod-k.
    Source,
    /// A random choice of the source per packet or message.
    Choice,
    /// Two random choices, of which load decides at each switch.
    Either,
}

/// A tree's routes.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    key: Key,
    levels: Vec<Level>,
    /// Level and high part of each switch.
    places: Vec<(u8, u32)>,
    choices: u32,
}

/// Constants of the switches of a level.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Hosts below a switch, and below one of its children.
    below: u32,
    child: u32,
    children: u32,
    /// Product of the parents of all lower levels, and of all but the children's.
    lows: u32,
    child_lows: u32,
    /// Parents of a child.
    child_parents: u32,
    child_cables: u32,
    up: u32,
    down: u32,
}

impl Formula {
    pub fn new(tree: &Tree, key: Key) -> Self {
        let level = |level: usize| Level {
            below: tree.children[..level].iter().product(),
            child: tree.children[..level - 1].iter().product(),
            children: tree.children[level - 1],
            lows: tree.lows(level),
            child_lows: tree.lows(level - 1),
            child_parents: tree.parents[level - 1],
            child_cables: tree.cables[level - 1],
            up: tree.up_ports(level),
            down: tree.down_ports(level),
        };
        let place = |at: usize| {
            let lows = tree.lows(at);
            (0..tree.nodes(at)).map(move |node| (at as u8, node / lows))
        };
        let cables = tree.cables.iter().fold(1_u32, |product, &n| product.saturating_mul(n));
        Self {
            key,
            levels: (1..=tree.levels()).map(level).collect(),
            places: (1..=tree.levels()).flat_map(place).collect(),
            choices: tree.lows(tree.levels()).saturating_mul(cables).min(u32::MAX - 1),
        }
    }

    /// The number whose digits decide the way.
    #[inline]
    pub fn key(&self, header: &Header) -> u32 {
        match self.key {
            Key::Source => header.source,
            Key::Choice | Key::Either if header.choice > 0 => header.choice - 1,
            Key::Destination | Key::Choice | Key::Either => header.destination,
        }
    }

    /// The number of ways that a source can choose from.
    pub fn choices(&self) -> Option<u32> {
        matches!(self.key, Key::Choice | Key::Either).then_some(self.choices)
    }

    /// True if load decides the way up.
    pub const fn is_adaptive(&self) -> bool {
        matches!(self.key, Key::Either)
    }

    /// Adds the second port upwards that a packet may take: that of another number, which follows
    /// from its choice as if at random.
    pub fn adaptive(&self, switch: u32, header: &Header, into: &mut Candidates) {
        let (at, high) = self.places[switch as usize];
        let level = &self.levels[usize::from(at) - 1];
        if !self.is_adaptive() || header.destination / level.below == high || level.up == 0 {
            return;
        }
        // A step of Knuth's multiplicative hashing, which spreads the switches of a way apart.
        let mixed = (u64::from(header.choice) + u64::from(switch)) * 0x9E37_79B1;
        let port = level.down + (mixed >> 16) as u32 % level.up;
        into.push(Candidate { port: port as u16, ports: 1, lane: 0, priority: 0, links: 0 });
    }

    /// The output port.
    #[inline]
    pub fn port(&self, switch: u32, header: &Header) -> u16 {
        let (at, high) = self.places[switch as usize];
        let level = &self.levels[usize::from(at) - 1];
        let key = self.key(header);
        let port = if header.destination / level.below == high {
            let child = header.destination / level.child % level.children;
            // The parallel cable that the way up would take between these two.
            let cable = if level.child_cables == 1 {
                0
            } else {
                key / level.child_lows / level.child_parents % level.child_cables
            };
            cable * level.children + child
        } else {
            level.down + key / level.lows % level.up
        };
        port as u16
    }
}
