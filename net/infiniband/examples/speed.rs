//! Flit-hops per second of CPU with the plain driver: uniform traffic of full packets at a load of
//! 0.6 on a fat tree of 324 hosts (18 leaf switches of 36 ports, 18 up and 18 down, under 18 more;
//! two levels).

use std::time::Instant;

use infiniband::{Driver, Fabric, Hiccups, Message, Parameters, preset};
use kernel::Random;
use topology::Routes;
use units::Time;

fn main() {
    let spec = std::env::args().nth(1);
    let spec = spec.as_deref().unwrap_or("xgft:children=18x18,parents=1x18");
    let topology = topology::parse(spec).expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let keeps_up = Parameters { hiccups: Hiccups::NONE, sink: Time::from_ps(32_000), ..parameters };
    let net = Fabric::new(&topology.graph, routes, keeps_up).expect("a fabric");
    let hosts = net.hosts();
    let random = Random::new(1, 1);
    let mut driver = Driver::new(&net, |_, _, _| {});
    // A packet of 34 flits of 32 ns takes 1088 ns; one in 1088/0.6 ns on average.
    let mut messages = Vec::new();
    for host in 0..hosts {
        let mut at = 0_f64;
        for index in 0..400 {
            at += -random.unit(host, 2 * index).ln() * 1_088_000.0 / 0.6;
            let step = 1 + random.below(host, 2 * index + 1, u64::from(hosts) - 1) as u32;
            let destination = (host + step) % hosts;
            #[allow(clippy::cast_sign_loss, reason = "a sum of positive numbers")]
            messages.push((Time::from_ps(at as u64), host, destination));
        }
    }
    messages.sort_unstable();
    let start = Instant::now();
    let (mut hops, mut injected) = (0_u64, 0);
    let mut last = Time::ZERO;
    loop {
        // The heap is given what enters within the next 20 us.
        let soon = Time::from_ps(last.ps() + 20_000_000);
        while let Some(&(at, host, destination)) = messages.get(injected)
            && at < soon
        {
            let sequence = injected as u64;
            driver.inject(at, host, Message { destination, bytes: 2156, level: 0, sequence });
            injected += 1;
        }
        let Some(delivery) = driver.next_delivery() else { break };
        let header = topology::Header {
            source: delivery.source,
            destination: delivery.destination,
            ..topology::Header::default()
        };
        hops += net.path(&header).map_or(0, |path| path.len() as u64);
        last = delivery.at;
    }
    let seconds = start.elapsed().as_secs_f64();
    let flit_hops = (hops * 34) as f64;
    println!(
        "{hosts} hosts, {injected} packets until {last}: {:.1} million flit-hops in {seconds:.3} s, {:.1} million a second, {} events",
        flit_hops / 1e6,
        flit_hops / 1e6 / seconds,
        driver.events
    );
}
