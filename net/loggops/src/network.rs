//! The wire of the model: every message takes L.

use network::{Network, Parcel, Uncontended};
use topology::Complete;
use units::Time;

use crate::Parameters;

impl Network for Parameters {
    /// Nothing: messages do not influence each other.
    type Interface = ();

    fn interface(&self, _: Complete, _: u32) {}

    fn lookahead(&self) -> Time {
        self.small.latency.min(self.large.latency)
    }

    /// Transit is L. The byte times (s-1)G at either end are charged to the hosts' interfaces, as
    /// the papers have it.
    fn uncontended(&self, parcel: Parcel) -> Uncontended {
        let costs = self.costs(parcel.bytes);
        let bytes = costs.gap_per_byte.cost(parcel.bytes.saturating_sub(1));
        Uncontended { transit: costs.latency, leaving: bytes, draining: bytes }
    }

    #[inline]
    fn inject(&self, (): &mut (), at: Time, parcel: Parcel) -> Time {
        at.saturating_add(self.costs(parcel.bytes).latency)
    }
}
