//! The length of a measurement: the end of the warm-up, and the batch after which enough is known.
//!
//! The run is cut into batches of equal time. The warm-up is over once the last ten batches show no
//! drift: the mean latency of the second five differs from that of the first five by no more than
//! chance explains (Student's two-sided test at 95 %) or by less than 1 %. The batch that then runs
//! is left out, and those that follow are kept until the confidence intervals are narrow enough.
//! Near and beyond saturation queues grow without end; a run that still drifts at the limit is
//! measured for ten batches and called unsteady.
//!
//! The traffic that has entered and has not been delivered keeps about its amount in a network that
//! is not saturated, and grows by the same amount in every batch on average if the network gives
//! even one source less than it offers (Law, "Simulation Modeling and Analysis", section 1.4 and
//! chapter 9: a queue has a steady state only below a utilisation of 1). Two tests look for that
//! growth in the paired difference of a batch, which is its offered less its accepted traffic:
//!
//! - *Growth* cuts the kept batches into ten groups. The traffic outstanding grows if its mean
//!   change over a group is above zero by more than chance explains (Student, 97.5 %, one side) and
//!   by more than a thousandth of what is offered. In a network that is not saturated a rise in one
//!   group is made up for in another, which makes the test stricter than its level.
//! - *Lag* takes the batches themselves: their mean difference is above zero by more than chance
//!   explains (Student, 99 %, one side) and above 0.5 % of what is offered. Ten groups miss that if
//!   deliveries vary much from group to group. Batches need not be independent: in a steady state
//!   differences make up for each other in the long run, so that their mean varies less than that
//!   of independent ones. A few batches of long messages hide a lag of several percent. So a run
//!   that does not grow goes on to the limit of batches as soon as the mean difference is above
//!   0.5 % and above its own standard error; if it lags there, it has not settled.
//!
//! Nothing can move any more if for several batches no host hears from the network, none has
//! anything to do there, and messages are outstanding: a deadlock.

use serde::{Deserialize, Serialize};

use crate::settling::{Settled, Settling};
use crate::statistics::{Estimate, mean, student, student_99, variance};

/// The sums over a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Messages that entered.
    pub entered: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Their latencies, in picoseconds, together.
    pub latency: u64,
    /// The time on their sources' links of the messages that entered.
    pub offered: u64,
    /// The time on their sources' links of the messages delivered.
    pub accepted: u64,
    /// The times of entry of the messages that entered less those of the messages delivered, as a
    /// wrapping sum.
    pub entries: u64,
}

impl Batch {
    pub(crate) fn add(&mut self, other: Self) {
        self.entered += other.entered;
        self.messages += other.messages;
        self.latency += other.latency;
        self.offered += other.offered;
        self.accepted += other.accepted;
        self.entries = self.entries.wrapping_add(other.entries);
    }

    /// Returns by how much the traffic outstanding rises.
    fn difference(&self) -> f64 {
        self.offered as f64 - self.accepted as f64
    }

    fn mean_latency(&self) -> f64 {
        self.latency as f64 / self.messages as f64
    }
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Span {
    /// Until the intervals of latency and accepted load are at most this part of their means to
    /// either side, or this many batches have been kept.
    Precise {
        /// Half the width of an interval over the mean.
        half_width: f64,
        /// Most batches after the warm-up.
        batches: u32,
    },
    /// So many batches after a warm-up of so many; then no message enters any more and the network
    /// runs empty.
    Batches {
        /// Left out.
        warm_up: u32,
        /// Kept.
        kept: u32,
    },
    /// By BookSim's rule.
    Settling(Settling),
}

/// Batches that are looked at for drift, and fewest that are kept.
const LOOK: usize = 10;
/// Groups of batches that tell whether the traffic outstanding grows.
const GROUPS: usize = 10;
/// Most batches of a warm-up.
pub(crate) const MOST_WARM: u32 = 60;

/// The decision that follows from a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The run goes on in the same phase.
    Continue,
    /// The batch after the one that runs is the first to be kept.
    Measure,
    /// Enough is known, or nothing will move again.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Warm,
    Between,
    Keep,
}

/// Follows the batches of a run and decides how it goes on: see the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SteadyState {
    span: Span,
    phase: Phase,
    warm: Vec<Batch>,
    pub kept: Vec<Batch>,
    /// True if latency no longer drifted at the end of the warm-up.
    pub steady: bool,
    /// True if the run was narrow enough to stop, but lagged and goes on to the limit of batches.
    to_limit: bool,
    /// Messages that have entered and not been delivered.
    pub outstanding: u64,
    /// The wrapping sum of their times of entry.
    entries: u64,
    /// The state of BookSim's rule.
    settled: Settled,
    /// The length of a batch, in picoseconds.
    length: u64,
    /// Batches so far.
    pub batches: u32,
    /// The number of batches at the end of the run so far in which nothing moved though messages
    /// were outstanding.
    pub idle: u32,
    /// The number of idle batches that make a deadlock.
    patience: u32,
}

impl SteadyState {
    pub fn new(span: Span, length: u64, patience: u32) -> Self {
        let phase = match span {
            Span::Batches { warm_up: 0, .. } => Phase::Keep,
            _ => Phase::Warm,
        };
        Self {
            span,
            phase,
            warm: Vec::new(),
            kept: Vec::new(),
            steady: true,
            to_limit: false,
            outstanding: 0,
            entries: 0,
            settled: Settled::default(),
            length,
            batches: 0,
            idle: 0,
            patience,
        }
    }

    /// Batches before the first that is kept.
    pub fn warm_up(&self) -> u32 {
        self.warm.len() as u32
    }

    /// Returns true if nothing will ever move again.
    pub const fn deadlocked(&self) -> bool {
        self.idle >= self.patience
    }

    /// Takes a batch that is over and decides how the run goes on. `moves` is false if no host
    /// heard from the network in it and none has anything to do there.
    pub fn end_batch(&mut self, batch: Batch, moves: bool) -> Decision {
        self.batches += 1;
        self.outstanding = (self.outstanding + batch.entered).saturating_sub(batch.messages);
        self.entries = self.entries.wrapping_add(batch.entries);
        self.idle = if moves || self.outstanding == 0 { 0 } else { self.idle + 1 };
        let decision = self.keep(batch);
        if self.deadlocked() { Decision::Stop } else { decision }
    }

    /// Files the batch under its phase.
    fn keep(&mut self, batch: Batch) -> Decision {
        if let Span::Settling(rule) = self.span {
            let kept = if self.settled.warm { &mut self.kept } else { &mut self.warm };
            kept.push(batch);
            let end = u64::from(self.batches) * self.length;
            let waiting = (self.outstanding, self.entries);
            let decision = self.settled.sample(&rule, batch, end, waiting);
            self.steady = !self.settled.exceeded;
            return decision;
        }
        match self.phase {
            Phase::Warm => self.warm.push(batch),
            Phase::Between => {
                self.warm.push(batch);
                self.phase = Phase::Keep;
                return Decision::Continue;
            }
            Phase::Keep => self.kept.push(batch),
        }
        match self.span {
            Span::Batches { warm_up, .. } => {
                if self.warm_up() == warm_up {
                    self.phase = Phase::Keep;
                }
                Decision::Continue
            }
            Span::Settling(_) => Decision::Continue,
            Span::Precise { half_width, batches } if self.phase == Phase::Keep => {
                if self.enough(half_width, batches) { Decision::Stop } else { Decision::Continue }
            }
            Span::Precise { .. } => {
                let late = self.warm_up() >= MOST_WARM;
                self.steady = !drifts(&self.warm);
                if !self.steady && !late {
                    return Decision::Continue;
                }
                self.phase = Phase::Between;
                Decision::Measure
            }
        }
    }

    /// Returns true if the kept batches suffice.
    fn enough(&mut self, half_width: f64, batches: u32) -> bool {
        let kept = self.kept.len();
        if kept < LOOK || !self.steady || kept >= batches as usize {
            return kept >= LOOK;
        }
        let narrow = |estimate: Estimate| estimate.relative() <= half_width;
        if self.to_limit || !(self.latency().is_some_and(narrow) && narrow(self.accepted())) {
            return false;
        }
        self.to_limit = self.lags_by(|_| 1.0) && !self.grows();
        !self.to_limit
    }

    /// Returns the mean latency of the batches in which messages arrived; `None` if there are none.
    pub fn latency(&self) -> Option<Estimate> {
        let filled = self.kept.iter().filter(|batch| batch.messages > 0);
        let estimate = Estimate::from_batches(&filled.map(Batch::mean_latency).collect::<Vec<_>>());
        let sum = |of: fn(&Batch) -> u64| self.kept.iter().map(of).sum::<u64>() as f64;
        let messages = sum(|batch| batch.messages);
        // Every message counts alike.
        let mean = sum(|batch| batch.latency) / messages;
        (messages > 0.0).then_some(Estimate { mean, ..estimate })
    }

    /// Returns the traffic that a batch accepted, of the batches kept, or else of all.
    pub fn accepted(&self) -> Estimate {
        let batches = if self.kept.is_empty() { &self.warm } else { &self.kept };
        let accepted = batches.iter().map(|batch| batch.accepted as f64);
        Estimate::from_batches(&accepted.collect::<Vec<_>>())
    }

    /// Returns the mean traffic that a batch offered, of the batches kept, or else of all.
    pub fn offered(&self) -> f64 {
        let batches = if self.kept.is_empty() { &self.warm } else { &self.kept };
        mean(&batches.iter().map(|batch| batch.offered as f64).collect::<Vec<_>>())
    }

    /// Returns true if ever more traffic is outstanding: see the module.
    pub fn grows(&self) -> bool {
        if matches!(self.span, Span::Settling(_)) {
            return false;
        }
        let size = self.kept.len() / GROUPS;
        // The first, which are nearest to the warm-up, are left out.
        let first = self.kept.len() - size * GROUPS;
        let groups = self.kept[first..].chunks(size.max(1));
        let changes: Vec<f64> =
            groups.map(|group| group.iter().map(Batch::difference).sum()).collect();
        let chance = student(GROUPS as u32 - 1) * (variance(&changes) / GROUPS as f64).sqrt();
        mean(&changes) > chance.max(0.001 * size as f64 * self.offered())
    }

    /// Returns true if less is accepted than offered in the batches kept: see the module.
    pub fn lags(&self) -> bool {
        self.lags_by(student_99)
    }

    /// Returns true if less is accepted, by more standard errors than `least` says for the degrees
    /// of freedom.
    fn lags_by(&self, least: fn(u32) -> f64) -> bool {
        if matches!(self.span, Span::Settling(_)) {
            return false;
        }
        let differences: Vec<f64> = self.kept.iter().map(Batch::difference).collect();
        let count = differences.len() as u32;
        let error = (variance(&differences) / f64::from(count.max(1))).sqrt();
        let chance = least(count.saturating_sub(1)) * error;
        mean(&differences) > chance.max(0.005 * self.offered())
    }
}

/// Returns true if the last batches rise or fall; too few count as such.
fn drifts(batches: &[Batch]) -> bool {
    let Some(last) = batches.len().checked_sub(LOOK).map(|first| &batches[first..]) else {
        return true;
    };
    let filled: Vec<f64> =
        last.iter().filter(|batch| batch.messages > 0).map(Batch::mean_latency).collect();
    if filled.len() < LOOK {
        return true;
    }
    let (before, after) = filled.split_at(LOOK / 2);
    let change = (mean(after) - mean(before)).abs();
    let pooled = f64::midpoint(variance(before), variance(after));
    let chance = student(LOOK as u32 - 2) * (pooled * 4.0 / LOOK as f64).sqrt();
    change > chance.max(0.01 * mean(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(latency: u64) -> Batch {
        Batch { entered: 1, messages: 1, latency, offered: 10, accepted: 10, entries: 0 }
    }

    fn precise() -> SteadyState {
        SteadyState::new(Span::Precise { half_width: 0.01, batches: 100 }, 1, 5)
    }

    /// Ten batches that alternate between 100 and 102 do not drift; ten that rise by 10 each do: 50
    /// between the halves, while chance explains 2.306 * sqrt(250 * 4 / 10) = 23.1 (five values 10
    /// apart have a variance of 250).
    #[test]
    fn drift() {
        let level: Vec<_> = (0..10).map(|i| batch(100 + 2 * (i % 2))).collect();
        assert!(!drifts(&level));
        assert!(drifts(&level[1..]));
        let rising: Vec<_> = (0..10).map(|i| batch(1000 + 10 * i)).collect();
        assert!(drifts(&rising));
    }

    /// A warm-up that falls from 200 to 100 in five batches is over when these have left the ten
    /// that are looked at, or count for little among them; one batch is left out; ten equal ones
    /// suffice.
    #[test]
    fn phases() {
        let mut run = precise();
        let mut decisions = Vec::new();
        for i in 0..40 {
            decisions.push(run.end_batch(batch(200 - 20 * i.min(5)), true));
        }
        let measure = decisions.iter().position(|&v| v == Decision::Measure).expect("it settles");
        assert!((9..=14).contains(&measure), "{measure}");
        let stop = decisions.iter().position(|&v| v == Decision::Stop).expect("it is precise");
        assert_eq!(stop, measure + 11);
        assert!(run.steady);
        let latency = run.latency().expect("messages arrived");
        assert!((latency.mean - 100.0).abs() < 1e-9);
    }

    /// Latency that grows by a tenth per batch never settles: ten batches after 60 and the one
    /// between.
    #[test]
    fn unsteady() {
        let mut run = precise();
        let mut count = 1;
        while run.end_batch(batch(1000 + 100 * count), true) != Decision::Stop {
            count += 1;
        }
        assert_eq!((count, run.steady, run.warm_up()), (71, false, 61));
    }

    /// Of 1000 offered in each of 20 batches 990 or 1000 in turn arrive: every group of two loses
    /// 10, half a percent. What is late in one batch and arrives in the next grows nowhere, nor
    /// does what is 1 late of 2000.
    #[test]
    fn growth() {
        let grows = |accepted: fn(u64) -> u64| {
            let mut run = precise();
            let batch = |i| Batch { offered: 1000, accepted: accepted(i), ..batch(100) };
            run.kept = (0..20).map(batch).collect();
            run.grows()
        };
        assert!(grows(|i| 990 + 10 * (i % 2)));
        assert!(!grows(|i| 990 + 20 * (i % 2)));
        assert!(!grows(|_| 1000));
        assert!(!grows(|i| 1000 - i % 2));
        assert!(!precise().grows());
    }

    /// Of 1000 offered in each of 19 batches 55 are late, or 15 come late, in turn. The growth test
    /// sees the last ten: a mean of 20 and a variance of 5 * 2 * 35^2 / 9 = 1361, so that chance
    /// explains 2.262 * sqrt(1361 / 10) = 26.4. All 19 have a mean of 415 / 19 = 21.8 and a
    /// variance of (10 * 33.2^2 + 9 * 36.8^2) / 18 = 1289, of which chance explains 2.552 *
    /// sqrt(1289 / 19) = 21.0. So the run lags and does not grow; it goes on to the limit, even if
    /// it catches up.
    #[test]
    fn lag() {
        let batch = |i| Batch {
            offered: 1000,
            accepted: if i % 2 == 0 { 945 } else { 1015 },
            ..batch(100)
        };
        let mut run = precise();
        run.kept = (0..19).map(batch).collect();
        assert!(run.lags() && !run.grows());
        assert!(!run.enough(0.05, 100));
        while run.kept.len() < 99 {
            run.kept.push(Batch { accepted: 1000, ..batch(0) });
            assert!(!run.enough(0.05, 100));
        }
        run.kept.push(batch(0));
        assert!(run.enough(0.05, 100) && !run.lags());
    }

    /// A run that lags by no more than 0.5 % of what is offered does not lag, one that grows stops
    /// as soon as it is narrow, and one that does neither does so, too.
    #[test]
    fn lag_needs_half_a_percent() {
        for (accepted, lags, grows) in [(994, true, true), (996, false, true), (1000, false, false)]
        {
            let mut run = precise();
            run.kept = vec![Batch { offered: 1000, accepted, ..batch(100) }; 20];
            assert_eq!((run.lags(), run.grows()), (lags, grows), "{accepted}");
            assert!(run.enough(0.01, 100), "{accepted}");
        }
    }

    /// Batches without deliveries are none of a deadlock while something moves or nothing is
    /// outstanding; five in which nothing does are.
    #[test]
    fn deadlock() {
        let mut run = precise();
        let enter = Batch { entered: 2, ..Batch::default() };
        for _ in 0..9 {
            assert_eq!(run.end_batch(Batch::default(), false), Decision::Continue);
        }
        for moves in [true, false, false, false, false, true, false, false, false, false] {
            assert_ne!(run.end_batch(enter, moves), Decision::Stop);
        }
        assert_eq!(run.end_batch(enter, false), Decision::Stop);
        assert_eq!((run.batches, run.idle, run.outstanding), (20, 5, 22));
        assert!(run.deadlocked() && run.latency().is_none());
    }
}
