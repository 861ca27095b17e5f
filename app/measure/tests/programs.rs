//! The programs that measure over shared memory and MPI libraries, started as jobs.

use std::{ffi::OsString, path::Path, process::Command, time::Duration};

use measure::{
    pairs::PairProber,
    plan::{OPERATIONS, Step},
    programs::{self, Job, Outcome, Program},
    session::Prober,
};
use recorder::launch::Mpi;
use samples::Operation;

/// Returns a job of the program, which is built into the folder; none if the headers or the
/// launcher of its library are not here.
fn job(folder: &Path, program: Program, ranks: u32) -> Option<Job<'static>> {
    let launcher = match program {
        Program::Shared => Vec::new(),
        Program::Mpi(mpi) => vec![format!("mpirun.{}", mpi.name()), "-n".into(), ranks.to_string()],
    };
    if let Some(name) = launcher.first() {
        Command::new(name).arg("--version").output().ok()?;
    }
    let program = match programs::build(program, folder) {
        Outcome::Built(program) => program,
        Outcome::Missing(whence) => {
            eprintln!("{program} is not measured here: {whence}");
            return None;
        }
        Outcome::Failed(error) => panic!("{error}"),
    };
    Some(Job {
        launcher: launcher.into_iter().map(OsString::from).collect(),
        program,
        folder: folder.to_owned(),
        start: &|command| {
            command
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
                .status()
        },
        operations: OPERATIONS,
    })
}

fn step(operation: Operation, bytes: u64, repetition: Option<u32>) -> Step {
    Step { operation, messages: 2, wait: 0, bytes, repetition }
}

/// The first message, a warm-up and three repetitions of three steps.
fn steps() -> Vec<Step> {
    let round = |repetition| {
        [
            step(Operation::RoundTrip, 1, repetition),
            step(Operation::Send, 1000, repetition),
            step(Operation::Exchange, 100_000, repetition),
        ]
    };
    let first = Step { messages: 1, ..step(Operation::First, 1, Some(0)) };
    let rounds = [round(None), round(Some(0)), round(Some(1)), round(Some(2))];
    [first].into_iter().chain(rounds.concat()).collect()
}

const PROGRAMS: [Program; 3] =
    [Program::Shared, Program::Mpi(Mpi::OpenMpi), Program::Mpi(Mpi::Mpich)];

/// Without time, the first message and the first repetition are measured, 4 steps; with an hour or
/// without a limit also the others, 1 + 3 * 3.
#[test]
fn the_time_ends_a_run_between_repetitions() {
    for program in PROGRAMS {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(mut job) = job(folder.path(), program, 2) else { continue };
        let kept = [&steps()[..1], &steps()[4..]].concat();
        for (time, count) in
            [(Some(Duration::ZERO), 4), (Some(Duration::from_secs(3600)), 10), (None, 10)]
        {
            let measured = Prober::run(&mut job, &steps(), time).expect("times");
            let found: Vec<Step> = measured.times.into_iter().map(|(step, ..)| step).collect();
            assert_eq!(found, kept[..count], "{program} {time:?}");
        }
    }
}

/// Each pair of each round has the time for itself, so that each does its first repetition.
#[test]
fn each_pair_has_its_time() {
    for program in &PROGRAMS[1..] {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(mut job) = job(folder.path(), *program, 3) else { continue };
        let rounds = [vec![[0, 1]], vec![[1, 2]]];
        for (time, count) in [(Some(Duration::ZERO), 4), (None, 10)] {
            let (_, found) = PairProber::run(&mut job, &steps(), time, &rounds).expect("times");
            let counts: Vec<_> = found.iter().map(|(pair, times)| (*pair, times.len())).collect();
            assert_eq!(counts, [([0, 1], count), ([1, 2], count)], "{program} {time:?}");
        }
    }
}
