//! `heddle record`.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
};

use recorder::{launch, tail};

use crate::{
    arguments::{Compute, Mpi, Record},
    exit::{Ending, Exit, complain},
    kind,
};

/// Runs a command and collects its traces. The exit code is the command's own, if it ran.
pub fn record(arguments: &Record) -> ExitCode {
    let ended = if arguments.collect {
        collect(&arguments.output).map(|()| ExitCode::SUCCESS)
    } else {
        run(arguments)
    };
    ended.unwrap_or_else(Ending::report)
}

/// The binary interface of this name.
pub const fn interface(mpi: Mpi) -> launch::Mpi {
    match mpi {
        Mpi::Openmpi => launch::Mpi::OpenMpi,
        Mpi::Mpich => launch::Mpi::Mpich,
        Mpi::Standard => launch::Mpi::Standard,
    }
}

fn run(arguments: &Record) -> Result<ExitCode, Ending> {
    let output = &arguments.output;
    let first = arguments.command.first().map(|first| layers::in_process::found(first.as_ref()));
    if let Some(wrong) = first.and_then(|first| kind::no_program(&first)) {
        return Err(Ending::new(Exit::Input, format!("error: {wrong}")));
    }
    let mpi = arguments.mpi.map(interface);
    let fail = |error: std::io::Error| {
        let reason = experiment::reason(&error);
        Ending::new(Exit::Output, format!("error: {}: {reason}", output.display()))
    };
    let folder = launch::prepare(output, arguments.force).map_err(fail)?.ok_or_else(|| {
        let name = output.display();
        let message = format!("error: {name} is not empty; --force removes the traces in it");
        Ending::new(Exit::Output, message)
    })?;
    let input = |error: &dyn std::fmt::Display| Ending::new(Exit::Input, format!("error: {error}"));
    let libraries =
        std::env::var_os(launch::FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let in_processor_time = arguments.compute == Compute::Cpu;
    let mut command =
        launch::command(&arguments.command, &folder, mpi, libraries, in_processor_time)
            .map_err(|error| input(&error))?;
    launch::clear(&folder).map_err(fail)?;
    let status = supervise(&mut command).map_err(|error| {
        let name = command.get_program().to_string_lossy().into_owned();
        input(&format!("{name}: {}", experiment::reason(&error)))
    })?;
    collect(output)?;
    if launch::traces(output).map_err(fail)? == 0 {
        complain(
            "error: no rank wrote a trace: the program did not start MPI, or is linked to its \
             library statically",
        );
        return Ok(if status.success() { Exit::Output.into() } else { code(status) });
    }
    Ok(code(status))
}

/// Takes in what is left of ranks that died, and says what there is.
fn collect(folder: &Path) -> Result<(), Ending> {
    let fail = |error: &dyn std::fmt::Display| Ending::new(Exit::Output, format!("error: {error}"));
    let (tails, calls) = tail::collect(folder).map_err(|error| fail(&error))?;
    let count = launch::traces(folder).map_err(|error| fail(&error))?;
    if tails > 0 {
        complain(&format!(
            "warning: {tails} of {count} ranks ended without MPI_Finalize; their last {calls} \
             calls were taken from their buffers"
        ));
    }
    Ok(())
}

/// Waits for a command through signals, which are passed on, so that what it wrote can still be
/// collected; but Ctrl-C reaches the command by the terminal.
#[cfg(unix)]
fn supervise(command: &mut Command) -> std::io::Result<ExitStatus> {
    use signal_hook::{
        consts::{SIGHUP, SIGINT},
        iterator::Signals,
    };
    let mut signals = Signals::new(crate::stop::signals())?;
    // A launcher that is told to end takes its ranks with it.
    rank_ipc::end_with_parent(command, rank_ipc::End::Terminate);
    let mut child = command.spawn()?;
    let id = child.id().to_string();
    // Where the system has no room for a thread, nothing is passed on.
    let _ = std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            let name = match signal {
                SIGINT if is_in_foreground() => continue,
                SIGINT => "-INT",
                SIGHUP => "-HUP",
                _ => "-TERM",
            };
            // The shell's own command: the standard library can only kill.
            let _ = Command::new("kill").args([name, &id]).status();
        }
    });
    child.wait()
}

/// True if Ctrl-C of a terminal reaches this process and what it has started, which is so if its
/// group is that of the terminal (proc(5), `stat`).
#[cfg(unix)]
fn is_in_foreground() -> bool {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = behind_name.split_ascii_whitespace().collect();
    fields.get(2).is_some_and(|group| fields.get(5) == Some(group))
}

#[cfg(not(unix))]
fn supervise(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.status()
}

/// The exit code of a command, as shells report it.
fn code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
