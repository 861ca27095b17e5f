//! Times that are derived by hand, in cycles of 1 ns of the preset `packet-booksim`: all four
//! stages, a flit on a link, and the source take a cycle each.
//!
//! Oracle: BookSim 2, whose zero-load latency is 5 R + 2 + (P - 1) cycles for R routers and P flits
//! (`docs/src/routers.md`).

use ::network::{Network, Transfer, conformance::together};
use packet::{Delay, Packets, Parameters};
use units::{HostId, Time};

use crate::common::{network, shipped};

const fn cycles(count: u64) -> Time {
    Time::from_ps(count * 1000)
}

/// Returns the times in cycles at which messages (source, destination, flits) are delivered that
/// enter at time 0.
fn delivered(net: &Packets, messages: &[(u32, u32, u64)]) -> Vec<f64> {
    let message = |&(source, destination, flits): &(u32, u32, u64)| {
        (Time::ZERO, Transfer::new(HostId(source), HostId(destination), 8 * flits))
    };
    let messages: Vec<_> = messages.iter().map(message).collect();
    let times = together(net, net.hosts().expect("hosts"), &messages);
    times.iter().map(|time| time.ps() as f64 / 1000.0).collect()
}

fn of_packets(flits: u32) -> Parameters {
    Parameters { mtu: 8 * flits, ..shipped("packet-booksim") }
}

/// From corner to corner of a 4x4 mesh a packet passes 7 routers, to itself one; half round a ring
/// of 8, 5. With internal speed-up 2 the four stages take two cycles: 3 R + 2 + (P - 1).
#[test]
fn zero_load() {
    let cases = [
        ("mesh:dims=4x4", 15, 7),
        ("mesh:dims=4x4", 0, 1),
        ("mesh:dims=4x4", 1, 2),
        ("torus:dims=8x8", 4, 5),
        ("torus:dims=8x8", 36, 9),
        ("star:hosts=4", 3, 1),
        ("k-ary-n-tree:k=2,n=3", 7, 5),
        ("dragonfly:p=1,a=2,h=1", 1, 2),
    ];
    for (spec, destination, routers) in cases {
        for flits in [1, 2, 5] {
            for (speed_up, each) in [(1, 5), (2, 3)] {
                let parameters = Parameters { speed_up, channels: Some(4), ..of_packets(flits) };
                let net = network(spec, None, parameters);
                let flits = u64::from(flits);
                let expected = (each * routers + 2 + flits - 1) as f64;
                let found = delivered(&net, &[(0, destination, flits)]);
                assert_eq!(found, [expected], "{spec} {destination} {flits} {speed_up}");
            }
        }
    }
}

/// Stages of 1, 2, 3 and 4 cycles, or as long in time, a cable of 7 and no time at the source: a
/// router with its link takes 1 + 2 + 3 + 4 + 1 + 7 cycles, and the host's link 1 + 7. A time is
/// rounded up to cycles.
#[test]
fn each_stage_takes_its_time() {
    let times = Parameters {
        route: Delay::Cycles(1),
        vc_allocation: Delay::Time(Time::from_ps(1001)),
        switch_allocation: Delay::Time(cycles(3)),
        traversal: Delay::Cycles(4),
        injection: Delay::Cycles(0),
        cable: cycles(7),
        ..of_packets(1)
    };
    let net = network("mesh:dims=4x1", None, times);
    assert_eq!(delivered(&net, &[(0, 3, 1)]), [8.0 + 4.0 * 18.0]);
}

/// Links of hosts at twice the rate of the others take half a cycle less at either end; the flits
/// behind the head come at the pace of the others.
#[test]
fn links_of_hosts_have_a_rate_of_their_own() {
    for flits in [1, 5] {
        let host_link = "128 Gb/s".parse().ok();
        let parameters = Parameters { host_link, channels: Some(4), ..of_packets(flits) };
        let net = network("mesh:dims=4x1", None, parameters);
        let found = delivered(&net, &[(0, 3, flits.into())]);
        assert_eq!(found, [f64::from(5 * 4 + 2 - 1 + flits - 1)], "{flits}");
    }
}

/// Packets of one channel are not pipelined: the route of the second is computed when the tail of
/// the first has been granted the switch, so that it comes P + 2 cycles later. On two channels it
/// comes right behind.
#[test]
fn a_channel_passes_a_packet_every_p_plus_two_cycles() {
    for flits in [1, 5] {
        for (channels, later) in [(1, flits + 2), (2, flits)] {
            let parameters = Parameters { channels: Some(channels), ..of_packets(flits) };
            let net = network("mesh:dims=3x1", None, parameters);
            let flits = u64::from(flits);
            let first = (5 * 3 + 2 + flits - 1) as f64;
            let found = delivered(&net, &[(0, 2, flits), (0, 2, flits)]);
            assert_eq!(found, [first, first + f64::from(later)], "{flits} {channels}");
        }
    }
}

/// A buffer of one flit on a way of two routers. The head starts at 1 and comes to the first router
/// at 2, which grants it the switch at 4; to the second at 7, granted at 9; to the host at 12. The
/// second's credit is at the first router at 12 (three cycles behind its grant), which then grants
/// the next flit; it is at the second router at 15, where the credit of the host has just come, and
/// at the host at 18. So a flit comes every 6 cycles.
#[test]
fn short_buffers_wait_for_credits() {
    let parameters = Parameters { channels: Some(1), buffer: Some(1), ..of_packets(5) };
    let net = network("mesh:dims=2x1", None, parameters);
    assert_eq!(delivered(&net, &[(0, 1, 5)]), [12.0 + 4.0 * 6.0]);
}

/// Two packets of four flits from hosts 0 and 1 to host 2 of a star. Both ask for both channels of
/// host 2 at 3. Each channel chooses the packet of host 0, which takes one; the other packet gets
/// the other channel at 4. Then they take turns on the link flit by flit: the grants at 4, 6, 8 and
/// 10 are of the first, at 5, 7, 9 and 11 of the second; a flit is at the host three cycles behind
/// its grant.
#[test]
fn packets_take_turns_on_a_link_flit_by_flit() {
    let net = network("star:hosts=4", None, of_packets(4));
    assert_eq!(delivered(&net, &[(0, 2, 4), (1, 2, 4)]), [13.0, 14.0]);
}

/// On one channel the second packet asks again at 8, when the tail of the first has been
/// granted the switch at 7 and has given up the channel. It is granted the switch at 9 to 12.
#[test]
fn a_channel_belongs_to_one_packet() {
    let parameters = Parameters { channels: Some(1), ..of_packets(4) };
    let net = network("star:hosts=4", None, parameters);
    assert_eq!(delivered(&net, &[(0, 2, 4), (1, 2, 4)]), [10.0, 15.0]);
}

/// A router starts its clock with the first flit that reaches it: a packet alone is as fast at any
/// time, and behind cables that are no whole number of cycles.
#[test]
fn a_packet_alone_never_waits_for_a_clock() {
    let parameters = Parameters { cable: Time::from_ps(333), ..of_packets(1) };
    let net = network("mesh:dims=3x1", None, parameters);
    for at in [0, 1, 999, 12_345] {
        let transfer = Transfer::new(HostId(0), HostId(2), 8);
        let found = together(&net, 3, &[(Time::from_ps(at), transfer)]);
        assert_eq!(found, [Time::from_ps(at + 17_000 + 4 * 333)]);
    }
}

/// Without a buffer of its own size, a link has room for the round trip of a credit over the
/// longest cable and a packet. One of 8 flits of one channel then flows without a gap: P flits
/// behind the first.
#[test]
fn default_buffers_cover_the_round_trip() {
    let parameters =
        Parameters { cable: cycles(100), buffer: None, channels: Some(1), ..of_packets(300) };
    let net = network("mesh:dims=2x1", None, parameters);
    // Two routers, three cables, and 299 further flits.
    assert_eq!(delivered(&net, &[(0, 1, 300)]), [12.0 + 300.0 + 299.0]);
}

/// A message of 300 flits over two routers to a host whose parts take 2, 3 and 1 cycles for a flit,
/// at both ends: the links of hosts take 3 cycles a flit, and so do the 299 further flits.
#[test]
fn the_slowest_part_of_a_host_sets_the_pace() {
    let rate = |cycles: u64| format!("{cycles} ns/8 B").parse().ok();
    let parameters = Parameters {
        memory: rate(2),
        dma: rate(3),
        adapter: rate(1),
        buffer: None,
        ..of_packets(300)
    };
    let net = network("mesh:dims=2x1", None, parameters);
    assert_eq!(delivered(&net, &[(0, 1, 300)]), [12.0 + 2.0 * 6.0 + 2.0 * 2.0 + 3.0 * 299.0]);
}
