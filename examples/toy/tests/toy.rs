//! The bus meets the contract of networks, and the token takes what its closed form says.

use host::{Settings, simulate_over};
use kernel::Silent;
use loggops::{Costs, Parameters};
use network::{Transfer, conformance};
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
