//! Receives that a formula finds.

use schedule::Follow;

use super::Operations;

/// Claims of receives: the fast path for programs that can say by formula which receive a message
/// meets (see [`schedule::Program::claims`]).
///
/// Where [`Claims::claims`] is true, an engine posts no receives but asks for them, message by
/// message in the order of arrival; the answers must be those that posting and matching would give.
/// Where a rank only waits for one message, an engine may use [`Claims::answer`],
/// [`Claims::follow`] and [`Claims::ended`] in place of [`Operations::reached`]: the three together
/// must mean the same. A source without claims leaves all of this as it is.
pub trait Claims: Operations {
    /// Returns whether receives are claimed and never posted.
    fn claims(&self) -> bool {
        false
    }

    /// Returns whether no receive can be smaller than its message, so that engines need not check.
    fn fits(&self) -> bool {
        false
    }

    /// Returns the receive that the next message from `source` meets.
    fn claim(&self, state: &mut Self::State, rank: u32, source: u32, tag: u32) -> Option<u32> {
        let _ = (state, rank, source, tag);
        None
    }

    /// Returns that receive together with what its end sets free.
    fn answer(&self, state: &mut Self::State, source: u32, tag: u32) -> Option<(u32, Follow)> {
        let _ = (state, source, tag);
        None
    }

    /// Returns what the end of an operation sets free, if that is at most one operation.
    fn follow(&self, state: &Self::State, rank: u32, index: u32) -> Follow {
        let _ = (state, rank, index);
        Follow::Several
    }

    /// Counts an operation as done. What its end sets free is known from [`Claims::follow`], and
    /// [`Operations::reached`] is not called for it.
    fn ended(&self, state: &mut Self::State) {
        let _ = state;
    }

    /// Counts a send as done if nothing waits for its end, and returns true; otherwise
    /// [`Operations::reached`] has to be called for it.
    fn sent(&self, state: &mut Self::State) -> bool {
        let _ = state;
        false
    }
}
