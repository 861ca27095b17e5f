//! The model passes the suite of all networks.

mod common;

use common::{fabric, simula};
use infiniband::Infiniband;
use network::conformance;

/// Without pauses, and with buffers that cover the longest round trip: what `uncontended` stands
/// for.
#[test]
fn conforms() {
    for (spec, hosts) in [("H8_S1", 8), ("H8_S6", 8), ("torus:dims=3x3", 9)] {
        println!("{spec}");
        let net = Infiniband::new(fabric(spec, simula()), 0);
        conformance::all(&net, hosts);
    }
}
