//! What devices are given to act on: where their signals, deliveries and records go.

use units::Time;

use crate::Signal;

/// Something to watch. The device it happens at is the one that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A link carries a packet from `start` to `end`, the end of its last flit; the flits between
    /// may have gaps.
    Sent {
        /// Output port.
        port: u16,
        /// Virtual lane.
        lane: u8,
        /// Number of flits.
        flits: u8,
        /// When the first begins.
        start: Time,
        /// When the last ends.
        end: Time,
    },
    /// What waits for an output port and lane has changed.
    Queue {
        /// Output port.
        port: u16,
        /// Virtual lane.
        lane: u8,
        /// Flits that wait, by whole packets from when the head may be arbitrated to the grant.
        flits: u32,
    },
    /// A lane had a packet to send, and the port was free, but credits were short until now.
    Stalled {
        /// Output port.
        port: u16,
        /// Virtual lane.
        lane: u8,
        /// Since when.
        from: Time,
    },
    /// A switch sets FECN on a packet.
    Marked {
        /// Output port.
        port: u16,
        /// Virtual lane.
        lane: u8,
        /// Its source.
        source: u32,
        /// Its destination.
        destination: u32,
    },
    /// A source hears a BECN.
    Notified {
        /// Destination of the flow.
        destination: u32,
        /// Service level of the flow.
        level: u8,
        /// The index after it.
        index: u16,
        /// Whether the trigger threshold is reached by it.
        trigger: bool,
    },
    /// A notification is not sent, because too many wait.
    Unsent {
        /// Whom it was for.
        destination: u32,
    },
    /// The last flit of a message has been taken.
    Message {
        /// Its source.
        source: u32,
        /// Links that its packets crossed.
        hops: u16,
    },
    /// A packet has no way on from a switch and is discarded.
    Lost {
        /// Its source.
        source: u32,
        /// Its destination.
        destination: u32,
    },
}

/// Where what a device does goes.
pub trait Outlet {
    /// Whether records are wanted; where not, they cost nothing.
    const LISTENS: bool = false;

    /// A signal that reaches another device at a time that is at least the lookahead later than
    /// now.
    fn send(&mut self, device: u32, at: Time, signal: Signal);

    /// A message is delivered to this host at a time that may lie ahead. What one port delivers
    /// comes in order of time.
    fn deliver(&mut self, at: Time, source: u32, sequence: u64);

    /// Something to watch; the time is that of the event that leads to it.
    fn record(&mut self, at: Time, record: Record) {
        let _ = (at, record);
    }
}
