//! The model passes the suite of all networks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{fabric, fabric_with_levels, simula};
use infiniband::{Infiniband, Parameters, preset};
use network::{Traced, conformance};

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

/// With pauses, congestion control, short buffers and two service levels, devices may act in any
/// order within a window.
#[test]
fn any_order_of_devices() {
    let preset = preset("infiniband-ddr-simula-cc").expect("a preset");
    let parameters = Parameters { buffer: 80, host_buffer: 80, ..preset };
    let net = Infiniband::new(fabric_with_levels("H8_S6", 2, parameters), 0);
    let levels = (0..8).map(|host| host % 2).collect();
    conformance::shuffled(&net.with_levels(levels), 8);
}

/// A traced network keeps the contract.
#[test]
fn traced() {
    let net = Infiniband::new(fabric("star:hosts=3", simula()), 0);
    let signals = AtomicU64::new(0);
    let count = |_: &_| {
        signals.fetch_add(1, Ordering::Relaxed);
    };
    conformance::all(&Traced::new(net, count), 3);
    assert!(signals.into_inner() > 10_000);
}
