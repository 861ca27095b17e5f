//! Hosts without a network between them.

/// Hosts that all reach each other directly: what a network described by parameters alone knows of
/// its topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    hosts: u32,
}

impl Complete {
    /// A complete graph of `hosts` hosts.
    pub const fn new(hosts: u32) -> Self {
        Self { hosts }
    }

    /// Number of hosts.
    pub const fn hosts(self) -> u32 {
        self.hosts
    }
}
