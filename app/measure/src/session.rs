//! A session of measurements: a pilot run, then runs until the intervals are narrow enough or the
//! time is over.

use std::{fmt::Write as _, io, path::PathBuf, time::Instant};

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
    fn run(&mut self, steps: &[Step]) -> Result<Measured, Error>;
}

/// The extent of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The number of runs after which the precision is looked at.
    pub runs: u32,
    /// The time for measuring, in seconds; starts of jobs come on top.
    pub seconds: f64,
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
    /// The number of repetitions in each.
    pub repetitions: u32,
    /// The largest size that the time allowed.
    pub largest: u64,
    /// True if what was asked for was reached before the time was over.
    pub precise: bool,
}

/// The share of the time that the runs take which were asked for; the rest is for further ones.
const SHARE: f64 = 0.75;

/// Measures until `is_precise` says so of the samples, or the time is over, but at least the runs
/// that were asked for.
pub fn measure(
    prober: &mut dyn Prober,
    extent: Extent,
    mut is_precise: impl FnMut(&str) -> bool,
) -> Result<Session, Error> {
    let began = Instant::now();
    let pilot = prober.run(&plan::pilot())?;
    let length = SHARE * extent.seconds * 1e9 / f64::from(extent.runs);
    let plan = Plan::new(&pilot.times, prober.operations(), length);
    let mut session = Session {
        samples: header(),
        library: pilot.library.clone(),
        repetitions: plan.repetitions,
        largest: plan.largest,
        ..Session::default()
    };
    // Starts of jobs come on top of the first runs, but are no reason for as many again.
    let is_over = |runs: u32| {
        f64::from(runs + 1) * plan.length > extent.seconds * 1e9
            || began.elapsed().as_secs_f64() > extent.seconds
    };
    while session.runs < extent.runs || !session.precise && !is_over(session.runs) {
        let run = session.runs;
        let measured = prober.run(&plan.run(run))?;
        session.add(run, &measured.times, [&measured.source, &measured.destination]);
        session.runs += 1;
        session.precise = session.runs >= extent.runs && is_precise(&session.samples);
    }
    session.leave_out_free_receives();
    Ok(session)
}

impl Session {
    /// Adds the times of a run between two hosts.
    pub(crate) fn add(&mut self, run: u32, times: &[(Step, f64, f64)], hosts: [&str; 2]) {
        let hosts = hosts.map(quoted);
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

        fn run(&mut self, steps: &[Step]) -> Result<Measured, Error> {
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
