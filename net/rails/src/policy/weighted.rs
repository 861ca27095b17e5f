//! The rails in turn, each with as many messages in a row as its share (seed 003, section 4.3.4.2).
//!
//! The share of a rail is a whole number: its weight in units of the least weight, rounded.

use crate::scheduler::{Message, Rail};

/// The rail whose turn it is, and the messages that it still takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    rail: usize,
    messages: u64,
    begun: bool,
}

pub(super) fn choose(rest: &mut Rest, rails: &[Rail], message: Message) -> usize {
    if !rest.begun {
        *rest = Rest { rail: 0, messages: share(rails, 0), begun: true };
    }
    for _ in 0..=rails.len() {
        if rest.messages > 0 && message.can_take(rest.rail) {
            rest.messages -= 1;
            return rest.rail;
        }
        rest.rail = (rest.rail + 1) % rails.len();
        rest.messages = share(rails, rest.rail);
    }
    0
}

/// Returns the number of messages in a row that a rail takes.
fn share(rails: &[Rail], rail: usize) -> u64 {
    let most = rails.iter().map(|rail| rail.parameters.share()).max().unwrap_or(1);
    let own = rails[rail].parameters.share().max(1);
    ((most + own / 2) / own).max(1)
}
