//! Flit-hops per second: uniform traffic of full packets at a load of 0.6 on a fat tree of 324
//! hosts (18 leaf switches of 36 ports, 18 up and 18 down), kernel included: `traffic_speed
//! [THREADS [CABLE_NS|PRESET [TOPOLOGY [LOAD]]]]`. A load of 1e-9 leaves the network idle for 10
//! ms.

use std::time::Instant;

use even::even;
use infiniband::{Fabric, Infiniband, Parameters, preset};
use kernel::Silent;
use topology::Routes;
use traffic::{Lengths, Pattern, Settings, Span, observe};
use units::Time;

#[path = "../tests/common/even.rs"]
mod even;

fn main() {
    let argument = |index| std::env::args().nth(index);
    let threads = argument(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let cable = argument(2).unwrap_or_else(|| "20".to_owned());
    let spec = argument(3).unwrap_or_else(|| "xgft:children=18x18,parents=1x18".to_owned());
    let load = argument(4).and_then(|text| text.parse().ok()).unwrap_or(0.6);
    let topology = topology::parse(&spec).expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = match cable.parse::<u64>() {
        Ok(cable) => Parameters { cable: Time::from_ps(cable * 1000), ..even() },
        Err(_) => preset(&cable).expect("nanoseconds or a preset"),
    };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let net = Infiniband::new(fabric, 0);
    let destinations = Pattern::Uniform.on(&topology).expect("a pattern");
    let settings = Settings {
        lengths: Lengths::Fixed(2156),
        span: Span::Batches { warm_up: 2, kept: 8 },
        batch: Some(Time::from_ps(if load < 1e-6 { 1_000_000_000 } else { 100_000_000 })),
        threads,
        ..Settings::new(destinations, load)
    };
    let start = Instant::now();
    let observed = observe(&net, &settings, false, || Silent).expect("it runs");
    let seconds = start.elapsed().as_secs_f64();
    let millions = observed.flit_hops as f64 / 1e6;
    println!(
        "{threads} threads, {} messages: {millions:.1} million flit-hops in {seconds:.3} s, {:.1} \
         million a second",
        observed.delivered.0,
        millions / seconds
    );
    println!("{:?}", observed.point);
}
