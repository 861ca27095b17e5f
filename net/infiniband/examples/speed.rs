//! Flit-hops per second of CPU: uniform traffic of full packets at a load of
//! 0.6 on a fat tree of 324 hosts (18 leaf switches of 36 ports, 18 up and 18 down, under 18 more;
//! two levels).

use std::time::Instant;

use infiniband::{Fabric, Hiccups, Infiniband, Parameters, preset};
use kernel::{Random, TransportKind};
use network::{Links as _, Script, Transfer};
use topology::Routes;
use units::{HostId, MessageId, Time};

fn main() {
    let spec = std::env::args().nth(1);
    let spec = spec.as_deref().unwrap_or("xgft:children=18x18,parents=1x18");
    let topology = topology::parse(spec).expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let keeps_up = Parameters { hiccups: Hiccups::NONE, sink: Time::from_ps(32_000), ..parameters };
    let net = Fabric::new(&topology.graph, routes, keeps_up).expect("a fabric");
    let hosts = net.hosts();
    let net = Infiniband::new(net, 0);
    let random = Random::new(1, 1);
    // A packet of 34 flits of 32 ns takes 1088 ns; one in 1088/0.6 ns on average.
    let mut messages = Vec::new();
    for host in 0..hosts {
        let mut at = 0_f64;
        for index in 0..400 {
            at += -random.unit(host, 2 * index).ln() * 1_088_000.0 / 0.6;
            let step = 1 + random.below(host, 2 * index + 1, u64::from(hosts) - 1) as u32;
            let destination = (host + step) % hosts;
            let transfer = Transfer::new(HostId(host), HostId(destination), 2156);
            #[allow(clippy::cast_sign_loss, reason = "a sum of positive numbers")]
            messages.push((Time::from_ps(at as u64), transfer));
        }
    }
    let script = Script::of(hosts, &messages);
    let start = Instant::now();
    let played = script.play(&net, 1, TransportKind::Shared).expect("no overflow");
    let seconds = start.elapsed().as_secs_f64();
    let deliveries = played.deliveries();
    let last = deliveries.last().map_or(Time::ZERO, |(at, _)| *at);
    let hops = deliveries.iter().map(|(_, injection)| {
        let Transfer { source, destination, .. } = injection.transfer;
        u64::from(net.hops(source, destination, MessageId(injection.sequence.into())))
    });
    let flit_hops = (hops.sum::<u64>() * 34) as f64;
    println!(
        "{hosts} hosts, {} packets until {last}: {:.1} million flit-hops in {seconds:.3} s, {:.1} \
         million a second, {} signals",
        deliveries.len(),
        flit_hops / 1e6,
        flit_hops / 1e6 / seconds,
        played.signals
    );
}
