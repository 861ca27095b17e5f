//! The seam between workers: how mail and bounds pass from one to another.
//!
//! Everything that a worker learns of the others passes through a [`Transport`], in one collective
//! step per window. [`Threads`] passes references in shared memory; [`Processes`] encodes what goes
//! to other processes, over whatever brings bytes there; [`Bytes`] encodes every message.

mod bounds;
mod bytes;
mod channels;
mod lanes;
mod meeting;
mod order;
mod processes;
mod threads;

pub use bounds::Bounds;
pub use bytes::Bytes;
pub use channels::Channels;
pub use lanes::Route;
pub use order::{AtWork, wait_for_those_before};
pub use processes::{Peers, Processes, exchange};
pub use threads::Threads;

use crate::{Event, Wire};

/// Empty chunks of events, to be filled again.
pub type Spare<M> = Vec<Vec<Event<M>>>;

/// A chunk of mail for one block of processes.
pub struct Parcel<M> {
    /// The number of the block.
    pub block: u32,
    /// Its mail. The order of the events does not matter.
    pub events: Vec<Event<M>>,
}

/// The exchange of mail and the agreement on windows among workers.
///
/// **Who calls when.** The workers of a run are numbered from 0 and share one transport, or each
/// process of the run has one that reaches the others'. Each worker calls from a thread of its own
/// and counts turns from 0. In every turn it calls [`Transport::post`] once for each other worker
/// that gets mail, then [`Transport::agree`] once, and unless the agreement ends the run,
/// [`Transport::collect`] once; then it runs the window, in which it may call
/// [`Transport::in_order`] any number of times.
///
/// **What may be assumed.** With a `lag` of 0, the window of a turn depends on the bounds that all
/// have published in that turn, and its mail is that of the same turn; with a `lag` of 1, on those
/// of the turn before. The lag is the same for all workers and turns.
///
/// **What is promised.** `agree` returns the same bounds to all workers for a turn. `collect` hands
/// over everything that was posted to the worker in that turn, exactly once, in any order. Nobody
/// waits for a worker that has called [`Transport::abandon`]. Everything that passes can be bytes:
/// see [`Parcel::encode`] and [`Bounds::words`].
pub trait Transport<M: Wire>: Send + Sync {
    /// Returns the number of workers.
    fn workers(&self) -> usize;

    /// Takes parcels for another worker. `spare` gets the chunks that have come back from there.
    fn post(&self, turn: usize, route: Route, parcels: &mut Vec<Parcel<M>>, spare: &mut Spare<M>);

    /// Publishes the bounds of worker `me`, waits until every worker has published its own for turn
    /// `turn - lag`, and returns the join of those; [`Bounds::START`] if there is no such turn.
    fn agree(&self, turn: usize, lag: usize, me: usize, mine: Bounds) -> Bounds;

    /// Hands over what the others have posted to worker `me` in a turn for which all have agreed.
    /// `each` gets every parcel together with `spare`.
    fn collect(
        &self,
        turn: usize,
        me: usize,
        spare: &mut Spare<M>,
        each: &mut dyn FnMut(Parcel<M>, &mut Spare<M>),
    );

    /// Returns when the workers before `me` have run their windows of `turn`, and those behind it
    /// their windows of the turn before.
    fn in_order(&self, turn: usize, me: usize);

    /// Does to a chunk that a worker sends to itself what the way to another worker would do.
    fn loop_back(&self, chunk: &mut Vec<Event<M>>) {
        let _ = chunk;
    }

    /// Says that a worker has panicked and will publish nothing any more. Whoever waits for it
    /// panics, too.
    fn abandon(&self);
}
