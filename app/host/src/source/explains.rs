//! Why a rank does not go on.

use super::Operations;
use crate::PendingMessage;

/// Explanations for ranks that do not finish.
///
/// Engines ask at the end of a run that is stuck, once per rank that is not finished; time does not
/// matter then, and a live rank may be asked where in its program it is.
pub trait Explains: Operations {
    /// Returns the first operation that can never start because it waits, through others, for
    /// itself.
    fn first_blocked(&self, state: &Self::State, rank: u32) -> Option<u32> {
        let _ = (state, rank);
        None
    }

    /// Returns in words where a rank waits, if it can tell.
    fn waits_in(&self, state: &Self::State) -> Option<String> {
        let _ = state;
        None
    }

    /// Returns the message of a live program that an operation is, if it is one.
    fn message(&self, state: &Self::State, index: u32) -> Option<PendingMessage> {
        let _ = (state, index);
        None
    }
}
