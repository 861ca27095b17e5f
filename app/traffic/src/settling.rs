//! The rule by which BookSim 2 decides how long a run takes, and when a network is saturated.
//!
//! Means count from the last clearing on: in the warm-up every second sample begins with one, and
//! so does the first sample after it. A run ends when the means of three samples in a row have
//! changed little, or at a number of samples. It is saturated as soon as the mean latency, of
//! messages delivered and of those on their way up to now, is above a limit, or if it has not
//! warmed up within that number. Source: Jiang et al., ISPASS 2013, and the public source of
//! BookSim 2.

use serde::{Deserialize, Serialize};

use crate::steady_state::{Batch, Decision};

/// BookSim's limits of a run; batches are its samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// Samples of the warm-up; 0 to warm up until the means have settled.
    pub warm_up: u32,
    /// Most samples, those of the warm-up included.
    pub most: u32,
    /// The largest relative change of latency in the warm-up and after it; `None` to look at the
    /// accepted load alone.
    pub latency: Option<[f64; 2]>,
    /// The largest relative change of the accepted load in the warm-up and after it.
    pub accepted: [f64; 2],
    /// The mean latency in picoseconds above which a network is saturated, if there is one.
    pub limit: Option<f64>,
}

/// Samples in a row whose means must have changed little.
const SETTLED: u32 = 3;

/// The state of the rule.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Settled {
    /// The samples since the last clearing, and how many they are.
    sum: Batch,
    count: u32,
    /// The means of latency and accepted load after the last sample.
    before: [f64; 2],
    /// Samples so far.
    samples: u32,
    /// True if the warm-up is over.
    pub warm: bool,
    /// Samples in a row that have settled.
    calm: u32,
    /// True if the network is saturated.
    pub exceeded: bool,
}

impl Settled {
    /// Takes a sample that ends at `end`, when so many messages are on their way that entered at
    /// times of this wrapping sum.
    pub fn sample(
        &mut self,
        rule: &Settling,
        sample: Batch,
        end: u64,
        (waiting, entries): (u64, u64),
    ) -> Decision {
        if !self.warm && self.samples.is_multiple_of(2) {
            (self.sum, self.count) = (Batch::default(), 0);
        }
        self.sum.add(sample);
        self.count += 1;
        self.samples += 1;
        let ages = waiting.wrapping_mul(end).wrapping_sub(entries);
        let count = self.sum.messages + waiting;
        let mean = (self.sum.latency as f64 + ages as f64) / count.max(1) as f64;
        if rule.limit.is_some_and(|limit| mean > limit) {
            self.exceeded = true;
            return Decision::Stop;
        }
        let settled = self.settled(rule);
        if !self.warm {
            self.warm = if rule.warm_up > 0 { self.samples >= rule.warm_up } else { settled };
            (self.sum, self.count) =
                if self.warm { (Batch::default(), 0) } else { (self.sum, self.count) };
        } else if settled {
            self.calm += 1;
        } else {
            self.calm = 0;
        }
        if self.calm < SETTLED && self.samples < rule.most {
            return Decision::Continue;
        }
        self.exceeded = !self.warm;
        Decision::Stop
    }

    /// Returns true if the means have changed little since the last sample.
    fn settled(&mut self, rule: &Settling) -> bool {
        let now = [
            self.sum.latency as f64 / self.sum.messages as f64,
            self.sum.accepted as f64 / f64::from(self.count),
        ];
        let before = std::mem::replace(&mut self.before, now);
        let within = |which: usize, most: f64| {
            // A sample without messages has not settled.
            ((now[which] - before[which]) / now[which]).abs() <= most
        };
        let phase = usize::from(self.warm);
        rule.latency.is_none_or(|most| within(0, most[phase])) && within(1, rule.accepted[phase])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Settling = Settling {
        warm_up: 3,
        most: 10,
        latency: Some([0.05; 2]),
        accepted: [0.05; 2],
        limit: Some(600.0),
    };

    fn sample(latency: u64) -> Batch {
        Batch { messages: 10, latency: 10 * latency, accepted: 10, ..Batch::default() }
    }

    /// Runs samples with these mean latencies until the rule stops.
    fn run(rule: &Settling, latencies: impl Iterator<Item = u64>) -> (u32, bool) {
        let mut state = Settled::default();
        for latency in latencies {
            if state.sample(rule, sample(latency), 0, (0, 0)) == Decision::Stop {
                break;
            }
        }
        (state.samples, state.exceeded)
    }

    /// The first sample after the warm-up is compared with the last of the warm-up: the same load
    /// makes three in a row of samples 4 to 6. From 100 to 130 is a change of 0.23; the means of
    /// 130 and 130 after it do not change, so that samples 5 to 7 are the three.
    #[test]
    fn three_in_a_row() {
        assert_eq!(run(&RULE, std::iter::repeat(100)), (6, false));
        let step = [100, 100, 100].into_iter().chain(std::iter::repeat(130));
        assert_eq!(run(&RULE, step), (7, false));
    }

    /// A mean of 601 exceeds the limit in the first sample. Ten messages of 100 delivered and ten
    /// that have been on their way for 1200 each have a mean of 650.
    #[test]
    fn limit() {
        assert_eq!(run(&RULE, std::iter::repeat(601)), (1, true));
        let mut state = Settled::default();
        let waiting = (10, 10 * 800);
        assert_eq!(state.sample(&RULE, sample(100), 2000, waiting), Decision::Stop);
        assert!(state.exceeded);
    }

    /// Means of samples 1 and 2 of the warm-up together: 100, then 150, a change of a third; of 3
    /// and 4 the same load. Without a number the warm-up lasts until then. What never settles has
    /// not warmed up at the end.
    #[test]
    fn warm_up_until_settled() {
        let rule = Settling { warm_up: 0, ..RULE };
        let rising = [100, 200].into_iter().chain(std::iter::repeat(150));
        assert_eq!(run(&rule, rising), (6, false));
        let rule = Settling { limit: None, ..rule };
        assert_eq!(run(&rule, (1..).map(|step| 1 << step)), (10, true));
    }
}
