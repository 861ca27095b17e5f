//! The sources of operations.
//!
//! A [`Source`] supplies the operations of ranks: a static program ([`Scheduled`], made of any
//! [`schedule::Program`]) or live ranks (crate `live`). It is five traits, one for each question
//! that an engine has:
//!
//! | trait | question | asked by |
//! |---|---|---|
//! | [`Operations`] | what is there to do? | every engine |
//! | [`Claims`] | which receive meets a message, by formula? | the fast path of static programs |
//! | [`Probing`] | what does a rank decide while it is simulated? | engines, of live ranks |
//! | [`Waits`] | how does the program wait for an operation? | the engine over flows |
//! | [`Explains`] | why does a rank not go on? | the report of a deadlock |
//!
//! All but the first have defaults that suit a source with nothing to say, and all are dispatched
//! statically, save where [`AnyWork`] stands for programs of all types. [`Waits`]
//! stands apart from [`Probing`] because static programs answer it as well.

mod claims;
mod erased;
mod explains;
mod probing;
mod scheduled;
mod two_way_ring;
mod waits;

use kernel::Probe;
use mpi::Tag;
use schedule::{Edge, Op, Run};
use units::Time;

pub use self::claims::Claims;
pub use self::erased::AnyWork;
pub use self::explains::Explains;
pub use self::probing::Probing;
pub use self::scheduled::{Progress, Scheduled};
pub use self::two_way_ring::TwoWayRing;
pub use self::waits::Waits;
use crate::path::Stamp;
use crate::{Error, Outcome, Record, Settings};

/// The operations of ranks: what every source has.
///
/// An engine makes a state per rank with [`Operations::state`] and calls [`Operations::start`]
/// once, before anything else happens at the rank. From then on it tells the source of every end of
/// an operation, and of the starts that the source wants to hear of, with [`Operations::reached`];
/// the source answers with the operations that may start from some moment on, which the engine
/// then posts. Calls for one rank come one at a time and in the order of simulated time at that
/// rank, those for different ranks from several threads at once: what a source keeps outside of its
/// states must be `Sync` and must not let the threads' order show in its answers.
///
/// The engine promises to tell of the end of every posted operation exactly once, unless
/// [`Claims::sent`] or [`Claims::ended`] has counted it, and to ask only for operations that were
/// posted and are not done. It may assume that an operation does not change once it is posted, and
/// nothing about what is posted later: not that it is known in advance, nor that it fits in memory.
pub trait Operations: Sync {
    /// The state that the source keeps for a rank.
    type State: Send + 'static;

    /// Returns the state of a rank before anything has happened.
    fn state(&self, rank: u32) -> Self::State;

    /// Returns 1 if the rank is likely to do anything, and 0 if not: workers get shares of equal
    /// weight.
    fn weight(&self, rank: u32) -> u32 {
        let _ = rank;
        1
    }

    /// Returns an operation that was posted.
    fn op(&self, state: &Self::State, rank: u32, index: u32) -> Op;

    /// Calls `post` with all runs of operations that may start at time zero, and with the first
    /// operation of each run.
    fn start(&self, state: &mut Self::State, rank: u32, post: impl FnMut(Run, Op));

    /// Hears that an operation has started, or will be done at a moment that may lie ahead; calls
    /// `post` with the operations that may start by that, and the moment of each.
    fn reached(
        &self,
        state: &mut Self::State,
        rank: u32,
        event: (u32, Edge),
        at: &Stamp,
        post: impl FnMut(u32, Op, &Stamp),
    );

    /// Returns whether operations of the rank are left.
    fn unfinished(&self, state: &Self::State, rank: u32) -> bool;

    /// Returns which starts of operations the source has to hear of.
    fn starts(&self) -> Starts;

    /// Returns whether it has to hear of the start of this operation, where [`Operations::starts`]
    /// includes it.
    fn wants_start(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        true
    }

    /// Returns whether it has to hear of ends of sends.
    fn wants_sends(&self) -> bool;

    /// Returns the context and the tag by which messages with this number as their tag are
    /// matched.
    fn matched_by(&self, number: u32) -> Tag {
        number.into()
    }

    /// Returns the tag that tables show of messages with this number as their tag: that of the
    /// program.
    fn shown_tag(&self, number: u32) -> u32 {
        number
    }

    /// Returns whether a computation is an alarm: it is done when its time has come, without the
    /// processor.
    fn is_alarm(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        false
    }

    /// Prefetches what the source keeps for a rank that the executor is about to run. The kernel
    /// calls it in stages, from 0 on, so that a later stage can follow what an earlier one brought.
    fn prefetch(&self, state: &Self::State, rank: u32, stage: usize) {
        let _ = (state, rank, stage);
    }
}

/// The starts of operations that a source has to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// No starts: no operation waits for one.
    Nothing,
    /// Starts of sends and receives.
    Messages,
    /// Starts of all operations, computation included.
    All,
}

/// A source as engines need it: whatever has all five traits.
pub trait Source: Claims + Probing + Waits + Explains {}

impl<S: Claims + Probing + Waits + Explains> Source for S {}

/// A workload for hosts: how many ranks it has, and where their operations come from.
///
/// The functions that simulate ask it before they begin, and take one source for one run.
pub trait Work: Sync {
    /// The type of its source.
    type Source<'s>: Source
    where
        Self: 's;

    /// Returns the number of ranks.
    fn ranks(&self) -> u32;

    /// Returns the number of CPUs per rank.
    fn cpus(&self) -> u32 {
        1
    }

    /// Returns the number of network interfaces per rank.
    fn nics(&self) -> u32 {
        1
    }

    /// Returns the number of operations in all, if that is known.
    fn operations(&self) -> Option<u64> {
        None
    }

    /// Simulates it exactly as `LogGOPSim` does, if it can be; see [`crate::simulate_loggopsim`].
    fn by_loggopsim<B: Probe<Record>>(
        &self,
        settings: &Settings,
        probe: B,
    ) -> Option<Result<(Outcome, B), Error>> {
        let _ = (settings, probe);
        None
    }

    /// Returns the source of a run.
    fn source(&self) -> Self::Source<'_>;

    /// Returns the source of a second run with every receive posted, if that would tell more of a
    /// deadlock.
    fn posting_all(&self) -> Option<Self::Source<'_>> {
        None
    }
}

/// The moment at which every program starts.
pub const START: Stamp = Stamp {
    time: Time::ZERO,
    cause: Time::ZERO,
    path: crate::path::Path { compute: 0, overhead: 0, latency: 0, bandwidth: 0, contention: 0 },
};
