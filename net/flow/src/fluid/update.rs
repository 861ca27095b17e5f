//! The levels after a change.

use kernel::Probe;

use super::{Fluid, Timer, after};
use crate::{
    Load,
    solve::SAME,
    system::{NONE, OWN, Rising},
};

impl<P: Probe<Load>> Fluid<P> {
    /// Brings the levels up to date with what started and ended.
    pub(super) fn solve(&mut self) {
        if self.changed.is_empty() && self.freed.is_empty() {
            return;
        }
        self.changed.retain(|&variable| self.system.rising[variable as usize].count > 0);
        if self.groups.active {
            let solved = self.groups.fits(&self.system, &self.changed)
                && self.groups.solve(&mut self.system, &self.changed, self.lowest);
            if solved {
                self.take_over_groups();
            } else {
                self.groups.hand_back(&mut self.system);
                self.solve_anew();
            }
        } else if let Some(level) = self.confined_level() {
            self.shift(level);
        } else {
            self.solve_anew();
        }
        self.changed.clear();
        self.freed.clear();
        self.lowest = f64::INFINITY;
    }

    /// Returns the level of the confined link after changes that go no further.
    fn confined_level(&mut self) -> Option<f64> {
        (self.confined.link != NONE)
            .then(|| self.confined.level(&self.system, &self.changed, &self.freed))
            .flatten()
    }

    /// The confined link has a new level, and nothing else changes.
    fn shift(&mut self, level: f64) {
        let link = self.confined.link;
        let clock = self.system.clock(link, self.now);
        let (hot, state) =
            (&mut self.system.hot[link as usize], &mut self.system.links[link as usize]);
        (hot.level, hot.limit) = (level, level);
        (state.clock, state.at) = (clock, self.now);
        for &variable in &self.changed {
            let rising = &mut self.system.rising[variable as usize];
            rising.counted = rising.count;
            let state = &mut self.system.variables[variable as usize];
            state.changed = false;
            if state.group != link {
                (state.group, state.offset) = (link, clock);
            }
            self.confined.ends.expect(&self.system, variable);
        }
        let next = self.confined.ends.next(&self.system, link);
        let next = next.map_or(f64::INFINITY, |(end, _)| end);
        self.system.links[link as usize].first_end = next;
        self.set_end(link);
        if P::LISTENS {
            for index in 0..self.confined.guarded.len() {
                self.tell(self.confined.guarded[index]);
            }
        }
    }

    fn solve_anew(&mut self) {
        self.solver.solve(&mut self.system, &self.changed, &self.freed, self.lowest);
        if self.confined.link != NONE
            && self.solver.links().any(|link| self.confined.concerns(link))
        {
            self.solver.abandon(&mut self.system);
            self.confined.release(&mut self.system);
            self.solver.solve(&mut self.system, &self.changed, &self.freed, self.lowest);
        }
        for index in 0..self.solver.open.len() {
            let link = self.solver.open[index];
            let clock = self.system.clock(link, self.now);
            let state = &mut self.system.links[link as usize];
            (state.clock, state.at, state.first_end) = (clock, self.now, f64::INFINITY);
        }
        for index in 0..self.solver.covered.len() {
            self.take_over(self.solver.covered[index]);
        }
        let mut moved = 0;
        for index in 0..self.solver.open.len() {
            let link = self.solver.open[index];
            moved += usize::from(self.take_over_link(link));
            if P::LISTENS {
                self.tell(link);
            }
        }
        for index in 0..self.solver.touched.len() {
            let link = self.solver.touched[index];
            let delta = self.system.hot[link as usize].delta;
            self.system.links[link as usize].load += delta;
            if P::LISTENS && delta != 0.0 {
                self.tell(link);
            }
        }
        for link in std::mem::take(&mut self.joined) {
            self.set_end(link);
        }
        if self.confined.link == NONE {
            self.confined.confine(&self.system, &self.solver);
        }
        if self.confined.link == NONE {
            self.groups.take_charge(&self.system, &self.solver);
        }
        self.solver.clear(moved);
    }

    /// Takes over what was found by groups.
    fn take_over_groups(&mut self) {
        let columns = self.groups.links.len();
        for column in 0..columns {
            let link = self.groups.links[column];
            let clock = self.system.clock(link, self.now);
            let state = &mut self.system.links[link as usize];
            (state.clock, state.at, state.found) = (clock, self.now, self.groups.found[column]);
            self.system.hot[link as usize].room = self.groups.room[column];
        }
        for index in 0..self.groups.moved.len() {
            let variable = self.groups.moved[index];
            self.take_over(variable);
            self.groups.expect(&self.system, variable);
        }
        let (mut moved, mut looked_at) = (0, 0);
        for column in 0..columns {
            let link = self.groups.links[column];
            let load = self.system.links[link as usize].load;
            let was_full = self.system.hot[link as usize].level.is_finite();
            let is_full = self.groups.found[column].is_finite();
            if !is_full {
                self.groups.free(column);
            }
            if was_full || is_full {
                let next = self.groups.ends(link).next(&self.system, link);
                self.system.links[link as usize].first_end =
                    next.map_or(f64::INFINITY, |(end, _)| end);
                looked_at += 1;
                moved += usize::from(self.take_over_link(link));
            }
            let state = &mut self.system.links[link as usize];
            let room = self.system.hot[link as usize].room;
            state.load = if state.users.is_empty() { 0.0 } else { state.capacity - room };
            if P::LISTENS && (state.load - load).abs() > SAME * state.capacity {
                self.tell(link);
            }
        }
        if !self.groups.is_worth_it(moved, looked_at) {
            self.groups.hand_back(&mut self.system);
            self.solver.entangled = false;
        } else if self.groups.is_worn() {
            self.groups.build(&self.system);
        }
    }

    /// Gives a variable the level and the group that were found.
    fn take_over(&mut self, variable: u32) {
        let system = &mut self.system;
        let rising = &mut system.rising[variable as usize];
        rising.seen = false;
        rising.counted = rising.count;
        rising.carried = f64::from(rising.count) * rising.level;
        let Rising { level, group, bound, .. } = *rising;
        let state = &mut system.variables[variable as usize];
        let old = state.group;
        let changed = std::mem::take(&mut state.changed);
        if group != old {
            let own = system.own_clock(variable, self.now);
            let offset = if group == OWN { own } else { system.clock(group, self.now) - own };
            let state = &mut system.variables[variable as usize];
            (state.offset, state.since, state.group) = (offset, self.now, group);
        }
        let state = &mut system.variables[variable as usize];
        state.level = level;
        if group == OWN {
            if group != old || changed {
                let end = after(state.since, (state.first_end - state.offset) / bound);
                if end != state.end || end <= self.now {
                    state.end = end;
                    self.timers.entry(end).or_default().push(Timer::Own(variable));
                }
            }
            return;
        }
        let end = state.first_end + state.offset;
        let link = &mut system.links[group as usize];
        link.first_end = link.first_end.min(end);
        if group != old && !system.hot[group as usize].open && !self.groups.active {
            self.joined.push(group);
        }
    }

    /// Closes a link with the level that was found, and returns whether that is another one.
    fn take_over_link(&mut self, link: u32) -> bool {
        let system = &mut self.system;
        let (hot, state) = (&mut system.hot[link as usize], &mut system.links[link as usize]);
        let old = std::mem::replace(&mut hot.level, state.found);
        (hot.open, hot.limit) = (false, hot.level);
        state.load = state.capacity - hot.room;
        if old.is_infinite() && hot.level.is_finite() {
            state.place = system.full.len() as u32;
            system.full.push(link);
        } else if old.is_finite() && hot.level.is_infinite() {
            system.full.swap_remove(state.place as usize);
            if let Some(&other) = system.full.get(state.place as usize) {
                let place = state.place;
                system.links[other as usize].place = place;
            }
        }
        let level = system.hot[link as usize].level;
        self.set_end(link);
        level.is_finite() != old.is_finite() || (level - old).abs() > 1e-12 * old
    }

    /// Notes when the group of a link completes its next flow.
    pub(super) fn set_end(&mut self, link: u32) {
        let level = self.system.hot[link as usize].level;
        let clock = self.system.clock(link, self.now);
        let state = &mut self.system.links[link as usize];
        if level.is_finite() {
            self.ends.set(link, after(self.now, (state.first_end - clock) / level));
        } else {
            state.clock = 0.0;
            self.ends.set(link, u64::MAX);
        }
    }
}
