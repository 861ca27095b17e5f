//! Measures the cost of the layers above the network: a run, and then its injections once more over
//! the same network without ranks: `layers [PATTERN [TOPOLOGY [BYTES [PRESET]]]]`. Times are
//! seconds of the processor, taken in turn for a second, nine at least; the least counts.

use std::time::{Duration, Instant};

use host::{Settings, simulate_over};
use infiniband::{Fabric, Infiniband, preset};
use kernel::{Config, Event, Probe, Silent, TransportKind, execute};
use network::{Delivery, Endpoint, Harness, Network, Never, Nic, Site, Transfer, Worked, Worker};
use rustix::time::{ClockId, clock_gettime};
use schedule::pattern::{Options, Pattern};
use topology::Routes;
use units::{HostId, MessageId, Time};

/// The allocator of `heddle`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Detail = <Infiniband as Network>::Detail;

/// Injects again what has entered before, and counts what is delivered.
struct Replay {
    /// The transfers that enter, by host, in order of time.
    lists: Vec<Vec<(Time, Transfer)>>,
}

/// The part of one host.
#[derive(Default)]
struct Part {
    posted: usize,
    delivered: u64,
}

/// Nothing travels beside the network.
impl Endpoint<Infiniband> for Replay {
    type Host = Part;
    type Payload = Never;
    /// Messages delivered.
    type Worker = u64;

    const ANNOUNCES: bool = false;

    fn host(&self, _: HostId) -> Part {
        Part::default()
    }

    fn work(&self, part: &mut Part, site: &mut Site<'_, Infiniband, Self>, until: Time) -> Worked {
        let list = self.lists.get(site.host.index()).map_or(&[][..], Vec::as_slice);
        // The network adapter has one more transfer than have entered.
        while let Some((at, transfer)) = list.get(part.posted) {
            site.nic.post(*at, *transfer, MessageId(part.posted as u64));
            part.posted += 1;
            if *at >= until {
                return Worked { next: *at, held: false };
            }
        }
        Worked { next: Time::MAX, held: false }
    }

    fn hear(&self, _: &mut Part, _: &mut Site<'_, Infiniband, Self>, event: &Event<Never>) {
        match event.message {}
    }

    fn delivered(
        &self,
        part: &mut Part,
        _: &mut Site<'_, Infiniband, Self>,
        _: Delivery<Never>,
    ) -> Time {
        part.delivered += 1;
        Time::MAX
    }

    fn harvest(
        &self,
        _: HostId,
        part: &mut Part,
        _: &mut Nic<Infiniband, Never>,
        delivered: &mut u64,
    ) {
        *delivered += part.delivered;
    }
}

/// Keeps the injections.
#[derive(Default)]
struct Injections(Vec<(Time, Transfer)>);

impl Probe<host::Record<Detail>> for Injections {
    const LISTENS: bool = true;

    fn record(&mut self, record: host::Record<Detail>) {
        if let host::Record::Sent { source, destination, size: bytes, injected, .. } = record {
            let [source, destination] = [source, destination].map(HostId);
            self.0.push((injected, Transfer::new(source, destination, bytes)));
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
    let network = Infiniband::new(fabric, 0);
    let settings = Settings::default();
    let kept = simulate_over(&network, None, &pattern, &settings, Injections::default);
    let (_, probes) = kept.expect("it runs");
    let mut lists = vec![Vec::new(); ranks as usize];
    for (at, transfer) in probes.into_iter().flat_map(|probe| probe.0) {
        lists[transfer.source.index()].push((at, transfer));
    }
    for list in &mut lists {
        list.sort_by_key(|(at, _)| *at);
    }
    let messages: u64 = lists.iter().map(|list| list.len() as u64).sum();
    let replay = Harness { network: &network, endpoint: Replay { lists }, hosts: ranks };
    let count = ranks + network.devices();
    let config = Config { workers: 1, transport: TransportKind::Shared };
    let mut delivered = 0;
    let (mut whole, mut alone) = (f64::MAX, f64::MAX);
    let (start, mut times) = (Instant::now(), 0);
    while times < 9 || start.elapsed() < Duration::from_secs(1) {
        times += 1;
        whole = whole.min(timed(|| {
            simulate_over(&network, None, &pattern, &settings, || Silent).expect("it runs");
        }));
        alone = alone.min(timed(|| {
            let finished = execute(&replay, count, config, || Worker::new(0)).expect("no overflow");
            delivered = finished.workers.into_iter().map(|worker| worker.own).sum();
        }));
    }
    assert_eq!(delivered, messages, "messages of the replay");
    println!(
        "{delivered} messages: {:.2} ms, the network alone {:.2} ms; the layers above {:.0} ns a \
         message",
        whole * 1e3,
        alone * 1e3,
        (whole - alone) * 1e9 / delivered as f64
    );
}
