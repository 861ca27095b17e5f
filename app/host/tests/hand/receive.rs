//! Messages that the network interface receives without the CPU (`loggops.receive = "nic"`): it is
//! busy for g + (s-1)G from the first byte on, and then the CPU pays o + (s-1)O.

use host::{Noise, Settings, simulate};
use kernel::Silent;
use loggops::{Parameters, Receive};

use crate::hand::{DEFAULT, Machine, image};

fn by_nic(machine: Machine) -> Settings {
    let settings = machine.settings();
    let parameters = Parameters { receive: Receive::Nic, ..settings.parameters };
    Settings { parameters, ..settings }
}

/// Finish times in nanoseconds, on one thread and several.
#[track_caller]
fn check(text: &str, machine: Machine, expected: &[u64]) {
    for threads in [1, 2, 7] {
        let settings = Settings { threads, noise: Noise::None, ..by_nic(machine) };
        let (outcome, _) = simulate(&image(text), &settings, || Silent).expect("it runs");
        assert_eq!(outcome.deadlock, None);
        let finish: Vec<u64> = outcome.ranks.iter().map(|rank| rank.finish.ps() / 1000).collect();
        assert_eq!(finish, expected, "{threads} threads");
    }
}

const TWO_SENDERS: &str = "num_ranks 3
    rank 0 { recv 1001b from 1 recv 1001b from 2 }
    rank 1 { send 1001b to 0 }
    rank 2 { send 1001b to 0 }";

/// o + L + (s-1)G + o = 1500 + 2500 + 6000 + 1500, and as much again for bytes of the CPU's own.
#[test]
fn one_message() {
    let text = "num_ranks 2
        rank 0 { send 1001b to 1 }
        rank 1 { recv 1001b from 0 }";
    check(text, DEFAULT, &[1500, 11_500]);
    check(text, Machine { o_byte: 2, ..DEFAULT }, &[3500, 13_500]);
}

/// Sends at 0 and 7000. The interface has the first by 10 000 and is free at 11 000, when the
/// second arrives; it has that by 17 000, and the CPU by 18 500. By the rule of the CPU it would be
/// 19 000.
#[test]
fn two_messages_in_a_row() {
    let text = "num_ranks 2
        rank 0 { send 1001b to 1 send 1001b to 1 }
        rank 1 { recv 1001b from 0 recv 1001b from 0 }";
    check(text, DEFAULT, &[8500, 18_500]);
}

/// Both arrive at 4000; the interface has the first by 10 000, and the second 7000 later.
#[test]
fn two_senders_share_the_interface() {
    check(TWO_SENDERS, DEFAULT, &[18_500, 1500, 1500]);
}

/// Both arrive at 4000, the second waits for the gap until 8000, though the CPU would be free.
#[test]
fn the_gap_holds_the_second_up() {
    let text = TWO_SENDERS.replace("1001b", "1b");
    check(&text, Machine { g: 4000, ..DEFAULT }, &[9500, 1500, 1500]);
}

/// The CPU computes until 30 000; both messages are there by then, and cost it o each.
#[test]
fn bytes_come_in_while_the_cpu_computes() {
    let text = TWO_SENDERS.replace("rank 0 {", "rank 0 { calc 30000");
    check(&text, DEFAULT, &[33_000, 1500, 1500]);
}

/// Each interface receives one message, from 4000 to 10 000; the CPU takes them in turn.
#[test]
fn two_interfaces_receive_at_once() {
    let text = "num_ranks 3
        rank 0 { recv 1001b from 1 nic 0 recv 1001b from 2 nic 1 }
        rank 1 { send 1001b to 0 }
        rank 2 { send 1001b to 0 }";
    check(text, DEFAULT, &[13_000, 1500, 1500]);
}

/// A rendezvous by request: the request is there at 4000 and read by 5500, the clear-to-send back
/// at 9500 and read by 11 000; the data, sent from then on, is there at 15 000, has come in by 21
/// 000 and is received by 22 500.
#[test]
fn rendezvous_by_request() {
    let text = "num_ranks 2
        rank 0 { send 1001b to 1 }
        rank 1 { recv 1001b from 0 }";
    let settings = by_nic(Machine { s: 100, ..DEFAULT });
    let settings = Settings { rendezvous: host::Rendezvous::RtsCts, ..settings };
    let (outcome, _) = simulate(&image(text), &settings, || Silent).expect("it runs");
    let finish: Vec<u64> = outcome.ranks.iter().map(|rank| rank.finish.ps() / 1000).collect();
    assert_eq!(finish, [12_500, 22_500]);
}
