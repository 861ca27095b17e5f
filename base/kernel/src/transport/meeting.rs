//! The place where threads publish their bounds and wait for those of others.

use super::bounds::Bounds;
use crate::bell::Bell;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The number of sets of bounds and lanes, used in turn. With a lag of one, a worker that publishes
/// bounds for turn t has read those of all others for turn t - 2. Before they published those, they
/// had read everything of turn t - 4; later sets they may still be reading.
pub const SETS: usize = 4;

/// The bounds that one worker has published last. Each has a cache line, and the one that is
/// fetched with it, to itself, so that a writer does not disturb the readers of another.
#[repr(align(128))]
struct PublishedBounds {
    /// The turn that these bounds are for, plus one; written last.
    turn: AtomicUsize,
    words: [AtomicU64; Bounds::WORDS],
}

impl PublishedBounds {
    fn new() -> Self {
        let words = std::array::from_fn(|_| AtomicU64::new(0));
        Self { turn: AtomicUsize::new(0), words }
    }

    fn publish(&self, turn: usize, bounds: Bounds) {
        let words = self.words.iter().zip(bounds.words());
        words.for_each(|(published, word)| published.store(word, Ordering::Relaxed));
        self.turn.store(turn + 1, Ordering::Release);
    }

    fn has_published(&self, turn: usize) -> bool {
        self.turn.load(Ordering::Acquire) == turn + 1
    }

    fn read(&self) -> Bounds {
        Bounds::from_words(self.words.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }
}

/// The meeting of all workers of a run.
pub struct Meeting {
    published: [Vec<PublishedBounds>; SETS],
    abandoned: AtomicBool,
    bell: Bell,
}

impl Meeting {
    pub fn new(workers: usize) -> Self {
        let published = |_| (0..workers).map(|_| PublishedBounds::new()).collect();
        Self {
            published: std::array::from_fn(published),
            abandoned: AtomicBool::new(false),
            bell: Bell::new(),
        }
    }

    pub fn workers(&self) -> usize {
        self.published[0].len()
    }

    /// See [`super::Transport::agree`].
    pub fn agree(&self, turn: usize, lag: usize, me: usize, mine: Bounds) -> Bounds {
        if self.workers() == 1 {
            return mine;
        }
        self.published[turn % SETS][me].publish(turn, mine);
        self.bell.ring();
        let Some(turn) = turn.checked_sub(lag) else { return Bounds::START };
        self.published[turn % SETS].iter().fold(Bounds::NONE, |all, published| {
            self.wait_for(published, turn);
            all.join(published.read())
        })
    }

    /// See [`super::Transport::in_order`].
    pub fn in_order(&self, turn: usize, me: usize) {
        // A worker that has published bounds for a turn has run its window of the turn before.
        for published in self.published[(turn + 1) % SETS].iter().take(me) {
            self.wait_for(published, turn + 1);
        }
        for published in self.published[turn % SETS].iter().skip(me + 1) {
            self.wait_for(published, turn);
        }
    }

    /// See [`super::Transport::abandon`].
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        self.bell.ring();
    }

    fn wait_for(&self, published: &PublishedBounds, turn: usize) {
        let is_abandoned = || self.abandoned.load(Ordering::Acquire);
        self.bell.wait(|| published.has_published(turn) || is_abandoned());
        assert!(published.has_published(turn), "another worker has panicked");
    }
}
