//! The injections of a run once more, without what is above the network: `replay MESSAGES.csv TOPOLOGY [PRESET]`, with the
//! table `messages` of a run of one rank per host. The time of the run, compared with this, is what the layers above cost.

use std::io::BufRead;
use std::time::Instant;

use infiniband::{Fabric, Infiniband, preset};
use kernel::{Config, Event, Model, Next, Outbox, Transport, Wire, execute};
use network::{Network, Parcel};
use topology::Routes;
use units::Time;

type Interface = <Infiniband as Network>::Interface;
type Device = <Infiniband as Network>::Device;
type Record = <Infiniband as Network>::Record;

/// A network's signal as a message of the kernel.
#[derive(Clone, Copy)]
struct Heard(<Infiniband as Network>::Signal);

impl Wire for Heard {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.0.encode(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        Wire::decode(bytes).map(Self)
    }
}

struct Replay {
    network: Infiniband,
    /// What enters, by host, in order of time.
    lists: Vec<Vec<(Time, Parcel)>>,
}

enum Process {
    Host { interface: Interface, done: usize, last: Time, delivered: u64 },
    Device(Device),
}

/// Where the signals of a process go, and how many messages it was handed.
struct Gate<'a> {
    id: u32,
    sequence: &'a mut u32,
    delivered: u64,
    last: Time,
    out: &'a mut Outbox<Heard>,
}

impl network::Outlet<Infiniband> for Gate<'_> {
    const LISTENS: bool = false;

    fn send(&mut self, destination: u32, time: Time, signal: <Infiniband as Network>::Signal) {
        *self.sequence = self.sequence.wrapping_add(1);
        let (source, sequence, message) = (self.id, *self.sequence, Heard(signal));
        self.out.send(Event { time, source, sequence, destination, message });
    }

    fn deliver(&mut self, at: Time, _: u32, _: u64) {
        self.delivered += 1;
        self.last = self.last.max(at);
    }

    fn record(&mut self, _: Time, _: Record) {}
}

impl Model for Replay {
    type Process = (Process, u32);
    type Message = Heard;
    type Worker = ();

    fn process(&self, id: u32) -> Self::Process {
        let hosts = self.lists.len() as u32;
        let process = if id < hosts {
            let interface = self.network.interface(id);
            Process::Host { interface, done: 0, last: Time::ZERO, delivered: 0 }
        } else {
            Process::Device(self.network.device(id - hosts))
        };
        (process, 0)
    }

    fn lookahead(&self) -> Time {
        self.network.lookahead()
    }

    fn run(
        &self,
        id: u32,
        (process, sequence): &mut Self::Process,
        until: Time,
        inbox: &[Event<Heard>],
        (): &mut (),
        out: &mut Outbox<Heard>,
    ) -> Next {
        let net = &self.network;
        let mut gate = Gate { id, sequence, delivered: 0, last: Time::ZERO, out };
        let time = match process {
            Process::Device(device) => {
                let heard = inbox.iter().map(|event| (event.time, event.message.0));
                net.run_device(device, until, heard, &mut gate)
            }
            Process::Host { interface, done, last, delivered } => {
                let list = self.lists.get(id as usize).map_or(&[][..], Vec::as_slice);
                let mut inbox = inbox.iter().peekable();
                let next = loop {
                    let enters = list.get(*done).map_or(Time::MAX, |(at, _)| *at);
                    let own = net.next(interface).min(enters);
                    let now = inbox.peek().map_or(own, |event| event.time.min(own));
                    if now >= until {
                        break own;
                    }
                    net.run(interface, now, &mut gate);
                    while let Some(event) = inbox.next_if(|event| event.time == now) {
                        net.hear(interface, now, event.message.0, &mut gate);
                    }
                    while let Some((at, parcel)) = list.get(*done).filter(|(at, _)| *at == now) {
                        net.inject(interface, *at, *parcel, 0, &mut gate);
                        *done += 1;
                    }
                    net.run(interface, now.saturating_add(Time::from_ps(1)), &mut gate);
                };
                *delivered += gate.delivered;
                *last = gate.last.max(*last);
                next
            }
        };
        Next { time, urgent: false }
    }
}

fn main() {
    let argument = |index| std::env::args().nth(index);
    let file = argument(1).expect("a table of messages");
    let topology = topology::parse(&argument(2).expect("a topology")).expect("a topology");
    let parameters = preset(argument(3).as_deref().unwrap_or("infiniband-edr")).expect("a preset");
    let routes = Routes::build(&topology, None).expect("routes");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let mut lists = vec![Vec::new(); fabric.hosts() as usize];
    let file = std::fs::File::open(file).expect("a table of messages");
    for line in std::io::BufReader::new(file).lines().skip(1) {
        let line = line.expect("text");
        let column = |index| line.split(',').nth(index).and_then(|text| text.parse::<u64>().ok());
        let numbers = [1, 2, 4, 6].map(|index| column(index).expect("a number"));
        let [source, destination, bytes, injected] = numbers;
        let (source, destination) = (source as u32, destination as u32);
        let parcel = Parcel { source, destination, bytes };
        lists[source as usize].push((Time::from_ps(injected), parcel));
    }
    for list in &mut lists {
        list.sort_by_key(|(at, _)| *at);
    }
    let hosts = (0..fabric.hosts()).collect();
    let replay = Replay { network: Infiniband::new(fabric, hosts, 0).expect("places"), lists };
    let count = replay.lists.len() as u32 + replay.network.devices();
    let config = Config { workers: 1, transport: Transport::Shared };
    let start = Instant::now();
    let finished = execute(&replay, count, config, || ()).expect("no overflow");
    let seconds = start.elapsed().as_secs_f64();
    let (mut messages, mut end) = (0, Time::ZERO);
    for (process, _) in finished.parts.into_iter().flatten() {
        if let Process::Host { last, delivered, .. } = process {
            (messages, end) = (messages + delivered, end.max(last));
        }
    }
    println!("{messages} messages in {seconds:.3} s, the last at {end}");
}
