//! Packets that get lost, and how reliable connections send them again.
//!
//! Unless said otherwise, two hosts at one switch: a packet of 2156 bytes is 34 flits of 32 ns,
//! 1088 ns on a link; a head takes 101 ns to the other host, so that a packet sent at 0 is whole
//! there at 101 + 33 * 32 = 1157 ns; the sink takes a flit in 33.6 ns.

use crate::common::{fabric, fabric_with_levels, ps, simula};
use infiniband::{Choice, Infiniband, Invalid, Losses, Parameters, Record, preset};
use kernel::{Config, Error, Probe, TransportKind};
use network::{Script, Transfer, conformance};
use units::{DeviceId, HostId, Time};

/// A full packet.
const FULL: u64 = 2156;

/// The time-out of the tests in which all times are exact.
const TIMEOUT: Time = ps(10_000_000);

/// Loses these packets only: the numbers of their hosts, and of the packet among all of the host.
fn losing(packets: &[(u32, u64)]) -> Losses {
    let also = packets.iter().map(|&(host, number)| (HostId(host), number)).collect();
    Losses { also, ack_timeout: TIMEOUT, ..Losses::NONE }
}

fn network(spec: &str, losses: Losses) -> Infiniband {
    network_with(spec, Parameters { losses: Some(losses), ..simula() })
}

fn network_with(spec: &str, parameters: Parameters) -> Infiniband {
    Infiniband::new(fabric(spec, parameters), 0)
}

/// The losses and retransmissions of a run: (when, host, packets that are sent again).
#[derive(Default)]
struct Recorded {
    lost: Vec<(u64, u32)>,
    resent: Vec<(u64, u32, u64)>,
}

impl Probe<(Time, DeviceId, Record)> for Recorded {
    const LISTENS: bool = true;

    fn record(&mut self, (at, device, record): (Time, DeviceId, Record)) {
        match record {
            Record::Lost { .. } => self.lost.push((at.ps(), device.0)),
            Record::Resent { packets, .. } => self.resent.push((at.ps(), device.0, packets)),
            _ => {}
        }
    }
}

/// The fate of messages from host 0 to host 1 that enter at time 0.
struct Seen {
    delivered: Vec<u64>,
    left: Vec<u64>,
    recorded: Recorded,
}

fn send(losses: Losses, messages: &[u64]) -> Seen {
    send_over(&network("star:hosts=2", losses), messages)
}

fn send_over(network: &Infiniband, messages: &[u64]) -> Seen {
    let transfer = |&bytes| (Time::ZERO, Transfer::new(HostId(0), HostId(1), bytes));
    let script = Script::of(2, &messages.iter().map(transfer).collect::<Vec<_>>());
    let config = Config { workers: 1, transport: TransportKind::Shared };
    let (played, recorded) = script.watch(network, config, Recorded::default).expect("it arrives");
    let delivered = played.logs[1].delivered.iter().map(|(at, _)| at.ps()).collect();
    let left = played.logs[0].left.iter().map(|(at, _)| at.ps()).collect();
    for interface in &played.interfaces {
        network::Network::at_rest(network, interface).expect("nothing is left");
    }
    Seen { delivered, left, recorded: recorded.into_iter().next().expect("one worker") }
}

/// Without a loss a message is delivered as ever. It leaves its host when the acknowledgement is
/// there, 101 ns after the packet is whole.
#[test]
fn nothing_is_lost() {
    let seen = send(losing(&[]), &[FULL, 4]);
    // The second message is one flit of 24 bytes, behind the sink's last flit of the first.
    assert_eq!(seen.delivered, [101_000 + 34 * 33_600, 101_000 + 34 * 33_600 + 12_600]);
    assert_eq!(seen.left, [1_157_000 + 101_000, 1_088_000 + 101_000 + 101_000]);
    assert!(seen.recorded.lost.is_empty() && seen.recorded.resent.is_empty());
}

/// The only packet is lost, which shows at its end: at 1157 ns. The timer runs from when it has
/// left the link, at 1088 ns, and expires 10 us later; then the packet is sent again.
#[test]
fn a_lost_packet_is_sent_again_after_the_time_out() {
    let seen = send(losing(&[(0, 0)]), &[FULL]);
    let again = 1_088_000 + 10_000_000;
    assert_eq!(seen.recorded.lost, [(1_157_000, 1)]);
    assert_eq!(seen.recorded.resent, [(again, 0, 1)]);
    assert_eq!(seen.delivered, [again + 101_000 + 34 * 33_600]);
    assert_eq!(seen.left, [again + 1_157_000 + 101_000]);
}

/// The first of three packets is lost. The second is whole at 1088 + 1157 = 2245 ns, and its
/// negative acknowledgement arrives at 2346, while the third leaves, from 2176 to 3264 ns. Then all
/// three are sent again; those that came too early do not take the sink's time.
#[test]
fn a_gap_is_reported_at_once() {
    let seen = send(losing(&[(0, 0)]), &[3 * FULL]);
    assert_eq!(seen.recorded.resent, [(2_346_000, 0, 3)]);
    let again = 3_264_000;
    assert_eq!(seen.delivered, [again + 101_000 + 3 * 34 * 33_600]);
    assert_eq!(seen.left, [again + 2 * 1_088_000 + 1_157_000 + 101_000]);
}

/// The second of three packets is lost. The third is whole at 2176 + 1157 ns, and its negative
/// acknowledgement arrives at 3434 ns, when the host has nothing more to send. It goes back at once
/// to the second packet, which is the one that is missing.
#[test]
fn the_sender_goes_back_to_the_missing_packet() {
    let seen = send(losing(&[(0, 1)]), &[3 * FULL]);
    assert_eq!(seen.recorded.resent, [(3_434_000, 0, 2)]);
    assert_eq!(seen.delivered, [3_434_000 + 101_000 + 2 * 34 * 33_600]);
}

/// The first message has arrived and is acknowledged when the second one's packet is missing: it is
/// not sent again. The timer runs anew from the acknowledgement, at 1157 + 101 = 1258 ns.
#[test]
fn acknowledged_packets_are_not_sent_again() {
    let seen = send(losing(&[(0, 1)]), &[FULL, FULL]);
    let again = 1_258_000 + 10_000_000;
    assert_eq!(seen.recorded.resent, [(again, 0, 1)]);
    assert_eq!(seen.left, [1_258_000, again + 1_157_000 + 101_000]);
    assert_eq!(seen.delivered[1], again + 101_000 + 34 * 33_600);
}

/// The last packet of a message is lost, and nothing follows that could show it. It is the one that
/// asks for an acknowledgement, and the timer runs since it has left the link, at 3264 ns. Nothing
/// is acknowledged, so all three packets are sent again, and the first two are discarded as known.
#[test]
fn a_lost_tail_ends_by_the_time_out() {
    let seen = send(losing(&[(0, 2)]), &[3 * FULL]);
    let again = 3_264_000 + 10_000_000;
    assert_eq!(seen.recorded.resent, [(again, 0, 3)]);
    assert_eq!(seen.delivered, [again + 2 * 1_088_000 + 101_000 + 34 * 33_600]);
}

/// Packet 255 asks for an acknowledgement, which lets the host keep nothing but the two packets
/// behind it. When the last one is lost, these are sent again. The sink keeps up with the link.
#[test]
fn every_256th_packet_is_acknowledged() {
    let losses = Some(losing(&[(0, 257)]));
    let parameters = Parameters { losses, sink: ps(32_000), ..simula() };
    let seen = send_over(&network_with("star:hosts=2", parameters), &[258 * FULL]);
    let again = 258 * 1_088_000 + 10_000_000;
    assert_eq!(seen.recorded.resent, [(again, 0, 2)]);
    assert_eq!(seen.delivered, [again + 1_088_000 + 101_000 + 34 * 32_000]);
}

/// The message arrives and its acknowledgement is lost. It is sent again, not delivered again, and
/// acknowledged again.
#[test]
fn a_lost_acknowledgement_ends_by_the_time_out() {
    let seen = send(losing(&[(1, 0)]), &[FULL]);
    let again = 1_088_000 + 10_000_000;
    assert_eq!(seen.recorded.resent, [(again, 0, 1)]);
    assert_eq!(seen.delivered, [101_000 + 34 * 33_600]);
    assert_eq!(seen.left, [again + 1_157_000 + 101_000]);
}

/// The receiver reports once that a packet is missing. When that is lost again, the time-out
/// decides: the timer runs since the last packet has left for the second time, at 2 * 3264 ns.
#[test]
fn a_packet_that_is_lost_twice_waits_for_the_time_out() {
    let seen = send(losing(&[(0, 0), (0, 3)]), &[3 * FULL]);
    let again = 2 * 3_264_000 + 10_000_000;
    assert_eq!(seen.recorded.resent, [(2_346_000, 0, 3), (again, 0, 3)]);
    assert_eq!(seen.delivered, [again + 101_000 + 3 * 34 * 33_600]);
}

/// The time-out of 169.999 ns expires at 1257.999 ns, 1 ps before the first acknowledgement. The
/// host goes back to the first packet, but the link is busy with the second one up to 2176 ns, and
/// by then the first one need not be sent again any more: the second one is. The acknowledgement
/// of its first transmission comes at 1088 + 1258 = 2346 ns, and that of the other changes nothing.
#[test]
fn a_late_acknowledgement_is_progress() {
    let early = Losses { ack_timeout: ps(169_999), ..losing(&[]) };
    let seen = send(early, &[FULL, FULL]);
    assert_eq!(seen.recorded.resent, [(1_257_999, 0, 2)]);
    assert_eq!(seen.left, [1_258_000, 2_346_000]);
    assert_eq!(seen.delivered, [101_000 + 34 * 33_600, 101_000 + 68 * 33_600]);
}

/// Every packet is lost: sent at 0, at 11 088 and at 22 176 ns, each attempt 1088 ns and the
/// time-out. With two retries the host gives up at 33 264 ns.
#[test]
fn the_last_retry() {
    let losses = Losses { packet: 1.0, retry_count: 2, ack_timeout: TIMEOUT, ..Losses::NONE };
    let network = network("star:hosts=4", losses);
    let transfer = |at, source, destination| {
        (ps(at), Transfer::new(HostId(source), HostId(destination), FULL))
    };
    let script = Script::of(4, &[transfer(5_000, 3, 1), transfer(0, 2, 0), transfer(9_000, 0, 1)]);
    for workers in [1, 2, 3, 7] {
        let error = script.play(&network, workers, TransportKind::Serialised).err();
        let expected = Error::Unreachable { at: ps(33_264_000), sender: 2, receiver: 0 };
        assert_eq!(error, Some(expected), "{workers} workers");
    }
}

/// A timer that expires past 106 days, half of the range of time, overflows it.
#[test]
fn a_time_out_past_the_range_of_time() {
    let losses = Losses { packet: 1.0, ack_timeout: TIMEOUT, ..Losses::NONE };
    let transfer = Transfer::new(HostId(0), HostId(1), FULL);
    let script = Script::of(2, &[(ps((1 << 63) - 1), transfer)]);
    let error = script.play(&network("star:hosts=2", losses), 1, TransportKind::Shared).err();
    assert!(matches!(error, Some(Error::Overflow { .. })), "{error:?}");
}

/// Go back N, against the expectation of its time for a packet.
///
/// A message is one packet of t = 1088 ns, and all are there from the start; a packet is lost with
/// probability p, an acknowledgement as well; q = 1 - p. Let packet k start at 0 and be lost.
///
/// - If packet k + j is the next one that arrives, it is whole at j t + 1157 ns, and the negative
///   acknowledgement arrives 101 ns later, within packet k + j + 1. So k starts again at (j + 2) t.
///   The mean of j is 1 / q.
/// - If the negative acknowledgement is lost (p), the time-out of 20 t decides. It runs since the
///   acknowledgement of packet k - 1, at 1258 - 1088 = 170 ns, so k starts again at the next turn:
///   at 21 t. (If that one is lost, too, packet k - 1 starts at 20 t, and k one turn later as
///   well.)
/// - A packet that is lost again costs t, until it has left and the timer starts, and 20 t.
///
/// The mean time of a packet, in t: q + p (q (2 + 1/q) + 21 p + 1 + 21 p/q).
#[test]
fn goodput_is_that_of_go_back_n() {
    const PACKETS: u64 = 2_000;
    const RUNS: u64 = 30;
    for p in [0.005, 0.02, 0.05] {
        let time = |seed: u64| {
            let ack_timeout = ps(20 * 1_088_000);
            let losses = Losses { packet: p, ack_timeout, ..Losses::NONE };
            let sink = ps(32_000);
            let parameters = Parameters { losses: Some(losses), seed, sink, ..simula() };
            let network = network_with("star:hosts=2", parameters);
            let transfer = (Time::ZERO, Transfer::new(HostId(0), HostId(1), FULL));
            let script = Script::of(2, &vec![transfer; PACKETS as usize]);
            let played = script.play(&network, 1, TransportKind::Shared).expect("it arrives");
            let last = played.logs[1].delivered.last().expect("delivered").0.ps();
            (last - 101_000) as f64 / 1_088_000.0 / PACKETS as f64
        };
        let times: Vec<f64> = (1..=RUNS).map(time).collect();
        let mean = times.iter().sum::<f64>() / RUNS as f64;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        let error = (squares / (RUNS - 1) as f64 / RUNS as f64).sqrt();
        let q = 1.0 - p;
        let expected = q + p * (q * (2.0 + 1.0 / q) + 21.0 * p + 1.0 + 21.0 * p / q);
        println!("{p}: {mean} +- {error}, expected {expected}");
        // Student, 29 degrees of freedom, 99 % on two sides.
        assert!((mean - expected).abs() < 2.756 * error, "{p}: {mean} +- {error}, not {expected}");
        assert!(error < 0.02 * (expected - 1.0) + 0.005, "{p}: {error} tells nothing");
    }
}

/// A bit error rate b damages a packet of n bits on l links with probability 1 - (1 - b)^(n l): for
/// 34 flits of 512 bits over 2, 3 and 4 links, at b = 1e-6, 3.4 %, 5.1 % and 6.7 %.
#[test]
fn bit_errors_count_per_link() {
    const MESSAGES: usize = 4_000;
    for (switches, links) in [(1_u32, 2), (2, 3), (3, 4)] {
        let spec = match switches {
            1 => "star:hosts=2".to_owned(),
            _ => format!("chain:switches={switches},hosts=1"),
        };
        let network = network(&spec, Losses { bit: 1e-6, ..losing(&[]) });
        let hosts = network.fabric().hosts();
        let transfer = |number| {
            (ps(number as u64 * 1_200_000), Transfer::new(HostId(0), HostId(hosts - 1), FULL))
        };
        let script = Script::of(hosts, &(0..MESSAGES).map(transfer).collect::<Vec<_>>());
        let config = Config { workers: 1, transport: TransportKind::Shared };
        let (_, recorded) = script.watch(&network, config, Recorded::default).expect("it arrives");
        let last = hosts - 1;
        let lost = recorded[0].lost.iter().filter(|(_, host)| *host == last).count() as f64;
        let sent =
            MESSAGES as f64 + recorded[0].resent.iter().map(|again| again.2 as f64).sum::<f64>();
        let damage = 1.0 - (1.0 - 1e-6_f64).powi(34 * 512 * links);
        let deviation = (sent * damage * (1.0 - damage)).sqrt();
        assert!((lost - sent * damage).abs() < 3.0 * deviation, "{links}: {lost} of {sent}");
    }
}

/// A connection that may lose packets and does not keeps all of the contract.
#[test]
fn conforms_without_losses() {
    conformance::all(&network("H8_S1", Losses::NONE), 8);
}

/// One that loses packets keeps what does not depend on their times: everything is delivered once,
/// in order, and nothing depends on the number of workers or the order of devices.
#[test]
fn conforms_with_losses() {
    let losses = Losses { packet: 0.05, bit: 1e-7, ack_timeout: ps(200_000_000), ..Losses::NONE };
    conformance::lossy(&network("H8_S6", losses.clone()), 8);
    conformance::shuffled(&network("torus:dims=3x3", losses.clone()), 9);
    // With pauses, congestion control, short buffers and two service levels. A pause can make a
    // message faster than one that is alone.
    let preset = preset("infiniband-ddr-simula-cc").expect("a preset");
    let losses = Some(losses);
    let parameters = Parameters { losses, buffer: 80, host_buffer: 80, ..preset };
    let network = Infiniband::new(fabric_with_levels("H8_S6", 2, parameters), 0);
    let levels = (0..8).map(|host| host % 2).collect();
    conformance::shuffled(&network.with_levels(levels), 8);
}

#[test]
fn mistakes() {
    let check = |losses, choice| Parameters { losses: Some(losses), choice, ..simula() }.check(1);
    assert_eq!(check(Losses { packet: 1.0, bit: 1e-12, ..Losses::NONE }, Choice::Pair), []);
    let losses =
        Losses { packet: 1.5, bit: -0.1, retry_count: 8, ack_timeout: Time::ZERO, ..Losses::NONE };
    let expected = [
        Invalid::Probability { key: "loss", value: "1.5".to_owned() },
        Invalid::Probability { key: "bit-error-rate", value: "-0.1".to_owned() },
        Invalid::Overtaking,
        Invalid::Timeout { time: Time::ZERO },
        Invalid::Control { key: "retry-count", value: 8, largest: 7 },
    ];
    assert_eq!(check(losses, Choice::Message), expected);
}
