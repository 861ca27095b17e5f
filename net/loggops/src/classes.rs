//! Classes of pairs of hosts whose messages have costs of their own.
//!
//! A class has a parameter set as the whole network has it: L is that of the wire between the two
//! hosts, and o, O, g and G are what a message costs either of them, in both directions. Messages
//! of different classes use the same clocks of CPUs and interfaces. Pairs without a class have the
//! costs of the network.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use units::{HostId, Time};

use crate::Costs;

/// Returns a pair with the smaller host first: classes are the same in both directions.
fn ordered([one, other]: [HostId; 2]) -> (HostId, HostId) {
    if one.0 <= other.0 { (one, other) } else { (other, one) }
}

/// The costs of a class of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// For messages of at most S bytes.
    pub small: Costs,
    /// For larger messages.
    pub large: Costs,
}

/// The classes of pairs of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// The classes, by number.
    pub all: Vec<Class>,
    /// The number of the class of each pair that has one, the smaller host first. It is looked up
    /// only, so that the order in which it is kept shows nowhere.
    pairs: Arc<FxHashMap<(HostId, HostId), u32>>,
}

impl Classes {
    /// Classes to which no pair belongs yet.
    #[must_use]
    pub fn new(all: Vec<Class>) -> Self {
        Self { all, pairs: Arc::default() }
    }

    /// Returns the same pairs in as many classes that cost something else.
    #[must_use]
    pub fn with(&self, all: Vec<Class>) -> Self {
        Self { all, pairs: Arc::clone(&self.pairs) }
    }

    /// Puts a pair of hosts into a class; returns the class that it had before.
    pub fn put(&mut self, pair: [HostId; 2], class: u32) -> Option<u32> {
        Arc::make_mut(&mut self.pairs).insert(ordered(pair), class)
    }

    /// Returns the number of the class of a pair of hosts, if it has one.
    #[must_use]
    pub fn number(&self, pair: [HostId; 2]) -> Option<u32> {
        self.pairs.get(&ordered(pair)).copied()
    }

    /// Returns the class of a pair of hosts, if it has one.
    #[must_use]
    pub fn of(&self, pair: [HostId; 2]) -> Option<&Class> {
        self.all.get(self.number(pair)? as usize)
    }

    /// Returns the least L of any class.
    pub(crate) fn least_latency(&self) -> Option<Time> {
        self.all.iter().flat_map(|class| [class.small.latency, class.large.latency]).min()
    }

    /// Returns whether large messages of a class can overtake small ones, or be overtaken.
    pub(crate) fn overtake(&self) -> bool {
        let differ = |class: &Class| {
            let Class { small, large } = class;
            small.latency != large.latency || small.send_overhead != large.send_overhead
        };
        self.all.iter().any(differ)
    }
}
