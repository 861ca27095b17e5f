//! Networks for tests.
#![allow(dead_code, reason = "each test uses a part")]

use infiniband::{Fabric, Hiccups, Infiniband, Parameters, preset};
use topology::{Routes, Topology};
use traffic::{Pattern, Settings};
use units::Time;

/// Links of 32 ns per flit, cables of 20 ns, switches of 61 ns; hosts that keep up with their links.
pub fn even() -> Parameters {
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    Parameters {
        cable: Time::from_ps(20_000),
        latency_in: Time::from_ps(30_000),
        latency_out: Time::from_ps(31_000),
        host_buffer: 200,
        padded: true,
        update: Time::ZERO,
        hiccups: Hiccups::NONE,
        sink: Time::from_ps(32_000),
        ..parameters
    }
}

pub fn network(spec: &str, parameters: Parameters) -> (Topology, Infiniband) {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let hosts = (0..fabric.hosts()).collect();
    (topology, Infiniband::new(fabric, hosts, 0).expect("places"))
}

pub fn settings(topology: &Topology, pattern: &Pattern, load: f64) -> Settings {
    Settings::new(pattern.on(topology).expect("a pattern"), load)
}
