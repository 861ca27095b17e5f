//! The costs of messages at a host: the overheads, gaps and limits of LogGOPS (o, O, g, G, S).
//!
//! The time on the wire (L) is not here: it belongs to the network. A host that is on several
//! networks has a [`Costs`] for each.
//!
//! Source: Culler et al. 1993 (LogP), Alexandrov et al. 1995 (LogGP), Ino et al. 2001 (LogGPS),
//! Hoefler, Schneider and Lumsdaine 2010 (LogGOPS).

use std::sync::Arc;

use loggops::{Class, Classes, Inject, Parameters, Receive};
use units::{HostId, Time, TimePerByte};

/// The costs of one message at the hosts at its ends. The letters are those of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCosts {
    /// o at the sender: CPU time per message.
    pub send_overhead: Time,
    /// o at the receiver: CPU time per message.
    pub receive_overhead: Time,
    /// g: time between the starts of two messages on one network interface.
    pub gap: Time,
    /// G: time per byte after the first on the network interface (and, as in `LogGOPSim`, on the
    /// receiver's CPU unless O is larger).
    pub gap_per_byte: TimePerByte,
    /// O at the sender: CPU time per byte after the first.
    pub send_overhead_per_byte: TimePerByte,
    /// O at the receiver: CPU time per byte after the first.
    pub receive_overhead_per_byte: TimePerByte,
}

/// The costs of messages between ranks of one host: they do not enter the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalCosts {
    /// Time from one rank to the other.
    pub latency: Time,
    /// Costs at the two ranks.
    pub ends: HostCosts,
}

/// The costs of messages over one network at a host, and the protocol by which they get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Costs of messages of at most `eager_limit` bytes.
    pub small: HostCosts,
    /// Costs of larger messages.
    pub large: HostCosts,
    /// Costs of messages of any size between ranks of one host.
    pub local: LocalCosts,
    /// S: a message of S bytes is still eager; larger ones use rendezvous.
    pub eager_limit: u64,
    /// The moment of a send at which its message enters the network.
    pub inject: Inject,
    /// The resources that a message from another host occupies at its receiver.
    pub receive: Receive,
}

/// The costs of messages between pairs of hosts that belong to a class.
#[derive(Clone, Debug)]
pub struct ClassCosts {
    classes: Arc<Classes>,
    /// For each class the costs of small and of large messages.
    costs: Vec<[HostCosts; 2]>,
    eager_limit: u64,
}

impl ClassCosts {
    /// The costs of classes, where messages of up to `eager_limit` bytes are small.
    pub fn new(classes: &Arc<Classes>, eager_limit: u64) -> Self {
        let costs = |Class { small, large }: &Class| [small, large].map(HostCosts::from);
        let costs = classes.all.iter().map(costs).collect();
        Self { classes: Arc::clone(classes), costs, eager_limit }
    }

    /// Returns the costs of a message of `bytes` bytes between two hosts, if these belong to a
    /// class.
    pub fn of(&self, pair: [u32; 2], bytes: u64) -> Option<&HostCosts> {
        let class = self.classes.number(pair.map(HostId))?;
        let [small, large] = self.costs.get(class as usize)?;
        Some(if bytes > self.eager_limit { large } else { small })
    }

    /// Returns the costs of all classes.
    pub fn all(&self) -> impl Iterator<Item = &HostCosts> {
        self.costs.iter().flatten()
    }
}

impl HostCosts {
    /// Messages that cost nothing.
    pub const FREE: Self = Self {
        send_overhead: Time::ZERO,
        receive_overhead: Time::ZERO,
        gap: Time::ZERO,
        gap_per_byte: TimePerByte::ZERO,
        send_overhead_per_byte: TimePerByte::ZERO,
        receive_overhead_per_byte: TimePerByte::ZERO,
    };

    /// Returns the time for which a message of `bytes` bytes keeps its sender's CPU: o + (s-1)O.
    #[inline]
    pub fn sending(&self, bytes: u64) -> Time {
        let rest = bytes.saturating_sub(1);
        self.send_overhead.saturating_add(self.send_overhead_per_byte.cost(rest))
    }

    /// Returns what the bytes after the first add on an interface: (s-1)G.
    #[inline]
    pub fn bandwidth(&self, bytes: u64) -> Time {
        self.gap_per_byte.cost(bytes.saturating_sub(1))
    }

    /// Returns what the bytes after the first cost the receiver's CPU as overhead: (s-1)O. That CPU
    /// is busy with them for as long as the interface is, if that is longer.
    #[inline]
    pub fn receiving_rest(&self, bytes: u64) -> Time {
        self.receive_overhead_per_byte.cost(bytes.saturating_sub(1))
    }
}

impl Costs {
    /// Returns the costs of a message of `bytes` bytes between hosts.
    #[inline]
    pub const fn of(&self, bytes: u64) -> &HostCosts {
        if bytes > self.eager_limit { &self.large } else { &self.small }
    }

    /// Returns the time from the start of a send with these costs until its message enters the
    /// network.
    #[inline]
    pub const fn entry(&self, costs: &HostCosts) -> Time {
        match self.inject {
            Inject::Start => Time::ZERO,
            Inject::End => costs.send_overhead,
        }
    }

    /// Returns the least time from the start of any send until its message enters the network.
    pub fn least_entry(&self) -> Time {
        self.entry(&self.small).min(self.entry(&self.large))
    }
}

impl From<&loggops::Costs> for HostCosts {
    fn from(costs: &loggops::Costs) -> Self {
        Self {
            send_overhead: costs.send_overhead,
            receive_overhead: costs.receive_overhead,
            gap: costs.gap,
            gap_per_byte: costs.gap_per_byte,
            send_overhead_per_byte: costs.send_overhead_per_byte,
            receive_overhead_per_byte: costs.receive_overhead_per_byte,
        }
    }
}

impl From<&Parameters> for Costs {
    fn from(parameters: &Parameters) -> Self {
        let Parameters { small, large, local, eager_limit, inject, receive } = parameters;
        Self {
            small: small.into(),
            large: large.into(),
            local: LocalCosts { latency: local.latency, ends: local.into() },
            eager_limit: *eager_limit,
            inject: *inject,
            receive: *receive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LogGOPSim's defaults: o = 1500 ns, G = 6 ns/B, S = 65535 B. Of 11 bytes, ten come after the
    /// first: 60 ns on an interface. One byte more than S is large, and enters the network after
    /// the overhead of large messages.
    #[test]
    fn costs_of_messages() {
        let mut parameters = Parameters::default();
        parameters.large.send_overhead = Time::from_ps(7_000_000);
        let costs = Costs::from(&parameters);
        let small = costs.of(11);
        assert_eq!((small.sending(11), small.bandwidth(11)), (ns(1500), ns(60)));
        assert_eq!((small.sending(0), small.bandwidth(0)), (ns(1500), ns(0)));
        assert_eq!(
            [65_535, 65_536].map(|bytes| costs.entry(costs.of(bytes))),
            [ns(1500), ns(7000)]
        );
        assert_eq!(costs.least_entry(), ns(1500));
        let early = Costs { inject: Inject::Start, ..costs };
        assert_eq!((early.entry(costs.of(1)), early.least_entry()), (ns(0), ns(0)));
    }

    const fn ns(ns: u64) -> Time {
        Time::from_ps(ns * 1000)
    }
}
