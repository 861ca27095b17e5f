//! The policies, one file each.

mod delivery;
mod earliest;
mod fair;
mod gap;
mod in_turn;
mod latency;
mod overlap;
mod pauses;
mod single;
mod size;
mod weighted;

use crate::parameters::Ticks;
use crate::scheduler::{MOST_RAILS, Message, Rail};

/// The rule by which a host chooses the rail of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// One rail takes all messages.
    Single(u8),
    /// Messages take the rails in turn.
    InTurn,
    /// Messages to each destination take the rails in turn, as in Open MPI.
    InTurnByDestination,
    /// The rails in turn, each with as many messages in a row as its share says.
    Weighted,
    /// Weighted fair queuing.
    Fair,
    /// Virtual finishing times that know of g alone.
    Gap,
    /// Virtual finishing times that know of sizes, too.
    Size,
    /// Virtual finishing times that know of pauses, too.
    Pauses,
    /// Virtual finishing times that know of o and L, too.
    Latency,
    /// Virtual finishing times that know that o and g overlap.
    Overlap,
    /// The earliest delivery.
    #[default]
    Delivery,
    /// Earliest completion first.
    Earliest,
}

impl Policy {
    /// All policies but [`Policy::Single`], by name.
    pub const NAMES: [(&str, Self); 11] = [
        ("round-robin", Self::InTurn),
        ("round-robin-destination", Self::InTurnByDestination),
        ("weighted", Self::Weighted),
        ("wfq", Self::Fair),
        ("vft-4.4.1", Self::Gap),
        ("vft-4.4.2", Self::Size),
        ("vft-4.4.3", Self::Pauses),
        ("vft-4.4.4", Self::Latency),
        ("vft-4.4.5", Self::Overlap),
        ("vft", Self::Delivery),
        ("ecf", Self::Earliest),
    ];

    /// Returns the policy of this name; `None` if it is not one of [`Policy::NAMES`].
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }

    /// Returns whether the policy compares times, and does not give the rails their turns.
    #[must_use]
    pub const fn compares_times(self) -> bool {
        use Policy::{Delivery, Earliest, Gap, Latency, Overlap, Pauses, Size};
        matches!(self, Gap | Size | Pauses | Latency | Overlap | Delivery | Earliest)
    }

    /// Returns the place of the rail that a message takes.
    pub(crate) fn choose(
        self,
        state: &mut State,
        rails: &[Rail],
        message: Message,
        turn: &mut u8,
    ) -> usize {
        let Message { now, bytes, .. } = message;
        let State { by_gap, turns, rest, served, waits } = state;
        let by_gap = &by_gap[..rails.len()];
        let in_order = |cost: &dyn Fn(&Rail) -> Ticks| least(rails, message, 0..rails.len(), cost);
        let fastest_first = |cost: &dyn Fn(&Rail) -> Ticks| {
            least(rails, message, by_gap.iter().map(|&rail| usize::from(rail)), cost)
        };
        match self {
            Self::Single(rail) => single::choose(rail, rails, message),
            Self::InTurn => in_turn::choose(turns, rails, message),
            Self::InTurnByDestination => in_turn::choose(turn, rails, message),
            Self::Weighted => weighted::choose(rest, rails, message),
            Self::Fair => fair::choose(served, rails, message),
            Self::Gap => fastest_first(&gap::cost),
            Self::Size => fastest_first(&size::cost),
            Self::Pauses => fastest_first(&|rail| pauses::cost(rail, now)),
            Self::Latency => in_order(&|rail| latency::cost(rail, now)),
            Self::Overlap => in_order(&|rail| overlap::cost(rail, now)),
            Self::Delivery => in_order(&|rail| delivery::cost(rail, now, bytes)),
            Self::Earliest => earliest::choose(waits, rails, message),
        }
    }

    /// Notes that a rail is busy with a message.
    pub(crate) fn used(self, rail: &mut Rail, message: Message) {
        match self {
            Self::Gap => gap::used(rail),
            Self::Size => size::used(rail, message.bytes),
            _ => {
                let busy = rail.parameters.busy(message.bytes);
                rail.finish = rail.ready(message.now).saturating_add(busy);
            }
        }
    }
}

/// The state of policies beside the finishing times of the rails.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The rails, those with the smallest g first.
    by_gap: [u8; MOST_RAILS],
    /// The counter of all destinations.
    turns: u8,
    rest: weighted::Rest,
    served: fair::Served,
    /// True if the last message has waited for a fast rail.
    waits: bool,
}

impl State {
    /// The state of rails that have sent nothing.
    pub fn new(rails: &[Rail]) -> Self {
        let mut by_gap = [0; MOST_RAILS];
        by_gap.iter_mut().zip(0..).for_each(|(place, rail)| *place = rail);
        by_gap[..rails.len()].sort_by_key(|&rail| rails[usize::from(rail)].parameters.gap);
        let (rest, served) = (weighted::Rest::default(), fair::Served::new(rails));
        Self { by_gap, turns: 0, rest, served, waits: false }
    }
}

/// Returns the usable rail of the least cost; of equals, the first in the order.
fn least(
    rails: &[Rail],
    message: Message,
    order: impl Iterator<Item = usize>,
    cost: impl Fn(&Rail) -> Ticks,
) -> usize {
    order.filter(|rail| message.can_take(*rail)).min_by_key(|rail| cost(&rails[*rail])).unwrap_or(0)
}
