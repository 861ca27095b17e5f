//! The memory that one rank shares with the simulator.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Offset, Ticket};

/// Whose turn it is, in [`Channel::turn`].
pub const SIMULATORS_TURN: u32 = 0;
/// The rank's.
pub const RANKS_TURN: u32 = 1;
/// Added to either: the other side sleeps until that changes, and must be woken.
const SLEEPS: u32 = 2;

/// Words of a channel, for commands or for a reply; what is longer goes in parts.
pub const WORDS: usize = 1022;
/// More words follow when this part has been read.
const MORE: u32 = 1 << 31;
/// Words that the reply takes before the completions.
const HEAD: usize = 3;
/// Words of a completion.
const EACH: usize = 5;

/// In the word of the exit code: there is one.
const END: u64 = 1 << 32;
/// In the same word: the rank is to say where it is.
const ASKS_PLACE: u64 = 1 << 33;

/// A rank's channel.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Channel {
    /// Whose turn it is; the other waits for it to change, see [`Channel::sleep`].
    pub turn: AtomicU32,
    /// How many words there are.
    length: AtomicU32,
    /// A [`MpiUse`].
    usage: AtomicU32,
    /// One more than the core where the rank is to be woken; 0 if anywhere.
    core: AtomicU32,
    words: std::cell::UnsafeCell<[u64; WORDS]>,
}

/// Whether a rank uses MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiUse {
    /// It never has.
    Never,
    /// It does.
    Now,
    /// It has ended all sessions, and may begin another or end itself.
    Before,
}

impl From<u32> for MpiUse {
    fn from(noted: u32) -> Self {
        match noted {
            0 => Self::Never,
            1 => Self::Now,
            _ => Self::Before,
        }
    }
}

/// What has become of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Of which.
    pub ticket: Ticket,
    /// When it is done, in picoseconds; that may lie ahead.
    pub time: u64,
    /// Of a receive, who sent the message, by rank of the world.
    pub source: u32,
    /// The message's tag.
    pub tag: u32,
    /// Bytes of the message.
    pub bytes: u64,
    /// Contents of the message; of a collective, the list of what all members contribute.
    pub contents: Offset,
    /// It was withdrawn, or met no message when there had to be one at once.
    pub void: bool,
}

/// What the simulator answers, beside what has become of operations since the last reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The simulated time, in picoseconds.
    pub now: u64,
    /// The number that was asked for.
    pub value: u64,
    /// The rank is to end, with this exit code.
    pub end: Option<i32>,
    /// The rank is to say where in the program it is, and to wait on.
    pub asks_place: bool,
}

impl Channel {
    /// Notes whether the rank uses MPI.
    pub fn note(&self, usage: MpiUse) {
        self.usage.store(usage as u32, Ordering::Release);
    }

    /// Whether it does, as far as it was noted.
    pub fn usage(&self) -> MpiUse {
        MpiUse::from(self.usage.load(Ordering::Acquire))
    }

    /// A process begins to be the rank. Gives whether one has used MPI as this rank before: only if
    /// none has, this one is the rank.
    pub fn claim(&self) -> MpiUse {
        let (never, now) = (MpiUse::Never as u32, MpiUse::Now as u32);
        let found = self.usage.compare_exchange(never, now, Ordering::AcqRel, Ordering::Acquire);
        MpiUse::from(found.unwrap_or_else(|found| found))
    }

    /// Says where the rank is to be woken after its next turn: on a core, by the kernel's number,
    /// or anywhere.
    #[inline]
    pub fn meet(&self, core: Option<usize>) {
        let next = core.and_then(|core| u32::try_from(core + 1).ok());
        self.core.store(next.unwrap_or(0), Ordering::Relaxed);
    }

    /// Where.
    #[inline]
    pub fn core(&self) -> Option<usize> {
        self.core.load(Ordering::Relaxed).checked_sub(1).map(|core| core as usize)
    }

    /// Whether it is a side's turn.
    #[inline]
    pub fn is_turn(&self, side: u32) -> bool {
        self.turn.load(Ordering::Acquire) & !SLEEPS == side
    }

    /// Gives the turn to a side; tells whether that sleeps, so that who waits for `turn` to change
    /// must be woken.
    #[inline]
    pub fn pass(&self, side: u32) -> bool {
        self.turn.swap(side, Ordering::AcqRel) & SLEEPS != 0
    }

    /// A side whose turn it is not says that it sleeps: the value of `turn` to wait on. `None` if
    /// it is its turn now.
    #[inline]
    pub fn sleep(&self, side: u32) -> Option<u32> {
        let other = SIMULATORS_TURN + RANKS_TURN - side;
        let asleep = other | SLEEPS;
        let found = self.turn.compare_exchange(other, asleep, Ordering::AcqRel, Ordering::Acquire);
        (found == Ok(other) || found == Err(asleep)).then_some(asleep)
    }

    /// Adds the words that the other side has written to a list; tells whether there are more. Does
    /// nothing unless it is `side`'s turn, which is the caller's.
    pub fn read(&self, side: u32, into: &mut Vec<u64>) -> bool {
        if !self.is_turn(side) {
            return false;
        }
        let length = self.length.load(Ordering::Acquire);
        // SAFETY: only the side whose turn it is touches the words, and it gives its turn away only
        // after this.
        let words = unsafe { &*self.words.get() };
        into.extend_from_slice(words.get(..(length & !MORE) as usize).unwrap_or_default());
        length & MORE != 0
    }

    /// Writes words for the other side, as many as there is room for; gives those that are left.
    /// Does nothing unless it is `side`'s turn, which is the caller's.
    pub fn write<'w>(&self, side: u32, words: &'w [u64]) -> &'w [u64] {
        if !self.is_turn(side) {
            return words;
        }
        let (first, rest) = words.split_at(words.len().min(WORDS));
        // SAFETY: as in `read`.
        let room = unsafe { &mut *self.words.get() };
        if let Some(room) = room.get_mut(..first.len()) {
            room.copy_from_slice(first);
        }
        let more = if rest.is_empty() { 0 } else { MORE };
        self.length.store(first.len() as u32 | more, Ordering::Release);
        rest
    }
}

impl Reply {
    /// As words, with completions behind it.
    pub fn encode<'c>(
        self,
        words: &mut Vec<u64>,
        completions: impl IntoIterator<Item = &'c Completion>,
    ) {
        let end = self.end.map_or(0, |code| END | u64::from(code.cast_unsigned()));
        let end = if self.asks_place { end | ASKS_PLACE } else { end };
        words.extend([self.now, self.value, end]);
        for done in completions {
            let who = u64::from(done.source) << 32 | u64::from(done.tag);
            let which = u64::from(done.void) << 32 | u64::from(done.ticket);
            words.extend([which, done.time, who, done.bytes, done.contents]);
        }
    }

    /// From words; what is not there is left out. Completions are given to `each` in their place.
    pub fn decode(words: &[u64], each: impl FnMut(Completion)) -> Self {
        let Some((&[now, value, end], rest)) = words.split_first_chunk::<HEAD>() else {
            return Self::default();
        };
        let completion = |&[which, time, who, bytes, contents]: &[u64; EACH]| {
            let (ticket, void) = (which as u32, which >> 32 != 0);
            let (source, tag) = ((who >> 32) as u32, who as u32);
            Completion { ticket, time, source, tag, bytes, contents, void }
        };
        rest.as_chunks::<EACH>().0.iter().map(completion).for_each(each);
        let asks_place = end & ASKS_PLACE != 0;
        let end = (end & END != 0).then_some((end as u32).cast_signed());
        Self { now, value, end, asks_place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        let (turn, length) = (AtomicU32::new(SIMULATORS_TURN), AtomicU32::new(0));
        let (usage, core) = (AtomicU32::new(0), AtomicU32::new(0));
        Channel { turn, length, usage, core, words: [0; WORDS].into() }
    }

    /// Who sleeps is woken once, and only then.
    #[test]
    fn who_sleeps_is_woken() {
        let channel = channel();
        assert_eq!(channel.sleep(SIMULATORS_TURN), None, "it is its turn");
        assert!(!channel.pass(RANKS_TURN), "the rank has not slept");
        assert_eq!(channel.sleep(RANKS_TURN), None, "it is its turn");
        let asleep = channel.sleep(SIMULATORS_TURN);
        assert_eq!(asleep, Some(channel.turn.load(Ordering::Relaxed)), "what it waits on is there");
        assert!(channel.is_turn(RANKS_TURN) && !channel.is_turn(SIMULATORS_TURN), "as before");
        assert_eq!(channel.sleep(SIMULATORS_TURN), asleep, "woken for nothing");
        assert!(channel.pass(SIMULATORS_TURN), "the simulator sleeps");
        assert_eq!(channel.sleep(SIMULATORS_TURN), None);
        assert!(!channel.pass(RANKS_TURN), "the rank is awake");
    }

    /// A rank is one process: it is claimed once, and not again when it is over.
    #[test]
    fn a_rank_is_claimed_once() {
        let channel = channel();
        assert_eq!((channel.claim(), channel.claim()), (MpiUse::Never, MpiUse::Now));
        channel.note(MpiUse::Before);
        assert_eq!((channel.claim(), channel.usage()), (MpiUse::Before, MpiUse::Before));
    }

    /// Words are for the side whose turn it is, whether the other one sleeps or not.
    #[test]
    fn words_go_with_the_turn() {
        let channel = channel();
        for sleeps in [false, true] {
            let mut words = Vec::new();
            assert_eq!(channel.write(RANKS_TURN, &[7]), [7], "not its turn");
            assert!(!sleeps || channel.sleep(RANKS_TURN).is_some());
            assert!(channel.write(SIMULATORS_TURN, &[1, 2]).is_empty());
            assert_eq!(channel.pass(RANKS_TURN), sleeps);
            assert!(!channel.read(RANKS_TURN, &mut words));
            assert_eq!(words, [1, 2]);
            channel.pass(SIMULATORS_TURN);
        }
    }
}
