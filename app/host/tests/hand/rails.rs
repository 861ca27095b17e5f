//! Hosts on two networks, by hand. The fast rail has o = 100, L = 1000, g = 400 and G = 1, the slow
//! one o = 200, L = 2000, g = 200 and G = 10, all in nanoseconds.

use std::sync::Arc;

use host::{
    Costs, HostCosts, Rendezvous, Settings,
    rails::{Rail, Rails, ticks},
    simulate_over,
};
use kernel::{Silent, TransportKind};
use loggops::{Adapters, Loss, Parameters};
use network::Rails as Networks;
use rails::{Policy, Stripes};
use units::Time;

use crate::hand::{DEFAULT, Machine, image, ns};

const FAST: Machine = Machine { l: 1000, o: 100, g: 400, g_byte: 1, o_byte: 0, s: 100_000 };
const SLOW: Machine = Machine { l: 2000, o: 200, g: 200, g_byte: 10, o_byte: 0, s: 100_000 };

fn rail(machine: Machine) -> Rail {
    let parameters = machine.settings().parameters;
    let at_host = |costs: HostCosts| HostCosts {
        send_overhead: costs.send_overhead,
        receive_overhead: costs.receive_overhead,
        ..HostCosts::FREE
    };
    let costs = Costs::from(&parameters);
    let known = rails::Parameters {
        send_overhead: ticks(ns(machine.o)),
        receive_overhead: ticks(ns(machine.o)),
        latency: ticks(ns(machine.l)),
        gap: ticks(ns(machine.g)),
        gap_per_byte: machine.g_byte << 20,
        weight: 0,
    };
    Rail {
        costs: Costs { small: at_host(costs.small), large: at_host(costs.large), ..costs },
        parameters: known,
        outage: None,
        hosts: None,
    }
}

fn both(policy: Policy, stripes: Stripes) -> Rails {
    let rails = vec![rail(FAST), rail(SLOW)];
    Rails { rails, policy, stripes, whole: 1000, notices: false }
}

#[track_caller]
fn check_on(hosts: &[u32], text: &str, rails: Rails, eager: u64, expected: &[u64]) {
    check_losing(None, hosts, text, rails, eager, expected);
}

/// Finish times in nanoseconds, on any number of threads, with messages in any form, where the fast
/// rail loses bandwidth.
#[track_caller]
fn check_losing(
    loss: Option<Loss>,
    hosts: &[u32],
    text: &str,
    rails: Rails,
    eager: u64,
    expected: &[u64],
) {
    let networks = [(FAST, loss), (SLOW, None)]
        .map(|(it, loss)| Adapters::new(&it.settings().parameters, loss));
    let network = Networks::new(networks.to_vec());
    let settings = Settings {
        parameters: Parameters { eager_limit: eager, ..DEFAULT.settings().parameters },
        rendezvous: Rendezvous::RtsCts,
        rails: Some(Arc::new(rails)),
        ..Settings::default()
    };
    for (threads, transport) in
        [(1, TransportKind::Shared), (2, TransportKind::Serialised), (7, TransportKind::Serialised)]
    {
        let settings = Settings { threads, transport, ..settings.clone() };
        let run = simulate_over(&network, Some(hosts), &image(text), &settings, || Silent);
        let outcome = run.expect("it runs").0;
        assert_eq!(outcome.deadlock, None);
        let finish: Vec<u64> = outcome.ranks.iter().map(|rank| rank.finish.ps() / 1000).collect();
        assert_eq!(finish, expected, "{threads} threads");
    }
}

#[track_caller]
fn check(text: &str, policy: Policy, expected: &[u64]) {
    check_on(&[0, 1], text, both(policy, Stripes::None), 100_000, expected);
}

const THREE: &str = "num_ranks 2
    rank 0 { send 101b to 1 send 101b to 1 send 101b to 1 }
    rank 1 { recv 101b from 0 recv 101b from 0 recv 101b from 0 }";

/// o + L + 100 G + o.
#[test]
fn one_message_by_either_rail() {
    let text = "num_ranks 2 rank 0 { send 101b to 1 } rank 1 { recv 101b from 0 }";
    check(text, Policy::Single(0), &[100, 1300]);
    check(text, Policy::Single(1), &[200, 3400]);
    check(text, Policy::Delivery, &[100, 1300]);
}

/// The CPU goes on after each overhead; the interface takes the messages at 100, 600 and 1100.
#[test]
fn the_interface_queues() {
    check(THREE, Policy::Single(0), &[300, 2300]);
}

/// In turn: the second message is sent at 100, enters the slow rail at 300 and is there at 3300,
/// when the first has been received. The third is there at 1800, but behind the second.
#[test]
fn a_message_behind_one_by_a_slow_rail() {
    check(THREE, Policy::InTurn, &[400, 3600]);
}

/// All by the fast rail: 1300, 1800 and 2300, all earlier than the slow rail's 3400.
#[test]
fn the_earliest_delivery() {
    check(THREE, Policy::Delivery, &[300, 2300]);
}

/// Two ranks of a host send at the same time; they share the rail, and its scheduler knows. By the
/// fourth message the slow rail is as good as the fast one, which is free at 1600 and would deliver
/// at 2800 + 100; so all take the fast one.
#[test]
fn ranks_of_a_host_share_its_rails() {
    let text = "num_ranks 4
        rank 0 { send 101b to 2 }
        rank 1 { send 101b to 3 }
        rank 2 { recv 101b from 0 }
        rank 3 { recv 101b from 1 }";
    let rails = both(Policy::Delivery, Stripes::None);
    check_on(&[0, 0, 1, 1], text, rails, 100_000, &[100, 100, 1300, 1800]);
}

/// In equal parts of 1001 bytes: the first enters at 100 and is there at 2100; the second is sent
/// after that, enters at 300 and is there at 12 300. The receiver pays both overheads.
#[test]
fn equal_stripes() {
    let text = "num_ranks 2 rank 0 { send 2002b to 1 } rank 1 { recv 2002b from 0 }";
    let rails = both(Policy::Delivery, Stripes::Equal);
    check_on(&[0, 1], text, rails, 100_000, &[300, 12_600]);
}

/// A request, a clear-to-send and the data each take a rail: 1200 and 1200 by the fast one, which
/// is free again by then; then 2400 + 100 + 1000 + 2000 + 100.
#[test]
fn rendezvous() {
    let text = "num_ranks 2 rank 0 { send 2001b to 1 } rank 1 { recv 2001b from 0 }";
    let rails = both(Policy::Delivery, Stripes::None);
    check_on(&[0, 1], text, rails, 1000, &[2500, 5600]);
}

/// The fast rail takes nothing from 50 on: the second message goes by the slow one, sent at 100,
/// there at 3300; from 5000 on it works again.
#[test]
fn a_rail_fails_and_comes_back() {
    let text = "num_ranks 2
        rank 0 { a: send 101b to 1 b: send 101b to 1 c: calc 5000 d: send 101b to 1
            b requires a c requires b d requires c }
        rank 1 { recv 101b from 0 recv 101b from 0 recv 101b from 0 }";
    let mut rails = both(Policy::Delivery, Stripes::None);
    rails.rails[0].outage = Some((ns(50), ns(5000)));
    // 300 + 5000 + 100 + 1000 + 100 + 100.
    check_on(&[0, 1], text, rails, 100_000, &[5400, 6600]);
}

/// Host 1 is not on the fast rail.
#[test]
fn a_host_lacks_a_rail() {
    let text = "num_ranks 3
        rank 0 { send 101b to 1 send 101b to 2 }
        rank 1 { recv 101b from 0 }
        rank 2 { recv 101b from 0 }";
    let mut rails = both(Policy::Delivery, Stripes::None);
    rails.rails[0].hosts = Some(vec![true, false, true]);
    // By the slow rail from 0 on; by the fast one from 200 on.
    check_on(&[0, 1, 2], text, rails, 100_000, &[300, 3400, 1500]);
}

/// The fast rail takes 20 ns for a byte until 100 ms. The first message should have left it 1500
/// after its send began, and has at 20 100: 13.4 ns a byte. So the second, sent at 30 100, is
/// expected 14 600 later by the fast rail and 12 400 by the slow one. A quarter of a second later
/// one tries the fast rail, is there in time, and the last one, 5000 behind it, follows.
#[test]
fn a_host_notices_a_slower_rail() {
    let text = "num_ranks 2
        rank 0 { a: send 1001b to 1 x: calc 30000 b: send 1001b to 1 y: calc 300000000
            c: send 1001b to 1 z: calc 5000 d: send 1001b to 1
            x requires a b requires x y requires b c requires y z requires c d requires z }
        rank 1 { recv 1001b from 0 recv 1001b from 0 recv 1001b from 0 recv 1001b from 0 }";
    let loss = Some(Loss { from: Time::ZERO, until: ns(100_000_000), left: 50_000 });
    let mut rails = Rails { whole: 2000, ..both(Policy::Delivery, Stripes::None) };
    // All by the fast rail: four overheads of 100; the last is there 2200 after its send begins.
    let all_fast = [300_035_400, 300_037_500];
    check_losing(loss, &[0, 1], text, rails.clone(), 100_000, &all_fast);
    rails.notices = true;
    // The second has an overhead of 200.
    let noticed = [300_035_500, 300_037_600];
    check_losing(loss, &[0, 1], text, rails.clone(), 100_000, &noticed);
    // It is there at 30 100 + 200 + 2000 + 10 000 + 200; by the fast one, at 30 200 + 1000 + 20 000
    // + 100.
    let text = "num_ranks 2
        rank 0 { a: send 1001b to 1 x: calc 30000 b: send 1001b to 1 x requires a b requires x }
        rank 1 { recv 1001b from 0 recv 1001b from 0 }";
    check_losing(loss, &[0, 1], text, rails.clone(), 100_000, &[30_300, 42_500]);
    rails.notices = false;
    check_losing(loss, &[0, 1], text, rails, 100_000, &[30_200, 51_300]);
}

/// Times of schedulers are in 1/1024 ns.
#[test]
fn units_of_schedulers() {
    assert_eq!([0, 1000, 1_500_000].map(|ps| ticks(Time::from_ps(ps))), [0, 1024, 1_536_000]);
}
