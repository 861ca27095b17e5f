//! The bounds of a worker's future, which it publishes before each window.

use units::Time;

/// The earliest times of all that a worker may still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The time of its earliest event, mail under way included.
    pub earliest: Time,
    /// The earliest time at which it may cause a message that takes effect without delay.
    pub urgent: Time,
    /// The time of its earliest mail, under way or not.
    pub mail: Time,
    /// True if one of its processes may answer mail without delay.
    pub answers: bool,
    /// The end of the run, as far as it knows.
    pub end: Time,
}

impl Bounds {
    /// The number of words of bounds.
    pub const WORDS: usize = 5;

    /// The bounds of a worker that does nothing any more.
    pub const NONE: Self = Self {
        earliest: Time::MAX,
        urgent: Time::MAX,
        mail: Time::MAX,
        answers: false,
        end: Time::MAX,
    };

    /// The bounds before anybody has published any.
    pub const START: Self = Self { earliest: Time::ZERO, ..Self::NONE };

    /// Returns the bounds as numbers, as a transport carries them. The least of each number over
    /// several workers gives the [`Bounds::join`] of their bounds.
    pub const fn words(self) -> [u64; Self::WORDS] {
        let Self { earliest, urgent, mail, answers, end } = self;
        [earliest.ps(), urgent.ps(), mail.ps(), !answers as u64, end.ps()]
    }

    /// Returns the bounds that [`Bounds::words`] has turned into numbers.
    pub const fn from_words([earliest, urgent, mail, silent, end]: [u64; Self::WORDS]) -> Self {
        Self {
            earliest: Time::from_ps(earliest),
            urgent: Time::from_ps(urgent),
            mail: Time::from_ps(mail),
            answers: silent == 0,
            end: Time::from_ps(end),
        }
    }

    /// Returns the bounds of two workers together.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            earliest: self.earliest.min(other.earliest),
            urgent: self.urgent.min(other.urgent),
            mail: self.mail.min(other.mail),
            answers: self.answers || other.answers,
            end: self.end.min(other.end),
        }
    }
}
