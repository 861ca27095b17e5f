//! Readers of samples: texts of known forms, recognised by their content.

mod imb;
mod netgauge;
mod osu;
mod own;
mod simgrid;

use std::fmt;

use crate::samples::Sample;

/// Samples from a file, and what they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The samples.
    pub samples: Vec<Sample>,
    /// Remarks on what the form of the file leaves out.
    pub notes: Vec<String>,
}

/// A mistake in a file of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The number of the line, from 1; 0 if it is the file as a whole.
    pub line: u64,
    /// The mistake.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
}

/// So many mistakes of a file are reported.
const SHOWN: usize = 20;

/// The longest time that is believed, in nanoseconds: a day.
const LONGEST: f64 = 86_400e9;

/// The largest size that is believed, in bytes.
const LARGEST: u64 = 1 << 48;

impl Mistake {
    fn new(line: u64, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), help: None }
    }

    fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.message)?,
            line => write!(f, "line {line}: {}", self.message)?,
        }
        self.help.iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

/// Reads samples in any form that is known.
///
/// # Errors
/// The mistakes of the text, or that its form is not known.
pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    if text.trim().is_empty() {
        let help = "samples begin with the line operation,n,d_ns,bytes,run,repetition,time_ns";
        return Err(vec![Mistake::new(0, "the file is empty").help(help)]);
    }
    let has = |what: &str| text.lines().any(|line| line.starts_with('#') && line.contains(what));
    let reading = if has("OSU MPI") {
        osu::read(text)
    } else if has("Intel(R) MPI Benchmarks") || has("Benchmarking PingPong") {
        imb::read(text)
    } else if has("PRTT(1,0,s)") {
        netgauge::read(text)
    } else if text.lines().any(|line| line.starts_with("MPI_")) {
        simgrid::read(text)
    } else {
        return own::read(text);
    }?;
    if reading.samples.is_empty() {
        return Err(vec![Mistake::new(0, "there are no figures below the header")]);
    }
    Ok(reading)
}

/// Collects the samples of lines, or their mistakes.
fn collected<T>(lines: impl Iterator<Item = Result<T, Mistake>>) -> Result<Vec<T>, Vec<Mistake>> {
    let (mut good, mut mistakes) = (Vec::new(), Vec::new());
    for line in lines {
        match line {
            Ok(item) => good.push(item),
            Err(mistake) => mistakes.push(mistake),
        }
        if mistakes.len() == SHOWN {
            break;
        }
    }
    if mistakes.is_empty() { Ok(good) } else { Err(mistakes) }
}

/// Returns the lines that are neither empty nor comments, with their numbers and fields.
fn rows(text: &str) -> impl Iterator<Item = (u64, Vec<&str>)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index as u64 + 1, line.trim()));
    let used = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    used.map(|(line, text)| (line, text.split_whitespace().collect()))
}

/// Reads a size in bytes.
fn size(line: u64, text: &str) -> Result<u64, Mistake> {
    let number = text.parse::<u64>().ok().filter(|bytes| *bytes <= LARGEST);
    number.ok_or_else(|| Mistake::new(line, format!("expected a size in bytes, found `{text}`")))
}

/// Reads a positive number.
fn positive(line: u64, what: &str, text: Option<&&str>) -> Result<f64, Mistake> {
    let Some(text) = text else {
        let mistake = Mistake::new(line, format!("expected {what}, found nothing"));
        return Err(mistake.help("is the file cut off?"));
    };
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < LONGEST);
    number.ok_or_else(|| {
        Mistake::new(line, format!("expected {what}, a positive number, found `{text}`"))
    })
}
