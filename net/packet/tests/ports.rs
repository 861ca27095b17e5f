//! Hosts with several injection and ejection ports. Times are in cycles of 1 ns of the preset
//! `packet-booksim`, on a chain of three routers; a packet alone takes 5 R + 2 + P - 1 of them.

use ::network::{Transfer, conformance, conformance::together};
use packet::{Fabric, Injector, Parameters, Switching};
use topology::{Routes, parse};
use units::{HostId, Time};

use crate::common::{network, shipped};

fn parameters(injection_ports: u32, ejection_ports: u32) -> Parameters {
    let long = Parameters { mtu: 160, buffer: Some(40), channels: Some(2), ..booksim() };
    Parameters { injection_ports, ejection_ports, ..long }
}

fn booksim() -> Parameters {
    Parameters { switching: Switching::CutThrough, ..shipped("packet-booksim") }
}

/// The times at which messages that enter at once are delivered, in cycles.
fn times(parameters: Parameters, messages: &[(u32, u32, u64)]) -> Vec<u64> {
    let all = messages
        .iter()
        .map(|&(from, to, flits)| (Time::ZERO, Transfer::new(HostId(from), HostId(to), 8 * flits)));
    let net = network("mesh:dims=3x1", None, parameters);
    let found = together(&net, 3, &all.collect::<Vec<_>>());
    found.iter().map(|time| time.ps() / 1000).collect()
}

/// Host 1 sends a packet of 20 flits to either side. On one link the second waits for the first;
/// two ports do not wait for each other, whatever chooses among them.
#[test]
fn injection_ports_share_no_link() {
    let both = [(1, 0, 20), (1, 2, 20)];
    assert_eq!(times(parameters(1, 1), &both), [31, 51]);
    for injector in [Injector::Next, Injector::Shortest, Injector::Direction] {
        let two = Parameters { injector, ..parameters(2, 1) };
        assert_eq!(times(two, &both), [31, 31], "{injector:?}");
    }
}

/// Hosts 0 and 2 send a packet of 20 flits each to host 1. Its link takes 40 cycles for both. Of
/// two links each takes one in 20; as both packets ask for both in the same cycle, one round of
/// iSLIP gives the first one of them, and the other follows in the next cycle.
#[test]
fn ejection_ports_share_no_link() {
    let both = [(0, 1, 20), (2, 1, 20)];
    let last = |ports| times(parameters(1, ports), &both).into_iter().max();
    assert_eq!((last(1), last(2)), (Some(51), Some(32)));
}

/// Host 1 sends ten packets to one side and two flits to the other. In turn the second flit gets
/// the port of the packets and leaves behind their 200 flits. The shorter queue is that of the
/// first flit, and so is the port of its direction.
#[test]
fn injectors_are_chosen() {
    let messages = [(1, 2, 200), (1, 0, 1), (1, 0, 1)];
    let last = |injector| times(Parameters { injector, ..parameters(2, 1) }, &messages)[2];
    assert!(last(Injector::Next) > 200);
    assert!(last(Injector::Shortest) < 20 && last(Injector::Direction) < 20);
}

/// A queue of an injection port takes one packet after the other, as a channel does.
#[test]
fn the_suite_of_all_networks() {
    for (injection, ejection) in [(3, 2), (1, 3), (2, 1)] {
        for (spec, hosts, routing) in [("torus:dims=3x3", 9, "adaptive"), ("H8_S6", 8, "minimal")] {
            let short = Parameters { flit: 256, mtu: 4096, channels: Some(3), ..booksim() };
            let set = Parameters { buffer: Some(48), ordered: true, ..short };
            let ports = Parameters { injection_ports: injection, ejection_ports: ejection, ..set };
            println!("{spec} {injection} {ejection}");
            let net = network(spec, Some(routing), ports);
            conformance::shuffled(&net, hosts);
            if routing == "minimal" {
                conformance::all(&net, hosts);
            }
        }
    }
}

/// Ports and the channels of a host's ejection ports have numbers of 16 and 8 bits.
#[test]
fn too_many_ports_are_told() {
    let topology = parse("mesh:dims=3x1").expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let many = Parameters { channels: Some(8), ..parameters(1, 64) };
    let wrong = Fabric::new(&topology.graph, routes, many).err().unwrap_or_default();
    let told: Vec<_> = wrong.iter().map(ToString::to_string).collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert!(told.contains("512 channels to receive by"), "{told}");
}
