//! The suite that every model of a network passes.
//!
//! The tests of a model call [`all`] for each of its parameter sets, and [`together`] for what
//! messages that share something do to each other. Every function panics, with what it saw, if the
//! model breaks the contract.

mod driver;

use units::Time;

use crate::{Network, Nowhere, Parcel};
use driver::{Injection, Script};

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
}

/// Injects messages in this order, each at its time, into a fresh network of `hosts` hosts, and
/// returns when they are delivered. None is faster than it would be alone, or than the lookahead.
///
/// # Panics
///
/// If one is.
pub fn together<N: Network>(network: &N, hosts: u32, messages: &[(Time, Parcel)]) -> Vec<Time> {
    let delivered = if N::DIRECT {
        directly(network, hosts, messages)
    } else {
        played(network, hosts, messages)
    };
    for (&(at, parcel), &delivered) in messages.iter().zip(&delivered) {
        check_delivery(network, at, parcel, delivered);
    }
    delivered
}

fn directly<N: Network>(network: &N, hosts: u32, messages: &[(Time, Parcel)]) -> Vec<Time> {
    let mut interfaces: Vec<N::Interface> =
        (0..hosts).map(|host| network.interface(host)).collect();
    let deliver = |(number, &(at, parcel)): (u64, &(Time, Parcel))| {
        let interface = &mut interfaces[parcel.source as usize];
        let answer = network.inject(interface, at, parcel, number, &mut Nowhere);
        assert!(answer.is_some(), "{parcel:?}: a direct network does not answer");
        answer.unwrap_or_default()
    };
    (0..).zip(messages).map(deliver).collect()
}

fn played<N: Network>(network: &N, hosts: u32, messages: &[(Time, Parcel)]) -> Vec<Time> {
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by_key(|&message| messages[message].0);
    let sorted: Vec<_> = order.iter().map(|&message| messages[message]).collect();
    let logs = Script::of(hosts, &sorted).play(network, 1, kernel::Transport::Shared);
    check_conservation(network, &logs);
    let mut numbers = vec![0; hosts as usize];
    let mut delivered = vec![Time::ZERO; messages.len()];
    for message in order {
        let parcel = messages[message].1;
        let number = &mut numbers[parcel.source as usize];
        let arrived = &logs[parcel.destination as usize].delivered;
        let found = arrived.iter().find(|(_, injection)| {
            injection.parcel.source == parcel.source && injection.sequence == *number
        });
        delivered[message] = found.map_or(Time::MAX, |(at, _)| *at);
        *number += 1;
    }
    delivered
}

/// No message is faster than the lookahead, or than it would be alone.
fn check_delivery<N: Network>(network: &N, at: Time, parcel: Parcel, delivered: Time) {
    let (lookahead, transit) = (network.lookahead(), network.uncontended(parcel).transit);
    let local = !N::DIRECT && parcel.source == parcel.destination;
    assert!(
        transit >= lookahead || local,
        "{parcel:?}: {transit} is less than the lookahead {lookahead}"
    );
    assert!(
        delivered >= at.saturating_add(transit),
        "{parcel:?} injected at {at} is delivered at {delivered}, before its transit of {transit}"
    );
}

/// Parcels between some hosts, of all sizes that the network can be asked to simulate often.
fn parcels<N: Network>(_: &N, hosts: u32) -> impl Iterator<Item = Parcel> + use<N> {
    // All pairs of a few hosts from either end of the numbering, and each of these to itself.
    let some = move |host: &u32| *host < 3 || host + 3 > hosts;
    (0..hosts).filter(some).flat_map(move |source| {
        (0..hosts).filter(some).flat_map(move |destination| {
            let sizes = SIZES.into_iter().filter(|bytes| N::DIRECT || *bytes <= 65_537);
            sizes.map(move |bytes| Parcel { source, destination, bytes })
        })
    })
}

/// A message that is alone takes what [`Network::uncontended`] says, whenever it is injected.
fn alone<N: Network>(network: &N, hosts: u32) {
    for parcel in parcels(network, hosts) {
        for at in [Time::ZERO, Time::from_ps(1), Time::from_ps(123_456_789)] {
            let expected = at.saturating_add(network.uncontended(parcel).transit);
            assert_eq!(together(network, hosts, &[(at, parcel)]), [expected], "{parcel:?} alone");
        }
    }
}

/// So does every message of a series in which each is injected when the one before it has been
/// delivered and both interfaces are done with it.
fn idle<N: Network>(network: &N, hosts: u32) {
    let mut at = Time::ZERO;
    let mut messages = Vec::new();
    let mut expected = Vec::new();
    for parcel in parcels(network, hosts) {
        let alone = network.uncontended(parcel);
        messages.push((at, parcel));
        let delivered = at.saturating_add(alone.transit);
        expected.push(delivered);
        at = delivered.saturating_add(alone.leaving).saturating_add(alone.draining);
    }
    let delivered = together(network, hosts, &messages);
    for ((found, expected), message) in delivered.into_iter().zip(expected).zip(messages) {
        assert_eq!(found, expected, "{message:?} on an idle network");
    }
}

/// Where the injection decides: two messages at a time that share their source, their destination,
/// both, or nothing: the first takes what it takes alone.
fn pairs<N: Network>(network: &N, hosts: u32) {
    for first in parcels(network, hosts) {
        for second in parcels(network, hosts).filter(|second| second.bytes == first.bytes) {
            let delivered = together(network, hosts, &[(Time::ZERO, first), (Time::ZERO, second)]);
            let alone = network.uncontended(first).transit;
            assert_eq!(delivered[0], alone, "{first:?}, together with {second:?}");
        }
    }
}

/// Messages of equal size from one host to another arrive in the order of their injection.
fn order<N: Network>(network: &N, hosts: u32) {
    for parcel in parcels(network, hosts) {
        let messages: Vec<_> =
            (0..20).map(|number| (Time::from_ps(number / 4 * 100), parcel)).collect();
        let delivered = together(network, hosts, &messages);
        assert!(delivered.is_sorted(), "{parcel:?} twenty times: delivered at {delivered:?}");
    }
}

/// A delivery past the range of time is [`Time::MAX`], not an early one.
fn range<N: Network>(network: &N, hosts: u32) {
    let at = Time::from_ps(u64::MAX - 1);
    for parcel in parcels(network, hosts) {
        for parcel in [parcel, Parcel { bytes: u64::MAX, ..parcel }] {
            together(network, hosts, &[(at, parcel)]);
        }
    }
}

/// Everything that is injected is delivered once, and at the same times in the same order, however
/// many workers share the hosts and however messages travel between them. Half of the messages
/// come from a script, the others answer those at the instant of their delivery.
fn workers<N: Network>(network: &N, hosts: u32) {
    for seed in 1..=2 {
        let script = Script::random(hosts, seed);
        let expected = script.play(network, 1, kernel::Transport::Shared);
        check_conservation(network, &expected);
        for transport in [kernel::Transport::Shared, kernel::Transport::Serialised] {
            for workers in [1, 2, 7] {
                let found = script.play(network, workers, transport);
                assert!(found == expected, "{workers} workers, {transport:?}: not as with one");
            }
        }
    }
}

/// What was injected anywhere is what was delivered anywhere.
fn check_conservation<N: Network>(network: &N, logs: &[driver::Log]) {
    let key = |injection: &Injection| {
        let Injection { at, parcel, sequence } = *injection;
        (parcel.source, sequence, at, parcel.destination, parcel.bytes)
    };
    let mut injected: Vec<_> = logs.iter().flat_map(|log| &log.injected).map(key).collect();
    let arrived = || logs.iter().flat_map(|log| &log.delivered);
    let mut delivered: Vec<_> = arrived().map(|(_, injection)| key(injection)).collect();
    injected.sort_unstable();
    delivered.sort_unstable();
    assert_eq!(injected, delivered, "what is delivered is not what was injected");
    for (time, injection) in arrived() {
        check_delivery(network, injection.at, injection.parcel, *time);
    }
}

#[cfg(test)]
mod tests;
