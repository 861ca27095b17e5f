//! One simulation over several processes: what a launcher of MPI has started several times.

use std::{
    env,
    path::PathBuf,
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use experiment::{Peers, TransportKind};
use recorder::launch;
use transport_mpi::{Job, Launch};

use crate::{
    arguments::Run,
    booksim,
    exit::{Ending, Exit},
    installed::LONG_VERSION,
};

/// The variable that names the folder of the small libraries.
const FOLDER: &str = "HEDDLE_PROCESSES";

/// True in a process that prints nothing, since the first of the job does.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Says whether this process prints nothing.
pub fn is_silent() -> bool {
    IS_SILENT.load(Ordering::Relaxed)
}

/// Ends this process if it is not the first of a job, where all of them say the same. It ends well,
/// as a launcher may end the first one, before it has said anything, when another fails.
pub fn leave_to_the_first() {
    if Launch::found().is_some_and(|launch| launch.me > 0) {
        process::exit(0);
    }
}

/// Refuses a command that a launcher has started several times and that is not spread over them.
pub fn refuse(command: &str, instead: &str) -> Result<(), Ending> {
    let Some(launch) = Launch::found() else { return Ok(()) };
    leave_to_the_first();
    let message = format!(
        "error: heddle {command} was started {} times by a launcher; it runs in one process\n  \
         help: start it without the launcher; {instead}",
        launch.count
    );
    Err(Ending::new(Exit::Usage, message))
}

/// Runs a command in one process, or as one of those that a launcher has started. Of these, the
/// first one prints and writes.
pub fn spread(run: impl FnOnce(Option<&'static Job>) -> Result<u8, Ending>) -> Result<u8, Ending> {
    let Some(launch) = Launch::found() else { return run(None) };
    if launch.me > 0 {
        IS_SILENT.store(true, Ordering::Relaxed);
    }
    let job = join(launch)?;
    let found = equal_versions(job).and_then(|()| run(Some(job)));
    match found {
        Ok(code) => {
            job.leave();
            Ok(if is_silent() { 0 } else { code })
        }
        Err(ending) if job.fails_together() => {
            let code = if is_silent() { 0 } else { ending.say() };
            job.leave();
            Ok(code)
        }
        Err(ending) => {
            IS_SILENT.store(false, Ordering::Relaxed);
            let code = ending.of_process(launch.me).say();
            job.abandon();
            process::exit(code.into());
        }
    }
}

/// Refuses what one process does alone.
pub fn unspread(arguments: &Run) -> Result<(), Ending> {
    let what = if arguments.source == "-" {
        "a schedule on standard input"
    } else if arguments.source.starts_with(booksim::PREFIX) {
        "a configuration of BookSim"
    } else if arguments.uncertainty.is_some() {
        "--uncertainty"
    } else if !arguments.sensitivity.is_empty() {
        "--sensitivity"
    } else if arguments.print_config {
        "--print-config"
    } else {
        return Ok(());
    };
    let message =
        format!("error: {what} is for one process\n  help: start heddle without the launcher");
    Err(Ending::new(Exit::Usage, message))
}

/// Loads the small library for the launcher's MPI library, and joins the job over it.
fn join(launch: Launch) -> Result<&'static Job, Ending> {
    let named = env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let file = launch.library.file();
    let missing = || {
        let message = format!(
            "error: {} has started {} processes, and {file}, over which they could be one \
             simulation, is neither beside this command nor in ../lib/heddle\n  help: `make \
             install` in the source of heddle installs it if the headers of {0} are there; or \
             start heddle without the launcher, or with --processes off",
            launch.library.name(),
            launch.count
        );
        Ending::new(Exit::Input, message)
    };
    let path = launch::installed(file, named).ok_or_else(missing)?;
    launch.join(&path).map_err(|error| {
        let message = format!("error: {error}\n  help: --processes off runs without the others");
        Ending::new(Exit::Input, message)
    })
}

/// Compares the versions of the command in all processes.
fn equal_versions(job: &'static Job) -> Result<(), Ending> {
    let versions = TransportKind::Spread(job).exchange(LONG_VERSION.to_owned());
    let other = (0..).zip(&versions).find(|(_, version)| **version != versions[0]);
    let Some((process, version)) = other else { return Ok(()) };
    let [first, other] = [&versions[0], version].map(|version| version.trim().replace('\n', ", "));
    let message = format!(
        "error: the processes run different versions of heddle: process 0 runs {first}, and \
         process {process} runs {other}"
    );
    Err(Ending::new(Exit::Input, message))
}
