//! Packets in transit go before packets from hosts. Times are in cycles of 1 ns of the preset
//! `packet-booksim`.

use ::network::{Transfer, conformance, conformance::together};
use packet::{Fabric, Injector, Parameters, Switching};
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
        (
            Parameters { threshold: Some(2.0), ..restricted(0, 0.0) },
            "threshold is not a share from 0 to 1",
        ),
        (
            Parameters {
                threshold: Some(0.5),
                threshold_update: Some(Time::from_ps(7)),
                ..restricted(0, 0.0)
            },
            "threshold-update is 7 ps; it must be a cycle of 1 ns at least",
        ),
        (
            Parameters { threshold_update: Some(Time::from_ps(7000)), ..restricted(0, 0.0) },
            "threshold-update is the pace of threshold, which is not set",
        ),
        (
            Parameters { congested_after: Some(Time::ZERO), ..restricted(0, 0.0) },
            "congested-after arms ipr and lbr, and neither is set",
        ),
    ] {
        let routes = Routes::build(&topology, Some(adaptive)).expect("routes");
        let wrong = Fabric::new(&topology.graph, routes, parameters).err().unwrap_or_default();
        assert_eq!(wrong.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}

/// Routers 0 (the root of the census), 1 and 2 in a row tell each other of the flits in their
/// buffers in each cycle; a word takes three. The first packet is in the buffer of router 1 from 7
/// to 9, and the root knows that from 10 to 12. The second one comes to router 0 at 10 and asks at
/// 11 for a channel: with a threshold of 0 it gets one at 13, in place of 5 R + 2 it takes 19.
#[test]
fn a_full_network_holds_packets_back() {
    let messages = [0, 8].map(|at| {
        let transfer = Transfer::new(HostId(0), HostId(2), 8);
        (Time::from_ps(at * 1000), transfer)
    });
    for (threshold, second) in [(None, 25), (Some(1.0), 25), (Some(0.0), 27)] {
        let update = threshold.map(|_| Time::from_ps(1000));
        let rules = Parameters { threshold, threshold_update: update, ..shipped("packet-booksim") };
        let found = together(&network("mesh:dims=3x1", None, rules), 3, &messages);
        assert_eq!(found, [17, second].map(|time| Time::from_ps(time * 1000)), "{threshold:?}");
    }
}

/// The packet of host 0 waits for no longer than the other one in [`transit_goes_first`], so that
/// with a time-out its priority does not hold.
#[test]
fn a_time_out_arms_the_rules() {
    let cycles = |time: u64| Time::from_ps(time * 1000);
    for (after, expected) in [(None, [17, 20]), (Some(cycles(0)), [20, 17])] {
        let parameters = Parameters {
            transit_priority: 1.0,
            congested_after: after,
            channels: Some(1),
            ..shipped("packet-booksim")
        };
        let net = network("mesh:dims=3x1", None, parameters);
        let messages = [(0, 0), (5, 1)]
            .map(|(at, from)| (cycles(at), Transfer::new(HostId(from), HostId(2), 8)));
        assert_eq!(together(&net, 3, &messages), expected.map(cycles), "{after:?}");
    }
}

/// The only link to router 2 is full of packets of eight flits from hosts 0 and 1. Behind those of
/// host 1 is a flit for host 0. By direction it has a channel of its own: it leaves when the first
/// packet has left, from 1 to 9, and takes its 5 R + 1 cycles from there.
#[test]
fn directions_do_not_wait_for_each_other() {
    let last = |injector| {
        let parameters = Parameters {
            injector,
            switching: Switching::CutThrough,
            mtu: 64,
            ..shipped("packet-booksim")
        };
        let net = network("mesh:dims=3x1", None, parameters);
        let far = |from| (Time::ZERO, Transfer::new(HostId(from), HostId(2), 20 * 64));
        let near = (Time::from_ps(1000), Transfer::new(HostId(1), HostId(0), 8));
        together(&net, 3, &[far(0), far(1), near])[2].ps() / 1000
    };
    assert_eq!(last(Injector::Direction), 9 + 11);
    assert!(last(Injector::Next) > 200 && last(Injector::Shortest) > 200);
}

/// Nothing waits for ever under these rules either.
#[test]
fn all_rules_deliver_everything() {
    let time = |ps| Some(Time::from_ps(ps));
    let base = restricted(2, 1.0);
    for parameters in [
        Parameters { threshold: Some(0.05), ..base.clone() },
        Parameters { threshold: Some(0.0), threshold_update: time(70_000), ..base.clone() },
        Parameters { congested_after: time(20_000), ..base.clone() },
        Parameters { injector: Injector::Direction, ..base.clone() },
        Parameters { injector: Injector::Shortest, ..base.clone() },
    ] {
        let parameters = Parameters { flit: 256, mtu: 1024, ..parameters };
        conformance::shuffled(&network("torus:dims=3x3", Some("adaptive"), parameters), 9);
    }
}
