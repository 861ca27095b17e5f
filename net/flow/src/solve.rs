//! The max-min levels after a change, where they can have changed.
//!
//! A solution is max-min fair if and only if every variable is at its bound, or on a full link on
//! which nothing has a higher level (Bertsekas and Gallager, *Data Networks*, section 6.5.2). So a
//! part of the links can be filled anew, with everything else as it was, and the whole is right if
//! no rate changed on a full link outside the part and none outside is overloaded. Links where that
//! fails join the part, and it is filled again:
//!
//! 1. *Open* are the full links of the flows that started or ended. Covered are all variables on
//!    open links.
//! 2. Covered variables are limited by their bounds and by the levels of full links that are not
//!    open.
//! 3. Progressive filling of the open links.
//! 4. Links outside that are full and carry a variable whose rate changed, or that would be
//!    overloaded, are opened; back to 2.
//!
//! What blocks a change blocks the work: when one of four flows out of a host ends and the other
//! three are held by full links at their destinations as well, nothing else is looked at. Where
//! everything is entangled, step 1 opens all full links at once, from the lowest level on that can
//! change: filling begins below, so that a flow that ends leaves all lower levels as they are.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::system::{NONE, OWN, System};

/// Rounding: rates that differ by less count as the same.
pub const SAME: f64 = 1e-13;
/// Levels within this of each other may be found in either order.
pub const TIE: f64 = 1e-12;
/// A link is overloaded if it carries more than its bandwidth by this part of it.
pub const OVERLOAD: f64 = 1e-11;

/// Scratch space, and the part of the system that is being solved.
#[derive(Debug, Default)]
pub struct Solver {
    /// The links that take part.
    pub open: Vec<u32>,
    /// The variables on them, and those that have changed.
    pub covered: Vec<u32>,
    /// The other links of those variables.
    pub touched: Vec<u32>,
    /// Links to be opened.
    more: Vec<u32>,
    /// Open links by the bits of a lower bound of their level.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    rising: Vec<u32>,
    round: u32,
    /// Covered variables without a level.
    left: usize,
    /// Number of variables that were given a level so far.
    pub fixes: u64,
    /// True if changes lately went through most of the system.
    pub entangled: bool,
}

impl Solver {
    /// Finds the levels after the `changed` variables' counts changed and variables went off the
    /// `freed` links; `lowest` is the lowest level that can have changed.
    pub fn solve(&mut self, system: &mut System, changed: &[u32], freed: &[u32], lowest: f64) {
        for &variable in changed {
            self.cover(system, variable);
            for slot in system.rising[variable as usize].way() {
                self.open_if_full(system, system.slots[slot].link);
            }
        }
        for &link in freed {
            self.open_if_full(system, link);
        }
        if self.entangled {
            self.open_from(system, lowest);
        }
        let mut rounds = 0;
        loop {
            rounds += 1;
            self.limit(system);
            self.fill(system);
            if !self.widen(system) {
                break;
            }
            if rounds == 2 && 4 * self.open.len() > system.full.len() {
                self.entangled = true;
                self.open_from(system, lowest);
            }
        }
    }

    /// Gives the solution up.
    pub fn abandon(&mut self, system: &mut System) {
        for &link in &self.open {
            let hot = &mut system.hot[link as usize];
            (hot.open, hot.limit) = (false, hot.level);
        }
        for &variable in &self.covered {
            system.rising[variable as usize].seen = false;
        }
        self.open.clear();
        self.covered.clear();
        self.touched.clear();
    }

    /// The links whose load can have changed.
    pub fn links(&self) -> impl Iterator<Item = u32> + Clone {
        self.open.iter().chain(&self.touched).copied()
    }

    /// To be called when the solution has been taken over.
    pub fn clear(&mut self, moved: usize) {
        if 4 * moved < self.open.len() {
            self.entangled = false;
        }
        self.open.clear();
        self.covered.clear();
        self.touched.clear();
    }

    fn open_from(&mut self, system: &mut System, lowest: f64) {
        for index in 0..system.full.len() {
            let link = system.full[index];
            if system.hot[link as usize].level >= lowest * (1.0 - TIE) {
                self.open(system, link);
            }
        }
    }

    fn cover(&mut self, system: &mut System, variable: u32) {
        let state = &mut system.rising[variable as usize];
        if !state.seen {
            state.seen = true;
            self.covered.push(variable);
        }
    }

    fn open_if_full(&mut self, system: &mut System, link: u32) {
        if system.hot[link as usize].level.is_finite() {
            self.open(system, link);
        }
    }

    fn open(&mut self, system: &mut System, link: u32) {
        let hot = &mut system.hot[link as usize];
        if hot.open {
            return;
        }
        hot.open = true;
        hot.limit = f64::INFINITY;
        self.open.push(link);
        for user in &system.links[link as usize].users {
            let state = &mut system.rising[user.variable as usize];
            if !state.seen {
                state.seen = true;
                self.covered.push(user.variable);
            }
        }
    }

    /// Makes everything ready to be filled: the limits from outside, and the weights on the open
    /// links.
    fn limit(&mut self, system: &mut System) {
        let System { hot, links, rising, slots, .. } = system;
        self.touched.clear();
        self.round = self.round.wrapping_add(1).max(1);
        for &link in &self.open {
            let state = &mut links[link as usize];
            state.found = f64::INFINITY;
            hot[link as usize].empty(self.round, state.capacity);
        }
        for &variable in &self.covered {
            let state = &mut rising[variable as usize];
            state.group = NONE;
            (state.limit, state.limit_by) = (state.bound, OWN);
            let count = f64::from(state.count);
            for slot in &slots[state.way()] {
                let hot = &mut hot[slot.link as usize];
                if hot.round != self.round {
                    hot.empty(self.round, links[slot.link as usize].capacity);
                    self.touched.push(slot.link);
                }
                hot.rising += 1;
                if hot.fat {
                    hot.weight = hot.weight.max(slot.share);
                } else {
                    hot.weight += slot.share * count;
                }
                if hot.limit < state.limit {
                    (state.limit, state.limit_by) = (hot.limit, slot.link);
                }
            }
        }
        self.left = self.covered.len();
    }

    /// Progressive filling: the link with the lowest level that is still to come stops its flows.
    fn fill(&mut self, system: &mut System) {
        let key = |link: u32| {
            let hot = &system.hot[link as usize];
            (hot.rising > 0).then(|| Reverse(((hot.room / hot.weight).to_bits(), link)))
        };
        let mut keys = std::mem::take(&mut self.heap).into_vec();
        keys.clear();
        keys.extend(self.open.iter().filter_map(|&link| key(link)));
        self.heap = BinaryHeap::from(keys);
        while let Some(Reverse((bits, link))) = self.heap.pop() {
            let next = self.heap.peek().map_or(f64::INFINITY, |top| f64::from_bits(top.0.0));
            let hot = &system.hot[link as usize];
            if hot.rising == 0 {
                continue;
            }
            // What other links have stopped leaves more for the rest; the sums go down by
            // subtraction, which is good enough for a first look.
            let least = f64::from_bits(bits);
            let level = if hot.fat { least } else { (hot.room / hot.weight).max(least) };
            let level =
                if level > next * (1.0 + TIE) { level } else { self.level(system, link, least) };
            if level > next * (1.0 + TIE) {
                self.heap.push(Reverse((level.to_bits(), link)));
            } else {
                self.stop(system, link, level);
            }
        }
    }

    /// The level at which an open link is full, from sums made anew. What still rises on it is in
    /// `rising` then.
    fn level(&mut self, system: &System, link: u32, least: f64) -> f64 {
        let fat = system.hot[link as usize].fat;
        let state = &system.links[link as usize];
        let (mut room, mut weight) = (state.capacity, 0_f64);
        self.rising.clear();
        for user in &state.users {
            let variable = &system.rising[user.variable as usize];
            let count = f64::from(variable.count);
            if variable.group == NONE {
                self.rising.push(user.variable);
                weight = if fat { weight.max(user.share) } else { weight + user.share * count };
            } else if !fat {
                room -= user.share * count * variable.level;
            }
        }
        if state.found.is_finite() {
            return state.found;
        }
        // Levels never go down while the filling goes on; differences of nearly equal sums do.
        (room / weight).max(least)
    }

    /// The flows that still rise on a link have reached its level: those with lower limits stop
    /// there; if there are none, the link stops all.
    fn stop(&mut self, system: &mut System, link: u32, level: f64) {
        let fat = system.hot[link as usize].fat;
        let rising = std::mem::take(&mut self.rising);
        let mut limited = false;
        for &variable in &rising {
            let state = &system.rising[variable as usize];
            let (limit, by) = (state.limit, state.limit_by);
            // At equal levels a full link outside has the say, for then it need not be opened; but
            // a fat pipe stops its flows. Where a flow's bound is the fat pipe's bandwidth,
            // rounding decides, as it does in SimGrid.
            let bar = match by {
                OWN => level,
                _ if fat => level * (1.0 - TIE),
                _ => level * (1.0 + SAME),
            };
            if limit < bar {
                limited = true;
                self.fix(system, variable, limit, by);
            }
        }
        if !limited {
            for &variable in &rising {
                self.fix(system, variable, level, link);
            }
            system.links[link as usize].found = level;
        } else if system.hot[link as usize].rising > 0 {
            self.heap.push(Reverse((level.to_bits(), link)));
        }
        self.rising = rising;
    }

    /// Gives a variable its level.
    fn fix(&mut self, system: &mut System, variable: u32, level: f64, group: u32) {
        let System { hot, links, rising, slots, .. } = system;
        let state = &mut rising[variable as usize];
        (state.level, state.group) = (level, group);
        self.left -= 1;
        self.fixes += 1;
        let count = f64::from(state.count);
        let total = count * level;
        let moved = (total - state.carried).abs() > SAME * state.carried;
        let change = total - state.carried;
        // Open links and others are treated alike, since a branch between them is hard to predict.
        for slot in &slots[state.way()] {
            let hot = &mut hot[slot.link as usize];
            hot.rising -= 1;
            hot.room -= slot.share * total;
            hot.weight -= slot.share * count;
            hot.delta += slot.share * change;
            if hot.limit < f64::INFINITY && moved {
                hot.limit = f64::INFINITY;
                self.more.push(slot.link);
            }
            if hot.fat && hot.level.is_infinite() | hot.open {
                let link = &mut links[slot.link as usize];
                if slot.share * level < link.capacity * (1.0 - TIE) {
                } else if hot.open {
                    // Full, although something else stops this one. A flow at its bound leaves the
                    // pipe to the others.
                    if group != OWN {
                        link.found = level;
                    }
                } else {
                    self.more.push(slot.link);
                }
            }
        }
    }

    /// Opens the links outside that the solution is not right for. Returns true if there were any.
    fn widen(&mut self, system: &mut System) -> bool {
        if self.left > 0 {
            for index in 0..self.covered.len() {
                let variable = self.covered[index];
                let state = &system.rising[variable as usize];
                if state.group != NONE {
                } else if state.limit.is_finite() {
                    let (limit, by) = (state.limit, state.limit_by);
                    self.fix(system, variable, limit, by);
                } else {
                    self.more.extend(narrowest(system, variable));
                }
            }
        }
        for &link in &self.touched {
            let (hot, state) = (&system.hot[link as usize], &system.links[link as usize]);
            if state.load + hot.delta > state.capacity * (1.0 + OVERLOAD) && !hot.fat {
                self.more.push(link);
            }
        }
        let opened = self.open.len();
        let more = std::mem::take(&mut self.more);
        for &link in &more {
            self.open(system, link);
        }
        self.more = more;
        self.more.clear();
        self.open.len() > opened
    }
}

/// Returns the link that leaves a variable the lowest level, where nothing limits it yet.
fn narrowest(system: &System, variable: u32) -> Option<u32> {
    let state = &system.rising[variable as usize];
    let level = |slot: &crate::system::Slot| {
        let link = &system.links[slot.link as usize];
        if system.hot[slot.link as usize].fat {
            return link.capacity / slot.share;
        }
        let others = link.load - slot.share * state.carried;
        (link.capacity - others) / (slot.share * f64::from(state.count))
    };
    let slots = system.slots[state.way()].iter();
    slots.min_by(|a, b| level(a).total_cmp(&level(b))).map(|slot| slot.link)
}
