//! Noise of the operating system: interruptions that lengthen whatever a CPU does meanwhile.
//!
//! As in `LogGOPSim`, an activity that would run from t to u is lengthened once, by the length of
//! all interruptions between t and u; what falls into the extension is not added again.

use units::Time;

/// Where interruptions come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Noise {
    /// There are none.
    #[default]
    None,
    /// A recorded trace, repeated for ever.
    Trace {
        /// Interruptions as (start, duration), ascending and disjoint.
        events: Vec<(Time, Time)>,
        /// Whether all ranks see the same interruptions at the same time; otherwise each rank starts
        /// at a random offset, drawn from the seed.
        coscheduled: bool,
    },
    /// One interruption in each slot of length `interval`, at a random place in it.
    Random {
        /// Length of a slot.
        interval: Time,
        /// Distribution of the interruption's length.
        duration: Duration,
        /// Whether all ranks see the same interruptions at the same time.
        coscheduled: bool,
    },
}

/// A distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duration {
    /// Always the same.
    Fixed(Time),
    /// Uniform between the two, inclusive.
    Uniform(Time, Time),
    /// Exponential with this mean.
    Exponential(Time),
}
