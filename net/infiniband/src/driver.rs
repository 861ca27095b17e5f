//! The plainest driver of the devices: one heap, one thread. Tests and the closed forms' checks use
//! it.

use std::{cmp::Reverse, collections::BinaryHeap};

use units::Time;

use crate::{Fabric, Hca, Message, Outlet, Record, Signal, Switch};

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    /// When.
    pub at: Time,
    /// Where.
    pub destination: u32,
    /// From where.
    pub source: u32,
    /// Its number.
    pub sequence: u64,
}

/// What is due at a device.
#[derive(Clone, Copy, Debug)]
enum Due {
    Signal(Signal),
    Inject(Message),
    Run,
}

/// The heap's keys are (time, class, source, the source's sequence) in one number; what they stand
/// for lies in slots that are used again.
#[derive(Debug, Default)]
struct Heap {
    keys: BinaryHeap<Reverse<(u128, u32)>>,
    slots: Vec<(u32, Due)>,
    free: Vec<u32>,
}

/// Classes of events at one instant.
const SIGNAL: u64 = 0;
const INJECT: u64 = 1;
const RUN: u64 = 2;

impl Heap {
    fn push(&mut self, at: u64, (class, source, sequence): (u64, u32, u64), device: u32, due: Due) {
        let tie = class << 62 | u64::from(source) << 38 | sequence & ((1 << 38) - 1);
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = (device, due);
        } else {
            self.slots.push((device, due));
        }
        self.keys.push(Reverse((u128::from(at) << 64 | u128::from(tie), slot)));
    }

    fn next(&self) -> u64 {
        self.keys.peek().map_or(u64::MAX, |key| (key.0.0 >> 64) as u64)
    }

    fn pop(&mut self) -> Option<(u64, u32, Due)> {
        let Reverse((key, slot)) = self.keys.pop()?;
        self.free.push(slot);
        let &(device, due) = self.slots.get(slot as usize)?;
        Some(((key >> 64) as u64, device, due))
    }
}

struct Gathered<'a, R: FnMut(Time, u32, Record)> {
    heap: &'a mut Heap,
    delivered: &'a mut BinaryHeap<Reverse<Delivery>>,
    source: u32,
    sequence: &'a mut u64,
    probe: &'a mut R,
}

impl<R: FnMut(Time, u32, Record)> Outlet for Gathered<'_, R> {
    const LISTENS: bool = size_of::<R>() > 0;

    #[inline]
    fn send(&mut self, device: u32, at: Time, signal: Signal) {
        *self.sequence += 1;
        let tie = (SIGNAL, self.source, *self.sequence);
        self.heap.push(at.ps(), tie, device, Due::Signal(signal));
    }

    fn deliver(&mut self, at: Time, source: u32, sequence: u64) {
        let destination = self.source;
        self.delivered.push(Reverse(Delivery { at, destination, source, sequence }));
    }

    fn record(&mut self, at: Time, record: Record) {
        (self.probe)(at, self.source, record);
    }
}

/// All devices of a network and what is due.
#[derive(Debug)]
pub struct Driver<'a, R> {
    net: &'a Fabric,
    hcas: Vec<Hca>,
    switches: Vec<Switch>,
    /// When each device is entered in the heap to run.
    wakes: Vec<u64>,
    heap: Heap,
    delivered: BinaryHeap<Reverse<Delivery>>,
    injected: u64,
    sequence: u64,
    /// Events so far.
    pub events: u64,
    probe: R,
}

impl<'a, R: FnMut(Time, u32, Record)> Driver<'a, R> {
    /// All devices, idle; at most 2^24 of them. `probe` is told of records if it captures anything.
    pub fn new(net: &'a Fabric, probe: R) -> Self {
        Self {
            net,
            hcas: (0..net.hosts()).map(|host| Hca::new(net, host)).collect(),
            switches: (net.hosts()..net.devices()).map(|id| Switch::new(net, id)).collect(),
            wakes: vec![u64::MAX; net.devices() as usize],
            heap: Heap::default(),
            delivered: BinaryHeap::new(),
            injected: 0,
            sequence: 0,
            events: 0,
            probe,
        }
    }

    /// A message enters at `source`, now or later.
    pub fn inject(&mut self, at: Time, source: u32, message: Message) {
        self.injected += 1;
        let tie = (INJECT, source, self.injected);
        self.heap.push(at.ps(), tie, source, Due::Inject(message));
    }

    /// The next message to arrive, in order of time; `None` if there is none any more.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        loop {
            if let Some(&Reverse(delivery)) = self.delivered.peek()
                && delivery.at.ps() <= self.heap.next()
            {
                self.delivered.pop();
                return Some(delivery);
            }
            let (now, device, due) = self.heap.pop()?;
            self.handle(now, device, due);
        }
    }

    /// Messages that have not been sent in full, and flits that wait in switches.
    pub fn left(&self) -> (u64, u64) {
        let unsent = self.hcas.iter().map(Hca::unsent).sum();
        (unsent, self.switches.iter().map(Switch::waiting).sum())
    }

    fn handle(&mut self, now: u64, device: u32, due: Due) {
        self.events += 1;
        let at = Time::from_ps(now);
        let (net, hosts) = (self.net, self.net.hosts());
        let mut out = Gathered {
            heap: &mut self.heap,
            delivered: &mut self.delivered,
            source: device,
            sequence: &mut self.sequence,
            probe: &mut self.probe,
        };
        let after = Time::from_ps(now + 1);
        let next = if device < hosts {
            let hca = &mut self.hcas[device as usize];
            match due {
                Due::Signal(signal) => hca.hear(net, at, signal, &mut out),
                Due::Inject(message) => hca.inject(net, at, message, &mut out),
                Due::Run => _ = hca.run(net, after, &mut out),
            }
            hca.next()
        } else {
            let switch = &mut self.switches[(device - hosts) as usize];
            match due {
                Due::Signal(signal) => switch.hear(net, at, signal, &mut out),
                Due::Inject(_) => {}
                Due::Run => _ = switch.run(net, after, &mut out),
            }
            switch.next()
        };
        let wake = &mut self.wakes[device as usize];
        if matches!(due, Due::Run) && *wake <= now {
            *wake = u64::MAX;
        }
        if next.ps() < *wake {
            *wake = next.ps();
            self.heap.push(next.ps(), (RUN, device, 0), device, Due::Run);
        }
    }
}
