//! When the warm-up is over and when enough has been measured.
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
//! chapter 9: a queue has a steady state only below a utilisation of 1). So the kept batches are
//! cut into ten groups, and the traffic outstanding grows if its mean change over a group is above
//! zero by more than chance explains (Student, 97.5 %, one side) and by more than a thousandth of
//! what is offered. In a network that is not saturated a rise in one group is made up for in
//! another, which makes the test stricter than its level.
//!
//! Nothing can move any more if for several batches no host hears from the network, none has
//! anything to do there, and messages are outstanding: a deadlock.

use crate::statistics::{Estimate, mean, student, variance};

/// The sums over a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
}

impl Batch {
    pub(crate) fn add(&mut self, other: Self) {
        self.entered += other.entered;
        self.messages += other.messages;
        self.latency += other.latency;
        self.offered += other.offered;
        self.accepted += other.accepted;
    }

    fn mean_latency(&self) -> f64 {
        self.latency as f64 / self.messages as f64
    }
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

/// Batches that are looked at for drift, and fewest that are kept.
const LOOK: usize = 10;
/// Groups of batches that tell whether the traffic outstanding grows.
const GROUPS: usize = 10;
/// Most batches of a warm-up.
pub(crate) const MOST_WARM: u32 = 60;

/// The decision that follows from a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go,
    /// The batch after the one that runs is the first to be kept.
    Measure,
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Warm,
    Between,
    Keep,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    span: Span,
    phase: Phase,
    warm: Vec<Batch>,
    pub kept: Vec<Batch>,
    pub steady: bool,
    /// Messages that have entered and not been delivered.
    pub outstanding: u64,
    /// Batches so far, and those at their end in which nothing moved though messages were
    /// outstanding.
    pub heard: u32,
    pub quiet: u32,
    patience: u32,
}

impl Judge {
    pub fn new(span: Span, patience: u32) -> Self {
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
            outstanding: 0,
            heard: 0,
            quiet: 0,
            patience,
        }
    }

    /// Batches before the first that is kept.
    pub fn warm_up(&self) -> u32 {
        self.warm.len() as u32
    }

    /// Returns true if nothing will ever move again.
    pub const fn deadlocked(&self) -> bool {
        self.quiet >= self.patience
    }

    /// A batch is over, in which something moved or not.
    pub fn hear(&mut self, batch: Batch, moves: bool) -> Verdict {
        self.heard += 1;
        self.outstanding = (self.outstanding + batch.entered).saturating_sub(batch.messages);
        self.quiet = if moves || self.outstanding == 0 { 0 } else { self.quiet + 1 };
        let verdict = self.judge(batch);
        if self.deadlocked() { Verdict::Stop } else { verdict }
    }

    fn judge(&mut self, batch: Batch) -> Verdict {
        match self.phase {
            Phase::Warm => self.warm.push(batch),
            Phase::Between => {
                self.warm.push(batch);
                self.phase = Phase::Keep;
                return Verdict::Go;
            }
            Phase::Keep => self.kept.push(batch),
        }
        match self.span {
            Span::Batches { warm_up, .. } => {
                if self.warm_up() == warm_up {
                    self.phase = Phase::Keep;
                }
                Verdict::Go
            }
            Span::Precise { half_width, batches } if self.phase == Phase::Keep => {
                let enough = self.kept.len() >= LOOK
                    && (!self.steady || self.kept.len() >= batches as usize || {
                        let narrow = |estimate: Estimate| estimate.relative() <= half_width;
                        self.latency().is_some_and(narrow) && narrow(self.accepted())
                    });
                if enough { Verdict::Stop } else { Verdict::Go }
            }
            Span::Precise { .. } => {
                let late = self.warm_up() >= MOST_WARM;
                self.steady = !drifts(&self.warm);
                if !self.steady && !late {
                    return Verdict::Go;
                }
                self.phase = Phase::Between;
                Verdict::Measure
            }
        }
    }

    /// Of the batches in which messages arrived; `None` if there are none.
    pub fn latency(&self) -> Option<Estimate> {
        let filled = self.kept.iter().filter(|batch| batch.messages > 0);
        let estimate = Estimate::from_batches(&filled.map(Batch::mean_latency).collect::<Vec<_>>());
        let sum = |of: fn(&Batch) -> u64| self.kept.iter().map(of).sum::<u64>() as f64;
        let messages = sum(|batch| batch.messages);
        // Every message counts alike.
        let mean = sum(|batch| batch.latency) / messages;
        (messages > 0.0).then_some(Estimate { mean, ..estimate })
    }

    pub fn accepted(&self) -> Estimate {
        let accepted = self.kept.iter().map(|batch| batch.accepted as f64);
        Estimate::from_batches(&accepted.collect::<Vec<_>>())
    }

    /// Of the batches kept, or else of all.
    pub fn offered(&self) -> f64 {
        let batches = if self.kept.is_empty() { &self.warm } else { &self.kept };
        mean(&batches.iter().map(|batch| batch.offered as f64).collect::<Vec<_>>())
    }

    /// Returns true if ever more traffic is outstanding: see the module.
    pub fn grows(&self) -> bool {
        let size = self.kept.len() / GROUPS;
        // The first, which are nearest to the warm-up, are left out.
        let first = self.kept.len() - size * GROUPS;
        let groups = self.kept[first..].chunks(size.max(1));
        let change = |batch: &Batch| batch.offered as f64 - batch.accepted as f64;
        let changes: Vec<f64> = groups.map(|group| group.iter().map(change).sum()).collect();
        let chance = student(GROUPS as u32 - 1) * (variance(&changes) / GROUPS as f64).sqrt();
        mean(&changes) > chance.max(0.001 * size as f64 * self.offered())
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
        Batch { entered: 1, messages: 1, latency, offered: 10, accepted: 10 }
    }

    fn precise() -> Judge {
        Judge::new(Span::Precise { half_width: 0.01, batches: 100 }, 5)
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
        let mut judge = precise();
        let mut verdicts = Vec::new();
        for i in 0..40 {
            verdicts.push(judge.hear(batch(200 - 20 * i.min(5)), true));
        }
        let measure = verdicts.iter().position(|&v| v == Verdict::Measure).expect("it settles");
        assert!((9..=14).contains(&measure), "{measure}");
        let stop = verdicts.iter().position(|&v| v == Verdict::Stop).expect("it is precise");
        assert_eq!(stop, measure + 11);
        assert!(judge.steady);
        let latency = judge.latency().expect("messages arrived");
        assert!((latency.mean - 100.0).abs() < 1e-9);
    }

    /// Latency that grows by a tenth per batch never settles: ten batches after 60 and the one
    /// between.
    #[test]
    fn unsteady() {
        let mut judge = precise();
        let mut count = 1;
        while judge.hear(batch(1000 + 100 * count), true) != Verdict::Stop {
            count += 1;
        }
        assert_eq!((count, judge.steady, judge.warm_up()), (71, false, 61));
    }

    /// Of 1000 offered in each of 20 batches 990 or 1000 in turn arrive: every group of two loses
    /// 10, half a percent. What is late in one batch and arrives in the next grows nowhere, nor
    /// does what is 1 late of 2000.
    #[test]
    fn growth() {
        let grows = |accepted: fn(u64) -> u64| {
            let mut judge = precise();
            let batch = |i| Batch { offered: 1000, accepted: accepted(i), ..batch(100) };
            judge.kept = (0..20).map(batch).collect();
            judge.grows()
        };
        assert!(grows(|i| 990 + 10 * (i % 2)));
        assert!(!grows(|i| 990 + 20 * (i % 2)));
        assert!(!grows(|_| 1000));
        assert!(!grows(|i| 1000 - i % 2));
        assert!(!precise().grows());
    }

    /// Batches without deliveries are none of a deadlock while something moves or nothing is
    /// outstanding; five in which nothing does are.
    #[test]
    fn deadlock() {
        let mut judge = precise();
        let enter = Batch { entered: 2, ..Batch::default() };
        for _ in 0..9 {
            assert_eq!(judge.hear(Batch::default(), false), Verdict::Go);
        }
        for moves in [true, false, false, false, false, true, false, false, false, false] {
            assert_ne!(judge.hear(enter, moves), Verdict::Stop);
        }
        assert_eq!(judge.hear(enter, false), Verdict::Stop);
        assert_eq!((judge.heard, judge.quiet, judge.outstanding), (20, 5, 22));
        assert!(judge.deadlocked() && judge.latency().is_none());
    }
}
