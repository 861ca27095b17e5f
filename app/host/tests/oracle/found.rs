//! The faults that comparisons with the oracles brought to light, each in its smallest form.

use host::{Outcome, Rendezvous, Settings, simulate};
use kernel::Silent;
use loggops::{Costs, Parameters};
use units::TimePerByte;

use crate::oracle::programs::image;
use crate::oracle::rules::ps;

/// L and o in picoseconds, O in picoseconds per byte, S in bytes; g and G are 0.
fn settings(latency: u64, overhead: u64, per_byte: u64, eager_limit: u64) -> Settings {
    let rate = TimePerByte::new(per_byte, 1).expect("one byte");
    let costs = Costs {
        latency: ps(latency),
        send_overhead: ps(overhead),
        receive_overhead: ps(overhead),
        gap: ps(0),
        gap_per_byte: TimePerByte::ZERO,
        send_overhead_per_byte: rate,
        receive_overhead_per_byte: rate,
    };
    let parameters = Parameters { small: costs, large: costs, eager_limit, ..Default::default() };
    Settings { parameters, time_unit: ps(1), ..Settings::default() }
}

fn run(text: &str, settings: &Settings) -> Result<Outcome, host::Error> {
    simulate(&image(text), settings, || Silent).map(|(outcome, _)| outcome)
}

fn finish(text: &str, settings: &Settings) -> Result<Vec<u64>, host::Error> {
    let outcome = run(text, settings)?;
    Ok(outcome.ranks.iter().map(|rank| rank.finish.ps()).collect())
}

/// Receives that may be posted at the start are posted in the order of the program, whatever their
/// CPUs. Messages of 1, 2 and 3 bytes meet the receives of 1, 2 and 3 bytes.
#[test]
fn first_receives_are_posted_in_the_order_of_the_program() {
    let text = "num_ranks 2
        rank 0 { recv 1b from 1 cpu 0 recv 2b from 1 cpu 1 recv 3b from 1 cpu 0 }
        rank 1 {
            a: send 1b to 0 b: send 2b to 0 c: send 3b to 0
            b requires a c requires b
        }";
    let done = run(text, &settings(10, 1, 0, 100));
    assert!(done.is_ok(), "{done:?}");
}

/// L = 2, o = 1, O = 1. The send's overhead lasts until 3, its message arrives at 3 and is matched
/// at 3, when the 5 of computation have just begun on CPU 0. What follows the send starts on CPU 1
/// at 3 and ends at 13: the path has 10 of computation, not 15.
#[test]
fn the_path_through_a_release_is_that_of_the_send() {
    let text = "num_ranks 2
        rank 0 { a: send 3b to 1 calc 5 c: calc 10 cpu 1 c requires a }
        rank 1 { recv 3b from 0 }";
    let outcome = run(text, &settings(2, 1, 1, 0)).expect("it runs");
    assert_eq!(outcome.ranks[0].finish, ps(13));
    assert_eq!(outcome.path.compute, ps(10));
    assert_eq!(outcome.path.overhead.ps() + outcome.path.latency.ps(), 3);
    assert_eq!(outcome.path.waiting, ps(0));
}

/// The large message takes 100 through the network and the small one 10. They have the same source
/// and tag, so the first receive is the first message's, though the second is there earlier.
#[test]
fn messages_do_not_overtake_on_a_faster_network() {
    let text = "num_ranks 2
        rank 0 { recv 3b from 1 recv 1b from 1 }
        rank 1 { a: send 3b to 0 b: send 1b to 0 b irequires a }";
    let mut settings = settings(10, 1, 0, 2);
    settings.parameters.large.latency = ps(100);
    let done = run(text, &settings);
    assert!(done.is_ok(), "{done:?}");
}

/// L = 10, o = 1. The first message carries CPU 1, which is busy until 1000; the second carries CPU
/// 0 and could be received at 50. The first receive is still the first message's.
#[test]
fn messages_do_not_overtake_on_a_free_cpu() {
    let text = "num_ranks 2
        rank 0 {
            calc 1000 cpu 1
            w: calc 50 a: recv 3b from 1 b: recv 1b from 1
            a requires w b requires a
        }
        rank 1 { a: send 3b to 0 cpu 1 b: send 1b to 0 cpu 0 b irequires a }";
    let done = run(text, &settings(10, 1, 0, 100));
    assert!(done.is_ok(), "{done:?}");
}

/// L = 5, o = 5. Both receives are posted at 0. The message of rank 1 arrives at 10 and waits for
/// CPU 0 until 20; that receive is taken. The message of rank 2 arrives at 11, meets the other
/// receive and is received on CPU 1 by 16. The first ends at 25.
#[test]
fn a_message_is_charged_to_the_cpu_of_the_receive_that_it_meets() {
    let text = "num_ranks 3
        rank 0 { recv 1b from -1 cpu 0 recv 1b from -1 cpu 1 calc 20 cpu 0 }
        rank 1 { send 1b to 0 }
        rank 2 { a: calc 1 b: send 1b to 0 b requires a }";
    assert_eq!(finish(text, &settings(5, 5, 0, 100)), Ok(vec![25, 5, 6]));
}

/// L = 10, o = 5. The request arrives at 15 and occupies CPU 1 until 20; its receive is posted at
/// 16 on CPU 0. The answer cannot leave before the request is received: at 20, sent at 25, arrived
/// at 35, received at 40; the data sent at 45, arrived at 55, received at 60.
#[test]
fn a_request_is_answered_when_it_has_been_received() {
    let text = "num_ranks 2
        rank 0 { w: calc 16 r: recv 3b from 1 r requires w }
        rank 1 { send 3b to 0 cpu 1 }";
    let settings = Settings { rendezvous: Rendezvous::RtsCts, ..settings(10, 5, 0, 0) };
    assert_eq!(finish(text, &settings), Ok(vec![60, 45]));
}

/// L = 10, S = 2. The large message waits at rank 0 from 10 on. A small one arrives there at 20 and
/// lets the large one's receive be posted: the sender is released at 20. So its 5 of computation
/// come before the 10 that may start at 21, and it ends at 35. Rank 3 only has something to do at
/// 15, so that a window of the lookahead 10 would reach from there to 25.
#[test]
fn a_release_that_a_small_message_brings_about_is_not_late() {
    let text = "num_ranks 4
        rank 0 { x: recv 1b from 2 y: recv 3b from 1 y requires x }
        rank 1 {
            a: send 3b to 0 e: calc 21 cpu 1 d: calc 10 c: calc 5
            d requires e c requires a
        }
        rank 2 { w: calc 10 s: send 1b to 0 s requires w }
        rank 3 { p: calc 15 q: calc 1 q requires p }";
    assert_eq!(finish(text, &settings(10, 0, 0, 2)), Ok(vec![20, 35, 10, 16]));
}
