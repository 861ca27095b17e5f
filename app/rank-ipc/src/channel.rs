//! The channel between one rank and the simulator, in memory that both share.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Offset, Ticket};

/// The value of [`Channel::turn`] while it is the simulator's turn.
pub const SIMULATORS_TURN: u32 = 0;
/// The value of [`Channel::turn`] while it is the rank's turn.
pub const RANKS_TURN: u32 = 1;
/// This bit in [`Channel::turn`] says that the other side sleeps until the turn changes, and must
/// be woken.
const SLEEPS: u32 = 2;

/// Number of words in a channel, for commands or for a reply; what is longer goes in parts.
pub const WORDS: usize = 1022;
/// This bit of the length says that more words follow when this part has been read.
const MORE: u32 = 1 << 31;
/// Words of a reply before its completions.
const HEAD: usize = 3;
/// Words of a completion.
const EACH: usize = 5;

/// This bit in the word of the exit code says that there is one.
const END: u64 = 1 << 32;
/// This bit in the same word asks the rank where in the program it is.
const ASKS_PLACE: u64 = 1 << 33;

/// The channel of a rank: whose turn it is, and words from the side that had the last turn. Only
/// the side whose turn it is touches the words, so that nothing needs a lock.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Channel {
    /// The side whose turn it is; the other side waits for it to change, see [`Channel::sleep`].
    pub turn: AtomicU32,
    /// The number of words that were written.
    length: AtomicU32,
    /// A [`MpiUse`] as a number.
    usage: AtomicU32,
    /// One more than the core where the rank is to be woken; 0 stands for any core.
    core: AtomicU32,
    words: std::cell::UnsafeCell<[u64; WORDS]>,
}

/// The use that a rank makes of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiUse {
    /// It has never used MPI.
    Never,
    /// It uses MPI.
    Now,
    /// It has ended all sessions, and may begin another or exit.
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

/// The end of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The operation that has ended.
    pub ticket: Ticket,
    /// The time of its end in picoseconds, which may lie ahead.
    pub time: u64,
    /// Of a receive, the sender of the message as a rank of the world.
    pub source: u32,
    /// The message's tag.
    pub tag: u32,
    /// Bytes of the message.
    pub bytes: u64,
    /// The offset of the message's contents; of a collective, that of the list of what all members
    /// contribute.
    pub contents: Offset,
    /// True if it was withdrawn, or met no message where one had to be there at once.
    pub void: bool,
}

/// The answer of the simulator, besides the completions since the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The simulated time, in picoseconds.
    pub now: u64,
    /// The number that the rank asked for.
    pub value: u64,
    /// The exit code with which the rank has to end, if it has to.
    pub end: Option<i32>,
    /// True if the rank has to say where in the program it is, and wait on.
    pub asks_place: bool,
}

impl Channel {
    /// Notes the use that the rank makes of MPI.
    pub fn note(&self, usage: MpiUse) {
        self.usage.store(usage as u32, Ordering::Release);
    }

    /// Returns the use that was noted last.
    pub fn usage(&self) -> MpiUse {
        MpiUse::from(self.usage.load(Ordering::Acquire))
    }

    /// Makes the calling process the rank if none has been it before. Returns the use that a
    /// process has made of MPI as this rank before: the caller is the rank only if that is
    /// [`MpiUse::Never`].
    pub fn claim(&self) -> MpiUse {
        let (never, now) = (MpiUse::Never as u32, MpiUse::Now as u32);
        let found = self.usage.compare_exchange(never, now, Ordering::AcqRel, Ordering::Acquire);
        MpiUse::from(found.unwrap_or_else(|found| found))
    }

    /// Sets the core where the rank is to be woken after its next turn, by the kernel's number, or
    /// any core.
    #[inline]
    pub fn meet(&self, core: Option<usize>) {
        let next = core.and_then(|core| u32::try_from(core + 1).ok());
        self.core.store(next.unwrap_or(0), Ordering::Relaxed);
    }

    /// Returns the core where the rank is to be woken.
    #[inline]
    pub fn core(&self) -> Option<usize> {
        self.core.load(Ordering::Relaxed).checked_sub(1).map(|core| core as usize)
    }

    /// Returns whether it is a side's turn.
    #[inline]
    pub fn is_turn(&self, side: u32) -> bool {
        self.turn.load(Ordering::Acquire) & !SLEEPS == side
    }

    /// Gives the turn to a side; returns whether that side sleeps, so that whoever waits for `turn`
    /// to change must be woken.
    #[inline]
    pub fn pass(&self, side: u32) -> bool {
        self.turn.swap(side, Ordering::AcqRel) & SLEEPS != 0
    }

    /// Marks a side whose turn it is not as asleep; returns the value of `turn` to wait on, or
    /// `None` if it is its turn now.
    #[inline]
    pub fn sleep(&self, side: u32) -> Option<u32> {
        let other = SIMULATORS_TURN + RANKS_TURN - side;
        let asleep = other | SLEEPS;
        let found = self.turn.compare_exchange(other, asleep, Ordering::AcqRel, Ordering::Acquire);
        (found == Ok(other) || found == Err(asleep)).then_some(asleep)
    }

    /// Appends the words that the other side has written to a list; returns whether there are more.
    /// Does nothing unless it is the turn of `side`, which is the caller's.
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

    /// Writes words for the other side, as many as there is room for; returns those that are left.
    /// Does nothing unless it is the turn of `side`, which is the caller's.
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
    /// Appends the reply as words, with completions behind it.
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

    /// Reads a reply from words, as far as they go, and gives the completions behind it to `each`.
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

    /// A side that sleeps is woken once, and only then.
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

    /// A rank is one process: it is claimed once, and not again when that process is over.
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
