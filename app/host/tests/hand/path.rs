//! The parts of the makespan: those of the critical path.

use host::Settings;

use crate::hand::resources::noisy;
use crate::hand::{DEFAULT, Machine, NOTHING, ns, run};

/// The rank at the end and compute, overhead, latency, bandwidth, contention, waiting.
#[track_caller]
fn check_path(text: &str, settings: &Settings, rank: u32, parts: [u64; 6]) {
    let path = run(text, settings).expect("it runs").path;
    let found =
        [path.compute, path.overhead, path.latency, path.bandwidth, path.contention, path.waiting];
    assert_eq!((path.rank, found), (rank, parts.map(ns)));
}

const AFTER_100: &str = "num_ranks 2
    rank 0 { a: calc 100 b: send 10b to 1 b requires a }
    rank 1 { recv 10b from 0 }";

fn two(size: u64) -> String {
    format!(
        "num_ranks 2
        rank 0 {{ send {size}b to 1 send {size}b to 1 }}
        rank 1 {{ recv {size}b from 0 recv {size}b from 0 }}"
    )
}

/// 100 + 2 * 1500 + 2500 + 54 = 5654.
#[test]
fn one_message() {
    check_path(AFTER_100, &DEFAULT.settings(), 1, [100, 3000, 2500, 54, 0, 0]);
}

/// The second message waits 4000 for the gap: 9500.
#[test]
fn waiting_for_the_gap() {
    check_path(&two(1), &Machine { g: 4000, ..DEFAULT }.settings(), 1, [0, 3000, 2500, 0, 0, 4000]);
}

/// The second message waits for the reception of the first, which is what the path goes through:
/// o, L, o, 6000, o, 6000 = 19000.
#[test]
fn receptions_in_a_row() {
    check_path(&two(1001), &DEFAULT.settings(), 1, [0, 4500, 2500, 12_000, 0, 0]);
}

/// Over LogGOPS the second of two messages from two senders waits for the reception of the first,
/// and the network has no contention: 1500 + 2500 + 1500 + 6000 + 1500 + 6000 = 19000.
#[test]
fn two_into_one() {
    let text = "num_ranks 3
        rank 0 { send 1001b to 1 }
        rank 1 { recv 1001b from 0 recv 1001b from 2 }
        rank 2 { send 1001b to 1 }";
    check_path(text, &DEFAULT.settings(), 1, [0, 4500, 2500, 12_000, 0, 0]);
}

/// Sender and receiver both end at 30; the lower rank counts.
#[test]
fn the_lowest_of_the_last() {
    let text = "num_ranks 2 rank 0 { send 11b to 1 } rank 1 { recv 11b from 0 }";
    check_path(text, &Machine { o_byte: 3, ..NOTHING }.settings(), 0, [0, 30, 0, 0, 0, 0]);
}

/// 7254: noise adds 100 to the computation and 1500 to the reception; what it adds to the send does
/// not delay the message.
#[test]
fn noise_counts_as_waiting() {
    check_path(AFTER_100, &noisy(), 1, [100, 3000, 2500, 54, 0, 1600]);
}

/// By abstract rendezvous the receiver's lateness decides when the sender ends: 20000 and 5000.
#[test]
fn through_a_release() {
    let text = "num_ranks 2
        rank 0 { a: send 101b to 1 b: calc 5000 b requires a }
        rank 1 { a: calc 20000 b: recv 101b from 0 b requires a }";
    let settings = Machine { s: 100, ..DEFAULT }.settings();
    check_path(text, &settings, 0, [25_000, 0, 0, 0, 0, 0]);
}
