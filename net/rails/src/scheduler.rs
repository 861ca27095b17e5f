//! The scheduler of a host: its rails, when each is free again, and the policy that chooses.

use crate::parameters::{Parameters, Ticks};
use crate::policy::{Policy, State};
use crate::stripes::{self, Stripes};

/// The most rails that a host may have.
pub const MOST_RAILS: usize = 8;

/// A rail as its scheduler knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rail {
    pub parameters: Parameters,
    /// The virtual finishing time (VFT): when the interface is ready for another message, as far as
    /// the scheduler knows.
    pub finish: Ticks,
}

impl Rail {
    /// Returns when the interface would take a message: the VFT, or now if that has passed.
    pub fn ready(&self, now: Ticks) -> Ticks {
        self.finish.max(now)
    }
}

/// A message whose send begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The time at which the send's overhead begins.
    pub now: Ticks,
    /// The size of the message.
    pub bytes: u64,
    /// A bit for each rail that leads to the destination and works, the lowest for rail 0. At least
    /// one is set.
    pub usable: u8,
}

impl Message {
    /// Returns whether the message can take a rail.
    pub(crate) const fn can_take(&self, rail: usize) -> bool {
        self.usable >> rail & 1 == 1
    }
}

/// The part of a message that takes one rail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The number of the rail.
    pub rail: u8,
    /// The bytes that take it.
    pub bytes: u64,
}

/// The parts of a message, in the order in which they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    parts: [Part; MOST_RAILS],
    count: usize,
}

impl Parts {
    /// Adds a part behind the others.
    pub(crate) fn push(&mut self, part: Part) {
        if let Some(place) = self.parts.get_mut(self.count) {
            *place = part;
            self.count += 1;
        }
    }
}

impl core::ops::Deref for Parts {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        &self.parts[..self.count]
    }
}

/// The scheduler of a host.
#[derive(Clone, Debug)]
pub struct Scheduler {
    rails: [Rail; MOST_RAILS],
    count: usize,
    policy: Policy,
    stripes: Stripes,
    state: State,
}

impl Scheduler {
    /// A scheduler of these rails, of which there are at least one and at most [`MOST_RAILS`]; more
    /// than that are not used. All rails are free.
    #[must_use]
    pub fn new(rails: &[Parameters], policy: Policy, stripes: Stripes) -> Self {
        let mut all = [Rail::default(); MOST_RAILS];
        let count = rails.len().clamp(1, MOST_RAILS);
        for (rail, parameters) in all.iter_mut().zip(rails) {
            rail.parameters = *parameters;
        }
        Self { rails: all, count, policy, stripes, state: State::new(&all[..count]) }
    }

    /// Chooses the rail of a message, and notes that it is busy with it. `turn` is a counter of the
    /// destination, 0 at the start, which the caller keeps.
    pub fn choose(&mut self, message: Message, turn: &mut u8) -> u8 {
        let Self { rails, count, policy, state, .. } = self;
        let rails = &mut rails[..*count];
        let chosen = policy.choose(state, rails, message, turn).min(*count - 1);
        policy.used(&mut rails[chosen], message);
        chosen as u8
    }

    /// Gives a message to one rail, as [`Scheduler::choose`] does: it is its only part.
    pub fn take(&mut self, message: Message, turn: &mut u8) -> Parts {
        let mut parts = Parts::default();
        parts.push(Part { rail: self.choose(message, turn), bytes: message.bytes });
        parts
    }

    /// Splits a large message over the rails; without stripes, or if one rail is to take all
    /// messages, one takes all of it.
    pub fn split(&mut self, message: Message, turn: &mut u8) -> Parts {
        match (self.policy, self.stripes) {
            (Policy::Single(_), _) | (_, Stripes::None) => self.take(message, turn),
            (_, stripes) => stripes::split(stripes, &mut self.rails[..self.count], message),
        }
    }

    /// Tells when a rail is free again and what a byte takes on it (G), where others use the rails,
    /// too, or measure them.
    pub fn set(&mut self, rail: u8, finish: Ticks, gap_per_byte: u64) {
        if let Some(rail) = self.rails.get_mut(usize::from(rail)) {
            rail.finish = finish;
            rail.parameters.gap_per_byte = gap_per_byte;
        }
    }

    /// Returns when a rail is free again, as far as the scheduler knows.
    #[must_use]
    pub fn finish(&self, rail: u8) -> Ticks {
        self.rails.get(usize::from(rail)).map_or(0, |rail| rail.finish)
    }
}
