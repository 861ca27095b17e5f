//! The queue against a list that is searched from end to end.

use kernel::{Ready, ReadyQueue};
use proptest::prelude::*;
use units::Time;

/// `count` entries with consecutive orders that may start at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    ready: u64,
    order: u64,
    count: u64,
}

impl Ready for Run {
    type Order = u64;

    fn ready(&self) -> Time {
        Time::from_ps(self.ready)
    }

    fn order(&self) -> u64 {
        self.order
    }

    fn split(&mut self) -> Option<Self> {
        if self.count == 1 {
            return None;
        }
        let first = Self { count: 1, ..*self };
        self.order += 1;
        self.count -= 1;
        Some(first)
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// An entry that may start so much after the resource is free, or before.
    Push { after: i64, order: u8, count: u8 },
    /// Takes an entry, and uses the resource for so long.
    Pop { busy: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (-6..20i64, 0..4u8, 1..4u8).prop_map(|(after, order, count)| Step::Push {
        after,
        order,
        count,
    });
    let pop = (0..6u8).prop_map(|busy| Step::Pop { busy });
    prop::collection::vec(prop_oneof![3 => push, 2 => pop], 1..400)
}

/// The entry that could start first if the resource is free from `free` on; of several that could
/// start at the same time, the first in order.
fn first(list: &[(u64, u64)], free: u64) -> Option<usize> {
    (0..list.len()).min_by_key(|&at| (list[at].0.max(free), list[at].1))
}

proptest! {
    #[test]
    fn like_a_list(steps in steps()) {
        let mut queue = ReadyQueue::<Run>::default();
        let mut list: Vec<(u64, u64)> = Vec::new();
        let (mut free, mut pushed) = (10u64, 0u64);
        for step in steps {
            match step {
                Step::Push { after, order, count } => {
                    // Four interleaved sequences of orders: later pushes often come earlier.
                    pushed += 1;
                    let order = (u64::from(order) * 1000 + pushed) * 10;
                    let ready = free.saturating_add_signed(after);
                    queue.push(Run { ready, order, count: u64::from(count) });
                    list.extend((0..u64::from(count)).map(|i| (ready, order + i)));
                }
                Step::Pop { busy } => {
                    let expected = first(&list, free).map(|at| list.swap_remove(at));
                    let start = expected.map(|(ready, order)| (ready.max(free), order));
                    let head = queue.head(Time::from_ps(free)).map(|(time, o)| (time.ps(), o));
                    prop_assert_eq!(head, start);
                    let popped = queue.pop(Time::from_ps(free));
                    prop_assert_eq!(popped.map(|run| (run.ready, run.order)), expected);
                    free = start.map_or(free, |(time, _)| time) + u64::from(busy);
                }
            }
            prop_assert_eq!(queue.is_empty(), list.is_empty());
            let left: u64 = queue.iter().map(|run| run.count).sum();
            prop_assert_eq!(left, list.len() as u64);
        }
    }
}

/// In order on both counts the queue is a FIFO, over many of its pieces.
#[test]
fn a_long_fifo() {
    let mut queue = ReadyQueue::default();
    for order in 0..1000 {
        queue.push(Run { ready: order / 10, order, count: 1 });
    }
    for order in 0..1000 {
        assert_eq!(queue.head(Time::ZERO), Some((Time::from_ps(order / 10), order)));
        assert_eq!(queue.pop(Time::ZERO).map(|run| run.order), Some(order));
    }
    assert!(queue.is_empty());
    assert_eq!(queue.head(Time::ZERO), None);
    assert_eq!(queue.pop(Time::ZERO), None);
}

/// Before the resource is free, order decides; after that, time does.
#[test]
fn order_decides_among_those_that_wait() {
    let mut queue = ReadyQueue::default();
    for (ready, order) in [(5, 3), (2, 7), (9, 1)] {
        queue.push(Run { ready, order, count: 1 });
    }
    // Free at 6: those of 5 and 2 could have started, and 3 comes before 7. The one of 9 comes
    // last.
    for (ready, order) in [(5, 3), (2, 7), (9, 1)] {
        assert_eq!(queue.head(Time::from_ps(6)), Some((Time::from_ps(ready.max(6)), order)));
        assert_eq!(queue.pop(Time::from_ps(6)).map(|run| run.order), Some(order));
    }
}
