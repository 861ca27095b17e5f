//! Live programs as a workload.
//!
//! `program:` and what stands behind it is the command line of `mpirun`, quoted as for a shell: for each program `-n RANKS`, `-wdir FOLDER`,
//! `-x NAME=VALUE`, the program and its arguments; a `:` by itself comes between two programs.

use std::{env, io, path::PathBuf};

use live::{Costs, Holder, Hosts, Launch, Live, Make, Printing, Processes};
use traces::library::Library;

use crate::{
    configuration::Configuration,
    diagnostic::{Diagnostic, reason},
    flow_machine::FlowMachine,
    run::Failure,
    trace_input,
};

/// The environment variable that names the folder of our libraries of MPI.
const FOLDER: &str = "HEDDLE_MPI";
/// Tells ranks how their computation counts.
const COMPUTE: &str = "HEDDLE_COMPUTE";

/// The programs that a workload names, behind `program:`.
pub fn programs(text: &str) -> Result<Vec<Launch>, String> {
    let words = shell_words::split(text).map_err(|error| format!("{error} in `{text}`"))?;
    words.split(|word| word == ":").map(program).collect()
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
    Ok(programs)
}

/// The folder of our libraries of MPI: what the environment says, or `mpi/lib` beside this program.
pub fn libraries() -> Result<PathBuf, Failure> {
    if let Some(folder) = env::var_os(FOLDER) {
        return Ok(folder.into());
    }
    let beside = || Some(env::current_exe().ok()?.canonicalize().ok()?.parent()?.join("mpi/lib"));
    beside().filter(|folder| folder.is_dir()).ok_or_else(|| {
        let help = "help: make build makes them; or set HEDDLE_MPI to their folder";
        Failure::Input(format!(
            "error: the libraries of MPI for programs are not beside this command\n  {help}"
        ))
    })
}

/// Starts the programs and lets `simulate` run them; gives its result, and the exit code of the program.
pub(crate) fn with<T>(
    programs: &[Launch],
    configuration: &Configuration,
    flow: Option<&FlowMachine>,
    (make, hosts): (Option<Make<'_>>, Option<Hosts>),
    simulate: impl FnOnce(&Live<'_, dyn Holder>) -> Result<T, Failure>,
    is_stuck: impl Fn(&T) -> bool,
) -> Result<(T, Option<live::Ended>, i32), Failure> {
    let ranks = programs.iter().map(|program| program.ranks).sum();
    let mut programs = programs.to_vec();
    let compute = configuration.word("live.compute");
    for program in &mut programs {
        program.environment.push((COMPUTE.into(), compute.into()));
    }
    let chosen: Library = trace_input::library_of(configuration, flow)?;
    let time = |key| configuration.time(key).unwrap_or_default().ps();
    let costs = match flow {
        None => {
            Costs { test: time("live.poll"), probe: time("live.poll"), clock: time("live.clock") }
        }
        Some(flow) => {
            let calls = &flow.items.calls;
            // Time must go on for a program that polls.
            let or = |cost: units::Time, key| {
                if cost == units::Time::ZERO { time(key) } else { cost.ps() }
            };
            Costs {
                test: or(calls.test, "live.poll"),
                probe: or(calls.iprobe, "live.poll"),
                clock: or(calls.wtime, "live.clock"),
            }
        }
    };
    let scale = configuration.factor("live.scale").unwrap_or(1.0);
    let started: io::Result<Box<dyn Holder>> = if let Some(make) = make {
        make(&programs)
    } else {
        let processes = Processes::start(&programs, &libraries()?, Printing::Direct);
        processes.map(|processes| Box::new(processes) as _)
    };
    let mut holder = started.map_err(|error| {
        let named: Vec<_> =
            programs.iter().map(|program| program.program.to_string_lossy()).collect();
        Failure::Input(format!("error: {}: {}", named.join(", "), reason(&error)))
    })?;
    let live = Live::new(&*holder, ranks, &chosen, costs, scale);
    if let Some(hosts) = hosts {
        live.place_on(&hosts).map_err(|full| Failure::Input(format!("error: hosts: {full}")))?;
    }
    let outcome = simulate(&live);
    let ended = live.ended();
    let outcome = outcome?;
    let at_once = ended.is_some() || is_stuck(&outcome);
    let code = holder.end(at_once);
    Ok((outcome, ended, code))
}
