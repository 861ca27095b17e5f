//! The network of seed 000 without what makes it uneven.

use infiniband::{Hiccups, Parameters, preset};
use units::Time;

/// Links of 32 ns per flit, cables of 20 ns, switches of 61 ns, no flow-control packets; hosts that
/// keep up with their links.
pub fn even() -> Parameters {
    Parameters {
        cable: Time::from_ps(20_000),
        latency_in: Time::from_ps(30_000),
        latency_out: Time::from_ps(31_000),
        host_buffer: 200,
        padded: true,
        update: Time::ZERO,
        hiccups: Hiccups::NONE,
        sink: Time::from_ps(32_000),
        ..preset("infiniband-ddr-simula").expect("a preset")
    }
}
