//! The plainest driver of the devices: one heap, one thread. Tests and the closed forms' checks use it.

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

/// What is due at a device; the order of the variants is that at one instant.
#[derive(Clone, Copy, Debug)]
enum Due {
    Signal(Signal),
    Inject(Message),
    Run,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    /// Time, class, source, the source's sequence.
    key: (u64, u8, u32, u64),
    device: u32,
    due: Due,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

struct Gathered<'a, R: FnMut(Time, u32, Record)> {
    heap: &'a mut BinaryHeap<Reverse<Event>>,
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
        let key = (at.ps(), 0, self.source, *self.sequence);
        self.heap.push(Reverse(Event { key, device, due: Due::Signal(signal) }));
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
    heap: BinaryHeap<Reverse<Event>>,
    delivered: BinaryHeap<Reverse<Delivery>>,
    injected: u64,
    sequence: u64,
    /// Events so far.
    pub events: u64,
    probe: R,
}

impl<'a, R: FnMut(Time, u32, Record)> Driver<'a, R> {
    /// All devices, idle. `probe` is told of records if it captures anything.
    pub fn new(net: &'a Fabric, probe: R) -> Self {
        Self {
            net,
            hcas: (0..net.hosts()).map(|host| Hca::new(net, host)).collect(),
            switches: (net.hosts()..net.devices()).map(|id| Switch::new(net, id)).collect(),
            wakes: vec![u64::MAX; net.devices() as usize],
            heap: BinaryHeap::new(),
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
        let key = (at.ps(), 1, source, self.injected);
        self.heap.push(Reverse(Event { key, device: source, due: Due::Inject(message) }));
    }

    /// The next message to arrive, in order of time; `None` if there is none any more.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        loop {
            let due = self.heap.peek().map_or(u64::MAX, |event| event.0.key.0);
            if let Some(&Reverse(delivery)) = self.delivered.peek()
                && delivery.at.ps() <= due
            {
                self.delivered.pop();
                return Some(delivery);
            }
            let Reverse(event) = self.heap.pop()?;
            self.handle(event);
        }
    }

    /// Messages that have not been sent in full, and flits that wait in switches.
    pub fn left(&self) -> (u64, u64) {
        let unsent = self.hcas.iter().map(Hca::unsent).sum();
        (unsent, self.switches.iter().map(Switch::waiting).sum())
    }

    fn handle(&mut self, event: Event) {
        self.events += 1;
        let Event { key: (now, ..), device, due } = event;
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
            let key = (next.ps(), 2, device, 0);
            self.heap.push(Reverse(Event { key, device, due: Due::Run }));
        }
    }
}
