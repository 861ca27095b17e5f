//! `simulate_loggopsim` against the literal LogGOPSim, to the nanosecond.

use host::{Noise, Outcome, Settings, simulate_loggopsim};
use kernel::{Random, Silent};
use loggops::Costs;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schedule::Program;
use units::{Time, TimePerByte};

use crate::oracle::loggopsim::{Parameters, Result, simulate};
use crate::oracle::programs::{Variety, image, patterns, schedules};

const NS: u64 = 1_000;

type Difference = std::result::Result<(), String>;

const DEFAULT: Parameters = Parameters {
    latency: 2500,
    overhead: 1500,
    gap: 1000,
    gap_per_byte: 6,
    overhead_per_byte: 0,
    eager_limit: 65_535,
};

fn settings(parameters: Parameters) -> Settings {
    let per_byte = |ns| TimePerByte::new(ns * NS, 1).expect("one byte");
    let costs = Costs {
        latency: Time::from_ps(parameters.latency * NS),
        send_overhead: Time::from_ps(parameters.overhead * NS),
        receive_overhead: Time::from_ps(parameters.overhead * NS),
        gap: Time::from_ps(parameters.gap * NS),
        gap_per_byte: per_byte(parameters.gap_per_byte),
        send_overhead_per_byte: per_byte(parameters.overhead_per_byte),
        receive_overhead_per_byte: per_byte(parameters.overhead_per_byte),
    };
    let eager_limit = parameters.eager_limit;
    let parameters =
        loggops::Parameters { small: costs, large: costs, eager_limit, ..Default::default() };
    Settings { parameters, ..Settings::default() }
}

/// An outcome in the oracle's terms: finish times, events, and stuck operations.
fn said(outcome: &Outcome) -> (Vec<u64>, u64, Vec<(u32, u32, bool)>) {
    let finish = outcome.ranks.iter().map(|rank| rank.finish.ps()).collect();
    let pending = outcome.deadlock.iter().flat_map(|deadlock| &deadlock.pending);
    let pending = pending.map(|op| (op.rank, op.index, op.started)).collect();
    (finish, outcome.events, pending)
}

/// The oracle's result in these terms. Of a stuck rank, the operations that started count, or else
/// the first that waits for something that can still be told apart.
fn expected(result: &Result) -> (Vec<u64>, u64, Vec<(u32, u32, bool)>) {
    let finish = result.finish.iter().map(|ns| ns * NS).collect();
    let mut pending: Vec<_> = result.started.iter().map(|&(rank, op)| (rank, op, true)).collect();
    for &(rank, op) in &result.waiting {
        if !pending.iter().any(|&(stuck, ..)| stuck == rank) {
            pending.push((rank, op, false));
        }
    }
    pending.sort_unstable();
    (finish, result.events, pending)
}

/// Why a schedule is compared or not: see the tests of these cases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Odd {
    Compared,
    Skipped,
}

fn compare(program: &impl Program, parameters: Parameters, odd: Odd) -> Difference {
    let result = simulate(program, parameters, &|_, _, _| 0);
    if odd == Odd::Skipped && (result.released_twice || result.released_itself) {
        return Ok(());
    }
    let outcome = simulate_loggopsim(program, &settings(parameters), Silent);
    difference(&result, outcome.map(|(outcome, _)| outcome))
        .map_err(|text| format!("{parameters:?}\n{text}"))
}

fn difference(result: &Result, outcome: std::result::Result<Outcome, host::Error>) -> Difference {
    let past_range = result.finish.iter().any(|&ns| ns > u64::MAX / NS);
    let stuck = !(result.started.is_empty() && result.waiting.is_empty());
    if result.below_zero && (result.beyond || stuck || past_range) {
        // Something waits for a clock that stands at 2^64 less something.
        return match outcome {
            Err(host::Error::BelowZero { .. }) => Ok(()),
            other => Err(format!("LogGOPSim: {result:?}\nhere: {other:?}")),
        };
    }
    if past_range {
        // Past the range of times in picoseconds.
        return match outcome {
            Err(host::Error::Kernel(kernel::Error::Overflow { .. })) => Ok(()),
            other => Err(format!("LogGOPSim: {result:?}\nhere: {other:?}")),
        };
    }
    let outcome = outcome.map_err(|error| format!("LogGOPSim: {result:?}\nhere: {error}"))?;
    let (expected, found) = (expected(result), said(&outcome));
    if expected == found {
        Ok(())
    } else {
        Err(format!("LogGOPSim: {expected:?}\nhere:      {found:?}"))
    }
}

fn parameter_sets() -> Vec<Parameters> {
    let zero = Parameters {
        latency: 0,
        overhead: 0,
        gap: 0,
        gap_per_byte: 0,
        overhead_per_byte: 0,
        eager_limit: 65_535,
    };
    vec![
        DEFAULT,
        zero,
        Parameters { eager_limit: 0, ..zero },
        Parameters { overhead_per_byte: 1, ..DEFAULT },
        Parameters { overhead: 0, ..DEFAULT },
        Parameters { gap_per_byte: 0, overhead_per_byte: 5, ..DEFAULT },
        Parameters { gap: 20_000, ..DEFAULT },
        Parameters { eager_limit: 0, ..DEFAULT },
        Parameters { eager_limit: 100, ..DEFAULT },
        Parameters { latency: 0, ..DEFAULT },
        Parameters { gap: 0, gap_per_byte: 0, ..DEFAULT },
    ]
}

/// Compares on every pattern and asserts that nothing differs.
fn all_patterns(sizes: &[u64], sets: &[Parameters]) {
    let mut wrong = Vec::new();
    for ranks in [2, 3, 8, 13, 16] {
        for &size in sizes {
            for &parameters in sets {
                for (name, pattern) in patterns(ranks, size) {
                    if let Err(text) = compare(&pattern, parameters, Odd::Compared) {
                        wrong.push(format!("{name}, {ranks} ranks, {size} B: {text}"));
                    }
                }
            }
        }
    }
    let some = wrong[..wrong.len().min(5)].join("\n");
    assert!(wrong.is_empty(), "{} differ, among them\n{some}", wrong.len());
}

#[test]
fn every_pattern_under_every_parameter_set() {
    all_patterns(&[1, 15, 180, 4096, 65_535, 65_536, 100_000], &parameter_sets());
}

/// Messages of no bytes make (s-1) wrap.
#[test]
fn every_pattern_with_messages_of_no_bytes() {
    all_patterns(&[0], &parameter_sets());
}

/// With g < G the gap after a message of no bytes at time 0 ends at 2^64 - (G - g) ns: part E's
/// "NIC dead forever". Where something waits for that interface, the send is named in an error.
#[test]
fn every_pattern_with_gaps_that_wrap() {
    let sets = [
        Parameters { gap: 0, ..DEFAULT },
        Parameters { gap: 3, overhead_per_byte: 2, ..DEFAULT },
        Parameters { overhead: 1, overhead_per_byte: 2, ..DEFAULT },
    ];
    all_patterns(&[0, 15], &sets);
}

/// Small numbers, so that many things happen at the same time.
fn small_numbers() -> impl Strategy<Value = Parameters> {
    let limit = prop::sample::select(&[0u64, 2, 4, 100][..]);
    (0..6u64, 0..4u64, 0..5u64, 0..3u64, 0..3u64, limit).prop_map(
        |(latency, overhead, gap, gap_per_byte, overhead_per_byte, eager_limit)| Parameters {
            latency,
            overhead,
            gap,
            gap_per_byte,
            overhead_per_byte,
            eager_limit,
        },
    )
}

const PLAIN: Variety =
    Variety { resources: 1, odd: false, roomy: false, sizes: &[1, 2, 3, 5], steps: 24 };
const WIDE: Variety =
    Variety { resources: 3, odd: true, roomy: false, sizes: &[1, 2, 3, 5, 9], steps: 40 };
const EMPTY: Variety =
    Variety { resources: 2, odd: true, roomy: false, sizes: &[0, 0, 1, 3, 5], steps: 24 };

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(3_000)
    })]

    #[test]
    fn random_schedules(text in schedules(PLAIN), parameters in small_numbers()) {
        agree(&text, parameters)?;
    }

    #[test]
    fn random_schedules_on_several_resources(
        text in schedules(WIDE),
        parameters in small_numbers(),
    ) {
        agree(&text, parameters)?;
    }

    /// With o and g large enough that no clock runs backwards.
    #[test]
    fn random_schedules_with_messages_of_no_bytes(
        text in schedules(EMPTY),
        parameters in small_numbers(),
    ) {
        let byte = parameters.gap_per_byte.max(parameters.overhead_per_byte);
        let (overhead, gap) = (parameters.overhead + byte, parameters.gap + byte);
        agree(&text, Parameters { overhead, gap, ..parameters })?;
    }

    #[test]
    fn random_schedules_with_noise(
        text in schedules(WIDE),
        parameters in small_numbers(),
        seed in 0..100u64,
    ) {
        let difference = compare_with_noise(&image(&text), parameters, seed);
        difference.map_err(|difference| TestCaseError::fail(format!("{text}{difference}")))?;
    }
}

fn agree(text: &str, parameters: Parameters) -> std::result::Result<(), TestCaseError> {
    let difference = compare(&image(text), parameters, Odd::Skipped);
    difference.map_err(|difference| TestCaseError::fail(format!("{text}{difference}")))
}

/// Interruptions at 2..4 ns and 9..10 ns of every 10 ns, all ranks alike, from an offset that the
/// engine draws from the seed.
fn compare_with_noise(program: &impl Program, parameters: Parameters, seed: u64) -> Difference {
    const PERIOD: u64 = 10 * NS;
    const OFFSET: u32 = u32::from_be_bytes(*b"offs");
    let events = [(2 * NS, 2 * NS), (9 * NS, NS)];
    let offset = Random::new(seed, OFFSET).below(u32::MAX, 0, PERIOD);
    let noise = |_, from: u64, to: u64| {
        let inside = |ps: u64| events.iter().any(|(at, long)| (*at..at + long).contains(&ps));
        let ps = (from * NS..to * NS).filter(|ps| inside((ps + offset) % PERIOD));
        ps.count() as u64 / NS
    };
    let result = simulate(program, parameters, &noise);
    if result.released_twice || result.released_itself {
        return Ok(());
    }
    let events = events.map(|(at, long)| (Time::from_ps(at), Time::from_ps(long))).to_vec();
    let noise = Noise::Trace { events, coscheduled: true };
    let settings = Settings { noise, seed, ..settings(parameters) };
    let outcome = simulate_loggopsim(program, &settings, Silent);
    difference(&result, outcome.map(|(outcome, _)| outcome))
}

/// Rank 1 receives its own message by rendezvous: its sender is released first, so that the send
/// that follows the send (operation 2) goes before the one that follows the receive (operation 3).
/// Rank 0 takes them in that order.
#[test]
fn a_rendezvous_with_oneself_releases_the_sender_first() {
    let text = "num_ranks 2
        rank 0 { calc 0 recv 1b from 1 recv 3b from 1 calc 0 send 1b to 0 recv 1b from 0 }
        rank 1 {
            l0: send 3b to 1 l1: recv 3b from 1 l2: send 1b to 0 l3: send 3b to 0
            l2 requires l0 l3 requires l1
        }";
    let parameters = Parameters {
        latency: 1,
        overhead: 0,
        gap: 1,
        gap_per_byte: 0,
        overhead_per_byte: 0,
        eager_limit: 2,
    };
    assert_eq!(compare(&image(text), parameters, Odd::Compared), Ok(()));
}

/// The receive of 3 bytes is larger than S and finds the eager message: its sender, long done, is
/// released once more, which frees the computation although the receive from rank 1 never ends.
#[test]
#[ignore = "not kept, see the documentation of the module: the second release of an eager sender"]
fn a_large_receive_releases_an_eager_sender_again() {
    let text = "num_ranks 2
        rank 0 {
            l0: send 1b to 1 l1: recv 1b from 1 l2: calc 7
            l2 requires l0 l2 requires l1
        }
        rank 1 { l0: calc 10000 l1: recv 3b from 0 l1 requires l0 }";
    let parameters = Parameters { eager_limit: 2, ..DEFAULT };
    let result = simulate(&image(text), parameters, &|_, _, _| 0);
    assert_eq!(result.waiting, [], "the computation starts");
    assert_eq!(compare(&image(text), parameters, Odd::Compared), Ok(()));
}
