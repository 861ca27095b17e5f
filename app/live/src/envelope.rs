//! Envelopes of messages: what receivers learn of them besides who sent them.

use rank_ipc::Offset;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The information on a message that its receiver gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// One that the program receives; whether its sender waits for an answer.
    Message { tag: u32, contents: Offset, answer: bool },
    /// A request that no program receives, and bytes of the answer.
    Request { answer: u64 },
}

impl Envelope {
    /// Bytes of the answer that the sender waits for, if it does.
    pub const fn answer(self) -> Option<u64> {
        match self {
            Self::Message { answer: true, .. } => Some(0),
            Self::Message { .. } => None,
            Self::Request { answer } => Some(answer),
        }
    }
}

/// The envelopes of a rank's messages that their receivers have yet to learn, by operation.
#[derive(Debug, Default)]
pub struct Envelopes {
    /// The envelopes, as long as they are few.
    few: SmallVec<[(u32, Envelope); FEW]>,
    many: Option<Box<FxHashMap<u32, Envelope>>>,
}

/// The number of envelopes that a rank keeps in a short list, which takes no more than four lines
/// of the cache.
const FEW: usize = 6;

impl Envelopes {
    /// A message is sent.
    pub fn put(&mut self, index: u32, envelope: Envelope) {
        if self.few.len() < FEW {
            self.few.push((index, envelope));
        } else {
            self.many.get_or_insert_default().insert(index, envelope);
        }
    }

    /// It has met its receive.
    pub fn take(&mut self, index: u32) -> Option<Envelope> {
        match self.few.iter().position(|(known, _)| *known == index) {
            Some(place) => Some(self.few.swap_remove(place).1),
            None => self.many.as_mut()?.remove(&index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is there once, whatever the order in which they are taken, few or many.
    #[test]
    fn each_once() {
        let of = |bytes| Envelope::Request { answer: bytes };
        for count in [1, FEW as u32, 100] {
            let mut all = Envelopes::default();
            for round in 0..3 {
                (0..count).for_each(|index| all.put(index.wrapping_sub(2), of(u64::from(index))));
                for index in (0..count).map(|index| (index * 7 + round) % count) {
                    let expected = Some(of(u64::from(index)));
                    assert_eq!(all.take(index.wrapping_sub(2)), expected, "{count}");
                    assert_eq!(all.take(index.wrapping_sub(2)), None, "{count}");
                }
            }
        }
    }
}
