//! Parameters that make no network are refused, with everything that is wrong with it.

use crate::common::simula;
use infiniband::{Fabric, Hiccups, Invalid, Parameters, Share, Tables};
use units::Time;

#[test]
fn everything_is_reported() {
    assert_eq!(simula().check(15), []);
    // 2156 + 20 bytes are 34 flits.
    let wrong = Parameters { buffer: 33, output_buffer: 10, max_being_sent: 0, ..simula() };
    let buffer = |key, flits| Invalid::Buffer { key, flits, packet: 34 };
    let expected = [buffer("buffer", 33), buffer("output-buffer", 10), Invalid::BeingSent];
    assert_eq!(wrong.check(1), expected);
    assert_eq!(simula().check(16), [Invalid::Lanes { lanes: 16 }]);
    // 20 000 bytes are 313 flits and more than any buffer here.
    let jumbo = Parameters { mtu: 20_000, ..simula() };
    assert!(matches!(jumbo.check(1)[0], Invalid::Packet { packet: 313, .. }));
    let low = vec![Share { lane: 0, weight: 1 }, Share { lane: 1, weight: 0 }];
    let tables = Tables { high: vec![], low, high_limit: 0 };
    let unserved = Parameters { arbiter: Some(tables), ..simula() };
    assert_eq!(unserved.check(2), [Invalid::Unserved { lanes: 2, lane: 1 }]);
    let hiccups = Hiccups { period: 10, pause: 10, ..Hiccups::NONE };
    let [pause, period] = [10, 10].map(Time::from_ps);
    let always = Parameters { hiccups, ..simula() };
    assert_eq!(always.check(1), [Invalid::Hiccups { pause, period }]);
    // Polls are at 7 of 6, which is 1, in the pause of 3.
    let hiccups = Hiccups { period: 6, pause: 3, resume: 4, ..Hiccups::NONE };
    let lost = Parameters { hiccups, ..always };
    assert_eq!(
        lost.check(1),
        [Invalid::Hiccups { pause: Time::from_ps(3), period: Time::from_ps(6) }]
    );
    let second = Time::from_ps(1_000_000_000_000);
    let latency_in = second.saturating_add(Time::from_ps(1));
    let slow = Parameters { cable: second, latency_in, ..simula() };
    assert_eq!(slow.check(1), [Invalid::Delay { key: "latency-in", time: latency_in }]);
    let stopped = Parameters { sink: Time::ZERO, ..simula() };
    assert_eq!(stopped.check(1), [Invalid::Pace { key: "sink", time: Time::ZERO }]);
}

#[test]
fn messages_say_what_to_do() {
    let small = Parameters { host_buffer: 8, ..simula() }.check(1);
    assert_eq!(
        small[0].to_string(),
        "host-buffer holds 8 flits, less than one packet of 34 flits: nothing could be sent"
    );
}

/// A star of six hosts is a switch of six ports, with eight bytes for each pair of them and lane.
#[test]
fn queues_of_a_switch_grow_with_the_square_of_its_ports() {
    let star = topology::Shape::parse("star:hosts=6").expect("a star").size().expect("a size");
    for lanes in [1, 4] {
        assert_eq!(Fabric::least_memory(&star, lanes), 6 * 6 * 8 * (u64::from(lanes) + 1));
    }
}
