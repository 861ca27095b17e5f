//! Networks for tests.

use infiniband::{Fabric, Hca, Hiccups, Infiniband, Parameters, Record, Switch, preset};
use kernel::{Config, Probe, TransportKind};
use network::{Script, Transfer};
use topology::{Routes, Topology};
use units::{DeviceId, HostId, Time};

/// A message to send.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub destination: u32,
    pub bytes: u64,
    /// Its service level.
    pub level: u8,
    /// A number by which the test knows it.
    pub sequence: u64,
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    pub at: Time,
    pub destination: u32,
    pub source: u32,
    pub sequence: u64,
}

/// The preset of seed 000 without pauses and flow-control packets, with 20 ns of cable and 30 and
/// 31 ns of switch.
pub fn simula() -> Parameters {
    let preset = preset("infiniband-ddr-simula").expect("a preset");
    Parameters {
        cable: ps(20_000),
        latency_in: ps(30_000),
        latency_out: ps(31_000),
        credit_delay: ps(0),
        padded: true,
        update: Time::ZERO,
        host_buffer: 200,
        hiccups: Hiccups::NONE,
        ..preset
    }
}

pub fn topology(spec: &str) -> Topology {
    topology::parse(spec).expect(spec)
}

pub fn fabric_with_levels(spec: &str, levels: u8, parameters: Parameters) -> Fabric {
    let topology = topology(spec);
    let routes = Routes::build(&topology, None).expect("routes").with_levels(levels);
    Fabric::new(&topology.graph, routes, parameters).expect("a fabric")
}

pub fn fabric(spec: &str, parameters: Parameters) -> Fabric {
    fabric_with_levels(spec, 1, parameters)
}

pub const fn ps(ps: u64) -> Time {
    Time::from_ps(ps)
}

/// A message at service level 0.
pub const fn message(destination: u32, bytes: u64, sequence: u64) -> Message {
    Message { destination, bytes, level: 0, sequence }
}

/// Keeps all records, with their times in picoseconds and the numbers of their devices.
#[derive(Default)]
struct Records(Vec<(u64, u32, Record)>);

impl Probe<(Time, DeviceId, Record)> for Records {
    const LISTENS: bool = true;

    fn record(&mut self, (at, device, record): (Time, DeviceId, Record)) {
        self.0.push((at.ps(), device.0, record));
    }
}

/// Sends messages given as (time in ps, source, message). Returns when they arrive, in order of
/// time, and all records, in order of time and device. Nothing may be left in the network.
pub fn watch(
    net: &Fabric,
    messages: &[(u64, u32, Message)],
) -> (Vec<Delivery>, Vec<(u64, u32, Record)>) {
    let hosts = net.hosts();
    let network = Infiniband::new(net.clone(), 0);
    let mut numbers = vec![Vec::new(); hosts as usize];
    let mut sorted = messages.to_vec();
    sorted.sort_by_key(|(at, ..)| *at);
    let mut transfers = Vec::new();
    for (at, source, message) in sorted {
        let Message { destination, bytes, level, sequence } = message;
        let class = level + 1;
        let transfer =
            Transfer { class, ..Transfer::new(HostId(source), HostId(destination), bytes) };
        transfers.push((ps(at), transfer));
        numbers[source as usize].push(sequence);
    }
    let config = Config { workers: 1, transport: TransportKind::Shared };
    let script = Script::of(hosts, &transfers);
    let (played, records) = script.watch(&network, config, Records::default).expect("no overflow");
    assert_eq!(played.interfaces.iter().map(Hca::unsent).sum::<u64>(), 0, "unsent messages");
    assert_eq!(played.devices.iter().map(Switch::waiting).sum::<u64>(), 0, "flits that wait");
    let deliveries = played.deliveries().into_iter().map(|(at, injection)| {
        let Transfer { source, destination, .. } = injection.transfer;
        let sequence = numbers[source.index()][injection.sequence as usize];
        Delivery { at, destination: destination.0, source: source.0, sequence }
    });
    let mut records: Vec<_> = records.into_iter().flat_map(|records| records.0).collect();
    records.sort_by_key(|(at, device, _)| (*at, *device));
    (deliveries.collect(), records)
}

/// Returns the arrivals of messages that are given as (time in ps, source, message).
pub fn run(net: &Fabric, messages: &[(u64, u32, Message)]) -> Vec<Delivery> {
    watch(net, messages).0
}
