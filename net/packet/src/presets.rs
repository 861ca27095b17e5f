//! Parameter sets that ship with the project.

use units::Time;

use crate::{
    allocator::Allocation,
    arbiter::Arbitration,
    parameters::{Choice, Delay, Injector, Parameters, Switching},
};

/// Names of the presets.
pub const fn names() -> [&'static str; 2] {
    ["packet-default", "packet-booksim"]
}

/// The preset of this name.
pub fn preset(name: &str) -> Option<Parameters> {
    match name {
        "packet-default" => standard(),
        "packet-booksim" => booksim(),
        _ => None,
    }
}

/// A router of a system network, in round figures that are not a measurement of any product. Links
/// of 100 Gb/s and cables of 2 m (5 ns/m). Packets of 256 bytes are those of NSIM's tori (seed 004,
/// table 3); a flit is a quarter of one, and headers travel beside the data. The pipeline of four
/// stages is that of Dally and Towles, section 16.1; each takes half the time of a flit. Links have
/// as many virtual channels as the routing needs, with buffers of a credit's round trip and a
/// packet. Arbiters go by the age of messages, as Abts and Weisser propose for such networks
/// ("Age-based packet arbitration in large-radix k-ary n-cubes", SC 2007): with round robin, hosts
/// near the end of the ways take nearly all beyond saturation, and what is accepted falls.
fn standard() -> Option<Parameters> {
    Some(Parameters {
        link: "100 Gb/s".parse().ok()?,
        host_link: None,
        cable: Time::from_ps(10_000),
        flit: 64,
        mtu: 256,
        header: 0,
        speed_up: 2,
        route: Delay::Cycles(1),
        vc_allocation: Delay::Cycles(1),
        switch_allocation: Delay::Cycles(1),
        traversal: Delay::Cycles(1),
        credit: Delay::Cycles(2),
        injection: Delay::Cycles(0),
        memory: None,
        dma: None,
        adapter: None,
        channels: None,
        buffer: None,
        output_buffer: 16,
        switching: Switching::CutThrough,
        vc_allocator: Allocation::InputFirst,
        switch_allocator: Allocation::InputFirst,
        iterations: 1,
        arbiter: Arbitration::Age,
        transit_priority: 0.0,
        local_buffer: 0,
        congested_after: None,
        threshold: None,
        threshold_update: None,
        injector: Injector::Next,
        injection_ports: 1,
        ejection_ports: 1,
        choice: Choice::Pair,
        ordered: true,
        seed: 1,
    })
}

/// The router that BookSim 2 simulates by default, with cycles of 1 ns: flits of 8 bytes without
/// headers, four stages of a cycle, channels of a cycle. BookSim's credit delay of a cycle and the
/// cycle of the credit's channel are two cycles here; a packet spends a cycle at its source.
fn booksim() -> Option<Parameters> {
    Some(Parameters {
        link: "64 Gb/s".parse().ok()?,
        cable: Time::ZERO,
        flit: 8,
        mtu: 8,
        header: 0,
        speed_up: 1,
        credit: Delay::Time(Time::from_ps(2000)),
        injection: Delay::Time(Time::from_ps(1000)),
        channels: Some(2),
        buffer: Some(8),
        output_buffer: 1 << 24,
        switching: Switching::Wormhole,
        vc_allocator: Allocation::Islip,
        switch_allocator: Allocation::Islip,
        arbiter: Arbitration::RoundRobin,
        ordered: false,
        ..standard()?
    })
}
