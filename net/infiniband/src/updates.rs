//! Flow-control packets, as far as they occupy a link.
//!
//! Every `update`, counted from time 0, a port sends one of 8 bytes for each lane: 1 ns later if
//! its link is idle, else at the end of the packet that is on it. Data wait for it. Nothing happens
//! on a link without data: what a flow-control packet does to a packet follows from when that could
//! go.

use crate::fabric::{Fabric, Port};

/// Bytes of a flow-control packet, as a part of a flit.
const PART: u64 = 8;

/// From the update to its packet on an idle link, in picoseconds.
const LEAD: u64 = 1_000;

/// The flow-control packets of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Updates {
    period: u64,
    length: u64,
    /// The first one that no packet has met.
    next: u64,
}

impl Updates {
    pub fn new(net: &Fabric, link: &Port) -> Self {
        let length = u64::from(link.flit) * u64::from(net.lanes) / PART;
        Self { period: net.parameters.update.ps(), length, next: 0 }
    }

    /// Returns the time at which the first credits are known to a port.
    pub fn first_credits(&self, link: &Port) -> u64 {
        if self.period == 0 { 0 } else { LEAD + link.cable }
    }

    /// Returns the time at which a packet goes that is there at `start`, on a link that was given
    /// up at `free`.
    #[inline]
    pub fn start(&mut self, mut free: u64, mut start: u64) -> u64 {
        while self.period > 0 && start >= self.next {
            // One that came before the link was given up goes at once, of others the last.
            let late = self.next <= free;
            let update = if late { free } else { start };
            let update = update - update % self.period;
            self.next = update + self.period;
            free = self.length + if late { free } else { update + LEAD };
            start = start.max(free);
        }
        start
    }
}
