//! Networks for tests.

#![allow(dead_code, reason = "each test uses its part")]

use infiniband::{Delivery, Driver, Fabric, Hiccups, Message, Parameters, preset};
use topology::{Routes, Topology};
use units::Time;

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

/// Messages as (time in ps, source, message) and when they arrive.
pub fn run(net: &Fabric, messages: &[(u64, u32, Message)]) -> Vec<Delivery> {
    let mut driver = Driver::new(net, |_, _, _| {});
    for &(at, source, message) in messages {
        driver.inject(ps(at), source, message);
    }
    let delivered: Vec<_> = std::iter::from_fn(|| driver.next_delivery()).collect();
    assert_eq!(driver.left(), (0, 0));
    delivered
}
