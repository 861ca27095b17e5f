//! Networks for tests.
#![allow(dead_code, reason = "each test uses a part")]

use infiniband::{Fabric, Infiniband, Parameters};
use topology::{Routes, Topology};
use traffic::{Pattern, Settings};

mod even;
pub use even::even;

pub fn network(spec: &str, parameters: Parameters) -> (Topology, Infiniband) {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    (topology, Infiniband::new(fabric, 0))
}

pub fn settings(topology: &Topology, pattern: &Pattern, load: f64) -> Settings {
    Settings::new(pattern.on(topology).expect("a pattern"), load)
}
