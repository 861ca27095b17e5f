//! A session of measurements: a pilot run, then runs until the intervals are narrow enough or the
//! time is over.

use std::{
    fmt::Write as _,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use samples::{NEEDED, OPTIONAL, Operation};

use crate::{
    plan::{self, Plan, Step},
    programs::Program,
};

/// Returns the header of the samples, with the end of its line.
pub fn header() -> String {
    NEEDED.into_iter().chain(OPTIONAL).collect::<Vec<_>>().join(",") + "\n"
}

/// The reason why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program is not installed.
    #[error(
        "{file} is not beside the heddle command, nor in ../lib/heddle from there, nor in the \
         folder that HEDDLE_MEASURE names; `make build` builds it{}", .program.needed()
    )]
    NoProgram {
        /// The name of its file.
        file: String,
        /// The program.
        program: Program,
    },
    /// The launcher does not show its MPI library.
    #[error(transparent)]
    Launcher(#[from] recorder::launch::Error),
    /// The launcher cannot be started.
    #[error("{name}: {error}")]
    Start {
        /// Its name.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The job failed.
    #[error("the measurement failed: {name} ended with {status}")]
    Ended {
        /// The name of the launcher.
        name: String,
        /// The way in which it ended.
        status: String,
    },
    /// There are no pairs.
    #[error("measuring takes two ranks at least, and the launcher started {0}")]
    Alone(usize),
    /// The job wrote nothing.
    #[error(
        "{name} ended without an error, but rank 0 wrote nothing into {}; its host must have that \
         folder", folder.display()
    )]
    NoResults {
        /// The folder of the results.
        folder: PathBuf,
        /// The name of the launcher.
        name: String,
    },
    /// The job did not write all of its results.
    #[error("{name} ended without an error, but the results of rank 0 are not complete")]
    Incomplete {
        /// The name of the launcher.
        name: String,
    },
    /// A file of the session cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The connection to a partner failed.
    #[error("{address}: {reason}")]
    Partner {
        /// The partner's address.
        address: String,
        /// The reason.
        reason: String,
    },
}

/// The times of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The steps that were kept, with their times and when they began, in nanoseconds.
    pub times: Vec<(Step, f64, f64)>,
    /// The name and version of what carried the messages.
    pub library: String,
    /// The names of both hosts.
    pub source: String,
    /// The name of the other host.
    pub destination: String,
}

/// Carries out runs between two hosts. Each run is a fresh start: a new job, or a new connection.
pub trait Prober {
    /// Returns the operations that runs may have.
    fn operations(&self) -> &'static [Operation];
    /// Carries out the steps in their order, and returns the times of all that have a repetition.
    /// No repetition but the first begins when the time is over.
    fn run(&mut self, steps: &[Step], time: Option<Duration>) -> Result<Measured, Error>;
}

/// The extent of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The number of runs after which the precision is looked at.
    pub runs: u32,
    /// The time for measuring, in seconds; starts of jobs come on top.
    pub seconds: f64,
}

impl Extent {
    /// Returns the time of the pilot run.
    pub(crate) fn of_pilot(&self) -> Option<Duration> {
        time((1.0 - SHARE) * self.seconds)
    }
}

/// Returns a time of so many seconds, which is none at all below zero.
fn time(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

/// Returns the time of a run from its beginning to the end of its last step, in seconds.
fn length(times: &[(Step, f64, f64)]) -> f64 {
    times.iter().map(|(_, time, at)| (at + time) / 1e9).fold(0.0, f64::max)
}

/// The result of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The samples, as the text of `samples.csv`.
    pub samples: String,
    /// The name and version of what carried the messages.
    pub library: String,
    /// The number of runs.
    pub runs: u32,
    /// The number of repetitions in each, if none is cut off.
    pub repetitions: u32,
    /// The number of repetitions of all runs and pairs that were planned.
    pub planned: u64,
    /// The number of those that were done before the time was over.
    pub done: u64,
    /// The largest size that the time allowed.
    pub largest: u64,
    /// True if what was asked for was reached before the time was over.
    pub precise: bool,
}

/// The share of the time that the runs take which were asked for; the rest is for further ones.
const SHARE: f64 = 0.75;

/// So many runs are done even if the time is over before, unless fewer were asked for: intervals
/// come from the differences between them.
const LEAST_RUNS: u32 = 3;

/// Measures the runs that were asked for, and then until `is_precise` says so of the samples or the
/// time is over. Each run ends when its part of the time that is left is over. If the time is over
/// before all runs, they end with the third.
pub fn measure(
    prober: &mut dyn Prober,
    extent: Extent,
    mut is_precise: impl FnMut(&str) -> bool,
) -> Result<Session, Error> {
    let began = Instant::now();
    let pilot = prober.run(&plan::pilot(), extent.of_pilot())?;
    let planned = SHARE * extent.seconds * 1e9 / f64::from(extent.runs);
    let plan = Plan::new(&pilot.times, prober.operations(), planned);
    let mut left = extent.seconds - length(&pilot.times);
    let mut session = Session {
        samples: header(),
        library: pilot.library.clone(),
        repetitions: plan.repetitions,
        largest: plan.largest,
        ..Session::default()
    };
    // Starts of jobs come on top of the first runs, but are no reason for as many again.
    let is_over = |runs: u32, left: f64| {
        f64::from(runs + 1) * plan.length > extent.seconds * 1e9
            || plan.length > left * 1e9
            || began.elapsed().as_secs_f64() > extent.seconds
    };
    let goes_on = |session: &Session, left: f64| match session.runs {
        runs if runs < extent.runs.min(LEAST_RUNS) => true,
        runs if runs < extent.runs => left > 0.0,
        runs => !session.precise && !is_over(runs, left),
    };
    while goes_on(&session, left) {
        let run = session.runs;
        let part = left / f64::from(extent.runs.saturating_sub(run).max(1));
        let measured = prober.run(&plan.run(run), time(part))?;
        left -= length(&measured.times);
        session.add(run, &measured.times, [&measured.source, &measured.destination]);
        session.runs += 1;
        session.precise = session.runs >= extent.runs && is_precise(&session.samples);
    }
    session.planned = u64::from(plan.repetitions) * u64::from(session.runs.max(extent.runs));
    session.leave_out_free_receives();
    Ok(session)
}

impl Session {
    /// Says what the time cut off; nothing if it was enough.
    pub fn cut(&self) -> Option<String> {
        let Self { done, planned, .. } = self;
        (done < planned).then(|| format!("{done} of {planned} repetitions"))
    }

    /// Adds the times of a run between two hosts.
    pub(crate) fn add(&mut self, run: u32, times: &[(Step, f64, f64)], hosts: [&str; 2]) {
        let hosts = hosts.map(quoted);
        let last = times.last().and_then(|(step, ..)| step.repetition);
        self.done += last.map_or(0, |last| u64::from(last) + 1);
        for (step, time, at) in times {
            let fields = step.fields();
            let (what, repetition) = fields.rsplit_once(',').unwrap_or((&fields, "0"));
            let [source, destination] = &hosts;
            let _ = writeln!(
                self.samples,
                "{what},{run},{repetition},{time:.3},{at:.0},{source},{destination},"
            );
        }
    }

    /// Leaves out receives if most of those of the smallest messages take no time, as in a
    /// simulation whose receiver has paid for a message when it came: they are not what a message
    /// costs.
    pub(crate) fn leave_out_free_receives(&mut self) {
        let is_receive = |line: &&str| line.starts_with("recv");
        let field = |line: &str, place: usize| -> f64 {
            let text = line.split(',').nth(place).unwrap_or_default();
            text.parse().unwrap_or(0.0)
        };
        let is_free = |line: &&str| {
            let busy = if line.starts_with("recv-busy") { field(line, 2) } else { 0.0 };
            field(line, 6) - busy < 1.0
        };
        let receives = || self.samples.lines().filter(is_receive);
        let smallest = receives().map(|line| field(line, 3)).fold(f64::INFINITY, f64::min);
        let small = || receives().filter(|line| field(line, 3) <= smallest);
        if 2 * small().filter(is_free).count() > small().count() {
            let kept = self.samples.lines().filter(|line| !is_receive(line));
            self.samples = kept.flat_map(|line| [line, "\n"]).collect();
        }
    }
}

/// A name as a field of CSV.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that takes 10 us and a nanosecond a byte; messages are counted.
    struct Simple {
        runs: u32,
        free: bool,
    }

    impl Prober for Simple {
        fn operations(&self) -> &'static [Operation] {
            plan::OPERATIONS
        }

        fn run(&mut self, steps: &[Step], _: Option<Duration>) -> Result<Measured, Error> {
            self.runs += 1;
            let time = |step: &Step| match step.operation {
                Operation::Receive if self.free => 0.001,
                Operation::ReceiveBusy if self.free => step.wait as f64,
                _ => f64::from(step.messages) * (10_000.0 + step.bytes as f64) + step.wait as f64,
            };
            let kept = steps.iter().filter(|step| step.repetition.is_some());
            Ok(Measured {
                times: kept.map(|step| (step.clone(), time(step), 0.0)).collect(),
                library: "simple".to_owned(),
                source: "a,b".to_owned(),
                destination: "c".to_owned(),
            })
        }
    }

    #[test]
    fn it_stops_when_it_is_precise_or_the_time_is_over() {
        let extent = Extent { runs: 3, seconds: 1.0 };
        let mut prober = Simple { runs: 0, free: false };
        let found = measure(&mut prober, extent, |_| true).expect("a session");
        assert_eq!((found.runs, found.precise, prober.runs), (3, true, 4));
        assert!(found.samples.starts_with(&header()));
        assert!(found.samples.contains("first,1,0,1,2,0,10001.000,0,\"a,b\",c,\n"));
        let found = measure(&mut prober, extent, |_| false).expect("a session");
        assert_eq!((found.runs, found.precise), (4, false));
    }

    /// A network on which each step takes so long, and which notes the times that it was given. It
    /// begins no repetition but the first when that time is over, and has no warm-up.
    struct Slow {
        step: f64,
        given: Vec<f64>,
    }

    impl Prober for Slow {
        fn operations(&self) -> &'static [Operation] {
            plan::PAIRS
        }

        fn run(&mut self, steps: &[Step], time: Option<Duration>) -> Result<Measured, Error> {
            let limit = time.expect("a time").as_secs_f64() * 1e9;
            self.given.push(limit / 1e9);
            let mut measured = Measured::default();
            let kept: Vec<&Step> = steps.iter().filter(|step| step.repetition.is_some()).collect();
            for (place, step) in kept.iter().enumerate() {
                let at = self.step * place as f64;
                let begins = place > 0 && kept[place - 1].repetition != step.repetition;
                if begins && at > limit {
                    break;
                }
                measured.times.push(((*step).clone(), self.step - 100.0, at));
            }
            Ok(measured)
        }
    }

    /// The pilot run has a round of 38 steps (22 sizes, and trains of 16), which at 0.1 s each take
    /// longer than the 0.25 s for it: one is done, 3.8 s. No time is left, and all runs would take
    /// longer: each of the least three does one repetition of the least three that are planned.
    #[test]
    fn the_time_cuts_repetitions_and_runs() {
        let mut prober = Slow { step: 1e8, given: Vec::new() };
        let extent = Extent { runs: 8, seconds: 1.0 };
        let found = measure(&mut prober, extent, |_| true).expect("a session");
        assert_eq!(prober.given, [0.25, 0.0, 0.0, 0.0]);
        assert_eq!((found.runs, found.repetitions, found.precise), (3, 3, false));
        assert_eq!(found.cut().as_deref(), Some("3 of 24 repetitions"));
        // Two were asked for, and two are done.
        let extent = Extent { runs: 2, ..extent };
        let found = measure(&mut prober, extent, |_| true).expect("a session");
        assert_eq!((found.runs, found.cut().as_deref()), (2, Some("2 of 6 repetitions")));
        // A step of 1 us: all is done, and what a run does not use is there for the others.
        let mut prober = Slow { step: 1e3, given: Vec::new() };
        let found = measure(&mut prober, extent, |_| true).expect("a session");
        assert_eq!((found.done, found.cut()), (found.planned, None));
        assert!(prober.given[1] > 0.49 && prober.given[2] > 0.98, "{:?}", prober.given);
    }

    #[test]
    fn receives_that_take_no_time_are_left_out() {
        let extent = Extent { runs: 1, seconds: 0.1 };
        let of = |free| {
            let mut prober = Simple { runs: 0, free };
            measure(&mut prober, extent, |_| true).expect("a session").samples
        };
        assert!(of(false).contains("\nrecv,") && of(false).contains("\nrecv-busy,"));
        assert!(!of(true).contains("recv") && of(true).contains("\nsend,"));
    }
}
