//! The resources that activities need, and when they are free: the CPUs and interfaces of a rank.

use units::Time;

use crate::path::{Clock, Path};

/// The numbers of CPUs and interfaces of a rank: operations name them by a byte.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub cpus: u16,
    pub nics: u16,
}

/// The activities that need the same resources. It is a word in size: the processor stalls where
/// fields behind smaller ones are copied in other parts than those in which they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub enum Class {
    /// Receives to be posted: they need nothing.
    Receives,
    /// Computation on a CPU.
    Compute { cpu: u8 },
    /// Sends and steps of protocols.
    Sends { cpu: u8, nic: u8 },
    /// Messages to be received.
    Messages { cpu: u8, nic: u8 },
    /// Arrivals whose resources are not known yet; what is left of them needs nothing.
    Arrivals,
}

impl Class {
    /// Returns whether messages wait there, not tasks.
    #[inline]
    pub const fn of_messages(self) -> bool {
        matches!(self, Self::Messages { .. } | Self::Arrivals)
    }
}

impl Shape {
    /// Makes a shape with at least one of each.
    pub fn new(cpus: u32, nics: u32) -> Self {
        let few = |number: u32| number.clamp(1, 256) as u16;
        Self { cpus: few(cpus), nics: few(nics) }
    }

    /// The number of a class of tasks, or of a class of messages, each counted from 0.
    #[inline]
    pub fn number(self, class: Class) -> usize {
        let (cpus, nics) = (self.cpus as usize, self.nics as usize);
        match class {
            Class::Receives | Class::Arrivals => 0,
            Class::Compute { cpu } => 1 + usize::from(cpu),
            Class::Sends { cpu, nic } => 1 + cpus + usize::from(cpu) * nics + usize::from(nic),
            Class::Messages { cpu, nic } => 1 + usize::from(cpu) * nics + usize::from(nic),
        }
    }

    /// Returns whether which CPU and interface a message is charged to depends on its receive.
    pub const fn several(self) -> bool {
        self.cpus > 1 || self.nics > 1
    }
}

/// The clocks of a rank: CPUs, and the sending and the receiving side of each interface.
///
/// Nearly all programs use one CPU and one interface, and there are many ranks, so that case is
/// kept small: an interface that is free before the CPU is needs no path, because it never decides.
#[derive(Debug, Default)]
pub struct Clocks {
    cpu: Clock,
    sending: Time,
    receiving: Time,
    more: Option<Box<MoreClocks>>,
}

/// The clocks that most ranks do not need.
#[derive(Debug, Default)]
struct MoreClocks {
    /// The paths by which the first interface's two sides come to be free.
    paths: [Path; 2],
    /// The CPUs after the first.
    cpus: Vec<Clock>,
    /// The two sides of the interfaces after the first.
    nics: Vec<[Clock; 2]>,
    /// By interface, its receiving side where the CPU takes no part in what comes in
    /// ([`loggops::Receive::Nic`]); what has never received anything is not there.
    incoming: Vec<Clock>,
}

impl MoreClocks {
    #[cold]
    fn new(shape: Shape) -> Self {
        let cpus = vec![Clock::default(); usize::from(shape.cpus) - 1];
        let nics = vec![[Clock::default(); 2]; usize::from(shape.nics) - 1];
        Self { cpus, nics, ..Self::default() }
    }

    fn overflow(&self) -> bool {
        let nics = self.nics.as_flattened().iter().chain(&self.incoming);
        self.cpus.iter().chain(nics).any(|clock| clock.free == Time::MAX)
    }
}

impl Clocks {
    #[inline(always)]
    pub fn new(shape: Shape) -> Self {
        let more = if shape.several() { Some(Box::new(MoreClocks::new(shape))) } else { None };
        Self { more, ..Self::default() }
    }

    /// A CPU.
    #[inline]
    pub fn cpu(&self, cpu: u8) -> Clock {
        match (cpu, &self.more) {
            (1.., Some(more)) => more.cpus.get(usize::from(cpu) - 1).copied().unwrap_or_default(),
            _ => self.cpu,
        }
    }

    /// Charges a CPU.
    #[inline]
    pub fn set_cpu(&mut self, cpu: u8, clock: Clock) {
        match (cpu, &mut self.more) {
            (1.., Some(more)) => {
                if let Some(place) = more.cpus.get_mut(usize::from(cpu) - 1) {
                    *place = clock;
                }
            }
            _ => self.cpu = clock,
        }
    }

    /// Returns the clock of one side of an interface.
    #[inline]
    pub fn nic(&self, nic: u8, side: Side) -> Clock {
        match (nic, &self.more) {
            (1.., Some(more)) => {
                more.nics.get(usize::from(nic) - 1).map_or(Clock::default(), |n| n[side as usize])
            }
            (_, more) => {
                let free = self.side(side);
                let path = more.as_ref().map_or(Path::default(), |more| more.paths[side as usize]);
                Clock { free, path }
            }
        }
    }

    /// Charges one side of an interface, after the CPU.
    #[inline]
    pub fn set_nic(&mut self, nic: u8, side: Side, clock: Clock) {
        if let (1.., Some(more)) = (nic, &mut self.more) {
            if let Some(sides) = more.nics.get_mut(usize::from(nic) - 1) {
                sides[side as usize] = clock;
            }
            return;
        }
        match side {
            Side::Sending => self.sending = clock.free,
            Side::Receiving => self.receiving = clock.free,
        }
        if clock.free > self.cpu.free || self.more.is_some() {
            self.more.get_or_insert_default().paths[side as usize] = clock.path;
        }
    }

    /// The receiving side of an interface that receives while the CPU is busy.
    pub fn incoming(&mut self, nic: u8) -> &mut Clock {
        let more = self.more.get_or_insert_default();
        let place = usize::from(nic);
        if more.incoming.len() <= place {
            more.incoming.resize(place + 1, Clock::default());
        }
        &mut more.incoming[place]
    }

    const fn side(&self, side: Side) -> Time {
        match side {
            Side::Sending => self.sending,
            Side::Receiving => self.receiving,
        }
    }

    /// Returns how the start of an activity at time `at` came about: by what it waited for itself,
    /// ready at a moment of its own, by the CPU, or by the interface.
    #[inline]
    pub fn start(&self, own: (Time, Path), at: Time, (cpu, nic): (u8, u8), side: Side) -> Path {
        if own.0 == at {
            return own.1;
        }
        let cpu = self.cpu(cpu);
        if cpu.free == at { cpu.path } else { self.nic(nic, side).path }
    }

    /// The CPU that is busy longest, the lowest of several.
    pub fn last_cpu(&self) -> Clock {
        let mut last = self.cpu;
        if let Some(more) = &self.more {
            for clock in &more.cpus {
                if clock.free > last.free {
                    last = *clock;
                }
            }
        }
        last
    }

    /// True if a CPU or an interface is busy beyond the range of simulated time.
    pub fn overflow(&self) -> bool {
        let first = self.cpu.free.max(self.sending).max(self.receiving);
        first == Time::MAX || self.more.as_ref().is_some_and(|more| more.overflow())
    }

    /// Returns when everything that a class needs is free.
    #[inline(always)]
    pub fn free(&self, class: Class) -> Time {
        match class {
            Class::Receives | Class::Arrivals => Time::ZERO,
            Class::Compute { cpu } => self.cpu(cpu).free,
            Class::Sends { cpu, nic } => self.cpu(cpu).free.max(self.nic_free(nic, Side::Sending)),
            Class::Messages { cpu, nic } => {
                self.cpu(cpu).free.max(self.nic_free(nic, Side::Receiving))
            }
        }
    }

    #[inline]
    fn nic_free(&self, nic: u8, side: Side) -> Time {
        if nic == 0 { self.side(side) } else { self.nic(nic, side).free }
    }
}

/// The sides of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Sending,
    Receiving,
}
