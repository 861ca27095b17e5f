//! `heddle mpirun`.

pub mod check;
mod foreign_options;
mod placement;

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    time::Duration,
};

use experiment::{Configuration, MakeRunner, Observers, Plan, Printing, Report, Request};

pub use foreign_options::Adapted;

use crate::{
    arguments::{Arguments, Format, Mpirun},
    exit::{Ending, Exit, complain, print, written},
    processes, program,
    progress::Terminal,
    simulate, stop,
    streams::Out,
};

/// Most ranks of a program.
const MOST: u32 = (1 << 24) - 1;

/// Reads a number of ranks.
pub fn count(text: &str) -> Result<u32, String> {
    let ranks = text.parse().ok().filter(|ranks| (1..=MOST).contains(ranks));
    ranks.ok_or_else(|| format!("expected a whole number of ranks from 1 to {MOST}"))
}

/// Runs a program whose ranks are simulated, held by what `make` makes, or as the settings say. The
/// exit code is the program's own, if it ran.
pub fn run(arguments: &Mpirun, make: Option<MakeRunner>) -> Result<u8, Ending> {
    processes::refuse("mpirun", "--threads N simulates on several cores")?;
    let configuration = Configuration::read(&request(arguments)?)?;
    if !arguments.quiet && make.is_none() {
        for word in behind_program(&arguments.command) {
            complain(&format!(
                "note: {word} is an argument of the program; options of heddle come before it"
            ));
        }
    }
    if arguments.check {
        return check::run(&configuration, arguments.format);
    }
    if arguments.print_config {
        return print(&configuration.to_string()).map(|()| Exit::Success as u8);
    }
    if arguments.tag_output && configuration.is_in_process() {
        let message = "error: --tag-output cannot tell ranks apart that share a process \
                       (--in-process) and so its streams";
        return Err(Ending::new(Exit::Usage, message));
    }
    program::begin(&configuration, make, arguments.quiet)?;
    let sleep = program::Sleep::watch(&configuration, make.is_some());
    let plan = Plan::new(configuration)?;
    if plan.gantt && arguments.format == Some(Format::Json) {
        return Err(simulate::drawn_in_json());
    }
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    let printing = if arguments.tag_output { Printing::Tagged } else { Printing::Direct };
    stop::watch(live::stop);
    let mut out = program::output(arguments.format == Some(Format::Json))?;
    if let Some((limit, by)) = time_limit(arguments)? {
        stop::after(limit, live::stop, format!("error: the program was ended {by}"));
    }
    let terminal = Terminal::default();
    let mut report = plan.run(Observers { progress: &terminal, make, printing })?;
    report.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    show(arguments, plan.gantt, &report, &mut out)?;
    if let Some(sleep) = sleep.filter(|_| !arguments.quiet) {
        sleep.hint(&report);
    }
    if let Some(lost) = report.unprinted.take() {
        written(Err(lost), "standard output")?;
    }
    if report.summary.deadlock.is_some() && arguments.quiet {
        program::complain_of_deadlock(&report);
    }
    Ok(program::code(&report))
}

/// The arguments of the first program that look like options of ours.
fn behind_program(words: &[OsString]) -> Vec<String> {
    let mut command = <Arguments as clap::CommandFactory>::command();
    command.build();
    let known = command.find_subcommand("mpirun");
    let is_ours = |word: &str| {
        let name = word.strip_prefix("--").map(|word| word.split('=').next().unwrap_or(word));
        let long =
            |name| known.is_some_and(|known| known.get_arguments().any(|a| a.get_long() == name));
        ["-n", "-np"].contains(&word) || name.is_some() && name != Some("help") && long(name)
    };
    // A command that begins with `:` has no first program.
    let words = words.iter().take_while(|word| *word != ":").skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    words.filter(|word| is_ours(word)).collect()
}

/// The variable that says how many seconds the program has, as for MPICH and Open MPI.
const TIMEOUT: &str = "MPIEXEC_TIMEOUT";

/// Returns how long the program may run by the clock on the wall, if there is a limit, and what
/// says so.
fn time_limit(arguments: &Mpirun) -> Result<Option<(Duration, String)>, Ending> {
    let (seconds, name) = match (arguments.timeout, std::env::var(TIMEOUT)) {
        (Some(seconds), _) => (seconds, "--timeout"),
        // MPICH takes a negative number for no limit.
        (None, Ok(said)) if said.trim_start().starts_with('-') => return Ok(None),
        (None, Ok(said)) => (
            said.trim().parse().map_err(|_| {
                let message = format!("error: {TIMEOUT}: `{said}` is no number of seconds");
                Ending::new(Exit::Usage, message)
            })?,
            TIMEOUT,
        ),
        (None, Err(_)) => return Ok(None),
    };
    let limit = Duration::from_secs(seconds);
    Ok((seconds > 0).then(|| (limit, format!("after {seconds} s ({name})"))))
}

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
    Ok(format!("program:{}", shell_words::join(&words)))
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
    let mut said: Vec<_> = placed.iter().map(|(key, _, said)| (*key, said.clone())).collect();
    let jobs = flags.iter().find(|(key, _)| *key == "run.threads");
    said.extend(jobs.map(|(key, count)| (*key, format!("--jobs {count}"))));
    flags.extend(placed.into_iter().map(|(key, value, _)| (key, value)));
    let (machine, set) = (arguments.machine.clone(), arguments.set.clone());
    Ok(Request { machine, set, flags, said, ..Request::default() })
}

/// Prints the summary.
fn show(arguments: &Mpirun, gantt: bool, report: &Report, out: &mut Out) -> Result<(), Ending> {
    if arguments.format == Some(Format::Json) {
        let mut text = Vec::new();
        let shown = results::write_json(&mut text, &report.summary, &report.performance, None);
        written(shown.and_then(|()| out.write(&text)), "standard output")?;
    } else if !arguments.quiet {
        // Standard output is the program's.
        let mut out = BufWriter::new(io::stderr().lock());
        let shown = simulate::describe(report, gantt, &mut out);
        written(shown.and_then(|()| out.flush()), "standard error")?;
    }
    Ok(())
}
