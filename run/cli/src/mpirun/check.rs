//! `heddle mpirun --check`: what programs need, before they run.

use std::{ffi::OsString, path::Path};

use layers::{check, holding};
use serde_json::{Value, json};

use crate::{
    arguments::{Format, Mpirun},
    exit::{Ending, Exit, print},
};

/// Says what the programs need. Success means that all is there, and with `--in-process` that one process can hold the ranks.
pub fn run(arguments: &Mpirun) -> Result<u8, Ending> {
    let folder = experiment::libraries().map_err(Ending::from)?;
    let mut reports = Vec::new();
    for command in super::programs(arguments)? {
        let report =
            check::check(&executable(&command.program, command.directory.as_deref()), &folder);
        reports.push(report.map_err(|error| Ending::new(Exit::Input, format!("error: {error}")))?);
    }
    if arguments.format == Some(Format::Json) {
        let all: Vec<Value> = reports.iter().map(as_json).collect();
        print(&format!("{:#}\n", Value::from(all)))?;
    } else {
        reports.iter().try_for_each(|report| print(&report.to_string()))?;
    }
    let fits = !arguments.in_process || reports.iter().all(check::Report::fits_one_process);
    let good = fits && reports.iter().all(check::Report::is_complete);
    Ok(if good { Exit::Success } else { Exit::Input } as u8)
}

/// The file that a program's name means where it is started.
fn executable(program: &OsString, directory: Option<&Path>) -> std::path::PathBuf {
    let found = holding::found(Path::new(program));
    match directory {
        Some(folder) => folder.join(found),
        None => found,
    }
}

fn as_json(report: &check::Report) -> Value {
    let interfaces: Vec<&str> = report.interfaces.iter().map(|one| one.name()).collect();
    let obstacles: Vec<Value> = report
        .obstacles
        .iter()
        .map(|obstacle| json!({"what": obstacle.to_string(), "certain": obstacle.is_certain()}))
        .collect();
    json!({
        "executable": report.executable,
        "interfaces": interfaces,
        "users": report.users,
        "imports": report.imports,
        "unimplemented": report.unimplemented,
        "unresolved": report.unresolved,
        "absent_libraries": report.absent,
        "interpreter": report.interprets(),
        "complete": report.is_complete(),
        "fits_one_process": report.fits_one_process(),
        "obstacles": obstacles,
    })
}

/// Refuses programs that cannot start without what MPI-3.0 removed.
pub fn can_start(arguments: &Mpirun) -> Result<(), Ending> {
    // Without libraries, something else is said.
    let Ok(folder) = experiment::libraries() else { return Ok(()) };
    for command in super::programs(arguments)? {
        let program = executable(&command.program, command.directory.as_deref());
        let missing: Vec<_> = check::missing_classes(&program, &folder).into_iter().collect();
        if !missing.is_empty() {
            return Err(Ending::new(
                Exit::Input,
                format!(
                    "error: {} cannot start: it needs the C++ classes of MPI-2, which MPI-3.0 removed ({})",
                    program.display(),
                    missing.join(", ")
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses a program that one process cannot hold; gives what may go wrong with another.
pub fn held(program: &OsString, directory: Option<&Path>) -> Result<Vec<String>, String> {
    let program = executable(program, directory);
    let obstacles = match holding::of_executable(&program) {
        // The system says what is wrong with it.
        Err(check::Error::File { .. }) => return Ok(Vec::new()),
        // A shell would run it, if it is a text.
        Err(error) => return Err(error.to_string()),
        Ok(obstacles) => obstacles,
    };
    if let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.is_certain()) {
        return Err(format!(
            "--in-process cannot hold {}: {obstacle}\n  help: without --in-process, each rank is a process",
            program.display()
        ));
    }
    let open = obstacles.iter().filter(|obstacle| !obstacle.is_answered());
    Ok(open.map(ToString::to_string).collect())
}
