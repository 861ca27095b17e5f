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
    /// A source that is on or off in each time of a flit, and makes a message with a probability
    /// while it is on: a Markov-modulated process.
    OnOff(OnOff),
}

/// The probabilities of a source that is on or off, each for the time of a flit on its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOff {
    /// Probability that a source that is off turns on.
    pub on: f64,
    /// Probability that a source that is on turns off.
    pub off: f64,
    /// Probability that a source that is on makes a message.
    pub rate: f64,
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
                geometric(unit(), chance) * pace.slot
            }
            Self::Bursty(burst) => {
                let ends = number == 0 || random.unit(host, 2 * number + 1) * burst <= 1.0;
                if !ends {
                    return last;
                }
                let silence = burst * (pace.interval - pace.message).max(0.0);
                last - unit().ln() * silence
            }
            Self::OnOff(process) => process.slots(random, host, number) * pace.slot,
        }
    }
}

/// Random numbers of a message in [`OnOff::slots`]: its number stands above these bits.
const DRAWS: u32 = 24;

/// Most visits to a state between two messages, which only bursts far below any load of use take.
const VISITS: u64 = 1 << (DRAWS - 2);

impl OnOff {
    /// Returns the number of slots from a message to the next. A source is on when it has just made
    /// a message, and on or off alike at the start. Each visit to a state takes one draw for its
    /// length, which is geometric, and one for how it ends.
    fn slots(self, random: Random, host: u32, number: u64) -> f64 {
        let draw = |index: u64| random.unit(host, number << DRAWS | index);
        let Self { on, off, rate } = self;
        let mut active = number > 0 || draw(0) <= 0.5;
        let mut slots = 0.0;
        for visit in 0..VISITS {
            let [length, end] = [2 * visit + 1, 2 * visit + 2].map(draw);
            let makes = if active { (1.0 - off) * rate } else { on * rate };
            let leaves = if active { off + makes } else { on };
            slots += geometric(length, leaves);
            if end * leaves <= makes {
                break;
            }
            active = !active;
        }
        slots
    }
}

/// The number of the first success, from 1, for a probability and a number from (0, 1].
fn geometric(unit: f64, chance: f64) -> f64 {
    if chance >= 1.0 { 1.0 } else { (unit.ln() / (1.0 - chance).ln()).ceil().max(1.0) }
}
