//! The rails in turn, by the counter of a host or of a destination (seed 003, section 4.3.4.1).

use crate::scheduler::{Message, Rail};

/// Takes the first usable rail from the counter on, and moves the counter behind it.
pub(super) fn choose(turn: &mut u8, rails: &[Rail], message: Message) -> usize {
    let first = usize::from(*turn) % rails.len();
    let mut order = (first..rails.len()).chain(0..first);
    let rail = order.find(|rail| message.can_take(*rail)).unwrap_or(0);
    *turn = ((rail + 1) % rails.len()) as u8;
    rail
}
