//! `heddle mpirun --check`: what programs need, before they run.

use std::path::Path;

use experiment::{Configuration, Launch, executable};
use layers::{check, in_process};
use serde_json::{Value, json};

use crate::{
    arguments::Format,
    exit::{Ending, Exit, print},
    kind,
};

/// Says what the programs need. Success means that all is there, and with `--in-process` that one
/// process can hold the ranks.
pub fn run(configuration: &Configuration, format: Option<Format>) -> Result<u8, Ending> {
    let folder = experiment::libraries().map_err(Ending::from)?;
    let mut reports = Vec::new();
    for launch in configuration.programs()? {
        let report = check::check(&executable(&launch), &folder);
        reports.push(report.map_err(|error| Ending::new(Exit::Input, format!("error: {error}")))?);
    }
    if format == Some(Format::Json) {
        let all: Vec<Value> = reports.iter().map(as_json).collect();
        print(&format!("{:#}\n", Value::from(all)))?;
    } else {
        reports.iter().try_for_each(|report| print(&report.to_string()))?;
    }
    let fits =
        !configuration.is_in_process() || reports.iter().all(check::Report::fits_one_process);
    let good = fits && reports.iter().all(check::Report::is_complete);
    Ok(if good { Exit::Success } else { Exit::Input } as u8)
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

/// Refuses programs that cannot start, where it is not the system that says why: those that are
/// looked for elsewhere than they are, those whose interpreter is missing, those that need one of
/// our libraries that was not built, those that need what MPI-3.0 removed, and numbers.
pub fn can_start(programs: &[Launch]) -> Result<(), Ending> {
    let fail = |message: String| Ending::new(Exit::Input, format!("error: {message}"));
    for launch in programs {
        let (name, path) = (launch.program.display(), executable(launch));
        let has_folder = launch.program.as_encoded_bytes().contains(&b'/');
        let number = launch.program.to_str().and_then(|name| name.parse::<u32>().ok());
        if let Some(number) = number.filter(|_| !path.exists()) {
            return Err(fail(format!(
                "{number}: there is no such program\n\
                 \x20 help: -n {number} says how many ranks there are"
            )));
        }
        // What is not on PATH keeps its name, which may be that of a file where it is to start.
        let here = launch.directory.as_deref().unwrap_or(Path::new("")).join(&launch.program);
        if !has_folder && path == here && path.is_file() && kind::is_executable(&path) {
            return Err(fail(format!(
                "{name}: there is no such program on PATH\n\
                 \x20 help: ./{name} is the one of this folder"
            )));
        }
        if let Some(wrong) = kind::no_program(&path) {
            return Err(fail(wrong));
        }
        if let Some(interpreter) = in_process::script(&path).filter(|file| !file.is_file()) {
            let interpreter = interpreter.display();
            return Err(fail(format!("{name}: its interpreter {interpreter} is missing")));
        }
    }
    // Without libraries, something else is said.
    let Ok(folder) = experiment::libraries() else { return Ok(()) };
    for launch in programs {
        let program = executable(launch);
        let missing: Vec<_> = check::missing_libraries(&program, &folder).into_iter().collect();
        if !missing.is_empty() {
            return Err(fail(format!(
                "{} cannot start: it is linked with {}, which {} lacks\n\
                 \x20 help: `make build` makes all libraries; or compile it with heddle cc",
                program.display(),
                missing.join(", "),
                folder.display()
            )));
        }
        let missing: Vec<_> = check::missing_classes(&program, &folder).into_iter().collect();
        if !missing.is_empty() {
            return Err(fail(format!(
                "{} cannot start: it needs the C++ classes of MPI-2, which MPI-3.0 removed ({})",
                program.display(),
                missing.join(", ")
            )));
        }
    }
    Ok(())
}

/// Refuses a program that one process cannot hold; gives what may go wrong with another.
pub fn held(launch: &Launch) -> Result<Vec<String>, String> {
    let program = executable(launch);
    let obstacles = match in_process::of_executable(&program) {
        // The system says what is wrong with it.
        Err(check::Error::File { .. }) => return Ok(Vec::new()),
        // A shell would run it, if it is a text.
        Err(error) => return Err(error.to_string()),
        Ok(obstacles) => obstacles,
    };
    if let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.is_certain()) {
        return Err(format!(
            "--in-process cannot hold {}: {obstacle}\n\
             \x20 help: without --in-process, each rank is a process",
            program.display()
        ));
    }
    let open = obstacles.iter().filter(|obstacle| !obstacle.is_noticed());
    Ok(open.map(ToString::to_string).collect())
}
