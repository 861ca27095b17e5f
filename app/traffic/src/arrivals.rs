//! The times at which messages enter.

use kernel::Random;

/// The process by which a host makes messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// One with the same probability in each time of a flit on the host's link: the customary model
    /// of cycle-driven simulators.
    Bernoulli,
    /// At exponential intervals.
    Poisson,
    /// Bursts of messages back to back, geometric in number with this mean (1 or more), with
    /// exponential silence between them.
    Bursty(f64),
    /// At equal intervals, from a random phase on.
    Fixed,
}

/// The times that a host's link sets for its arrivals, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Mean time from message to message.
    pub interval: f64,
    /// Mean time of a message on the link.
    pub message: f64,
    /// Time of a flit.
    pub slot: f64,
}

impl Arrivals {
    /// The time from message `number` - 1, which takes `last` ps on the link, to message `number`.
    /// The first interval begins at time zero.
    pub(crate) fn interval(
        self,
        pace: Pace,
        last: f64,
        random: Random,
        host: u32,
        number: u64,
    ) -> f64 {
        let unit = || random.unit(host, 2 * number);
        match self {
            Self::Poisson => -unit().ln() * pace.interval,
            Self::Fixed if number == 0 => unit() * pace.interval,
            Self::Fixed => pace.interval,
            Self::Bernoulli => {
                let chance = pace.slot / pace.interval;
                if chance >= 1.0 {
                    return pace.slot;
                }
                // The number of the first success is geometric.
                (unit().ln() / (1.0 - chance).ln()).ceil().max(1.0) * pace.slot
            }
            Self::Bursty(burst) => {
                let ends = number == 0 || random.unit(host, 2 * number + 1) * burst <= 1.0;
                if !ends {
                    return last;
                }
                let silence = burst * (pace.interval - pace.message).max(0.0);
                last - unit().ln() * silence
            }
        }
    }
}
