//! Figures of seed 000, with its preset as it stands.

use crate::common::{message, ps, topology};
use infiniband::{Fabric, Infiniband, preset};
use kernel::TransportKind;
use network::{Log, Script, Transfer};
use topology::Routes;
use units::HostId;

/// Dissemination: in round r every host sends 180 bytes to the one 2^r after it, as soon as it has
/// what the rounds before brought it. When each host has everything, in picoseconds.
fn dissemination(spec: &str) -> Vec<u64> {
    let topology = topology(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let net = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let hosts = net.hosts();
    let rounds = u64::from(hosts.next_power_of_two().ilog2());
    let to = |host: HostId, round: u64| {
        Transfer::new(host, HostId((host.0 + (1 << round)) % hosts), 180)
    };
    let first: Vec<_> = (0..hosts).map(|host| (ps(0), to(HostId(host), 0))).collect();
    // The round of a message is in how far it has come.
    let has = |host: HostId, log: &Log| {
        log.delivered.iter().fold(0_u64, |has, (_, injection)| {
            let distance = (host.0 + hosts - injection.transfer.source.0) % hosts;
            has | 1 << distance.ilog2()
        })
    };
    let next = |host: HostId, log: &Log| {
        let mut sent = log.injected.len() as u64;
        let mut transfers = Vec::new();
        while sent < rounds && has(host, log) >> (sent - 1) & 1 == 1 {
            transfers.push(to(host, sent));
            sent += 1;
        }
        transfers
    };
    let script = Script::of(hosts, &first).answered(&next);
    let played =
        script.play(&Infiniband::new(net, 0), 1, TransportKind::Shared).expect("no overflow");
    let all = |(host, log): (u32, &Log)| has(HostId(host), log) == (1 << rounds) - 1;
    assert!((0..).zip(&played.logs).all(all));
    let last = |log: &Log| log.delivered.last().map_or(0, |(at, _)| at.ps());
    played.logs.iter().map(last).collect()
}

/// Table 4.7.2.2: all LogGOPS parameters 0. Of the eight times, five are equal to the picosecond.
#[test]
fn dissemination_on_the_verification_topologies() {
    let published = [
        ("H8_S1", [(723_100, 1.0); 2]),
        ("H8_S2", [(1_098_500, 2.0), (780_600, 0.0)]),
        ("H8_S4", [(943_100, 0.0), (843_100, 0.0)]),
        ("H8_S6", [(1_261_850, 0.0), (1_105_600, 0.0)]),
    ];
    for (name, published) in published {
        let done = dissemination(name);
        let found = [done.iter().max(), done.iter().min()].map(|time| *time.expect("hosts"));
        for (found, (published, percent)) in found.into_iter().zip(published) {
            let off = (found as f64 / f64::from(published) - 1.0) * 100.0;
            println!("{name}: {found} for {published}, {off:+.2} %");
            assert!(off.abs() <= percent, "{name}: {found} for {published}");
        }
    }
}

/// Appendix E: the insertions and arrivals of the 20 messages of 400000 bytes of `ltest`, in
/// picoseconds; message 0 goes from host 0 to host 1, the next one back.
const LTEST: [(u64, u64); 20] = [
    (73_000_000, 291_286_850),
    (361_286_850, 578_853_250),
    (642_853_250, 861_134_500),
    (925_134_500, 1_143_278_250),
    (1_206_278_250, 1_424_530_600),
    (1_488_530_600, 1_706_190_750),
    (1_770_190_750, 1_988_334_500),
    (2_052_334_500, 2_270_440_750),
    (2_334_440_750, 2_552_647_000),
    (2_616_647_000, 2_834_818_100),
    (2_898_818_100, 3_116_447_000),
    (3_180_447_000, 3_398_755_600),
    (3_462_755_600, 3_680_384_500),
    (3_744_384_500, 3_962_734_500),
    (4_026_734_500, 4_244_772_000),
    (4_308_772_000, 4_527_049_350),
    (4_591_049_350, 4_808_647_000),
    (4_872_647_000, 5_090_928_250),
    (5_154_928_250, 5_373_249_350),
    (5_437_249_350, 5_654_847_000),
];

/// All transit times to the picosecond but that of message 15, which is 3.9 ns late.
#[test]
fn ltest() {
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let net = crate::common::fabric("star:hosts=2", parameters);
    let messages: Vec<_> = (0..20)
        .map(|i| {
            let source = i % 2;
            (LTEST[i as usize].0, source, message(1 - source, 400_000, i.into()))
        })
        .collect();
    for delivery in crate::common::run(&net, &messages) {
        let id = delivery.sequence as usize;
        let late = if id == 15 { 3_900 } else { 0 };
        assert_eq!(delivery.at.ps(), LTEST[id].1 + late, "message {id}");
    }
}
