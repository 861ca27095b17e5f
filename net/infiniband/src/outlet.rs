//! The records of this model.

use network::Outlet;
use units::HostId;

use crate::Infiniband;

/// A record of the network.
pub type Record = network::Record<Detail>;

/// A record that only this model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The index of a flow reaches the trigger threshold.
    Triggered {
        /// Destination of the flow.
        destination: HostId,
        /// Service level of the flow.
        level: u8,
    },
    /// A notification is not sent, because too many wait.
    Unsent {
        /// The host that it was for.
        destination: HostId,
    },
}

/// The outlet of the network's parts, under a short name.
pub(crate) trait Out: Outlet<Infiniband> {}

impl<O: Outlet<Infiniband>> Out for O {}
