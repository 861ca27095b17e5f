//! The parameters of the model, as the papers have them: for the hosts and for the wire.
//!
//! Source: Culler et al. 1993 (LogP), Alexandrov et al. 1995 (LogGP), Ino et al. 2001 (LogGPS),
//! Hoefler, Schneider and Lumsdaine 2010 (LogGOPS).

use std::sync::Arc;

use units::{Time, TimePerByte};

use crate::{Classes, Wire};

/// The costs of one message. The letters are those of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// L: time in the network, from injection to the first byte's arrival.
    pub latency: Time,
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

/// The moment at which a message enters the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inject {
    /// At the start of the send's overhead.
    Start,
    /// o after its start.
    #[default]
    End,
}

/// The resources of a receiver that the bytes of a message occupy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receive {
    /// The CPU: it is busy for o + max((s-1)O, (s-1)G), as in `LogGOPSim`, and the interface for
    /// g + (s-1)G beside it.
    #[default]
    Cpu,
    /// The network interface: it is busy for g + (s-1)G from the first byte on, whatever the CPU
    /// does, and the CPU pays o + (s-1)O when the last byte is there. This is `LogGP` as Alexandrov
    /// et al. 1995 have it.
    Nic,
}

/// A parameter set for small and one for large messages, and one for those within a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// For messages of at most `eager_limit` bytes.
    pub small: Costs,
    /// For larger messages.
    pub large: Costs,
    /// For messages of any size between ranks of one host, where a host can have several: on
    /// networks that are more than this model's wire. Latency is the time between the two.
    pub local: Costs,
    /// S: a message of S bytes is still eager; larger ones use rendezvous.
    pub eager_limit: u64,
    /// The moment at which a message enters the network.
    pub inject: Inject,
    /// The resources that a message occupies at its receiver, where it comes from another host.
    pub receive: Receive,
}

impl Costs {
    /// `LogGOPSim`'s defaults: L 2500 ns, o 1500 ns, g 1000 ns, G 6 ns/B, O 0.
    pub const fn loggopsim() -> Self {
        let o = Time::from_ps(1_500_000);
        let per_byte = match TimePerByte::new(6_000, 1) {
            Some(rate) => rate,
            None => TimePerByte::ZERO,
        };
        Self {
            latency: Time::from_ps(2_500_000),
            send_overhead: o,
            receive_overhead: o,
            gap: Time::from_ps(1_000_000),
            gap_per_byte: per_byte,
            send_overhead_per_byte: TimePerByte::ZERO,
            receive_overhead_per_byte: TimePerByte::ZERO,
        }
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            small: Costs::loggopsim(),
            large: Costs::loggopsim(),
            local: Costs {
                latency: Time::ZERO,
                gap_per_byte: TimePerByte::ZERO,
                ..Costs::loggopsim()
            },
            eager_limit: 65_535,
            inject: Inject::End,
            receive: Receive::Cpu,
        }
    }
}

impl Parameters {
    /// Returns the network with these parameters, and with classes of pairs of hosts if there are
    /// some. Where large messages enter it another time after the start of their sends than small
    /// ones, it keeps the order of messages, too.
    pub fn wire(&self, classes: Option<Arc<Classes>>) -> Wire {
        let (small, large) = (self.small.latency, self.large.latency);
        let differ = small != large || self.small.send_overhead != self.large.send_overhead;
        let keeps_order = differ || classes.as_ref().is_some_and(|classes| classes.overtake());
        Wire { small, large, limit: self.eager_limit, keeps_order, classes }
    }
}
