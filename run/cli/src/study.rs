//! `heddle study`.

mod slurm;

use std::{
    env,
    fmt::Write as _,
    io::{self, IsTerminal},
    ops::Range,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use experiment::{
    Failure, Request,
    study::{Folder, Opening, Shared, Study},
};

use crate::{
    arguments::{Executor, Study as Arguments},
    exit::{Ending, Exit, complain, print},
    processes, stop,
};

/// Runs a study, or says what it would run.
pub fn run(arguments: &Arguments) -> Result<(), Ending> {
    processes::refuse("study", "--jobs N runs several at a time")?;
    let request = Request {
        subject: Some(arguments.file.clone()),
        machine: arguments.machine.clone(),
        set: arguments.set.clone(),
        ..Request::default()
    };
    let study = Study::read(&request).map_err(Failure::from)?;
    let part = part(arguments, &study)?;
    if arguments.dry_run {
        let text = listed(&study, part.clone());
        return print(&(text + &expected(arguments, &study, part)));
    }
    let Some(output) = &arguments.output else {
        let message = "error: a study needs a folder for its results\n  help: add -o DIR";
        return Err(Ending::new(Exit::Usage, message));
    };
    let opening = match (arguments.retry_failed, arguments.resume) {
        (true, _) => Opening::Retry,
        (false, true) => Opening::Resume,
        (false, false) => Opening::New,
    };
    let folder = Folder::open(Path::new(output), &study, part, opening)?;
    let folder = match arguments.on {
        Some(Executor::Commands) => {
            let lines = commands(arguments, "heddle", output, &folder.missing());
            return print(&lines.iter().flat_map(|line| [line, "\n"]).collect::<String>());
        }
        Some(Executor::Slurm) => {
            let own = env::current_exe().unwrap_or_else(|_| "heddle".into());
            let lines = commands(arguments, &own.to_string_lossy(), output, &folder.missing());
            slurm::carry_out(arguments, Path::new(output), &lines)?;
            // The tasks have added to the folder.
            Folder::open(Path::new(output), &study, 0..study.runs(), Opening::Resume)?
        }
        None => {
            stop::watch(live::stop);
            carry_out(&study, &folder, arguments.jobs)?;
            folder
        }
    };
    let complete = folder.finish(&study, arguments.tables_format.into())?;
    conclude(&study, &folder, output, complete)
}

/// The runs that are asked for.
fn part(arguments: &Arguments, study: &Study) -> Result<Range<usize>, Ending> {
    let Some(text) = &arguments.runs else { return Ok(0..study.runs()) };
    let bounds = text.split_once("..").and_then(|(from, to)| {
        let from = if from.is_empty() { 0 } else { from.parse().ok()? };
        let to = if to.is_empty() { study.runs() } else { to.parse().ok()? };
        Some(from..to)
    });
    bounds.filter(|part| part.start < part.end && part.end <= study.runs()).ok_or_else(|| {
        let message = format!(
            "error: --runs {text}: expected FROM..TO, numbers of runs from 0 to {}, the second \
             behind the last",
            study.runs()
        );
        Ending::new(Exit::Usage, message)
    })
}

/// The runs with what varies, as CSV is shown to people.
fn listed(study: &Study, part: Range<usize>) -> String {
    let head: Vec<String> = ["run".to_owned()].into_iter().chain(study.columns()).collect();
    let row =
        |run: usize| [run.to_string()].into_iter().chain(study.values(run)).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = part.map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&head]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in [&head].into_iter().chain(&rows) {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(text, "\n{}", results::plural(rows.len() as u64, "run"));
    text
}

/// Says how long the runs will take that are not finished yet, and how that is known.
fn expected(arguments: &Arguments, study: &Study, part: Range<usize>) -> String {
    let folder = arguments.output.as_deref().map(Path::new);
    let finished = folder.map(|folder| experiment::study::finished(folder, study));
    let finished = finished.unwrap_or_default();
    let missing: Vec<usize> = part.filter(|run| !finished.contains_key(run)).collect();
    if missing.is_empty() {
        return "nothing is left to run\n".to_owned();
    }
    let left = results::plural(missing.len() as u64, "run");
    let Some(estimate) = study.estimate(&missing, &finished) else {
        return format!(
            "{left} to do; how long that takes is known once one of them is finished: its work is \
             not known before\n"
        );
    };
    let time = duration(estimate.seconds);
    let jobs = match arguments.jobs.min(missing.len()) {
        0 | 1 => String::new(),
        jobs => format!(", {} by {jobs} at a time", duration(estimate.seconds / jobs as f64)),
    };
    let done = || results::plural(estimate.finished as u64, "finished run");
    let basis = match (estimate.finished, estimate.by_work) {
        (0, _) => "their operations and signals, at 5 million in a second".to_owned(),
        (_, true) => format!("their operations and signals, at the speed of {}", done()),
        (_, false) => format!("the mean of {}", done()),
    };
    format!("{left} to do: about {time} of wall time{jobs}\nestimated from {basis}\n")
}

/// A time for people, to two digits.
fn duration(seconds: f64) -> String {
    match seconds {
        ..0.995 => format!("{:.1} ms", seconds * 1e3),
        ..99.5 => format!("{seconds:.1} s"),
        ..5970.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A command line for each part of the runs that are missing, for whatever runs commands.
fn commands(arguments: &Arguments, program: &str, output: &str, missing: &[usize]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = missing;
    while let Some(&first) = rest.first() {
        let together = rest.iter().zip(first..first + arguments.chunk);
        let length = together.take_while(|(run, expected)| *run == expected).count();
        let mut line = vec![program, "study", &arguments.file, "-o", output];
        let runs = format!("{first}..{}", first + length);
        line.push(if arguments.retry_failed { "--retry-failed" } else { "--resume" });
        line.extend(["--runs", &runs]);
        if results::TableForm::from(arguments.tables_format) == results::TableForm::Parquet {
            line.extend(["--tables-format", "parquet"]);
        }
        if let Some(machine) = &arguments.machine {
            line.extend(["--machine", machine]);
        }
        line.extend(arguments.set.iter().flat_map(|set| ["--set", set]));
        lines.push(shell_words::join(line));
        rest = &rest[length..];
    }
    lines
}

/// Carries out all runs that are missing, so many at a time.
fn carry_out(study: &Study, folder: &Folder, jobs: usize) -> Result<(), Ending> {
    let missing = folder.missing();
    let (next, shared, shown) =
        (AtomicUsize::new(0), Shared::default(), io::stderr().is_terminal());
    let worker = || -> Result<(), Failure> {
        while let Some(&run) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            if shown {
                let done = folder.counts().0;
                results::show_status(io::stderr(), &format!("{done} of {} runs …", study.runs()));
            }
            folder.keep(study.run(run, &shared))?;
        }
        Ok(())
    };
    let results: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..jobs.clamp(1, missing.len().max(1))).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    if shown {
        results::show_status(io::stderr(), "");
    }
    for result in results {
        match result {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(())
}

/// Says what is known at the end.
fn conclude(study: &Study, folder: &Folder, output: &str, complete: bool) -> Result<(), Ending> {
    let (known, failed) = folder.counts();
    let mut text = format!("{known} of {}", results::plural(study.runs() as u64, "run"));
    if failed > 0 {
        let _ = write!(text, ", {failed} failed");
    }
    let table = results::study_table(Path::new(output));
    let _ = if complete {
        writeln!(text, "; the table is {}", table.display())
    } else {
        writeln!(text, "; the table follows when all are known")
    };
    print(&text)?;
    for (remark, runs) in shown(&folder.remarks()) {
        complain(&format!("remark: {}: {remark}", of_runs(runs, study)));
    }
    let failures = folder.failures();
    if failures.is_empty() {
        return Ok(());
    }
    let each =
        |(error, runs): &(String, Vec<usize>)| format!("{} failed: {error}", of_runs(runs, study));
    let mut message: Vec<String> = shown(&failures).iter().map(each).collect();
    if let Some(more @ 1..) = failures.len().checked_sub(SHOWN) {
        message.push(format!("{} are not shown", results::plural(more as u64, "more reason")));
    }
    Err(Ending::new(Exit::Input, message.join("\n")))
}

/// Most remarks, or reasons of failures, that are shown.
const SHOWN: usize = 5;

fn shown<T>(all: &[T]) -> &[T] {
    &all[..all.len().min(SHOWN)]
}

/// Names some of the runs of a study: `run 3`, `all runs`, `runs 3, 5 and 4 more`.
fn of_runs(runs: &[usize], study: &Study) -> String {
    if runs.len() > 1 && runs.len() == study.runs() {
        return "all runs".to_owned();
    }
    let named: Vec<_> = runs.iter().take(3).map(usize::to_string).collect();
    match runs.len() {
        1 => format!("run {}", named[0]),
        2 | 3 => format!("runs {}", named.join(", ")),
        many => format!("runs {} and {} more", named.join(", "), many - 3),
    }
}
