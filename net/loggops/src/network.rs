//! The wire of the model: every message takes L.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use network::{Direct, Transfer, Uncontended};
use units::{HostId, Time};

use crate::Classes;

/// The network of LogGOPS: a message takes L, whatever else travels.
///
/// L is all of the model that belongs to the network. Overheads and gaps (o, O, g, G) belong to the
/// hosts at its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// L for messages of at most `limit` bytes.
    pub small: Time,
    /// L for larger messages.
    pub large: Time,
    /// Bytes of the largest small message.
    pub limit: u64,
    /// True if messages between two hosts have to be kept in order: one could overtake another,
    /// because the two kinds take different times or enter the wire at different times.
    pub keeps_order: bool,
    /// Classes of pairs of hosts that have an L of their own.
    pub classes: Option<Arc<Classes>>,
}

impl Wire {
    /// Returns L for a message.
    #[inline]
    pub fn latency(&self, transfer: &Transfer) -> Time {
        if let Some(classes) = self.classes.as_deref()
            && let Some(class) = classes.of([transfer.source, transfer.destination])
        {
            let costs = if transfer.bytes > self.limit { &class.large } else { &class.small };
            return costs.latency;
        }
        if transfer.bytes > self.limit { self.large } else { self.small }
    }
}

/// The state of the wire at a host: the last delivery at each destination, where order has to be
/// kept.
#[derive(Debug, Default)]
pub struct Deliveries(FxHashMap<HostId, Time>);

impl Direct for Wire {
    type Interface = Option<Box<Deliveries>>;

    fn interface(&self, _: HostId) -> Self::Interface {
        self.keeps_order.then(Box::default)
    }

    #[inline]
    fn lookahead(&self) -> Time {
        let least = self.small.min(self.large);
        self.classes.as_ref().and_then(|all| all.least_latency()).map_or(least, |it| it.min(least))
    }

    /// The wire itself has no bandwidth: messages share nothing on it. The byte times (s-1)G at
    /// either end are charged to the hosts' interfaces, as the papers have it.
    #[inline]
    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let transit = self.latency(&transfer);
        Uncontended { transit, latency: transit, ..Uncontended::default() }
    }

    #[inline(always)]
    fn inject(&self, last: &mut Self::Interface, at: Time, transfer: Transfer) -> Time {
        let delivery = at.saturating_add(self.latency(&transfer));
        let Some(Deliveries(last)) = last.as_deref_mut() else { return delivery };
        let last = last.entry(transfer.destination).or_default();
        *last = delivery.max(*last);
        *last
    }
}
