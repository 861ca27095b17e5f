//! The requests of a rank, which time-independent traces name by sender, receiver and tag.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{ANY_TAG, UNKNOWN_RANK};

/// Sender, receiver and tag of a request as the trace writes them.
pub type Key = [i64; 3];

/// Requests that are open, and the keys of all that ever were.
#[derive(Debug, Default)]
pub struct Requests {
    /// Open requests of each key, oldest first. A key stays when it has none any more.
    by_key: FxHashMap<Key, VecDeque<i64>>,
    /// All open requests in the order in which they were started, with their keys.
    open: Vec<(i64, Key)>,
    last: i64,
    /// The number of calls that have completed one of the open requests without saying which.
    blind: usize,
}

/// Returns the key under which the requests of collectives of a tag are kept.
const fn collective(tag: i64) -> Key {
    [UNKNOWN_RANK, UNKNOWN_RANK, tag]
}

impl Requests {
    /// Returns the number of a new request of a message.
    pub fn add(&mut self, key: Key) -> i64 {
        self.last += 1;
        self.open.push((self.last, key));
        self.by_key.entry(key).or_default().push_back(self.last);
        self.last
    }

    /// Returns the number of a new request of a collective, which SMPI completes by this tag.
    pub fn add_collective(&mut self, tag: i64) -> i64 {
        self.add(collective(tag))
    }

    /// Takes the oldest request of a key. `None` if such a request was there and is not any more.
    pub fn take(&mut self, key: Key) -> Result<Option<i64>, String> {
        let found = self.queue(key)?.pop_front();
        if let Some(request) = found {
            self.open.retain(|(open, _)| *open != request);
        }
        Ok(found)
    }

    /// Finds the oldest request of a key, which becomes the youngest of it, as SMPI has it. `None`
    /// as for [`Self::take`].
    pub fn look(&mut self, key: Key) -> Result<Option<i64>, String> {
        let queue = self.queue(key)?;
        queue.rotate_left(1.min(queue.len()));
        Ok(queue.back().copied())
    }

    /// Returns the requests of a key. A receive may be of a sender that the trace did not say;
    /// collectives have negative tags of their own.
    fn queue(&mut self, key: Key) -> Result<&mut VecDeque<i64>, String> {
        let [sender, receiver, tag] = key;
        let unknown_sender = [UNKNOWN_RANK, receiver, tag];
        let place = if self.by_key.contains_key(&key) {
            key
        } else if tag < 0 && tag != ANY_TAG {
            collective(tag)
        } else {
            unknown_sender
        };
        let queue = self.by_key.get_mut(&place);
        queue.ok_or_else(|| format!("no open request from {sender} to {receiver} with tag {tag}"))
    }

    /// Returns the open requests.
    pub fn open(&self) -> Vec<i64> {
        self.open.iter().map(|(request, _)| *request).collect()
    }

    /// Takes all open requests.
    pub fn take_all(&mut self) -> Vec<i64> {
        let open = self.open();
        for (_, key) in self.open.drain(..) {
            self.by_key.entry(key).or_default().clear();
        }
        self.blind = 0;
        open
    }

    /// Returns the open requests, one of which is completed. Nobody knows which: they stay until
    /// all of them must be.
    pub fn one_of_all(&mut self) -> Vec<i64> {
        self.blind += 1;
        if self.blind < self.open.len() { self.open() } else { self.take_all() }
    }
}
