//! Records: the events inside a network that can be watched, in words that all models share.
//!
//! A model may add details of its own ([`crate::Network::Detail`]). Whoever collects, tabulates or
//! draws records knows the words here and no model.

use units::{HostId, Time};

use crate::Never;

/// Something that happens at a device, which the record does not name: whoever takes the record
/// knows it.
///
/// Ports are numbered as in the topology. Lanes are virtual channels of a link; a network without
/// them uses lane 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<D = Never> {
    /// A link carries a packet from `start` to `end`, the end of its last flit; the flits between
    /// may have gaps.
    Sent {
        /// Output port.
        port: u16,
        /// Lane.
        lane: u8,
        /// Number of flits.
        flits: u32,
        /// The time at which the first begins.
        start: Time,
        /// The time at which the last ends.
        end: Time,
    },
    /// The depth of the queue for an output port and lane has changed.
    Queue {
        /// Output port.
        port: u16,
        /// Lane.
        lane: u8,
        /// Flits that wait, by whole packets from when the head may be arbitrated to the grant.
        flits: u32,
    },
    /// A lane had a packet to send, and the port was free, but flow control stopped it until now.
    Stalled {
        /// Output port.
        port: u16,
        /// Lane.
        lane: u8,
        /// Since when.
        from: Time,
    },
    /// A packet is marked because it has met congestion.
    Marked {
        /// Output port.
        port: u16,
        /// Lane.
        lane: u8,
        /// Its source.
        source: HostId,
        /// Its destination.
        destination: HostId,
    },
    /// A source learns of congestion and slows a flow down.
    Throttled {
        /// Destination of the flow.
        destination: HostId,
        /// Service level or class of the flow.
        level: u8,
        /// The degree to which the flow is slowed down: an index into the table of the congestion
        /// control.
        index: u16,
    },
    /// A packet is discarded, because it is damaged or leads nowhere.
    Lost {
        /// Its source.
        source: HostId,
        /// Its destination.
        destination: HostId,
    },
    /// A source sends packets of a flow again, because one of them or its acknowledgement is
    /// missing.
    Resent {
        /// Destination of the flow.
        destination: HostId,
        /// The number of packets that will be sent again.
        packets: u64,
    },
    /// The last flit of a message has been taken.
    Arrived {
        /// Its source.
        source: HostId,
        /// Links that its packets crossed.
        hops: u16,
    },
    /// A record that only this model has.
    Detail(D),
}
