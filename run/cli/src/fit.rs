//! `heddle fit`.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use calibrate::{
    Calibration, Options, Provenance, Sample,
    pairs::{Pairs, are_several, fit_pairs},
    plogp::fit_plogp,
    read::Reading,
};

use crate::{
    arguments::{Fit, FitModel, Format},
    exit::{Ending, Exit, complain, print},
    files::{apart, contents, keep_existing, to_file},
    picture,
};

/// Estimates parameters, prints them and writes a machine file if one is asked for.
pub fn run(arguments: &Fit) -> Result<(), Ending> {
    let name = &arguments.file;
    if let Some(path) = &arguments.output {
        apart(Path::new(name), path)?;
        keep_existing(&outputs(path).each_ref().map(|path| &**path), arguments.force)?;
    }
    let bytes = contents(name)?;
    let Reading { samples, notes } = samples(name, &bytes)?;
    for note in &notes {
        complain(&format!("note: {note}"));
    }
    let options = Options { replicates: arguments.replicates };
    if arguments.model == FitModel::Plogp {
        return by_size(arguments, &samples, options);
    }
    let found = Found::of(&samples, options);
    if found.fitted().is_none() && (arguments.output.is_some() || arguments.format == Format::Table)
    {
        return Err(found.nothing(name));
    }
    if let Some(path) = &arguments.output {
        found.write(path, name, &bytes, &samples, &Origin::default())?;
    }
    found.show(arguments.picture.as_deref(), arguments.format)
}

/// Prints the parameters of PLogP, of which nothing else is made.
fn by_size(arguments: &Fit, samples: &[Sample], options: Options) -> Result<(), Ending> {
    let wrong = |text: &str| Err(Ending::new(Exit::Input, format!("error: {text}")));
    if arguments.output.is_some() || arguments.picture.is_some() {
        let text = "error: --model plogp is printed only: no model of a run takes its \
                    parameters\n  help: leave --model out to write a machine file or to draw";
        return Err(Ending::new(Exit::Usage, text));
    }
    if are_several(samples) {
        return wrong("--model plogp is of one pair of hosts, and there are samples of several");
    }
    let found = fit_plogp(samples, &options);
    match arguments.format {
        Format::Table if found.is_empty() => {
            let reasons: Vec<String> =
                found.refused.iter().map(|(name, why)| format!("  help: {name}: {why}")).collect();
            let text = format!("{}: the samples determine no parameter", arguments.file);
            wrong(&[text].into_iter().chain(reasons).collect::<Vec<_>>().join("\n"))
        }
        Format::Table => print(&found.table()),
        Format::Json => print(&format!("{:#}\n", found.json())),
    }
}

/// The parameters that samples determine: of one pair of hosts, or of several.
pub enum Found {
    One(Box<Calibration>),
    Several(Pairs),
}

/// The origin of samples that were measured just now; empty where it is not known.
#[derive(Default)]
pub struct Origin {
    /// The name and version of what carried the messages.
    pub library: String,
    /// The part that the time for measuring cut off.
    pub cut: String,
}

impl Found {
    /// Estimates what samples determine.
    pub fn of(samples: &[Sample], options: Options) -> Self {
        if are_several(samples) {
            return Self::Several(fit_pairs(samples, &options));
        }
        Self::One(Box::new(calibrate::fit(samples, &options)))
    }

    /// Returns the parameters of the pair, or of the median class of several; none if nothing is
    /// determined.
    pub fn fitted(&self) -> Option<&Calibration> {
        match self {
            Self::One(fitted) => Some(&**fitted),
            Self::Several(pairs) => pairs.median().map(|class| &class.fitted),
        }
        .filter(|fitted| !fitted.is_empty())
    }

    /// The error of samples that determine nothing.
    pub fn nothing(&self, name: &str) -> Ending {
        let reasons: BTreeSet<&String> = match self {
            Self::One(fitted) => fitted.refused.values().collect(),
            Self::Several(pairs) => {
                pairs.pairs.iter().flat_map(|pair| pair.fitted.refused.values()).collect()
            }
        };
        let lines: Vec<String> = [format!("error: {name}: the samples determine no parameter")]
            .into_iter()
            .chain(reasons.into_iter().map(|reason| format!("  help: {reason}")))
            .collect();
        Ending::new(Exit::Input, lines.join("\n"))
    }

    /// Writes the table of replicates, the file of pairs if there are several, and then the machine
    /// file that names them.
    pub fn write(
        &self,
        path: &Path,
        source: &str,
        bytes: &[u8],
        samples: &[Sample],
        origin: &Origin,
    ) -> Result<(), Ending> {
        if self.fitted().is_none() {
            return Err(self.nothing(source));
        }
        let mut provenance = Provenance {
            date: today(),
            hosts: hosts(samples),
            library: origin.library.clone(),
            cut: origin.cut.clone(),
            source: source.to_owned(),
            samples: calibrate::sha256(bytes),
            replicates: None,
        };
        let table = match self {
            Self::One(fitted) => calibrate::replicates_table(fitted),
            Self::Several(pairs) => pairs.replicates_table(),
        };
        if !table.is_empty() {
            let (beside, name) = beside(path, REPLICATES);
            provenance.replicates = Some((name, calibrate::sha256(table.as_bytes())));
            to_file(&beside, |out| out.write_all(table.as_bytes()))?;
        }
        let machine = match self {
            Self::One(fitted) => fitted.machine(&provenance),
            Self::Several(pairs) => {
                let (beside, name) = beside(path, PAIRS);
                to_file(&beside, |out| out.write_all(pairs.file().as_bytes()))?;
                pairs.machine(&provenance, &name)
            }
        };
        to_file(path, |out| out.write_all(machine.as_bytes()))
    }

    /// Draws the fit if that is asked for, and prints it.
    pub fn show(&self, drawing: Option<&str>, format: Format) -> Result<(), Ending> {
        if let (Some(path), Some(fitted)) = (drawing, self.fitted()) {
            picture::write(Path::new(path), fitted)?;
        }
        let json = match (self, format) {
            (Self::One(fitted), Format::Table) => return print(&fitted.table()),
            (Self::Several(pairs), Format::Table) => {
                let median = self.fitted().map_or_else(String::new, Calibration::table);
                return print(&format!("{}\nthe median class\n{median}", pairs.table()));
            }
            (Self::One(fitted), Format::Json) => fitted.json(),
            (Self::Several(pairs), Format::Json) => pairs.json(),
        };
        print(&format!("{json:#}\n"))
    }
}

/// Returns the files that a machine file consists of: itself, replicates and pairs.
pub fn outputs(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), beside(path, REPLICATES).0, beside(path, PAIRS).0]
}

/// The endings of the files beside a machine file.
const REPLICATES: &str = "replicates.csv";
const PAIRS: &str = "pairs.csv";

/// Returns the path of a file beside the machine file, and its name.
fn beside(path: &Path, extension: &str) -> (PathBuf, String) {
    let beside = path.with_extension(extension);
    let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
    (beside, name)
}

/// Reads samples; all mistakes of a file are reported.
pub fn samples(name: &str, bytes: &[u8]) -> Result<Reading, Ending> {
    let wrong = |text: String| Ending::new(Exit::Input, text);
    let text = str::from_utf8(bytes)
        .map_err(|_| wrong(format!("error: {name}: this is no text in UTF-8")))?;
    calibrate::read::read(text.trim_start_matches('\u{feff}')).map_err(|mistakes| {
        let lines: Vec<String> =
            mistakes.iter().map(|mistake| format!("error: {name}: {mistake}")).collect();
        wrong(lines.join("\n"))
    })
}

/// The names of the hosts between which samples were taken, in their order.
fn hosts(samples: &[Sample]) -> String {
    let pairs = samples.iter().filter_map(|sample| sample.pair.as_ref());
    let names: BTreeSet<&str> =
        pairs.flat_map(|(source, destination)| [source.as_str(), destination.as_str()]).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Today's date in universal time, as YYYY-MM-DD.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

/// The date of a day after 1 January 1970, in the Gregorian calendar.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        (days, year) = (days - length, year + 1);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        (days, month) = (days - length, month + 1);
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_of_days() {
        let days = [0, 59, 11_016, 11_017, 19_722, 20_453];
        let expected =
            ["1970-01-01", "1970-03-01", "2000-02-29", "2000-03-01", "2023-12-31", "2025-12-31"];
        assert_eq!(days.map(date), expected);
    }
}
