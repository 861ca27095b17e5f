//! Changes that go no further than one link.
//!
//! Where one full link limits all flows that cross it, a backbone for instance, and all their other
//! links have room, a start or an end changes one number: the link's level. That is so as long as
//! the level stays between the highest level of flows on the link that something else limits
//! (*floor*), and the level at which a bound is reached or another link is full (*ceiling*). Loads
//! of those other links, the *guarded* ones, are kept as a fixed part and a part in proportion to
//! the level. One link at a time is treated so; anything that does not fit releases it, and the
//! general solver goes on from there.

use crate::{
    ends::Ends,
    solve::Solver,
    system::{IDLE, NONE, System},
};

/// Fewer variables than this are solved as fast without.
const MANY: usize = 16;
/// Levels closer to a limit than this part of it may have reached it.
const MARGIN: f64 = 1e-9;

/// The load of a link is `fixed + level × weight`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guard {
    pub on: bool,
    pub weight: f64,
    pub fixed: f64,
}

/// The link whose changes are confined to it, if there is one.
#[derive(Debug)]
pub struct Confined {
    /// `NONE` if there is none.
    pub link: u32,
    /// Bandwidth that the group has, and the shares of its flows: now, and at most since it was
    /// confined.
    given: f64,
    weight: f64,
    most: f64,
    floor: f64,
    ceiling: f64,
    /// The guarded links, and the guards of all links.
    pub guarded: Vec<u32>,
    guards: Vec<Guard>,
    /// The ends of the group's variables.
    pub ends: Ends,
}

impl Confined {
    pub fn new(links: usize) -> Self {
        Self {
            link: NONE,
            given: 0.0,
            weight: 0.0,
            most: 0.0,
            floor: 0.0,
            ceiling: f64::INFINITY,
            guarded: Vec::new(),
            guards: vec![Guard::default(); links],
            ends: Ends::default(),
        }
    }

    /// Returns whether the confinement depends on a link.
    pub fn concerns(&self, link: u32) -> bool {
        link == self.link || self.guards[link as usize].on
    }

    /// A guarded link's load.
    pub fn load(&self, system: &System, link: u32) -> Option<f64> {
        let guard = self.guards[link as usize];
        guard.on.then(|| guard.fixed + system.hot[self.link as usize].level * guard.weight)
    }

    /// After a solution: confines the only full link that took part, if that is all that the
    /// variables covered depend on.
    pub fn confine(&mut self, system: &System, solver: &Solver) {
        let hot = |link: u32| &system.hot[link as usize];
        let (covered, links) = (&solver.covered, solver.links());
        let mut full = links.clone().filter(|&link| hot(link).level.is_finite());
        let (Some(link), None) = (full.next(), full.next()) else { return };
        let all = solver.open.contains(&link);
        if !all || covered.len() < MANY || links.clone().any(|link| hot(link).fat) {
            return;
        }
        self.link = link;
        (self.weight, self.floor, self.ceiling) = (0.0, 0.0, f64::INFINITY);
        for other in links.filter(|&other| other != link) {
            self.guard(system, other);
        }
        for &variable in covered {
            let rising = &system.rising[variable as usize];
            let member = rising.group == link;
            if member {
                self.ceiling = self.ceiling.min(rising.bound);
                self.ends.expect(system, variable);
            }
            for slot in &system.slots[rising.way()] {
                if member {
                    self.add(slot.link, slot.share * f64::from(rising.count));
                } else if slot.link == link {
                    self.floor = self.floor.max(rising.level);
                }
            }
        }
        let level = hot(link).level;
        (self.given, self.most) = (level * self.weight, self.weight);
        for index in 0..self.guarded.len() {
            let other = self.guarded[index];
            let guard = &mut self.guards[other as usize];
            guard.fixed -= level * guard.weight;
            self.ceiling = self.ceiling.min(self.room(system, other));
        }
    }

    /// Ends the confinement: the loads and the levels are again what they say.
    pub fn release(&mut self, system: &mut System) {
        let level = system.hot[self.link as usize].level;
        for link in self.guarded.drain(..) {
            let guard = std::mem::take(&mut self.guards[link as usize]);
            system.links[link as usize].load = guard.fixed + level * guard.weight;
        }
        for user in &system.links[self.link as usize].users {
            if system.variables[user.variable as usize].group == self.link {
                let rising = &mut system.rising[user.variable as usize];
                rising.carried = f64::from(rising.counted) * level;
                system.variables[user.variable as usize].level = level;
            }
        }
        self.ends.clear();
        self.link = NONE;
    }

    /// The link's level after changes, if they are confined to it.
    pub fn level(&mut self, system: &System, changed: &[u32], freed: &[u32]) -> Option<f64> {
        let fits = |&variable: &u32| {
            let group = system.variables[variable as usize].group;
            let mut here = false;
            let free = system.slots[system.rising[variable as usize].way()].iter().all(|slot| {
                let hot = &system.hot[slot.link as usize];
                here |= slot.link == self.link;
                slot.link == self.link || hot.level.is_infinite() && !hot.fat
            });
            here && free && (group == IDLE || group == self.link)
        };
        if !freed.iter().all(|&link| link == self.link) || !changed.iter().all(fits) {
            return None;
        }
        self.count(system, changed, 1.0);
        let mut ceiling = self.ceiling;
        for &variable in changed {
            let rising = &system.rising[variable as usize];
            ceiling = ceiling.min(rising.bound);
            for slot in &system.slots[rising.way()] {
                if slot.link != self.link {
                    ceiling = ceiling.min(self.room(system, slot.link));
                }
            }
        }
        let level = self.given / self.weight;
        // Sums that have become small by subtraction are not exact.
        let exact = self.weight * 16.0 > self.most;
        if exact && level < ceiling * (1.0 - MARGIN) && level > self.floor * (1.0 + MARGIN) {
            self.ceiling = ceiling;
            self.most = self.most.max(self.weight);
            return Some(level);
        }
        self.count(system, changed, -1.0);
        None
    }

    /// A variable of the group is leaving, or one that is not but uses some of the links.
    pub fn leave(&mut self, system: &System, variable: u32) {
        let rising = &system.rising[variable as usize];
        let member = system.variables[variable as usize].group == self.link;
        for slot in &system.slots[rising.way()] {
            if member {
                self.add(slot.link, -slot.share * f64::from(rising.counted));
            } else if slot.link == self.link {
                // The group gets more, and not from here: nothing fits any more.
                self.floor = f64::INFINITY;
            } else {
                self.guards[slot.link as usize].fixed -= slot.share * rising.carried;
            }
        }
    }

    /// Adds what has started and ended in these variables, or takes it off again.
    fn count(&mut self, system: &System, changed: &[u32], sign: f64) {
        for &variable in changed {
            let rising = &system.rising[variable as usize];
            let more = sign * (f64::from(rising.count) - f64::from(rising.counted));
            for slot in &system.slots[rising.way()] {
                if slot.link != self.link {
                    self.guard(system, slot.link);
                }
                self.add(slot.link, slot.share * more);
            }
        }
    }

    fn guard(&mut self, system: &System, link: u32) {
        let guard = &mut self.guards[link as usize];
        if !guard.on {
            *guard = Guard { on: true, weight: 0.0, fixed: system.links[link as usize].load };
            self.guarded.push(link);
        }
    }

    fn add(&mut self, link: u32, weight: f64) {
        if link == self.link {
            self.weight += weight;
        } else {
            self.guards[link as usize].weight += weight;
        }
    }

    /// The level at which a guarded link is full.
    fn room(&self, system: &System, link: u32) -> f64 {
        let Guard { weight, fixed, .. } = self.guards[link as usize];
        let capacity = system.links[link as usize].capacity;
        if weight > 0.0 { (capacity - fixed) / weight } else { f64::INFINITY }
    }
}
