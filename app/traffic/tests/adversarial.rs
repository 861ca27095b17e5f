//! Adversarial traffic, all of a group to the next one: shortest ways share one link, and routings
//! that leave them do not (Kim et al., ISCA 2008, section 4; Ahn et al., SC 2009).

use packet::{Arbitration, Fabric, Packets, Parameters, preset};
use topology::Routes;
use traffic::{Arrivals, Lengths, Pattern, Point, Settings, Span, run};
use units::Time;

/// Measures a load, to 2 % within 40 batches.
fn point(spec: &str, routing: &str, load: f64) -> Point {
    measured(spec, routing, load, Span::Precise { half_width: 0.02, batches: 40 }, 1)
}

/// Measures a load with single flits, internal speed-up 2, two channels a lane and buffers of a
/// round trip, in batches of 1000 cycles.
fn measured(spec: &str, routing: &str, load: f64, span: Span, threads: usize) -> Point {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, Some(routing.parse().expect(routing))).expect(routing);
    let parameters = Parameters {
        speed_up: 2,
        channels: Some(2 * u32::from(routes.lanes())),
        buffer: None,
        ..preset("packet-booksim").expect("a preset")
    };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let settings = Settings {
        arrivals: Arrivals::Bernoulli,
        lengths: Lengths::Fixed(8),
        span,
        threads,
        batch: Some(Time::from_ps(1_000_000)),
        ..Settings::new(Pattern::NextGroup.on(&topology).expect("destinations"), load)
    };
    run(&Packets::new(fabric), &settings).expect("it runs")
}

fn assert_between(spec: &str, routing: &str, [steady, saturated]: [f64; 2]) {
    let low = point(spec, routing, steady);
    assert!(low.sustained(), "{spec} {routing}: {low:?}");
    let high = point(spec, routing, saturated);
    assert!(high.saturated, "{spec} {routing}: {high:?}");
    println!("{spec} {routing}: accepts {} of {saturated}", high.accepted.mean);
}

/// The p a hosts of a group share the one link to the next: 1 / (p a) = 1/8 with p = 2, within 5 %.
#[test]
fn shortest_ways_share_a_link() {
    let bound = 1.0 / 8.0;
    assert_between("dragonfly:p=2", "minimal", [0.95 * bound, 1.05 * bound]);
}

/// The words of routers about their queues, and decisions behind the first router, do not depend on
/// threads.
#[test]
fn any_number_of_threads() {
    for (spec, routing) in
        [("dragonfly:p=2", "ugal-g"), ("dragonfly:p=2", "par"), ("hyperx:dims=6x4,hosts=4", "dal")]
    {
        let span = Span::Batches { warm_up: 0, kept: 1 };
        let point = |threads| measured(spec, routing, 0.25, span, threads);
        let one = point(1);
        assert!(one.messages > 10_000, "{one:?}");
        assert_eq!(point(2), one, "{routing}");
    }
}

/// By way of others each of the 8 links out of a group carries an eighth of its 8 hosts' messages
/// twice, so that half of the load is the bound, and at least 0.3 is reached.
#[test]
#[ignore = "takes long"]
fn detours_share_all_links() {
    assert_between("dragonfly:p=2", "valiant", [0.3, 0.55]);
    assert_between("dragonfly:p=2", "ugal-l", [0.3, 0.55]);
    assert_between("dragonfly:p=2", "ugal-g", [0.3, 0.55]);
    assert_between("dragonfly:p=2", "par", [0.3, 0.55]);
}

/// With p = 4 the bound of shortest ways is 1/32.
#[test]
#[ignore = "takes long"]
fn dragonfly() {
    let bound = 1.0 / 32.0;
    assert_between("dragonfly:p=4", "minimal", [0.95 * bound, 1.05 * bound]);
    assert_between("dragonfly:p=4", "valiant", [0.3, 0.55]);
    assert_between("dragonfly:p=4", "ugal-l", [0.3, 0.55]);
}

/// Routers of a group tell each other of their links to other groups.
#[test]
#[ignore = "takes long"]
fn dragonfly_by_queues_of_others() {
    assert_between("dragonfly:p=4", "ugal-g", [0.3, 0.55]);
}

/// The router with the link to the next group decides again.
#[test]
#[ignore = "takes long"]
fn dragonfly_progressive() {
    assert_between("dragonfly:p=4", "par", [0.3, 0.55]);
}

/// Measures a load of messages of one packet on the default router, whose links have a channel for
/// each lane with a buffer of a round trip and a packet, in `batches` batches after as many.
fn usual(spec: &str, routing: &str, load: f64, batches: u32) -> Point {
    let topology = topology::parse(spec).expect(spec);
    let routes = Routes::build(&topology, Some(routing.parse().expect(routing))).expect(routing);
    let parameters = Parameters { ordered: false, ..preset("packet-default").expect("a preset") };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let settings = Settings {
        lengths: Lengths::Fixed(256),
        span: Span::Batches { warm_up: batches, kept: batches },
        ..Settings::new(Pattern::NextGroup.on(&topology).expect("destinations"), load)
    };
    run(&Packets::new(fabric), &settings).expect("it runs")
}

/// Checks the default router at a load of 0.3, which is far above the bound of shortest ways, and
/// where hosts send all they can: what is accepted there is at least 0.3 as well, so that it does
/// not fall beyond saturation, and no more than detours allow.
fn assert_detours_of_usual(spec: &str, routing: &str, batches: u32) {
    let steady = usual(spec, routing, 0.3, batches).accepted.mean;
    assert!(steady > 0.297, "{spec} {routing}: {steady}");
    let most = usual(spec, routing, 1.0, batches).accepted.mean;
    assert!((0.3..0.5).contains(&most), "{spec} {routing}: {most}");
    println!("{spec} {routing}: accepts {steady} of 0.3, {most} of 1");
}

/// Shortest ways accept 1 / (p a): 1/8 with p = 2.
#[test]
fn default_router() {
    let least = usual("dragonfly:p=2", "minimal", 1.0, 20).accepted.mean;
    assert!((least * 8.0 - 1.0).abs() < 0.05, "{least}");
    for routing in ["ugal-l", "ugal-g", "par"] {
        assert_detours_of_usual("dragonfly:p=2", routing, 20);
    }
}

/// With p = 4 the bound of shortest ways is 1/32.
#[test]
#[ignore = "takes long"]
fn default_router_of_1056_hosts() {
    let least = usual("dragonfly:p=4", "minimal", 1.0, 20).accepted.mean;
    assert!((least * 32.0 - 1.0).abs() < 0.05, "{least}");
    for routing in ["valiant", "ugal-l", "ugal-g", "par"] {
        assert_detours_of_usual("dragonfly:p=4", routing, 20);
    }
}

/// In a row of five routers whose hosts send all they can to the first, round robin halves what
/// comes from behind: 1/2, 1/4, 1/8, 1/8. By age all get the same.
#[test]
fn shares_of_a_parking_lot() {
    let shares = |arbiter| {
        let topology = topology::parse("chain:switches=5").expect("a chain");
        let routes = Routes::build(&topology, None).expect("routes");
        let parameters = Parameters {
            arbiter,
            speed_up: 2,
            channels: Some(16),
            buffer: Some(64),
            ..preset("packet-booksim").expect("a preset")
        };
        let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
        let pattern = Pattern::named("incast").expect("a name").on(&topology).expect("an incast");
        let settings = Settings {
            lengths: Lengths::Fixed(8),
            span: Span::Batches { warm_up: 20, kept: 40 },
            ..Settings::new(pattern, 1.0)
        };
        let observed = traffic::observe(&Packets::new(fabric), &settings, false, || kernel::Silent);
        let shares = observed.expect("it runs").by_source;
        let all: f64 = shares.iter().sum();
        shares[1..].iter().map(|share| share / all).collect::<Vec<_>>()
    };
    let near = |found: Vec<f64>, expected: [f64; 4]| {
        let pairs = || found.iter().zip(expected);
        assert!(pairs().all(|(a, b)| (a - b).abs() < 0.03), "{found:?} {expected:?}");
    };
    near(shares(Arbitration::RoundRobin), [0.5, 0.25, 0.125, 0.125]);
    near(shares(Arbitration::Age), [0.25; 4]);
}

/// On a ring of 16 all hosts send 7 further, so that the bound is 1/7. Where they send all they
/// can, round robin gives each host half of a full link, and the link behind it the other half:
/// together they get what one link carries, 1/16 each on average. By age the default router keeps
/// what it accepts just beyond saturation.
#[test]
fn ring_beyond_saturation() {
    let accepted = |arbiter, load| {
        let topology = topology::parse("ring:switches=16").expect("a ring");
        let routes = Routes::build(&topology, None).expect("routes");
        let standard = preset("packet-default").expect("a preset");
        assert_eq!(standard.arbiter, Arbitration::Age);
        let fabric = Fabric::new(&topology.graph, routes, Parameters { arbiter, ..standard });
        let pattern = Pattern::named("tornado").expect("a name").on(&topology);
        let settings = Settings {
            lengths: Lengths::Fixed(256),
            span: Span::Batches { warm_up: 40, kept: 40 },
            ..Settings::new(pattern.expect("a tornado"), load)
        };
        run(&Packets::new(fabric.expect("a fabric")), &settings).expect("it runs").accepted.mean
    };
    let robin = accepted(Arbitration::RoundRobin, 1.0);
    assert!((robin * 16.0 - 1.0).abs() < 0.03, "{robin}");
    let [near, far] = [0.2, 1.0].map(|load| accepted(Arbitration::Age, load));
    assert!(near > 0.7 / 7.0 && far > 0.95 * near && far < 1.0 / 7.0, "{near} {far}");
}

/// In a HyperX of one dimension with 4 hosts a switch the link to the next one carries 1/4.
#[test]
fn hyperx() {
    let spec = "hyperx:dims=8,hosts=4";
    assert_between(spec, "minimal", [0.95 / 4.0, 1.05 / 4.0]);
    assert!(point(spec, "ugal-l", 0.3).sustained());
    assert!(point(spec, "ugal-l:factor=hops", 0.3).sustained());
    assert!(point(spec, "ugal-g", 0.3).sustained());
    assert!(point(spec, "par", 0.3).sustained());
}

/// In a HyperX of k switches in a line with t hosts each, of which all send to the next switch, the
/// link there carries 1 of t, and each of the k - 2 other switches may pass on half as much as a
/// link carries: together k/2 of t, or all there is. In dimension order 1/t.
#[test]
fn deroutes_in_a_hyperx() {
    for spec in ["hyperx:dims=8,hosts=4", "hyperx:dims=4x4,hosts=4"] {
        for routing in ["dal", "dimension-adaptive"] {
            let steady = usual(spec, routing, 0.4, 10).accepted.mean;
            let most = usual(spec, routing, 1.0, 10).accepted.mean;
            println!("{spec} {routing}: accepts {steady} of 0.4, {most} of 1");
            assert!(steady > 0.39, "{spec} {routing}: {steady}");
            assert!(most > 0.39 && most < 1.0, "{spec} {routing}: {most}");
        }
    }
    let least = usual("hyperx:dims=8,hosts=4", "minimal", 1.0, 10).accepted.mean;
    assert!((least * 4.0 - 1.0).abs() < 0.05, "{least}");
    // By shortest ways 8 of 64 hosts share a link, and the others have 1/4 each.
    let crossed = usual("hyperx:dims=4x4,hosts=4", "minimal", 1.0, 10).accepted.mean;
    assert!((crossed * 64.0 / 15.0 - 1.0).abs() < 0.02, "{crossed}");
    for routing in ["dal", "dimension-adaptive"] {
        assert!(point("hyperx:dims=8,hosts=4", routing, 0.3).sustained(), "{routing}");
    }
}

/// Uniform traffic hardly needs deroutes: what is accepted is near that of shortest ways.
#[test]
fn no_deroutes_of_uniform_traffic() {
    let accepted = |routing: &str| {
        let topology = topology::parse("hyperx:dims=4x4,hosts=4").expect("a HyperX");
        let routes = Routes::build(&topology, Some(routing.parse().expect(routing)));
        let parameters = Parameters { ordered: false, ..preset("packet-default").expect("it") };
        let fabric = Fabric::new(&topology.graph, routes.expect(routing), parameters);
        let settings = Settings {
            lengths: Lengths::Fixed(256),
            span: Span::Batches { warm_up: 10, kept: 10 },
            ..Settings::new(Pattern::Uniform.on(&topology).expect("hosts"), 0.6)
        };
        run(&Packets::new(fabric.expect("a fabric")), &settings).expect("it runs").accepted.mean
    };
    for routing in ["adaptive", "dal", "dimension-adaptive"] {
        let found = accepted(routing);
        println!("{routing}: accepts {found} of 0.6");
        assert!(found > 0.58, "{routing}: {found}");
    }
}
