//! Live programs as a workload, as `heddle mpirun` and `heddle run` carry them out.

use std::{convert::Infallible, ffi::OsString, os::unix::fs::MetadataExt, path::Path, process};

use clap::Parser;
use experiment::{Configuration, Launch, MakeRunner, Report, Value};
use recorder::launch;
use results::plural;

use crate::{
    arguments::{Arguments, Command, Run},
    exit::{Ending, Exit, byte_of, complain},
    mpirun::{self, Adapted, check},
    simulate,
    streams::Out,
};

/// The environment variable that holds the command line for [`inside`].
pub const INSIDE: &str = "HEDDLE_IN_PROCESS";
/// The environment variable with the folder where the command was given, if the program is to run
/// in another one.
pub const FROM: &str = "HEDDLE_IN_PROCESS_FROM";
/// The environment variables that tell the allocator of the process to keep what is free, as ranks
/// take turns, and what one gives back the next one takes; whether to take huge pages; and how much
/// of the address space to take in advance.
pub const ALLOCATOR: [&str; 3] =
    ["MIMALLOC_PURGE_DELAY", "MIMALLOC_ALLOW_THP", "MIMALLOC_ARENA_RESERVE"];
/// The KiB that the allocator takes in advance where the address space is limited (`ulimit -v`): so
/// few that stacks and messages have room. By itself it takes a GiB if there is one.
const RESERVE: &str = "65536";
/// Number of ranks from which on huge pages are worth their memory: they take some ten MB more, and
/// a tenth off the time where a processor no longer knows the places of most pages.
const HUGE_FROM: u32 = 4096;
/// The library that holds ranks in the process of the program.
const LIBRARY: &str = "libheddle_in_process.so";

/// Before a program is run: refuses what cannot start, and becomes the program where all ranks are
/// to share a process and this is not it yet, so that nothing holds them.
pub fn begin(
    configuration: &Configuration,
    make: Option<MakeRunner>,
    quiet: bool,
) -> Result<(), Ending> {
    if make.is_some() || !configuration.is_program() {
        return Ok(());
    }
    check::can_start(&configuration.programs()?)?;
    if configuration.is_in_process() {
        enter(configuration, quiet).map(|never| match never {})?;
    }
    Ok(())
}

/// Becomes the program, which loads the library that holds its ranks.
fn enter(configuration: &Configuration, quiet: bool) -> Result<Infallible, Ending> {
    let fail = |message: String| Ending::new(Exit::Input, format!("error: {message}"));
    let programs = configuration.programs()?;
    let [launch] = programs.as_slice() else {
        return Err(fail("--in-process holds one program, not several".to_owned()));
    };
    if std::env::var_os(launch::TRACES).is_some() {
        return Err(fail(
            "heddle record cannot record ranks that share a process\n\
             \x20 help: without --in-process, it can; the simulated times are the same"
                .to_owned(),
        ));
    }
    let folder = experiment::libraries().map_err(Ending::from)?;
    let library = folder.join(LIBRARY);
    if !library.is_file() {
        return Err(fail(format!("{} is missing; make build makes it", library.display())));
    }
    for caution in check::held(launch).map_err(fail)?.iter().filter(|_| !quiet) {
        complain(&format!("warning: in one process: {caution}"));
    }
    let line = std::env::args_os().map(OsString::into_string);
    let line: Vec<String> = line
        .collect::<Result<_, _>>()
        .map_err(|word| fail(format!("{} is no UTF-8", word.display())))?;
    let huge = if launch.ranks < HUGE_FROM { "0" } else { "1" };
    let mut command = process::Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .env(INSIDE, shell_words::join(&line))
        .env("LD_BIND_NOW", "1")
        .envs(ALLOCATOR.into_iter().zip(["-1", huge]))
        .envs(rank_ipc::share().map(|_| (ALLOCATOR[2], RESERVE)));
    let paths = std::env::var_os("LD_LIBRARY_PATH");
    let others = paths.iter().flat_map(std::env::split_paths);
    if let Ok(paths) = std::env::join_paths([folder.clone()].into_iter().chain(others)) {
        command.env("LD_LIBRARY_PATH", paths);
    }
    if let Some(folder) = &launch.directory {
        let here = std::env::current_dir();
        command.current_dir(folder).envs(here.map(|here| (FROM, here)));
    }
    let ours = experiment::variables(configuration, &folder, launch, Some(library));
    command.envs(launch.environment.iter().cloned()).envs(ours);
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(fail(experiment::reason(&launch.failed(&error))))
}

/// Carries out the command line within the program's process, where `make` holds the ranks.
pub fn inside(line: &[OsString], make: MakeRunner) -> u8 {
    // What has no effect has been said.
    let line = Adapted::new(line.iter().cloned()).unwrap_or_default().line;
    let arguments = Arguments::try_parse_from(crate::flags::joined(line));
    match arguments.map(|arguments| arguments.command) {
        Ok(Command::Mpirun(arguments)) => mpirun::run(&arguments, Some(make)),
        Ok(Command::Run(arguments)) => simulate::run(&arguments, Some(make)),
        _ => {
            Err(Ending::new(Exit::Usage, "error: the command line is not one that runs a program"))
        }
    }
    .unwrap_or_else(Ending::say)
}

/// Refuses to start a program that a file of another user names, unless that user is trusted, and
/// says what a file will start. What the command line itself names needs no question.
pub fn trusted(arguments: &Run, configuration: &Configuration) -> Result<(), Ending> {
    let named = Path::new(&arguments.source);
    let file = if named.is_dir() { named.join("manifest.json") } else { named.to_owned() };
    let Ok(data) = file.metadata() else { return Ok(()) };
    let programs = configuration.programs()?;
    if programs.is_empty() {
        return Ok(());
    }
    let describe = |launch: &Launch| {
        let words = launch.arguments.iter().map(|word| word.to_string_lossy());
        let line: Vec<_> = [launch.program.to_string_lossy()].into_iter().chain(words).collect();
        format!("{} of `{}`", plural(launch.ranks.into(), "rank"), line.join(" "))
    };
    let starts: Vec<_> = programs.iter().map(describe).collect();
    let starts = format!("{} starts {}", file.display(), starts.join(" and "));
    if data.uid() != rustix::process::geteuid().as_raw() && !arguments.trust {
        let message = format!(
            "error: {starts}, and belongs to another user\n\
             \x20 help: if you trust that user and this program, add --trust"
        );
        return Err(Ending::new(Exit::Input, message));
    }
    if !arguments.quiet {
        complain(&format!("note: {starts}"));
    }
    Ok(())
}

/// The place of the summary: standard output, which a JSON object does not share with programs.
pub fn output(apart: bool) -> Result<Out, Ending> {
    let out = if apart { Out::apart() } else { Ok(Out::Shared) };
    out.map_err(|error| {
        let reason = experiment::reason(&error);
        Ending::new(Exit::Output, format!("error: standard output: {reason}"))
    })
}

/// A watch on ranks that sleep in real time, one after the other, as what a rank may see of the
/// others depends on their order.
pub struct Sleep {
    /// Seconds that a processor was idle on average before the run.
    idle: f64,
}

impl Sleep {
    /// Begins to watch if ranks are processes whose clocks are real, and the system tells how long
    /// processors are idle.
    pub fn watch(configuration: &Configuration, in_process: bool) -> Option<Self> {
        let clock = configuration.get("live.host-clock").map(|(value, _)| value);
        let real = !in_process && clock == Some(Value::Word("real"));
        let idle = idle_seconds(&std::fs::read_to_string("/proc/stat").ok()?)?;
        real.then_some(Self { idle })
    }

    /// Hints at simulated clocks where ranks slept or waited most of the time.
    pub fn hint(&self, report: &Report) {
        let spent = report.performance.simulation_seconds;
        let read = |file| std::fs::read_to_string(file).unwrap_or_default();
        let idle = idle_seconds(&read("/proc/stat")).map(|idle| idle - self.idle);
        let children = children_seconds(&read("/proc/self/stat"));
        let (Some(idle), Some(children)) = (idle, children) else { return };
        if slept(spent, report.performance.cpu_seconds + children, idle) {
            complain(&format!(
                "note: the ranks slept or waited for most of {spent:.1} s of real time\n  \
                 help: with --host-clock simulated, sleeping takes simulated time only"
            ));
        }
    }
}

/// Says whether a run waited for sleeping ranks: it took more than two seconds, a fifth of which at
/// most was computed, while processors were idle for more than half of it. On a machine that is
/// busy with other things, nobody can tell.
fn slept(spent: f64, computed: f64, idle: f64) -> bool {
    spent > 2.0 && computed < 0.2 * spent && idle > 0.5 * spent
}

/// Seconds that a processor was idle on average since the system started (proc(5), `/proc/stat`:
/// the 4th and 5th number of `cpu`, for all processors).
fn idle_seconds(stat: &str) -> Option<f64> {
    let processors = stat.lines().filter(|line| line.starts_with("cpu")).count().checked_sub(1)?;
    let mut times = stat.lines().next()?.split_ascii_whitespace().skip(4).map(str::parse::<u64>);
    let ticks = times.next()?.ok()?.saturating_add(times.next()?.ok()?);
    Some(seconds(ticks) / processors as f64)
}

/// CPU time of all processes that this one started and waited for, in seconds (proc(5),
/// `/proc/self/stat`: `cutime` and `cstime`, the 14th and 15th field behind the name).
fn children_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(13).map(str::parse::<u64>);
    let ticks = times.next()?.ok()?.saturating_add(times.next()?.ok()?);
    Some(seconds(ticks))
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// Says that there is a deadlock, where the summary does not.
pub fn complain_of_deadlock(report: &Report) {
    let Some(deadlock) = &report.summary.deadlock else { return };
    let ranks = plural(deadlock.ranks, "rank");
    complain(&format!(
        "error: the program can never finish: a deadlock of {ranks}; without -q, the summary says \
         where they wait"
    ));
}

/// The exit code of a run: that of the program that was run, if it was a live one.
pub fn code(report: &Report) -> u8 {
    if report.summary.deadlock.is_some() { Exit::Deadlock as u8 } else { byte_of(report.code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_system_are_read() {
        let tick = seconds(1);
        let stat =
            "cpu  10 0 20 300 100 0 0 0 0 0\ncpu0 5 0 10 150 50 0 0\ncpu1 5 0 10 150 50\nintr 1";
        assert_eq!(idle_seconds(stat), Some(200.0 * tick));
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1 0 99";
        assert_eq!(children_seconds(stat), Some(27.0 * tick));
        assert_eq!((idle_seconds(""), children_seconds("7 (a) S 1")), (None, None));
    }

    /// A run of ten seconds.
    #[test]
    fn only_sleep_gets_a_hint() {
        assert!(slept(10.0, 1.0, 9.0));
        // It computes; others compute; it is short.
        assert!(!slept(10.0, 5.0, 7.0) && !slept(10.0, 0.1, 1.0) && !slept(1.0, 0.0, 1.0));
    }
}
