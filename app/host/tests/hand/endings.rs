//! Programs that do not end, or end oddly.

use host::{Deadlock, Outcome, PendingOp};

use crate::hand::{DEFAULT, Machine, NOTHING, check_both, ns, run, run_compat};

const LIMITED: Machine = Machine { s: 100, ..DEFAULT };

fn deadlock(outcome: Result<Outcome, host::Error>) -> Deadlock {
    outcome.expect("it runs").deadlock.expect("it cannot finish")
}

const fn pending(rank: u32, index: u32, started: bool) -> PendingOp {
    PendingOp { rank, index, started }
}

/// Each waits for the other to post its receive.
#[test]
fn two_sends_by_rendezvous() {
    let text = "num_ranks 2
        rank 0 { a: send 101b to 1 b: recv 101b from 1 b requires a }
        rank 1 { a: send 101b to 0 b: recv 101b from 0 b requires a }";
    let both = vec![pending(0, 0, true), pending(1, 0, true)];
    let found = deadlock(run(text, &LIMITED.settings()));
    assert_eq!((found.ranks, found.pending, found.cycle), (2, both.clone(), vec![0, 1]));
    let found = deadlock(run_compat(text, &LIMITED.settings()));
    assert_eq!((found.ranks, found.pending), (2, both));
}

/// Messages one byte smaller than those above are eager. Each is sent by 1500 and received from
/// 4000 to 4000 + 1500 + 99 * 6.
#[test]
fn two_eager_sends() {
    let text = "num_ranks 2
        rank 0 { a: send 100b to 1 b: recv 100b from 1 b requires a }
        rank 1 { a: send 100b to 0 b: recv 100b from 0 b requires a }";
    check_both(text, &LIMITED.settings(), &[6094, 6094]);
}

/// Each sends what the other waits for only after it has received. Rank 2 is not concerned.
#[test]
fn crossed_receives() {
    let text = "num_ranks 3
        rank 0 { calc 5 a: recv 1b from 1 b: send 1b to 1 b requires a }
        rank 1 { a: recv 1b from 0 b: send 1b to 0 b requires a }
        rank 2 { calc 7 }";
    let found = deadlock(run(text, &DEFAULT.settings()));
    let both = vec![pending(0, 1, true), pending(1, 0, true)];
    assert_eq!((found.ranks, found.pending, found.cycle), (2, both, vec![0, 1]));
}

/// Two operations that wait for each other: the first of them is named.
#[test]
fn a_cycle_of_dependencies() {
    let text = "num_ranks 1
        rank 0 { calc 5 a: calc 1 b: calc 2 c: calc 3 a requires b b requires a c requires a }";
    let found = deadlock(run(text, &DEFAULT.settings()));
    assert_eq!((found.ranks, found.pending), (1, vec![pending(0, 1, false)]));
}

/// It is received from 4000 to 5500 and stays: no deadlock, but a remark.
#[test]
fn a_message_that_is_never_received() {
    let text = "num_ranks 2 rank 0 { send 1b to 1 } rank 1 { }";
    check_both(text, &DEFAULT.settings(), &[1500, 5500]);
    let remarks = run(text, &DEFAULT.settings()).expect("it runs").remarks;
    assert_eq!(remarks, ["messages that were never received: 1"]);
}

/// 5, a message there, 7, a message back, in no time; the last 1 follows at 12.
#[test]
fn no_latency_and_no_overhead() {
    let text = "num_ranks 2
        rank 0 {
            a: calc 5 b: send 1b to 1 c: recv 1b from 1 d: calc 1
            b requires a d requires c
        }
        rank 1 {
            a: recv 1b from 0 b: calc 7 c: send 1b to 0
            b requires a c requires b
        }";
    check_both(text, &NOTHING.settings(), &[13, 12]);
    let remarks = run(text, &NOTHING.settings()).expect("it runs").remarks;
    assert!(remarks.iter().any(|remark| remark.contains("lookahead")), "{remarks:?}");
}

/// In LogGOPSim the receive's size decides whether the sender of an unexpected message is released:
/// after a receive of 10 bytes it never is. By the default rules the message is truncated.
#[test]
fn a_small_receive_of_a_large_message() {
    let text = "num_ranks 2
        rank 0 { send 101b to 1 }
        rank 1 { a: calc 20000 b: recv 10b from 0 b requires a }";
    let outcome = run_compat(text, &LIMITED.settings());
    assert_eq!(deadlock(outcome).pending, [pending(0, 0, true)]);
    assert!(matches!(run(text, &LIMITED.settings()), Err(host::Error::Truncated { .. })));
}

/// 2^64 ps are 213 days, 18446744 s; twice 10 000 000 s are past them.
#[test]
fn a_time_past_the_range() {
    let text = "num_ranks 1
        rank 0 { a: calc 10000000000000000 b: calc 10000000000000000 b requires a }";
    assert!(matches!(
        run(text, &DEFAULT.settings()),
        Err(host::Error::Kernel(kernel::Error::Overflow { .. }))
    ));
    let half = "num_ranks 1 rank 0 { calc 10000000000000000 }";
    let finish = run(half, &DEFAULT.settings()).expect("it runs").ranks[0].finish;
    assert_eq!(finish, ns(10_000_000_000_000_000));
}

/// With g = 6 000 000 s the interface of rank 0 is free for its fourth message at 18 000 000 s, and
/// for its fifth at 24 000 000 s, past the range of 18 446 744 s.
#[test]
fn a_clock_past_the_range() {
    let second = 1_000_000_000;
    let settings = Machine { g: 6_000_000 * second, ..DEFAULT }.settings();
    let text = |messages: u32| {
        let chain = |kind: &str| {
            let ops = (0..messages).map(|k| format!("l{k}: {kind}"));
            ops.chain((1..messages).map(|k| format!("l{k} requires l{}", k - 1)))
                .collect::<Vec<_>>()
        };
        let (sends, receives) =
            (chain("send 1b to 1").join("\n"), chain("recv 1b from 0").join("\n"));
        format!("num_ranks 2\nrank 0 {{\n{sends}\n}}\nrank 1 {{\n{receives}\n}}")
    };
    let finish = run(&text(4), &settings).expect("in range").ranks[0].finish;
    assert_eq!(finish, ns(18_000_000 * second + 1500));
    let overflow = run(&text(5), &settings);
    assert!(matches!(overflow, Err(host::Error::Kernel(kernel::Error::Overflow { .. }))));
}

/// A send of no bytes with o = g = 1500 and O = 2000 sets the CPU to 1500 - 2000 < 0, which is
/// almost 2^64 in LogGOPSim's words. Alone that harms nobody; a computation after it never starts.
#[test]
fn a_send_of_no_bytes_below_zero() {
    let settings = Machine { o_byte: 2000, ..DEFAULT }.settings();
    let text =
        "num_ranks 2 rank 0 { a: send 0b to 1 b: calc 1 b requires a } rank 1 { recv 0b from 0 }";
    let error = run_compat(text, &settings).expect_err("below zero");
    assert!(matches!(error, host::Error::BelowZero { rank: 0, send: 0 }), "{error}");
    assert!(error.to_string().contains("rank 0, operation 0: a send of 0 bytes"), "{error}");
}
