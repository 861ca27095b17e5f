//! Messages that wait for their receives.

use host::{Rendezvous, Settings};

use crate::hand::{DEFAULT, Machine, check, check_both, ns, run};

const LIMITED: Machine = Machine { s: 100, ..DEFAULT };

/// A message of so many bytes whose receiver computes for 20000 first; its sender computes for 10
/// afterwards.
fn late_receiver(size: u64) -> String {
    format!(
        "num_ranks 2
        rank 0 {{ a: send {size}b to 1 b: calc 10 b requires a }}
        rank 1 {{ a: calc 20000 b: recv {size}b from 0 b requires a }}"
    )
}

const LATE_SENDER: &str = "num_ranks 2
    rank 0 { a: calc 20000 b: send 101b to 1 c: calc 10 b requires a c requires b }
    rank 1 { recv 101b from 0 }";

fn handshake() -> Settings {
    Settings { rendezvous: Rendezvous::RtsCts, ..LIMITED.settings() }
}

#[track_caller]
fn check_blocked(text: &str, settings: &Settings, expected: u64) {
    assert_eq!(run(text, settings).expect("it runs").ranks[0].blocked, ns(expected));
}

/// S bytes are eager: the sender goes on at 1500. The receiver's CPU is free at 20000 for 1500 + 99
/// * 6.
#[test]
fn as_many_bytes_as_the_limit() {
    check_both(&late_receiver(100), &LIMITED.settings(), &[1510, 22_094]);
}

/// One byte more, and the sender waits from 1500 for the match at 20000.
#[test]
fn abstract_with_a_late_receiver() {
    check_both(&late_receiver(101), &LIMITED.settings(), &[20_010, 22_100]);
    check_blocked(&late_receiver(101), &LIMITED.settings(), 18_500);
}

/// Sent from 20000 to 21500, arrived and matched at 24000, received by 24000 + 1500 + 600.
#[test]
fn abstract_with_a_late_sender() {
    check_both(LATE_SENDER, &LIMITED.settings(), &[24_010, 26_100]);
    check_blocked(LATE_SENDER, &LIMITED.settings(), 2500);
}

/// The request is received from 20000 to 21500, answered by 23000; the answer arrives at 25500, is
/// received by 27000; the data leave the CPU at 28500, arrive at 31000, are received by 33100.
#[test]
fn handshake_with_a_late_receiver() {
    check(&late_receiver(101), &handshake(), &[28_510, 33_100]);
    check_blocked(&late_receiver(101), &handshake(), 25_500);
}

/// The request goes from 20000 to 24000, is received by 25500, answered by 27000; the answer
/// arrives at 29500, is received by 31000; the data leave the CPU at 32500, arrive at 35000, are
/// received by 37100.
#[test]
fn handshake_with_a_late_sender() {
    check(LATE_SENDER, &handshake(), &[32_510, 37_100]);
    check_blocked(LATE_SENDER, &handshake(), 9500);
}

/// L = 10000, o = 2000, G = 1 for more than 100 bytes. 2000 + 10000 + 2000 + 100; the sender is
/// released at 12000.
#[test]
fn a_set_of_its_own_for_large_messages() {
    let mut settings = LIMITED.settings();
    let large = Machine { l: 10_000, o: 2000, g_byte: 1, ..DEFAULT };
    settings.parameters.large = large.costs();
    let one = |size: u64| {
        format!("num_ranks 2 rank 0 {{ send {size}b to 1 }} rank 1 {{ recv {size}b from 0 }}")
    };
    check(&one(101), &settings, &[12_000, 14_100]);
    // 1500 + 2500 + 1500 + 99 * 6
    check(&one(100), &settings, &[1500, 6094]);
}

/// The message above with a handshake: request and answer are small messages, the data large. The
/// request arrives at 4000, is received by 5500, answered by 7000; the answer is received from 9500
/// to 11000; the data leave by 13000, arrive at 23000, are received by 25000 + 100.
#[test]
fn a_handshake_of_small_messages_for_a_large_one() {
    let mut settings = handshake();
    let large = Machine { l: 10_000, o: 2000, g_byte: 1, ..DEFAULT };
    settings.parameters.large = large.costs();
    let text = "num_ranks 2 rank 0 { send 101b to 1 } rank 1 { recv 101b from 0 }";
    check(text, &settings, &[13_000, 25_100]);
}
