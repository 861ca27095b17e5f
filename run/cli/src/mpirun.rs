//! `heddle mpirun`.

use std::{
    ffi::OsString,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use experiment::{Configuration, Failure, Plan, Request};

use crate::{
    arguments::{Format, Mpirun},
    exit::{Ending, Exit, complain, print, written},
    simulate, stop,
};

/// Options of other `mpirun`s that are words behind one dash, and what they are here.
const SINGLE_DASH: [(&str, &str); 6] = [
    ("-np", "--np"),
    ("-wdir", "--wdir"),
    ("-host", "--host"),
    ("-hostfile", "--hostfile"),
    ("-machinefile", "--hostfile"),
    ("-map-by", "--map-by"),
];

/// The command line with the single-dash words of `mpirun` as this command's options.
pub fn adapted(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.into_iter().collect();
    if arguments.get(1).is_none_or(|command| command != "mpirun") {
        return arguments;
    }
    for argument in &mut arguments {
        if let Some((_, ours)) = SINGLE_DASH.iter().find(|(theirs, _)| argument == theirs) {
            *argument = (*ours).into();
        }
    }
    arguments
}

/// Runs a program whose ranks are simulated. The exit code is the program's own, if it ran.
pub fn run(arguments: &Mpirun) -> ExitCode {
    carry_out(arguments).unwrap_or_else(Ending::report)
}

/// The programs as the workload that the experiment knows.
fn workload(arguments: &Mpirun) -> Result<String, Ending> {
    let usage = |message: String| Ending::new(Exit::Usage, format!("error: {message}"));
    let mut words: Vec<String> = Vec::new();
    let mut first = true;
    for part in arguments.command.split(|word| word == ":") {
        if !first {
            words.push(":".to_owned());
        } else {
            words.extend(["-n".to_owned(), arguments.ranks.to_string()]);
            words.extend(
                arguments.directory.iter().flat_map(|folder| ["-wdir".to_owned(), folder.clone()]),
            );
        }
        words.extend(arguments.variables.iter().flat_map(|said| ["-x".to_owned(), variable(said)]));
        first = false;
        for word in part {
            let word =
                word.to_str().ok_or_else(|| usage(format!("{} is no UTF-8", word.display())))?;
            let known = SINGLE_DASH
                .iter()
                .find(|(_, ours)| word == *ours)
                .map_or(word, |(theirs, _)| theirs);
            words.push(if known == "-np" { "-n".to_owned() } else { known.to_owned() });
        }
    }
    Ok(format!("program:{}", shell_words::join(&words)))
}

/// A variable with its value: that which it has here, if none is given.
fn variable(said: &str) -> String {
    if said.contains('=') {
        return said.to_owned();
    }
    format!("{said}={}", std::env::var(said).unwrap_or_default())
}

fn carry_out(arguments: &Mpirun) -> Result<ExitCode, Ending> {
    let mut flags = arguments.flags.0.clone();
    flags.push(("workload.source", workload(arguments)?));
    let request = Request {
        subject: None,
        machine: arguments.machine.clone(),
        set: arguments.set.clone(),
        flags,
    };
    let configuration = Configuration::read(&request)?;
    if arguments.print_config {
        return print(&configuration.to_string()).map(|()| ExitCode::SUCCESS);
    }
    let plan = Plan::new(configuration)?;
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    if plan.output.is_some() {
        stop::watch();
    }
    let report = match experiment::run(&plan) {
        Err(Failure::Ended(ending)) => {
            complain(&ending.to_string());
            return Ok(code(ending.code));
        }
        report => report?,
    };
    if arguments.format == Some(Format::Json) {
        let mut out = BufWriter::new(io::stdout().lock());
        let shown = results::write_json(&mut out, &report.summary, &report.performance, None);
        written(shown.and_then(|()| out.flush()), "standard output")?;
    } else if !arguments.quiet {
        // Standard output is the program's.
        let mut out = BufWriter::new(io::stderr().lock());
        let shown = simulate::describe(&report, plan.gantt, &mut out);
        written(shown.and_then(|()| out.flush()), "standard error")?;
    }
    match report.summary.deadlock {
        Some(_) => Ok(Exit::Deadlock.into()),
        None => Ok(code(report.code)),
    }
}

fn code(code: i32) -> ExitCode {
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}
