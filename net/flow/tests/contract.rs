//! The contract of all networks, and what messages do to each other over links that they share.

use flow::{Contention, Factors, Link, Network, Parameters, Routes, Shared, Sharing};
use kernel::{Random, Silent};
use network::{Transfer, conformance};
use units::{HostId, Time};

/// Hosts with a link up and a link down, around a backbone if there is one.
struct Star {
    hosts: u32,
    backbone: bool,
}

impl Routes for Star {
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String> {
        let middle = self.backbone.then_some(2 * self.hosts);
        links.clear();
        links.extend([Some(2 * from), middle, Some(2 * to + 1)].into_iter().flatten());
        Ok(links.len() as f64 * 1e-6)
    }
}

fn star(hosts: u32, backbone: bool, parameters: Parameters) -> Shared<Star> {
    let link = Link { bandwidth: 1e9, sharing: Sharing::Shared };
    let links = vec![link; 2 * hosts as usize + 1];
    Shared::new(Star { hosts, backbone }, links, parameters, hosts, 2e-6).unwrap()
}

/// No factors, no envelope, no window, no cross traffic.
fn plain() -> Parameters {
    Parameters {
        bandwidth_factors: Factors::default(),
        latency_factors: Factors::default(),
        weight: 0.0,
        window: 0.0,
        cross_traffic: false,
        envelope: 0,
        contention: Contention::Shared,
    }
}

#[test]
fn it_meets_the_contract_of_all_networks() {
    for parameters in [plain(), Parameters::default()] {
        for backbone in [false, true] {
            conformance::all(&star(5, backbone, parameters.clone()), 5);
        }
    }
}

#[test]
fn two_messages_share_what_both_use() {
    // 1 MB at 1 GB/s: 1 ms, after 2 us of latency. Two that share source, destination or both have
    // half each; those that share nothing, and one there and one back, do not meet.
    let network = star(4, false, plain());
    let alone = Time::from_ps(1_002_000_000);
    let shared = Time::from_ps(2_002_000_000);
    let transfer = |from, to| Transfer::new(HostId(from), HostId(to), 1_000_000);
    let cases = [
        (transfer(0, 1), transfer(0, 2), shared),
        (transfer(0, 2), transfer(1, 2), shared),
        (transfer(0, 1), transfer(0, 1), shared),
        (transfer(0, 1), transfer(2, 3), alone),
        (transfer(0, 1), transfer(1, 0), alone),
    ];
    for (one, other, end) in cases {
        let ends = conformance::together(&network, 4, &[(Time::ZERO, one), (Time::ZERO, other)]);
        assert_eq!(ends, [end, end], "{one:?}, {other:?}");
    }
    // One that starts 0.5 ms later: the first has half of its bytes left, 1 ms more; then the other
    // has half left, and the link for itself: 0.5 ms.
    let late = Time::from_ps(500_000_000);
    let messages = [(Time::ZERO, transfer(0, 1)), (late, transfer(0, 2))];
    let ends = conformance::together(&network, 4, &messages);
    assert_eq!(ends, [Time::from_ps(1_502_000_000), Time::from_ps(2_002_000_000)]);
}

#[test]
fn the_ends_are_those_of_the_solver_without_a_device() {
    // 300 messages of random sizes at random times, with factors and cross traffic.
    let random = Random::new(1, 1);
    let host = |message, use_of: u64| random.below(message, use_of, 6) as u32;
    let mut messages: Vec<(Time, Transfer)> = (0..300)
        .map(|message| {
            let source = host(message, 0);
            let destination = (source + 1 + host(message, 1) % 5) % 6;
            let bytes = random.below(message, 2, 1 << 20);
            let at = Time::from_ps(random.below(message, 3, 5_000_000_000));
            (at, Transfer::new(HostId(source), HostId(destination), bytes))
        })
        .collect();
    messages.sort_by_key(|(at, _)| *at);
    let through = conformance::together(&star(6, true, Parameters::default()), 6, &messages);

    let links = [Link { bandwidth: 1e9, sharing: Sharing::Shared }; 13];
    let routes = Star { hosts: 6, backbone: true };
    let mut network = Network::new(routes, &links, &[], Parameters::default(), Silent);
    let (mut ends, mut done) = (vec![Time::ZERO; messages.len()], Vec::new());
    let mut posts = (0..).zip(&messages).peekable();
    loop {
        let post = posts.peek().map(|(_, (at, _))| *at);
        let Some(now) = network.next_event().into_iter().chain(post).min() else { break };
        network.advance(now, &mut done);
        for token in done.drain(..) {
            ends[token as usize] = now;
        }
        while let Some((token, (_, transfer))) = posts.next_if(|(_, (at, _))| *at == now) {
            let pair = (transfer.source.0, transfer.destination.0);
            network.send(now, pair, transfer.bytes, token).unwrap();
        }
    }
    assert_eq!(through, ends);
}

#[test]
fn without_a_latency_there_is_no_time_for_the_solver() {
    let network = Shared::new(Star { hosts: 2, backbone: false }, Vec::new(), plain(), 2, 0.0);
    assert!(network.is_err());
}
