//! `heddle measure`.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use calibrate::{Calibration, Estimate, Options};
use measure::{
    noise,
    pairs::{self, Forecast},
    plan::OPERATIONS,
    programs::{Job, Program, for_launcher},
    session::{self, Error, Extent, Prober, Session},
    tcp::{Client, Limits, Server},
};
use results::Temporary;

use crate::{
    arguments::Measure,
    exit::{Ending, Exit, complain, print},
    files::{keep_existing, to_file},
    fit::{self, Found, Origin},
    record, stop,
};

/// Measures in the way that was asked for.
pub fn run(arguments: &Measure) -> Result<(), Ending> {
    if let Some(address) = &arguments.serve {
        return serve(address);
    }
    let output = arguments.output.as_deref().unwrap_or(Path::new(""));
    // A measurement takes its time, so that this comes first.
    keep_earlier(arguments, output)?;
    stop::watch(|| {});
    if arguments.noise {
        return watch_noise(arguments, output);
    }
    // Jobs leave their results here, and what is not writable shows before anything is measured.
    let folder = Temporary::folder(&output.with_extension("measuring")).map_err(|error| {
        let reason = experiment::reason(&error);
        Ending::new(Exit::Output, format!("error: {}: {reason}", output.display()))
    })?;
    let extent = Extent { runs: arguments.runs, seconds: seconds_of(arguments) };
    if let Some(choice) = arguments.pairs {
        let mut job = job(arguments, folder.path())?;
        let session = pairs::measure(&mut job, choice, extent, &mut announce, &mut typical)
            .map_err(|error| failed(&error))?;
        drop(folder);
        return finish(arguments, output, &session);
    }
    let mut prober = prober(arguments, folder.path())?;
    let precise = |samples: &str| is_precise(samples, arguments.precision);
    let session =
        session::measure(&mut *prober, extent, precise).map_err(|error| failed(&error))?;
    drop(folder);
    finish(arguments, output, &session)
}

/// Returns the time for measuring, in seconds.
fn seconds_of(arguments: &Measure) -> f64 {
    if arguments.quick { 1.0 } else { arguments.time }
}

/// Refuses to replace files of an earlier measurement.
fn keep_earlier(arguments: &Measure, output: &Path) -> Result<(), Ending> {
    if arguments.noise {
        return keep_existing(&[output], arguments.force);
    }
    let samples = samples(arguments, output);
    let files = fit::outputs(output);
    let all: Vec<&Path> = files.iter().chain([&samples]).map(|path| &**path).collect();
    keep_existing(&all, arguments.force)
}

/// Returns the file of the samples.
fn samples(arguments: &Measure, output: &Path) -> PathBuf {
    arguments.samples.clone().unwrap_or_else(|| output.with_extension("samples.csv"))
}

fn failed(error: &Error) -> Ending {
    Ending::new(Exit::Input, format!("error: {error}"))
}

/// Returns what carries out the runs: jobs of a launcher, or a client of a server.
fn prober(arguments: &Measure, folder: &Path) -> Result<Box<dyn Prober>, Ending> {
    if let Some(address) = &arguments.tcp {
        let name = arguments.token_file.clone().unwrap_or_default();
        let token = fs::read_to_string(&name).map_err(|error| {
            let reason = experiment::unread(&name, &error);
            Ending::new(Exit::Input, format!("error: --token-file {}: {reason}", name.display()))
        })?;
        let (address, token) = (address.clone(), token.trim().to_owned());
        return Ok(Box::new(Client { address, token, limits: Limits::default() }));
    }
    Ok(Box::new(job(arguments, folder)?))
}

/// Returns what starts jobs of the program over an MPI library or shared memory.
fn job(arguments: &Measure, folder: &Path) -> Result<Job<'static>, Ending> {
    let program = if arguments.shm {
        Program::Shared
    } else {
        for_launcher(&arguments.command, arguments.mpi.map(record::interface))
            .map_err(|error| failed(&error))?
    };
    Ok(Job {
        launcher: arguments.command.clone(),
        program: program.find().map_err(|error| failed(&error))?,
        folder: fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
        start: &start,
        operations: OPERATIONS,
    })
}

/// Says how long the measurement of pairs is going to take.
fn announce(forecast: Forecast) {
    let Forecast { hosts, pairs, rounds, starts, seconds } = forecast;
    complain(&format!(
        "note: {pairs} pairs of {hosts} hosts in {rounds} rounds, and then one of them alone; with \
         {starts} starts of the job that takes about {seconds:.0} s, and a pilot run"
    ));
}

/// Returns the hosts of the pair with the median L.
fn typical(samples: &str) -> Option<[String; 2]> {
    calibrate::pairs::median_pair(&calibrate::read::read(samples).ok()?.samples)
}

/// Runs a job; its standard output goes to standard error, since ours is for results.
fn start(command: &mut Command) -> io::Result<ExitStatus> {
    command.stdin(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
        rank_ipc::end_with_parent(command, rank_ipc::End::Terminate);
    }
    command.status()
}

/// The parameters whose intervals are to be narrow.
const WANTED: [&str; 3] = ["L", "o", "G"];

/// Returns the parameters whose interval reaches farther from the value than a share of it.
fn wide(fitted: &Calibration, share: f64) -> Vec<(&'static str, f64)> {
    let width = |Estimate { value, low, high }: &Estimate| (value - low).max(high - value) / value;
    let all = WANTED.iter().filter_map(|name| {
        // A value that is not told from zero has no share.
        let found = fitted.parameters.get(name).filter(|found| found.low > 0.0)?;
        Some((*name, width(found)))
    });
    all.filter(|(_, width)| *width > share).collect()
}

fn is_precise(samples: &str, share: f64) -> bool {
    let Ok(reading) = calibrate::read::read(samples) else { return false };
    let fitted = calibrate::fit(&reading.samples, &Options { replicates: 200 });
    wide(&fitted, share).is_empty()
}

/// Writes the samples and what follows from them.
fn finish(arguments: &Measure, output: &Path, session: &Session) -> Result<(), Ending> {
    let path = samples(arguments, output);
    let name = path.display().to_string();
    let bytes = session.samples.as_bytes();
    let reading = fit::samples(&name, bytes)?;
    let found = Found::of(&reading.samples, Options::default());
    to_file(&path, |out| out.write_all(bytes))?;
    let cut = cut(arguments, session);
    say(session, &cut);
    let origin = Origin { library: session.library.clone(), cut };
    found.write(output, &name, bytes, &reading.samples, &origin)?;
    if let Some(fitted) = found.fitted() {
        say_widths(arguments, fitted);
    }
    found.show(arguments.picture.as_deref(), arguments.format)
}

/// Returns what the time cut off, in words; empty if it was enough.
fn cut(arguments: &Measure, session: &Session) -> String {
    let Some(cut) = session.cut() else { return String::new() };
    let round = if arguments.pairs.is_some() { " for each round" } else { "" };
    format!("{cut} in the time of {} s{round}", seconds_of(arguments))
}

/// Says what was measured, and what the time did not allow.
fn say(session: &Session, cut: &str) {
    let repetitions = match cut {
        "" => format!(" of {} repetitions", session.repetitions),
        cut => format!(", {cut}"),
    };
    complain(&format!(
        "note: {} samples in {} runs{repetitions}, up to {} B; {}",
        session.samples.lines().count().saturating_sub(1),
        session.runs,
        session.largest,
        session.library
    ));
}

/// Says which intervals are wider than they were to be.
fn say_widths(arguments: &Measure, fitted: &Calibration) {
    let share = arguments.precision;
    let wide: Vec<String> = wide(fitted, share)
        .iter()
        .map(|(name, width)| format!("{name} within {:.0} %", width * 100.0))
        .collect();
    if !wide.is_empty() {
        let names: Vec<&str> = fitted.diagnoses.iter().map(|found| found.name).collect();
        let why = if names.is_empty() {
            "more --time narrows the intervals".to_owned()
        } else {
            format!("the samples show {}", names.join(", "))
        };
        let wide = wide.join(", ");
        let asked = share * 100.0;
        complain(&format!("warning: {wide} only, and not {asked:.0} %; {why}"));
    }
}

/// Serves clients until it is stopped.
fn serve(address: &str) -> Result<(), Ending> {
    let fail = |error: &io::Error| {
        Ending::new(Exit::Input, format!("error: {address}: {}", experiment::reason(error)))
    };
    let server = Server::bind(address, Limits::default()).map_err(|error| fail(&error))?;
    let bound = server.address().map_err(|error| fail(&error))?;
    print(&format!("{}\n", server.token()))?;
    complain(&format!(
        "note: listening on {bound}; at the other host: heddle measure --tcp {bound} --token-file \
         FILE -o FILE.toml, where the first FILE holds the line above"
    ));
    loop {
        match server.serve() {
            Ok((client, Ok(steps))) => complain(&format!("note: {client}: {steps} steps")),
            Ok((client, Err(reason))) => complain(&format!("warning: {client}: {reason}")),
            Err(error) => return Err(fail(&error)),
        }
    }
}

/// Records what the system takes from a computing process.
fn watch_noise(arguments: &Measure, output: &Path) -> Result<(), Ending> {
    let noise = noise::watch(Duration::from_secs_f64(seconds_of(arguments)));
    let trace = noise.trace();
    to_file(output, |out| out.write_all(trace.as_bytes()))?;
    print(&format!(
        "{} interruptions in {:.3} s took {:.3} % of the time; the quantum of work was {:.0} ns\n",
        noise.interruptions.len(),
        noise.watched as f64 / 1e9,
        100.0 * noise.share(),
        noise.quantum
    ))
}

/// Reads a share, such as `5%` or `0.05`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|number| number * unit);
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected a share between 0 and 100 %, such as 5%".to_owned())
}

/// Reads a time in seconds, with or without a unit.
pub fn seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    let time = text.parse::<units::Time>().ok().map(|time| time.ps() as f64 / 1e12);
    let found = number.or(time).filter(|seconds| (0.01..=86_400.0).contains(seconds));
    found.ok_or_else(|| "expected seconds or a time up to a day, such as 10 or 500ms".to_owned())
}

/// The name of the file of results.
pub fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() || text.ends_with('/') {
        return Err("expected the name of a file".to_owned());
    }
    Ok(PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times() {
        assert_eq!((share("5%"), share("0.02")), (Ok(0.05), Ok(0.02)));
        assert!(share("0").is_err() && share("150 %").is_err() && share("x").is_err());
        assert_eq!((seconds("2.5"), seconds("500ms")), (Ok(2.5), Ok(0.5)));
        assert!(seconds("0").is_err() && seconds("-1").is_err() && seconds("2 days").is_err());
    }
}
