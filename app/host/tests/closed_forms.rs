//! Patterns whose makespan has a closed form, among hundreds and thousands of ranks.
//!
//! With q = s - 1 bytes after the first, a message sent at a arrives at a + o + L. Its sender's CPU
//! is busy until a + o + qO, its sender's interface until a + γ, γ = g + qG. An idle receiver takes
//! it from r = max(a + o + L, a + o + qO), if it sent a message of its own at a, or from a + o + L,
//! to r + o + M, M = q max(O, G).

use std::sync::{Arc, atomic::Ordering};

use host::{Error, Meter, Outcome, Settings, simulate, simulate_loggopsim};
use kernel::Silent;
use loggops::{Costs, Parameters};
use schedule::pattern::{Options, Pattern};
use units::{Time, TimePerByte};

/// L, o, g, G, O in nanoseconds (per byte).
type Machine = [u64; 5];

const MACHINES: [Machine; 8] = [
    [2500, 1500, 1000, 6, 0],
    [2500, 1500, 1000, 6, 20],
    // The gap between messages decides.
    [2500, 1500, 20_000, 6, 0],
    [10, 1, 0, 0, 0],
    [2500, 0, 0, 6, 1],
    [0, 1500, 1000, 6, 0],
    [0, 0, 1000, 6, 0],
    // So does g + qG, though g alone would not.
    [0, 10, 40, 6, 0],
];

fn settings([latency, overhead, gap, gap_byte, overhead_byte]: Machine) -> Settings {
    let ns = |ns: u64| Time::from_ps(ns * 1000);
    let rate = |ns: u64| TimePerByte::new(ns * 1000, 1).expect("one byte");
    let costs = Costs {
        latency: ns(latency),
        send_overhead: ns(overhead),
        receive_overhead: ns(overhead),
        gap: ns(gap),
        gap_per_byte: rate(gap_byte),
        send_overhead_per_byte: rate(overhead_byte),
        receive_overhead_per_byte: rate(overhead_byte),
    };
    let parameters = Parameters { small: costs, large: costs, ..Parameters::default() };
    Settings { parameters, ..Settings::default() }
}

fn makespan(outcome: &Outcome) -> u64 {
    outcome.ranks.iter().map(|rank| rank.finish.ps()).max().unwrap_or(0) / 1000
}

#[track_caller]
fn check(name: &str, ranks: u32, size: u64, machine: Machine, expected: u64) {
    let pattern = Pattern::build(name, &Options::new(ranks, size)).expect("a pattern");
    let case = format!("{name}, {ranks} ranks, {size} B, {machine:?}");
    for threads in [1, 2] {
        let settings = Settings { threads, ..settings(machine) };
        let (outcome, _) = simulate(&pattern, &settings, || Silent).expect("it runs");
        assert_eq!(outcome.deadlock, None, "{case}");
        assert_eq!(makespan(&outcome), expected, "{case}, {threads} threads");
    }
    let (outcome, _) = simulate_loggopsim(&pattern, &settings(machine), Silent).expect("it runs");
    assert_eq!(makespan(&outcome), expected, "{case}, compat");
}

fn rounds(ranks: u32) -> u64 {
    u64::from(ranks.next_power_of_two().trailing_zeros())
}

/// From a rank's send to the end of its reception of the message sent to it at the same time.
fn exchange([latency, overhead, _, gap_byte, overhead_byte]: Machine, size: u64) -> u64 {
    let q = size - 1;
    2 * overhead + latency.max(q * overhead_byte) + q * gap_byte.max(overhead_byte)
}

/// From one rank's send to the end of another's reception.
fn hop([latency, overhead, _, gap_byte, overhead_byte]: Machine, size: u64) -> u64 {
    2 * overhead + latency + (size - 1) * gap_byte.max(overhead_byte)
}

/// From one message to the next out of an interface: γ.
fn spacing([_, _, gap, gap_byte, _]: Machine, size: u64) -> u64 {
    gap + (size - 1) * gap_byte
}

/// K steps in which every rank sends and receives a message, each after the last one's reception:
/// with P for an exchange, (K - 1) max(P, γ) + P, because receptions keep the distance γ if the
/// sends do.
fn steps(count: u64, machine: Machine, size: u64) -> u64 {
    let exchange = exchange(machine, size);
    (count - 1) * exchange.max(spacing(machine, size)) + exchange
}

/// ceil(log2 n) steps.
#[test]
fn dissemination() {
    for ranks in [2, 648, 1000, 16_384] {
        for size in [1, 15, 180] {
            for machine in MACHINES {
                let expected = steps(rounds(ranks), machine, size);
                check("dissemination", ranks, size, machine, expected);
            }
        }
    }
    // 10 (2 * 1500 + 2500 + 14 * 6) for 648 ranks by the defaults.
    assert_eq!(steps(rounds(648), MACHINES[0], 15), 55_840);
}

/// 2 (n - 1) steps with the n-th part of the vector.
#[test]
fn allreduce_ring() {
    for ranks in [2, 3, 100] {
        for part in [1, 15, 180] {
            for machine in MACHINES {
                let expected = steps(2 * u64::from(ranks - 1), machine, part);
                check("allreduce-ring", ranks, part * u64::from(ranks), machine, expected);
            }
        }
    }
}

/// Sends of one rank are x = max(o + qO, γ) apart, and a rank sends as soon as it has received. A
/// rank whose number has m ones among K bits gets the message after m hops H and K - m earlier
/// sends on the way: m H + (K - m) x. The last rank has one 1 or all, so the makespan is max(K H, H
/// + (K - 1) x).
#[test]
fn binomial_broadcast() {
    for k in [1, 4, 10, 14] {
        for size in [1, 15, 180] {
            for machine in MACHINES {
                let [_, overhead, _, _, overhead_byte] = machine;
                let apart = (overhead + (size - 1) * overhead_byte).max(spacing(machine, size));
                let hop = hop(machine, size);
                let expected = (k * hop).max(hop + (k - 1) * apart);
                check("binomial-bcast", 1 << k, size, machine, expected);
            }
        }
    }
}

/// n - 1 hops of one segment that is the whole message.
#[test]
fn a_line() {
    for ranks in [2, 3, 500] {
        for machine in MACHINES {
            let expected = u64::from(ranks - 1) * hop(machine, 1);
            check("pipelined-ring", ranks, 1, machine, expected);
        }
    }
}

/// A meter that is told to stop ends a run early, over either engine.
#[test]
fn a_meter_stops_a_run() {
    let pattern = Pattern::build("dissemination", &Options::new(4096, 8)).expect("a pattern");
    let meter = Arc::new(Meter::default());
    let settings = Settings { progress: Some(Arc::clone(&meter)), ..settings(MACHINES[0]) };
    let run = || simulate(&pattern, &settings, || Silent).err();
    let run_loggopsim = || simulate_loggopsim(&pattern, &settings, Silent).err();
    assert_eq!((run(), run_loggopsim()), (None, None));
    meter.stop.store(true, Ordering::Relaxed);
    assert_eq!((run(), run_loggopsim()), (Some(Error::Stopped), Some(Error::Stopped)));
}
