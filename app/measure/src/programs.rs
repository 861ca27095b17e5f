//! The programs that measure over an MPI library or shared memory: how they are built and run.

use std::{
    env,
    ffi::OsString,
    fmt::{self, Write as _},
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Duration,
};

use recorder::{
    launch::{self, Mpi},
    libraries,
};

use samples::Operation;

use crate::{
    pairs::{Pair, PairProber, Times},
    plan::{self, Step},
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

    /// Says what building it needs beside a compiler.
    pub(crate) fn needed(self) -> String {
        match self {
            Self::Mpi(mpi) => format!(" if the headers of {mpi} are there"),
            Self::Shared => String::new(),
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

    fn run(&mut self, steps: &[Step], time: Option<Duration>) -> Result<Measured, Error> {
        let Results { library, hosts, pairs } = self.job(steps, time, None)?;
        let mut hosts = hosts.into_iter();
        let (source, destination) =
            (hosts.next().unwrap_or_default(), hosts.next().unwrap_or_default());
        let times = pairs.into_iter().next().map(|(_, times)| times).unwrap_or_default();
        Ok(Measured { times, library, source, destination })
    }
}

impl PairProber for Job<'_> {
    fn hosts(&mut self) -> Result<Vec<String>, Error> {
        Ok(self.job(&[], None, Some(&[]))?.hosts)
    }

    fn run(
        &mut self,
        steps: &[Step],
        time: Option<Duration>,
        rounds: &[Vec<Pair>],
    ) -> Result<(String, Vec<(Pair, Times)>), Error> {
        let Results { library, pairs, .. } = self.job(steps, time, Some(rounds))?;
        Ok((library, pairs))
    }
}

impl Job<'_> {
    /// Runs a job: between two ranks, or between pairs of more if there are rounds of them.
    /// Each pair ends after its first repetition if its time is over then, or after a later one.
    fn job(
        &self,
        steps: &[Step],
        time: Option<Duration>,
        rounds: Option<&[Vec<Pair>]>,
    ) -> Result<Results, Error> {
        let [plan, results, pairs] =
            ["plan", "results", "rounds"].map(|name| self.folder.join(name));
        let write = |path: &Path, text: String| {
            fs::write(path, text).map_err(|error| Error::File { path: path.to_owned(), error })
        };
        match fs::remove_file(&results) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::File { path: results, error });
            }
            _ => {}
        }
        write(&plan, plan::text(steps))?;
        let words = || self.launcher.iter().map(OsString::as_os_str);
        let all: Vec<_> = words().chain([self.program.as_os_str()]).collect();
        let mut command = Command::new(all[0]);
        let time = time.map_or(u128::from(u64::MAX), |time| time.as_nanos());
        command.args(&all[1..]).arg(&plan).arg(&results).arg(time.to_string());
        if let Some(rounds) = rounds {
            write(&pairs, text_of(rounds))?;
            command.arg(&pairs);
        }
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
        let pairs = rounds.map_or_else(|| vec![[0, 1]], <[_]>::concat);
        parse(&text, steps, &pairs).ok_or(Error::Incomplete { name })
    }
}

/// Returns the text of rounds that the programs read.
fn text_of(rounds: &[Vec<Pair>]) -> String {
    let mut text = String::new();
    for (number, round) in rounds.iter().enumerate() {
        for [first, second] in round {
            let _ = writeln!(text, "{number} {first} {second}");
        }
    }
    text
}

/// The results of a job.
#[derive(Clone, Debug, Default, PartialEq)]
struct Results {
    /// The name and version of what carried the messages.
    library: String,
    /// The names of the hosts, by place.
    hosts: Vec<String>,
    /// The times of each pair.
    pairs: Vec<(Pair, Times)>,
}

/// Reads the results of a run; none if they are not complete, or not those of these pairs and
/// steps. Those of a pair whose time was over are complete up to the repetition that did not begin.
fn parse(text: &str, steps: &[Step], pairs: &[Pair]) -> Option<Results> {
    let mut found = Results::default();
    let kept = || steps.iter().filter(|step| step.repetition.is_some());
    let mut expected = pairs.iter();
    let mut wanted = kept();
    wanted.by_ref().for_each(drop);
    let mut whole = false;
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            match comment.split_once(": ") {
                Some(("library", name)) => name.clone_into(&mut found.library),
                Some(("host", name)) => found.hosts.push(name.to_owned()),
                Some(("pair", places)) => {
                    let pair = expected.next().filter(|_| wanted.next().is_none())?;
                    (places == format!("{} {}", pair[0], pair[1])).then_some(())?;
                    found.pairs.push((*pair, Vec::new()));
                    wanted = kept();
                }
                Some(("stopped", repetition)) => {
                    let repetition = repetition.parse().ok().filter(|number| *number > 0)?;
                    let (_, times) = found.pairs.last()?;
                    let (before, next) = (times.last()?.0.repetition, wanted.next()?.repetition);
                    (next == Some(repetition) && before != next).then_some(())?;
                    wanted.by_ref().for_each(drop);
                }
                _ => whole = comment == "end",
            }
            continue;
        }
        let step = wanted.next()?;
        let rest = line.strip_prefix(&step.fields())?.strip_prefix(',')?;
        let (time, at) = rest.split_once(',')?;
        let (_, times) = found.pairs.last_mut()?;
        times.push((step.clone(), time.parse().ok()?, at.parse().ok()?));
    }
    (whole && wanted.next().is_none() && expected.next().is_none()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shared memory has no headers.
    #[test]
    fn a_missing_program_says_what_builds_it() {
        let said =
            |program: Program| Error::NoProgram { file: program.file(), program }.to_string();
        assert!(said(Program::Shared).ends_with("; `make build` builds it"));
        let mpi = said(Program::Mpi(Mpi::Mpich));
        assert!(
            mpi.ends_with("; `make build` builds it if the headers of MPICH are there"),
            "{mpi}"
        );
    }

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
        let head = "# library: MPI 4\n# host: a\n# host: b\n# host: b\n";
        let line = "prtt,16,1000,64,0,17000.250,12\n";
        let text = format!("{head}# pair: 0 1\n{line}# pair: 1 2\n{line}# end\n");
        let pairs = [[0, 1], [1, 2]];
        let found = parse(&text, &steps, &pairs).expect("results");
        assert_eq!((found.library.as_str(), found.hosts[1].as_str()), ("MPI 4", "b"));
        let times = vec![(step(Some(0)), 17_000.25, 12.0)];
        assert_eq!(found.pairs, pairs.map(|pair| (pair, times.clone())));
        for wrong in [
            format!("{head}# pair: 0 1\n{line}# pair: 1 2\n{line}"),
            format!("{head}# pair: 0 1\n{line}# end\n"),
            format!("{head}# pair: 0 1\n{line}# pair: 1 2\n# end\n"),
            format!("{head}# pair: 0 1\n{line}# pair: 0 2\n{line}# end\n"),
            format!("{head}{line}# end\n"),
            text.replacen(",64,", ",65,", 1),
        ] {
            assert_eq!(parse(&wrong, &steps, &pairs), None, "{wrong}");
        }
        assert_eq!(text_of(&[vec![[0, 1], [2, 3]], vec![[1, 2]]]), "0 0 1\n0 2 3\n1 1 2\n");
        let none = parse(&format!("{head}# end\n"), &[], &[]).expect("hosts");
        assert_eq!(none.hosts, ["a", "b", "b"]);
    }

    /// A pair may end before any repetition but the first, and says before which.
    #[test]
    fn results_may_end_between_repetitions() {
        let step = |bytes, repetition| Step {
            operation: Operation::RoundTrip,
            messages: 1,
            wait: 0,
            bytes,
            repetition,
        };
        let round = |repetition| [1, 2].map(|bytes| step(bytes, repetition));
        let steps = [round(None), round(Some(0)), round(Some(1)), round(Some(2))].concat();
        let times = |range: std::ops::Range<usize>| {
            steps[range].iter().fold(String::new(), |mut text, step| {
                let _ = writeln!(text, "{},500.0,7", step.fields());
                text
            })
        };
        let of = |first: &str, second: &str| {
            let text = format!("# pair: 0 1\n{first}# pair: 2 3\n{second}# end\n");
            let found = parse(&text, &steps, &[[0, 1], [2, 3]])?;
            Some(found.pairs.iter().map(|(_, times)| times.len()).collect::<Vec<_>>())
        };
        let stopped = |end: usize, at: &str| format!("{}# stopped: {at}\n", times(2..end));
        assert_eq!(of(&times(2..8), &times(2..8)), Some(vec![6, 6]));
        assert_eq!(of(&stopped(4, "1"), &stopped(6, "2")), Some(vec![2, 4]));
        assert_eq!(of(&stopped(6, "2"), &times(2..8)), Some(vec![4, 6]));
        for wrong in [
            times(2..4),
            stopped(2, "0"),
            stopped(2, "1"),
            stopped(3, "0"),
            stopped(3, "1"),
            stopped(4, "2"),
            stopped(5, "1"),
            stopped(6, "x"),
            stopped(8, "3"),
            format!("{}{}", stopped(4, "1"), times(4..6)),
        ] {
            assert_eq!(of(&wrong, &times(2..8)), None, "{wrong}");
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
