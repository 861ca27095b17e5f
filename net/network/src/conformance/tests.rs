//! The suite accepts a simple model that keeps the contract, and catches those that break it.

use units::{HostId, Time};

use super::{all, together};
use crate::{Direct, Transfer, Uncontended};

/// A defect of a [`Link`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    /// The link of an idle host still counts as used.
    Lazy,
    /// The first message of a host takes longer.
    Slow,
    /// Every third message overtakes.
    Overtakes,
    /// Lookahead longer than the latency.
    Impatient,
    /// A time past the range begins again at zero.
    Wraps,
}

/// A host's own link carries one message after the other: 1 ps per byte, then a latency.
struct Link {
    latency: u64,
    defect: Defect,
}

#[derive(Default)]
struct Interface {
    free: u64,
    messages: u64,
}

impl Direct for Link {
    type Interface = Interface;

    fn interface(&self, _: HostId) -> Interface {
        Interface::default()
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(self.latency + u64::from(self.defect == Defect::Impatient))
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let bytes = Time::from_ps(transfer.bytes);
        let transit = Time::from_ps(self.latency).saturating_add(bytes);
        Uncontended { transit, leaving: bytes, ..Uncontended::default() }
    }

    fn inject(&self, interface: &mut Interface, at: Time, transfer: Transfer) -> Time {
        interface.messages += 1;
        let start = interface.free.max(at.ps());
        let free = start.saturating_add(transfer.bytes);
        let lazy = if self.defect == Defect::Lazy { self.latency * 3 } else { 0 };
        interface.free = free.saturating_add(lazy);
        let delivered = free.saturating_add(self.latency);
        Time::from_ps(match self.defect {
            Defect::Slow if interface.messages == 1 => delivered.saturating_add(1),
            Defect::Overtakes if !interface.messages.is_multiple_of(3) => {
                delivered.saturating_add(if start > at.ps() { transfer.bytes * 4 } else { 0 })
            }
            Defect::Wraps => at.ps().wrapping_add(transfer.bytes).wrapping_add(self.latency),
            _ => delivered,
        })
    }
}

#[test]
fn accepts_a_link() {
    for latency in [0, 1, 1_000_000] {
        all(&Link { latency, defect: Defect::None }, 2);
        all(&Link { latency, defect: Defect::None }, 33);
    }
}

/// The second of two messages of 100 bytes waits for the first: 200 ps and the latency.
#[test]
fn sharing() {
    let link = Link { latency: 50, defect: Defect::None };
    let transfer = Transfer::new(HostId(1), HostId(0), 100);
    let elsewhere = Transfer { destination: HostId(2), ..transfer };
    for second in [transfer, elsewhere] {
        let times = together(&link, 3, &[(Time::ZERO, transfer), (Time::ZERO, second)]);
        assert_eq!(times, [Time::from_ps(150), Time::from_ps(250)]);
    }
    let other = Transfer { source: HostId(2), ..transfer };
    let times = together(&link, 3, &[(Time::ZERO, transfer), (Time::ZERO, other)]);
    assert_eq!(times, [Time::from_ps(150), Time::from_ps(150)]);
}

#[test]
#[should_panic(expected = "on an idle network")]
fn catches_time_lost_on_an_idle_network() {
    all(&Link { latency: 10, defect: Defect::Lazy }, 4);
}

#[test]
#[should_panic(expected = "alone")]
fn catches_another_time_than_uncontended() {
    all(&Link { latency: 10, defect: Defect::Slow }, 4);
}

#[test]
#[should_panic(expected = "twenty times")]
fn catches_overtaking() {
    all(&Link { latency: 10, defect: Defect::Overtakes }, 4);
}

#[test]
#[should_panic(expected = "less than the lookahead")]
fn catches_a_lookahead_that_does_not_hold() {
    all(&Link { latency: 0, defect: Defect::Impatient }, 4);
}

#[test]
#[should_panic(expected = "before its transit")]
fn catches_a_wrap() {
    all(&Link { latency: 10, defect: Defect::Wraps }, 4);
}

/// A delivery that depends on how many messages any host has injected so far.
#[test]
#[should_panic(expected = "not as with one")]
fn catches_state_outside_the_interfaces() {
    use std::sync::atomic::{AtomicU64, Ordering};
    struct Shared(AtomicU64);
    impl Direct for Shared {
        type Interface = ();
        fn interface(&self, _: HostId) {}
        fn lookahead(&self) -> Time {
            Time::from_ps(10)
        }
        fn uncontended(&self, _: Transfer) -> Uncontended {
            Uncontended { transit: Time::from_ps(10), ..Uncontended::default() }
        }
        fn inject(&self, (): &mut (), at: Time, transfer: Transfer) -> Time {
            let used = self.0.fetch_add(1, Ordering::Relaxed);
            // A size that only the driver's random traffic has.
            let late = if transfer.bytes == 3 { used } else { 0 };
            at.saturating_add(Time::from_ps(10 + late))
        }
    }
    all(&Shared(AtomicU64::new(0)), 4);
}
