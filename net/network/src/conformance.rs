//! The suite that every model of a network passes.
//!
//! The tests of a model call [`all`] for each of its parameter sets, and [`together`] for what
//! messages that share something do to each other. Every function panics, with what it saw, if the
//! model breaks the contract.

mod checked;

use std::collections::BTreeMap;

use kernel::TransportKind;
use units::{HostId, MessageId, Time};

use crate::{Injection, Log, Network, Nowhere, Script, Transfer, Uncontended};
use checked::Checked;

/// Sizes in bytes that models tend to treat differently: none, one, either side of powers of two
/// and of the usual eager limit, many.
const SIZES: [u64; 12] = [0, 1, 2, 15, 64, 65, 4096, 65_535, 65_536, 65_537, 1 << 20, 1 << 30];

/// Checks everything on a network of `hosts` hosts.
///
/// # Panics
///
/// If the model breaks the contract, or there are fewer than two hosts.
pub fn all<N: Network>(network: &N, hosts: u32) {
    assert!(hosts >= 2, "a network of {hosts} hosts has no two that could talk");
    alone(network, hosts);
    idle(network, hosts);
    order(network, hosts);
    if N::DIRECT {
        pairs(network, hosts);
        range(network, hosts);
    }
    workers(network, hosts);
    if !N::DIRECT {
        shuffled(network, hosts);
    }
}

/// Checks what holds even if packets get lost on the way: everything is delivered once, in order
/// and not before its time; it leaves its host once; nothing depends on the number of workers or
/// the order of devices; nothing is left in the network.
///
/// # Panics
///
/// If the model breaks the contract.
pub fn lossy<N: Network>(network: &N, hosts: u32) {
    order(network, hosts);
    workers(network, hosts);
    if !N::DIRECT {
        shuffled(network, hosts);
    }
}

/// Injects messages in this order, each at its time, into a fresh network of `hosts` hosts, and
/// returns when they are delivered. None is faster than it would be alone, or than the lookahead.
///
/// # Panics
///
/// If one is.
pub fn together<N: Network>(network: &N, hosts: u32, messages: &[(Time, Transfer)]) -> Vec<Time> {
    let delivered = if N::DIRECT {
        directly(network, hosts, messages)
    } else {
        played(network, hosts, messages)
    };
    for (&(at, transfer), &delivered) in messages.iter().zip(&delivered) {
        check_delivery(network, at, transfer, delivered);
    }
    delivered
}

fn directly<N: Network>(network: &N, hosts: u32, messages: &[(Time, Transfer)]) -> Vec<Time> {
    let mut interfaces: Vec<N::Interface> =
        (0..hosts).map(|host| network.interface(HostId(host))).collect();
    let deliver = |(number, &(at, transfer)): (u64, &(Time, Transfer))| {
        let interface = &mut interfaces[transfer.source.index()];
        let answer = network.inject(interface, at, transfer, MessageId(number), &mut Nowhere);
        assert!(answer.is_some(), "{transfer:?}: a direct network does not answer");
        answer.unwrap_or_default()
    };
    (0..).zip(messages).map(deliver).collect()
}

/// Plays a script, and returns what happened at each host. Afterwards, the network is as it was at
/// the start.
fn play<N: Network>(
    network: &N,
    script: &Script<'_>,
    workers: usize,
    transport: TransportKind,
) -> Vec<Log> {
    let played = script.play(network, workers, transport);
    let played = played.unwrap_or_else(|error| panic!("the run ends early: {error}"));
    for (host, interface) in played.interfaces.iter().enumerate() {
        let rest = network.at_rest(interface);
        rest.unwrap_or_else(|missing| panic!("host {host} is not at rest: {missing}"));
    }
    for (number, device) in played.devices.iter().enumerate() {
        let rest = network.device_at_rest(device);
        rest.unwrap_or_else(|missing| panic!("device {number} is not at rest: {missing}"));
    }
    played.logs
}

fn played<N: Network>(network: &N, hosts: u32, messages: &[(Time, Transfer)]) -> Vec<Time> {
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by_key(|&message| messages[message].0);
    let sorted: Vec<_> = order.iter().map(|&message| messages[message]).collect();
    let logs = play(network, &Script::of(hosts, &sorted), 1, TransportKind::Shared);
    check_conservation(network, &logs);
    let mut numbers = vec![0; hosts as usize];
    let mut delivered = vec![Time::ZERO; messages.len()];
    for message in order {
        let transfer = messages[message].1;
        let number = &mut numbers[transfer.source.index()];
        let arrived = &logs[transfer.destination.index()].delivered;
        let found = arrived.iter().find(|(_, injection)| {
            injection.transfer.source == transfer.source && injection.sequence == *number
        });
        delivered[message] = found.map_or(Time::MAX, |(at, _)| *at);
        *number += 1;
    }
    delivered
}

/// No message is faster than the lookahead, or than it would be alone.
fn check_delivery<N: Network>(network: &N, at: Time, transfer: Transfer, delivered: Time) {
    let lookahead = network.lookahead();
    let Uncontended { transit, latency, .. } = network.uncontended(transfer);
    assert!(latency <= transit, "{transfer:?}: a latency of {latency} in a transit of {transit}");
    let local = !N::DIRECT && transfer.source == transfer.destination;
    assert!(
        transit >= lookahead || local,
        "{transfer:?}: {transit} is less than the lookahead {lookahead}"
    );
    assert!(
        delivered >= at.saturating_add(transit),
        "{transfer:?} injected at {at} is delivered at {delivered}, before its transit of {transit}"
    );
}

/// Transfers between some hosts, of all sizes that the network can be asked to simulate often.
fn transfers<N: Network>(_: &N, hosts: u32) -> impl Iterator<Item = Transfer> + use<N> {
    // All pairs of a few hosts from either end of the numbering, and each of these to itself.
    let some = move |host: &u32| *host < 3 || host + 3 > hosts;
    (0..hosts).filter(some).flat_map(move |source| {
        (0..hosts).filter(some).flat_map(move |destination| {
            let sizes = SIZES.into_iter().filter(|bytes| N::DIRECT || *bytes <= 65_537);
            sizes.map(move |bytes| Transfer::new(HostId(source), HostId(destination), bytes))
        })
    })
}

/// A message that is alone takes what [`Network::uncontended`] says, whenever it is injected.
fn alone<N: Network>(network: &N, hosts: u32) {
    for transfer in transfers(network, hosts) {
        for at in [Time::ZERO, Time::from_ps(1), Time::from_ps(123_456_789)] {
            let expected = at.saturating_add(network.uncontended(transfer).transit);
            assert_eq!(
                together(network, hosts, &[(at, transfer)]),
                [expected],
                "{transfer:?} alone"
            );
        }
    }
}

/// So does every message of a series in which each is injected when the one before it has been
/// delivered and both interfaces are done with it.
fn idle<N: Network>(network: &N, hosts: u32) {
    let mut at = Time::ZERO;
    let mut messages = Vec::new();
    let mut expected = Vec::new();
    for transfer in transfers(network, hosts) {
        let alone = network.uncontended(transfer);
        messages.push((at, transfer));
        let delivered = at.saturating_add(alone.transit);
        expected.push(delivered);
        at = delivered.saturating_add(alone.leaving).saturating_add(alone.draining);
    }
    let delivered = together(network, hosts, &messages);
    for ((found, expected), message) in delivered.into_iter().zip(expected).zip(messages) {
        assert_eq!(found, expected, "{message:?} on an idle network");
    }
}

/// Checks networks in which the injection decides: of two messages at a time that share their
/// source, their destination, both, or nothing: the first takes what it takes alone.
fn pairs<N: Network>(network: &N, hosts: u32) {
    for first in transfers(network, hosts) {
        for second in transfers(network, hosts).filter(|second| second.bytes == first.bytes) {
            let delivered = together(network, hosts, &[(Time::ZERO, first), (Time::ZERO, second)]);
            let alone = network.uncontended(first).transit;
            assert_eq!(delivered[0], alone, "{first:?}, together with {second:?}");
        }
    }
}

/// Messages of equal size from one host to another arrive in the order of their injection.
fn order<N: Network>(network: &N, hosts: u32) {
    for transfer in transfers(network, hosts) {
        let messages: Vec<_> =
            (0..20).map(|number| (Time::from_ps(number / 4 * 100), transfer)).collect();
        let delivered = together(network, hosts, &messages);
        assert!(delivered.is_sorted(), "{transfer:?} twenty times: delivered at {delivered:?}");
    }
}

/// A delivery past the range of time is [`Time::MAX`], not an early one.
fn range<N: Network>(network: &N, hosts: u32) {
    let at = Time::from_ps(u64::MAX - 1);
    for transfer in transfers(network, hosts) {
        for transfer in [transfer, Transfer { bytes: u64::MAX, ..transfer }] {
            together(network, hosts, &[(at, transfer)]);
        }
    }
}

/// Everything that is injected is delivered once, and at the same times in the same order, however
/// many workers share the hosts and however messages travel between them. Half of the messages
/// come from a script, the others answer those at the instant of their delivery.
fn workers<N: Network>(network: &N, hosts: u32) {
    for seed in 1..=2 {
        let script = Script::random(hosts, seed);
        let expected = play(network, &script, 1, TransportKind::Shared);
        check_conservation(network, &expected);
        check_deliveries(network, &expected);
        for transport in [TransportKind::Shared, TransportKind::Serialised] {
            for workers in [1, 2, 3, 7] {
                let found = play(network, &script, workers, transport);
                assert!(found == expected, "{workers} workers, {transport:?}: not as with one");
            }
        }
    }
}

/// Checks that nothing depends on the order in which devices act within a window; every signal
/// takes the lookahead, counted from the instant at which it is sent; and nothing is told after its
/// time. This also holds for networks in which [`Network::uncontended`] is not the least time of a
/// message, such as those that pause now and then.
///
/// # Panics
///
/// If the model breaks the contract.
pub fn shuffled<N: Network>(network: &N, hosts: u32) {
    let script = Script::random(hosts, 3);
    let checked = |shuffle, workers| {
        let checked = Checked { inside: network, shuffle };
        play(&checked, &script, workers, TransportKind::Serialised)
    };
    let expected = checked(None, 1);
    check_conservation(network, &expected);
    let windows = play(network, &script, 1, TransportKind::Shared);
    assert!(windows == expected, "a window at a time: not as an instant at a time");
    for seed in 1..=2 {
        let found = checked(Some(seed), 2);
        assert!(found == expected, "devices in another order: not as in their own");
    }
}

/// A network that tells it says of each message once when it has left, not before it entered nor
/// after it is delivered. One that waits for answers says so after two lookaheads or later, unless
/// the message is for its own host.
fn check_left<N: Network>(network: &N, logs: &[Log]) {
    let answered = network.waits_for_answers();
    let round_trip = network.lookahead().saturating_add(network.lookahead());
    let delivered: BTreeMap<_, _> = logs
        .iter()
        .flat_map(|log| &log.delivered)
        .map(|(at, injection)| ((injection.transfer.source.0, injection.sequence), *at))
        .collect();
    for (host, log) in (0..).zip(logs) {
        let mut left: Vec<u32> = log.left.iter().map(|(_, sequence)| *sequence).collect();
        left.sort_unstable();
        let all = if N::TELLS_LEFT { log.injected.len() as u32 } else { 0 };
        assert!(left.into_iter().eq(0..all), "host {host}: not each message has left once");
        for &(at, sequence) in &log.left {
            let Injection { at: entered, transfer, .. } = log.injected[sequence as usize];
            let remote = transfer.source != transfer.destination;
            let wait = if answered && remote { round_trip } else { Time::ZERO };
            let earliest = entered.saturating_add(wait);
            assert!(at >= earliest, "message {sequence} of {host} left at {at}, before {earliest}");
            let delivered = delivered.get(&(host, sequence)).copied().unwrap_or(Time::MAX);
            assert!(
                at <= delivered || answered,
                "message {sequence} of {host} left at {at}, after its delivery at {delivered}"
            );
        }
    }
}

/// Each injected message is delivered exactly once, at its own destination.
fn check_conservation<N: Network>(network: &N, logs: &[Log]) {
    let key = |injection: &Injection| {
        let Injection { at, transfer, sequence, .. } = *injection;
        (transfer.source, sequence, at, transfer.destination, transfer.bytes)
    };
    let mut injected: Vec<_> = logs.iter().flat_map(|log| &log.injected).map(key).collect();
    let arrived = logs.iter().flat_map(|log| &log.delivered);
    let mut delivered: Vec<_> = arrived.map(|(_, injection)| key(injection)).collect();
    injected.sort_unstable();
    delivered.sort_unstable();
    assert_eq!(injected, delivered, "what is delivered is not what was injected");
    check_left(network, logs);
}

/// None of the messages is faster than it would be alone.
fn check_deliveries<N: Network>(network: &N, logs: &[Log]) {
    for (time, injection) in logs.iter().flat_map(|log| &log.delivered) {
        check_delivery(network, injection.at, injection.transfer, *time);
    }
}

#[cfg(test)]
mod hub;
#[cfg(test)]
mod tests;
