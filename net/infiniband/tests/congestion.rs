//! Congestion control of annex A10, step by step and at work.

use std::collections::BTreeMap;

use crate::common::{fabric, message, ps, run, simula, watch};
use infiniband::{Control, Delay, Fabric, Parameters, Record, Victims, preset};
use topology::Routes;

/// A table whose entry i makes a flow wait i packet times after each packet.
fn linear() -> Vec<Delay> {
    (0..128).map(|multiplier| Delay { shift: 0, multiplier }).collect()
}

fn control() -> Control {
    let preset = preset("infiniband-ddr-simula-cc").expect("a preset");
    Control { table: linear(), ..preset.congestion.expect("congestion control") }
}

/// Two hosts send 10 full packets each to a third. Its queue holds 34 flits or more whenever a
/// packet is granted, so at threshold 15 (1/16 of 200 flits: 13) every packet is eligible; a
/// marking rate of r marks every (r+1)-th of the 20.
#[test]
fn marking_rate() {
    for (marking_rate, marked) in [(0, 20), (1, 10), (3, 5), (6, 2), (20, 0)] {
        let control = Control { marking_rate, victims: Victims::All, ..control() };
        let net = fabric("star:hosts=3", Parameters { congestion: Some(control), ..simula() });
        let messages = [(0, 1, message(0, 21_560, 1)), (0, 2, message(0, 21_560, 2))];
        let (_, records) = watch(&net, &messages);
        let count = |wanted: fn(&Record) -> bool| records.iter().filter(|r| wanted(&r.2)).count();
        assert_eq!(count(|r| matches!(r, Record::Marked { .. })), marked);
        // Each mark comes back as a notification to its source.
        assert_eq!(count(|r| matches!(r, Record::Throttled { .. })), marked);
    }
}

/// A packet of 34 flits is granted the moment it may be: alone, it is the queue. 34 flits are over
/// a level of 33 and 34 but under 35 of (16 - threshold)/16 of the buffer: buffers of 528 and 544
/// flits at threshold 15 have levels 33 and 34; 545 has 35. Packets smaller than the packet size
/// are never marked.
#[test]
fn threshold_and_packet_size() {
    for (buffer, packet_size, marked) in
        [(528, 0, 1), (544, 0, 1), (545, 0, 0), (544, 34, 1), (544, 35, 0)]
    {
        let control = Control { threshold: 15, packet_size, ..control() };
        let net =
            fabric("star:hosts=2", Parameters { congestion: Some(control), buffer, ..simula() });
        let (_, records) = watch(&net, &[(0, 1, message(0, 2156, 0))]);
        let found = records.iter().filter(|r| matches!(r.2, Record::Marked { .. })).count();
        assert_eq!(found, marked, "{buffer} {packet_size}");
    }
}

/// A single flow, every packet marked. Packets take 34 * 32 = 1088 ns. The first is whole at the
/// receiver at 101 + 33 * 32 = 1157 ns; the notification leaves then and arrives 101 ns later, at
/// 1258 ns: CCTI 1. The second packet left at 1088 (index 0, so the third may follow at once, at
/// 2176, with index 1: it ends at 3264 and the fourth waits 1 packet time more). By then
/// notifications of the second (2346 ns: CCTI 2) and, at 2176 + 1157 + 101 = 3434, of the third
/// (CCTI 3) are there: the fourth leaves at 4352 with index 3 and the fifth, 1 + 3 packet times
/// after it, at 8704 with index 4 (fourth: 5610), then the sixth 5 packet times later at 14144.
#[test]
fn ccti_steps_and_injection_delay() {
    let control = Control { threshold: 15, victims: Victims::All, ..control() };
    let net = fabric("star:hosts=2", Parameters { congestion: Some(control), ..simula() });
    let (_, records) = watch(&net, &[(0, 0, message(1, 6 * 2156, 0))]);
    let sent = records.iter().filter_map(|&(at, device, record)| match record {
        Record::Sent { flits: 34, start, .. } if device == 0 => Some((at, start.ps())),
        _ => None,
    });
    let starts: Vec<_> = sent.map(|(_, start)| start).collect();
    assert_eq!(starts, [0, 1_088_000, 2_176_000, 4_352_000, 8_704_000, 14_144_000]);
    let notified = records.iter().filter_map(|&(at, _, record)| match record {
        Record::Throttled { index, .. } => Some((at, index)),
        _ => None,
    });
    let first: Vec<_> = notified.take(4).collect();
    assert_eq!(first, [(1_258_000, 1), (2_346_000, 2), (3_434_000, 3), (5_610_000, 4)]);
}

/// With acknowledgements, BECN comes with the one for the message and not before.
#[test]
fn becn_by_acknowledgement() {
    let control = Control { threshold: 15, victims: Victims::All, ..control() };
    let with = Parameters { congestion: Some(control), acknowledge: true, ..simula() };
    let net = fabric("star:hosts=2", with);
    let (_, records) = watch(&net, &[(0, 0, message(1, 3 * 2156, 0))]);
    let notified = records.iter().filter_map(|&(at, _, record)| match record {
        Record::Throttled { index, .. } => Some((at, index)),
        _ => None,
    });
    // Three packets without a delay between them: the last flit leaves at 101 * 32 and takes 101
    // ns, and the acknowledgement as much.
    let expected = (101 * 32 + 101 + 101) * 1000;
    assert_eq!(notified.collect::<Vec<_>>(), [(expected, 1)]);
}

/// Ports that stand for lack of credits are victims: behind a slow host the switch marks only if
/// the mask says so.
#[test]
fn roots_and_victims() {
    let marks = |victims| {
        let control = Control { victims, ..control() };
        let slow = Parameters { sink: ps(500_000), congestion: Some(control), ..simula() };
        let net = fabric("H8_S2", slow);
        // All packets are full: short ones might still find credits where others do not.
        // Hosts 0 to 2 behind switch 8 send to host 4 behind switch 9.
        let messages = [0, 1, 2].map(|source| (0, source, message(4, 46 * 2156, source.into())));
        let mut marks = BTreeMap::new();
        for (at, device, record) in watch(&net, &messages).1 {
            // Buffers are full by then: switch 8 can send only as host 4 takes.
            if matches!(record, Record::Marked { .. }) && at > 500_000_000 {
                *marks.entry(device).or_insert(0) += 1;
            }
        }
        marks.keys().copied().collect::<Vec<u32>>()
    };
    assert_eq!(marks(Victims::None), [] as [u32; 0]);
    assert_eq!(marks(Victims::Hosts), [9]);
    assert_eq!(marks(Victims::All), [8, 9]);
}

/// Seven hosts flood host 8: six of its own switch and host 0 by way of another, from where host 1
/// sends to the idle host 15 over the same link. Host 8's switch takes a seventh of its sink's rate
/// from that link, and host 1, taking turns with host 0, gets no more than that: 200000 bytes are
/// 93 packets of 1142.4 ns, a seventh is 744 us. Alone they take 107 us. Congestion control must at
/// least halve the 744.
#[test]
fn a_victim_is_rescued() {
    let finish = |congestion| {
        let topology = topology::parse("mesh:dims=2,hosts=8").expect("a topology");
        let routes = Routes::build(&topology, None).expect("routes");
        let parameters = Parameters { congestion, ..simula() };
        let net = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
        let mut messages: Vec<_> =
            [0, 9, 10, 11, 12, 13, 14].map(|source| (0, source, message(8, 1_000_000, 0))).to_vec();
        messages.push((1_000_000_000, 1, message(15, 200_000, 1)));
        let victim = run(&net, &messages).into_iter().find(|d| d.sequence == 1);
        victim.expect("delivered").at.ps() - 1_000_000_000
    };
    let preset = preset("infiniband-ddr-simula-cc").expect("a preset");
    let (without, with) = (finish(None), finish(preset.congestion));
    println!("victim: {without} ps without, {with} ps with congestion control");
    assert!((700_000_000..800_000_000).contains(&without), "{without}");
    assert!(2 * with < without, "{without} {with}");
}
