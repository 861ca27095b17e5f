//! Expands collectives to messages.

use crate::{Collective, CollectiveCall};

/// The receiver of the messages of a collective.
///
/// [`Expand::expand`] calls it, in the order in which the rank would post the operations. Each
/// posting returns a number that stands for the operation in the `after` of later ones: the
/// operation starts when all of those are done. Peers are numbered as in [`CollectiveCall`].
pub trait Sink {
    /// Posts a send of `bytes` bytes.
    fn send(&mut self, to: u32, bytes: u64, after: &[u32]) -> u32;

    /// Posts a receive of `bytes` bytes.
    fn receive(&mut self, from: u32, bytes: u64, after: &[u32]) -> u32;

    /// Posts computation of `time` picoseconds.
    fn compute(&mut self, time: u64, after: &[u32]) -> u32;

    /// Marks an operation as blocking: a send by a blocking call, or a receive that is waited for
    /// in the order of posting.
    fn blocking(&mut self, op: u32) {
        let _ = op;
    }

    /// Gives the next message its number among the messages between its two ranks in this
    /// collective. Without a number, messages match in the order in which they are posted.
    fn number(&mut self, number: u32);

    /// The collective counts as one by this algorithm, if it is to be counted for this rank.
    fn by(&mut self, algorithm: &'static str) {
        let _ = algorithm;
    }

    /// Returns whether this is the first question of this kind about the communicator: a choice of
    /// algorithms asks before what it does only once for each.
    fn is_first(&mut self) -> bool {
        false
    }
}

/// A choice of algorithms for collectives.
///
/// The compiler of traces and live ranks call it, once per rank and collective, with what that rank
/// knows of the call. All ranks must come to the same algorithm from what each of them knows. It is
/// called from several threads at once and keeps no state between calls.
pub trait Expand: Sync {
    /// Posts this rank's part of a collective. Fails with a reason if the collective cannot be
    /// expressed as messages.
    fn expand(&self, call: &CollectiveCall, sink: &mut dyn Sink) -> Result<(), String>;

    /// Counts a collective whose expansion was kept, by the algorithm that [`Sink::by`] was told.
    fn again(&self, collective: Collective, algorithm: &'static str) {
        let _ = (collective, algorithm);
    }
}
