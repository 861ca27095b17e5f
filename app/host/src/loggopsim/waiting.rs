//! The global heap of the imitation: events by time, order and rank.

use units::Time;

use crate::clocks::Class;
use crate::queues::{Entry, Order};

/// An event in the global heap.
pub struct Waiting {
    pub time: Time,
    pub order: Order,
    pub rank: u32,
    pub class: Class,
    pub entry: Entry,
}

impl Waiting {
    fn key(&self) -> (Time, Order, u32) {
        (self.time, self.order, self.rank)
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}
