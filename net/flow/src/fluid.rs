//! Flows start, share, and complete.

mod update;

use std::collections::BTreeMap;

use kernel::{Probe, Silent};
use units::Time;

use crate::{
    Flow, FlowId, Link,
    confined::Confined,
    earliest::Earliest,
    groups::Groups,
    solve::Solver,
    system::{NONE, OWN, Slot, System},
};

/// Picoseconds in a second.
const PS: f64 = 1e12;
/// Ends are found with rounding errors: one that lies after a picosecond by this much, in ps and as
/// a part of the time until then, is in that picosecond.
const ROUNDING_PS: f64 = 1e-3;
const ROUNDING: f64 = 1e-14;
/// Flows of a group that end within this part of the time since the group began to transfer end
/// together.
const TOGETHER: f64 = 1e-12;

/// From `at` on a link carries `rate` bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The time from which on the link carries it.
    pub at: Time,
    /// The link's index.
    pub link: u32,
    /// Bytes per second; on a fat pipe the sum over its flows.
    pub rate: f64,
}

/// A flow, until it completes.
#[derive(Debug)]
struct Started {
    /// Its variable, or `NONE` if it shares nothing.
    variable: u32,
    token: u32,
    /// Its number among all starts.
    number: u64,
    /// The reading of the variable's clock at which it completes; before it transfers, the length
    /// of that. Of a flow that shares nothing the rate.
    end: f64,
}

/// An event whose time does not depend on the links.
#[derive(Clone, Copy, Debug)]
enum Timer {
    /// A latency phase ends.
    Latency(u32),
    /// A flow that shares nothing completes.
    Alone(u32),
    /// A variable that is its own group completes a flow, if it is still so.
    Own(u32),
}

/// Links and the flows on them. The caller owns the time: it asks for [`Fluid::next_event`], and
/// tells by [`Fluid::advance`] that this moment has come.
#[derive(Debug)]
pub struct Fluid<P = Silent> {
    system: System,
    solver: Solver,
    confined: Confined,
    groups: Groups,
    flows: Vec<Started>,
    free: Vec<u32>,
    numbers: u64,
    now: u64,
    timers: BTreeMap<u64, Vec<Timer>>,
    /// By link, the time at which its group completes a flow.
    ends: Earliest,
    /// Variables whose count changed and full links that variables left, since the last solution.
    changed: Vec<u32>,
    freed: Vec<u32>,
    /// The lowest level that these changes can reach.
    lowest: f64,
    finished: Vec<(u64, u32)>,
    way: Vec<Slot>,
    due: Vec<u32>,
    ending: Vec<u32>,
    joined: Vec<u32>,
    probe: P,
}

impl Fluid {
    /// A solver for these links, which nobody watches.
    pub fn new(links: impl IntoIterator<Item = Link>) -> Self {
        Self::watched(links, Silent)
    }
}

impl<P: Probe<Load>> Fluid<P> {
    /// A solver for these links that tells `probe` when the load of a link changes.
    pub fn watched(links: impl IntoIterator<Item = Link>, probe: P) -> Self {
        let system = System::new(links);
        let ends = Earliest::new(system.links.len());
        let confined = Confined::new(system.links.len());
        Self {
            system,
            solver: Solver::default(),
            confined,
            groups: Groups::default(),
            flows: Vec::new(),
            free: Vec::new(),
            numbers: 0,
            now: 0,
            timers: BTreeMap::new(),
            ends,
            changed: Vec::new(),
            freed: Vec::new(),
            lowest: f64::INFINITY,
            finished: Vec::new(),
            way: Vec::new(),
            due: Vec::new(),
            ending: Vec::new(),
            joined: Vec::new(),
            probe,
        }
    }

    /// Starts a flow; `token` is what [`Fluid::advance`] says when it completes. All that starts at
    /// an instant is solved together, when the next event is asked for. `now` is not after
    /// [`Fluid::next_event`].
    ///
    /// # Panics
    ///
    /// If a use names a link that is not there.
    pub fn start(&mut self, now: Time, flow: &Flow, token: u32) -> FlowId {
        self.move_to(now.ps());
        let number = self.numbers;
        self.numbers += 1;
        let alone = flow.penalty <= 0.0 || flow.work <= 0.0 || !self.find_way(flow);
        let begins = self.now.saturating_add(flow.latency.ps());
        let variable = if alone {
            NONE
        } else {
            self.system.variable(&self.way, flow.bound * flow.penalty, flow.penalty)
        };
        let end = if alone { flow.bound } else { flow.work * flow.penalty / flow.factor * PS };
        let started = Started { variable, token, number, end };
        let id = if let Some(id) = self.free.pop() {
            self.flows[id as usize] = started;
            id
        } else {
            self.flows.push(started);
            (self.flows.len() - 1) as u32
        };
        if alone {
            let ends = after(begins, flow.work.max(0.0) / (flow.bound * flow.factor) * PS);
            self.timers.entry(ends).or_default().push(Timer::Alone(id));
            return FlowId(id);
        }
        self.system.variables[variable as usize].latent += 1;
        if begins > self.now {
            self.timers.entry(begins).or_default().push(Timer::Latency(id));
        } else {
            self.transfer(id);
        }
        FlowId(id)
    }

    /// The next moment at which a latency phase ends or a flow completes; [`Time::MAX`] if there
    /// are flows, but that moment lies beyond the range of time. `None`: there are no flows.
    pub fn next_event(&mut self) -> Option<Time> {
        self.solve();
        let timer = self.timers.first_key_value().map_or(u64::MAX, |(&at, _)| at);
        let next = timer.min(self.ends.first());
        let under_way = self.flows.len() > self.free.len();
        (next < u64::MAX || under_way).then(|| Time::from_ps(next))
    }

    /// Moves the time to `to`, which is not after [`Fluid::next_event`], and appends the tokens of
    /// what completes then, in the order in which the flows were started.
    pub fn advance(&mut self, to: Time, done: &mut Vec<u32>) {
        self.move_to(to.ps());
        while let Some(timers) = self.timers.first_entry().filter(|first| *first.key() <= to.ps()) {
            for timer in timers.remove() {
                match timer {
                    Timer::Latency(flow) => self.transfer(flow),
                    Timer::Alone(flow) => self.finish(flow),
                    Timer::Own(variable) => {
                        let state = &self.system.variables[variable as usize];
                        if state.group == OWN && state.end <= self.now {
                            let clock = self.system.own_clock(variable, self.now);
                            let level = self.system.rising[variable as usize].bound;
                            self.complete(variable, late(clock, level));
                        }
                    }
                }
            }
        }
        self.complete_groups();
        self.finished.sort_unstable();
        done.extend(self.finished.drain(..).map(|(_, token)| token));
    }

    /// Returns the rate of a flow on its links now, in bytes per second: 0 in its latency phase,
    /// and its bound if it shares nothing.
    pub fn rate(&mut self, flow: FlowId) -> f64 {
        self.solve();
        let started = &self.flows[flow.0 as usize];
        if started.variable == NONE {
            return started.end;
        }
        let state = &self.system.variables[started.variable as usize];
        if !state.flows.contains(&flow.0) {
            return 0.0;
        }
        let level = if state.group == OWN {
            state.level
        } else {
            self.system.hot[state.group as usize].level
        };
        level / state.penalty
    }

    /// Returns the load of a link now, in bytes per second; on a fat pipe the sum over its flows.
    pub fn load(&mut self, link: u32) -> f64 {
        self.solve();
        let guarded = self.confined.load(&self.system, link);
        guarded.unwrap_or(self.system.links[link as usize].load)
    }

    /// Returns how often a variable, the flows of equal ways and bounds, was given a level or
    /// another link that limits it: a measure of work that does not depend on the machine.
    pub fn fixes(&self) -> u64 {
        self.solver.fixes + self.groups.fixes
    }

    /// The probe, at the end.
    pub fn into_probe(self) -> P {
        self.probe
    }

    fn move_to(&mut self, now: u64) {
        if now > self.now {
            self.solve();
            self.now = now;
        }
    }

    /// Fills `way` with the links that the flow uses, each once, and returns whether there are any.
    fn find_way(&mut self, flow: &Flow) -> bool {
        self.way.clear();
        for used in flow.uses.iter().filter(|used| used.weight > 0.0) {
            let share = used.weight / flow.penalty;
            let fat = self.system.hot[used.link as usize].fat;
            match self.way.iter_mut().find(|slot| slot.link == used.link) {
                Some(slot) if fat => slot.share = slot.share.max(share),
                Some(slot) => slot.share += share,
                None => self.way.push(Slot { link: used.link, position: 0, share }),
            }
        }
        !self.way.is_empty()
    }

    /// A flow's latency phase is over.
    fn transfer(&mut self, flow: u32) {
        let variable = self.flows[flow as usize].variable;
        let own = self.system.own_clock(variable, self.now);
        self.flows[flow as usize].end += own;
        let end = self.flows[flow as usize].end;
        let state = &mut self.system.variables[variable as usize];
        let place = state.flows.partition_point(|&other| self.flows[other as usize].end > end);
        state.flows.insert(place, flow);
        state.first_end = state.first_end.min(end);
        state.latent -= 1;
        let count = &mut self.system.rising[variable as usize].count;
        *count += 1;
        if *count == 1 {
            self.system.attach(variable);
        }
        self.lowest = 0.0;
        self.change(variable);
    }

    fn change(&mut self, variable: u32) {
        let state = &mut self.system.variables[variable as usize];
        if !state.changed {
            state.changed = true;
            self.changed.push(variable);
        }
    }

    /// Completes what is due of the groups of full links.
    fn complete_groups(&mut self) {
        let mut links = std::mem::take(&mut self.due);
        links.clear();
        self.ends.due(self.now, &mut links);
        for &link in &links {
            let clock = self.system.clock(link, self.now);
            let bar = late(clock, self.system.hot[link as usize].level);
            let mut first_end = f64::INFINITY;
            self.ending.clear();
            let ends = if self.groups.active {
                Some(self.groups.ends(link))
            } else {
                (link == self.confined.link).then_some(&mut self.confined.ends)
            };
            if let Some(ends) = ends {
                while let Some((end, variable)) = ends.next(&self.system, link) {
                    if end > bar {
                        first_end = end;
                        break;
                    }
                    ends.pop();
                    self.ending.push(variable);
                }
                self.ending.sort_unstable();
                self.ending.dedup();
            } else {
                for user in &self.system.links[link as usize].users {
                    let state = &self.system.variables[user.variable as usize];
                    if state.group == link {
                        first_end = first_end.min(state.offset + state.first_end);
                        if state.first_end <= bar - state.offset {
                            self.ending.push(user.variable);
                        }
                    }
                }
            }
            if self.ending.is_empty() {
                // The variable that was to end has gone to another group, at the same level.
                self.system.links[link as usize].first_end = first_end;
                self.set_end(link);
            }
            for index in 0..self.ending.len() {
                let variable = self.ending[index];
                let bar = bar - self.system.variables[variable as usize].offset;
                self.complete(variable, bar);
            }
        }
        self.due = links;
    }

    /// Completes the flows of a variable that end when its clock reads `bar`, or earlier.
    fn complete(&mut self, variable: u32, bar: f64) {
        let state = &mut self.system.variables[variable as usize];
        while let Some(&flow) = state.flows.last() {
            let started = &self.flows[flow as usize];
            if started.end > bar {
                break;
            }
            state.flows.pop();
            self.finished.push((started.number, started.token));
            self.free.push(flow);
            self.system.rising[variable as usize].count -= 1;
        }
        let level = match state.group {
            OWN => state.level,
            link => self.system.hot[link as usize].level,
        };
        self.lowest = self.lowest.min(level);
        if let Some(&flow) = state.flows.last() {
            state.first_end = self.flows[flow as usize].end;
            self.change(variable);
        } else {
            state.first_end = f64::INFINITY;
            self.leave(variable);
        }
    }

    /// A variable has no flow left that transfers.
    fn leave(&mut self, variable: u32) {
        let way = self.system.rising[variable as usize].way();
        for slot in way.clone() {
            let link = self.system.slots[slot].link;
            if self.groups.active || self.system.hot[link as usize].level.is_finite() {
                self.freed.push(link);
            }
        }
        if self.groups.active {
            self.groups.leave(&mut self.system, variable);
            self.system.rising[variable as usize].carried = 0.0;
        }
        if self.confined.link != NONE {
            self.confined.leave(&self.system, variable);
            if self.system.variables[variable as usize].group == self.confined.link {
                self.system.rising[variable as usize].carried = 0.0;
            }
        }
        self.system.detach(variable);
        if P::LISTENS {
            for slot in way {
                self.tell(self.system.slots[slot].link);
            }
        }
        if self.system.variables[variable as usize].latent == 0 {
            self.system.remove(variable);
        }
    }

    fn finish(&mut self, flow: u32) {
        let started = &self.flows[flow as usize];
        self.finished.push((started.number, started.token));
        self.free.push(flow);
    }

    fn tell(&mut self, link: u32) {
        let guarded = self.confined.load(&self.system, link);
        let rate = guarded.unwrap_or(self.system.links[link as usize].load);
        self.probe.record(Load { at: Time::from_ps(self.now), link, rate });
    }
}

/// The picosecond in which something ends that takes `span` ps more.
#[allow(clippy::cast_sign_loss, reason = "a negative span is 0")]
pub fn after(now: u64, span: f64) -> u64 {
    now.saturating_add((span - (span * ROUNDING).min(0.25) - ROUNDING_PS).ceil() as u64)
}

/// A little more than what the clock of a group reads: what ends until then ends now. More than
/// what [`after`] takes away.
fn late(clock: f64, level: f64) -> f64 {
    clock + level * 2.0 * ROUNDING_PS + TOGETHER * clock
}
