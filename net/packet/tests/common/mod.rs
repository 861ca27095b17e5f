//! Networks for tests.

use packet::{Fabric, Packets, Parameters, preset};
use topology::{Routes, parse};
pub fn network(spec: &str, routing: Option<&str>, parameters: Parameters) -> Packets {
    let topology = parse(spec).expect("a topology");
    let routing = routing.map(|name| name.parse().expect("a routing"));
    let routes = Routes::build(&topology, routing).expect("routes");
    Packets::new(Fabric::new(&topology.graph, routes, parameters).expect("a network"))
}

/// A parameter set that ships with the project.
pub fn shipped(name: &str) -> Parameters {
    preset(name).expect("a preset")
}
