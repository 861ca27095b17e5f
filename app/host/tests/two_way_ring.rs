//! The two-way ring over a network with contention: its ranks answer messages as they come.

use std::collections::BTreeMap;

use host::{AnyWork, Record, Settings, TwoWayRing, Work, simulate_over};
use infiniband::{Fabric, Infiniband, preset};
use kernel::Probe;
use loggops::{Costs, Parameters};
use schedule::pattern::Options;
use topology::Routes;
use units::{Time, TimePerByte};

/// The destinations of messages, and when they met their receives, by source and number.
#[derive(Default)]
struct Messages {
    sent: Vec<((u32, u32), u32)>,
    matched: Vec<((u32, u32), Time)>,
}

impl<D: Send> Probe<Record<D>> for Messages {
    const LISTENS: bool = true;

    fn record(&mut self, record: Record<D>) {
        match record {
            Record::Sent { source, sequence, destination, .. } => {
                self.sent.push(((source, sequence), destination));
            }
            Record::Matched { source, sequence, at, .. } => {
                self.matched.push(((source, sequence), at));
            }
            _ => {}
        }
    }
}

/// For each of 12 ranks, scattered over a torus, the ranks that it answers, in this order.
fn order(size: u64, threads: usize) -> Vec<Vec<u32>> {
    order_in(&ring(size), threads)
}

fn ring(size: u64) -> TwoWayRing {
    TwoWayRing::new(&Options::new(12, size)).expect("a ring")
}

fn order_in(ring: &impl Work, threads: usize) -> Vec<Vec<u32>> {
    let topology = topology::parse("torus:dims=4x4").expect("a torus");
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let hosts = [3, 8, 1, 14, 6, 11, 0, 13, 5, 10, 2, 15];
    // Hosts take no time: the network alone decides.
    let (none, rate) = (Time::ZERO, TimePerByte::new(0, 1).expect("one byte"));
    let costs = Costs {
        latency: none,
        send_overhead: none,
        receive_overhead: none,
        gap: none,
        gap_per_byte: rate,
        send_overhead_per_byte: rate,
        receive_overhead_per_byte: rate,
    };
    let parameters =
        Parameters { small: costs, large: costs, eager_limit: 65_535, ..Parameters::default() };
    let settings = Settings { parameters, threads, ..Settings::default() };
    let network = Infiniband::new(fabric, 0);
    let run = simulate_over(&network, Some(&hosts), ring, &settings, Messages::default);
    let (outcome, probes) = run.expect("it runs");
    assert_eq!(outcome.deadlock, None);
    let sent: BTreeMap<_, _> = probes.iter().flat_map(|probe| probe.sent.clone()).collect();
    let mut matched: Vec<_> = probes.iter().flat_map(|probe| probe.matched.clone()).collect();
    matched.sort_by_key(|&(message, at)| (at, message));
    let mut order = vec![Vec::new(); 12];
    for (message, _) in matched {
        order[sent[&message] as usize].push(message.0);
    }
    order
}

/// Every rank takes in 12 messages from either side: each message goes once around. In which order
/// depends on the load of the network, here by the size of messages, and not on threads.
#[test]
fn the_order_depends_on_the_load_alone() {
    let light = order(64, 1);
    for (rank, came) in (0..).zip(&light) {
        for neighbour in [(rank + 11) % 12, (rank + 1) % 12] {
            assert_eq!(came.iter().filter(|&&from| from == neighbour).count(), 12, "{rank}");
        }
        assert_eq!(came.len(), 24);
    }
    let heavy = order(16_384, 1);
    assert_ne!(light, heavy);
    assert_eq!(order(16_384, 2), heavy);
    assert_eq!(order_in(&AnyWork::new(&ring(16_384)), 2), heavy);
}
