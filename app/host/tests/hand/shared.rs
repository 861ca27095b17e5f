//! Several ranks on a host. Within a host L = 300, o = 200, g = 100 and G = 1; between hosts o =
//! 1500, g = 1000 and G = 0 at both ends of a network in which a message of 4 bytes alone takes
//! 113.6 (one switch, seed 000 section 5.4: 101 and 24/64 of 33.6). Times in the cases are in
//! picoseconds where the network takes part.

use host::{Error, Rendezvous, Settings, TransportKind, simulate_over};
use infiniband::{Fabric, Hiccups, Infiniband, preset};
use kernel::Silent;
use loggops::Parameters;
use topology::Routes;
use units::Time;

use crate::hand::{DEFAULT, Machine, image};

const REMOTE: Machine = Machine { g_byte: 0, s: 100, ..DEFAULT };
const LOCAL: Machine = Machine { l: 300, o: 200, g: 100, g_byte: 1, o_byte: 0, s: 100 };

/// Hosts of one switch, with the preset of seed 000 without its pauses and flow-control packets.
pub fn network(hosts: u32) -> Infiniband {
    let topology = topology::parse(&format!("star:hosts={hosts}")).expect("a star");
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let parameters = infiniband::Parameters {
        hiccups: Hiccups::NONE,
        update: Time::ZERO,
        padded: true,
        ..parameters
    };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    Infiniband::new(fabric, 0)
}

fn settings(local: Machine, rendezvous: Rendezvous) -> Settings {
    let settings = REMOTE.settings();
    let parameters = Parameters { local: local.costs(), ..settings.parameters };
    Settings { parameters, rendezvous, ..settings }
}

/// Finish times of ranks on hosts, in picoseconds.
#[track_caller]
fn check(text: &str, hosts: &[u32], settings: &Settings, expected: &[u64]) {
    let network = network(2);
    let run = |threads, transport| {
        let settings = Settings { threads, transport, ..settings.clone() };
        let run = simulate_over(&network, Some(hosts), &image(text), &settings, || Silent);
        run.expect("it runs").0
    };
    let outcome = run(1, TransportKind::Shared);
    assert_eq!(outcome.deadlock, None);
    let finish: Vec<u64> = outcome.ranks.iter().map(|rank| rank.finish.ps()).collect();
    assert_eq!(finish, expected);
    for threads in [1, 2, 7] {
        assert_eq!(outcome, run(threads, TransportKind::Serialised));
    }
}

const ONE: &str = "num_ranks 2
    rank 0 { send 4b to 1 }
    rank 1 { recv 4b from 0 }";

/// Sent by 200, there at 500, received by 700 and 3 for the bytes after the first.
#[test]
fn a_message_within_a_host() {
    check(ONE, &[1, 1], &settings(LOCAL, Rendezvous::Abstract), &[200_000, 703_000]);
}

/// Sent by 1500, there at 1613.6.
#[test]
fn a_message_between_hosts() {
    for hosts in [[0, 1], [1, 0]] {
        check(ONE, &hosts, &settings(LOCAL, Rendezvous::Abstract), &[1_500_000, 3_113_600]);
    }
}

/// To itself: sent by 200, there at 500, received by 703; alone on its host or not.
#[test]
fn a_message_to_itself() {
    let text = "num_ranks 2
        rank 0 { send 4b to 0 recv 4b from 0 }
        rank 1 { calc 1 }";
    for hosts in [[0, 0], [0, 1]] {
        check(text, &hosts, &settings(LOCAL, Rendezvous::Abstract), &[703_000, 1_000]);
    }
}

/// Both are to enter at 1500. The first leaves the interface then and is there at 1613.6; the other
/// leaves 32 later, when the first flit has, and is there at 1645.6.
#[test]
fn two_ranks_share_the_interface() {
    let text = "num_ranks 4
        rank 0 { send 4b to 2 }
        rank 1 { send 4b to 3 }
        rank 2 { recv 4b from 0 }
        rank 3 { recv 4b from 1 }";
    let expected = [1_500_000, 1_500_000, 3_113_600, 3_145_600];
    check(text, &[0, 0, 1, 1], &settings(LOCAL, Rendezvous::Abstract), &expected);
}

/// Within host 0 until 703; sent on by 2203, there at 2316.6, received by 3816.6; sent on within
/// host 1 by 4016.6, there at 4316.6, received by 4519.6. With ranks dealt out, all three messages
/// cross the network: each takes 3113.6.
#[test]
fn a_chain_within_and_between_hosts() {
    let text = "num_ranks 4
        rank 0 { send 4b to 1 }
        rank 1 { a: recv 4b from 0 b: send 4b to 2 b requires a }
        rank 2 { a: recv 4b from 1 b: send 4b to 3 b requires a }
        rank 3 { recv 4b from 2 }";
    let settings = settings(LOCAL, Rendezvous::Abstract);
    check(text, &[0, 0, 1, 1], &settings, &[200_000, 2_203_000, 4_016_600, 4_519_600]);
    check(text, &[0, 1, 0, 1], &settings, &[1_500_000, 4_613_600, 7_727_200, 9_340_800]);
}

/// g = 5000: the senders do not wait for each other; the receiver takes one at 500 and the other at
/// 5500.
#[test]
fn gaps_are_the_ranks_own() {
    let text = "num_ranks 3
        rank 0 { send 1b to 2 }
        rank 1 { send 1b to 2 }
        rank 2 { recv 1b from 0 recv 1b from 1 }";
    let slow = Machine { g: 5000, ..LOCAL };
    let expected = [200_000, 200_000, 5_700_000];
    check(text, &[0; 3], &settings(slow, Rendezvous::Abstract), &expected);
}

const LATE: &str = "num_ranks 2
    rank 0 { a: send 101b to 1 b: calc 10 b requires a }
    rank 1 { a: calc 20000 b: recv 101b from 0 b requires a }";

/// There at 500, matched and its sender released at 20000, received by 20200 and 100 for the bytes.
#[test]
fn abstract_rendezvous_within_a_host() {
    check(LATE, &[0, 0], &settings(LOCAL, Rendezvous::Abstract), &[20_010_000, 20_300_000]);
}

/// The request is received from 20000 to 20200 and answered by 20400; the answer is there at 20700
/// and received by 20900; the data leave the CPU at 21100, are there at 21400, and received by
/// 21700.
#[test]
fn handshake_within_a_host() {
    check(LATE, &[1, 1], &settings(LOCAL, Rendezvous::RtsCts), &[21_110_000, 21_700_000]);
}

/// Rank 3 is released from afar at 20000, the instant at which rank 0 posts its receive, and rank 2
/// from within the host when rank 1 does, at 10000.
#[test]
fn abstract_rendezvous_within_and_between_hosts() {
    let text = "num_ranks 4
        rank 0 { a: calc 20000 b: recv 101b from 3 b requires a }
        rank 1 { a: calc 10000 b: recv 101b from 2 b requires a }
        rank 2 { send 101b to 1 }
        rank 3 { send 101b to 0 }";
    let expected = [21_500_000, 10_300_000, 10_000_000, 20_000_000];
    check(text, &[0, 0, 0, 1], &settings(LOCAL, Rendezvous::Abstract), &expected);
}

#[test]
fn places_that_are_not_there() {
    let run = |ranks: u32, hosts: &[u32]| {
        let program = image(&format!("num_ranks {ranks}\nrank 0 {{ calc 1 }}"));
        let settings = settings(LOCAL, Rendezvous::Abstract);
        simulate_over(&network(2), Some(hosts), &program, &settings, || Silent).map(|_| ())
    };
    assert_eq!(run(2, &[0]), Err(Error::Placed { ranks: 2, placed: 1 }));
    assert_eq!(run(2, &[0, 2]), Err(Error::NoHost { rank: 1, host: 2, hosts: 2 }));
    assert_eq!(run(256, &[1; 256]), Ok(()));
    assert_eq!(run(257, &[1; 257]), Err(Error::Crowded { host: 1, ranks: 257 }));
}
