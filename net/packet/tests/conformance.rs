//! The model passes the suite of all networks.

use ::network::conformance;
use packet::{Allocation, Arbitration, Parameters, Switching};

use crate::common::{network, shipped};

/// Packets of 4 KiB in flits of 256 bytes, so that the large messages are few events.
fn standard() -> Parameters {
    Parameters { flit: 256, mtu: 4096, ..shipped("packet-default") }
}

#[test]
fn conforms() {
    let several = Parameters { channels: Some(4), ..standard() };
    let slow = Parameters { speed_up: 1, switching: Switching::Wormhole, ..several.clone() };
    for (spec, hosts, parameters) in [
        ("star:hosts=4", 4, standard()),
        ("H8_S6", 8, standard()),
        ("H8_S6", 8, several.clone()),
        ("torus:dims=3x3", 9, several),
        ("mesh:dims=3x2,hosts=2", 12, slow),
    ] {
        println!("{spec} {parameters:?}");
        conformance::all(&network(spec, None, parameters), hosts);
    }
}

/// With every allocator and arbiter, short buffers and links of one channel a lane, routers may act
/// in any order within a window.
#[test]
fn any_order_of_routers() {
    let allocations =
        [Allocation::InputFirst, Allocation::OutputFirst, Allocation::Islip, Allocation::Wavefront];
    let arbiters = [
        Arbitration::RoundRobin,
        Arbitration::Matrix,
        Arbitration::Oldest,
        Arbitration::Age,
        Arbitration::Priority,
        Arbitration::Random,
    ];
    for vc_allocator in allocations {
        for arbiter in arbiters {
            let parameters = Parameters {
                vc_allocator,
                switch_allocator: vc_allocator,
                arbiter,
                iterations: 2,
                buffer: Some(17),
                ..standard()
            };
            println!("{parameters:?}");
            conformance::shuffled(&network("torus:dims=3x3", None, parameters), 9);
        }
    }
}
