//! The description of the links of a network.

use units::{DeviceId, HostId, MessageId, Time};

use crate::{Network, Transfer};

/// A network of links that carry flits, described in words that all such models share: for
/// synthetic traffic, tables, drawings and estimates of work.
///
/// All answers are facts about the network at rest. They may be asked for at any time and from any
/// thread.
pub trait Links: Network {
    /// The time for which a message of a host occupies the host's link, headers and padding
    /// included.
    fn link_time(&self, host: HostId, bytes: u64) -> Time;

    /// The number of links that a message of this number crosses; 0 if there is no route.
    fn hops(&self, source: HostId, destination: HostId, id: MessageId) -> u32;

    /// The numbers of packets and flits of a message.
    fn packets_and_flits(&self, bytes: u64) -> (u64, u64);

    /// The time of one flit on the link behind an output port; `None` if there is no link.
    fn flit_time(&self, device: DeviceId, port: u16) -> Option<Time>;

    /// The number of links side by side, among which an output port spreads its packets.
    fn side_by_side(&self, _device: DeviceId, _port: u16) -> u16 {
        1
    }

    /// The number of ways among which a message between two hosts draws, each with the same chance;
    /// 0 if load decides, or if the network does not tell of its ways.
    fn ways(&self, source: HostId, destination: HostId) -> u32 {
        let _ = (source, destination);
        0
    }

    /// Follows the way of this number on the idle network, where there are several. Calls `each`
    /// with the device and port before each link, if the network tells of them, and returns the
    /// time that the transfer takes; `None` if there is no route. Where load decides, number 0 is
    /// the way of a transfer that is alone.
    fn follow(
        &self,
        transfer: Transfer,
        number: u32,
        each: &mut dyn FnMut(DeviceId, u16),
    ) -> Option<Time> {
        let _ = (number, each);
        Some(self.uncontended(transfer).transit)
    }
}
