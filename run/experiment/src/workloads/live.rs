//! Live programs as a workload: `program:` and the line of [`crate::settings::launch`].

mod computation;
mod variables;

use std::{
    env, io,
    path::{Path, PathBuf, absolute},
    sync::Arc,
    time::Instant,
};

use collectives::Algorithms;
use layers::{in_process, libraries::CORE};
use live::{Costs, Hosts, Launch, Live, Printing, Processes, Room, Runner};
use results::{Pending, plural};
use units::Time;

use super::{
    collective::OPEN_MPI,
    traces::{library_of, taken},
};
use crate::{
    job::{Ending, Failure, Job, Report, Runs},
    models::{Calls, Model, Simulated},
    settings::{
        configuration::Configuration,
        diagnostic::{Diagnostic, reason},
        keys::{self, Setting},
        launch::{first, programs},
    },
};

pub use variables::variables;

/// The environment variable that names the folder of our libraries of MPI.
const FOLDER: &str = "HEDDLE_MPI";
/// Tells ranks how their computation counts.
const COMPUTE: &str = "HEDDLE_COMPUTE";

/// Tells ranks whether messages have contents.
const PAYLOAD: &str = "HEDDLE_PAYLOAD";

/// The files of the programs of a workload, as far as they are there.
pub(crate) fn executables(text: &str) -> Vec<PathBuf> {
    let programs = programs(text).unwrap_or_default();
    let mut files: Vec<_> = programs.iter().map(executable).filter(|file| file.is_file()).collect();
    files.sort();
    files.dedup();
    files
}

/// The file that a program's name means where it is started.
pub fn executable(launch: &Launch) -> PathBuf {
    let found = in_process::found(Path::new(&launch.program));
    match &launch.directory {
        Some(folder) => folder.join(found),
        None => found,
    }
}

/// The number of processes that a program may start if nothing is set.
const MORE: u32 = 1000;

/// Returns the number of ranks that the first ones may start, if each is a process; `spare` is how
/// many hosts have no rank, on a machine with hosts. Programs that start as many processes as there
/// is room for want a limit that somebody has thought of.
fn room(configuration: &Configuration, first: u32, spare: Option<u32>) -> Room {
    match configuration.value(keys::live::SPAWN) {
        Some(said) => Room { more: said as u32, universe: first + said as u32 },
        None => Room { more: spare.unwrap_or(MORE).min(MORE), universe: first },
    }
}

/// Programs whose ranks are simulated.
#[derive(Debug)]
pub struct Programs {
    programs: Vec<Launch>,
    configuration: Arc<Configuration>,
}

pub(crate) fn resolve(configuration: &Arc<Configuration>) -> Result<Programs, Vec<Diagnostic>> {
    let programs = configuration.programs().map_err(|mistakes| mistakes.0)?;
    let mut mistakes = computation::check(configuration);
    let fold = configuration.value(keys::live::FOLD);
    if fold.is_some_and(|least| least.get() < SMALLEST_FOLD) {
        let message =
            format!("expected at least {SMALLEST_FOLD} B: what is smaller is not worth it");
        mistakes.push(configuration.mistake(keys::live::FOLD, message));
    }
    let configuration = Arc::clone(configuration);
    if mistakes.is_empty() { Ok(Programs { programs, configuration }) } else { Err(mistakes) }
}

impl Runs for Programs {
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure> {
        let Self { programs, configuration } = self;
        let first = first(programs);
        let room = match job.observers.make {
            Some(_) => Room { more: 0, universe: first },
            None => room(configuration, first, job.machine.spare(first).map_err(Failure::Input)?),
        };
        let hosts = job.machine.hosts(first + room.more).map_err(Failure::Input)?;
        let lived = self.live(job, room, hosts)?;
        if let Some(ended) = lived.ended {
            return Err(Failure::Ended(Ending::new(&ended)));
        }
        let mut simulated = lived.simulated;
        simulated.computed = lived.computed;
        simulated.outcome.ranks.truncate(lived.ranks as usize);
        let stuck = simulated.outcome.deadlock.as_ref();
        let places = stuck.map_or_else(Vec::new, |stuck| stuck.places.clone());
        let mut report = job.report(start, simulated, |op| {
            Pending::of_call(op, places.iter().find(|place| place.rank == op.rank))
        });
        (report.code, report.unprinted) = (lived.code, lived.unprinted);
        if lived.strangers > 0 {
            report.warnings.push(format!(
                "{} of {} never used MPI; if their program does, it is by another library than \
                 Heddle's: one that was linked statically, or of another kind than Open MPI 4, \
                 MPICH or the standard binary interface",
                lived.strangers,
                plural(lived.ranks.into(), "rank")
            ));
        }
        Ok(report)
    }
}

/// The folder of our libraries of MPI: the one that the environment names, `mpi/lib` beside this
/// command, or `lib/heddle/mpi/lib` of the prefix that it is installed under.
pub fn libraries() -> Result<PathBuf, Failure> {
    if let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        let folder = absolute(&folder).unwrap_or_else(|_| folder.into());
        if folder.join(CORE).is_file() {
            return Ok(folder);
        }
        let name = folder.display();
        let within = folder.join("lib").join(CORE).is_file();
        let help = if within { "\n  help: its folder `lib` is" } else { "" };
        return Err(Failure::Input(format!(
            "error: {FOLDER}: {name} is not the folder of the libraries of MPI: there is no {CORE} \
             in it{help}"
        )));
    }
    let command = env::current_exe().and_then(|command| command.canonicalize()).ok();
    let beside = command.as_deref().and_then(Path::parent);
    let places = ["mpi/lib", "../lib/heddle/mpi/lib"];
    let mut folders = places.iter().filter_map(|place| Some(beside?.join(place)));
    folders.find(|folder| folder.is_dir()).ok_or_else(|| {
        Failure::Input(
            "error: the libraries that MPI programs need are neither beside this command nor in \
             ../lib/heddle\n  help: `make install` in the source of heddle installs them with the \
             command, which `cargo install` cannot; or set HEDDLE_MPI to their folder"
                .to_owned(),
        )
    })
}

/// Allocations that share memory between ranks have at least so many bytes.
const SMALLEST_FOLD: u64 = 64 << 10;

/// The outcome of a live program.
struct Lived {
    simulated: Simulated,
    /// The number of ranks, including those that others started.
    ranks: u32,
    /// The number of ranks that never used MPI.
    strangers: u32,
    /// The reason why the program ended early, if it did.
    ended: Option<live::Ended>,
    /// The measured computation in nanoseconds, by rank and region, if it is kept.
    computed: Vec<Vec<u64>>,
    /// Its exit code.
    code: i32,
    /// Why some of what it printed was lost, if it was.
    unprinted: Option<io::Error>,
}

/// Returns the costs of calls that move no data; time must go on for a program that polls.
pub(super) fn costs(configuration: &Configuration, calls: &Calls) -> Costs {
    let time = |setting: Setting<Time>| configuration.value(setting).unwrap_or_default().ps();
    let or = |cost: Time, setting| if cost == Time::ZERO { time(setting) } else { cost.ps() };
    Costs {
        test: or(calls.test.unwrap_or_default(), keys::live::POLL),
        probe: or(calls.iprobe, keys::live::POLL),
        clock: or(calls.wtime, keys::live::CLOCK),
        start: time(keys::live::SPAWN_TIME),
    }
}

/// Starts each rank as a process.
fn processes(
    programs: &mut [Launch],
    room: Room,
    configuration: &Configuration,
    printing: Printing,
    hosts: Option<&Hosts>,
) -> Result<io::Result<Processes>, Failure> {
    let folder = libraries()?;
    for program in &mut *programs {
        program.environment.extend(variables(configuration, &folder, program, None));
    }
    let hosts = hosts.map(|hosts| hosts.of.clone()).unwrap_or_default();
    Ok(Processes::start(programs, room, folder, printing, hosts))
}

impl Programs {
    /// Starts the programs and simulates them.
    fn live<M: Model>(
        &self,
        job: &Job<'_, Self, M>,
        room: Room,
        hosts: Option<Hosts>,
    ) -> Result<Lived, Failure> {
        let configuration = &self.configuration;
        let ranks = first(&self.programs);
        let calls = job.machine.calls();
        let chosen: Algorithms = library_of(configuration, &calls, OPEN_MPI)?;
        let keep = job.records.computation;
        let computation = computation::resolve(configuration, ranks + room.more, keep)?;
        let mut runner = self.hold(job, room, hosts.as_ref())?;
        let costs = costs(configuration, &calls);
        let mut live = Live::new(&*runner, (ranks, room.more), &chosen, costs, computation);
        if job.records.calls {
            live.keep_calls();
        }
        let several = configuration.value(keys::run::THREADS) != Some(1);
        if several && !runner.memory().layout().is_private() {
            runner.memory().compute_at_once();
        }
        if let Some(hosts) = hosts {
            live.place_on(&hosts)
                .map_err(|full| Failure::Input(format!("error: hosts: {full}")))?;
        }
        let simulated = job.carry_out(&live, 0, &|_| None);
        let (ended, computed) = (live.ended(), live.computation());
        let (ranks, strangers) = (live.lived(), live.strangers());
        let mut simulated = simulated?;
        simulated.outcome.remarks.extend(taken(&chosen));
        simulated.calls = super::calls::of_live(live.calls(), &simulated.tables);
        let at_once = ended.is_some() || simulated.outcome.deadlock.is_some();
        let code = runner.end(at_once);
        if !at_once {
            // A table of computation that has more ranks than there were is that of another
            // program.
            computation::resolve(configuration, ranks, keep)?;
        }
        let unprinted = runner.unprinted();
        Ok(Lived { simulated, ranks, strangers, ended, computed, code, unprinted })
    }

    /// Starts the programs, and with them what holds their ranks.
    fn hold<M>(
        &self,
        job: &Job<'_, Self, M>,
        room: Room,
        hosts: Option<&Hosts>,
    ) -> Result<Box<dyn Runner>, Failure> {
        let mut programs = self.programs.clone();
        let compute = self.configuration.word(keys::live::COMPUTE);
        for program in &mut programs {
            program.environment.push((COMPUTE.into(), compute.into()));
            if self.configuration.switch(keys::live::NO_PAYLOAD) {
                program.environment.push((PAYLOAD.into(), "off".into()));
            }
        }
        let started: io::Result<Box<dyn Runner>> = if let Some(make) = job.observers.make {
            make(&programs).map_err(|error| match programs.first() {
                Some(only) if error.kind() != io::ErrorKind::OutOfMemory => only.failed(&error),
                _ => error,
            })
        } else {
            let printing = job.observers.printing;
            let processes = processes(&mut programs, room, &self.configuration, printing, hosts)?;
            processes.map(|processes| Box::new(processes) as _)
        };
        started.map_err(|error| Failure::Input(format!("error: {}", reason(&error))))
    }
}
