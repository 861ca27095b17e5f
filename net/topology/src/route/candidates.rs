//! The outputs that a routing offers to a packet.

/// Output ports and a lane among which a router may choose the next hop of a packet.
///
/// A lane of a routing stands for one or several virtual channels of a link: how many a lane has is
/// up to the network model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The first of the output ports.
    pub port: u16,
    /// The number of consecutive ports from `port` on, one or more.
    pub ports: u16,
    /// The lane on the links behind these ports.
    pub lane: u8,
    /// The rank of the candidate: a router takes one of a lower priority only if it can take none
    /// of a higher one.
    pub priority: u8,
    /// The links between switches that are left by these ports, where the routing weighs queues
    /// with them ([`Routes::weighs_ports`](super::Routes::weighs_ports)); otherwise 0.
    pub links: u8,
}

/// The most candidates of a packet at a switch.
const MOST: usize = 16;

/// A buffer for the candidates of a packet at a switch.
///
/// The caller owns it and uses it for any number of packets; nothing is allocated.
#[derive(Clone, Copy, Debug)]
pub struct Candidates {
    count: u8,
    all: [Candidate; MOST],
}

impl Default for Candidates {
    fn default() -> Self {
        Self::new()
    }
}

impl Candidates {
    /// An empty buffer.
    pub const fn new() -> Self {
        let none = Candidate { port: 0, ports: 0, lane: 0, priority: 0, links: 0 };
        Self { count: 0, all: [none; MOST] }
    }

    /// The candidates in the order in which the routing wrote them.
    pub fn as_slice(&self) -> &[Candidate] {
        &self.all[..usize::from(self.count)]
    }

    /// Takes all candidates away.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a candidate. One beyond the sixteenth is left out: a routing writes its escape first,
    /// so that a packet keeps a way on which it cannot wait for itself.
    pub fn push(&mut self, candidate: Candidate) {
        if let Some(free) = self.all.get_mut(usize::from(self.count)) {
            *free = candidate;
            self.count += 1;
        }
    }
}
