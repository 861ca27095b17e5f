//! When the warm-up is over and when enough has been measured.
//!
//! The run is cut into batches of equal time. The warm-up is over once the last ten batches show no drift:
//! the mean latency of the second five differs from that of the first five by no more than chance explains
//! (Student's two-sided test at 95 %) or by less than 1 %. The batch that then runs is left out, and those
//! that follow are kept until the confidence intervals are narrow enough. Near and beyond saturation queues
//! grow without end; a run that still drifts at the limit is measured for ten batches and called unsteady.

use crate::statistics::{Estimate, mean, student, variance};

/// What happened in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    /// Messages delivered.
    pub messages: u64,
    /// Their latencies, in picoseconds, together.
    pub latency: u64,
    /// The time on their sources' links of the messages that entered.
    pub offered: u64,
    /// The same of those delivered.
    pub accepted: u64,
}

impl Batch {
    fn mean_latency(&self) -> f64 {
        self.latency as f64 / self.messages as f64
    }
}

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// Until the intervals of latency and accepted load are at most this part of their means to either
    /// side, or this many batches have been kept.
    Precise {
        /// Half the width of an interval over the mean.
        half_width: f64,
        /// Most batches after the warm-up.
        batches: u32,
    },
    /// So many batches after a warm-up of so many; then no message enters any more and the network runs
    /// empty.
    Batches {
        /// Left out.
        warm_up: u32,
        /// Kept.
        kept: u32,
    },
}

/// Batches that are looked at for drift, and fewest that are kept.
const LOOK: usize = 10;
/// Most batches of a warm-up.
pub(crate) const MOST_WARM: u32 = 60;

/// What follows from a batch.
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
}

impl Judge {
    pub fn new(span: Span) -> Self {
        let phase = match span {
            Span::Batches { warm_up: 0, .. } => Phase::Keep,
            _ => Phase::Warm,
        };
        Self { span, phase, warm: Vec::new(), kept: Vec::new(), steady: true }
    }

    /// Batches before the first that is kept.
    pub fn warm_up(&self) -> u32 {
        self.warm.len() as u32
    }

    pub fn hear(&mut self, batch: Batch) -> Verdict {
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
                        narrow(self.latency()) && narrow(self.accepted())
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

    /// Of the batches in which messages arrived.
    pub fn latency(&self) -> Estimate {
        let filled = self.kept.iter().filter(|batch| batch.messages > 0);
        let estimate = Estimate::from_batches(&filled.map(Batch::mean_latency).collect::<Vec<_>>());
        let sum = |of: fn(&Batch) -> u64| self.kept.iter().map(of).sum::<u64>() as f64;
        let messages = sum(|batch| batch.messages);
        // Every message counts alike.
        let mean = if messages > 0.0 { sum(|batch| batch.latency) / messages } else { 0.0 };
        Estimate { mean, ..estimate }
    }

    pub fn accepted(&self) -> Estimate {
        let accepted = self.kept.iter().map(|batch| batch.accepted as f64);
        Estimate::from_batches(&accepted.collect::<Vec<_>>())
    }

    pub fn offered(&self) -> f64 {
        mean(&self.kept.iter().map(|batch| batch.offered as f64).collect::<Vec<_>>())
    }
}

/// Whether the last batches rise or fall; too few do.
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
        Batch { messages: 1, latency, offered: 10, accepted: 10 }
    }

    /// Ten batches that alternate between 100 and 102 do not drift; ten that rise by 10 each do: 50 between
    /// the halves, while chance explains 2.306 * sqrt(250 * 4 / 10) = 23.1 (five values 10 apart have
    /// a variance of 250).
    #[test]
    fn drift() {
        let level: Vec<_> = (0..10).map(|i| batch(100 + 2 * (i % 2))).collect();
        assert!(!drifts(&level));
        assert!(drifts(&level[1..]));
        let rising: Vec<_> = (0..10).map(|i| batch(1000 + 10 * i)).collect();
        assert!(drifts(&rising));
    }

    /// A warm-up that falls from 200 to 100 in five batches is over when these have left the ten that are
    /// looked at, or count for little among them; one batch is left out; ten equal ones suffice.
    #[test]
    fn phases() {
        let mut judge = Judge::new(Span::Precise { half_width: 0.01, batches: 100 });
        let mut verdicts = Vec::new();
        for i in 0..40 {
            verdicts.push(judge.hear(batch(200 - 20 * i.min(5))));
        }
        let measure = verdicts.iter().position(|&v| v == Verdict::Measure).expect("it settles");
        assert!((9..=14).contains(&measure), "{measure}");
        let stop = verdicts.iter().position(|&v| v == Verdict::Stop).expect("it is precise");
        assert_eq!(stop, measure + 11);
        assert!(judge.steady);
        assert!((judge.latency().mean - 100.0).abs() < 1e-9);
    }

    /// What grows by a tenth per batch never settles: ten batches after 60 and the one between.
    #[test]
    fn unsteady() {
        let mut judge = Judge::new(Span::Precise { half_width: 0.01, batches: 100 });
        let mut count = 1;
        while judge.hear(batch(1000 + 100 * count)) != Verdict::Stop {
            count += 1;
        }
        assert_eq!((count, judge.steady, judge.warm_up()), (71, false, 61));
    }
}
