//! The model against a naive program that moves every flit by itself: equal to the picosecond.

mod naive;

use self::naive::{Naive, Sent};
use crate::common::Message;
use infiniband::{Fabric, Hiccups, Parameters, Share, Spread, Tables, preset};
use proptest::prelude::*;
use topology::Routes;
use units::{Bandwidth, Time};

const TOPOLOGIES: [&str; 8] = [
    "star:hosts=3",
    "star:hosts=6",
    "chain:switches=3,hosts=2",
    "ring:switches=5,hosts=1",
    "torus:dims=3x3,hosts=1",
    "H8_S2",
    "H8_S4",
    "H8_S6",
];

/// Times per flit as a rate: 512 bits in so many picoseconds.
fn link(flit: u64) -> topology::Rate {
    topology::Rate::Data(Bandwidth::from_bits_per_second(512_000_000_000_000 / flit))
}

/// Small numbers, so that ties and short buffers are common. The paces are such that no packet
/// meets three, each faster than the one before, where the flits between head and tail are not
/// exact.
fn parameters() -> impl Strategy<Value = Parameters> {
    let paces = (prop::sample::select(vec![10_u64, 16, 20]), 0..3, 0..4_u64, 5..40_u64);
    let times = (1..40_u64, 0..30_u64, 0..30_u64, 0..30_u64);
    let buffers = (0..12_u32, 0..12_u32, 0..12_u32, 1..4_u16);
    let hiccups = (0..2_u64, 200..900_u64, 10..150_u64, 0..100_u64, 0..9_u64);
    let arbiter = prop::option::of((1..20_u8, 1..20_u8, 0..3_u8, any::<bool>()));
    (paces, times, buffers, hiccups, arbiter).prop_map(
        |(
            (flit, class, step, sink),
            (cable, inside, outside, credit),
            buffers,
            pauses,
            arbiter,
        )| {
            let (crossbar, generator, sink) = match class {
                0 => (Some(flit - step), flit, sink),
                1 => (None, flit + 5 * step, sink.max(flit)),
                _ => (Some(flit + 4 * step), flit, sink.max(flit)),
            };
            let packet = 5;
            let (on, period, pause, phase, resume) = pauses;
            let fixed = Spread::Fixed;
            Parameters {
                link: link(flit),
                cable: Time::from_ps(cable),
                latency_in: Time::from_ps(inside),
                latency_out: Time::from_ps(outside),
                credit_delay: Time::from_ps(credit),
                padded: true,
                update: Time::ZERO,
                crossbar: crossbar.map(Time::from_ps),
                max_being_sent: buffers.3,
                buffer: packet + buffers.0,
                host_buffer: packet + buffers.1,
                output_buffer: packet + buffers.2,
                mtu: 280,
                header: 20,
                generator: Time::from_ps(generator),
                sink: Time::from_ps(sink),
                hiccups: Hiccups { period: on * period, pause, phase, resume, spread: fixed },
                arbiter: arbiter.map(|(a, b, high_limit, both)| {
                    let share = |lane, weight| Share { lane, weight };
                    let shares: Vec<_> =
                        (0..8).map(|lane| share(lane, if lane % 2 == 0 { a } else { b })).collect();
                    let high = if both { vec![share(1, b)] } else { vec![] };
                    Tables { high, low: shares, high_limit }
                }),
                ..preset("infiniband-ddr-simula").expect("a preset")
            }
        },
    )
}

/// Messages as (time, source, destination, bytes, level), wrapped into the number of hosts.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32, u32, u64, u8)>> {
    prop::collection::vec((0..1500_u64, 0..60_u32, 1..60_u32, 0..1500_u64, 0..2_u8), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Every message arrives, once, in order for each pair and level, and when the naive program
    /// says.
    #[test]
    fn equal_to_flit_by_flit(
        which in 0..TOPOLOGIES.len(),
        levels in 1..3_u8,
        parameters in parameters(),
        traffic in traffic(),
    ) {
        let topology = topology::parse(TOPOLOGIES[which]).expect("a topology");
        let routes = Routes::build(&topology, None).expect("routes").with_levels(levels);
        let hosts = topology.graph.hosts();
        let mut sent: Vec<_> = traffic.iter().map(|&(at, source, step, bytes, level)| {
            let source = source % hosts;
            let destination = (source + 1 + step % (hosts - 1)) % hosts;
            Sent { at, source, destination, bytes, level: level % levels }
        }).collect();
        sent.sort_by_key(|message| message.at);
        let mut naive = Naive::new(&topology.graph, &routes, &parameters);
        naive.run(&sent);
        let mut expected = naive.delivered;
        expected.sort_unstable();

        let net = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
        let messages: Vec<_> = (0..).zip(&sent).map(|(sequence, message)| {
            let &Sent { at, source, destination, bytes, level } = message;
            (at, source, Message { destination, bytes, level, sequence })
        }).collect();
        let mut found = Vec::new();
        let mut latest = std::collections::BTreeMap::new();
        for delivery in crate::common::run(&net, &messages) {
            let id = delivery.sequence as usize;
            prop_assert_eq!(delivery.source, sent[id].source);
            prop_assert_eq!(delivery.destination, sent[id].destination);
            let pair = (delivery.source, delivery.destination, sent[id].level);
            let before = latest.insert(pair, id);
            prop_assert!(before < Some(id), "overtaken");
            found.push((delivery.at.ps(), id));
        }
        found.sort_unstable();
        prop_assert_eq!(expected.len(), sent.len());
        prop_assert_eq!(found, expected);
    }
}
