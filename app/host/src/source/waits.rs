//! The calls by which a program waits for operations.

use super::Operations;

/// The MPI calls behind operations, by which a program waits for them.
///
/// The model of flows charges by that (SMPI's rules): a blocking send costs other than an immediate
/// one, and the overhead of a receive is due when the rank waits for it. Only the engine over flows
/// asks.
pub trait Waits: Operations {
    /// Returns whether a send is a blocking one.
    fn is_blocking(&self, state: &Self::State, rank: u32, index: u32) -> bool;

    /// Returns whether the receives that are waited for together with this one are waited for one
    /// after the other, in the order of posting.
    fn is_in_order(&self, state: &Self::State, rank: u32, index: u32) -> bool;

    /// Calls `each` with every operation that waits for the end of another, as far as is known.
    fn dependents(&self, state: &Self::State, rank: u32, index: u32, each: &mut dyn FnMut(u32));

    /// Returns for how many starts and ends an operation still waits that has not started.
    fn missing(&self, state: &Self::State, rank: u32, index: u32) -> u32;

    /// Returns whether the first of those that an operation waits for is enough (`MPI_Waitany`).
    fn is_any(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        false
    }

    /// Returns whether the rank takes in a receive for which no operation waits, as far as is
    /// known.
    fn wants(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        true
    }

    /// Returns whether a computation is a look for what may have come (`MPI_Test`, `MPI_Iprobe`).
    fn is_look(&self, state: &Self::State, rank: u32, index: u32) -> bool {
        let _ = (state, rank, index);
        false
    }

    /// Returns the next receive that such a look takes in, of those whose message `is_there`.
    fn tested(
        &self,
        state: &Self::State,
        index: u32,
        is_there: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let _ = (state, index, is_there);
        None
    }

    /// Returns whether a computation is sleep, which uses no core.
    fn is_sleep(&self, rank: u32, index: u32) -> bool {
        let _ = (rank, index);
        false
    }
}
