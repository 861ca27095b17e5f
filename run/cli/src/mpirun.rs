//! `heddle mpirun`.

mod check;
mod manners;
mod placement;

use std::{
    convert::Infallible,
    ffi::OsString,
    io::{self, BufWriter, Write},
    path::Path,
    process,
};

use clap::Parser;
use experiment::{Configuration, Failure, Launch, Make, Plan, Printing, Report, Request};
use recorder::launch;
use results::plural;

pub use manners::Adapted;

use crate::{
    arguments::{Arguments, Command, Format, Mpirun},
    exit::{Ending, Exit, complain, print, written},
    simulate, stop,
};

/// Runs a program whose ranks are simulated, held by what `make` makes, or each by a process. The exit code is the program's own,
/// if it ran.
pub fn run(arguments: &Mpirun, make: Option<Make>) -> u8 {
    let ran = match make {
        _ if arguments.check => check::run(arguments),
        None if arguments.in_process => enter(arguments).map(|never| match never {}),
        _ => carry_out(arguments, make),
    };
    ran.unwrap_or_else(Ending::say)
}

/// The environment variable that holds the command line for [`inside`].
pub const INSIDE: &str = "HEDDLE_IN_PROCESS";
/// The environment variable with the folder where the command was given, if the program is to run in another one.
pub const FROM: &str = "HEDDLE_IN_PROCESS_FROM";
/// The environment variables that tell the allocator of the process to keep what is free, as ranks take turns, and what one gives back
/// the next one takes; and whether to take huge pages.
pub const ALLOCATOR: [&str; 2] = ["MIMALLOC_PURGE_DELAY", "MIMALLOC_ALLOW_THP"];
/// From how many ranks on huge pages are worth their memory: they take some ten MB more, and a tenth off the time where a processor
/// no longer knows the places of most pages.
const HUGE_FROM: u32 = 4096;
/// The library that holds ranks in the process of the program.
const LIBRARY: &str = "libheddle_in_process.so";

/// Carries out the command line within the program's process, where `make` holds the ranks.
pub fn inside(line: &[OsString], make: Make) -> u8 {
    // What has no effect has been said.
    let line = Adapted::new(line.iter().cloned()).unwrap_or_default().line;
    match Arguments::try_parse_from(crate::flags::joined(line)) {
        Ok(Arguments { command: Command::Mpirun(arguments) }) => run(&arguments, Some(make)),
        _ => Ending::new(Exit::Usage, "error: the command line is not that of heddle mpirun").say(),
    }
}

/// Becomes the program, which loads the library that holds its ranks.
fn enter(arguments: &Mpirun) -> Result<Infallible, Ending> {
    let fail = |message: String| Ending::new(Exit::Input, format!("error: {message}"));
    if arguments.command.iter().any(|word| word == ":") {
        return Err(fail("--in-process holds one program, not several".to_owned()));
    }
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
    let (program, rest) =
        arguments.command.split_first().ok_or_else(|| fail("no program".to_owned()))?;
    check::can_start(arguments)?;
    let cautions = check::held(program, arguments.directory.as_deref().map(Path::new));
    for caution in cautions.map_err(fail)?.iter().filter(|_| !arguments.quiet) {
        complain(&format!("warning: in one process: {caution}"));
    }
    let line = std::env::args_os().map(OsString::into_string);
    let line: Vec<String> = line
        .collect::<Result<_, _>>()
        .map_err(|word| fail(format!("{} is no UTF-8", word.display())))?;
    let configuration = Configuration::read(&request(arguments)?)?;
    let huge = if arguments.ranks < HUGE_FROM { "0" } else { "1" };
    let mut command = process::Command::new(program);
    command
        .args(rest)
        .env(INSIDE, shell_words::join(&line))
        .env("LD_BIND_NOW", "1")
        .envs(ALLOCATOR.into_iter().zip(["-1", huge]));
    let paths = std::env::var_os("LD_LIBRARY_PATH");
    let others = paths.iter().flat_map(std::env::split_paths);
    if let Ok(paths) = std::env::join_paths([folder.clone()].into_iter().chain(others)) {
        command.env("LD_LIBRARY_PATH", paths);
    }
    if let Some(folder) = &arguments.directory {
        let here = std::env::current_dir();
        command.current_dir(folder).envs(here.map(|here| (FROM, here)));
    }
    let launches = programs(arguments)?;
    for launch in &launches {
        let ours = experiment::variables(&configuration, &folder, launch, Some(library.clone()));
        command.envs(launch.environment.iter().cloned()).envs(ours);
    }
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    let error = match launches.first() {
        Some(only) => only.failed(&error),
        None => error,
    };
    Err(fail(experiment::reason(&error)))
}

/// The programs.
fn programs(arguments: &Mpirun) -> Result<Vec<Launch>, Ending> {
    let text = workload(arguments)?;
    let programs = experiment::programs(text.strip_prefix(WORKLOAD).unwrap_or(&text));
    programs.map_err(|message| Ending::new(Exit::Usage, format!("error: {message}")))
}

/// How a workload of programs begins.
const WORKLOAD: &str = "program:";

/// The programs as the workload that the experiment knows.
fn workload(arguments: &Mpirun) -> Result<String, Ending> {
    let usage = |message: String| Ending::new(Exit::Usage, format!("error: {message}"));
    let mut words: Vec<String> = Vec::new();
    let mut first = true;
    for part in arguments.command.split(|word| word == ":") {
        let later;
        let mut part = part;
        if first {
            words.extend(["-n".to_owned(), arguments.ranks.to_string()]);
            words.extend(
                arguments.directory.iter().flat_map(|folder| ["-wdir".to_owned(), folder.clone()]),
            );
        } else {
            words.push(":".to_owned());
            later = Adapted::later(part).map_err(usage)?;
            later.complain();
            part = &later.line;
        }
        let variables = arguments.variables.iter().filter_map(|said| variable(said));
        words.extend(variables.flat_map(|said| ["-x".to_owned(), said]));
        first = false;
        for word in part {
            let word =
                word.to_str().ok_or_else(|| usage(format!("{} is no UTF-8", word.display())))?;
            words.push(word.to_owned());
        }
    }
    Ok(format!("{WORKLOAD}{}", shell_words::join(&words)))
}

/// A variable with its value: that which it has here, if none is given. Nothing if it is not set.
fn variable(said: &str) -> Option<String> {
    if said.contains('=') {
        return Some(said.to_owned());
    }
    std::env::var(said).ok().map(|value| format!("{said}={value}"))
}

/// The experiment that the command line describes.
fn request(arguments: &Mpirun) -> Result<Request, Ending> {
    // What some flags mean depends on the workload, which therefore comes first.
    let mut flags = vec![("workload.source", workload(arguments)?)];
    flags.extend(arguments.flags.0.iter().cloned());
    let placed = placement::keys(arguments)?;
    let said = placed.iter().map(|(key, _, said)| (*key, said.clone())).collect();
    flags.extend(placed.into_iter().map(|(key, value, _)| (key, value)));
    let (machine, set) = (arguments.machine.clone(), arguments.set.clone());
    Ok(Request { subject: None, machine, set, flags, said })
}

fn carry_out(arguments: &Mpirun, make: Option<Make>) -> Result<u8, Ending> {
    let configuration = Configuration::read(&request(arguments)?)?;
    if arguments.print_config {
        return print(&configuration.to_string()).map(|()| Exit::Success as u8);
    }
    let mut plan = Plan::new(configuration)?;
    if make.is_none() {
        check::can_start(arguments)?;
    }
    if make.is_some() && plan.settings.threads != 1 {
        // Ranks in one process share its memory: one runs at a time, and the simulator with it.
        plan.settings.threads = 1;
        complain(
            "warning: run.threads has no effect: with --in-process, everything runs on one thread",
        );
    }
    if make.is_some() && plan.configuration().get("live.spawn").is_some() {
        complain("warning: live.spawn has no effect: with --in-process, no processes are started");
    }
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    if arguments.tag_output {
        plan.printing = Printing::Tagged;
    }
    stop::watch(live::stop);
    let mut report = match experiment::run_held(&plan, make) {
        Err(Failure::Ended(ending)) => {
            complain(&ending.to_string());
            return Ok(code(ending.code));
        }
        report => report?,
    };
    report.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    show(arguments, plan.gantt, &report)?;
    if let Some(lost) = report.unprinted.take() {
        written(Err(lost), "standard output")?;
    }
    match &report.summary.deadlock {
        Some(deadlock) => {
            if arguments.quiet {
                let ranks = plural(deadlock.ranks, "rank");
                complain(&format!(
                    "error: the program can never finish: a deadlock of {ranks}; without -q, the summary says where they wait"
                ));
            }
            Ok(Exit::Deadlock as u8)
        }
        None => Ok(code(report.code)),
    }
}

/// Prints the summary.
fn show(arguments: &Mpirun, gantt: bool, report: &Report) -> Result<(), Ending> {
    if arguments.format == Some(Format::Json) {
        let mut out = BufWriter::new(io::stdout().lock());
        let shown = results::write_json(&mut out, &report.summary, &report.performance, None);
        written(shown.and_then(|()| out.flush()), "standard output")?;
    } else if !arguments.quiet {
        // Standard output is the program's.
        let mut out = BufWriter::new(io::stderr().lock());
        let shown = simulate::describe(report, gantt, &mut out);
        written(shown.and_then(|()| out.flush()), "standard error")?;
    }
    Ok(())
}

/// The exit code of a process that ends with this one: its last byte, but 0 only for 0.
fn code(code: i32) -> u8 {
    let [last, ..] = code.to_le_bytes();
    if last == 0 && code != 0 { Exit::Input as u8 } else { last }
}
