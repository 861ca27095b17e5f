//! The numbers of communicators.
//!
//! A number is computed from a key that the members of the new communicator share and nobody else
//! uses: what is made, of which communicator, and how often that was done before. So no rank has to
//! ask another one for it, it is the same in every run, and it does not depend on threads. Two keys
//! give the same number with a probability of 2^-64: of a million communicators, two share a number
//! in one run of 37 million.

use super::{Group, OWN};
use crate::state::mpi;

/// Returns the number for a key.
pub fn number(key: &[u64]) -> u64 {
    let length = key.len() as u64;
    let mixed = key.iter().fold(mix(length), |state, word| mix(state ^ mix(*word)));
    // The first numbers are those of predefined communicators.
    mixed.max(OWN + 1)
}

/// Returns the number for something that is made outside of any communicator's order, as often as
/// this rank has asked with the key.
pub fn next_number(key: &[u64]) -> u64 {
    number(&[key, &[mpi().comms.again(key)]].concat())
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) behind its increment.
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Returns a number and a group as bytes, for ranks that are not told otherwise.
pub fn encoded(context: u64, group: &Group) -> Vec<u8> {
    let mut bytes = context.to_le_bytes().to_vec();
    bytes.extend(group.iter().flat_map(u32::to_le_bytes));
    bytes
}

/// Returns the number and the group in such bytes.
pub fn decoded(bytes: &[u8]) -> Option<(u64, Group)> {
    let (context, members) = bytes.split_first_chunk()?;
    let (members, _) = members.as_chunks();
    let members = members.iter().map(|rank| u32::from_le_bytes(*rank)).collect();
    Some((u64::from_le_bytes(*context), Group::of(members)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of SplitMix64 with seed 0, as published with its reference code.
    #[test]
    fn known_answers() {
        let increment = 0x9e37_79b9_7f4a_7c15_u64;
        let outputs = [0, 1, 2].map(|step| mix(increment.wrapping_mul(step)));
        let published = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(outputs, published);
    }

    /// Keys that differ in one small word, in order, or in length have different numbers.
    #[test]
    #[cfg_attr(miri, ignore = "a million numbers take Miri an hour")]
    fn keys_are_told_apart() {
        let mut seen = std::collections::BTreeSet::new();
        for purpose in 0..10 {
            for parent in 0..100 {
                for time in 0..100 {
                    assert!(seen.insert(number(&[purpose, parent, time])));
                }
            }
        }
        assert!(seen.insert(number(&[1, 2])) && seen.insert(number(&[1, 2, 3, 0])));
        assert!(seen.iter().all(|number| *number > OWN));
    }

    #[test]
    fn groups_come_back() {
        let group = Group::of(vec![3, 1, 2]);
        let (context, back) = decoded(&encoded(1 << 40, &group)).unwrap();
        assert_eq!((context, back.iter().collect::<Vec<_>>()), (1 << 40, vec![3, 1, 2]));
        assert!(decoded(&[0; 7]).is_none());
    }
}
