//! Progressive filling by groups.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Groups;
use crate::{
    solve::{OVERLOAD, SAME, TIE},
    system::{NONE, OWN, System},
};

/// Shares that have fallen to this part of what they were hold nothing but rounding errors.
const NOTHING: f64 = 1e-10;
/// The last bits of a level that may be rounding errors.
const ROUNDING_BITS: u64 = (1 << 9) - 1;

impl Groups {
    /// Finds the levels after the counts of the `changed` variables changed; `lowest` is the lowest
    /// level that can have changed. Returns false if rounding keeps it from an end.
    pub fn solve(&mut self, system: &mut System, changed: &[u32], lowest: f64) -> bool {
        self.moved.clear();
        self.loose.clear();
        for &variable in changed {
            if system.is_idle(variable) {
                self.limited_by.resize(self.limited_by.len().max(variable as usize + 1), NONE);
                self.limited_by[variable as usize] = NONE;
                self.loose.push(variable);
            }
            self.count(system, variable);
            self.moved.push(variable);
        }
        self.begin(system, lowest);
        self.fill(system);
        // Sums that hold nothing but a small share may have been taken for rounding errors.
        for column in 0..self.links.len() {
            if self.rows[column] != NONE {
                self.settle(system, column as u32);
            }
        }
        for index in 0..self.loose.len() {
            let variable = self.loose[index];
            if self.limited_by[variable as usize] == NONE {
                let way = system.way(variable).iter();
                let columns = way.map(|slot| self.columns[slot.link as usize]);
                let level = |column: u32| self.fresh(system, column);
                let first = columns.min_by(|a, b| level(*a).total_cmp(&level(*b)));
                self.settle(system, first.unwrap_or(0));
            }
        }
        if self.stops > self.most_stops {
            return false;
        }
        for &variable in &self.moved {
            let group = self.limited_by[variable as usize];
            let state = &mut system.rising[variable as usize];
            state.group = group;
            state.level = match group {
                OWN => state.bound,
                link => self.found[self.columns[link as usize] as usize],
            };
        }
        true
    }

    /// Gives a level to all that still rises on a link.
    fn settle(&mut self, system: &System, column: u32) {
        let link = self.links[column as usize] as usize;
        while !self.done[link]
            && self.stops <= self.most_stops
            && self.fresh(system, column).is_finite()
        {
            self.refresh(system, column);
            self.stop(system, column, f64::INFINITY);
            self.fill(system);
        }
    }

    /// Makes everything ready to be filled from a level on: the groups below it stay as they are.
    fn begin(&mut self, system: &System, lowest: f64) {
        self.least = 0.0;
        (self.stops, self.most_stops) = (0, 16 * (self.links.len() + self.variables) + 1024);
        for (column, &link) in self.links.iter().enumerate() {
            let state = &system.links[link as usize];
            if state.users.is_empty() {
                (self.bounded[column], self.total[column]) = (0.0, 0.0);
            }
            self.room[column] = state.capacity - self.bounded[column];
            self.rising[column] = self.total[column];
            self.found[column] = f64::INFINITY;
            self.done[link as usize] = false;
        }
        for column in 0..self.links.len() {
            let level = system.hot[self.links[column] as usize].level;
            if level < lowest * (1.0 - TIE) {
                self.fix(column as u32, level);
            }
        }
        let mut keys = std::mem::take(&mut self.heap).into_vec();
        keys.clear();
        keys.extend((0..self.links.len() as u32).filter_map(|column| self.entry(system, column)));
        self.heap = BinaryHeap::from(keys);
    }

    /// The place of a link in the heap, if anything rises on it. Levels that only rounding tells
    /// apart are equal there, so that such links come in the same order in each solution, and
    /// variables do not go from one to the other and back.
    fn entry(&self, system: &System, column: u32) -> Option<Reverse<(u64, u32)>> {
        let (place, link) = (column as usize, self.links[column as usize] as usize);
        let level = if self.rising[place] > NOTHING * self.total[place].abs() {
            (self.room[place] / self.rising[place]).max(self.least)
        } else if self.room[place] < -OVERLOAD * system.links[link].capacity {
            // Too much for the link are those at their bounds alone.
            self.least
        } else {
            return None;
        };
        (!self.done[link]).then_some(Reverse((level.to_bits() & !ROUNDING_BITS, column)))
    }

    /// Progressive filling: the link with the lowest level that is still to come stops its flows.
    fn fill(&mut self, system: &System) {
        while let Some(Reverse((_, column))) = self.heap.pop() {
            let Some(entry) = self.entry(system, column) else { continue };
            let next = self.heap.peek();
            if next.is_some_and(|next| *next > entry) {
                self.heap.push(entry);
            } else if self.stops > self.most_stops {
                return;
            } else {
                let next = next.map_or(f64::INFINITY, |next| f64::from_bits(next.0.0));
                self.stop(system, column, next);
            }
        }
    }

    /// Returns whether a variable that is not at its bound has no level yet.
    fn rises(&self, variable: u32) -> bool {
        let group = self.limited_by[variable as usize];
        group == NONE || group != OWN && !self.done[group as usize]
    }

    /// Collects the variables of other groups that rise on a link, and those at their bounds.
    /// Returns the shares of all that rise there.
    fn scan(&mut self, system: &System, column: u32) -> f64 {
        self.joining.clear();
        self.at_bounds.clear();
        let (place, link) = (column as usize, self.links[column as usize]);
        let mut weight = self.weight(place);
        if weight * 16.0 < self.peaks[place] {
            // Sums that have become small by subtraction are not exact.
            self.refresh(system, column);
            weight = self.weight(place);
        }
        self.peaks[place] = self.peaks[place].max(weight);
        for user in &system.links[link as usize].users {
            let group = self.limited_by[user.variable as usize];
            if group == link {
            } else if group == OWN {
                self.at_bounds.push(user.variable);
            } else if group == NONE || !self.done[group as usize] {
                let count = system.rising[user.variable as usize].count;
                weight += user.share * f64::from(count);
                self.joining.push(user.variable);
            }
        }
        weight
    }

    /// The level of a link from sums made anew, infinite if nothing rises on it.
    fn fresh(&self, system: &System, column: u32) -> f64 {
        let link = self.links[column as usize];
        let users = system.links[link as usize].users.iter();
        let rising = users.filter(|user| self.rises(user.variable));
        let weight: f64 = rising
            .map(|user| user.share * f64::from(system.rising[user.variable as usize].count))
            .sum();
        if weight > 0.0 { self.room[column as usize] / weight } else { f64::INFINITY }
    }

    /// Makes a link full, if its level is not above the `next` one: what still rises on it joins
    /// its group. Variables that have to be at their bounds, or no longer can be, come first; then
    /// the link is looked at again.
    fn stop(&mut self, system: &System, column: u32, next: f64) {
        self.stops += 1;
        let weight = self.scan(system, column);
        let place = column as usize;
        if weight <= 0.0 {
            self.rising[place] = 0.0;
            if self.entry(system, column).is_none() {
                return;
            }
        }
        let fair = if weight > 0.0 { self.room[place] / weight } else { 0.0 };
        let level = fair.max(self.least);
        if level > next * (1.0 + TIE) {
            self.heap.push(Reverse((level.to_bits() & !ROUNDING_BITS, column)));
            return;
        }
        let joining = std::mem::take(&mut self.joining);
        let again = self.meet_bounds(system, column, level, &joining);
        if again {
            self.heap.extend(self.entry(system, column));
        } else if weight > 0.0 {
            for &variable in &joining {
                self.join(system, variable, self.links[column as usize]);
            }
            self.fix(column, level);
        }
        self.joining = joining;
    }

    /// Puts the rising variables of a link that reach their bounds below its level at them, and
    /// lets those at their bounds rise that do not. Returns whether there were any.
    fn meet_bounds(&mut self, system: &System, column: u32, level: f64, joining: &[u32]) -> bool {
        let bound = |variable: u32| system.rising[variable as usize].bound;
        let mut any = false;
        let at_bounds = std::mem::take(&mut self.at_bounds);
        for &variable in at_bounds.iter().filter(|v| bound(**v) > level * (1.0 + SAME)) {
            self.rise(system, variable);
            any = true;
        }
        self.at_bounds = at_bounds;
        for &variable in joining.iter().filter(|v| bound(**v) < level) {
            self.bind(system, variable);
            any = true;
        }
        if self.bounds[column as usize] < level {
            let link = self.links[column as usize];
            self.bounds[column as usize] = f64::INFINITY;
            for user in &system.links[link as usize].users {
                let (variable, bound) = (user.variable, bound(user.variable));
                if self.limited_by[variable as usize] != link {
                } else if bound < level {
                    self.bind(system, variable);
                    any = true;
                } else {
                    let least = &mut self.bounds[column as usize];
                    *least = least.min(bound);
                }
            }
        }
        any
    }

    /// Gives a group its level.
    fn fix(&mut self, column: u32, level: f64) {
        let place = column as usize;
        self.found[place] = level;
        self.done[self.links[place] as usize] = true;
        self.least = self.least.max(level);
        if self.rows[place] == NONE {
            return;
        }
        let row = self.rows[place] as usize * self.stride;
        let shares = &self.shares[row..row + self.links.len()];
        for ((share, room), rising) in shares.iter().zip(&mut self.room).zip(&mut self.rising) {
            *room -= share * level;
            *rising -= share;
        }
    }

    /// Moves a rising variable to the group of a link.
    fn join(&mut self, system: &System, variable: u32, link: u32) {
        let old = self.limited_by[variable as usize];
        let state = &system.rising[variable as usize];
        let flows = f64::from(state.count);
        let (from, to) = (self.row(old, f64::INFINITY), self.row(link, state.bound));
        let way = system.way(variable);
        self.changes += 2 * way.len();
        for slot in way {
            let (column, share) = (self.columns[slot.link as usize] as usize, slot.share * flows);
            if let Some(from) = from {
                self.shares[from + column] -= share;
            }
            if let Some(to) = to {
                self.shares[to + column] += share;
            }
        }
        self.fixes += 1;
        self.set_group(variable, link);
        self.moved.push(variable);
    }

    /// Puts a rising variable at its bound.
    fn bind(&mut self, system: &System, variable: u32) {
        let state = &system.rising[variable as usize];
        let flows = f64::from(state.count);
        self.add(system, variable, -flows);
        self.fixes += 1;
        self.set_group(variable, OWN);
        self.add(system, variable, flows);
        for slot in system.way(variable) {
            let column = self.columns[slot.link as usize] as usize;
            self.rising[column] -= slot.share * flows;
            self.room[column] -= slot.share * flows * state.bound;
        }
        self.moved.push(variable);
    }

    /// Lets a variable that was at its bound rise.
    fn rise(&mut self, system: &System, variable: u32) {
        let state = &system.rising[variable as usize];
        let flows = f64::from(state.count);
        self.add(system, variable, -flows);
        self.set_group(variable, NONE);
        self.add(system, variable, flows);
        for slot in system.way(variable) {
            let column = self.columns[slot.link as usize];
            self.rising[column as usize] += slot.share * flows;
            self.room[column as usize] += slot.share * flows * state.bound;
            self.heap.extend(self.entry(system, column));
        }
        self.loose.push(variable);
    }
}
