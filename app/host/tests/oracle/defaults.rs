//! `simulate` against the literal default rules, on any number of threads and either transport.

use host::{
    AnyWork, Error, Noise, Outcome, PendingOp, Record, Rendezvous, SendDone, Settings,
    TransportKind, Work, simulate,
};
use kernel::{Probe, Random, Silent};
use loggops::{Costs, Inject, Parameters};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schedule::Program;
use units::TimePerByte;

use crate::oracle::programs::{Variety, image, patterns, schedules};
use crate::oracle::rules::{self, Result, Rules, ps};

type Difference = std::result::Result<(), String>;

/// Keeps all records.
#[derive(Default)]
struct All(Vec<Record>);

impl Probe<Record> for All {
    const LISTENS: bool = true;

    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

/// Outcome and records, the latter in an order of their own.
fn run(
    program: &impl Work,
    settings: &Settings,
) -> std::result::Result<(Outcome, Vec<String>), Error> {
    let (outcome, probes) = simulate(program, settings, All::default)?;
    let records = probes.into_iter().flat_map(|probe| probe.0);
    let mut records: Vec<String> = records.map(|record| format!("{record:?}")).collect();
    records.sort();
    Ok((outcome, records))
}

/// Runs with several numbers of threads and both transports, which must not make a difference.
fn run_everyhow(
    program: &impl Program,
    settings: &Settings,
) -> std::result::Result<std::result::Result<Outcome, Error>, String> {
    let first = run(program, settings);
    let (shared, serialised) = (TransportKind::Shared, TransportKind::Serialised);
    for (threads, transport) in [(1, serialised), (2, shared), (3, serialised), (7, shared)] {
        let other = run(program, &Settings { threads, transport, ..settings.clone() });
        if first != other {
            return Err(format!("{threads} threads, {transport:?}:\n{first:?}\n{other:?}"));
        }
    }
    let untyped = run(&AnyWork::new(program), settings);
    if first != untyped {
        return Err(format!("without its type:\n{first:?}\n{untyped:?}"));
    }
    let recorded = first.map(|(outcome, _)| outcome);
    // What is not recorded may take shorter ways.
    for threads in [1, 3] {
        let settings = Settings { threads, ..settings.clone() };
        let silent = simulate(program, &settings, || Silent).map(|(outcome, _)| outcome);
        if silent != recorded {
            return Err(format!("{threads} threads, silent:\n{recorded:?}\n{silent:?}"));
        }
        let untyped = simulate(&AnyWork::new(program), &settings, || Silent);
        let untyped = untyped.map(|(outcome, _)| outcome);
        if untyped != recorded {
            return Err(format!("{threads} threads, untyped:\n{recorded:?}\n{untyped:?}"));
        }
    }
    Ok(recorded)
}

/// The results that the engine and the oracle both tell.
fn said(outcome: &Outcome) -> (Result, Vec<PendingOp>) {
    let each = |of: fn(&host::RankTotals) -> u64| outcome.ranks.iter().map(of).collect();
    let result = Result {
        finish: each(|rank| rank.finish.ps()),
        busy: each(|rank| rank.busy.ps()),
        blocked: each(|rank| rank.blocked.ps()),
        traffic: outcome
            .ranks
            .iter()
            .map(|rank| {
                let sent = [rank.sent_messages, rank.sent_bytes];
                [sent[0], sent[1], rank.received_messages, rank.received_bytes]
            })
            .collect(),
        ..Result::default()
    };
    let pending = outcome.deadlock.iter().flat_map(|deadlock| deadlock.pending.clone());
    (result, pending.collect())
}

/// The operations that a deadlock names: those that started, or else the first of their rank.
fn pending(result: &Result) -> Vec<PendingOp> {
    let mut pending: Vec<PendingOp> = Vec::new();
    for &(rank, index) in &result.started {
        pending.push(PendingOp { rank, index, started: true });
    }
    for &(rank, index) in &result.waiting {
        if !pending.iter().any(|op| op.rank == rank) {
            pending.push(PendingOp { rank, index, started: false });
        }
    }
    pending.sort_by_key(|op| (op.rank, op.index));
    pending
}

fn compare(program: &impl Program, settings: &Settings) -> Difference {
    compare_with(program, settings, &|_, _, _| 0)
}

fn compare_with(
    program: &impl Program,
    settings: &Settings,
    noise: &dyn Fn(usize, u64, u64) -> u64,
) -> Difference {
    let result = rules::simulate(program, rules(settings, noise));
    let outcome = match run_everyhow(program, settings)? {
        Ok(outcome) => outcome,
        Err(Error::Truncated { rank, receive, sender, size, room }) => {
            return match result.truncated {
                Some(truncated) if truncated == (rank, receive, sender, size, room) => Ok(()),
                other => {
                    let found = (rank, receive, sender, size, room);
                    Err(format!("truncated by the rules: {other:?}\nhere: {found:?}"))
                }
            };
        }
        Err(error) => return Err(format!("by the rules: {result:?}\nhere: {error}")),
    };
    let (found, named) = said(&outcome);
    let ranks =
        |r: &Result| (r.finish.clone(), r.busy.clone(), r.blocked.clone(), r.traffic.clone());
    if result.truncated.is_some() || ranks(&found) != ranks(&result) || named != pending(&result) {
        let pending = pending(&result);
        return Err(format!("{settings:?}\nrules: {result:?} {pending:?}\nhere: {outcome:?}"));
    }
    if !program.claims() && outcome.events != result.events {
        return Err(format!("events by the rules: {}, here: {}", result.events, outcome.events));
    }
    let path = outcome.path;
    let parts =
        [path.compute, path.overhead, path.latency, path.bandwidth, path.contention, path.waiting];
    let sum: u64 = parts.iter().map(|part| part.ps()).sum();
    let makespan = result.finish.iter().max().copied().unwrap_or(0);
    if sum != makespan || result.finish.get(path.rank as usize) != Some(&makespan) {
        return Err(format!("the critical path is not of the makespan {makespan}: {path:?}"));
    }
    Ok(())
}

fn rules<'a>(settings: &Settings, noise: &'a dyn Fn(usize, u64, u64) -> u64) -> Rules<'a> {
    Rules {
        parameters: settings.parameters,
        rendezvous: settings.rendezvous,
        send_done: settings.send_done,
        time_unit: settings.time_unit.ps(),
        noise,
        caused_by_injection: false,
    }
}

/// L, o and o of the receiver, g, G, O and O of the receiver.
fn costs(times: [u64; 4], per_byte: [(u64, u64); 3]) -> Costs {
    let rate = |(time, bytes)| TimePerByte::new(time, bytes).expect("some bytes");
    Costs {
        latency: ps(times[0]),
        send_overhead: ps(times[1]),
        receive_overhead: ps(times[2]),
        gap: ps(times[3]),
        gap_per_byte: rate(per_byte[0]),
        send_overhead_per_byte: rate(per_byte[1]),
        receive_overhead_per_byte: rate(per_byte[2]),
    }
}

/// Small numbers, so that many things happen at the same time; often equal at both sides, and often
/// one set for all messages.
fn small_costs() -> impl Strategy<Value = Costs> {
    let per_byte = || prop::sample::select(&[(0, 1), (1, 1), (2, 1), (1, 3)][..]);
    let times = (0..6u64, 0..4u64, 0..4u64, 0..5u64);
    let equal = prop::bool::weighted(0.7);
    (times, per_byte(), per_byte(), per_byte(), equal).prop_map(|(times, gap, o, other, equal)| {
        let (latency, send, receive, g) = times;
        let (receive, other) = if equal { (send, o) } else { (receive, other) };
        costs([latency, send, receive, g], [gap, o, other])
    })
}

pub fn small_settings() -> impl Strategy<Value = Settings> {
    let limit = prop::sample::select(&[0u64, 2, 4, 100][..]);
    let large = prop_oneof![2 => Just(None), 1 => small_costs().prop_map(Some)];
    let start = prop::bool::weighted(0.2);
    let handshake = any::<bool>();
    let send_done = prop_oneof![
        Just(SendDone::Overhead),
        (0..4u64).prop_map(|buffer| SendDone::Left { buffer }),
    ];
    (small_costs(), large, limit, start, handshake, send_done).prop_map(
        |(small, large, eager_limit, start, handshake, send_done)| {
            let inject = if start { Inject::Start } else { Inject::End };
            let large = large.unwrap_or(small);
            let rendezvous = if handshake { Rendezvous::RtsCts } else { Rendezvous::Abstract };
            Settings {
                parameters: Parameters {
                    small,
                    large,
                    local: small,
                    eager_limit,
                    inject,
                    ..Parameters::default()
                },
                rendezvous,
                send_done,
                time_unit: ps(1),
                ..Settings::default()
            }
        },
    )
}

fn pattern_settings() -> Vec<Settings> {
    let default = Parameters::default();
    let zero = costs([0; 4], [(0, 1); 3]);
    let odd = costs([2_500_000, 1_000, 70_001, 3], [(155, 1), (1, 2), (7, 3)]);
    let one = |costs| Parameters { small: costs, large: costs, ..default };
    let sets = [
        default,
        Parameters { eager_limit: 0, ..default },
        Parameters { eager_limit: 100, inject: Inject::Start, ..default },
        one(zero),
        Parameters { eager_limit: 0, ..one(zero) },
        Parameters { large: odd, eager_limit: 100, ..default },
        Parameters { eager_limit: 100, ..one(odd) },
    ];
    let both = [Rendezvous::Abstract, Rendezvous::RtsCts];
    let ends = [SendDone::Overhead, SendDone::Left { buffer: 100 }];
    let ways = both.map(|rendezvous| ends.map(|send_done| (rendezvous, send_done)));
    let with = |parameters, (rendezvous, send_done)| Settings {
        parameters,
        rendezvous,
        send_done,
        ..Settings::default()
    };
    sets.into_iter()
        .flat_map(|set| ways.as_flattened().iter().map(move |way| with(set, *way)))
        .collect()
}

#[test]
fn every_pattern_under_every_parameter_set() {
    let mut wrong = Vec::new();
    for ranks in [1, 2, 13] {
        for size in [0, 180, 65_536] {
            for settings in pattern_settings() {
                for (name, pattern) in patterns(ranks, size) {
                    if let Err(text) = compare(&pattern, &settings) {
                        wrong.push(format!("{name}, {ranks} ranks, {size} B: {text}"));
                    }
                }
            }
        }
    }
    let some = wrong[..wrong.len().min(5)].join("\n");
    assert!(wrong.is_empty(), "{} differ, among them\n{some}", wrong.len());
}

/// Receives of exactly their message's size: what matches another one is truncated.
pub const TIGHT: Variety =
    Variety { resources: 1, odd: false, roomy: false, sizes: &[0, 1, 2, 3, 5], steps: 24 };
pub const PLAIN: Variety = Variety { roomy: true, ..TIGHT };
pub const WIDE: Variety =
    Variety { resources: 3, odd: true, roomy: true, sizes: &[0, 1, 2, 3, 5, 9], steps: 40 };

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn random_schedules_with_tight_receives(
        text in schedules(TIGHT),
        settings in small_settings(),
    ) {
        agree(&text, compare(&image(&text), &settings))?;
    }

    #[test]
    fn random_schedules(text in schedules(PLAIN), settings in small_settings()) {
        agree(&text, compare(&image(&text), &settings))?;
    }

    #[test]
    fn random_schedules_on_several_resources(
        text in schedules(WIDE),
        settings in small_settings(),
    ) {
        agree(&text, compare(&image(&text), &settings))?;
    }

    #[test]
    fn random_schedules_with_noise(
        text in schedules(WIDE),
        settings in small_settings(),
        seed in 0..100u64,
    ) {
        agree(&text, compare_with_noise(&image(&text), settings, seed))?;
    }
}

fn agree(text: &str, difference: Difference) -> std::result::Result<(), TestCaseError> {
    difference.map_err(|difference| TestCaseError::fail(format!("{text}{difference}")))
}

/// Interruptions at 2..4 ps and 9..10 ps of every 10 ps, at each rank from an offset of its own
/// that the engine draws from the seed.
fn compare_with_noise(program: &impl Program, settings: Settings, seed: u64) -> Difference {
    const PERIOD: u64 = 10;
    const OFFSET: u32 = u32::from_be_bytes(*b"offs");
    let events = [(2, 2), (9, 1)];
    let noise = |rank: usize, from: u64, to: u64| {
        let offset = Random::new(seed, OFFSET).below(rank as u32, 0, PERIOD);
        let inside = |ps: u64| events.iter().any(|(at, long)| (*at..at + long).contains(&ps));
        (from..to).filter(|ps| inside((ps + offset) % PERIOD)).count() as u64
    };
    let events = events.map(|(at, long)| (ps(at), ps(long))).to_vec();
    let trace = Noise::Trace { events, coscheduled: false };
    compare_with(program, &Settings { noise: trace, seed, ..settings }, &noise)
}
