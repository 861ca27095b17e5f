//! Studies on a cluster that Slurm manages: the parts of what is missing as tasks of job arrays.
//!
//! An array has at most as many tasks as the cluster's MaxArraySize, so that a large study is
//! several arrays. Each task runs one line of a list of commands, and appends what it finds to a
//! file of its own in the folder of the study, which all nodes must see. This command waits for all
//! arrays and then writes the tables. Slurm keeps the jobs when it is stopped meanwhile, and
//! `--resume` collects what they found.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use super::Arguments;
use crate::exit::{Ending, Exit, complain};

/// The list of commands, a line for each task, and the script that runs one of them.
const TASKS: &str = "slurm-tasks.txt";
const SCRIPT: &str = "slurm-task.sh";
/// Time between two questions whether jobs are over: short at first, for small studies.
const PERIODS: [u64; 4] = [1, 2, 5, 10];

/// Runs these commands as job arrays, and waits for them.
pub fn carry_out(arguments: &Arguments, folder: &Path, commands: &[String]) -> Result<(), Ending> {
    if commands.is_empty() {
        return Ok(());
    }
    let most = most_tasks()?;
    let folder = folder.canonicalize().map_err(|error| unwritten(folder, &error))?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| unwritten(&path, &error))
    };
    write(TASKS, &(commands.join("\n") + "\n"))?;
    write(SCRIPT, &script(&folder))?;
    let mut jobs = Vec::new();
    for first in (0..commands.len()).step_by(most) {
        let tasks = most.min(commands.len() - first);
        jobs.push(submit(arguments, &folder, first, tasks)?);
    }
    let count = results::plural(commands.len() as u64, "task");
    complain(&format!("note: {count} in Slurm's jobs {}", jobs.join(", ")));
    wait(&jobs)
}

/// The script of each task: it runs the line of the list that belongs to it.
fn script(folder: &Path) -> String {
    let list = shell_words::quote(&folder.join(TASKS).to_string_lossy()).into_owned();
    format!(
        "#!/bin/sh\n\
         # A task of heddle study: the command on its line of {TASKS}.\n\
         line=$((HEDDLE_FIRST_TASK + SLURM_ARRAY_TASK_ID + 1))\n\
         exec sh -c \"$(sed -n \"${{line}}p\" {list})\"\n"
    )
}

/// The most tasks of an array: its numbers are below the cluster's MaxArraySize.
fn most_tasks() -> Result<usize, Ending> {
    let text = said(Command::new("scontrol").args(["show", "config"]))?;
    let found = text.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize"));
    let number = found.and_then(|rest| rest.split('=').nth(1)?.trim().parse().ok());
    number.filter(|most| *most > 0).ok_or_else(|| {
        let message = "error: scontrol show config: there is no MaxArraySize of 1 or more, so that \
                       job arrays are off in this cluster\n  help: --on commands prints commands";
        Ending::new(Exit::Input, message)
    })
}

/// Submits an array of so many tasks, of which the first is this one; returns the job's number.
fn submit(
    arguments: &Arguments,
    folder: &Path,
    first: usize,
    tasks: usize,
) -> Result<String, Ending> {
    let mut sbatch = Command::new("sbatch");
    sbatch.args(["--parsable", "--job-name=heddle-study"]);
    sbatch.arg(format!("--array=0-{}", tasks - 1));
    sbatch.arg(format!("--export=ALL,HEDDLE_FIRST_TASK={first}"));
    sbatch.arg(format!("--output={}", folder.join("slurm-%A_%a.out").display()));
    if let Ok(here) = env::current_dir() {
        sbatch.arg("--chdir").arg(here);
    }
    if let Some(partition) = &arguments.partition {
        sbatch.arg(format!("--partition={partition}"));
    }
    for option in &arguments.sbatch {
        let words = shell_words::split(option).map_err(|error| {
            Ending::new(Exit::Usage, format!("error: --sbatch {option}: {error}"))
        })?;
        sbatch.args(words);
    }
    let text = said(sbatch.arg(folder.join(SCRIPT)))?;
    // With several clusters, the name of one follows.
    let job = text.trim().split(';').next().unwrap_or_default().to_owned();
    if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("error: sbatch: expected the number of a job, found `{text}`");
        return Err(Ending::new(Exit::Input, message));
    }
    Ok(job)
}

/// Waits until none of the jobs is pending or runs.
fn wait(jobs: &[String]) -> Result<(), Ending> {
    let mut periods = PERIODS.into_iter();
    let mut period = 0;
    loop {
        period = periods.next().unwrap_or(period);
        thread::sleep(Duration::from_secs(period));
        let mut squeue = Command::new("squeue");
        squeue.args(["--noheader", "--format=%i", "--jobs"]).arg(jobs.join(","));
        let output = squeue.output().map_err(|error| missing("squeue", &error))?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // Slurm forgets jobs some minutes after their end.
        if errors.contains("Invalid job id") {
            return Ok(());
        }
        if !output.status.success() {
            // A controller that does not answer for a while is asked again.
            complain(&format!("warning: squeue: {}", errors.trim()));
            continue;
        }
        if output.stdout.trim_ascii().is_empty() {
            return Ok(());
        }
    }
}

/// The standard output of a command that must go well.
fn said(command: &mut Command) -> Result<String, Ending> {
    let name = PathBuf::from(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| missing(&name, &error))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Ending::new(Exit::Input, format!("error: {name}: {}", text.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn missing(name: &str, error: &io::Error) -> Ending {
    let reason = experiment::reason(error);
    let message = format!(
        "error: {name}: {reason}\n  help: --on slurm needs the commands of Slurm; --on commands \
         prints commands for anything else"
    );
    Ending::new(Exit::Input, message)
}

fn unwritten(path: &Path, error: &io::Error) -> Ending {
    let reason = experiment::reason(error);
    Ending::new(Exit::Output, format!("error: {}: {reason}", path.display()))
}
