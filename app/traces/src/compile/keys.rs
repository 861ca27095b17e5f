//! Tags: those of a schedule have 32 bits and know no communicators.
//!
//! In the world, a tag below 1 000 000 is itself, and collective n is 1 000 000 + n, as in Schedgen's schedules. Everything
//! else is numbered: by each rank as it comes, and then the same on all ranks.

use std::collections::BTreeMap;
use std::io;

use rustc_hash::FxHashMap;
use schedule::ANY as ANY_TAG;
use schedule::goal::Assembly;

use super::rank::Ranked;
use crate::record::{ANY, WORLD};

/// Tags of the world below this are themselves.
const PLAIN: i64 = 1_000_000;
/// Collectives of the world count modulo this; no more are under way between two ranks.
const COLLECTIVES: i64 = 1 << 22;
/// Numbers that the ranks gave on their own have this bit.
const LOCAL: u32 = 1 << 31;
/// From here on tags are numbered.
const NUMBERED: u32 = 1 << 24;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// The program's own, with a tag.
    Tag(i64),
    /// A collective: the how manieth of its communicator.
    Collective(i64),
    /// One of several messages between two ranks in a collective: that, and which.
    Step(i64, u32),
    /// A one-sided operation, on its way to the target.
    Remote,
    /// The answer of the target.
    Answer,
    /// An epoch's beginning: from `MPI_Win_post` to `MPI_Win_start`.
    Posted,
    /// Its end: from `MPI_Win_complete` to `MPI_Win_wait`.
    Completed,
}

/// The tags that a rank has numbered.
#[derive(Debug, Default)]
pub struct Keys {
    numbers: FxHashMap<(i64, Purpose), u32>,
}

impl Keys {
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
            // Two ranks are never so many collectives apart that messages of two with one number meet.
            Purpose::Step(number, step) => Purpose::Step(number % 16, step),
            other => other,
        };
        let next = LOCAL | self.numbers.len() as u32;
        *self.numbers.entry((communicator, purpose)).or_insert(next)
    }
}

/// Gives all ranks the same numbers. Parts of ranks that were finished lie in the assembly.
pub fn unite(ranked: &mut [Ranked], assembly: &mut Assembly) -> io::Result<()> {
    let mut all = BTreeMap::new();
    for rank in ranked.iter() {
        all.extend(rank.keys.numbers.keys().map(|key| (*key, 0)));
    }
    for (number, tag) in (NUMBERED..).zip(all.values_mut()) {
        *tag = number;
    }
    for rank in ranked.iter_mut().filter(|rank| !rank.keys.numbers.is_empty()) {
        let mut tags = vec![0; rank.keys.numbers.len()];
        for (key, local) in &rank.keys.numbers {
            if let Some(slot) = tags.get_mut((local & !LOCAL) as usize) {
                *slot = all.get(key).copied().unwrap_or(0);
            }
        }
        let translated = |tag: u32| {
            let own = tag & LOCAL != 0 && tag != ANY_TAG;
            if own { tags.get((tag & !LOCAL) as usize).copied().unwrap_or(0) } else { tag }
        };
        if rank.kept {
            assembly.retag(rank.place, &translated)?;
        }
        rank.draft.retag(&translated);
        rank.log.iter_mut().for_each(|log| log.tag = translated(log.tag));
        for remote in &mut rank.remote {
            (remote.tag, remote.answer) = (translated(remote.tag), translated(remote.answer));
        }
    }
    Ok(())
}
