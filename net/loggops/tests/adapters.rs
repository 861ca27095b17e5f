//! Interfaces that are busy with bytes pass the suite of all networks, alone and as rails; and what
//! they do is computed by hand.

use loggops::{Adapters, Costs, Loss, Parameters};
use network::{Network, Rails, Transfer, conformance};
use units::{HostId, Time, TimePerByte};

const fn ns(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

/// L, g, G in nanoseconds.
fn parameters([latency, gap, per_byte]: [u64; 3]) -> Parameters {
    let rate = TimePerByte::new(per_byte * 1000, 1).expect("a rate");
    let costs =
        Costs { latency: ns(latency), gap: ns(gap), gap_per_byte: rate, ..Costs::loggopsim() };
    Parameters { small: costs, large: costs, ..Parameters::default() }
}

fn adapters(machine: [u64; 3]) -> Adapters {
    Adapters::new(&parameters(machine), None)
}

const FAST: [u64; 3] = [1000, 400, 1];
const SLOW: [u64; 3] = [5000, 200, 10];

#[test]
fn conforms() {
    let two_speeds = Parameters { large: parameters(SLOW).small, ..parameters(FAST) };
    for network in [adapters(FAST), adapters([1, 0, 0]), Adapters::new(&two_speeds, None)] {
        conformance::all(&network, 7);
        conformance::all(&Rails::new(vec![network, adapters(SLOW)]), 7);
    }
}

fn to(destination: u32, bytes: u64) -> Transfer {
    Transfer::new(HostId(0), HostId(destination), bytes)
}

/// Two messages of 101 bytes at once: the first takes L + 100 G = 1100; the interface is free for
/// the second at 500. Two of two senders arrive together, and the receiver's interface is free for
/// the second at 1500.
#[test]
fn an_interface_is_busy_at_either_end() {
    let network = adapters(FAST);
    let sent = conformance::together(&network, 3, &[(ns(0), to(1, 101)), (ns(0), to(2, 101))]);
    assert_eq!(sent, [ns(1100), ns(1600)]);
    let other = Transfer::new(HostId(2), HostId(1), 101);
    let received = conformance::together(&network, 3, &[(ns(0), to(1, 101)), (ns(0), other)]);
    assert_eq!(received, [ns(1100), ns(1600)]);
    let idle = network.uncontended(to(1, 101));
    assert_eq!((idle.transit, idle.latency, idle.leaving), (ns(1100), ns(1000), ns(500)));
}

/// A tenth of the bandwidth is left from 1000 on, and all of it again from 20 000 on.
#[test]
fn a_loss_of_bandwidth() {
    let loss = Loss { from: ns(1000), until: ns(20_000), left: 100_000 };
    let network = Adapters::new(&parameters(FAST), Some(loss));
    let messages = [0, 1000, 30_000].map(|at| (ns(at), to(1, 101)));
    let delivered = conformance::together(&network, 2, &messages);
    assert_eq!(delivered, [ns(1100), ns(3000), ns(31_100)]);
}

/// The second message, over the fast rail, waits for the first, over the slow one; the third, to
/// another host, does not.
#[test]
fn rails_keep_the_order_of_messages() {
    let network = Rails::new(vec![adapters(FAST), adapters(SLOW)]);
    let slow = Transfer { rail: 1, ..to(1, 101) };
    let messages = [slow, to(1, 101), to(2, 1)].map(|transfer| (ns(0), transfer));
    let delivered = conformance::together(&network, 3, &messages);
    assert_eq!(delivered, [ns(6000), ns(6000), ns(1500)]);
}
