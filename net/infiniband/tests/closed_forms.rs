//! Closed forms, exact to the picosecond.

use crate::common::{Message, fabric, fabric_with_levels, message, ps, run, simula};
use infiniband::{Fabric, Hiccups, Parameters, Share, Spread, Tables, preset};
use topology::Header;

fn transit(net: &Fabric, destination: u32, bytes: u64) -> u64 {
    let delivered = run(net, &[(1000, 0, message(destination, bytes, 0))]);
    assert_eq!(delivered.len(), 1);
    delivered[0].at.ps() - 1000
}

fn chain(switches: u32) -> String {
    format!("chain:switches={switches},hosts=1")
}

/// One switch delays a head by 101 ns, each further one by 81 ns (section 5.4.1, table 4.8.1). A
/// flit of 24 or 60 bytes (4 or 40 of payload and 20 of headers) is then taken in 24/64 or 60/64 of
/// 33.6 ns: 12.6 and 31.5 ns (section 5.4), 113.6 and 132.5 ns in all.
#[test]
fn one_flit() {
    for (switches, head) in [(1, 101_000), (2, 182_000), (3, 263_000), (4, 344_000), (5, 425_000)] {
        let net = match switches {
            1 => fabric("star:hosts=2", simula()),
            _ => fabric(&chain(switches), simula()),
        };
        let last = switches.max(2) - 1;
        assert_eq!(transit(&net, last, 4), head + 12_600);
        assert_eq!(transit(&net, last, 40), head + 31_500);
        assert_eq!(transit(&net, last, 0), head + 10_500);
        // 44 bytes of payload fill a flit.
        assert_eq!(transit(&net, last, 44), head + 33_600);
    }
}

/// n flits are taken 33.6 ns each, from when the head is there. 180 bytes are 200 with headers: 4
/// flits; 2156 are one packet of 34; 2157 one flit more; 400000 are 185 packets of 34 flits and
/// 1160 bytes with headers, 19 flits: 6309 (section 5.4).
#[test]
fn one_message() {
    for (switches, head) in [(2, 182_000), (3, 263_000), (5, 425_000)] {
        let net = fabric(&chain(switches), simula());
        for (bytes, flits) in [(45, 2), (180, 4), (2156, 34), (2157, 35), (400_000, 6309)] {
            assert_eq!(transit(&net, switches - 1, bytes), head + flits * 33_600, "{bytes}");
            let header = Header { source: 0, destination: switches - 1, ..Header::default() };
            let closed = net.uncontended(&header, bytes).expect("a route");
            assert_eq!(closed.transit, ps(head + flits * 33_600));
            assert_eq!(closed.latency, ps(head));
            assert_eq!(closed.leaving, ps(flits * 32_000));
            assert_eq!(closed.draining, ps(flits * 33_600));
        }
    }
}

/// The wire sets the pace if the sink keeps up: 4x EDR moves a flit in 5.12 ns, and 10 000
/// bytes are 2 packets of 4096 + 26 bytes (65 flits) and one of 1808 + 26 (29): 159 flits. Two
/// switches and three cables: 2 * 90 + 3 * 10 = 210 ns. A generator of 7 ns a flit then sets it,
/// and a crossbar of 9 ns.
#[test]
fn the_slowest_stage() {
    let edr = preset("infiniband-edr").expect("a preset");
    let slow = Parameters { generator: ps(7_000), ..edr.clone() };
    let crossbar = Parameters { crossbar: Some(ps(9_000)), ..edr.clone() };
    for (parameters, pace) in [(edr, 5_120), (slow, 7_000), (crossbar, 9_000)] {
        let net = fabric(&chain(2), parameters);
        let expected = 210_000 + 158 * pace + 5_120;
        assert_eq!(transit(&net, 1, 10_000), expected);
        let header = Header { source: 0, destination: 1, ..Header::default() };
        let closed = net.uncontended(&header, 10_000).expect("a route");
        assert_eq!(closed.transit, ps(expected));
    }
}

/// Two senders to one sink that takes a flit in 33.6 ns: the last of both is there after all flits
/// of both, 33.6 ns each after the head's 101 ns. Packets alternate, host 1 first (inputs take
/// turns from 0, and host 0 is the sink): with 185 full packets each, host 1 is through one packet
/// of 34 flits sooner. With 19 flits more each, host 1's short last packet finds credits before
/// host 2's full one that is due, so both of host 2's last ones, 53 flits, come after it.
#[test]
fn two_senders_one_sink() {
    let net = fabric("star:hosts=3", simula());
    for (bytes, flits, after) in [(398_860, 185 * 34, 34), (400_000, 6309, 53)] {
        let messages = [(0, 1, message(0, bytes, 1)), (0, 2, message(0, bytes, 2))];
        let delivered = run(&net, &messages);
        let all = 101_000 + 2 * flits * 33_600;
        let arrivals: Vec<_> = delivered.iter().map(|d| (d.source, d.at.ps())).collect();
        assert_eq!(arrivals, [(1, all - after * 33_600), (2, all)]);
    }
}

/// Exactly: a pause of 100 ns from 150 ns on, every 10 us. Heads arrive at 101 ns, the flits of a
/// message of 4 every 32 ns. The first goes at 134.6; the poll at 168.2 is lost, and flit 3, which
/// arrives at 197 ns, sets one at 230.6, which is lost too. Nothing arrives from then on, so the
/// next poll is 1 ns after the end of the pause, and the last flit goes 67.2 ns after that of 251
/// ns. Had the pause ended at 240 ns: 308.2.
#[test]
fn one_pause() {
    let end = |pause| {
        let hiccups = Hiccups {
            period: 10_000_000,
            pause,
            phase: 150_000,
            resume: 1_000,
            spread: Spread::Fixed,
        };
        let net = fabric("star:hosts=2", Parameters { hiccups, ..simula() });
        run(&net, &[(0, 0, message(1, 180, 0))])[0].at
    };
    assert_eq!(end(100_000), ps(318_200));
    assert_eq!(end(90_000), ps(308_200));
    // The poll that flit 3 set is at 230.6 still, after the pause: no other.
    assert_eq!(end(80_000), ps(230_600 + 2 * 33_600));
    // The pause ends at 169 ns, before anything else arrives than what waits.
    assert_eq!(end(19_000), ps(170_000 + 2 * 33_600));
}

/// The preset's pauses of 1.25 in 6.25 ns: two flits of 33.6 ns go in 68.75. The head of a message
/// of 4 arrives at 101 ns or 1 ns into a pause's period; polls at 134.6 and 168.2 find flits, that
/// of 201.8 is lost in the pause from 201 to 202.25, and those of 203.25 and 236.85 find the
/// others.
#[test]
fn pauses() {
    let hiccups = preset("infiniband-ddr-simula").expect("a preset").hiccups;
    let (spread, resume) = (Spread::Fixed, 1_000);
    let expected = Hiccups { period: 6_250, pause: 1_250, phase: 1_000, resume, spread };
    assert_eq!(hiccups, expected);
    let net = fabric("star:hosts=2", Parameters { hiccups, ..simula() });
    assert_eq!(run(&net, &[(0, 0, message(1, 180, 0))])[0].at, ps(236_850));
}

/// Flow-control packets of 4 ns every 256 ns. Credits are known at 1 + 20 ns, so the first message
/// goes at 21 ns. One at 256.5 ns waits until 261, that of 257 ns; at the switch, at 342, the link
/// has been idle since 261. A second packet right behind one of 34 flits waits 4 ns at its end, for
/// the one that was due meanwhile.
#[test]
fn flow_control_takes_the_wire() {
    let update = ps(256_000);
    let net = fabric("star:hosts=2", Parameters { update, ..simula() });
    let at = |time, bytes| run(&net, &[(time, 0, message(1, bytes, 0))])[0].at.ps();
    assert_eq!(at(0, 44), 21_000 + 101_000 + 33_600);
    assert_eq!(at(256_500, 44), 261_000 + 101_000 + 33_600);
    assert_eq!(at(262_000, 44), 262_000 + 101_000 + 33_600);
    // The sink, 33.6 ns a flit, is behind the wire.
    assert_eq!(at(262_000, 4312), 262_000 + 101_000 + 68 * 33_600);
    let net = fabric("star:hosts=2", Parameters { update, sink: ps(32_000), ..simula() });
    let at = |time, bytes| run(&net, &[(time, 0, message(1, bytes, 0))])[0].at.ps();
    assert_eq!(at(262_000, 4312), 262_000 + 101_000 + 68 * 32_000 + 4_000);
}

/// A buffer of one packet behind a host: the next packet waits for the last credit of the one
/// before. Its head arrives after 20 ns, is granted after 30 more, flit 33 leaves the buffer 33 *
/// 32 ns later and its credit arrives after 20 ns: a packet each 20 + 30 + 1056 + 20 = 1126 ns
/// instead of 1088. Ten packets of 34 flits, the sink slower than the wire but faster than that:
/// heads of the last after 9 periods, and then 101 ns and 34 * 33.6 ns.
#[test]
fn buffer_of_one_packet() {
    let small = Parameters { buffer: 34, ..simula() };
    let net = fabric("star:hosts=2", small.clone());
    let tenth = 101_000 + 34 * 33_600;
    // 34 * 33.6 = 1142.4 ns a packet at the sink: more than 1126, so its pace shows.
    assert_eq!(transit(&net, 1, 21_560), tenth + 9 * 34 * 33_600);
    let net = fabric("star:hosts=2", Parameters { sink: ps(32_000), ..small.clone() });
    assert_eq!(transit(&net, 1, 21_560), 9 * 1_126_000 + 101_000 + 34 * 32_000);
    // A credit delay of 100 ns: 1226 ns a packet.
    let late = Parameters { credit_delay: ps(100_000), sink: ps(32_000), ..small };
    let net = fabric("star:hosts=2", late);
    assert_eq!(transit(&net, 1, 21_560), 9 * 1_226_000 + 101_000 + 34 * 32_000);
}

/// Longer cables and k packets of buffer: one round trip carries k packets, or the wire is full.
/// With 5 us of cable a round trip is 5000 + 30 + 1056 + 5000 = 11086 ns for the last credit of a
/// packet.
#[test]
fn throughput_is_buffer_per_round_trip() {
    for packets in 1..12 {
        let parameters = Parameters {
            cable: ps(5_000_000),
            buffer: packets * 34,
            host_buffer: 100_000,
            sink: ps(32_000),
            ..simula()
        };
        let net = fabric("star:hosts=2", parameters);
        let count = 10 * u64::from(packets) + 1;
        let time = transit(&net, 1, 2156 * count);
        // Groups of k packets leave a round trip apart, each within a group as soon as the wire is
        // free.
        let period = u64::max(11_086_000, u64::from(packets) * 34 * 32_000);
        assert_eq!(time, 10 * period + 10_061_000 + 34 * 32_000, "{packets}");
    }
}

/// Weights of 1, 2 and 4 full packets in the arbiter of a switch whose output three hosts fill,
/// each on a lane of its own: of every 7 packets 1, 2 and 4. When the heaviest is through with 140
/// packets, 35 and 70 of the others have gone, up to a round.
#[test]
fn arbitration_weights_are_bandwidth_shares() {
    let share = |(lane, packets): (u8, u8)| Share { lane, weight: packets * 34 };
    let low = [(0, 1), (1, 2), (2, 4)].map(share).to_vec();
    let tables = Tables { high: vec![], low, high_limit: 255 };
    let parameters = Parameters { arbiter: Some(tables), sink: ps(32_000), ..simula() };
    let net = fabric_with_levels("star:hosts=4", 3, parameters);
    let send = |source: u32, packet: u64| {
        let level = source as u8 - 1;
        (0, source, Message { destination: 0, bytes: 2156, level, sequence: packet })
    };
    let messages: Vec<_> = (0..140).flat_map(|packet| [1, 2, 3].map(|s| send(s, packet))).collect();
    let delivered = run(&net, &messages);
    let heaviest = delivered.iter().rposition(|d| d.source == 3).expect("delivered");
    let before = |source| {
        delivered[..heaviest].iter().filter(|d| d.source == source).count().cast_signed() as i64
    };
    assert!((before(1) - 35).abs() <= 1 && (before(2) - 70).abs() <= 2, "{}", before(2));
}

/// The high table's lane gets 2 of 3 packets of 34 flits under a limit of 4096 bytes, 64 flits.
#[test]
fn high_limit_gives_the_low_table_its_turn() {
    let one = |lane| vec![Share { lane, weight: 255 }];
    let tables = Tables { high: one(1), low: one(0), high_limit: 1 };
    let parameters = Parameters { arbiter: Some(tables), sink: ps(32_000), ..simula() };
    let net = fabric_with_levels("star:hosts=3", 2, parameters);
    let send = |source: u32, packet: u64| {
        let level = source as u8 - 1;
        (0, source, Message { destination: 0, bytes: 2156, level, sequence: packet })
    };
    let messages: Vec<_> = (0..100).flat_map(|packet| [1, 2].map(|s| send(s, packet))).collect();
    let delivered = run(&net, &messages);
    let high = delivered.iter().rposition(|d| d.source == 2).expect("delivered");
    let low = delivered[..high].iter().filter(|d| d.source == 1).count().cast_signed() as i64;
    assert!((low - 50).abs() <= 1, "{low}");
}

/// Subnet management needs no credits: behind a sink that takes 1 us a flit, with buffers of one
/// packet, data stands, and a management packet sent 50 us later still passes every queue.
#[test]
fn management_passes() {
    let slow = Parameters { sink: ps(1_000_000), buffer: 34, host_buffer: 34, ..simula() };
    let net = fabric("star:hosts=3", slow);
    let management =
        Message { destination: 0, bytes: 44, level: infiniband::MANAGEMENT, sequence: 9 };
    let messages = [(0, 1, message(0, 400_000, 1)), (50_000_000, 2, management)];
    let delivered = run(&net, &messages);
    assert_eq!(delivered[0].sequence, 9);
    // Before it, the sink has up to 34 flits of 1 us.
    assert!(delivered[0].at.ps() < 50_000_000 + 101_000 + 36 * 1_000_000, "{:?}", delivered[0]);
}
