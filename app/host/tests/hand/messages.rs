//! Eager messages: each parameter alone, order, wildcards.

use host::Error;
use loggops::Inject;

use crate::hand::{
    DEFAULT, Machine, NOTHING, check, check_both, check_compat, ns, run, run_compat,
};

const ONE: &str = "num_ranks 2 rank 0 { send 11b to 1 } rank 1 { recv 11b from 0 }";

/// Sender 100 + 1500. Receiver 100 + 1500 + 2500 + 1500 + 9 * 6.
#[test]
fn a_single_message() {
    let text = "num_ranks 2
        rank 0 { a: calc 100 b: send 10b to 1 b requires a }
        rank 1 { recv 10b from 0 }";
    check_both(text, &DEFAULT.settings(), &[1600, 5654]);
}

/// o at either end.
#[test]
fn overhead_alone() {
    check_both(ONE, &Machine { o: 700, ..NOTHING }.settings(), &[700, 1400]);
}

#[test]
fn latency_alone() {
    check_both(ONE, &Machine { l: 900, ..NOTHING }.settings(), &[0, 900]);
}

/// 10 bytes after the first, at the receiver: 10 * 3.
#[test]
fn gap_per_byte_alone() {
    check_both(ONE, &Machine { g_byte: 3, ..NOTHING }.settings(), &[0, 30]);
}

/// The message leaves at 0, whatever the sender's 10 * 3; the receiver spends as much.
#[test]
fn overhead_per_byte_alone() {
    check_both(ONE, &Machine { o_byte: 3, ..NOTHING }.settings(), &[30, 30]);
}

/// The second message leaves 400 after the first.
#[test]
fn gap_alone() {
    let text = "num_ranks 2
        rank 0 { send 1b to 1 send 1b to 1 }
        rank 1 { recv 1b from 0 recv 1b from 0 }";
    check_both(text, &Machine { g: 400, ..NOTHING }.settings(), &[400, 400]);
}

/// Receiving takes the larger of 10 * 6 and 10 * 7; sending 1500 + 70.
/// Receiver: 1500 + 2500 + 1500 + 70.
#[test]
fn a_receiver_spends_the_larger_of_both_costs_per_byte() {
    check_both(ONE, &Machine { o_byte: 7, ..DEFAULT }.settings(), &[1570, 5570]);
}

/// 1500 + 2500 + 1500: no bytes cost as much as one. LogGOPSim takes 6 off, (s - 1) G for s = 0.
#[test]
fn a_message_of_no_bytes() {
    let text = "num_ranks 2 rank 0 { send 0b to 1 } rank 1 { recv 0b from 0 }";
    check(text, &DEFAULT.settings(), &[1500, 5500]);
    check_compat(text, &DEFAULT.settings(), &[1500, 5494]);
}

/// Through the network like any other: 1500 + 2500 + 1500 + 54.
#[test]
fn a_message_to_oneself() {
    let text = "num_ranks 1 rank 0 { send 10b to 0 recv 10b from 0 }";
    check_both(text, &DEFAULT.settings(), &[5554]);
}

#[test]
fn an_empty_rank() {
    let text = "num_ranks 3 rank 0 { send 1b to 2 } rank 1 { } rank 2 { recv 1b from 0 }";
    check_both(text, &DEFAULT.settings(), &[1500, 0, 5500]);
}

/// The message of rank 1 is received from 4000 to 5500 and waits. Rank 2's arrives at 24000 and is
/// received by 25500; then the other's receive is posted, which costs nothing, and 100 of
/// computation follow.
#[test]
fn an_unexpected_message() {
    let text = "num_ranks 3
        rank 0 {
            a: recv 1b from 2 b: recv 1b from 1 c: calc 100
            b requires a c requires b
        }
        rank 1 { send 1b to 0 }
        rank 2 { a: calc 20000 b: send 1b to 0 b requires a }";
    check_both(text, &DEFAULT.settings(), &[25_600, 1500, 21_500]);
}

/// Sent at 1000, so received by 6500.
#[test]
fn any_source() {
    let text = "num_ranks 3
        rank 0 { recv 1b from -1 } rank 1 { }
        rank 2 { a: calc 1000 b: send 1b to 0 b requires a }";
    check_both(text, &DEFAULT.settings(), &[6500, 0, 2500]);
}

/// The first message has tag 7 and is not for the receive of tag 8. It is received from 4000 to
/// 5500; the second, sent at 1500, has arrived by then and was caused before the computation was,
/// so it goes first, to 7000.
#[test]
fn any_tag() {
    let text = "num_ranks 2
        rank 0 {
            recv 1b from 1 tag 8
            a: recv 1b from 1 tag -1 b: calc 100
            b requires a
        }
        rank 1 { a: send 1b to 0 tag 7 b: send 1b to 0 tag 8 b requires a }";
    check_both(text, &DEFAULT.settings(), &[7100, 3000]);
}

/// Messages of 10 and 20 bytes meet their receives in order, or the second would be truncated. The
/// first is received from 4000 to 5554, the second, which arrives at 5500, by 5554 + 1500 + 114.
#[test]
fn messages_do_not_overtake() {
    let text = "num_ranks 2
        rank 0 { a: send 10b to 1 b: send 20b to 1 b requires a }
        rank 1 { recv 10b from -1 tag -1 recv 20b from -1 tag -1 }";
    check_both(text, &DEFAULT.settings(), &[3000, 7168]);
}

/// Both messages arrive at 4000 and were sent at 0: the lower source is first. It has 1 byte and
/// fits the first receive; the other way round it is truncated.
#[test]
fn of_two_messages_of_one_instant_the_lower_source_wins() {
    let race = |one: u64, two: u64| {
        format!(
            "num_ranks 3
            rank 0 {{ recv 1b from -1 recv 2b from -1 }}
            rank 1 {{ send {one}b to 0 }}
            rank 2 {{ send {two}b to 0 }}"
        )
    };
    // 4000 + 1500, and then 1500 + 6 for the other.
    check_both(&race(1, 2), &DEFAULT.settings(), &[7006, 1500, 1500]);
    let truncated = Error::Truncated { rank: 0, receive: 0, sender: 1, size: 2, room: 1 };
    assert_eq!(run(&race(2, 1), &DEFAULT.settings()), Err(truncated));
}

/// MPI's truncation error. LogGOPSim never compares sizes: 4000 + 1500 + 54.
#[test]
fn a_message_larger_than_its_receive() {
    let text = "num_ranks 2 rank 0 { send 10b to 1 } rank 1 { recv 5b from 0 }";
    let truncated = Error::Truncated { rank: 1, receive: 0, sender: 0, size: 10, room: 5 };
    assert_eq!(run(text, &DEFAULT.settings()), Err(truncated));
    check_compat(text, &DEFAULT.settings(), &[1500, 5554]);
}

/// Rank 1's message enters at 1500 and arrives at 4000; rank 2's, caused later, at 10, costs 100
/// and is there before, at 2610. The CPU is free at 4500: then what was caused first is received,
/// until 6000, and the other one until 6100; the answer to rank 1 follows, which arrives at 6200 +
/// 2500, and that to rank 2.
#[test]
fn of_two_messages_that_wait_the_one_caused_first_is_received() {
    let text = "num_ranks 3
        rank 0 {
            calc 4500
            a: recv 100b from 1 b: recv 1b from 2
            c: send 1b to 1 d: send 1b to 2
            c requires a d requires b
        }
        rank 1 { send 100b to 0 recv 1b from 0 }
        rank 2 { a: calc 10 b: send 1b to 0 b requires a recv 1b from 0 }";
    let mut settings = Machine { l: 2500, o: 100, s: 50, ..NOTHING }.settings();
    settings.parameters.large = Machine { l: 2500, o: 1500, ..NOTHING }.costs();
    check(text, &settings, &[6300, 8800, 8900]);
}

/// 1500 + 2500 + 500 + 10 * 6.
#[test]
fn separate_overheads() {
    let mut settings = DEFAULT.settings();
    settings.parameters.small.receive_overhead = ns(500);
    check(ONE, &settings, &[1500, 4560]);
    assert!(matches!(run_compat(ONE, &settings), Err(Error::Compat(_))));
}

/// The message enters the network at 0: 2500 + 1500 + 10 * 6.
#[test]
fn injection_at_the_start() {
    let mut settings = DEFAULT.settings();
    settings.parameters.inject = Inject::Start;
    check(ONE, &settings, &[1500, 4060]);
    assert!(matches!(run_compat(ONE, &settings), Err(Error::Compat(_))));
}
