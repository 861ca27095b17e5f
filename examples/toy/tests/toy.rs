//! The bus meets the contract of networks, and the token takes what its closed form says.

use std::sync::atomic::{AtomicU64, Ordering};

use host::{Settings, simulate_over};
use kernel::{Silent, TransportKind};
use loggops::{Costs, Parameters};
use network::{Lines, Script, Traced, Transfer, conformance};
use toy::{Bus, Token};
use units::{HostId, Time, TimePerByte};

/// A bus of 10 Gb/s, 100 ns from each host.
fn bus(hosts: u32) -> Bus {
    let per_byte = TimePerByte::new(800, 1).expect("a rate");
    Bus { hosts, delay: Time::from_ps(100_000), per_byte }
}

#[test]
fn conforms() {
    for hosts in [2, 3, 40] {
        conformance::all(&bus(hosts), hosts);
    }
}

/// Two messages of 1000 bytes that enter at once: the bus takes 800 ns for each, and the second
/// waits for the first.
#[test]
fn messages_wait_for_each_other() {
    let messages = [0, 1].map(|host| (Time::ZERO, Transfer::new(HostId(host), HostId(2), 1000)));
    let delivered = conformance::together(&bus(3), 3, &messages);
    assert_eq!(delivered, [1_000_000, 1_800_000].map(Time::from_ps));
}

/// Hosts that pay an overhead o = 1500 ns at either end of a message, and nothing else.
fn overheads() -> Parameters {
    let (gap, gap_per_byte) = (Time::ZERO, TimePerByte::ZERO);
    let costs = Costs { gap, gap_per_byte, ..Costs::loggopsim() };
    Parameters { small: costs, large: costs, ..Parameters::default() }
}

/// Each of the n hops of the token costs o = 1500 ns to send, 100 + 800 + 100 ns on the bus for
/// 1000 bytes, and o to receive, on any number of threads.
#[test]
fn the_token_takes_its_closed_form() {
    for threads in [1, 2, 3] {
        for ranks in [2, 3, 17] {
            let settings = Settings { parameters: overheads(), threads, ..Settings::default() };
            let token = Token { ranks, bytes: 1000 };
            let (outcome, _) =
                simulate_over(&bus(ranks), None, &token, &settings, || Silent).expect("a result");
            let hop = 1_500_000 + 1_000_000 + 1_500_000;
            let end = outcome.ranks.iter().map(|rank| rank.finish).max();
            assert_eq!(end, Some(Time::from_ps(u64::from(ranks) * hop)));
        }
    }
}

/// A traced network is the network inside.
#[test]
fn a_traced_bus_conforms() {
    let signals = AtomicU64::new(0);
    let count = |_: &_| {
        signals.fetch_add(1, Ordering::Relaxed);
    };
    conformance::all(&Traced::new(bus(3), count), 3);
    assert!(signals.into_inner() > 1000);
}

/// Hosts 0 and 1 send 1000 bytes to host 2 at once. Their requests reach the bus, number 3, after
/// 100 ns. It takes 800 ns for each, and the cable 100 ns more. The text is the same with any
/// number of workers.
#[test]
fn a_trace_has_a_line_for_each_signal() {
    let messages = [1, 0].map(|host| (Time::ZERO, Transfer::new(HostId(host), HostId(2), 1000)));
    for workers in [1, 2, 3, 7] {
        let lines = Lines::default();
        let traced = Traced::new(bus(3), |sent: &_| lines.keep(sent));
        let script = Script::of(3, &messages);
        script.play(&traced, workers, TransportKind::Shared).expect("it arrives");
        let mut text = Vec::new();
        lines.write(&mut text).expect("memory");
        let signal = |source| {
            format!(
                "Signal {{ source: HostId({source}), destination: HostId(2), bytes: 1000, id: \
                 MessageId(0) }}"
            )
        };
        let expected = format!(
            "100000 0 3 {}\n100000 1 3 {}\n1000000 3 2 {}\n1800000 3 2 {}\n",
            signal(0),
            signal(1),
            signal(0),
            signal(1)
        );
        assert_eq!(String::from_utf8_lossy(&text), expected, "{workers} workers");
    }
}
