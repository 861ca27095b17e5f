//! Whatever the number of workers and the transport, a model sees what it would see if its events
//! were taken one by one from a heap.

mod causality;
mod edges;
mod oracle;
mod order;
mod passive;
mod pipes;
mod processes;
mod toy;

use kernel::{Channels, Config, Error, Finished, Model, TransportKind, execute};
use toy::{Kind, Seen, Toy, WAKE};

const CONFIGS: [(usize, TransportKind); 8] = [
    (1, TransportKind::Shared),
    (2, TransportKind::Shared),
    (3, TransportKind::Shared),
    (7, TransportKind::Shared),
    (1, TransportKind::Serialised),
    (2, TransportKind::Serialised),
    (3, TransportKind::Serialised),
    (7, TransportKind::Serialised),
];

/// The workers of each of several processes of the system.
const SPREAD: [&[usize]; 4] = [&[1, 1], &[2, 1], &[1, 1, 1, 1], &[3, 2, 2]];

/// Returns the results of all processes in the order of their numbers.
fn by_number<R>(workers: Vec<Vec<(u32, R)>>) -> Vec<R> {
    let mut all: Vec<_> = workers.into_iter().flatten().collect();
    all.sort_by_key(|result| result.0);
    all.into_iter().map(|result| result.1).collect()
}

/// Runs a model spread over as many processes as there are numbers of workers, and returns the
/// results of all.
fn spread<M: Model>(
    model: &M,
    count: u32,
    workers: &[usize],
    worker: impl Fn() -> M::Worker + Sync,
) -> Vec<Result<Finished<M::Worker>, Error>>
where
    M::Worker: Send,
{
    let peers = Channels::peers(workers.len());
    std::thread::scope(|scope| {
        let begin = |(peers, &workers)| {
            let config = Config { workers, transport: TransportKind::Spread(peers) };
            let worker = &worker;
            scope.spawn(move || execute(model, count, config, worker))
        };
        let threads: Vec<_> = peers.into_iter().zip(workers).map(begin).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Joins what all processes have found.
fn joined<W>(found: Vec<Result<Finished<W>, Error>>) -> Finished<W> {
    let mut found = found.into_iter().map(|one| one.expect("no overflow"));
    let mut all = found.next().expect("a process");
    for one in found {
        assert_eq!((one.last, one.windows, one.instants), (all.last, all.windows, all.instants));
        all.workers.extend(one.workers);
    }
    all
}

/// Runs the model in all ways, compares, and returns the logs and the number of windows and of
/// instants among them, if it is the same for all.
fn check(toy: &Toy) -> (Vec<Vec<Seen>>, (u64, u64)) {
    let expected = oracle::logs(toy);
    let mut counts = None;
    let alone = CONFIGS.map(|(workers, transport)| {
        let config = Config { workers, transport };
        let finished = execute(toy, toy.processes, config, Vec::new).expect("no overflow");
        (format!("{config:?}"), finished)
    });
    let fit = SPREAD.iter().filter(|workers| workers.len() <= toy.processes as usize);
    let several = fit.map(|workers| {
        let found = spread(toy, toy.processes, workers, Vec::new);
        (format!("processes of {workers:?} workers"), joined(found))
    });
    for (config, finished) in alone.into_iter().chain(several) {
        let logs = by_number(finished.workers);
        let what = (toy.processes, toy.lookahead, toy.seed, config);
        assert_eq!(logs.len(), expected.len(), "{what:?}");
        for (id, (log, expected)) in logs.iter().zip(&expected).enumerate() {
            let first = log.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(first, None, "{what:?}: process {id}: {log:?} instead of {expected:?}");
            assert_eq!(log.len(), expected.len(), "{what:?}: process {id}");
        }
        if toy.halves {
            continue;
        }
        let last = expected.iter().flatten().map(|seen| seen.time).max().unwrap_or(0);
        assert!(finished.last.ps() <= last, "{what:?}");
        assert!(last <= finished.last.ps() + toy.lookahead, "{what:?}");
        let found = (finished.windows, finished.instants);
        assert_eq!(*counts.get_or_insert(found), found, "windows of {what:?}");
    }
    (expected, counts.unwrap_or_default())
}

#[test]
fn equals_a_heap() {
    for processes in [1, 2, 5, 64, 65] {
        for lookahead in [0, 1, 300] {
            for seed in 0..2 {
                check(&Toy { processes, lookahead, seed, hops: 6, halves: false });
            }
        }
    }
}

/// Workers that do not wait for each other at every window: two of them, of a half each, and more,
/// that have several halves' processes between them.
#[test]
fn workers_apart() {
    for processes in [2, 5, 64, 65] {
        for lookahead in [1, 2, 300] {
            for seed in 0..4 {
                check(&Toy { processes, lookahead, seed, hops: 12, halves: true });
            }
        }
    }
    // Without lookahead they do wait.
    check(&Toy { processes: 64, lookahead: 0, seed: 0, hops: 6, halves: true });
}

/// More processes than a block holds, so that one worker has several blocks, too.
#[test]
fn several_blocks_per_worker() {
    for lookahead in [0, 20] {
        let (logs, _) = check(&Toy { processes: 5000, lookahead, seed: 9, hops: 2, halves: false });
        // Each of the 5000 tokens arrives once, and then once per hop at least.
        assert!(logs.iter().map(Vec::len).sum::<usize>() >= 3 * 5000);
    }
}

/// The model does what the comparison is worth: all kinds of tokens, ties, and events far away.
#[test]
fn the_toy_covers_what_matters() {
    let (logs, (windows, instants)) =
        check(&Toy { processes: 20, lookahead: 50, seed: 5, hops: 16, halves: false });
    let all = || logs.iter().flatten();
    for kind in [Kind::Plain, Kind::Reflex, Kind::Alarm] {
        assert!(all().filter(|seen| seen.token.kind == kind).count() > 100, "{kind:?}");
    }
    assert!(all().filter(|seen| seen.sequence == WAKE).count() > 100);
    let ties = logs.iter().flat_map(|log| log.windows(2)).filter(|two| two[0].time == two[1].time);
    assert!(ties.count() > 20);
    // 16 hops of at most 4 lookaheads each would end by 3200 if none went 100 lookaheads far.
    assert!(all().any(|seen| seen.time > 10_000));
    assert!(instants > 100 && windows > instants);
}

/// Without lookahead every window is an instant.
#[test]
fn no_lookahead_means_instants() {
    let (_, (windows, instants)) =
        check(&Toy { processes: 20, lookahead: 0, seed: 2, hops: 20, halves: false });
    assert_eq!(windows, instants);
}
