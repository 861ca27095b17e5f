//! The numbers by which hosts carry the tags of messages.
//!
//! A message among hosts has one number of 32 bits for its tag. A program's message has a context
//! and a tag of 31 bits, and collectives and the library have messages of their own. The usual ones
//! have their parts in the number itself:
//!
//! | bits 31, 30 | below | messages |
//! |---|---|---|
//! | `0` | 13 bits of context, 18 of tag | of the program; all tag bits set is any tag |
//! | `0` | 13 bits set, 18 bits | requests between libraries, and their answers |
//! | `10` | 18 bits of collective, 12 of message | of a collective |
//! | `11` | 30 bits | all others, by their place in a table |
//!
//! Places in the table are given in the order in which tags are first used, which differs between
//! runs with several threads. So no result may depend on a number: messages are matched by
//! [`Tags::matched_by`], and tables show [`Tags::shown`].

use std::sync::{PoisonError, RwLock};

use mpi::Tag;
use rustc_hash::FxHashMap;

const TAG_BITS: u32 = 18;
const MESSAGE_BITS: u32 = 12;
/// All tag bits set: any tag of the context.
const ANY_TAG: u32 = (1 << TAG_BITS) - 1;
/// The contexts that fit a number are those below this one.
const LAST_CONTEXT: u32 = (1 << 13) - 1;
/// The collectives that fit a number are those below this one.
const COLLECTIVES: u32 = 1 << TAG_BITS;
const NOT_PROGRAM: u32 = 1 << 31;
const IN_TABLE: u32 = 0b11 << 30;
/// Entries of the table.
const MOST: u32 = 1 << 30;

/// The context in which each rank is alone.
const ALONE: u32 = 1;
/// Added to a context: its messages of the library, which no wildcard of the program means.
const LIBRARY: u32 = 0b10 << 30;
/// Added to a collective that does not fit a number: the context of its messages.
const COLLECTIVE: u32 = 0b11 << 30;
/// The context of numbers that are matched as they are.
const AS_IT_IS: u32 = u32::MAX;

/// The number of requests that no program receives.
pub const REQUEST: u32 = LAST_CONTEXT << TAG_BITS;
/// The number of the message that makes a rank of a process.
pub const BIRTH: u32 = REQUEST | ANY_TAG;

/// The tags that do not fit a number.
#[derive(Debug, Default)]
pub struct Tags {
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    numbers: FxHashMap<Tag, u32>,
    tags: Vec<Tag>,
}

impl Tags {
    /// Returns the number for a tag of a context, or for any. Tags from 2^31 on are the library's.
    pub fn number(&self, context: u32, tag: Option<u32>) -> Result<u32, String> {
        match tag {
            // It is said to a process that knows no communicator yet.
            Some(rank_ipc::BIRTH) if context == ALONE => Ok(BIRTH),
            Some(tag) if tag >= NOT_PROGRAM => {
                self.entry(Tag { context: LIBRARY | context, tag: tag - NOT_PROGRAM })
            }
            _ if context >= LAST_CONTEXT => {
                self.entry(Tag { context, tag: tag.unwrap_or(mpi::ANY) })
            }
            Some(tag) if tag >= ANY_TAG => self.entry(Tag { context, tag }),
            _ => Ok(context << TAG_BITS | tag.unwrap_or(ANY_TAG)),
        }
    }

    /// Returns the number for a message of a collective.
    pub fn of_collective(&self, collective: u32, message: u16) -> Result<u32, String> {
        if collective >= COLLECTIVES {
            return self.entry(Tag { context: COLLECTIVE | collective, tag: message.into() });
        }
        Ok(NOT_PROGRAM | collective << MESSAGE_BITS | u32::from(message))
    }

    /// Returns the number for the answer to a send: answers need not come in the order of what they
    /// answer.
    pub const fn of_answer(send: u32) -> u32 {
        REQUEST | (1 + send % (ANY_TAG - 1))
    }

    /// Returns the context and the tag by which messages with a number are matched.
    pub fn matched_by(&self, number: u32) -> Tag {
        if number < REQUEST {
            let tag = number & ANY_TAG;
            let tag = if tag == ANY_TAG { mpi::ANY } else { tag };
            return Tag { context: number >> TAG_BITS, tag };
        }
        let as_it_is = Tag { context: AS_IT_IS, tag: number };
        if number < IN_TABLE {
            return as_it_is;
        }
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.tags.get((number - IN_TABLE) as usize).copied().unwrap_or(as_it_is)
    }

    /// Returns the program's tag, or [`mpi::ANY`], in the number of one of its messages.
    pub fn of_program(&self, number: u32) -> Option<u32> {
        let Tag { context, tag } = self.matched_by(number);
        (context < LIBRARY).then_some(tag)
    }

    /// Returns the tag that tables show: that of the program, and for messages of collectives and
    /// of the library one from 2^31 on that says the same in every run.
    pub fn shown(&self, number: u32) -> u32 {
        match self.matched_by(number) {
            Tag { context: AS_IT_IS, .. } if Self::is_of_collective(number) => {
                NOT_PROGRAM | (number & ((1 << MESSAGE_BITS) - 1))
            }
            Tag { context: AS_IT_IS, .. } => number,
            Tag { context, tag } if context >= LIBRARY => NOT_PROGRAM | tag.min(MOST),
            Tag { tag, .. } => tag,
        }
    }

    /// Returns whether a number is that of a collective's message, of those that fit one.
    pub const fn is_of_collective(number: u32) -> bool {
        number >> 30 == 0b10
    }

    #[cold]
    fn entry(&self, tag: Tag) -> Result<u32, String> {
        let known = self.table.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers.get(&tag) {
            return Ok(*number);
        }
        drop(known);
        let table = &mut *self.table.write().unwrap_or_else(PoisonError::into_inner);
        let next = table.tags.len() as u32;
        let number = *table.numbers.entry(tag).or_insert(IN_TABLE | next);
        if number == IN_TABLE | next {
            if next == MOST {
                return Err(format!("the ranks use more than {MOST} tags"));
            }
            table.tags.push(tag);
        }
        Ok(number)
    }
}

/// Returns the number of a collective's message in [`Tags::of_collective`], from its number among
/// those of its two ranks.
pub const fn message_of_collective(number: u32) -> u16 {
    (number % (1 << MESSAGE_BITS)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contexts and tags around the limits of what fits a number come back as they were, and no two
    /// share a number.
    #[test]
    fn tags_of_the_program() {
        let tags = Tags::default();
        let contexts = [0, 1, 2, LAST_CONTEXT - 1, LAST_CONTEXT, LAST_CONTEXT + 1, 1 << 20];
        let numbers = [0, 1, ANY_TAG - 1, ANY_TAG, ANY_TAG + 1, (1 << 31) - 1];
        let mut seen = std::collections::BTreeSet::new();
        for context in contexts {
            for tag in numbers.map(Some).into_iter().chain([None]) {
                let number = tags.number(context, tag).unwrap();
                let shown = tag.unwrap_or(mpi::ANY);
                assert_eq!(tags.matched_by(number), Tag { context, tag: shown });
                assert_eq!((tags.shown(number), tags.of_program(number)), (shown, Some(shown)));
                assert_eq!(tags.number(context, tag), Ok(number), "asked again");
                assert!(seen.insert(number), "{context} {tag:?}");
            }
        }
    }

    /// Messages of the library and of collectives meet no wildcard of the program, and what tables
    /// show of them depends on neither context nor collective.
    #[test]
    fn messages_that_are_not_the_programs() {
        let tags = Tags::default();
        let library = |context| tags.number(context, Some(u32::MAX)).unwrap();
        let collective = |number| tags.of_collective(number, 3).unwrap();
        let [large, small] = [collective(COLLECTIVES + 5), collective(5)];
        let all = [library(0), library(2), large, small, REQUEST, BIRTH, Tags::of_answer(7)];
        for number in all {
            let Tag { context, tag } = tags.matched_by(number);
            assert!(context >= LIBRARY && tag != mpi::ANY, "{number}");
            assert_eq!(tags.of_program(number), None);
            assert!(tags.shown(number) != mpi::ANY);
        }
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
        assert_eq!(tags.shown(library(0)), tags.shown(library(2)));
        assert_eq!((tags.shown(large), tags.shown(small)), ((1 << 31) + 3, (1 << 31) + 3));
        assert_eq!(tags.number(ALONE, Some(rank_ipc::BIRTH)), Ok(BIRTH));
    }
}
