//! Earliest completion first: a message waits for the fast rail rather than using a slow one,
//! unless the slow one is done earlier.
//!
//! The fast rail is the one that delivers the message first when all are idle. If it is busy, the
//! message takes another one only if that delivers it earlier; after a message that has waited, a
//! rail that is slower when idle must be earlier by a quarter, so that the choice does not swing.
//! Source: Y. Lim et al., "ECF: An MPTCP Path Scheduler to Manage Heterogeneous Paths", CoNEXT
//! 2017, with the window of a path replaced by its VFT.

use super::least;
use crate::scheduler::{Message, Rail};

pub(super) fn choose(waits: &mut bool, rails: &[Rail], message: Message) -> usize {
    let Message { now, bytes, .. } = message;
    let all = || 0..rails.len();
    let idle = |rail: &Rail| rail.parameters.delivery(bytes);
    let takes = |rail: &Rail| (rail.ready(now) - now).saturating_add(idle(rail));
    let fast = least(rails, message, all(), idle);
    let first = least(rails, message, all(), takes);
    if rails[fast].finish <= now || first == fast {
        *waits = rails[fast].finish > now;
        return fast;
    }
    let (slow, own) = (takes(&rails[first]), takes(&rails[fast]));
    let is_slower = idle(&rails[first]) > idle(&rails[fast]);
    let margin = if *waits && is_slower { slow / 4 } else { 0 };
    *waits = own <= slow.saturating_add(margin);
    if *waits { fast } else { first }
}
