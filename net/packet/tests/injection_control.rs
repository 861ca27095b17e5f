//! Packets in transit go before packets from hosts. Times are in cycles of 1 ns of the preset
//! `packet-booksim`.

use ::network::{Transfer, conformance, conformance::together};
use packet::{Fabric, Parameters, Switching};
use topology::{Routes, parse};
use units::{HostId, Time};

use crate::common::{network, shipped};

/// The packet of host 0 comes to router 1 at 7, as does that of host 1, which starts at 5: both ask
/// for the only channel to router 2 at 8. The arbiter begins with the lowest port, which is the
/// host's. The other packet comes three cycles later, as a channel passes a packet of one flit
/// every three cycles. With in-transit priority it is the other way round.
#[test]
fn transit_goes_first() {
    for (transit_priority, expected) in [(0.0, [20, 17]), (1.0, [17, 20])] {
        let parameters =
            Parameters { transit_priority, channels: Some(1), ..shipped("packet-booksim") };
        let net = network("mesh:dims=3x1", None, parameters);
        let messages = [(0, 0), (5, 1)].map(|(at, from)| {
            (Time::from_ps(at * 1000), Transfer::new(HostId(from), HostId(2), 8))
        });
        let found = together(&net, 3, &messages);
        assert_eq!(found, expected.map(|time| Time::from_ps(time * 1000)), "{transit_priority}");
    }
}

fn restricted(local_buffer: u32, transit_priority: f64) -> Parameters {
    Parameters {
        local_buffer,
        transit_priority,
        switching: Switching::CutThrough,
        channels: Some(4),
        mtu: 32,
        buffer: Some(16),
        ordered: true,
        ..shipped("packet-booksim")
    }
}

/// Nothing waits for ever under either rule, in any order of the routers.
#[test]
fn everything_is_delivered() {
    for parameters in [restricted(4, 0.0), restricted(0, 0.5), restricted(2, 1.0)] {
        let parameters = Parameters { flit: 256, mtu: 1024, ..parameters };
        conformance::shuffled(&network("torus:dims=3x3", Some("adaptive"), parameters), 9);
    }
}

/// A buffer of 16 flits holds four packets of four.
#[test]
fn impossible_rules_are_told() {
    let topology = parse("torus:dims=4x4").expect("a topology");
    let adaptive = "adaptive".parse().expect("a routing");
    for (parameters, expected) in [
        (restricted(5, 0.0), "a buffer of 16 flits never has room for 5 packets of 4 flits"),
        (restricted(0, 1.5), "ipr is not a probability from 0 to 1"),
    ] {
        let routes = Routes::build(&topology, Some(adaptive)).expect("routes");
        let wrong = Fabric::new(&topology.graph, routes, parameters).err().unwrap_or_default();
        assert_eq!(wrong.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}
