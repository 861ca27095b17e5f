//! The hosts of ranks, for all ranks to read.

use std::sync::atomic::Ordering;

use crate::arena::{Arena, Full};
use crate::{Memory, Offset};

/// Offset of the word that holds the offset of the table: in the first page, which is otherwise
/// empty.
const TABLE: Offset = 8;

/// The hosts of ranks, by numbers of their own, and their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The host of each rank.
    pub of: Vec<u32>,
    /// The names of hosts.
    pub names: Vec<String>,
}

impl Hosts {
    /// Writes the table where ranks look for it, before any rank runs. Without it, each rank is
    /// alone on a host.
    pub fn publish(&self, memory: &Memory, arena: &mut Arena) -> Result<(), Full> {
        let heads = self.of.len() + self.names.len();
        let mut words: Vec<u64> = self.of.iter().copied().map(u64::from).collect();
        let mut text = Vec::new();
        for name in &self.names {
            // The index of its first word, and its length in bytes.
            words.push((heads + text.len()) as u64 | (name.len() as u64) << 32);
            text.extend(
                name.as_bytes().chunks(8).map(|part| {
                    part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
                }),
            );
        }
        words.extend(text);
        let table = arena.allocate(8 * words.len() as u64)?;
        for (place, word) in (table..).step_by(8).zip(words) {
            memory.word(place).store(word, Ordering::Relaxed);
        }
        memory.word(TABLE).store(table, Ordering::Release);
        Ok(())
    }
}

/// Returns an entry of the table, if there is one.
fn entry(memory: &Memory, index: u64) -> Option<u64> {
    let table = memory.word(TABLE).load(Ordering::Acquire);
    (table != 0).then(|| memory.word(table + 8 * index).load(Ordering::Relaxed))
}

/// Returns the number of a rank's host, if hosts are known.
pub fn host(memory: &Memory, rank: u32) -> Option<u32> {
    entry(memory, rank.into())?.try_into().ok()
}

/// Returns the name of a rank's host, if hosts are known.
pub fn name(memory: &Memory, rank: u32) -> Option<String> {
    let host = host(memory, rank)?;
    let head = entry(memory, u64::from(memory.layout().ranks()) + u64::from(host))?;
    let (first, length) = (head & u64::from(u32::MAX), head >> 32);
    let words = (first..first + length.div_ceil(8)).filter_map(|index| entry(memory, index));
    let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    bytes.truncate(length as usize);
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_can_be_read() {
        let (memory, _file) = Memory::new(3).expect("memory");
        let mut arena = Arena::new(memory, 3);
        assert_eq!((host(&memory, 0), name(&memory, 0)), (None, None));
        let names = ["n", "node-11.cluster.example"].map(str::to_owned);
        let hosts = Hosts { of: vec![1, 0, 1], names: names.to_vec() };
        hosts.publish(&memory, &mut arena).expect("room");
        assert_eq!([0, 1, 2].map(|rank| host(&memory, rank)), [Some(1), Some(0), Some(1)]);
        let read = [0, 1, 2].map(|rank| name(&memory, rank).expect("a name"));
        assert_eq!(read, ["node-11.cluster.example", "n", "node-11.cluster.example"]);
    }
}
