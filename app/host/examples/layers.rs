//! What the layers above the network cost: a run, and then its injections once more over the same
//! network without ranks: `layers [PATTERN [TOPOLOGY [BYTES [PRESET]]]]`. Times are seconds of the
//! processor, taken in turn for a second, nine at least; the least counts.

use std::time::{Duration, Instant};

use host::{Settings, simulate_over};
use infiniband::{Fabric, Infiniband, preset};
use kernel::{Config, Event, Model, Next, Outbox, Probe, Silent, Transport, execute};
use network::{Network, Parcel};
use rustix::time::{ClockId, clock_gettime};
use schedule::pattern::{Options, Pattern};
use topology::Routes;
use units::Time;

/// That of `heddle`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Interface = <Infiniband as Network>::Interface;
type Device = <Infiniband as Network>::Device;
type Signal = <Infiniband as Network>::Signal;
type Record = <Infiniband as Network>::Record;

struct Replay {
    network: Infiniband,
    /// What enters, by host, in order of time.
    lists: Vec<Vec<(Time, Parcel)>>,
}

struct Process {
    kind: Kind,
    /// Signals that it has sent, and messages that it was handed.
    signals: u32,
    delivered: u64,
}

enum Kind {
    Host { interface: Box<Interface>, done: usize },
    Device(Device),
}

/// Where the signals of a process go.
struct Gate<'a> {
    id: u32,
    signals: &'a mut u32,
    delivered: &'a mut u64,
    out: &'a mut Outbox<Signal>,
}

impl network::Outlet<Infiniband> for Gate<'_> {
    const LISTENS: bool = false;

    fn send(&mut self, destination: u32, time: Time, message: Signal) {
        *self.signals = self.signals.wrapping_add(1);
        let (source, sequence) = (self.id, *self.signals);
        self.out.send(Event { time, source, sequence, destination, message });
    }

    fn deliver(&mut self, _: Time, _: u32, _: u64) {
        *self.delivered += 1;
    }

    fn record(&mut self, _: Time, _: Record) {}
}

impl Model for Replay {
    type Process = Process;
    type Message = Signal;
    type Worker = ();

    fn process(&self, id: u32) -> Self::Process {
        let hosts = self.lists.len() as u32;
        let kind = if id < hosts {
            Kind::Host { interface: Box::new(self.network.interface(id)), done: 0 }
        } else {
            Kind::Device(self.network.device(id - hosts))
        };
        Process { kind, signals: 0, delivered: 0 }
    }

    fn lookahead(&self) -> Time {
        self.network.lookahead()
    }

    fn run(
        &self,
        id: u32,
        Process { kind, signals, delivered }: &mut Process,
        until: Time,
        inbox: &[Event<Signal>],
        (): &mut (),
        out: &mut Outbox<Signal>,
    ) -> Next {
        let net = &self.network;
        let mut gate = Gate { id, signals, delivered, out };
        let time = match kind {
            Kind::Device(device) => {
                let heard = inbox.iter().map(|event| (event.time, event.message));
                net.run_device(device, until, heard, &mut gate)
            }
            Kind::Host { interface, done } => {
                let list = self.lists.get(id as usize).map_or(&[][..], Vec::as_slice);
                let mut inbox = inbox.iter().peekable();
                loop {
                    let enters = list.get(*done).map_or(Time::MAX, |(at, _)| *at);
                    let own = net.next(interface).min(enters);
                    let now = inbox.peek().map_or(own, |event| event.time.min(own));
                    if now >= until {
                        break own;
                    }
                    net.run(interface, now, &mut gate);
                    while let Some(event) = inbox.next_if(|event| event.time == now) {
                        net.hear(interface, now, event.message, &mut gate);
                    }
                    while let Some((at, parcel)) = list.get(*done).filter(|(at, _)| *at == now) {
                        net.inject(interface, *at, *parcel, 0, &mut gate);
                        *done += 1;
                    }
                    net.run(interface, now.saturating_add(Time::from_ps(1)), &mut gate);
                }
            }
        };
        Next { time, urgent: false }
    }
}

/// Keeps the injections.
#[derive(Default)]
struct Injections(Vec<(Time, Parcel)>);

impl Probe<host::Record<Record>> for Injections {
    const LISTENS: bool = true;

    fn record(&mut self, record: host::Record<Record>) {
        if let host::Record::Sent { source, destination, size: bytes, injected, .. } = record {
            self.0.push((injected, Parcel { source, destination, bytes }));
        }
    }
}

/// The processor's time of a run, in seconds.
fn timed(run: impl FnOnce()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let start = now();
    run();
    now() - start
}

fn main() {
    let argument = |index, usual: &str| std::env::args().nth(index).unwrap_or(usual.to_owned());
    let number = |index, usual| argument(index, usual).parse::<u64>().expect("a number");
    let topology = topology::parse(&argument(2, "xgft:children=18x18,parents=1x18"));
    let topology = topology.expect("a topology");
    let ranks = topology.graph.hosts();
    let options = Options::new(ranks, number(3, "1024"));
    let pattern = Pattern::build(&argument(1, "dissemination"), &options).expect("a pattern");
    let parameters = preset(&argument(4, "infiniband-edr")).expect("a preset");
    let routes = Routes::build(&topology, None).expect("routes");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let network = Infiniband::new(fabric, (0..ranks).collect(), 0).expect("places");
    let settings = Settings::default();
    let kept = simulate_over(&network, None, &pattern, &settings, Injections::default);
    let (_, probes) = kept.expect("it runs");
    let mut lists = vec![Vec::new(); ranks as usize];
    for (at, parcel) in probes.into_iter().flat_map(|probe| probe.0) {
        lists[parcel.source as usize].push((at, parcel));
    }
    for list in &mut lists {
        list.sort_by_key(|(at, _)| *at);
    }
    let messages: u64 = lists.iter().map(|list| list.len() as u64).sum();
    let replay = Replay { network, lists };
    let count = ranks + replay.network.devices();
    let config = Config { workers: 1, transport: Transport::Shared };
    let mut delivered = 0;
    let (mut whole, mut alone) = (f64::MAX, f64::MAX);
    let (start, mut times) = (Instant::now(), 0);
    while times < 9 || start.elapsed() < Duration::from_secs(1) {
        times += 1;
        whole = whole.min(timed(|| {
            simulate_over(&replay.network, None, &pattern, &settings, || Silent).expect("it runs");
        }));
        alone = alone.min(timed(|| {
            let finished = execute(&replay, count, config, || ()).expect("no overflow");
            delivered = finished.parts.into_iter().flatten().map(|process| process.delivered).sum();
        }));
    }
    assert_eq!(delivered, messages, "messages of the replay");
    println!(
        "{delivered} messages: {:.2} ms, the network alone {:.2} ms; the layers above {:.0} ns a message",
        whole * 1e3,
        alone * 1e3,
        (whole - alone) * 1e9 / delivered as f64
    );
}
