//! Kinds of files, for those who give one to a command that does not take it.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use experiment::keys::KEYS;
use schedule::goal::Form;

use crate::arguments::Command;

/// Bytes at the start of a file that tell its kind.
const LOOKED_AT: u64 = 1 << 16;

/// The kind of experiment files that `heddle study` takes.
const STUDY: &str = "an experiment with values that vary";

/// A file or a folder whose kind is known.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// The kind, with its article.
    pub what: &'static str,
    /// The command line that takes it, without `heddle`.
    pub taker: String,
}

/// The kind of a file or a folder, if it is one that some command takes.
pub fn of(path: &Path) -> Option<Known> {
    let name = path.display();
    let (what, taker) = if path.is_dir() {
        match () {
            () if path.join("manifest.json").is_file() => ("a folder of results", "run {}"),
            () if path.join("runs.csv").is_file() => ("a folder of a study", "report {}"),
            () if experiment::are_traces(path) => ("a folder of traces", "run {}"),
            () => return None,
        }
    } else {
        let mut start = Vec::new();
        File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
        of_file(path, &start)?
    };
    Some(Known { what, taker: taker.replace("{}", &name.to_string()) })
}

/// The kind of a file with this beginning, and the command that takes it.
fn of_file(path: &Path, start: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = String::from_utf8_lossy(start);
    let has = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    Some(match end.to_ascii_lowercase().as_str() {
        _ if is_program(start) => ("a program", "mpirun -n RANKS {}"),
        _ if has("num_ranks") => ("a schedule", "run {}"),
        "toml" if has("[study") => (STUDY, "study {} -o FOLDER"),
        "toml" if has("[workload") || has("workload.") => ("an experiment", "run {}"),
        "toml" if text.lines().any(is_setting) => ("a machine", "run WORKLOAD --machine {}"),
        "xml" if text.contains("<platform") => ("a platform", "run WORKLOAD --machine {}"),
        "json" if text.contains("\"experiment\"") => ("the manifest of a run", "run {}"),
        "hdl" | "index" | "ti" => ("a trace", "run {}"),
        "csv" if has("host,") || has("switch,") => ("a topology", "topology {}"),
        "csv" | "parquet" => ("a table", "plot {} --x COLUMN --y COLUMN -o FILE.svg"),
        "c" => ("source code", "cc -o PROGRAM {}"),
        "cc" | "cpp" | "cxx" => ("source code", "c++ -o PROGRAM {}"),
        "f" | "f90" | "f08" => ("source code", "fort -o PROGRAM {}"),
        "py" => ("a Python program", "mpirun -n RANKS python3 {}"),
        _ if has("vendid=") || has("switchguid=") => ("a topology", "topology {}"),
        _ if Form::of(start) == Some(Form::Binary) => ("a schedule", "run {}"),
        _ if experiment::are_traces(path) => ("a trace", "run {}"),
        _ => return None,
    })
}

/// The files that a command reads, in words what it expects, and the kinds of them that it takes,
/// or of which it says itself what is wrong with them.
pub struct Inputs(Vec<(PathBuf, &'static str, &'static [&'static str])>);

const SOURCES: &[&str] = &[
    "a schedule",
    "a trace",
    "a folder of traces",
    "a folder of results",
    "an experiment",
    STUDY,
    "the manifest of a run",
    "a machine",
    "a platform",
];
const MACHINES: &[&str] = &["a machine", "a platform", "an experiment", STUDY];

impl Inputs {
    /// The inputs of a command.
    pub fn of(command: &Command) -> Self {
        let mut inputs = Vec::new();
        let mut add = |name: &str, wanted, taken| inputs.push((name.into(), wanted, taken));
        let mut simulated = |source: &str, machine: &Option<String>| {
            add(source, "a workload", SOURCES);
            if let Some(machine) = machine {
                add(machine, "a machine", MACHINES);
            }
        };
        match command {
            Command::Run(run) => simulated(&run.source, &run.machine),
            Command::Ladder(ladder) => simulated(&ladder.source, &ladder.machine),
            Command::Study(study) => simulated(&study.file, &study.machine),
            Command::Check(check) => add(&check.file, "a schedule", &["a schedule"]),
            Command::Convert(convert) => {
                let taken = &["a schedule", "a trace", "a folder of traces"];
                add(&convert.input, "a schedule or traces", taken);
            }
            Command::Compare(compare) => {
                let taken = &["a trace", "a folder of traces", "a folder of results"];
                add(&compare.a, "a run", taken);
                add(&compare.b, "a run", taken);
            }
            Command::Plot(plot) => {
                let taken = &["a table", "a folder of results", "a folder of a study"];
                add(&plot.table, "a table", taken);
            }
            Command::Fit(fit) => add(&fit.file, "a table of measured times", &["a table"]),
            Command::Topology(topology) => {
                let taken = &["a topology", "a table", "a machine", "a platform", "an experiment"];
                add(&topology.spec, "a topology", taken);
            }
            Command::Report(report) => {
                let taken =
                    &["a folder of results", "a folder of a study", "the manifest of a run"];
                for folder in &report.folders {
                    inputs.push((folder.clone(), "a folder of results", taken));
                }
            }
            _ => {}
        }
        Self(inputs)
    }

    /// Returns an error if one of them is of another kind than its command takes.
    pub fn misplaced(&self) -> Option<String> {
        self.0.iter().find_map(|(path, wanted, taken)| {
            let Known { what, taker } = of(path).filter(|known| !taken.contains(&known.what))?;
            let name = path.display();
            Some(format!("error: {name} is {what}, not {wanted}\n  help: heddle {taker}"))
        })
    }
}

/// Says whether a line of an experiment file names one of its tables.
fn is_setting(line: &str) -> bool {
    let name = line.trim_start().trim_start_matches('[').split([']', '.', ' ', '=']).next();
    KEYS.iter().any(|key| key.table().split('.').next() == name)
}

/// Says whether the system starts files with this beginning.
fn is_program(start: &[u8]) -> bool {
    start.starts_with(b"\x7fELF") || start.starts_with(b"#!")
}

/// Says whether the system would try to start a file: somebody may execute it.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Returns the reason why a file that is to be started is no program, if that is known before.
pub fn no_program(path: &Path) -> Option<String> {
    let name = path.display();
    let known = of(path);
    if path.is_dir() {
        let Some(Known { what, taker }) = known else {
            return Some(format!("{name} is a folder, not a program"));
        };
        return Some(format!("{name} is {what}, not a program\n  help: heddle {taker} takes it"));
    }
    let may_start = is_executable(path);
    match known {
        // Names alone tell traces.
        Some(Known { what: "a program" | "a trace", .. }) if may_start => None,
        Some(Known { what: "a program", .. }) => {
            Some(format!("{name} may not be executed\n  help: chmod +x {name} allows it"))
        }
        Some(Known { what: "a Python program", taker }) => Some(format!(
            "{name} is a Python program\n  help: its interpreter runs it: heddle {taker}"
        )),
        Some(Known { what: what @ ("a machine" | "a platform"), .. }) => Some(format!(
            "{name} is {what}, not a program\n  help: heddle mpirun --machine {name} PROGRAM"
        )),
        Some(Known { what, taker }) => {
            Some(format!("{name} is {what}, not a program\n  help: heddle {taker}"))
        }
        None if may_start || !path.is_file() => None,
        None => Some(format!("{name} is no program that may be executed")),
    }
}
