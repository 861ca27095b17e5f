//! Bubble flow control: rings on one channel in which packets can always go on. Times are in cycles
//! of 1 ns of the preset `packet-booksim`.

use std::collections::BTreeMap;

use ::network::{Network, Script, Transfer, conformance, conformance::together};
use kernel::{Random, TransportKind};
use packet::{Fabric, Packets, Parameters, Switching};
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
    for (bubble, packets) in
        [("local", 2), ("local", 4), ("global", 1), ("global", 2), ("global", 4)]
    {
        let routing = format!("dimension-order:bubble={bubble}");
        let net = network("ring:switches=8", Some(&routing), parameters(1, packets));
        let last = together(&net, 8, &messages).into_iter().max().expect("a message");
        // Three links upwards for each of 8 hosts and 160 flits, on 8 links of a flit a cycle.
        assert!(last >= Time::from_ps(3 * 160 * 1000), "{last}");
        println!("{bubble}, {packets} packets: {last}");
    }
    let net = network("ring:switches=8", Some("dimension-order:lanes=1"), parameters(1, 2));
    let stuck = std::panic::catch_unwind(|| together(&net, 8, &messages));
    assert!(stuck.is_err(), "without the rule the ring should be stuck");
}

/// Packets of different sizes leave room in pieces, of which none may hold a long packet. Counted
/// in places, it keeps the ring going.
#[test]
fn packets_of_different_sizes_go_on() {
    for (bubble, packets) in
        [("local", 2), ("local", 3), ("global", 1), ("global", 2), ("global", 3)]
    {
        for seed in 0..100 {
            let random = Random::new(seed, 1);
            let message = |number: u32| {
                let (host, drawn) = (number % 16, random.number(number, 0) % 4);
                let bytes = if drawn > 0 { 32 } else { 8 };
                (Time::ZERO, Transfer::new(HostId(host), HostId((host + 7) % 16), bytes))
            };
            let messages: Vec<_> = (0..640).map(message).collect();
            let routing = format!("dimension-order:bubble={bubble}");
            let net = network("ring:switches=16", Some(&routing), parameters(1, packets));
            together(&net, 16, &messages);
        }
    }
}

/// Everything is delivered once and in order in any order of the routers, in the shortest buffers.
#[test]
fn everything_is_delivered() {
    for (spec, routing, channels, packets) in [
        ("torus:dims=3x3", "dimension-order:bubble", 1, 2),
        ("torus:dims=3x3", "adaptive:bubble", 2, 2),
        ("torus:dims=3x3", "adaptive:bubble", 4, 2),
        ("ring:switches=9", "dimension-order:bubble=global", 1, 1),
        ("ring:switches=9", "dimension-order:bubble=global", 2, 2),
        ("torus:dims=3x3", "direction-order:bubble=global", 1, 1),
        ("torus:dims=3x3", "adaptive:bubble=global", 2, 1),
        ("torus:dims=3x3", "adaptive:bubble=global", 4, 2),
    ] {
        println!("{spec} {routing}, {channels} channels, {packets} packets");
        let short =
            Parameters { flit: 256, mtu: 1024, ordered: true, ..parameters(channels, packets) };
        conformance::shuffled(&network(spec, Some(routing), short), 9);
    }
}

/// A packet alone takes 5 R + 2 + 3 cycles for R routers, as with datelines.
#[test]
fn zero_load() {
    for routing in ["dimension-order:bubble", "adaptive:bubble", "adaptive:bubble=global"] {
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

/// Under the global rule a packet of the last test waits only behind host 0, where the critical
/// place of the ring upwards is: the second packet asks for channels at 9, the word that asks for
/// the place to move takes three cycles to router 7 and its answer three back, so that the packet
/// is granted a channel at 15 and the switch at 16, as with the local rule. Host 1's enters where a
/// place is free.
///
/// In buffers of a packet already the first packet of host 0 waits so: it asks at 3 and is granted
/// a channel at 9 instead, six cycles later. The second one of any host waits until the first has
/// left the next buffer.
#[test]
fn a_packet_leaves_the_critical_place_free() {
    for (source, packets, expected) in
        [(0, 2, [15, 27]), (1, 2, [15, 21]), (0, 1, [21, 33]), (1, 1, [15, 27])]
    {
        let routing = Some("dimension-order:bubble=global");
        let net = network("ring:switches=8", routing, parameters(1, packets));
        let transfer = Transfer::new(HostId(source), HostId(source + 1), 32);
        let two = [(Time::ZERO, transfer), (Time::ZERO, transfer)];
        let found = together(&net, 8, &two);
        assert_eq!(found, expected.map(|time| Time::from_ps(time * 1000)), "{source} {packets}");
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

/// The critical place is taken by a packet of the ring, and moves backward: host 7's packet goes
/// through router 0 to host 1 as if it were alone, in 5 R + 5 cycles for R = 3 routers. It takes
/// the critical place, so that host 0's packet enters after it without a wait (R = 2, 15 cycles),
/// and the next one of host 7 finds the critical place in its next buffer: it waits six cycles.
#[test]
fn the_critical_place_moves_backward() {
    let routing = Some("dimension-order:bubble=global");
    let net = network("ring:switches=8", routing, parameters(1, 1));
    let one =
        |at: u64, from, to| (Time::from_ps(at * 1000), Transfer::new(HostId(from), HostId(to), 32));
    let found = together(&net, 8, &[one(0, 7, 1), one(100, 0, 1), one(200, 7, 0)]);
    assert_eq!(found, [20, 115, 221].map(|time| Time::from_ps(time * 1000)));
}

/// Host 0 enters the ring although host 7's packets, which go no further than router 0, come there
/// all the time, and none takes the critical place ahead. Its packet asks at 3; at 6 the first one
/// of host 7 is on its way, and router 7 refuses. That packet's tail leaves router 0 at 12, which
/// asks again: at 15 the place is free, at 18 the answer is back, and host 0's packet is granted
/// the switch at 19 in place of 4. Host 7's second packet asks from 15 on, at router 6: it is
/// granted a channel at 21, the switch at 22 in place of 4, and comes at 33, as the next ones
/// twelve cycles each behind it.
#[test]
fn the_critical_place_keeps_nobody_out_for_ever() {
    let routing = Some("dimension-order:bubble=global");
    let net = network("ring:switches=8", routing, parameters(1, 1));
    let one = |from, to| (Time::ZERO, Transfer::new(HostId(from), HostId(to), 32));
    let found = together(&net, 8, &[one(0, 1), one(7, 0), one(7, 0), one(7, 0), one(7, 0)]);
    assert_eq!(found, [30, 15, 33, 45, 57].map(|time| Time::from_ps(time * 1000)));
}

/// The number of critical places in each ring: by channel, port, and the place of the ring in the
/// other dimension.
type Marks = BTreeMap<(u8, u16, u32), usize>;

/// Plays random messages of different sizes on a torus, and returns the times of deliveries and the
/// critical places that are left.
fn played(
    net: &Packets,
    (seed, workers, transport): (u64, usize, TransportKind),
) -> (Vec<Time>, Marks) {
    const EXTENT: u32 = 5;
    let random = Random::new(seed, 7);
    let message = |number: u32| {
        let (from, drawn) = (number % 25, random.number(number, 0));
        let bytes = [8, 20, 32, 100][(drawn % 4) as usize];
        let to = HostId((drawn >> 8) as u32 % 25);
        (Time::from_ps(drawn >> 40 & 0xffff), Transfer::new(HostId(from), to, bytes))
    };
    let messages: Vec<_> = (0..600).map(message).collect();
    let played = Script::of(25, &messages).play(net, workers, transport).expect("a run");
    let times: Vec<_> = played.deliveries().into_iter().map(|(at, _)| at).collect();
    assert_eq!(times.len(), messages.len(), "all are delivered");
    let mut rings = Marks::new();
    for (number, device) in (0..).zip(&played.devices) {
        net.device_at_rest(device).expect("at rest");
        for (port, channel) in device.critical_places() {
            // Ports 1 and 2 lead along the first dimension, 3 and 4 along the second.
            let other = if port < 3 { number / EXTENT } else { number % EXTENT };
            *rings.entry((channel, port, other)).or_default() += 1;
        }
    }
    (times, rings)
}

/// On a 5x5 torus, from one to three places, everything arrives, at the same times on any number of
/// threads. Then each of the 20 rings has one critical place in each channel of the lane: that of
/// dimension order, and half of the channels of adaptive routing.
#[test]
fn each_ring_has_one_critical_place() {
    for (routing, channels, rings) in [
        ("dimension-order:bubble=global", 1, 20),
        ("dimension-order:bubble=global", 2, 40),
        ("direction-order:bubble=global", 1, 20),
        ("adaptive:bubble=global", 2, 20),
        ("adaptive:bubble=global", 4, 40),
    ] {
        for packets in 1..=3 {
            let net = network("torus:dims=5x5", Some(routing), parameters(channels, packets));
            for seed in 0..2 {
                let case = format!("{routing} {channels} {packets} {seed}");
                let expected = played(&net, (seed, 1, TransportKind::Shared));
                assert_eq!(expected.1.len(), rings, "{case}");
                assert!(expected.1.values().all(|&count| count == 1), "{case}: {:?}", expected.1);
                for workers in [2, 3] {
                    for transport in [TransportKind::Shared, TransportKind::Serialised] {
                        let found = played(&net, (seed, workers, transport));
                        assert!(found == expected, "{case}: {workers} workers, {transport:?}");
                    }
                }
            }
        }
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
