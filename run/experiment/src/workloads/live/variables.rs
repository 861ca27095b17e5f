//! Variables of the environment that programs get without their asking.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use layers::{in_process, thread_locals};
use live::Launch;

use crate::settings::{configuration::Configuration, keys};

/// The library that is loaded before programs, and the variables that tell it what to change.
const BEFORE: &str = "libheddle_before.so";
/// The library by which they find the others, whatever path they bring.
const AUDIT: &str = "libheddle_audit.so";
const FOLD_FROM: &str = "HEDDLE_FOLD_FROM";
const HOST_CLOCK: &str = "HEDDLE_HOST_CLOCK";
const PRELOAD: &str = "LD_PRELOAD";
const TUNABLES: &str = "GLIBC_TUNABLES";
/// The tunable that sets the bytes for thread-local variables at fixed places, and how many are
/// there if nothing is said.
const THREAD_LOCALS: &str = "glibc.rtld.optional_static_tls";
const THREAD_LOCALS_UNSAID: u64 = 512;

/// The variables for a program, which take the place of those that are said for it; `holder` is the
/// library that holds its ranks, if one process does, and `libraries` the folder of ours.
pub fn variables(
    configuration: &Configuration,
    libraries: &Path,
    program: &Launch,
    holder: Option<PathBuf>,
) -> Vec<(OsString, OsString)> {
    let mut variables = Vec::new();
    if let Some(least) = configuration.value(keys::live::FOLD) {
        variables.push((FOLD_FROM.into(), least.get().to_string().into()));
    }
    let clock = configuration.word(keys::live::HOST_CLOCK);
    if clock == "simulated" {
        variables.push((HOST_CLOCK.into(), clock.into()));
    }
    let before = (!variables.is_empty()).then(|| libraries.join(BEFORE));
    let before: Vec<PathBuf> = before.into_iter().chain(holder).collect();
    let said = preloaded(program);
    if !before.is_empty() {
        let all: Vec<&OsStr> = before.iter().chain(&said).map(|path| path.as_os_str()).collect();
        variables.push((PRELOAD.into(), all.join(OsStr::new(" "))));
    }
    // Threads of OpenMP that wait for work would take the cores from the rank that runs, and its
    // time would be measured so.
    if ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"]
        .iter()
        .all(|name| told(program, name).is_none())
    {
        variables.push(("OMP_WAIT_POLICY".into(), "passive".into()));
    }
    let mut audits = vec![libraries.join(AUDIT)];
    audits.retain(|library| library.is_file());
    audits.extend(told(program, "LD_AUDIT").iter().flat_map(env::split_paths));
    // A folder with a colon in its name cannot be said.
    if let Ok(audits) = env::join_paths(audits)
        && !audits.is_empty()
    {
        variables.push(("LD_AUDIT".into(), audits));
        variables.extend(room(program, &said));
    }
    variables
}

/// The value of a variable in a program's environment.
fn told(program: &Launch, name: &str) -> Option<OsString> {
    let said = program.environment.iter().rfind(|(said, _)| said == name);
    said.map(|(_, value)| value.clone()).or_else(|| env::var_os(name))
}

/// The libraries that are to be loaded before the program anyway: between blanks or colons, as the
/// dynamic linker reads them.
fn preloaded(program: &Launch) -> Vec<PathBuf> {
    let said = told(program, PRELOAD).unwrap_or_default();
    let said = said.to_string_lossy();
    said.split([' ', ':']).filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

/// Makes room for thread-local variables, where those of a program's libraries need it.
fn room(program: &Launch, preloaded: &[PathBuf]) -> Option<(OsString, OsString)> {
    let path = in_process::found(Path::new(&program.program));
    let path = program.directory.as_ref().map_or(path.clone(), |folder| folder.join(path));
    let bytes = thread_locals::fixed(&path, preloaded);
    let others = told(program, TUNABLES).unwrap_or_default();
    if bytes == 0 || others.to_string_lossy().contains(THREAD_LOCALS) {
        return None;
    }
    let ours = format!("{THREAD_LOCALS}={}", THREAD_LOCALS_UNSAID.saturating_add(bytes));
    let both = [&others, OsStr::new(&ours)].into_iter().filter(|said| !said.is_empty());
    Some((TUNABLES.into(), both.collect::<Vec<_>>().join(OsStr::new(":"))))
}
