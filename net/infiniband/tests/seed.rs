//! Figures of seed 000, with its preset as it stands.

mod common;

use common::{message, ps, topology};
use infiniband::{Driver, Fabric, preset};
use topology::Routes;

/// Dissemination: in round r every host sends 180 bytes to the one 2^r after it, as soon as it has what
/// the rounds before brought it. When each host has everything, in picoseconds.
fn dissemination(spec: &str) -> Vec<u64> {
    let topology = topology(spec);
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-ddr-simula").expect("a preset");
    let net = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let hosts = net.hosts();
    let rounds = u64::from(hosts.next_power_of_two().ilog2());
    let mut driver = Driver::new(&net, |_, _, _| {});
    for host in 0..hosts {
        driver.inject(ps(0), host, message((host + 1) % hosts, 180, 0));
    }
    let mut done = vec![0; hosts as usize];
    let mut has = vec![0_u64; hosts as usize];
    let mut sent = vec![1_u64; hosts as usize];
    while let Some(delivery) = driver.next_delivery() {
        let host = delivery.destination as usize;
        has[host] |= 1 << delivery.sequence;
        done[host] = delivery.at.ps();
        while sent[host] < rounds && has[host] >> (sent[host] - 1) & 1 == 1 {
            let round = sent[host];
            let destination = (delivery.destination + (1 << round)) % hosts;
            driver.inject(delivery.at, delivery.destination, message(destination, 180, round));
            sent[host] += 1;
        }
    }
    assert!(has.iter().all(|&has| has == (1 << rounds) - 1));
    done
}

/// Table 4.7.2.2: all LogGOPS parameters 0.
#[test]
fn dissemination_on_the_verification_topologies() {
    let published = [
        ("H8_S1", 723_100, 723_100, 3.0),
        ("H8_S2", 1_098_500, 780_600, 10.0),
        ("H8_S4", 943_100, 843_100, 10.0),
        ("H8_S6", 1_261_850, 1_105_600, 10.0),
    ];
    for (name, slowest, fastest, percent) in published {
        let done = dissemination(name);
        let found = [done.iter().max(), done.iter().min()].map(|time| *time.expect("hosts"));
        for (found, published) in found.into_iter().zip([slowest, fastest]) {
            let off = (found as f64 / f64::from(published) - 1.0) * 100.0;
            println!("{name}: {found} for {published}, {off:+.2} %");
            assert!(off.abs() <= percent, "{name}: {found} for {published}");
        }
    }
}
