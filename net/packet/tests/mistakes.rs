//! Parameters that make no network.

use packet::{Delay, Fabric, Parameters, Switching, preset};
use topology::{Routes, Shape, parse};
use units::Time;

fn mistakes(spec: &str, parameters: Parameters) -> Vec<String> {
    let topology = parse(spec).expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let wrong = Fabric::new(&topology.graph, routes, parameters).err().unwrap_or_default();
    wrong.iter().map(ToString::to_string).collect()
}

#[test]
fn each_is_told() {
    let good = || crate::common::shipped("packet-booksim");
    let cases = [
        (
            Parameters { switching: Switching::CutThrough, mtu: 72, ..good() },
            "a buffer of 8 flits cannot hold a packet of 9",
        ),
        (Parameters { channels: Some(1), ..good() }, "1 virtual channels, and the routing needs 2"),
        (Parameters { channels: Some(65), ..good() }, "channels is 65; it must be 1 to 64"),
        (
            Parameters { vc_allocation: Delay::Cycles(0), ..good() },
            "vc-allocation-delay is 0; an allocation takes a cycle at least",
        ),
        (
            Parameters { switch_allocation: Delay::Time(Time::ZERO), ..good() },
            "switch-allocation-delay is 0; an allocation takes a cycle at least",
        ),
        (Parameters { route: Delay::Cycles(u32::MAX), ..good() }, "route-delay is"),
        (Parameters { mtu: 0, ..good() }, "it must have a payload"),
        (Parameters { mtu: 1 << 20, ..good() }, "at most 65535 flits"),
        (Parameters { flit: 0, ..good() }, "flit is 0"),
        (Parameters { speed_up: 0, ..good() }, "speed-up is 0"),
        (Parameters { iterations: 0, ..good() }, "iterations is 0"),
        (Parameters { buffer: Some(0), ..good() }, "buffer is 0"),
    ];
    for (parameters, expected) in cases {
        let found = mistakes("torus:dims=4x4", parameters.clone());
        assert!(found.iter().any(|text| text.contains(expected)), "{expected}: {found:?}");
    }
    assert_eq!(mistakes("torus:dims=4x4", good()), [] as [&str; 0]);
}

/// All presets can be read and make a network.
#[test]
fn presets_are_sound() {
    for name in packet::names() {
        assert_eq!(
            mistakes("torus:dims=4x4", crate::common::shipped(name)),
            [] as [&str; 0],
            "{name}"
        );
    }
    assert_eq!(preset("packet-none"), None);
}

/// A star of five hosts is a router of five ports. With two channels each these are ten channels,
/// each with a line of 64 bytes as an input and one as an output.
#[test]
fn memory_of_a_router_grows_with_its_channels() {
    let star = Shape::parse("star:hosts=5").expect("a star").size().expect("a size");
    let parameters = Parameters { channels: Some(2), ..crate::common::shipped("packet-booksim") };
    assert_eq!(Fabric::least_memory(&star, &parameters), 10 * (64 + 64));
}
