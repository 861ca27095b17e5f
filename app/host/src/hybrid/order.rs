//! Messages of a rank to another that arrive in the order in which they set out.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Messages under way, by source and destination.
#[derive(Debug, Default)]
pub struct Order {
    ways: FxHashMap<(u32, u32), VecDeque<UnderWay>>,
}

#[derive(Debug)]
struct UnderWay {
    number: u32,
    is_there: bool,
}

impl Order {
    /// A message sets out.
    pub fn sets_out(&mut self, way: (u32, u32), number: u32) {
        self.ways.entry(way).or_default().push_back(UnderWay { number, is_there: false });
    }

    /// The last byte of a message is there; gives the messages that have arrived with that.
    pub fn arrives(&mut self, way: (u32, u32), number: u32) -> Vec<u32> {
        let mut arrived = Vec::new();
        let Some(queue) = self.ways.get_mut(&way) else { return arrived };
        if let Some(message) = queue.iter_mut().find(|message| message.number == number) {
            message.is_there = true;
        }
        while queue.front().is_some_and(|first| first.is_there) {
            arrived.extend(queue.pop_front().map(|first| first.number));
        }
        if queue.is_empty() {
            self.ways.remove(&way);
        }
        arrived
    }
}
