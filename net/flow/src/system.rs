//! The state of the solver: links, and the variables on them.
//!
//! Flows that use the same links with the same weights, penalty and bound are one *variable* with a
//! count: they have the same rate. Everything is in terms of the level x × penalty, so that a
//! variable's *share* of a link is weight / penalty, its load count × share × level.
//!
//! A variable's *group* is what limits it: a full link, or its own bound. A group has a clock, the
//! integral of its level over time, in level × ps. The work of a flow is such an integral too, so
//! that a change of a link's level moves one clock, and the end of a flow is a reading of the clock
//! that does not change.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{Link, Sharing};

/// The group of a variable that is limited by its own bound.
pub const OWN: u32 = u32::MAX;
/// The group of a variable without flows.
pub const IDLE: u32 = u32::MAX - 1;
/// No group yet.
pub const NONE: u32 = u32::MAX - 2;

/// The part of a link that the filling reads and writes.
#[derive(Debug)]
#[repr(align(64))]
pub struct Hot {
    /// Infinite if the link is not full.
    pub level: f64,
    /// The level if the link is full and does not take part in the filling, else infinite.
    pub limit: f64,
    /// Bandwidth not yet given away.
    pub room: f64,
    /// Shares of the flows that have no level yet: the sum, or the largest on a fat pipe.
    pub weight: f64,
    /// The change of the load.
    pub delta: f64,
    /// Variables that have no level yet.
    pub rising: u32,
    /// The round of filling that the four before this belong to.
    pub round: u32,
    /// True if it takes part in the filling.
    pub open: bool,
    /// True if it is a fat pipe.
    pub fat: bool,
}

impl Hot {
    /// Makes it ready for a round of filling.
    pub fn empty(&mut self, round: u32, capacity: f64) {
        (self.room, self.weight, self.delta) = (capacity, 0.0, 0.0);
        (self.rising, self.round) = (0, round);
    }
}

/// The rest of a link.
#[derive(Debug)]
pub struct LinkState {
    pub capacity: f64,
    /// Bytes per second, as of the last solution.
    pub load: f64,
    /// The group's clock at `at`.
    pub clock: f64,
    pub at: u64,
    /// The reading at which the first flow of the group completes.
    pub first_end: f64,
    /// The level found, until the solution is taken over.
    pub found: f64,
    pub users: Vec<User>,
    /// Its index in the list of full links.
    pub place: u32,
}

/// A variable on a link.
#[derive(Clone, Copy, Debug)]
pub struct User {
    pub variable: u32,
    /// The index of the slot.
    pub slot: u32,
    pub share: f64,
}

/// A link of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    pub link: u32,
    /// Its index among the link's users.
    pub position: u32,
    pub share: f64,
}

/// The part of a variable that the filling reads and writes.
#[derive(Debug)]
pub struct Rising {
    /// The level and the group in the solution that is being made.
    pub level: f64,
    pub group: u32,
    /// The smallest level among the bound and the full links that are not open, and which it is.
    pub limit_by: u32,
    pub limit: f64,
    /// bound × penalty.
    pub bound: f64,
    /// count × level as it is in the loads of the links.
    pub carried: f64,
    /// Flows that transfer.
    pub count: u32,
    /// The value of `count` when the present level was found.
    pub counted: u32,
    pub first: u32,
    pub slots: u32,
    /// True if the solution that is being made covers it.
    pub seen: bool,
}

impl Rising {
    pub fn way(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.slots) as usize
    }
}

/// The rest of a variable.
#[derive(Debug)]
pub struct Variable {
    /// The present level, and what limits it.
    pub level: f64,
    pub group: u32,
    /// Flows in their latency phase.
    pub latent: u32,
    pub penalty: f64,
    /// The group's clock minus the variable's own, which began when the first flow did; if it is
    /// its own group, its own clock at `since`.
    pub offset: f64,
    pub since: u64,
    /// The first reading of the own clock at which a flow completes.
    pub first_end: f64,
    /// The time at which it completes a flow, if it is its own group.
    pub end: u64,
    pub hash: u64,
    /// True if its count has changed.
    pub changed: bool,
    /// The flows that transfer, the last to complete first.
    pub flows: SmallVec<[u32; 4]>,
}

/// Links and variables.
#[derive(Debug)]
pub struct System {
    pub hot: Vec<Hot>,
    pub links: Vec<LinkState>,
    pub variables: Vec<Variable>,
    pub rising: Vec<Rising>,
    pub slots: Vec<Slot>,
    /// The full links.
    pub full: Vec<u32>,
    /// Variables and pieces of `slots`, by length, that are free.
    free: Vec<u32>,
    free_slots: Vec<Vec<u32>>,
    by_hash: FxHashMap<u64, u32>,
}

impl System {
    pub fn new(links: impl IntoIterator<Item = Link>) -> Self {
        let links = links.into_iter();
        let (hot, links) = links
            .map(|link| {
                let fat = link.sharing == Sharing::FatPipe;
                let hot = Hot {
                    level: f64::INFINITY,
                    limit: f64::INFINITY,
                    room: 0.0,
                    weight: 0.0,
                    delta: 0.0,
                    rising: 0,
                    round: 0,
                    open: false,
                    fat,
                };
                let state = LinkState {
                    capacity: link.bandwidth,
                    load: 0.0,
                    clock: 0.0,
                    at: 0,
                    first_end: f64::INFINITY,
                    found: f64::INFINITY,
                    users: Vec::new(),
                    place: 0,
                };
                (hot, state)
            })
            .unzip();
        Self {
            hot,
            links,
            variables: Vec::new(),
            rising: Vec::new(),
            slots: Vec::new(),
            full: Vec::new(),
            free: Vec::new(),
            free_slots: Vec::new(),
            by_hash: FxHashMap::default(),
        }
    }

    /// The variable of flows with these slots, this bound (× penalty) and this penalty, made if
    /// there is none.
    pub fn variable(&mut self, way: &[Slot], bound: f64, penalty: f64) -> u32 {
        use std::hash::Hasher;
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_u64(bound.to_bits());
        hasher.write_u64(penalty.to_bits());
        for slot in way {
            hasher.write_u32(slot.link);
            hasher.write_u64(slot.share.to_bits());
        }
        let hash = hasher.finish();
        let known = self.by_hash.get(&hash).copied();
        if let Some(known) = known {
            let other = &self.rising[known as usize];
            let same =
                |(a, b): (&Slot, &Slot)| (a.link, a.share.to_bits()) == (b.link, b.share.to_bits());
            if other.bound.to_bits() == bound.to_bits()
                && self.variables[known as usize].penalty.to_bits() == penalty.to_bits()
                && other.slots as usize == way.len()
                && self.slots[other.way()].iter().zip(way).all(same)
            {
                return known;
            }
        }
        let number = self.add(way, bound, penalty, hash);
        // Two ways with the same hash: the later one goes without company.
        self.by_hash.entry(hash).or_insert(number);
        number
    }

    fn add(&mut self, way: &[Slot], bound: f64, penalty: f64, hash: u64) -> u32 {
        let first = if let Some(first) = self.free_slots.get_mut(way.len()).and_then(Vec::pop) {
            self.slots[first as usize..first as usize + way.len()].copy_from_slice(way);
            first
        } else {
            self.slots.extend_from_slice(way);
            (self.slots.len() - way.len()) as u32
        };
        let slots = way.len() as u32;
        let rising = Rising {
            level: 0.0,
            group: NONE,
            limit_by: NONE,
            limit: 0.0,
            bound,
            carried: 0.0,
            count: 0,
            counted: 0,
            first,
            slots,
            seen: false,
        };
        let variable = Variable {
            level: 0.0,
            group: IDLE,
            latent: 0,
            penalty,
            offset: 0.0,
            since: 0,
            first_end: f64::INFINITY,
            end: u64::MAX,
            hash,
            changed: false,
            flows: SmallVec::new(),
        };
        if let Some(number) = self.free.pop() {
            self.variables[number as usize] = variable;
            self.rising[number as usize] = rising;
            return number;
        }
        self.variables.push(variable);
        self.rising.push(rising);
        (self.variables.len() - 1) as u32
    }

    /// Forgets a variable that has no flows left.
    pub fn remove(&mut self, number: u32) {
        let variable = &self.variables[number as usize];
        if self.by_hash.get(&variable.hash) == Some(&number) {
            self.by_hash.remove(&variable.hash);
        }
        let Rising { first, slots, .. } = self.rising[number as usize];
        let length = slots as usize;
        if self.free_slots.len() <= length {
            self.free_slots.resize_with(length + 1, Vec::new);
        }
        self.free_slots[length].push(first);
        self.free.push(number);
    }

    /// Returns the links of a variable.
    pub fn way(&self, number: u32) -> &[Slot] {
        &self.slots[self.rising[number as usize].way()]
    }

    /// Returns whether a variable has no level since its first flow began to transfer.
    pub fn is_idle(&self, number: u32) -> bool {
        self.variables[number as usize].group == IDLE
    }

    /// Puts a variable among the users of its links.
    pub fn attach(&mut self, number: u32) {
        for slot in self.rising[number as usize].way() {
            let Slot { link, share, .. } = self.slots[slot];
            let users = &mut self.links[link as usize].users;
            self.slots[slot].position = users.len() as u32;
            users.push(User { variable: number, slot: slot as u32, share });
        }
    }

    /// Takes a variable from its links, which no longer carry it.
    pub fn detach(&mut self, number: u32) {
        self.variables[number as usize].group = IDLE;
        let rising = &mut self.rising[number as usize];
        let carried = std::mem::take(&mut rising.carried);
        rising.counted = 0;
        for slot in rising.way() {
            let Slot { link, share, position } = self.slots[slot];
            let link = &mut self.links[link as usize];
            link.users.swap_remove(position as usize);
            if let Some(moved) = link.users.get(position as usize) {
                self.slots[moved.slot as usize].position = position;
            }
            link.load = if link.users.is_empty() { 0.0 } else { link.load - share * carried };
        }
    }

    /// A link's clock at a moment.
    pub fn clock(&self, link: u32, now: u64) -> f64 {
        let state = &self.links[link as usize];
        let level = self.hot[link as usize].level;
        if level.is_finite() { state.clock + level * (now - state.at) as f64 } else { state.clock }
    }

    /// A variable's own clock at a moment.
    pub fn own_clock(&self, number: u32, now: u64) -> f64 {
        let variable = &self.variables[number as usize];
        match variable.group {
            IDLE => 0.0,
            OWN => {
                variable.offset + self.rising[number as usize].bound * (now - variable.since) as f64
            }
            link => self.clock(link, now) - variable.offset,
        }
    }
}
