//! The model behind the contract of all networks.

use std::sync::Arc;

use ::network::{Network, Outlet as Gate, Parcel, Uncontended};
use topology::Header;
use units::Time;

use crate::{Fabric, Hca, Message, Outlet, Record, Signal, Switch};

/// A network whose users know its hosts by numbers of their own: where they are placed.
#[derive(Clone, Debug)]
pub struct Infiniband {
    fabric: Arc<Fabric>,
    /// The host of each number.
    hosts: Box<[u32]>,
    /// The number of each device: of hosts, [`u32::MAX`] for those without; switches follow.
    numbers: Box<[u32]>,
    /// Service levels of the hosts' messages, in turn; there is one at least.
    levels: Vec<u8>,
}

/// Why numbers cannot be placed on hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// There is no such host.
    #[error("{number} is placed on host {host}, but there are only {hosts} hosts")]
    NoHost {
        /// Who.
        number: u32,
        /// Where.
        host: u32,
        /// How many there are.
        hosts: u32,
    },
    /// A host has two.
    #[error("{first} and {second} are both placed on host {host}")]
    Twice {
        /// The first.
        first: u32,
        /// The second.
        second: u32,
        /// Where.
        host: u32,
    },
}

impl Infiniband {
    /// Number n is the host `hosts[n]`; its messages travel at a service level.
    pub fn new(
        fabric: impl Into<Arc<Fabric>>,
        hosts: Vec<u32>,
        level: u8,
    ) -> Result<Self, Misplaced> {
        let fabric = fabric.into();
        let count = fabric.hosts();
        let mut numbers = vec![u32::MAX; fabric.devices() as usize];
        for (number, &host) in (0..).zip(&hosts) {
            if host >= count {
                return Err(Misplaced::NoHost { number, host, hosts: count });
            }
            let place = &mut numbers[host as usize];
            if *place != u32::MAX {
                return Err(Misplaced::Twice { first: *place, second: number, host });
            }
            *place = number;
        }
        let switches = numbers.iter_mut().skip(count as usize);
        (hosts.len() as u32..).zip(switches).for_each(|(number, place)| *place = number);
        Ok(Self { fabric, hosts: hosts.into(), numbers: numbers.into(), levels: vec![level] })
    }

    /// The same, but the messages of numbers 0, 1, 2, … travel at these service levels in turn.
    #[must_use]
    pub fn with_levels(mut self, levels: &[u8]) -> Self {
        if !levels.is_empty() {
            self.levels = levels.to_vec();
        }
        self
    }

    /// The service level of a number's messages.
    #[inline]
    fn level(&self, number: u32) -> u8 {
        match self.levels.as_slice() {
            [level] => *level,
            levels => levels[number as usize % levels.len()],
        }
    }

    /// The network.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The device that a number of the contract stands for.
    pub fn device_of(&self, number: u32) -> u32 {
        let switch = || self.fabric.hosts() + (number - self.hosts.len() as u32);
        self.hosts.get(number as usize).copied().unwrap_or_else(switch)
    }

    /// How long a message from a number occupies its host's link: all its flits, at the link's
    /// pace.
    pub fn link_time(&self, number: u32, bytes: u64) -> Time {
        let header = Header { source: self.host(number), ..Header::default() };
        let port = self.fabric.first_hop(&header).port;
        let flit = self.fabric.flit_time_of(header.source, port).unwrap_or_default();
        let (_, flits) = self.fabric.parameters().message_flits(bytes);
        Time::from_ps(flit.ps().saturating_mul(flits))
    }

    /// Links that a message of this number crosses from one host to another; 0 if there is no
    /// route.
    pub fn hops(&self, source: u32, destination: u32, number: u64) -> u32 {
        let level = self.level(source);
        let (source, destination) = (self.host(source), self.host(destination));
        let choice = self.fabric.choose(source, destination, level, number);
        let header = Header { source, destination, level, choice };
        self.fabric.hops(&header).unwrap_or(0)
    }

    fn host(&self, number: u32) -> u32 {
        self.hosts.get(number as usize).copied().unwrap_or(u32::MAX)
    }
}

/// Translates the numbers of devices into those of the contract.
struct Through<'a, O> {
    numbers: &'a [u32],
    out: &'a mut O,
}

impl<O> Through<'_, O> {
    #[inline]
    fn number(&self, device: u32) -> u32 {
        self.numbers.get(device as usize).copied().unwrap_or(u32::MAX)
    }
}

impl<O: Gate<Infiniband>> Outlet for Through<'_, O> {
    const LISTENS: bool = O::LISTENS;

    #[inline]
    fn send(&mut self, device: u32, at: Time, signal: Signal) {
        let number = self.number(device);
        self.out.send(number, at, signal);
    }

    #[inline]
    fn deliver(&mut self, at: Time, source: u32, sequence: u64) {
        let number = self.number(source);
        self.out.deliver(at, number, sequence);
    }

    #[inline]
    fn record(&mut self, at: Time, record: Record) {
        self.out.record(at, record);
    }
}

impl Network for Infiniband {
    type Interface = Hca;
    type Device = Switch;
    type Signal = Signal;
    type Record = Record;

    const DIRECT: bool = false;

    fn hosts(&self) -> Option<u32> {
        Some(self.hosts.len() as u32)
    }

    fn devices(&self) -> u32 {
        self.fabric.devices() - self.fabric.hosts()
    }

    /// Every port takes part in about as many packets as a host.
    fn weight(&self, number: u32) -> u32 {
        self.fabric.ports(self.fabric.hosts() + number).len().max(1) as u32
    }

    fn order(&self) -> Option<Vec<u32>> {
        let rows = self.fabric.rows();
        let mut order: Vec<u32> = (0..self.hosts.len() as u32 + self.devices()).collect();
        order.sort_by_key(|&number| rows.get(self.device_of(number) as usize).copied());
        Some(order)
    }

    fn interface(&self, host: u32) -> Hca {
        Hca::new(&self.fabric, self.host(host))
    }

    fn device(&self, number: u32) -> Switch {
        Switch::new(&self.fabric, self.fabric.hosts() + number)
    }

    fn lookahead(&self) -> Time {
        self.fabric.lookahead()
    }

    fn lookahead_between(&self, worker_of: &dyn Fn(u32) -> usize) -> Time {
        let mut workers = vec![None; self.fabric.devices() as usize];
        for number in 0..self.hosts.len() as u32 + self.devices() {
            if let Some(worker) = workers.get_mut(self.device_of(number) as usize) {
                *worker = Some(worker_of(number));
            }
        }
        self.fabric.lookahead_where(|a, b| workers[a as usize] != workers[b as usize])
    }

    fn uncontended(&self, parcel: Parcel) -> Uncontended {
        let (source, destination) = (self.host(parcel.source), self.host(parcel.destination));
        let header = Header { source, destination, level: self.level(parcel.source), choice: 0 };
        self.fabric.uncontended(&header, parcel.bytes).unwrap_or_default()
    }

    fn inject(
        &self,
        interface: &mut Hca,
        at: Time,
        parcel: Parcel,
        number: u64,
        out: &mut impl Gate<Self>,
    ) -> Option<Time> {
        let (destination, level) = (self.host(parcel.destination), self.level(parcel.source));
        let message = Message { destination, bytes: parcel.bytes, level, sequence: number };
        let numbers = &*self.numbers;
        interface.inject(&self.fabric, at, message, &mut Through { numbers, out });
        None
    }

    fn hear(&self, interface: &mut Hca, at: Time, signal: Signal, out: &mut impl Gate<Self>) {
        let numbers = &*self.numbers;
        interface.hear(&self.fabric, at, signal, &mut Through { numbers, out });
    }

    fn next(&self, interface: &Hca) -> Time {
        interface.next()
    }

    fn run(&self, interface: &mut Hca, until: Time, out: &mut impl Gate<Self>) {
        let numbers = &*self.numbers;
        interface.run(&self.fabric, until, &mut Through { numbers, out });
    }

    fn run_device(
        &self,
        switch: &mut Switch,
        until: Time,
        signals: impl Iterator<Item = (Time, Signal)>,
        out: &mut impl Gate<Self>,
    ) -> Time {
        let numbers = &*self.numbers;
        let out = &mut Through { numbers, out };
        for (at, signal) in signals {
            switch.run(&self.fabric, at, out);
            switch.hear(&self.fabric, at, signal, out);
        }
        switch.run(&self.fabric, until, out)
    }
}
