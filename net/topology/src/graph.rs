//! Hosts, switches and the links between their ports.

use units::Time;

use crate::{Fault, Faults, Rate, Size};

/// A port of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plug {
    /// The device: hosts are 0 to H-1, switches H to H+S-1.
    pub device: u32,
    /// The port, from 0.
    pub port: u16,
}

/// A cable. What is `None` is the network model's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The two ports it joins.
    pub ends: [Plug; 2],
    /// Time of flight.
    pub delay: Option<Time>,
    /// Time of flight from the second end to the first, if it differs.
    pub back: Option<Time>,
    /// Length in millimetres.
    pub length: Option<u32>,
    /// The rate at which it carries data.
    pub rate: Option<Rate>,
    /// True if it works.
    pub up: bool,
}

impl Link {
    /// A working link with the model's defaults.
    pub const fn new(a: Plug, b: Plug) -> Self {
        Self { ends: [a, b], delay: None, back: None, length: None, rate: None, up: true }
    }

    /// The time of flight from the end at a device to the other end.
    pub fn delay_from(&self, device: u32) -> Option<Time> {
        let [first, _] = self.ends;
        if first.device == device { self.delay } else { self.back.or(self.delay) }
    }
}

/// The far end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The device there.
    pub device: u32,
    /// Its port.
    pub port: u16,
    /// The link that leads there.
    pub link: u32,
}

/// Devices, their ports and the links between them. Devices are numbered: hosts from 0, then
/// switches.
#[derive(Clone, Debug)]
pub struct Graph {
    hosts: u32,
    names: Vec<Box<str>>,
    /// Devices in the order of their names.
    sorted: Vec<u32>,
    /// First port of each device in `ends`, and the number of all ports.
    first: Vec<u32>,
    ends: Vec<Option<End>>,
    links: Vec<Link>,
}

/// A device before it has links.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub name: Box<str>,
    pub ports: u16,
}

impl Graph {
    /// A graph of `hosts` hosts followed by switches. A link to a port that does not exist or is
    /// taken, and a name that is used twice, are errors; their place is the number of the link,
    /// from 1.
    pub(crate) fn new(hosts: u32, devices: Vec<Device>, links: Vec<Link>) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let mut first = Vec::with_capacity(devices.len() + 1);
        let mut total = 0_u32;
        for device in &devices {
            first.push(total);
            total = total.saturating_add(device.ports.into());
        }
        first.push(total);
        let names: Vec<_> = devices.into_iter().map(|device| device.name).collect();
        let mut sorted: Vec<u32> = (0..names.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
        for pair in sorted.windows(2) {
            if names[pair[0] as usize] == names[pair[1] as usize] {
                let name = &names[pair[0] as usize];
                faults.push(Fault::new(format!("two devices are named `{name}`")));
            }
        }
        let mut graph =
            Self { hosts, names, sorted, first, ends: vec![None; total as usize], links };
        for (index, link) in graph.links.iter().enumerate() {
            for (here, there) in [(0, 1), (1, 0)] {
                let (plug, peer) = (link.ends[here], link.ends[there]);
                let [device, port] = [plug.device as usize, usize::from(plug.port)];
                let name = graph.names.get(device).map_or("?", |name| name);
                let count =
                    graph.first.get(device + 1).map_or(0, |next| next - graph.first[device]);
                if port >= count as usize {
                    let message = format!("`{name}` has no port {port}: it has {count} ports");
                    faults.push(Fault::at(index + 1, 0, message));
                    continue;
                }
                let slot = &mut graph.ends[graph.first[device] as usize + port];
                if slot.is_some() {
                    let message = format!("port {port} of `{name}` has two links");
                    faults.push(Fault::at(index + 1, 0, message));
                }
                *slot = Some(End { device: peer.device, port: peer.port, link: index as u32 });
            }
        }
        faults.or(graph)
    }

    /// The numbers of hosts, switches, ports and links.
    pub fn size(&self) -> Size {
        let switches = (self.hosts..self.devices()).map(|switch| (1, self.ports(switch)));
        let size = Size::new((self.hosts, 0), switches, self.links.len() as u64);
        Size { ports: u64::from(self.all_ports()), ..size }
    }

    /// Returns the least memory of a graph of this size in bytes. A name takes 16 of them besides
    /// what points to it.
    pub fn least_memory(size: &Size) -> u64 {
        const DEVICE: usize = size_of::<Box<str>>() + 16 + 2 * size_of::<u32>();
        let devices = size.devices().saturating_mul(DEVICE as u64);
        let ports = size.ports.saturating_mul(size_of::<Option<End>>() as u64);
        let links = size.links.saturating_mul(size_of::<Link>() as u64);
        devices.saturating_add(ports).saturating_add(links)
    }

    /// Number of hosts.
    pub const fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.devices() - self.hosts
    }

    /// Number of hosts and switches.
    pub fn devices(&self) -> u32 {
        self.names.len() as u32
    }

    /// Number of ports of a device, connected or not.
    pub fn ports(&self, device: u32) -> u32 {
        self.first[device as usize + 1] - self.first[device as usize]
    }

    /// Name of a device.
    pub fn name(&self, device: u32) -> &str {
        &self.names[device as usize]
    }

    /// The device of this name.
    pub fn device(&self, name: &str) -> Option<u32> {
        let find = |&device: &u32| (*self.names[device as usize]).cmp(name);
        let at = self.sorted.binary_search_by(find).ok()?;
        Some(self.sorted[at])
    }

    /// The names of all hosts, by number.
    pub fn host_names(&self) -> Vec<&str> {
        (0..self.hosts()).map(|host| self.name(host)).collect()
    }

    /// The host of this name.
    pub fn host(&self, name: &str) -> Option<u32> {
        self.device(name).filter(|&device| device < self.hosts)
    }

    /// The switch of this name.
    pub fn switch(&self, name: &str) -> Option<u32> {
        self.device(name).filter(|&device| device >= self.hosts)
    }

    /// True if a device is a host.
    pub const fn is_host(&self, device: u32) -> bool {
        device < self.hosts
    }

    /// The far end of a port, if it is connected and the link works.
    pub fn peer(&self, device: u32, port: u16) -> Option<End> {
        self.ends(device).get(usize::from(port)).copied().flatten()
    }

    /// The far ends of all ports of a device.
    pub fn ends(&self, device: u32) -> &[Option<End>] {
        let device = device as usize;
        &self.ends[self.first[device] as usize..self.first[device + 1] as usize]
    }

    /// The connected ports of a device and their far ends.
    pub fn neighbours(&self, device: u32) -> impl Iterator<Item = (u16, End)> {
        self.ends(device).iter().enumerate().filter_map(|(port, end)| Some((port as u16, (*end)?)))
    }

    /// Number of the first port of a device among all ports of all devices.
    pub(crate) fn first_port(&self, device: u32) -> u32 {
        self.first[device as usize]
    }

    /// Number of the ports of all devices.
    pub(crate) fn all_ports(&self) -> u32 {
        self.ends.len() as u32
    }

    /// A link by its number.
    pub fn link(&self, link: u32) -> &Link {
        &self.links[link as usize]
    }

    /// All links, broken ones as well.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// `device:port`, for messages.
    pub fn plug_name(&self, plug: Plug) -> String {
        format!("{}:{}", self.name(plug.device), plug.port)
    }

    /// The hosts that are out of service, ascending: all their links are.
    pub fn hosts_out(&self) -> Vec<u32> {
        let mut linked = vec![false; self.hosts as usize];
        for plug in self.links.iter().flat_map(|link| link.ends) {
            if let Some(linked) = linked.get_mut(plug.device as usize) {
                *linked = true;
            }
        }
        let is_out = |&host: &u32| linked[host as usize] && self.neighbours(host).next().is_none();
        (0..self.hosts).filter(is_out).collect()
    }

    /// The place of each device in a row of all of them, from 0 to 2^32. Hosts are where their
    /// switch is, and the switches of each distance from the hosts are spread evenly by their
    /// numbers, so that neighbours are near each other in trees and grids alike.
    pub fn rows(&self) -> Vec<u64> {
        let mut rows = vec![0; self.devices() as usize];
        let mut known: Vec<bool> = (0..self.devices()).map(|device| self.is_host(device)).collect();
        let mut ring: Vec<u32> = (0..self.hosts).collect();
        while !ring.is_empty() {
            let mut next: Vec<u32> = Vec::new();
            let ends = ring.iter().flat_map(|&device| self.neighbours(device));
            for peer in ends.map(|(_, end)| end.device) {
                if !std::mem::replace(&mut known[peer as usize], true) {
                    next.push(peer);
                }
            }
            next.sort_unstable();
            for (i, &device) in (0..).zip(&next) {
                rows[device as usize] = ((2 * i + 1) << 31) / next.len() as u64;
            }
            ring = next;
        }
        for host in 0..self.hosts {
            let switch = self.neighbours(host).next().map(|(_, end)| end.device as usize);
            rows[host as usize] = switch.map_or(0, |switch| rows[switch]);
        }
        rows
    }

    /// Sets the times of flight of links between switches, by the numbers of the two among
    /// switches, from the first to the second.
    pub(crate) fn set_delays(&mut self, delay: impl Fn([u32; 2]) -> Option<Time>) {
        for link in &mut self.links {
            let [a, b] = link.ends.map(|plug| plug.device.checked_sub(self.hosts));
            if let (Some(a), Some(b)) = (a, b) {
                link.delay = delay([a, b]);
                link.back = delay([b, a]).filter(|_| delay([b, a]) != link.delay);
            }
        }
    }

    /// Takes a link out of service; its ports stay, unconnected.
    pub(crate) fn fail(&mut self, link: u32) {
        let Some(link) = self.links.get_mut(link as usize) else { return };
        link.up = false;
        for plug in link.ends {
            let at = self.first[plug.device as usize] + u32::from(plug.port);
            self.ends[at as usize] = None;
        }
    }
}
