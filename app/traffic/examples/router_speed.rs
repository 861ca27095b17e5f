//! Packet-hops per CPU second of routers with virtual channels: `router_speed [TOPOLOGY [FLITS
//! [LOAD [CHANNELS [US [PRESET [SPEED-UP [CABLE_NS]]]]]]]]`, uniform traffic, kernel included. The
//! defaults are single-flit packets on an 8x8 torus with 4 channels at 0.4 of the load at which it
//! saturates, for 9 batches of 20 us, with BookSim 2's router, whose internal speed-up is 1.

use std::time::Instant;

use kernel::Silent;
use packet::{Fabric, Packets, Parameters, preset};
use topology::Routes;
use traffic::{Arrivals, Lengths, Pattern, Settings, Span, observe};
use units::Time;

/// The allocator of `heddle`: large networks lie in huge pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let argument = |index| std::env::args().nth(index);
    let spec = argument(1).unwrap_or_else(|| "torus:dims=8x8".to_owned());
    let flits: u32 = argument(2).and_then(|text| text.parse().ok()).unwrap_or(1);
    let load = argument(3).and_then(|text| text.parse().ok()).unwrap_or(0.16);
    let channels = argument(4).and_then(|text| text.parse().ok()).unwrap_or(4);
    let batch: u64 = argument(5).and_then(|text| text.parse().ok()).unwrap_or(20);
    let router = preset(&argument(6).unwrap_or_else(|| "packet-booksim".to_owned()));
    let router = router.expect("a preset");
    let mtu = router.flit * flits;
    let topology = topology::parse(&spec).expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let speed_up = argument(7).and_then(|text| text.parse().ok()).unwrap_or(1);
    let cable: u64 = argument(8).and_then(|text| text.parse().ok()).unwrap_or(0);
    let cable = Time::from_ps(cable * 1000);
    // The command does not keep the order of synthetic traffic, either.
    let router = Parameters { ordered: false, ..router };
    let parameters =
        Parameters { channels: Some(channels), mtu, header: 0, speed_up, cable, ..router };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let net = Packets::new(fabric);
    let settings = Settings {
        arrivals: Arrivals::Bernoulli,
        lengths: Lengths::Fixed(mtu.into()),
        span: Span::Batches { warm_up: 1, kept: 8 },
        batch: Some(Time::from_ps(batch * 1_000_000)),
        ..Settings::new(Pattern::Uniform.on(&topology).expect("a pattern"), load)
    };
    let start = Instant::now();
    let observed = observe(&net, &settings, false, || Silent).expect("it runs");
    let seconds = start.elapsed().as_secs_f64();
    let hops = observed.flit_hops as f64 / f64::from(flits) / 1e6;
    println!(
        "{hops:.2} million packet-hops in {seconds:.3} s: {:.2} million packet-hops and {:.2} \
         million flit-hops a second; accepted {:.3}",
        hops / seconds,
        hops * f64::from(flits) / seconds,
        observed.point.accepted.mean
    );
}
