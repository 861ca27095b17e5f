//! The wire of LogGOPS passes the suite of all networks, whatever its parameters.

use std::sync::Arc;

use loggops::{Class, Classes, Costs, Inject, Parameters};
use network::{Network, Transfer, conformance};
use units::{HostId, Time, TimePerByte};

fn latency(ns: u64) -> Costs {
    Costs { latency: Time::from_ps(ns * 1000), ..Costs::loggopsim() }
}

/// Parameter sets by what distinguishes them.
fn sets() -> [(&'static str, Parameters); 6] {
    let standard = Parameters::default();
    let fast = TimePerByte::new(1, 3).expect("a rate");
    let costs = Costs { gap: Time::ZERO, gap_per_byte: fast, ..latency(700) };
    [
        ("LogGOPSim's", standard),
        ("zero latency", Parameters { small: latency(0), large: latency(0), ..standard }),
        ("nothing costs anything", {
            let free = Costs {
                send_overhead: Time::ZERO,
                receive_overhead: Time::ZERO,
                gap_per_byte: TimePerByte::ZERO,
                gap: Time::ZERO,
                ..latency(0)
            };
            Parameters { small: free, large: free, ..standard }
        }),
        ("a third of a picosecond per byte", Parameters { small: costs, large: costs, ..standard }),
        ("large messages slower", Parameters { large: latency(9000), ..standard }),
        (
            "large messages faster, entering early, all but empty ones large",
            Parameters { large: latency(100), eager_limit: 0, inject: Inject::Start, ..standard },
        ),
    ]
}

#[test]
fn conforms() {
    for (name, parameters) in sets() {
        println!("{name}");
        for hosts in [2, 3, 40] {
            conformance::all(&parameters.wire(None), hosts);
        }
    }
}

/// Classes of pairs: hosts 0 and 1 are near each other, with large messages that are slower still;
/// hosts 1 and 2 are far from each other, and all others are as the network has it.
fn classes() -> Arc<Classes> {
    let near = Class { small: latency(100), large: latency(400) };
    let far = Class { small: latency(7000), large: latency(7000) };
    let mut classes = Classes::new(vec![near, far]);
    for (pair, class) in [([0, 1], 0), ([2, 1], 1)] {
        assert_eq!(classes.put(pair.map(HostId), class), None);
    }
    Arc::new(classes)
}

#[test]
fn conforms_with_classes() {
    for (name, parameters) in sets() {
        println!("{name}");
        for hosts in [2, 3, 40] {
            conformance::all(&parameters.wire(Some(classes())), hosts);
        }
    }
}

/// The lookahead is the least L of any pair. A pair without a class has L = 2500 ns; the others
/// have their own in both directions.
#[test]
fn pairs_have_the_latency_of_their_class() {
    let wire = Parameters::default().wire(Some(classes()));
    assert_eq!(wire.lookahead(), Time::from_ps(100_000));
    let transit = |source, destination, bytes| {
        let transfer = Transfer::new(HostId(source), HostId(destination), bytes);
        wire.uncontended(transfer).transit.ps() / 1000
    };
    assert_eq!((transit(0, 1, 1), transit(1, 0, 65_536)), (100, 400));
    assert_eq!((transit(1, 2, 1), transit(2, 1, 1), transit(0, 2, 65_536)), (7000, 7000, 2500));
}

/// Messages do not share anything but their order: of one each of 1 byte and of 1 MiB, and two more
/// from the same source to the same destination at the same time, the first takes L = 2500 ns and
/// the others, large or behind a large one, L = 9000 ns. To another destination it is 2500 again.
#[test]
fn only_order_is_shared() {
    let parameters = Parameters { large: latency(9000), ..Parameters::default() };
    let small = Transfer::new(HostId(0), HostId(1), 1);
    let large = Transfer { bytes: 1 << 20, ..small };
    let at = Time::from_ps(5_000_000);
    let elsewhere = Transfer { destination: HostId(2), ..small };
    let messages = [small, large, small, large, elsewhere].map(|transfer| (at, transfer));
    let delivered = conformance::together(&parameters.wire(None), 3, &messages);
    let [early, late] = [7_500_000, 14_000_000].map(Time::from_ps);
    assert_eq!(delivered, [early, late, late, late, early]);
}

/// The lookahead is the smaller L, and S bytes are still small. Whatever G is, the wire is not busy
/// with a message; the interfaces of the hosts are.
#[test]
fn uncontended() {
    let wire = Parameters { large: latency(9000), ..Parameters::default() }.wire(None);
    assert_eq!(wire.lookahead(), Time::from_ps(2_500_000));
    let transfer = Transfer::new(HostId(0), HostId(1), 65_535);
    let small = wire.uncontended(transfer);
    assert_eq!(small.transit, Time::from_ps(2_500_000));
    assert_eq!((small.leaving, small.draining), (Time::ZERO, Time::ZERO));
    let large = wire.uncontended(Transfer { bytes: 65_536, ..transfer });
    assert_eq!(large.transit, Time::from_ps(9_000_000));
}
