//! Adaptive routing on routers: what it gains, and that nothing waits for ever.

mod common;

use ::network::{Transfer, conformance};
use packet::{Parameters, Switching};
use units::{HostId, Time};

use common::{network, shipped};

fn parameters(channels: u32) -> Parameters {
    Parameters { channels: Some(channels), ordered: true, ..shipped("packet-booksim") }
}

/// With wormhole switching and cut-through, on few and short channels, everything is delivered once
/// and in order, in any order of the routers.
#[test]
fn everything_is_delivered() {
    for (spec, channels, switching) in [
        ("torus:dims=3x3", 3, Switching::Wormhole),
        ("mesh:dims=3x3", 2, Switching::CutThrough),
        ("hyperx:dims=3x3", 4, Switching::Wormhole),
    ] {
        let short = Parameters { switching, buffer: Some(8), ..parameters(channels) };
        let net = network(spec, Some("adaptive"), Parameters { flit: 256, mtu: 2048, ..short });
        conformance::shuffled(&net, 9);
    }
}

/// A packet alone takes a shortest way: 5 R + 2 cycles for R routers.
#[test]
fn zero_load() {
    let net = network("torus:dims=8x8", Some("adaptive"), parameters(3));
    for (destination, routers) in [(0, 1), (1, 2), (4, 5), (36, 9), (63, 3)] {
        let transfer = Transfer::new(HostId(0), HostId(destination), 8);
        let found = conformance::together(&net, 64, &[(Time::ZERO, transfer)]);
        assert_eq!(found, [Time::from_ps((5 * routers + 2) * 1000)], "{destination}");
    }
}

/// On a mesh of 3x3 hosts 0 and 1 send a packet of 200 flits each, to 5 and 2. In dimension order
/// both cross the link from switch 1 to 2, which carries a flit a cycle: the last one comes after
/// 400 flits. The adaptive packet of host 0 meets the other at switch 1, where the link down has
/// more credits: each comes in its time alone, 5 R + 2 + 199.
#[test]
fn load_decides_the_way() {
    let messages = [(Time::ZERO, 1, 2), (Time::from_ps(50_000), 0, 5)]
        .map(|(at, from, to)| (at, Transfer::new(HostId(from), HostId(to), 1600)));
    let last = |routing| {
        let long = Parameters { mtu: 1600, buffer: Some(16), ..parameters(2) };
        let net = network("mesh:dims=3x3", Some(routing), long);
        let found = conformance::together(&net, 9, &messages);
        found.iter().map(|time| time.ps() / 1000).collect::<Vec<_>>()
    };
    assert_eq!(last("adaptive"), [5 * 2 + 2 + 199, 50 + 5 * 4 + 2 + 199]);
    assert!(last("dimension-order")[1] > 380);
}
