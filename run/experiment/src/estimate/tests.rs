use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ::infiniband::{Fabric, Infiniband, preset};
use host::Meter;
use kernel::Silent;
use results::Progress;
use schedule::pattern::{Options, Pattern};
use topology::Routes;

use super::*;
use crate::models::switched::crossings;

fn network(spec: &str) -> (Infiniband, Vec<u32>) {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-edr").expect("a preset");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let hosts: Vec<u32> = (0..fabric.hosts()).collect();
    (Infiniband::new(fabric, 0), hosts)
}

/// The work of a program over a network.
fn estimate(
    program: &impl Program,
    settings: &Settings,
    (network, hosts): &(Infiniband, Vec<u32>),
) -> Work {
    work(program, settings, &|source, destination, bytes| {
        crossings((network, hosts), (source, destination), bytes)
    })
}

/// Linear alltoall among 8 hosts at one switch: 56 sends, 56 receives, 56 arrivals. A message of 10
/// 000 bytes is 3 packets of 4096 at most, over 2 links, each with its credit: 12 signals.
#[test]
fn the_work_is_known_before_the_run() {
    let pattern = Pattern::build("linear-alltoall", &Options::new(8, 10_000)).expect("a pattern");
    let network = network("star:hosts=8");
    let settings = Settings::default();
    let work = estimate(&pattern, &settings, &network);
    assert_eq!(work, Work { operations: 3 * 56, signals: 12 * 56 });
    assert_eq!(super::work(&pattern, &settings, &|_, _, _| 0).signals, 0);
}

/// A request and an answer, of a packet each, come before each message.
#[test]
fn large_messages_ask_first() {
    let pattern = Pattern::build("linear-alltoall", &Options::new(8, 10_000)).expect("a pattern");
    let network = network("star:hosts=8");
    let mut settings = Settings { rendezvous: Rendezvous::RtsCts, ..Settings::default() };
    settings.parameters.eager_limit = 9_999;
    let work = estimate(&pattern, &settings, &network);
    assert_eq!(work, Work { operations: 5 * 56, signals: 20 * 56 });
    let (network, hosts) = &network;
    let run = host::simulate_over(network, Some(hosts), &pattern, &settings, || Silent);
    assert_eq!(run.expect("it runs").0.events, work.operations);
}

/// The share of a run is looked at from another thread while it goes on: it never falls. Operations
/// are exactly as many as were expected, so that it ends at 1.
#[test]
fn the_share_of_a_run() {
    let pattern = Pattern::build("linear-alltoall", &Options::new(36, 20_000)).expect("a pattern");
    let network = network("star:hosts=36");
    let work = estimate(&pattern, &Settings::default(), &network);
    let meter = Arc::new(Meter::default());
    let settings = Settings { progress: Some(Arc::clone(&meter)), ..Settings::default() };
    let nothing = AtomicU64::new(0);
    let progress = Progress {
        operations: &meter.events,
        signals: &meter.signals,
        simulated_ps: &nothing,
        total: Some(work),
    };
    let done = AtomicBool::new(false);
    let share = |least| progress.snapshot(Duration::ZERO, least).share.expect("a share");
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            let mut least = 0.0;
            while !done.load(Ordering::Relaxed) {
                let now = share(least);
                assert!((least..=1.0).contains(&now));
                least = now;
            }
        });
        let (network, hosts) = &network;
        let outcome = host::simulate_over(network, Some(hosts), &pattern, &settings, || Silent);
        done.store(true, Ordering::Relaxed);
        outcome.expect("it runs").0
    });
    assert_eq!(meter.signals.load(Ordering::Relaxed), outcome.signals);
    assert_eq!(meter.events.load(Ordering::Relaxed), outcome.events);
    assert_eq!(outcome.events, 3 * 36 * 35);
    assert!(share(0.0) >= 1.0);
}
