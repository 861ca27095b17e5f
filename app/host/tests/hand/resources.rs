//! CPUs, interfaces, dependencies, computation, noise.

use host::{Duration, Noise, Settings};
use units::Time;

use crate::hand::{DEFAULT, Machine, check, check_both, check_compat, ns, run, run_compat};

/// Sends at 0 and 4000. Messages arrive at 4000 and 8000, when the receiving interface, which took
/// the first at 4000, is just free again.
#[test]
fn two_sends_limited_by_the_gap() {
    let text = "num_ranks 2
        rank 0 { send 1b to 1 send 1b to 1 }
        rank 1 { recv 1b from 0 recv 1b from 0 }";
    check_both(text, &Machine { g: 4000, ..DEFAULT }.settings(), &[5500, 9500]);
}

/// Sends at 0 and at 1000 + 1000 * 6 = 7000. The first is received from 4000 to 4000 + 1500 + 6000
/// = 11500; the second arrives at 11000 and takes from 11500 to 19000.
#[test]
fn two_sends_limited_by_the_gap_per_byte() {
    let text = "num_ranks 2
        rank 0 { send 1001b to 1 send 1001b to 1 }
        rank 1 { recv 1001b from 0 recv 1001b from 0 }";
    check_both(text, &DEFAULT.settings(), &[8500, 19_000]);
}

/// Both arrive at 4000; the interface takes the second at 8000.
#[test]
fn two_messages_limited_by_the_gap_of_the_receiver() {
    let text = "num_ranks 3
        rank 0 { recv 1b from 1 recv 1b from 2 }
        rank 1 { send 1b to 0 }
        rank 2 { send 1b to 0 }";
    check_both(text, &Machine { g: 4000, ..DEFAULT }.settings(), &[9500, 1500, 1500]);
}

/// With an interface each, the sends follow at 0 and 1500, the receptions at 4000 and 5500.
#[test]
fn two_interfaces() {
    let text = "num_ranks 2
        rank 0 { send 1b to 1 nic 0 send 1b to 1 nic 1 }
        rank 1 { recv 1b from 0 nic 0 recv 1b from 0 nic 1 }";
    check_both(text, &Machine { g: 4000, ..DEFAULT }.settings(), &[3000, 7000]);
}

#[test]
fn requires() {
    let text = "num_ranks 1 rank 0 { a: calc 100 b: calc 200 b requires a }";
    check_both(text, &DEFAULT.settings(), &[300]);
}

/// The send starts at 1000, and with it 5000 of computation on the other CPU. LogGOPSim forgets the
/// dependency's time: the other CPU starts at 0.
#[test]
fn the_start_of_a_send() {
    let text = "num_ranks 2
        rank 0 {
            a: calc 1000 b: send 1b to 1 c: calc 5000 cpu 1
            b requires a c irequires b
        }
        rank 1 { recv 1b from 0 }";
    check(text, &DEFAULT.settings(), &[6000, 6500]);
    check_compat(text, &DEFAULT.settings(), &[5000, 6500]);
}

/// The operation starts after the end of the send, at 2500.
#[test]
fn the_end_of_a_send() {
    let text = "num_ranks 2
        rank 0 {
            a: calc 1000 b: send 1b to 1 c: calc 5000 cpu 1
            b requires a c requires b
        }
        rank 1 { recv 1b from 0 }";
    check(text, &DEFAULT.settings(), &[7500, 6500]);
    check_compat(text, &DEFAULT.settings(), &[5000, 6500]);
}

/// A receive starts when it is posted, at 0. The 5000 of computation that follow keep the message
/// waiting from 4000 to 5000.
#[test]
fn the_start_of_a_receive() {
    let text = "num_ranks 2
        rank 0 { a: recv 1b from 1 b: calc 5000 b irequires a }
        rank 1 { send 1b to 0 }";
    check_both(text, &DEFAULT.settings(), &[6500, 1500]);
}

/// The computation on CPU 1 starts with the second on CPU 0, at 500. LogGOPSim starts it at 0.
#[test]
fn the_start_of_a_computation() {
    let text = "num_ranks 1
        rank 0 {
            a: calc 500 b: calc 1000 c: calc 2000 cpu 1
            b requires a c irequires b
        }";
    check(text, &DEFAULT.settings(), &[2500]);
    check_compat(text, &DEFAULT.settings(), &[2000]);
}

#[test]
fn two_cpus_at_once() {
    let text = "num_ranks 1 rank 0 { calc 1000 cpu 0 calc 700 cpu 1 }";
    check_both(text, &DEFAULT.settings(), &[1000]);
    let busy = run(text, &DEFAULT.settings()).expect("it runs").ranks[0].busy;
    assert_eq!(busy, ns(1700));
}

/// 1000 and then 500. LogGOPSim starts the second when its CPU is free, at 0.
#[test]
fn a_dependency_across_cpus() {
    let text = "num_ranks 1 rank 0 { a: calc 1000 b: calc 500 cpu 1 b requires a }";
    check(text, &DEFAULT.settings(), &[1500]);
    check_compat(text, &DEFAULT.settings(), &[1000]);
}

/// The message meets a receive on CPU 1, which is free: received from 4000 to 5500, then 10000 of
/// computation. LogGOPSim charges it to the send's CPU 0, from 10000 to 11500, and starts the
/// computation when CPU 1 is free, at 0.
#[test]
fn an_expected_message_is_charged_to_its_receive() {
    let text = "num_ranks 2
        rank 0 {
            calc 10000 cpu 0
            a: recv 1b from 1 cpu 1 b: calc 10000 cpu 1
            b requires a
        }
        rank 1 { send 1b to 0 cpu 0 }";
    check(text, &DEFAULT.settings(), &[15_500, 1500]);
    check_compat(text, &DEFAULT.settings(), &[11_500, 1500]);
}

/// No receive is posted when the message arrives at 4000. It is charged to CPU 1, as sent, from
/// 4200 to 5700. The receive, posted at 5000, ends then. LogGOPSim ends it at 5000.
#[test]
fn an_unexpected_message_is_charged_as_sent() {
    let text = "num_ranks 2
        rank 0 {
            calc 4200 cpu 1
            a: calc 5000 b: recv 1b from 1 c: calc 100
            b requires a c requires b
        }
        rank 1 { send 1b to 0 cpu 1 }";
    check(text, &DEFAULT.settings(), &[5800, 1500]);
    check_compat(text, &DEFAULT.settings(), &[5700, 1500]);
}

/// 1500 ps of computation, then a message as ever.
#[test]
fn picoseconds() {
    let text = "num_ranks 2
        rank 0 { a: calc 1500 b: send 1b to 1 b requires a }
        rank 1 { recv 1b from 0 }";
    let settings = Settings { time_unit: Time::from_ps(1), ..DEFAULT.settings() };
    for outcome in [run(text, &settings), run_compat(text, &settings)] {
        let ranks = outcome.expect("it runs").ranks;
        assert_eq!([ranks[0].finish.ps(), ranks[1].finish.ps()], [1_501_500, 5_501_500]);
    }
}

#[test]
fn no_computation() {
    let text = "num_ranks 2
        rank 0 { a: calc 0 b: send 1b to 1 b requires a }
        rank 1 { recv 1b from 0 }";
    check_both(text, &DEFAULT.settings(), &[1500, 5500]);
}

/// An interruption that never ends makes each activity last twice as long, once: what falls into
/// the extension is not added again.
pub fn noisy() -> Settings {
    let events = vec![(Time::ZERO, ns(1))];
    Settings { noise: Noise::Trace { events, coscheduled: false }, ..DEFAULT.settings() }
}

#[test]
fn noise_during_computation() {
    check_both("num_ranks 1 rank 0 { calc 100 }", &noisy(), &[200]);
}

/// The CPU is free at 3000; the message arrives at 4000 as without noise, is received by 4000 +
/// 1500 + 1500 + 54: noise lengthens overheads, not the time for bytes.
#[test]
fn noise_during_send_and_receive() {
    let text = "num_ranks 2 rank 0 { send 10b to 1 } rank 1 { recv 10b from 0 }";
    check_both(text, &noisy(), &[3000, 7054]);
}

/// A computation over 1000 intervals of 10 us meets 1000 whole interruptions: it lasts 10 ms and
/// 1000 times the length of one, up to twice as long if there is nothing but interruptions.
/// Exponential lengths with the mean 1 us are cut at 10 us, which takes e^-10 of the mean: 11 ms up
/// to what 1000 draws vary, 3 % of their sum being one standard deviation.
#[test]
fn whole_interruptions_at_random() {
    let finish = |duration| {
        let interval = ns(10_000);
        let noise = Noise::Random { interval, duration, coscheduled: false };
        let settings = Settings { noise, ..DEFAULT.settings() };
        let outcome = run("num_ranks 1 rank 0 { calc 10000000 }", &settings);
        outcome.expect("it runs").ranks[0].finish.ps()
    };
    for (duration, expected) in [(0, 10_000), (1, 11_000), (5, 15_000), (9, 19_000), (10, 20_000)] {
        let found = finish(Duration::Fixed(ns(duration * 1000)));
        assert_eq!(found, expected * 1_000_000, "{duration} us");
    }
    let exponential = finish(Duration::Exponential(ns(1000)));
    assert!((10_850_000_000..11_150_000_000).contains(&exponential), "{exponential}");
}
