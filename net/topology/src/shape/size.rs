//! Numbers of devices, ports and links, which tell the memory that a network needs before it is
//! wired.

/// The numbers of hosts, switches, ports and links of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of hosts.
    pub hosts: u32,
    /// Pairs of a number of switches and the ports of each of them, connected or not; ascending by
    /// ports, with one pair for each number of these.
    pub switches: Vec<(u32, u32)>,
    /// Number of the ports of all devices.
    pub ports: u64,
    /// Number of links.
    pub links: u64,
}

impl Size {
    /// Hosts with a number of ports each, numbers of switches with a number of ports each, and
    /// links.
    pub(crate) fn new(
        (hosts, ports): (u32, u32),
        switches: impl IntoIterator<Item = (u32, u32)>,
        links: u64,
    ) -> Self {
        let mut all = u64::from(hosts) * u64::from(ports);
        let mut by_ports = std::collections::BTreeMap::<u32, u32>::new();
        for (count, ports) in switches.into_iter().filter(|(count, _)| *count > 0) {
            all += u64::from(count) * u64::from(ports);
            *by_ports.entry(ports).or_default() += count;
        }
        let switches = by_ports.into_iter().map(|(ports, count)| (count, ports)).collect();
        Self { hosts, switches, ports: all, links }
    }

    /// Number of switches.
    pub fn all_switches(&self) -> u64 {
        self.switches.iter().map(|(count, _)| u64::from(*count)).sum()
    }

    /// Number of hosts and switches.
    pub fn devices(&self) -> u64 {
        u64::from(self.hosts) + self.all_switches()
    }

    /// Returns the sum over all switches of a number that depends on their ports; the largest
    /// number there is if the sum is larger.
    pub fn sum(&self, of_switch: impl Fn(u64) -> u64) -> u64 {
        let each = self.switches.iter().map(|&(count, ports)| (u64::from(count), ports.into()));
        each.map(|(count, ports)| of_switch(ports).saturating_mul(count))
            .fold(0, u64::saturating_add)
    }
}
