//! Rails that have become slower, as a host notices them: a message leaves it later than it should.
//!
//! The rule is that of the component for Open MPI (`openmpi/c/confirm.c`). A message that takes
//! more than twice as long as the scheduler's times say shows that bytes take as many times longer
//! on its rail; a quarter of a second later a message tries whether they still do. The component
//! has to wait until receivers confirm what has arrived, and to find out whether they were
//! looking; here the interface tells when a message has left, whatever the receiver does.

use std::collections::VecDeque;

use ::rails::{MOST_RAILS, Ticks};
use network::insert_by_time;
use rustc_hash::FxHashMap;
use units::Time;

use crate::rails::{Rail, ticks};

/// A rail counts as slower beyond this factor.
const SLOWER: u64 = 2;

/// A rail that was found slower is tried again after this time.
const AGAIN: Time = Time::from_ps(250_000_000_000);

/// A message on one rail that has not left, as far as its host knows.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    rail: u8,
    /// G of the rail, as far as was known when the message was sent.
    rate: u64,
    /// The time at which its send began.
    begins: Time,
    /// The time that it should take from then until it has left.
    expected: Ticks,
}

/// A rail, as far as it was found to be slower.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// G where it is more than the parameters say; 0 where not.
    slower: u64,
    /// The time at which that was found, or last tried.
    since: Time,
}

/// The state of a host that notices how fast its rails are.
#[derive(Debug, Default)]
pub struct Notices {
    /// Messages that have not left, by the slot of their rank and their number there.
    open: FxHashMap<(u8, u32), Open>,
    /// Messages that have left, at times that may lie ahead, in the order of these.
    left: VecDeque<(Time, Open)>,
    rails: [Known; MOST_RAILS],
}

impl Notices {
    /// Returns G of a rail as far as is known at a time, or as its parameters say if it is to be
    /// tried again.
    pub fn rate(&self, rail: usize, known: &Rail, at: Time) -> u64 {
        let Known { slower, since } = self.rails[rail];
        let tries = at >= since.saturating_add(AGAIN);
        if slower == 0 || tries { known.parameters.gap_per_byte } else { slower }
    }

    /// Returns a message whose send begins at `at`, on a rail that will be free again at `finish`.
    pub fn chosen(&mut self, rail: u8, known: &Rail, at: Time, finish: Ticks) -> Open {
        let rate = self.rate(usize::from(rail), known, at);
        let state = &mut self.rails[usize::from(rail)];
        if state.slower > 0 && rate != state.slower {
            state.since = at;
        }
        let busy = finish.saturating_sub(ticks(at));
        let expected = busy.saturating_add(known.parameters.send_overhead);
        Open { rail, rate, begins: at, expected }
    }

    /// Keeps a message until it has left.
    pub fn sent(&mut self, id: (u8, u32), open: Open) {
        self.open.insert(id, open);
    }

    /// Notes that a message has left, or will have left at a time that lies ahead.
    pub fn left(&mut self, id: (u8, u32), at: Time) {
        if let Some(open) = self.open.remove(&id) {
            insert_by_time(&mut self.left, (at, open), |(at, _)| *at);
        }
    }

    /// Learns from what has left by a time.
    pub fn learn(&mut self, rails: &[Rail], at: Time) {
        while let Some((left, open)) = self.left.front().copied().filter(|(left, _)| *left <= at) {
            self.left.pop_front();
            let Open { rail, rate, begins, expected } = open;
            let known = &mut self.rails[usize::from(rail)];
            let passed = ticks(left.saturating_sub(begins));
            if passed > expected.saturating_mul(SLOWER) {
                let found = u128::from(rate) * u128::from(passed) / u128::from(expected.max(1));
                let found = u64::try_from(found).unwrap_or(u64::MAX);
                *known = Known { slower: known.slower.max(found), since: left };
            } else if rate == rails[usize::from(rail)].parameters.gap_per_byte {
                known.slower = 0;
            }
        }
    }
}
