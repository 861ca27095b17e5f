//! The means by which workers wait for each other, under loom: each test runs for every order of
//! its threads' steps that makes a difference, up to a number of preemptions.
//!
//! The files under test are the kernel's own. They take their atomics and locks from `crate::sync`,
//! which is loom's here.

mod sync;
mod transport;

#[path = "../../src/bell.rs"]
#[allow(
    clippy::reversed_empty_ranges,
    clippy::absurd_extreme_comparisons,
    reason = "workers do not look again here"
)]
mod bell;

use bell::Bell;
use loom::thread;
use sync::{AtomicUsize, Ordering};
use transport::{Bounds, Lanes, Meeting, Route};
use units::Time;

/// Checks a test with as many preemptions as a lost wake-up or a set that is reused too early
/// takes: each more multiplies the time.
fn every_order(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(test);
}

/// Runs one thread for each number; the last one is the calling thread.
fn threads<T: Send + Sync + 'static>(shared: T, count: usize, work: fn(&T, usize)) {
    let shared = loom::sync::Arc::new(shared);
    let others: Vec<_> = (0..count - 1)
        .map(|me| {
            let shared = shared.clone();
            thread::spawn(move || work(&shared, me))
        })
        .collect();
    work(&shared, count - 1);
    for other in others {
        other.join().expect("no panic");
    }
}

/// Nobody sleeps for ever: whoever stores first and rings then wakes all that wait for the store.
#[test]
fn a_bell_wakes_all_sleepers() {
    for waiting in [1, 2] {
        every_order(move || {
            let shared = (Bell::new(), AtomicUsize::new(0));
            threads(shared, waiting + 1, |(bell, stored), me| {
                if me == 0 {
                    stored.store(1, Ordering::Release);
                    bell.ring();
                } else {
                    bell.wait(|| stored.load(Ordering::Acquire) == 1);
                }
            });
        });
    }
}

fn bounds(worker: usize, turn: usize) -> Bounds {
    let earliest = Time::from_ps((10 * turn + worker) as u64);
    Bounds { earliest, end: Time::from_ps(1000 - earliest.ps()), ..Bounds::NONE }
}

/// Both workers get the join of both bounds of every turn, also when the sets are used again.
#[test]
fn workers_agree_in_every_turn() {
    every_order(|| {
        threads(Meeting::new(2), 2, |meeting, me| {
            for turn in 0..6 {
                let all = meeting.agree(turn, 0, me, bounds(me, turn));
                assert_eq!(all, bounds(0, turn).join(bounds(1, turn)));
            }
        });
    });
}

/// With a lag of one they get those of the turn before, and a worker that is ahead overwrites
/// nothing that the other still reads.
#[test]
fn workers_agree_a_turn_later() {
    every_order(|| {
        threads(Meeting::new(2), 2, |meeting, me| {
            for turn in 0..7 {
                let all = meeting.agree(turn, 1, me, bounds(me, turn));
                let expected = match turn.checked_sub(1) {
                    Some(before) => bounds(0, before).join(bounds(1, before)),
                    None => Bounds::START,
                };
                assert_eq!(all, expected);
            }
        });
    });
}

/// Everything that is posted in a turn arrives in that turn, once, and its buffer comes back.
#[test]
fn lanes_carry_everything_once() {
    every_order(|| {
        threads((Meeting::new(2), Lanes::new(2)), 2, |(meeting, lanes), me| {
            let (mut spare, mut got) = (Vec::new(), Vec::new());
            for turn in 0..5 {
                let (there, here) =
                    (Route { from: me, to: 1 - me }, Route { from: 1 - me, to: me });
                lanes.post(turn, there, &mut vec![vec![10 * turn + me]], &mut spare);
                meeting.agree(turn, 0, me, Bounds::NONE);
                lanes.collect(turn, here, &mut spare, |item: Vec<usize>, spare| {
                    got.extend_from_slice(&item);
                    spare.push(item);
                });
            }
            let expected: Vec<_> = (0..5).map(|turn| 10 * turn + 1 - me).collect();
            assert_eq!(got, expected);
        });
    });
}

/// Worker 1 goes on when worker 0 has run its window of the turn; worker 0 when worker 1 has run
/// that of the turn before, even where the bounds are used a turn later.
#[test]
fn windows_are_run_in_order() {
    for lag in [0, 1] {
        every_order(move || {
            let shared = (Meeting::new(2), AtomicUsize::new(0), lag);
            threads(shared, 2, |(meeting, steps, lag), me| {
                for turn in 0..3 {
                    meeting.agree(turn, *lag, me, Bounds::NONE);
                    meeting.in_order(turn, me);
                    assert_eq!(steps.load(Ordering::Acquire), 2 * turn + me);
                    steps.store(2 * turn + me + 1, Ordering::Release);
                }
                meeting.agree(3, *lag, me, Bounds::NONE);
            });
        });
    }
}

/// Nobody waits for a worker that has abandoned the others: it panics instead.
#[test]
fn nobody_waits_for_an_abandoned_run() {
    every_order(|| {
        threads(Meeting::new(2), 2, |meeting, me| {
            if me == 0 {
                meeting.abandon();
            } else {
                let waits = || meeting.agree(0, 0, me, Bounds::NONE);
                let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(waits));
                assert!(ended.is_err());
            }
        });
    });
}
