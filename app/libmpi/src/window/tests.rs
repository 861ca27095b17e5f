//! Tests of the order in which calls may follow each other (MPI 4.1, sections 12.5 and 12.5.6).

use super::epoch::{Access, Epoch};
use crate::abi;

/// Tells of each call whether it is in order after those before it.
fn in_order(calls: &[fn(&mut Epoch) -> crate::Result]) -> Vec<bool> {
    let mut epoch = Epoch::default();
    calls.iter().map(|call| call(&mut epoch).is_ok()).collect()
}

fn access(epoch: &mut Epoch) -> crate::Result {
    epoch.access(1, false)
}

fn lock(epoch: &mut Epoch) -> crate::Result {
    epoch.lock(1)?;
    epoch.locked(1, true);
    Ok(())
}

fn unlock(epoch: &mut Epoch) -> crate::Result {
    epoch.unlock(1).map(|_| ())
}

fn fence(epoch: &mut Epoch) -> crate::Result {
    epoch.fence(0)
}

#[test]
fn accesses_need_an_epoch() {
    assert_eq!(in_order(&[access]), [false]);
    assert_eq!(in_order(&[fence, access, fence]), [true; 3]);
    assert_eq!(in_order(&[lock, access, unlock, access]), [true, true, true, false]);
    assert_eq!(in_order(&[|epoch| epoch.fence(abi::MODE_NOSUCCEED), access]), [true, false]);
}

/// A fence may end an epoch and begin the next one: which it does shows only when the next call
/// comes.
#[test]
fn a_lock_after_a_fence() {
    assert_eq!(in_order(&[fence, lock, unlock]), [true; 3]);
    assert_eq!(in_order(&[fence, access, lock]), [true, true, false]);
    assert_eq!(in_order(&[fence, access, fence, lock]), [true; 4]);
    let opens = |epoch: &mut Epoch| epoch.fence(abi::MODE_NOPRECEDE);
    assert_eq!(in_order(&[opens, lock, unlock]), [true; 3]);
    assert_eq!(in_order(&[opens, |epoch| epoch.post(vec![0])]), [true; 2]);
    assert_eq!(in_order(&[opens, access, lock]), [true, true, false]);
}

#[test]
fn a_rank_is_locked_once() {
    assert_eq!(in_order(&[lock, lock]), [true, false]);
    assert_eq!(in_order(&[lock, |epoch| epoch.lock(0)]), [true, true]);
    assert_eq!(in_order(&[lock, fence]), [true, false]);
    assert_eq!(in_order(&[unlock]), [false]);
}

#[test]
fn a_window_is_not_freed_in_an_epoch() {
    assert_eq!(in_order(&[fence, Epoch::free]), [true, true]);
    assert_eq!(in_order(&[lock, Epoch::free, unlock, Epoch::free]), [true, false, true, true]);
    let post = |epoch: &mut Epoch| epoch.post(vec![0]);
    assert_eq!(in_order(&[post, Epoch::free]), [true, false]);
    assert_eq!(in_order(&[post, post]), [true, false]);
    assert_eq!(in_order(&[post, fence]), [true, false]);
}

/// Of the ranks of the group only; and not with a request, for which there must be a lock.
#[test]
fn accesses_in_the_epoch_of_a_group() {
    let mut epoch = Epoch { access: Access::Start(vec![1]), ..Epoch::default() };
    assert!(epoch.access(1, false).is_ok());
    assert!(epoch.access(2, false).is_err());
    assert!(epoch.access(1, true).is_err());
    assert!(epoch.begin().is_err());
}
