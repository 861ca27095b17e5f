//! The programs that measure over an MPI library or shared memory: how they are built and run.

use std::{
    env,
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

use recorder::{
    launch::{self, Mpi},
    libraries,
};

use crate::{
    plan::{self, Operation, Step},
    session::{Error, Measured, Prober},
};

/// The variable that names the folder of the programs.
pub const FOLDER: &str = "HEDDLE_MEASURE";

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c");
const FLAGS: &[&str] = &["-std=gnu11", "-O2", "-Wall", "-Wextra"];

/// A program that measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Over an MPI library.
    Mpi(Mpi),
    /// Over memory that two processes of a host share.
    Shared,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Mpi(mpi) => mpi.fmt(f),
            Self::Shared => f.write_str("shared memory"),
        }
    }
}

/// The outcome of building a program.
#[derive(Debug)]
pub enum Outcome {
    /// It was built, as this file.
    Built(PathBuf),
    /// The headers of its MPI library are nowhere; the text says where they come from.
    Missing(&'static str),
    /// It could not be built.
    Failed(io::Error),
}

impl Program {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Mpi(Mpi::OpenMpi), Self::Mpi(Mpi::Mpich), Self::Mpi(Mpi::Standard), Self::Shared];

    /// Its file's name.
    pub fn file(self) -> String {
        match self {
            Self::Mpi(mpi) => format!("heddle-measure-{}", mpi.name()),
            Self::Shared => "heddle-measure-shared".to_owned(),
        }
    }

    /// Finds the program, first in the folder that the user names.
    pub fn find(self) -> Result<PathBuf, Error> {
        let named = env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let missing = || Error::NoProgram { file: self.file(), program: self };
        launch::installed(&self.file(), named).ok_or_else(missing)
    }
}

/// Builds a program into a folder, in which our own MPI library is already.
pub fn build(program: Program, folder: &Path) -> Outcome {
    let (compiler, part, simulated) = match program {
        Program::Shared => (env::var("CC").unwrap_or_else(|_| "cc".to_owned()), "shared.c", false),
        Program::Mpi(mpi) => match libraries::wrapper(mpi, folder) {
            Ok(wrapper) => (wrapper, "mpi.c", mpi == Mpi::Standard),
            Err(missing) => return Outcome::Missing(missing),
        },
    };
    let made = folder.join(program.file());
    // It gets its name only when it is whole: the old one may be running.
    let unfinished = folder.join(format!("{}.{}", program.file(), std::process::id()));
    let mut command = Command::new(compiler);
    command.args(FLAGS).args(simulated.then_some("-DSIMULATED_CLOCK")).arg("-o").arg(&unfinished);
    command.args(["measure.c", part].map(|part| Path::new(SOURCES).join(part)));
    let built = command.status().and_then(|status| {
        if status.success() {
            return fs::rename(&unfinished, &made);
        }
        Err(io::Error::other(format!("the compiler failed on {command:?}")))
    });
    built.map_or_else(Outcome::Failed, |()| Outcome::Built(made))
}

/// Starts a job for each run: the user's launcher with the program behind it, or the program alone.
pub struct Job<'a> {
    /// The words of the launcher; none for shared memory.
    pub launcher: Vec<OsString>,
    /// The program.
    pub program: PathBuf,
    /// A folder for plans and results, which the host of rank 0 has as well.
    pub folder: PathBuf,
    /// Runs a command and waits for its end.
    pub start: &'a dyn Fn(&mut Command) -> io::Result<ExitStatus>,
    /// The operations that the program knows.
    pub operations: &'static [Operation],
}

/// Returns the program for a launcher: that of the MPI library that it starts.
pub fn for_launcher(launcher: &[OsString], mpi: Option<Mpi>) -> Result<Program, Error> {
    let word = |place: usize| launcher.get(place).map(|word| Path::new(word).file_name());
    let is_ours = word(0).flatten().is_some_and(|name| name == "heddle")
        && launcher.get(1).is_some_and(|word| word == "mpirun");
    let mpi = match mpi {
        Some(mpi) => mpi,
        None if is_ours => Mpi::Standard,
        None => launch::library_of(launcher)?,
    };
    Ok(Program::Mpi(mpi))
}

impl Prober for Job<'_> {
    fn operations(&self) -> &'static [Operation] {
        self.operations
    }

    fn run(&mut self, steps: &[Step]) -> Result<Measured, Error> {
        let [plan, results] = ["plan", "results"].map(|name| self.folder.join(name));
        let file = |error| Error::File { path: plan.clone(), error };
        match fs::remove_file(&results) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file(error)),
            _ => {}
        }
        fs::write(&plan, plan::text(steps)).map_err(file)?;
        let words = || self.launcher.iter().map(OsString::as_os_str);
        let all: Vec<_> = words().chain([self.program.as_os_str()]).collect();
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).arg(&plan).arg(&results);
        let name = all[0].to_string_lossy().into_owned();
        let status = (self.start)(&mut command)
            .map_err(|error| Error::Start { name: name.clone(), error })?;
        if !status.success() {
            return Err(Error::Ended { name, status: status.to_string() });
        }
        let text = match fs::read_to_string(&results) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::NoResults { folder: self.folder.clone(), name });
            }
            read => read.map_err(|error| Error::File { path: results.clone(), error })?,
        };
        parse(&text, steps).ok_or(Error::Incomplete { name })
    }
}

/// Reads the results of a run; none if they are not complete, or not those of its steps.
fn parse(text: &str, steps: &[Step]) -> Option<Measured> {
    let mut measured = Measured::default();
    let mut wanted = steps.iter().filter(|step| step.repetition.is_some());
    let mut whole = false;
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            match comment.split_once(": ") {
                Some(("library", name)) => name.clone_into(&mut measured.library),
                Some(("source", name)) => name.clone_into(&mut measured.source),
                Some(("destination", name)) => name.clone_into(&mut measured.destination),
                _ => whole = comment == "end",
            }
            continue;
        }
        let step = wanted.next()?;
        let rest = line.strip_prefix(&step.fields())?.strip_prefix(',')?;
        let (time, at) = rest.split_once(',')?;
        measured.times.push((*step, time.parse().ok()?, at.parse().ok()?));
    }
    (whole && wanted.next().is_none()).then_some(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_whole_or_none() {
        let step = |repetition| Step {
            operation: Operation::RoundTrip,
            messages: 16,
            wait: 1000,
            bytes: 64,
            repetition,
        };
        let steps = [step(None), step(Some(0))];
        let head = "# library: MPI 4\n# source: a\n# destination: b\n";
        let text = format!("{head}prtt,16,1000,64,0,17000.250,12\n# end\n");
        let found = parse(&text, &steps).expect("results");
        assert_eq!((found.library.as_str(), found.destination.as_str()), ("MPI 4", "b"));
        assert_eq!(found.times, [(step(Some(0)), 17_000.25, 12.0)]);
        for wrong in [
            format!("{head}prtt,16,1000,64,0,17000.250,12\n"),
            format!("{head}prtt,16,1000,65,0,17000.250,12\n# end\n"),
            format!("{head}# end\n"),
        ] {
            assert_eq!(parse(&wrong, &steps), None, "{wrong}");
        }
    }

    #[test]
    fn our_own_launcher_needs_the_standard_interface() {
        let words = ["/usr/bin/heddle", "mpirun", "-n", "2"].map(OsString::from);
        assert_eq!(for_launcher(&words, None).expect("one"), Program::Mpi(Mpi::Standard));
        let named = for_launcher(&[OsString::from("srun")], Some(Mpi::Mpich));
        assert_eq!(named.expect("one"), Program::Mpi(Mpi::Mpich));
    }
}
