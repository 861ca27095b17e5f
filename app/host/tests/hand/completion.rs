//! Sends that are done when their message has left the host.

use host::{Outcome, Rendezvous, SendDone, Settings, simulate_over};
use kernel::Silent;
use loggops::Inject;

use crate::hand::shared::network;
use crate::hand::{DEFAULT, Machine, check, image, ns, run};

const fn left(buffer: u64) -> SendDone {
    SendDone::Left { buffer }
}

/// Messages of more than 100 bytes are not copied, and those of more than 2000 not eager.
fn settings(rendezvous: Rendezvous) -> Settings {
    let machine = Machine { s: 2000, ..DEFAULT };
    Settings { send_done: left(100), rendezvous, ..machine.settings() }
}

fn blocking(size: u64) -> String {
    format!(
        "num_ranks 2
        rank 0 {{ a: send {size}b to 1 b: calc 10 b requires a }}
        rank 1 {{ recv {size}b from 0 }}"
    )
}

/// 100 bytes are copied: done at 1500. Of 101 the last leaves 100 G after they entered at 1500.
#[test]
fn on_a_wire() {
    let settings = settings(Rendezvous::Abstract);
    check(&blocking(100), &settings, &[1510, 5500 + 99 * 6]);
    check(&blocking(101), &settings, &[2110, 5500 + 100 * 6]);
    let early = |settings: &Settings| {
        let parameters = loggops::Parameters { inject: Inject::Start, ..settings.parameters };
        Settings { parameters, ..settings.clone() }
    };
    // They enter at 0 and have left at 600, but the CPU is busy until 1500; of 301, at 1800.
    check(&blocking(101), &early(&settings), &[1510, 4000 + 100 * 6]);
    check(&blocking(301), &early(&settings), &[1810, 4000 + 300 * 6]);
}

/// Meanwhile the CPU computes from 1500 to 2500; the rank ends when its message has left at 7500,
/// with or without something that waits for that.
#[test]
fn the_processor_is_free_meanwhile() {
    let settings = settings(Rendezvous::Abstract);
    let text = "num_ranks 2
        rank 0 { send 1001b to 1 calc 1000 }
        rank 1 { recv 1001b from 0 }";
    check(text, &settings, &[7500, 11_500]);
    let alone = text.replace("calc 1000", "");
    check(&alone, &settings, &[7500, 11_500]);
    let outcome = run(text, &settings).expect("it runs");
    assert_eq!(outcome.ranks[0].blocked, ns(6000));
    assert_eq!(outcome.ranks[0].busy, ns(2500));
}

/// The match at 4000 comes before the last byte of 2001 leaves at 1500 + 12000.
#[test]
fn abstract_rendezvous_waits_for_both() {
    check(&blocking(2001), &settings(Rendezvous::Abstract), &[13_510, 5500 + 12_000]);
    // Here the receive is posted at 20000.
    let text = "num_ranks 2
        rank 0 { a: send 2001b to 1 b: calc 10 b requires a }
        rank 1 { a: calc 20000 b: recv 2001b from 0 b requires a }";
    check(text, &settings(Rendezvous::Abstract), &[20_010, 20_000 + 1500 + 12_000]);
}

/// Request and answer take 4 o + 2 L = 11000; the data enter o later and leave until 12000 later.
#[test]
fn data_of_a_handshake() {
    check(
        &blocking(2001),
        &settings(Rendezvous::RtsCts),
        &[24_510, 11_000 + 1500 + 2500 + 1500 + 12_000],
    );
}

/// Overhead of 1500, 600 on the interface until the message has left, and the computation.
#[test]
fn the_critical_path_of_a_departure() {
    let text = "num_ranks 2
        rank 0 { a: send 101b to 1 b: calc 90000 b requires a }
        rank 1 { recv 101b from 0 }";
    let path = run(text, &settings(Rendezvous::Abstract)).expect("it runs").path;
    assert_eq!([path.overhead, path.bandwidth, path.compute], [1500, 600, 90_000].map(ns));
    assert_eq!([path.rank as u64, path.latency.ps(), path.waiting.ps()], [0, 0, 0]);
}

/// Over switches, with o = 1500 and nothing else at the hosts.
fn over_switches(eager_limit: u64) -> Settings {
    let machine = Machine { g: 0, g_byte: 0, s: eager_limit, ..DEFAULT };
    Settings { send_done: left(100), rendezvous: Rendezvous::RtsCts, ..machine.settings() }
}

/// Ends of ranks in picoseconds, the same however many threads there are.
fn finish(text: &str, hosts: &[u32], settings: &Settings) -> Vec<u64> {
    let network = network(3);
    let run = |threads| {
        let settings = Settings { threads, ..settings.clone() };
        let run = simulate_over(&network, Some(hosts), &image(text), &settings, || Silent);
        run.expect("it runs").0
    };
    let outcome: Outcome = run(1);
    assert_eq!(outcome.deadlock, None);
    assert_eq!(outcome, run(3));
    outcome.ranks.iter().map(|rank| rank.finish.ps()).collect()
}

/// A full packet of 34 flits of 32: it enters at 1500 and has left at 2588, when the second send
/// starts; that has left 2588 later. The sink takes a flit per 33.6, the first after 101.
#[test]
fn one_behind_the_other_over_switches() {
    let text = "num_ranks 2
        rank 0 { a: send 2156b to 1 b: send 2156b to 1 b requires a }
        rank 1 { recv 2156b from 0 recv 2156b from 0 }";
    let delivered = 2_588_000 + 1_500_000 + 101_000 + 34 * 33_600;
    let settings = over_switches(65_535);
    assert_eq!(finish(text, &[0, 1], &settings), [5_176_000, delivered + 1_500_000]);
    // Beside another rank of the host, and with that one's message behind the first of this.
    let text = "num_ranks 3
        rank 0 { calc 1 }
        rank 1 { a: send 2156b to 2 b: send 2156b to 2 b requires a }
        rank 2 { recv 2156b from 1 recv 2156b from 1 }";
    assert_eq!(finish(text, &[0, 0, 2], &settings)[1], 5_176_000);
    let text = "num_ranks 3
        rank 0 { send 2156b to 2 }
        rank 1 { send 2156b to 2 }
        rank 2 { recv 2156b from 0 recv 2156b from 1 }";
    assert_eq!(finish(text, &[0, 0, 2], &settings)[..2], [2_588_000, 3_676_000]);
}

/// A message that is copied is done at the end of its overhead, and so is everything under the
/// other rule.
#[test]
fn copied_or_not_over_switches() {
    let settings = over_switches(65_535);
    let copied = Settings { send_done: left(2156), ..settings.clone() };
    let overhead = Settings { send_done: SendDone::Overhead, ..settings.clone() };
    for settings in [copied, overhead] {
        assert_eq!(finish(&blocking(2156), &[0, 1], &settings)[0], 1_510_000);
    }
    assert_eq!(finish(&blocking(2156), &[0, 1], &settings)[0], 2_598_000);
}

/// A request without bytes takes 101 and 20/64 of 33.6, which is 111.5, and so does the answer: the
/// data start at 4 · 1500 + 2 · 111.5 = 6223, enter at 7723, and have left at 8811.
#[test]
fn a_handshake_over_switches() {
    let delivered = 7_723_000 + 101_000 + 34 * 33_600;
    let expected = [8_821_000, delivered + 1_500_000];
    assert_eq!(finish(&blocking(2156), &[0, 1], &over_switches(200)), expected);
}

/// Within a host the last byte leaves (s-1)G after the message entered, whatever the network is.
#[test]
fn within_a_host() {
    let local = Machine { o: 200, g_byte: 1, ..DEFAULT }.costs();
    let settings = over_switches(65_535);
    let parameters = loggops::Parameters { local, ..settings.parameters };
    let settings = Settings { parameters, ..settings };
    assert_eq!(finish(&blocking(2157), &[0, 0], &settings)[0], 200_000 + 2_156_000 + 10_000);
}

/// Two hosts send 500 full packets each to a third, whose sink takes a flit per 33.6. When the last
/// packet leaves, all but what buffers and cables hold has been taken: 2 buffers of the switch and
/// that of the sink. Both senders share the sink fairly, so they end within a few packets.
#[test]
fn senders_into_one_sink_end_when_it_has_taken_their_bytes() {
    let size = 500 * 2156;
    let text = format!(
        "num_ranks 3
        rank 0 {{ send {size}b to 2 }}
        rank 1 {{ send {size}b to 2 }}
        rank 2 {{ recv {size}b from 0 recv {size}b from 1 }}"
    );
    let ends = finish(&text, &[0, 1, 2], &over_switches(u64::MAX));
    let parameters = infiniband::preset("infiniband-ddr-simula").expect("a preset");
    let held = u64::from(2 * parameters.buffer + parameters.host_buffer + 10);
    let pace = 33_600;
    let (total, begin) = (2 * 500 * 34 * pace, 1_500_000 + 101_000);
    let last = ends[0].max(ends[1]);
    assert!(last >= begin + total - held * pace, "{ends:?}");
    assert!(last < begin + total, "{ends:?}");
    assert!(ends[0].abs_diff(ends[1]) < 4 * 34 * pace, "{ends:?}");
}
