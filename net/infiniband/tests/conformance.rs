//! The model passes the suite of all networks.

mod common;

use common::{fabric, simula};
use infiniband::{Infiniband, Misplaced};
use network::conformance;

/// Without pauses, and with buffers that cover the longest round trip: what `uncontended` stands
/// for.
#[test]
fn conforms() {
    for (spec, hosts) in [("H8_S1", 8), ("H8_S6", 8), ("torus:dims=3x3", 9)] {
        println!("{spec}");
        let net = Infiniband::new(fabric(spec, simula()), (0..hosts).collect(), 0).expect("places");
        conformance::all(&net, hosts);
    }
}

/// Numbers need not be those of the hosts, nor have all hosts.
#[test]
fn placed_elsewhere() {
    let net = Infiniband::new(fabric("H8_S2", simula()), vec![7, 2, 5], 0).expect("places");
    conformance::all(&net, 3);
}

#[test]
fn misplaced() {
    let place = |hosts| Infiniband::new(fabric("H8_S1", simula()), hosts, 0).map(|_| ());
    let twice = Misplaced::Twice { first: 0, second: 2, host: 4 };
    assert_eq!(place(vec![4, 3, 4]), Err(twice));
    assert_eq!(place(vec![1, 8]), Err(Misplaced::NoHost { number: 1, host: 8, hosts: 8 }));
}
