//! Tags: those of a schedule have 32 bits and know no communicators.
//!
//! In the world, a tag below 1 000 000 is itself, and collective n is 1 000 000 + n, as in
//! Schedgen's schedules. Everything else is numbered, the same on all ranks: as it comes, and in
//! the end in the order of what it is for.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use schedule::ANY as ANY_TAG;

use crate::record::{ANY, WORLD};

/// Tags of the world below this are themselves.
const PLAIN: i64 = 1_000_000;
/// Collectives of the world count modulo this; no more are under way between two ranks.
const COLLECTIVES: i64 = 1 << 22;
/// One-sided operations of a rank count modulo this number; no more of those between two ranks are
/// under way.
const ACCESSES: u32 = 1 << 16;
/// Numbers that were given as they came have this bit.
const EARLY: u32 = 1 << 31;
/// Tags from here on are numbered at the end.
const NUMBERED: u32 = 1 << 24;

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// The program's own, with a tag.
    Tag(i64),
    /// A collective, by its number in its communicator.
    Collective(i64),
    /// One of several messages between two ranks in a collective: numbers of the collective and of
    /// the message.
    Step(i64, u32),
    /// A message of a persistent collective: numbers of the collective among those, of its round
    /// and of the message.
    Started(i64, i64, u32),
    /// A one-sided operation on its way to the target, by its number in the rank.
    Remote(u32),
    /// The answer of the target.
    Answer(u32),
    /// The answer to a synchronous send, by its number in the rank.
    Met(u32),
    /// The beginning of an epoch of a window: from `MPI_Win_post` to `MPI_Win_start`.
    Posted(i64),
    /// The end of an exposure: from `MPI_Win_complete` to `MPI_Win_wait`.
    Completed(i64),
    /// The lock of a window's target is there: from who gives it back to who waited.
    Granted(i64, i64),
    /// The messages of the leaders of two groups in `MPI_Intercomm_create`, with a tag.
    Leaders(i64),
}

/// The things that have numbers: a communicator, and the purpose of a message in it.
type Key = (i64, Purpose);

/// The numbers of all ranks.
#[derive(Debug, Default)]
pub struct Numbers(Mutex<FxHashMap<Key, u32>>);

impl Numbers {
    /// Returns what has a number keeps it.
    fn number(&self, key: Key) -> u32 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = EARLY | all.len() as u32;
        *all.entry(key).or_insert(next)
    }

    /// The tag in the schedule for each tag that [`Keys`] gave; `None` if they are the same. It
    /// does not depend on which rank came first.
    pub fn tags(self) -> Option<impl Fn(u32) -> u32> {
        let numbers = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut keys: Vec<_> = numbers.into_iter().collect();
        keys.sort_unstable();
        let mut tags = vec![0; keys.len()];
        for (number, (_, early)) in (NUMBERED..).zip(keys) {
            if let Some(slot) = tags.get_mut((early & !EARLY) as usize) {
                *slot = number;
            }
        }
        let is_early = |tag: u32| tag & EARLY != 0 && tag != ANY_TAG;
        (!tags.is_empty()).then_some(move |tag: u32| match tags.get((tag & !EARLY) as usize) {
            Some(number) if is_early(tag) => *number,
            _ => tag,
        })
    }
}

/// The numbers that a rank has used.
#[derive(Debug)]
pub struct Keys<'a> {
    known: FxHashMap<Key, u32>,
    all: &'a Numbers,
}

impl<'a> Keys<'a> {
    pub fn new(all: &'a Numbers) -> Self {
        Self { known: FxHashMap::default(), all }
    }

    /// The tag of an operation.
    #[inline]
    pub fn tag(&mut self, communicator: i64, purpose: Purpose) -> u32 {
        match purpose {
            Purpose::Tag(tag) if tag == ANY => {
                return ANY_TAG;
            }
            Purpose::Tag(tag) if communicator == WORLD && (0..PLAIN).contains(&tag) => {
                return tag.cast_unsigned() as u32;
            }
            Purpose::Collective(number) if communicator == WORLD => {
                return (PLAIN + number % COLLECTIVES).cast_unsigned() as u32;
            }
            _ => {}
        }
        let purpose = match purpose {
            Purpose::Collective(number) => Purpose::Collective(number % 1024),
            // Two ranks are never so many collectives apart that messages of two with one number
            // meet.
            Purpose::Step(number, step) => Purpose::Step(number % 16, step),
            Purpose::Started(made, round, step) => Purpose::Started(made, round % 16, step),
            // One may overtake another: what belongs together is told by number. There are too many
            // to note those that a rank has used.
            Purpose::Remote(number) => {
                return self.all.number((communicator, Purpose::Remote(number % ACCESSES)));
            }
            Purpose::Answer(number) => {
                return self.all.number((communicator, Purpose::Answer(number % ACCESSES)));
            }
            other => other,
        };
        let key = (communicator, purpose);
        *self.known.entry(key).or_insert_with_key(|key| self.all.number(*key))
    }
}
