//! Filling by groups, for changes that go through most of the system.
//!
//! Where many hosts send to many others, one message after the other, each start and each end moves
//! the levels of most full links, but few flows come to be limited by another link than before. So
//! this solver handles the variables that one link limits, its group, together. A matrix has a row
//! for each full link and a column for each link that carries anything; an entry is the sum of the
//! shares that the variables of the row's group have of the column's link. Progressive filling
//! takes the links in the order of their levels, and the level of a row moves the rooms of all
//! columns in one pass. Single variables are looked at only on a link that becomes full: those that
//! still rise and belonged to another group join that of the link, and those that have reached
//! their bounds leave it.
//!
//! The sums in the matrix change by addition and subtraction. After as many changes as it takes to
//! make them anew they are made anew, so that rounding does not add up.

mod fill;

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    ends::Ends,
    solve::Solver,
    system::{IDLE, NONE, OWN, System},
};

/// With fewer variables than this the general solver is as fast.
const MANY: usize = 64;
/// The most entries of the matrix when it is made: 32 MB.
const ENTRIES: usize = 1 << 22;
/// Entries of the matrix per variable from which on the general solver is as fast.
const DENSITY: usize = 128;
/// After so many solutions in a row that left most levels as they were, the general solver goes on,
/// for a try; if this one has to take over again, it stays twice as long the next time.
const CALM: u32 = 16;
/// After so many solutions in a row that took the general solver longer this one takes over.
const FEW: u32 = 4;

/// The groups of all full links, and what they use of all links, while this solver is in charge.
#[derive(Debug, Default)]
pub struct Groups {
    /// True while this solver is in charge.
    pub active: bool,
    /// By link, its column, or `NONE`.
    columns: Vec<u32>,
    /// By variable, the link that limits it, `OWN` if its bound does, `NONE` if nothing does yet.
    limited_by: Vec<u32>,
    /// By link, true if this filling has found its level.
    done: Vec<bool>,
    /// By column, its link.
    pub links: Vec<u32>,
    /// By column, the row of its link's group, or `NONE`.
    rows: Vec<u32>,
    free_rows: Vec<u32>,
    /// The matrix: rows of `stride` entries.
    shares: Vec<f64>,
    stride: usize,
    /// By column, the load of the variables at their bounds.
    bounded: Vec<f64>,
    /// By column, the shares of all other variables.
    total: Vec<f64>,
    /// By column, the bandwidth that is not given away yet.
    pub room: Vec<f64>,
    /// By column, the shares of the variables that have no level yet.
    rising: Vec<f64>,
    /// By column, the level that was found, infinite if the link is not full.
    pub found: Vec<f64>,
    /// By column, the number of variables in the group.
    sizes: Vec<u32>,
    /// By column, the largest share that the group had of its own link since its row was made.
    peaks: Vec<f64>,
    /// By column, at most the smallest bound of the group's variables.
    bounds: Vec<f64>,
    /// By column, when the variables of the group end.
    ends: Vec<Ends>,
    /// Columns by the bits of a lower bound of their levels.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// The level found last.
    least: f64,
    /// Variables whose group or count has changed.
    pub moved: Vec<u32>,
    /// Variables that have no group yet.
    loose: Vec<u32>,
    /// Rising variables of a link that belong to other groups, and those at their bounds.
    joining: Vec<u32>,
    at_bounds: Vec<u32>,
    /// Number of variables.
    variables: usize,
    /// Changes of the matrix so far, and how many are allowed before it is made anew.
    changes: usize,
    allowed: usize,
    /// The number of links that this filling may look at, repetitions included, so that rounding
    /// cannot keep it going, and the number that it has looked at.
    most_stops: usize,
    stops: usize,
    /// Number of variables that were given another group or bound, one by one.
    pub fixes: u64,
    /// Number of solutions in a row that speak for the other solver.
    against: u32,
    /// By how much longer than at first this solver stays.
    stays: u32,
}

impl Groups {
    /// Takes over from the general solver after its solution, if the last few covered so much of
    /// the system that they took longer than to go through a matrix.
    pub fn take_charge(&mut self, system: &System, solver: &Solver) {
        let covered = solver.covered.len();
        let entries = if covered < MANY { 0 } else { system.full.len() * solver.links().count() };
        let fits = covered >= MANY && entries <= (covered * DENSITY / 2).min(ENTRIES);
        self.against = if fits { self.against + 1 } else { 0 };
        if self.against > FEW {
            self.build(system);
        }
    }

    /// Makes the matrix. There is none as long as a fat pipe is in use, on which no level decides.
    pub fn build(&mut self, system: &System) {
        let used = |link: &u32| !system.links[*link as usize].users.is_empty();
        self.links.clear();
        self.links.extend((0..system.links.len() as u32).filter(used));
        self.active = !self.links.iter().any(|&link| system.hot[link as usize].fat);
        if !self.active {
            return;
        }
        let columns = self.links.len();
        self.stride = (columns + columns / 4).next_multiple_of(8);
        self.columns.clear();
        self.columns.resize(system.links.len(), NONE);
        self.done.clear();
        self.done.resize(system.links.len(), false);
        for (column, &link) in (0..).zip(&self.links) {
            self.columns[link as usize] = column;
        }
        self.shares.clear();
        self.free_rows.clear();
        self.rows.clear();
        self.rows.resize(columns, NONE);
        self.sizes.clear();
        self.sizes.resize(columns, 0);
        self.ends.iter_mut().for_each(Ends::clear);
        self.ends.resize_with(columns.max(self.ends.len()), Ends::default);
        for sums in self.sums() {
            sums.clear();
            sums.resize(columns, 0.0);
        }
        for levels in [&mut self.found, &mut self.bounds] {
            levels.clear();
            levels.resize(columns, f64::INFINITY);
        }
        self.limited_by.clear();
        self.limited_by.resize(system.variables.len(), NONE);
        self.variables = 0;
        let mut slots = 0;
        for variable in 0..system.rising.len() as u32 {
            let state = &system.rising[variable as usize];
            if state.counted > 0 {
                self.variables += 1;
                slots += state.way().len();
                let flows = f64::from(state.counted);
                self.set_group(variable, system.variables[variable as usize].group);
                self.add(system, variable, flows);
                self.expect(system, variable);
            }
        }
        (self.changes, self.allowed, self.against) = (0, 16 * slots + 4096, 0);
    }

    /// Returns whether the next solution is this solver's business: it is in charge, and nothing
    /// that has started needs more columns than there are, or uses a fat pipe.
    pub fn fits(&mut self, system: &System, changed: &[u32]) -> bool {
        if !self.active {
            return false;
        }
        let started = changed.iter().filter(|&&variable| system.is_idle(variable));
        for slot in started.flat_map(|&variable| system.way(variable)) {
            if system.hot[slot.link as usize].fat {
                return false;
            }
            if self.columns[slot.link as usize] == NONE {
                if self.links.len() == self.stride {
                    return false;
                }
                self.add_column(slot.link);
            }
        }
        true
    }

    /// Returns the sums by column.
    fn sums(&mut self) -> [&mut Vec<f64>; 5] {
        [&mut self.bounded, &mut self.total, &mut self.room, &mut self.rising, &mut self.peaks]
    }

    fn add_column(&mut self, link: u32) {
        self.columns[link as usize] = self.links.len() as u32;
        self.links.push(link);
        self.rows.push(NONE);
        self.sizes.push(0);
        self.found.push(f64::INFINITY);
        self.bounds.push(f64::INFINITY);
        if self.ends.len() < self.links.len() {
            self.ends.push(Ends::default());
        }
        for sums in self.sums() {
            sums.push(0.0);
        }
    }

    /// Returns whether the matrix has to be made anew before rounding adds up.
    pub fn is_worn(&self) -> bool {
        self.changes > self.allowed
    }

    /// Judges a solution that moved some levels of those that could move, and returns whether this
    /// solver is still worth its work.
    pub fn is_worth_it(&mut self, moved: usize, looked_at: usize) -> bool {
        self.against = if 4 * moved < looked_at { self.against + 1 } else { 0 };
        let stays = self.against < CALM << self.stays;
        self.stays = (self.stays + u32::from(!stays)).min(16);
        stays && self.shares.len() <= self.variables * DENSITY + ENTRIES / 256
    }

    /// Says that the number of a variable's flows has changed.
    pub fn count(&mut self, system: &mut System, variable: u32) {
        let state = &mut system.rising[variable as usize];
        let more = f64::from(state.count) - f64::from(state.counted);
        self.variables += usize::from(state.counted == 0);
        self.variables -= usize::from(state.count == 0);
        state.counted = state.count;
        self.add(system, variable, more);
    }

    /// Says that no flow of a variable is left.
    pub fn leave(&mut self, system: &mut System, variable: u32) {
        self.count(system, variable);
        self.set_group(variable, NONE);
    }

    /// Moves a variable to another group; the sums are the caller's business.
    fn set_group(&mut self, variable: u32, group: u32) {
        let old = std::mem::replace(&mut self.limited_by[variable as usize], group);
        if group < NONE {
            self.sizes[self.columns[group as usize] as usize] += 1;
        }
        if old < NONE {
            let column = self.columns[old as usize] as usize;
            self.sizes[column] -= 1;
            if self.sizes[column] == 0 {
                // Only rounding errors are left of its sums.
                self.free(column);
            }
        }
    }

    /// Adds so many flows of a variable to the sums.
    fn add(&mut self, system: &System, variable: u32, flows: f64) {
        let bound = system.rising[variable as usize].bound;
        let group = self.limited_by[variable as usize];
        let row = self.row(group, bound);
        let way = system.way(variable);
        self.changes += way.len();
        for slot in way {
            let (column, share) = (self.columns[slot.link as usize] as usize, slot.share * flows);
            if group == OWN {
                self.bounded[column] += share * bound;
                continue;
            }
            self.total[column] += share;
            if let Some(row) = row {
                self.shares[row + column] += share;
            }
        }
    }

    /// Finds or makes the row of the group of a variable with this bound: the index of its first
    /// entry. Variables at their bounds and those without a group have none.
    fn row(&mut self, group: u32, bound: f64) -> Option<usize> {
        if group >= NONE {
            return None;
        }
        let column = self.columns[group as usize] as usize;
        if self.rows[column] == NONE {
            self.rows[column] = self.free_rows.pop().unwrap_or_else(|| {
                self.shares.resize(self.shares.len() + self.stride, 0.0);
                (self.shares.len() / self.stride - 1) as u32
            });
        }
        self.bounds[column] = self.bounds[column].min(bound);
        Some(self.rows[column] as usize * self.stride)
    }

    /// Makes the row of a link anew.
    fn refresh(&mut self, system: &System, column: u32) {
        let (place, link) = (column as usize, self.links[column as usize]);
        if self.rows[place] == NONE {
            return;
        }
        let row = self.rows[place] as usize * self.stride;
        self.shares[row..row + self.stride].fill(0.0);
        for user in &system.links[link as usize].users {
            if self.limited_by[user.variable as usize] == link {
                let flows = f64::from(system.rising[user.variable as usize].count);
                for slot in system.way(user.variable) {
                    let column = self.columns[slot.link as usize] as usize;
                    self.shares[row + column] += slot.share * flows;
                }
            }
        }
        self.peaks[place] = self.shares[row + place];
    }

    /// Returns the shares that the group of a link has of it.
    fn weight(&self, column: usize) -> f64 {
        match self.rows[column] {
            NONE => 0.0,
            row => self.shares[row as usize * self.stride + column],
        }
    }

    /// Frees the row of a link that is not full.
    pub fn free(&mut self, column: usize) {
        let row = std::mem::replace(&mut self.rows[column], NONE);
        if row != NONE {
            let first = row as usize * self.stride;
            self.shares[first..first + self.stride].fill(0.0);
            self.free_rows.push(row);
            self.ends[column].clear();
            (self.bounds[column], self.peaks[column]) = (f64::INFINITY, 0.0);
        }
    }

    /// Notes when a variable of a link's group ends.
    pub fn expect(&mut self, system: &System, variable: u32) {
        let group = system.variables[variable as usize].group;
        if group < NONE {
            self.ends[self.columns[group as usize] as usize].expect(system, variable);
        }
    }

    /// The ends of the group of a link.
    pub fn ends(&mut self, link: u32) -> &mut Ends {
        &mut self.ends[self.columns[link as usize] as usize]
    }

    /// Hands the system back to the general solver: levels and loads are again where that has them.
    pub fn hand_back(&mut self, system: &mut System) {
        self.active = false;
        for &link in &self.links {
            system.links[link as usize].load = 0.0;
        }
        for variable in 0..system.rising.len() {
            let group = system.variables[variable].group;
            if group == IDLE {
                continue;
            }
            let level = match group {
                OWN => system.rising[variable].bound,
                link => system.hot[link as usize].level,
            };
            let state = &mut system.rising[variable];
            (state.group, state.level) = (group, level);
            state.carried = f64::from(state.counted) * level;
            let carried = state.carried;
            system.variables[variable].level = level;
            for slot in system.rising[variable].way() {
                let slot = system.slots[slot];
                system.links[slot.link as usize].load += slot.share * carried;
            }
        }
    }
}
