//! Bubble flow control: rings on one channel in which packets can always go on. Times are in cycles
//! of 1 ns of the preset `packet-booksim`.

use ::network::{Transfer, conformance, conformance::together};
use packet::{Fabric, Parameters, Switching};
use topology::{Routes, parse};
use units::{HostId, Time};

use crate::common::{network, shipped};

/// Packets of four flits in buffers of `packets` packets.
fn parameters(channels: u32, packets: u32) -> Parameters {
    Parameters {
        switching: Switching::CutThrough,
        channels: Some(channels),
        mtu: 32,
        buffer: Some(4 * packets),
        ..shipped("packet-booksim")
    }
}

/// All hosts of a ring of eight send forty packets to the fourth host from them. On one channel and
/// in buffers of two packets that fills the ring: without the bubble no packet goes on any more.
#[test]
fn a_full_ring_goes_on() {
    let messages: Vec<_> = (0..8)
        .map(|host| (Time::ZERO, Transfer::new(HostId(host), HostId((host + 3) % 8), 40 * 32)))
        .collect();
    let net = network("ring:switches=8", Some("dimension-order:bubble"), parameters(1, 2));
    let last = together(&net, 8, &messages).into_iter().max().expect("a message");
    // Three links upwards for each of 8 hosts and 160 flits, on 8 links of a flit a cycle.
    assert!(last >= Time::from_ps(3 * 160 * 1000), "{last}");
    let net = network("ring:switches=8", Some("dimension-order:lanes=1"), parameters(1, 2));
    let stuck = std::panic::catch_unwind(|| together(&net, 8, &messages));
    assert!(stuck.is_err(), "without the rule the ring should be stuck");
}

/// Packets of different sizes leave room in pieces, of which none may hold a long packet. Counted
/// in places, it keeps the ring going.
#[test]
fn packets_of_different_sizes_go_on() {
    for packets in [2, 3] {
        for seed in 0..100 {
            let random = kernel::Random::new(seed, 1);
            let message = |number: u32| {
                let (host, drawn) = (number % 16, random.number(number, 0) % 4);
                let bytes = if drawn > 0 { 32 } else { 8 };
                (Time::ZERO, Transfer::new(HostId(host), HostId((host + 7) % 16), bytes))
            };
            let messages: Vec<_> = (0..640).map(message).collect();
            let routing = Some("dimension-order:bubble");
            together(&network("ring:switches=16", routing, parameters(1, packets)), 16, &messages);
        }
    }
}

/// Everything is delivered once and in order in any order of the routers, in the shortest buffers.
#[test]
fn everything_is_delivered() {
    for (spec, routing, channels) in [
        ("torus:dims=3x3", "dimension-order:bubble", 1),
        ("torus:dims=3x3", "adaptive:bubble", 2),
        ("torus:dims=3x3", "adaptive:bubble", 4),
    ] {
        let short = Parameters { flit: 256, mtu: 1024, ordered: true, ..parameters(channels, 2) };
        conformance::shuffled(&network(spec, Some(routing), short), 9);
    }
}

/// A packet alone takes 5 R + 2 + 3 cycles for R routers, as with datelines.
#[test]
fn zero_load() {
    for routing in ["dimension-order:bubble", "adaptive:bubble"] {
        let net = network("torus:dims=8x8", Some(routing), parameters(2, 2));
        for (destination, routers) in [(0, 1), (1, 2), (4, 5), (36, 9), (63, 3)] {
            let transfer = Transfer::new(HostId(0), HostId(destination), 32);
            let found = together(&net, 64, &[(Time::ZERO, transfer)]);
            assert_eq!(found, [Time::from_ps((5 * routers + 5) * 1000)], "{destination}");
        }
    }
}

/// Host 0 sends two packets to its neighbour through a buffer of two packets. The head of the first
/// is granted the switch at 4 and 9, the tail at 7 and 12. Where room for one packet is enough, the
/// route of the second is computed from 8 on, and it is granted the switch at 10: its head comes to
/// the host at 18, its tail at 21. The bubble makes it wait until the buffer is empty: the last
/// credit is back at 15, and it is granted the switch at 16.
#[test]
fn a_packet_leaves_room_where_it_enters_a_ring() {
    for (routing, packets, expected) in [
        ("dimension-order:lanes=1", 2, 21),
        ("dimension-order:bubble", 2, 27),
        ("dimension-order:bubble", 6, 21),
    ] {
        let net = network("ring:switches=8", Some(routing), parameters(1, packets));
        let transfer = Transfer::new(HostId(0), HostId(1), 64);
        let found = together(&net, 8, &[(Time::ZERO, transfer)]);
        assert_eq!(found, [Time::from_ps(expected * 1000)], "{routing} {packets}");
    }
}

/// Room is counted in packets: three of a flit each need two free places of two to enter, so that
/// each waits until the buffer is empty, although it has room for eight flits. The first is granted
/// the switch at 4 and 9 and comes at 12; its credit is back at 12, and the next is granted the
/// switch at 13. In a buffer of six places they come every three cycles, as a channel passes them.
#[test]
fn short_packets_take_places() {
    let three: Vec<_> =
        (0..3).map(|_| (Time::ZERO, Transfer::new(HostId(0), HostId(1), 8))).collect();
    for (packets, expected) in [(2, [12, 21, 30]), (6, [12, 15, 18])] {
        let routing = Some("dimension-order:bubble");
        let net = network("ring:switches=8", routing, parameters(1, packets));
        assert_eq!(together(&net, 8, &three), expected.map(|time| Time::from_ps(time * 1000)));
    }
}

/// A buffer of a packet would let nothing enter, and flits of a packet in several buffers no packet
/// go on.
#[test]
fn impossible_rules_are_told() {
    let topology = parse("torus:dims=4x4").expect("a topology");
    let wormhole = Parameters { switching: Switching::Wormhole, ..parameters(2, 2) };
    for (parameters, expected) in [
        (
            parameters(2, 1),
            "a buffer of 4 flits cannot hold two packets of 4: under bubble flow control nothing \
             could enter a ring",
        ),
        (wormhole, "bubble flow control needs switching = \"cut-through\""),
    ] {
        let routing = "adaptive:bubble".parse().expect("a routing");
        let routes = Routes::build(&topology, Some(routing)).expect("routes");
        let wrong = Fabric::new(&topology.graph, routes, parameters).err().unwrap_or_default();
        assert_eq!(wrong.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}
