//! A queue of entries that wait for the same resource.
//!
//! An entry has the time from which it may start and an order. Once the resource is free at time f,
//! the entries that could have started by f compete by order alone; before that, the earliest goes
//! first. Entries usually come in both orders at once, and then the queue is a plain FIFO; only
//! those that do not pass through heaps.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use units::Time;

use crate::prefetch;

/// An entry of a [`ReadyQueue`]. Its time and order must not change while it waits.
pub trait Ready {
    /// The key that decides between entries that could start at the same time.
    type Order: Ord + Copy;

    /// Returns the time from which it may start.
    fn ready(&self) -> Time;

    /// Returns its order; no two entries of a queue have the same.
    fn order(&self) -> Self::Order;

    /// Takes out the first of several entries for which this one stands, and leaves the rest, which
    /// may start at the same time and directly follows in order. `None` if it stands for itself.
    fn split(&mut self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Entries that wait for a resource, in the order that the module describes.
#[derive(Debug)]
pub struct ReadyQueue<T> {
    fifo: Fifo<T>,
    strays: Option<Box<Strays<T>>>,
}

/// A queue in pieces, so that a long one grows without being moved and gives back what is read.
#[derive(Debug)]
struct Fifo<T> {
    first: VecDeque<T>,
    /// Pieces behind the first, each full but for the last. Few queues have any, and most of many
    /// ranks' are short.
    #[expect(clippy::box_collection, reason = "a word where there are none")]
    rest: Option<Box<VecDeque<VecDeque<T>>>>,
}

/// Entries per piece.
const PIECE: usize = 48;
/// Entries for which there is room at first: most queues of many ranks have no more at a time.
const FIRST: usize = 2;

impl<T> Fifo<T> {
    const fn new() -> Self {
        Self { first: VecDeque::new(), rest: None }
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    fn front(&self) -> Option<&T> {
        self.first.front()
    }

    fn front_mut(&mut self) -> Option<&mut T> {
        self.first.front_mut()
    }

    fn back(&self) -> Option<&T> {
        self.rest.as_ref().and_then(|rest| rest.back()).unwrap_or(&self.first).back()
    }

    #[inline]
    fn push_back(&mut self, entry: T) {
        let last = self.rest.as_mut().and_then(|rest| rest.back_mut()).unwrap_or(&mut self.first);
        if last.len() < PIECE {
            if last.capacity() == 0 {
                last.reserve_exact(FIRST);
            }
            last.push_back(entry);
        } else {
            let mut piece = VecDeque::with_capacity(PIECE);
            piece.push_back(entry);
            self.rest.get_or_insert_default().push_back(piece);
        }
    }

    #[inline]
    fn pop_front(&mut self) -> Option<T> {
        let entry = self.first.pop_front();
        if self.first.is_empty()
            && let Some(piece) = self.rest.as_mut().and_then(|rest| rest.pop_front())
        {
            self.first = piece;
        }
        entry
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.rest.iter().flat_map(|rest| rest.iter().flatten()))
    }
}

/// Entries that came out of order.
#[derive(Debug)]
struct Strays<T> {
    /// Not known to be able to start: by (time, order).
    early: BinaryHeap<Reverse<Early<T>>>,
    /// Known to be able to start: by order.
    due: BinaryHeap<Reverse<Due<T>>>,
}

#[derive(Debug)]
struct Early<T>(T);
#[derive(Debug)]
struct Due<T>(T);

macro_rules! ordered {
    ($name:ident, $key:expr) => {
        impl<T: Ready> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }
        impl<T: Ready> Eq for $name<T> {}
        impl<T: Ready> PartialOrd for $name<T> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl<T: Ready> Ord for $name<T> {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                $key(&self.0).cmp(&$key(&other.0))
            }
        }
    };
}

ordered!(Early, |entry: &T| (entry.ready(), entry.order()));
ordered!(Due, T::order);

impl<T> Default for ReadyQueue<T> {
    fn default() -> Self {
        Self { fifo: Fifo::new(), strays: None }
    }
}

impl<T: Ready> ReadyQueue<T> {
    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: T) {
        match self.fifo.back() {
            Some(last) if entry.ready() < last.ready() || entry.order() < last.order() => {
                let strays = self.strays.get_or_insert_with(|| {
                    Box::new(Strays { early: BinaryHeap::new(), due: BinaryHeap::new() })
                });
                strays.early.push(Reverse(Early(entry)));
            }
            _ => self.fifo.push_back(entry),
        }
    }

    /// Returns true if some entries came out of order, so that the next one must be asked of
    /// [`ReadyQueue::head`].
    #[inline]
    pub fn has_strays(&self) -> bool {
        self.strays.is_some()
    }

    /// The first of the entries that came in order: from when it may start, and its order.
    #[inline]
    pub fn front(&self) -> Option<(Time, T::Order)> {
        self.fifo.front().map(|entry| (entry.ready(), entry.order()))
    }

    /// The first of the entries that came in order.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        self.fifo.front()
    }

    /// Returns that entry to be changed, in a way that leaves its place in the order alone.
    #[inline]
    pub fn peek_mut(&mut self) -> Option<&mut T> {
        self.fifo.front_mut()
    }

    /// Removes the first of the entries that came in order, all that it stands for.
    #[inline]
    pub fn remove_first(&mut self) -> Option<T> {
        self.fifo.pop_front()
    }

    /// Prefetches the entries at both ends.
    #[inline]
    pub fn prefetch(&self) {
        for entry in [self.fifo.front(), self.fifo.back()].into_iter().flatten() {
            prefetch(entry);
        }
    }

    /// Returns true if nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.fifo.is_empty() && self.strays.is_none()
    }

    /// Returns the time at which the next entry starts if the resource is free from `free` on, and
    /// the order of that entry.
    #[inline]
    pub fn head(&mut self, free: Time) -> Option<(Time, T::Order)> {
        let first = self.fifo.front().map(|entry| (entry.ready().max(free), entry.order()));
        if self.strays.is_none() {
            return first;
        }
        [first, self.stray_head(free)].into_iter().flatten().min()
    }

    #[cold]
    fn stray_head(&mut self, free: Time) -> Option<(Time, T::Order)> {
        let strays = self.strays.as_mut()?;
        while strays.early.peek().is_some_and(|entry| entry.0.0.ready() <= free) {
            if let Some(Reverse(Early(entry))) = strays.early.pop() {
                strays.due.push(Reverse(Due(entry)));
            }
        }
        let due = strays.due.peek().map(|entry| (free, entry.0.0.order()));
        due.or_else(|| strays.early.peek().map(|e| (e.0.0.ready(), e.0.0.order())))
    }

    /// Removes the entry that [`ReadyQueue::head`] describes.
    #[inline]
    pub fn pop(&mut self, free: Time) -> Option<T> {
        if self.strays.is_some() {
            let first = self.fifo.front().map(|entry| (entry.ready().max(free), entry.order()));
            let stray = self.stray_head(free);
            if stray.is_some() && (first.is_none() || stray < first) {
                return self.pop_stray();
            }
        }
        match self.fifo.front_mut()?.split() {
            Some(entry) => Some(entry),
            None => self.fifo.pop_front(),
        }
    }

    #[cold]
    fn pop_stray(&mut self) -> Option<T> {
        let strays = self.strays.as_mut()?;
        let entry = if let Some(mut top) = strays.due.peek_mut() {
            match top.0.0.split() {
                Some(entry) => Some(entry),
                None => Some(std::collections::binary_heap::PeekMut::pop(top).0.0),
            }
        } else {
            let mut top = strays.early.peek_mut()?;
            match top.0.0.split() {
                Some(entry) => Some(entry),
                None => Some(std::collections::binary_heap::PeekMut::pop(top).0.0),
            }
        };
        if strays.due.is_empty() && strays.early.is_empty() {
            self.strays = None;
        }
        entry
    }

    /// Returns the entries in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let strays = self.strays.iter().flat_map(|strays| {
            let early = strays.early.iter().map(|entry| &entry.0.0);
            early.chain(strays.due.iter().map(|entry| &entry.0.0))
        });
        self.fifo.iter().chain(strays)
    }
}
