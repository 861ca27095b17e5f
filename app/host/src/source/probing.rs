//! Decisions of ranks that run while they are simulated.

use super::Operations;

/// The decisions of a rank while it is simulated: probes, cancelled receives, receives that nobody
/// posted, and accesses to what all ranks share.
///
/// Engines ask at the simulated moment at which it matters, so an answer may depend on all that has
/// happened at the rank until then, and on nothing else. A static program decides nothing, which is
/// what the defaults say.
pub trait Probing: Operations {
    /// Returns whether a receive asks which message is there before it takes one
    /// ([`Probing::accepts`]).
    fn is_conditional(&self, state: &Self::State, receive: u32) -> bool {
        let _ = (state, receive);
        false
    }

    /// Decides whether a receive that asks is posted. `send` is the operation of the message that
    /// it would meet at once, `None` if none is there. If the answer is false, the receive is done
    /// as if it had never been posted.
    fn accepts(&self, state: &mut Self::State, receive: u32, send: Option<u32>) -> bool {
        let _ = (state, receive, send);
        true
    }

    /// Hears that a receive has met a message of `bytes` bytes: that of the send `send`, given by
    /// rank and operation.
    fn matched(&self, state: &mut Self::State, receive: u32, send: (u32, u32), bytes: u64) {
        let _ = (state, receive, send, bytes);
    }

    /// Prefetches what [`Probing::matched`] will need of the sender of a message that has arrived.
    fn prefetch_sender(&self, sender: u32, tag: u32) {
        let _ = (sender, tag);
    }

    /// Makes a receive for a message that meets none, if the rank takes such a message without
    /// being asked to: the request of a one-sided access, or what starts a process.
    fn receive_unposted(&self, state: &mut Self::State, sender: u32, tag: u32) -> Option<u32> {
        let _ = (state, sender, tag);
        None
    }

    /// Returns the receive that is withdrawn when a computation starts.
    fn cancels(&self, state: &Self::State, index: u32) -> Option<u32> {
        let _ = (state, index);
        None
    }

    /// Hears that a receive was withdrawn before it met a message. [`Operations::reached`] tells of
    /// its end next.
    fn cancelled(&self, state: &mut Self::State, receive: u32) {
        let _ = (state, receive);
    }

    /// Returns whether a rank looks at or changes what all ranks share when a computation is done.
    /// An engine carries out such a computation only when no rank has an earlier one.
    fn is_exclusive(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        false
    }

    /// Returns whether ranks may ask for those on hosts with lower numbers to run before them
    /// (`kernel::wait_for_those_before`): workers then take hosts in the order of their numbers.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Returns whether an operation that is posted may get more dependents later.
    fn grows(&self) -> bool {
        false
    }
}
