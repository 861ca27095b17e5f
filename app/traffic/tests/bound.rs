//! The bounds of traffic by its routes against closed forms: Dally and Towles, "Principles and
//! Practices of Interconnection Networks", 2004, section 3.3.1.

use packet::{Fabric, Packets, Parameters, preset};
use topology::Routes;
use traffic::{Arrivals, Bounds, Lengths, Pattern, Settings, Span, bounds, run};

/// Routers with so many channels.
fn routers(channels: u32) -> Parameters {
    Parameters { channels: Some(channels), ..preset("packet-booksim").expect("a preset") }
}

/// A network and the traffic of single flits on it.
fn loaded(spec: &str, routing: Option<&str>, pattern: &str) -> (Packets, Settings) {
    let topology = topology::parse(spec).expect(spec);
    let routing = routing.map(|name| name.parse().expect(name));
    let routes = Routes::build(&topology, routing).expect(spec);
    let parameters =
        Parameters { choice: packet::Choice::Message, ..routers(2 * u32::from(routes.lanes())) };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let pattern = Pattern::named(pattern).expect(pattern).on(&topology).expect("destinations");
    let settings = Settings { lengths: Lengths::Fixed(8), ..Settings::new(pattern, 1.0) };
    (Packets::new(fabric), settings)
}

fn found(spec: &str, routing: Option<&str>, pattern: &str) -> Bounds {
    let (network, settings) = loaded(spec, routing, pattern);
    bounds(&network, &settings)
}

fn assert_load(spec: &str, routing: Option<&str>, pattern: &str, expected: f64) {
    let load = found(spec, routing, pattern).load.expect("a bound");
    assert!((load - expected).abs() < 1e-9, "{spec} {routing:?} {pattern}: {load}, {expected}");
}

/// On a torus of k switches in a dimension the links carry 8/k, and those of hosts 1; on a mesh the
/// middle ones carry 4/k. Without messages to oneself it is N/(N - 1) of that. In a ring of k
/// tornado moves ceil(k/2) - 1.
#[test]
fn closed_forms() {
    for k in [4, 8, 16] {
        let torus = format!("torus:dims={k}x{k}");
        let mesh = format!("mesh:dims={k}x{k}");
        let k = f64::from(k);
        assert_load(&torus, None, "uniform-with-self", (8.0 / k).min(1.0));
        assert_load(&mesh, None, "uniform-with-self", 4.0 / k);
        assert_load(&mesh, None, "uniform", 4.0 / k * (k * k - 1.0) / (k * k));
    }
    for k in [5, 8, 9, 16] {
        let ring = format!("ring:switches={k}");
        assert_load(&ring, None, "tornado", 1.0 / f64::from(u32::div_ceil(k, 2) - 1));
    }
    assert_load("mesh:dims=8x8", None, "transpose", 1.0 / 7.0);
    assert_load("dragonfly:p=2", None, "next-group", 1.0 / 8.0);
    assert_load("hyperx:dims=8,hosts=4", None, "next-group", 1.0 / 4.0);
    // The last switch of a row has two ways to the first of the next: by shortest ways two of these
    // share a link.
    let crossed = "hyperx:dims=4x4,hosts=4";
    assert_load(crossed, Some("dimension-order"), "next-group", 1.0 / 4.0);
    assert_load(crossed, Some("minimal"), "next-group", 1.0 / 8.0);
    assert_load("fat-tree:levels=2,radix=8", None, "bit-complement", 1.0);
}

/// Valiant's way is that of two uniform messages, whatever the pattern: 4/k on a torus.
#[test]
fn valiant() {
    for pattern in ["uniform-with-self", "tornado", "neighbour", "bit-complement"] {
        let halves = Some("valiant:halves=dimension-order");
        assert_load("torus:dims=8x8", halves, pattern, 0.5);
        assert_load("torus:dims=16x4", halves, pattern, 0.25);
    }
    // Half of the packets turn at each of two corners.
    assert_load("mesh:dims=8x8", Some("o1turn"), "transpose", 2.0 / 7.0);
}

/// The mean way on an 8x8 torus has 4 links between 5 routers: 5 R + 2 cycles of 1 ns. On a 4x4
/// mesh it has 2 (k^2 - 1)/(3 k) = 2.5. Valiant's is twice as long.
#[test]
fn idle_latency() {
    let latency = |spec, routing| found(spec, routing, "uniform-with-self").latency;
    let near = |found: Option<f64>, expected: f64| {
        let found = found.expect("a latency");
        assert!((found - expected).abs() < 1e-6 * expected, "{found} {expected}");
    };
    for routing in [None, Some("adaptive"), Some("ugal-l"), Some("par")] {
        near(latency("torus:dims=8x8", routing), 27_000.0);
    }
    near(latency("mesh:dims=4x4", None), 5_000.0 * 3.5 + 2_000.0);
    near(latency("torus:dims=8x8", Some("valiant:halves=dimension-order")), 47_000.0);
}

/// The bound is left out if load decides, or if ways are too many. Lengths that
/// differ leave the latency open.
#[test]
fn what_is_not_said() {
    for routing in ["adaptive", "ugal-l", "par"] {
        assert_eq!(found("torus:dims=4x4", Some(routing), "uniform").load, None);
    }
    assert_eq!(found("mesh:dims=48x48", None, "uniform"), Bounds::default());
    assert!(found("mesh:dims=48x48", None, "transpose").load.is_some());
    let (network, settings) = loaded("mesh:dims=4x4", None, "uniform");
    let settings = Settings { lengths: Lengths::Uniform(8, 80), ..settings };
    let Bounds { load, latency } = bounds(&network, &settings);
    assert_eq!((load.is_some(), latency), (true, None));
}

/// The chances of destinations are those by which they are drawn: what a host sends adds up to 1,
/// and a hot spot gets its share on top of its uniform part.
#[test]
fn chances() {
    let topology = topology::parse("mesh:dims=8x8").expect("a mesh");
    for (name, _) in traffic::PATTERNS {
        let destinations = Pattern::named(name).expect(name).on(&topology).expect(name);
        for host in (0..64).filter(|&host| destinations.sends(host)) {
            let chances = destinations.chances(host);
            assert!(chances.len() as u64 <= destinations.most_chances(), "{name}");
            let mut by_host = [0.0; 64];
            for &(to, chance) in &chances {
                by_host[to as usize] += chance;
            }
            assert!((by_host.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{name} {host}");
            let random = kernel::Random::new(7, 1);
            let mut drawn = [0_u32; 64];
            for number in 0..20_000 {
                drawn[destinations.draw(random, host, number) as usize] += 1;
            }
            for (count, chance) in drawn.into_iter().zip(by_host) {
                // Five standard deviations, and none where there is no chance.
                let (mean, room) = (20_000.0 * chance, 20_000.0 * chance * (1.0 - chance));
                let off = (f64::from(count) - mean).abs();
                assert!(off <= 5.0 * room.sqrt() + 1e-6, "{name} {host}: {count} {mean}");
            }
            if host > 2 {
                break;
            }
        }
    }
}

/// A ring of 8 under tornado accepts at most the bound at full load, and its interval.
#[test]
fn accepted_loads_stay_below() {
    let (network, settings) = loaded("ring:switches=8", None, "tornado");
    let parameters = Parameters { speed_up: 2, buffer: Some(64), ..routers(16) };
    let topology = topology::parse("ring:switches=8").expect("a ring");
    let fabric = Fabric::new(&topology.graph, network.fabric().routes().clone(), parameters);
    let network = Packets::new(fabric.expect("a fabric"));
    let bound = bounds(&network, &settings).load.expect("a bound");
    let arrivals = Arrivals::Bernoulli;
    let span = Span::Batches { warm_up: 10, kept: 40 };
    let point = run(&network, &Settings { arrivals, span, ..settings }).expect("it runs");
    assert!(point.accepted.mean <= bound + point.accepted.half_width, "{point:?}");
    assert!(point.accepted.mean > 0.3 * bound, "{point:?}");
}
