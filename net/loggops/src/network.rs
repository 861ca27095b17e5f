//! The wire of the model: every message takes L.

use rustc_hash::FxHashMap;

use network::{Direct, Transfer, Uncontended};
use units::{HostId, Time};

use crate::Parameters;

/// A host's side of the wire.
///
/// Messages between two hosts keep their order. That needs no memory while all messages take the
/// same L; where large ones take another, it is the last delivery at each destination.
#[derive(Debug, Default)]
pub struct Wire(FxHashMap<HostId, Time>);

impl Direct for Parameters {
    type Interface = Option<Box<Wire>>;

    fn interface(&self, _: HostId) -> Self::Interface {
        (self.small.latency != self.large.latency
            || self.small.send_overhead != self.large.send_overhead)
            .then(Box::default)
    }

    #[inline]
    fn lookahead(&self) -> Time {
        self.small.latency.min(self.large.latency)
    }

    /// Transit is L. The byte times (s-1)G at either end are charged to the hosts' interfaces, as
    /// the papers have it.
    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let costs = self.costs(transfer.bytes);
        let bytes = costs.gap_per_byte.cost(transfer.bytes.saturating_sub(1));
        Uncontended { transit: costs.latency, leaving: bytes, draining: bytes }
    }

    #[inline]
    fn inject(&self, wire: &mut Self::Interface, at: Time, transfer: Transfer) -> Time {
        let delivery = at.saturating_add(self.costs(transfer.bytes).latency);
        let Some(Wire(last)) = wire.as_deref_mut() else { return delivery };
        let last = last.entry(transfer.destination).or_default();
        *last = delivery.max(*last);
        *last
    }
}
