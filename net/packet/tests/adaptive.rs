//! Adaptive routing on routers: what it gains, and that nothing waits for ever.

use ::network::{Links, Network, Transfer, conformance};
use packet::{Parameters, Switching};
use units::{HostId, MessageId, Time};

use crate::common::{network, shipped};

fn parameters(channels: u32) -> Parameters {
    Parameters { channels: Some(channels), ordered: true, ..shipped("packet-booksim") }
}

/// With wormhole switching and cut-through, on few and short channels, everything is delivered once
/// and in order, in any order of the routers.
#[test]
fn everything_is_delivered() {
    for (spec, routing, channels, switching) in [
        ("torus:dims=3x3", "adaptive", 3, Switching::Wormhole),
        ("mesh:dims=3x3", "adaptive", 2, Switching::CutThrough),
        ("hyperx:dims=3x3", "adaptive", 4, Switching::Wormhole),
        ("dragonfly:p=1,a=3,h=1,g=3", "ugal-l", 3, Switching::Wormhole),
        ("dragonfly:p=1,a=3,h=1,g=3", "ugal-g", 3, Switching::Wormhole),
        ("dragonfly:p=1,a=3,h=1,g=3", "par", 4, Switching::CutThrough),
        ("complete:switches=3,hosts=3", "ugal-g", 2, Switching::CutThrough),
        ("hyperx:dims=3x3", "par", 3, Switching::Wormhole),
        ("torus:dims=3x3", "par", 6, Switching::Wormhole),
        ("hyperx:dims=3x3", "dal", 4, Switching::Wormhole),
        ("hyperx:dims=3x3", "dimension-adaptive", 2, Switching::Wormhole),
        ("complete:switches=3,hosts=3", "dal", 2, Switching::CutThrough),
    ] {
        println!("{spec} {routing}");
        let short = Parameters { switching, buffer: Some(8), ..parameters(channels) };
        let net = network(spec, Some(routing), Parameters { flit: 256, mtu: 2048, ..short });
        conformance::shuffled(&net, 9);
    }
}

/// Packets of 16 flits are longer than buffers. Where a head may stand behind the tail of another
/// packet in an adaptive channel it cannot ask for its escape: of these runs, those on the ring
/// were stuck then, with three packets around it.
#[test]
fn long_worms_go_on() {
    let cases = [
        ("ring:switches=8", [6, 8]),
        ("torus:dims=4x4", [1, 4]),
        ("torus:dims=4x4", [2, 8]),
        ("torus:dims=8x8", [4, 6]),
    ];
    for (spec, buffers) in cases {
        for (buffer, seed) in buffers.into_iter().flat_map(|flits| [(flits, 1), (flits, 2)]) {
            let short = Parameters { buffer: Some(buffer), mtu: 128, ..parameters(3) };
            let net = network(spec, Some("adaptive"), short);
            let (hosts, random) = (net.hosts().expect("hosts"), kernel::Random::new(seed, 3));
            let message = |number: u32| {
                let (from, drawn) = (number % hosts, random.number(number, 0));
                let far = if hosts == 8 { 4 - u64::from(drawn % 5 == 0) } else { drawn };
                let to = (u64::from(from) + far % u64::from(hosts)) % u64::from(hosts);
                (Time::ZERO, Transfer::new(HostId(from), HostId(to as u32), 128))
            };
            println!("{spec}, buffers of {buffer}, seed {seed}");
            conformance::together(&net, hosts, &(0..hosts * 40).map(message).collect::<Vec<_>>());
        }
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

/// A packet alone takes its shortest way where load decides about a detour: 5 R + 2 cycles for the
/// R routers on it, 3 R + 2 with internal speed-up 2.
#[test]
fn no_detour_without_load() {
    for (spec, routings) in [
        ("dragonfly:p=2", &["ugal-l", "ugal-g", "par"][..]),
        ("complete:switches=5,hosts=2", &["ugal-l", "ugal-g", "par"]),
        ("hyperx:dims=3x4", &["par", "dal", "dimension-adaptive"]),
        ("torus:dims=5x4", &["par"]),
        ("slim-fly:q=3,hosts=1", &["par"]),
    ] {
        for (speed_up, each) in [(1, 5), (2, 3)] {
            let shortest = network(spec, Some("minimal"), parameters(12));
            let hosts = shortest.hosts().expect("hosts");
            for routing in routings {
                let parameters = Parameters { speed_up, ..parameters(12) };
                let net = network(spec, Some(routing), parameters);
                for destination in 0..hosts {
                    let transfer = Transfer::new(HostId(1), HostId(destination), 8);
                    let links = shortest.hops(HostId(1), HostId(destination), MessageId(0));
                    let expected = Time::from_ps(u64::from(each * (links - 1) + 2) * 1000);
                    let found = conformance::together(&net, hosts, &[(Time::ZERO, transfer)]);
                    assert_eq!(found, [expected], "{spec} {routing} {destination}");
                }
            }
        }
    }
}

/// For 200 cycles the two hosts of a switch of a dragonfly send a flit in each to the next group.
/// The one link there carries the 400 flits in 400 cycles. Where load decides, about half of them
/// go by other groups, so that all are there when little more than 200 cycles are over.
#[test]
fn load_decides_about_detours() {
    let messages: Vec<_> = (0..200)
        .flat_map(|at| [(at, 0), (at, 1)])
        .map(|(at, from)| {
            let transfer = Transfer::new(HostId(from), HostId(8 + at % 8), 8);
            (Time::from_ps(u64::from(at) * 1000), transfer)
        })
        .collect();
    let last = |routing| {
        let net = network("dragonfly:p=2", Some(routing), parameters(8));
        conformance::together(&net, 72, &messages).into_iter().max().expect("a message")
    };
    let minimal = last("minimal");
    for routing in ["ugal-l", "ugal-g", "par"] {
        let found = last(routing);
        assert!(
            minimal.ps() > 400_000 && found.ps() * 4 < minimal.ps() * 3,
            "{routing}: {found} {minimal}"
        );
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
