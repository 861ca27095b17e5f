//! One rail takes all messages that it can take; others take the first one that they can.

use crate::scheduler::{Message, Rail};

pub(super) fn choose(rail: u8, rails: &[Rail], message: Message) -> usize {
    let rail = usize::from(rail);
    let first = || (0..rails.len()).find(|rail| message.can_take(*rail)).unwrap_or(0);
    if message.can_take(rail) { rail } else { first() }
}
