//! Live programs as a workload.
//!
//! `program:` and what stands behind it is the command line of `mpirun`, quoted as for a shell: for
//! each program `-n RANKS`, `-wdir FOLDER`, `-x NAME=VALUE`, the program and its arguments; a `:`
//! by itself comes between two programs.

use std::{
    env, io,
    path::{Path, PathBuf, absolute},
};

use collectives::Algorithms;
use layers::{holding, libraries::CORE};
use live::{Costs, Hosts, Launch, Live, MakeRunner, Printing, Processes, Room, Runner};
use units::Time;

use crate::{
    computation,
    configuration::Configuration,
    diagnostic::{Diagnostic, reason},
    flow_machine::FlowMachine,
    run::Failure,
    trace_input,
    variables::variables,
};

/// The environment variable that names the folder of our libraries of MPI.
const FOLDER: &str = "HEDDLE_MPI";
/// Tells ranks how their computation counts.
const COMPUTE: &str = "HEDDLE_COMPUTE";

/// Tells ranks whether messages have contents.
const PAYLOAD: &str = "HEDDLE_PAYLOAD";

/// The programs that a workload names, behind `program:`.
pub(crate) fn programs(text: &str) -> Result<Vec<Launch>, String> {
    let words = shell_words::split(text).map_err(|error| format!("{error} in `{text}`"))?;
    words.split(|word| word == ":").map(program).collect()
}

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
    let found = holding::found(Path::new(&launch.program));
    match &launch.directory {
        Some(folder) => folder.join(found),
        None => found,
    }
}

/// How many ranks they begin with.
pub(crate) fn first(programs: &[Launch]) -> u32 {
    programs.iter().map(|program| program.ranks).sum()
}

/// How many more processes may be started, if nothing is said.
const MORE: u32 = 1000;

/// How many more ranks the first ones may start, if each is a process; `spare` is how many hosts
/// have no rank, on a machine with hosts. Programs that start as many processes as there is room
/// for want a limit that somebody has thought of.
pub(crate) fn room(configuration: &Configuration, first: u32, spare: Option<u32>) -> Room {
    match configuration.count("live.spawn") {
        Some(said) => Room { more: said as u32, universe: first + said as u32 },
        None => Room { more: spare.unwrap_or(MORE).min(MORE), universe: first },
    }
}

/// A line of programs, each in the folder that `place` makes of the one that is said for it. What
/// is no such line stays as it is.
pub(crate) fn placed(line: &str, place: impl Fn(Option<PathBuf>) -> Option<PathBuf>) -> String {
    let Ok(launches) = programs(line) else { return line.to_owned() };
    let words = |launch: Launch| {
        let mut words = vec!["-n".to_owned(), launch.ranks.to_string()];
        if let Some(folder) = place(launch.directory) {
            words.extend(["-wdir".to_owned(), folder.display().to_string()]);
        }
        for (name, value) in launch.environment {
            words.extend(["-x".to_owned(), format!("{}={}", name.display(), value.display())]);
        }
        let command = [launch.program].into_iter().chain(launch.arguments);
        words.extend(command.map(|word| word.display().to_string()));
        shell_words::join(words)
    };
    launches.into_iter().map(words).collect::<Vec<_>>().join(" : ")
}

fn program(words: &[String]) -> Result<Launch, String> {
    let mut launch = Launch { ranks: 1, ..Launch::default() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` wants a value"));
        match word.as_str() {
            "-n" | "-np" => {
                let count = value()?;
                let ranks = count.parse().ok().filter(|ranks| (1..1 << 24).contains(ranks));
                launch.ranks =
                    ranks.ok_or_else(|| format!("expected a number of ranks, found `{count}`"))?;
            }
            "-wdir" => launch.directory = Some(PathBuf::from(value()?)),
            "-x" => {
                let said = value()?;
                let (name, text) = said.split_once('=').unwrap_or((said, ""));
                launch.environment.push((name.into(), text.into()));
            }
            option if option.starts_with('-') => {
                return Err(format!("`{option}` is no option of a program: -n, -wdir and -x are"));
            }
            _ => {
                launch.program = word.into();
                launch.arguments = words.by_ref().map(Into::into).collect();
            }
        }
    }
    if launch.program.is_empty() { Err("there is no program".to_owned()) } else { Ok(launch) }
}

/// Checks the workload `program:`.
pub(crate) fn check(
    text: &str,
    configuration: &Configuration,
) -> Result<Vec<Launch>, Vec<Diagnostic>> {
    let programs = programs(text)
        .map_err(|message| vec![configuration.mistake("workload.source", message)])?;
    if configuration.word("loggops.compat") == "loggopsim" {
        let message = "LogGOPSim runs schedules, not programs";
        return Err(vec![configuration.mistake("loggops.compat", message)]);
    }
    let mut mistakes = computation::check(configuration);
    if configuration.bytes("live.fold").is_some_and(|least| least.get() < SMALLEST_FOLD) {
        let message =
            format!("expected at least {SMALLEST_FOLD} B: what is smaller is not worth it");
        mistakes.push(configuration.mistake("live.fold", message));
    }
    if mistakes.is_empty() { Ok(programs) } else { Err(mistakes) }
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
            "error: {FOLDER}: {name} is not the folder of the libraries of MPI: there is no {CORE} in it{help}"
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

/// How ranks are held, and what is kept of them.
pub(crate) struct Held<'a> {
    /// By what; or each by a process.
    pub make: Option<MakeRunner<'a>>,
    /// What these may start.
    pub room: Room,
    /// Where what these print goes.
    pub printing: Printing,
    /// The hosts that they are on, if the machine has hosts.
    pub hosts: Option<Hosts>,
    /// Whether what is measured of their computation is kept.
    pub keep: bool,
}

/// What became of a live program.
pub(crate) struct Lived<T> {
    pub outcome: T,
    /// How many ranks there were, with those that were started by others.
    pub ranks: u32,
    /// How many of them never used MPI.
    pub strangers: u32,
    /// How it ended, if that was before its time.
    pub ended: Option<live::Ended>,
    /// What was measured of its computation, if that is kept: nanoseconds by rank and region.
    pub computed: Vec<Vec<u64>>,
    /// Its exit code.
    pub code: i32,
    /// Why some of what it printed was lost, if it was.
    pub unprinted: Option<io::Error>,
}

/// What calls that move no data cost; time must go on for a program that polls.
pub(crate) fn costs(configuration: &Configuration, flow: Option<&FlowMachine>) -> Costs {
    let time = |key| configuration.time(key).unwrap_or_default();
    let or = |cost: Time, key| if cost == Time::ZERO { time(key).ps() } else { cost.ps() };
    let calls = flow.map(|flow| &flow.items.calls);
    let [test, probe, clock] =
        calls.map_or([Time::ZERO; 3], |calls| [calls.test, calls.iprobe, calls.wtime]);
    Costs {
        test: or(test, "live.poll"),
        probe: or(probe, "live.poll"),
        clock: or(clock, "live.clock"),
        start: time("live.spawn-time").ps(),
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

/// Starts the programs and lets `simulate` run them.
pub(crate) fn with<T>(
    programs: &[Launch],
    configuration: &Configuration,
    flow: Option<&FlowMachine>,
    Held { make, room, printing, hosts, keep }: Held<'_>,
    simulate: impl FnOnce(&Live<'_, dyn Runner>) -> Result<T, Failure>,
    is_stuck: impl Fn(&T) -> bool,
) -> Result<Lived<T>, Failure> {
    let ranks = first(programs);
    let mut programs = programs.to_vec();
    let compute = configuration.word("live.compute");
    for program in &mut programs {
        program.environment.push((COMPUTE.into(), compute.into()));
        if configuration.switch("live.no-payload") {
            program.environment.push((PAYLOAD.into(), "off".into()));
        }
    }
    let chosen: Algorithms = trace_input::library_of(configuration, flow)?;
    let computation = computation::resolve(configuration, ranks + room.more, keep)?;
    let started: io::Result<Box<dyn Runner>> = if let Some(make) = make {
        make(&programs).map_err(|error| match programs.first() {
            Some(only) if error.kind() != io::ErrorKind::OutOfMemory => only.failed(&error),
            _ => error,
        })
    } else {
        let processes = processes(&mut programs, room, configuration, printing, hosts.as_ref())?;
        processes.map(|processes| Box::new(processes) as _)
    };
    let mut runner =
        started.map_err(|error| Failure::Input(format!("error: {}", reason(&error))))?;
    let live =
        Live::new(&*runner, (ranks, room.more), &chosen, costs(configuration, flow), computation);
    if configuration.count("run.threads") != Some(1) && !runner.memory().layout().is_private() {
        runner.memory().compute_at_once();
    }
    if let Some(hosts) = hosts {
        live.place_on(&hosts).map_err(|full| Failure::Input(format!("error: hosts: {full}")))?;
    }
    let outcome = simulate(&live);
    let (ended, computed) = (live.ended(), live.computation());
    let (ranks, strangers) = (live.lived(), live.strangers());
    let outcome = outcome?;
    let at_once = ended.is_some() || is_stuck(&outcome);
    let code = runner.end(at_once);
    if !at_once {
        // A table of computation that has more ranks than there were is that of another program.
        computation::resolve(configuration, ranks, keep)?;
    }
    let unprinted = runner.unprinted();
    Ok(Lived { outcome, ranks, strangers, ended, computed, code, unprinted })
}
