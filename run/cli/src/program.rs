//! Live programs as a workload, as `heddle mpirun` and `heddle run` carry them out.

use std::{convert::Infallible, ffi::OsString, process};

use clap::Parser;
use experiment::{Configuration, Make, Report};
use recorder::launch;
use results::plural;

use crate::{
    arguments::{Arguments, Command},
    exit::{Ending, Exit, byte_of, complain},
    mpirun::{self, Adapted, check},
    simulate,
};

/// The environment variable that holds the command line for [`inside`].
pub const INSIDE: &str = "HEDDLE_IN_PROCESS";
/// The environment variable with the folder where the command was given, if the program is to run
/// in another one.
pub const FROM: &str = "HEDDLE_IN_PROCESS_FROM";
/// The environment variables that tell the allocator of the process to keep what is free, as ranks
/// take turns, and what one gives back the next one takes; and whether to take huge pages.
pub const ALLOCATOR: [&str; 2] = ["MIMALLOC_PURGE_DELAY", "MIMALLOC_ALLOW_THP"];
/// From how many ranks on huge pages are worth their memory: they take some ten MB more, and a
/// tenth off the time where a processor no longer knows the places of most pages.
const HUGE_FROM: u32 = 4096;
/// The library that holds ranks in the process of the program.
const LIBRARY: &str = "libheddle_in_process.so";

/// Whether all ranks are to share a process.
pub fn is_in_process(configuration: &Configuration) -> bool {
    configuration.is_program() && configuration.switch("live.in-process")
}

/// Before a program is run: refuses what cannot start, and becomes the program where all ranks are
/// to share a process and this is not it yet, so that nothing holds them.
pub fn begin(configuration: &Configuration, make: Option<Make>, quiet: bool) -> Result<(), Ending> {
    if make.is_some() || !configuration.is_program() {
        return Ok(());
    }
    check::can_start(&configuration.programs()?)?;
    if is_in_process(configuration) {
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
            "heddle record cannot record ranks that share a process\n  \
             help: without --in-process, it can; the simulated times are the same"
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
        .envs(ALLOCATOR.into_iter().zip(["-1", huge]));
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
pub fn inside(line: &[OsString], make: Make) -> u8 {
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

/// Says that there is a deadlock, where the summary does not.
pub fn complain_of_deadlock(report: &Report) {
    let Some(deadlock) = &report.summary.deadlock else { return };
    let ranks = plural(deadlock.ranks, "rank");
    complain(&format!(
        "error: the program can never finish: a deadlock of {ranks}; without -q, the summary says where they wait"
    ));
}

/// The exit code of a run: that of the program that was run, if it was a live one.
pub fn code(report: &Report) -> u8 {
    if report.summary.deadlock.is_some() { Exit::Deadlock as u8 } else { byte_of(report.code) }
}
