//! Networks for tests.

use infiniband::{Fabric, Infiniband, Parameters};
use topology::{Routes, Topology};
use traffic::{Pattern, Settings};

pub use crate::scenarios::even;

pub fn network(spec: &str, parameters: Parameters) -> (Topology, Infiniband) {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    (topology, Infiniband::new(fabric, 0))
}

pub fn settings(topology: &Topology, pattern: &Pattern, load: f64) -> Settings {
    Settings::new(pattern.on(topology).expect("a pattern"), load)
}
