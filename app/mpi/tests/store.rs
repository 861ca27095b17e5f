//! The store against a plain list searched from the front.

use mpi::{ANY, Store, Tag};
use proptest::prelude::*;

fn equal(a: u32, b: u32) -> bool {
    a == b || a == ANY || b == ANY
}

/// The definition: the first entry of a list that matches.
fn take(list: &mut Vec<(u32, u32, u32)>, source: u32, tag: u32) -> Option<u32> {
    let at = list.iter().position(|e| equal(e.0, source) && equal(e.1, tag))?;
    Some(list.remove(at).2)
}

fn field() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..4, 1 => Just(ANY)]
}

proptest! {
    #[test]
    fn equals_a_list(
        steps in prop::collection::vec((0u8..5, field(), field()), 0..400),
        bias in 1u8..5,
    ) {
        let (mut store, mut list) = (Store::default(), Vec::new());
        for (number, (what, source, tag)) in (0..).zip(steps) {
            if what < bias {
                store.insert(source, tag, number);
                list.push((source, tag, number));
            } else {
                prop_assert_eq!(
                    store.peek(source, tag).copied(), take(&mut list.clone(), source, tag)
                );
                prop_assert_eq!(store.take(source, tag), take(&mut list, source, tag));
            }
            prop_assert_eq!(store.len(), list.len());
        }
        let mut left: Vec<u32> = store.iter().map(|(.., value)| *value).collect();
        left.sort_unstable();
        prop_assert_eq!(left, list.iter().map(|e| e.2).collect::<Vec<_>>());
    }
}

/// Receives from A, from anyone, from A; messages from B, A, A: the wildcard takes B's.
#[test]
fn wildcard_takes_what_comes_first() {
    let mut posted = Store::default();
    posted.insert(0, 7, 'x');
    posted.insert(ANY, 7, 'y');
    posted.insert(0, 7, 'z');
    assert_eq!(posted.take(1, 7), Some('y'));
    assert_eq!(posted.take(0, 7), Some('x'));
    assert_eq!(posted.take(0, 7), Some('z'));
    assert!(posted.is_empty());
}

/// A wildcard tag takes the first message of its own context, however many wait in another.
#[test]
fn contexts_are_kept_apart() {
    for others in [1, 100] {
        let mut unexpected = Store::default();
        for tag in 0..others {
            unexpected.insert(0, Tag { context: 1, tag }, tag);
        }
        unexpected.insert(0, Tag { context: 2, tag: 5 }, 1000);
        assert_eq!(unexpected.take(ANY, Tag { context: 3, tag: ANY }), None);
        assert_eq!(unexpected.take(ANY, Tag { context: 2, tag: ANY }), Some(1000));
        assert_eq!(unexpected.take(0, Tag { context: 1, tag: ANY }), Some(0));
        assert_eq!(unexpected.len() as u32, others - 1);
    }
}
