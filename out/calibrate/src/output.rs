//! The forms in which a calibration is written: a machine file, JSON, a table of replicates.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::{
    estimate::{Calibration, Estimate, PARAMETERS},
    segments::Segment,
};

/// The origin of a calibration, as the machine file states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The day of the estimation, as YYYY-MM-DD.
    pub date: String,
    /// The names of the hosts; empty if they are not known.
    pub hosts: String,
    /// The name and version of what carried the messages; empty if it is not known.
    pub library: String,
    /// The part that the time for measuring cut off, in words; empty if nothing is known of any.
    pub cut: String,
    /// The name of the file of samples.
    pub source: String,
    /// The hash of the samples, as [`sha256`] gives it.
    pub samples: String,
    /// The name of the table of replicates relative to the machine file, and its hash.
    pub replicates: Option<(String, String)>,
}

/// Parts of a machine file.
#[derive(Clone, Debug, Default)]
pub(crate) struct More {
    /// Further lines of `[loggops]`.
    pub lines: String,
    /// Further tables behind it.
    pub tables: String,
    /// The table `[flow]`.
    pub flow: String,
    /// Further tables of intervals.
    pub intervals: String,
}

/// The keys of a machine file, with the parameters that they hold.
const KEYS: [(&str, &str); 8] = [
    ("L", "L"),
    ("o", "o"),
    ("o-send", "o_send"),
    ("o-recv", "o_receive"),
    ("g", "g"),
    ("G", "G"),
    ("O", "O"),
    ("S", "S"),
];

/// Those of them that each class of pairs has for itself: S is not one of them.
fn of_class() -> &'static [(&'static str, &'static str)] {
    &KEYS[..KEYS.len() - 1]
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the table of joint replicates as CSV: a column for each key, without units, in
/// nanoseconds and nanoseconds per byte. Empty without columns.
pub fn replicates_table(calibration: &Calibration) -> String {
    joined_table(&[("loggops".to_owned(), calibration)])
}

/// Returns the table of the joint replicates of several calibrations, each with the name of the
/// table of settings that it is of. It has as many rows as all of them have.
pub(crate) fn joined_table(all: &[(String, &Calibration)]) -> String {
    let all: Vec<_> = all.iter().filter(|(_, fitted)| !fitted.columns.is_empty()).collect();
    let key = |table: &str, name: &'static str| {
        let found = KEYS.iter().find(|(_, parameter)| *parameter == name);
        format!("{table}.{}", found.map_or(name, |(key, _)| key))
    };
    let header: Vec<String> = all
        .iter()
        .flat_map(|(table, fitted)| fitted.columns.iter().map(move |name| key(table, name)))
        .collect();
    if header.is_empty() {
        return String::new();
    }
    let rows = all.iter().map(|(_, fitted)| fitted.replicates.len()).min().unwrap_or(0);
    let mut text = header.join(",") + "\n";
    for row in 0..rows {
        let values = all.iter().flat_map(|(_, fitted)| &fitted.replicates[row]);
        let cells: Vec<String> = values.map(|value| format!("{value:.6}")).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

/// Returns a value as a key's text, with its unit.
fn quantity(parameter: &str, value: f64) -> String {
    match unit(parameter) {
        "B" => format!("{value:.0} B"),
        "ns/B" => format!("{value:.6} ns/B"),
        _ => format!("{value:.3} ns"),
    }
}

fn unit(parameter: &str) -> &'static str {
    PARAMETERS.iter().find(|(name, _)| *name == parameter).map_or("ns", |(_, unit)| unit)
}

impl Calibration {
    /// Returns the machine file: the table `[loggops]`, overheads of the model of flows, and
    /// intervals with their origin in `[calibration]`.
    pub fn machine(&self, from: &Provenance) -> String {
        self.machine_with(from, &More { flow: self.flow(""), ..More::default() })
    }

    /// Returns the machine file with what else is to stand in it.
    pub(crate) fn machine_with(&self, from: &Provenance, more: &More) -> String {
        let mut text = format!(
            "# Parameters of an interconnect, estimated from {} samples in {}.\n",
            self.samples, from.source
        );
        if !from.cut.is_empty() {
            let _ = writeln!(text, "# The time was short: {}.", from.cut);
        }
        for diagnosis in &self.diagnoses {
            let _ = writeln!(text, "# {}: {}.", diagnosis.name, diagnosis.text);
        }
        if let Some(error) = self.model_error {
            let _ = writeln!(text, "# {}.", error.text());
        }
        text += "\n[loggops]\n";
        for (key, parameter) in KEYS {
            text += &self.line(key, parameter);
        }
        text += &more.lines;
        text += &self.large("loggops.large");
        text += &more.tables;
        text += &more.flow;
        text += &from.table();
        text += &self.intervals("loggops", &KEYS);
        text += &more.intervals;
        text
    }

    /// Returns a line for each key of a class whose parameter is known.
    pub(crate) fn known_lines(&self) -> String {
        let known = |(key, parameter): &(&str, &'static str)| {
            let value = quantity(parameter, self.written(parameter)?.value);
            Some(format!("{key} = \"{value}\"\n"))
        };
        of_class().iter().filter_map(known).collect()
    }

    /// Returns the intervals of the keys of a class whose parameters are known.
    pub(crate) fn class_intervals(&self, class: &str) -> String {
        self.intervals(&format!("loggops.class.{class}"), of_class())
    }

    /// Returns a table for the interval of each of some keys of a table of settings.
    fn intervals(&self, table: &str, keys: &[(&str, &'static str)]) -> String {
        let interval = |key: &str, parameter: &str, Estimate { low, high, .. }: Estimate| {
            let [low, high] = [low, high].map(|value| quantity(parameter, value));
            format!("\n[calibration.{table}.{key}]\nlow = \"{low}\"\nhigh = \"{high}\"\n")
        };
        let own = keys.iter().filter_map(|(key, parameter)| {
            self.written(parameter).map(|found| interval(key, parameter, found))
        });
        let large = self.large.iter().flat_map(|large| {
            [interval("large.L", "L", large.latency), interval("large.G", "G", large.per_byte)]
        });
        own.chain(large).collect()
    }

    /// The estimate of a parameter that is written: of overheads either the mean or both.
    fn written(&self, parameter: &str) -> Option<Estimate> {
        let both = self.parameters.contains_key("o_receive") && self.parameters.contains_key("o");
        match parameter {
            "o" if both => None,
            "o_send" | "o_receive" if !both => None,
            _ => self.parameters.get(parameter).copied(),
        }
    }

    /// The line of a key: its value, or what stands for it where that is not known.
    fn line(&self, key: &str, parameter: &str) -> String {
        if let Some(estimate) = self.written(parameter) {
            return format!("{key} = \"{}\"\n", quantity(parameter, estimate.value));
        }
        let both = self.written("o_send").is_some();
        let (value, why) = match parameter {
            "o" if !both => (0.0, "not told apart from L"),
            "L" => match self.one_way {
                Some(sum) => (sum.value, "L and the overheads of both sides"),
                None => (0.0, "not measured"),
            },
            "g" => (self.hidden_gap.unwrap_or(0.0).max(0.0), "not determined"),
            "G" => (0.0, "not determined"),
            "S" => (self.largest.max(65_535) as f64, "no step was found"),
            _ => return String::new(),
        };
        let reason = self.refused.get(parameter).map_or(why, String::as_str);
        format!("{key} = \"{}\" # {reason}\n", quantity(parameter, value))
    }

    /// Returns the calibration as a JSON object.
    pub fn json(&self) -> Value {
        let segments: Map<String, Value> = self
            .segments
            .iter()
            .map(|(operation, pieces)| {
                let piece = |piece: &Segment| {
                    let Segment { from, to, base, slope } = piece;
                    json!({ "from": from, "to": to, "base": base, "slope": slope })
                };
                (operation.clone(), pieces.iter().map(piece).collect())
            })
            .collect();
        let diagnoses: Vec<&str> = self.diagnoses.iter().map(|found| found.name).collect();
        let mut found = json!({
            "parameters": self.parameters_json(),
            "segments": segments,
            "refused": self.refused,
            "diagnoses": diagnoses,
            "samples": self.samples,
        });
        if let Some(error) = self.model_error {
            found["model_error"] = error.json();
        }
        found
    }

    /// Returns the parameters with their units, those of messages beyond S last.
    fn with_units(&self) -> impl Iterator<Item = (&'static str, Estimate, &'static str)> {
        let known = |(name, unit)| Some((name, *self.parameters.get(name)?, unit));
        let large = self.large.iter().flat_map(|large| {
            [("large.L", large.latency, "ns"), ("large.G", large.per_byte, "ns/B")]
        });
        PARAMETERS.into_iter().filter_map(known).chain(large)
    }

    /// Returns the parameters as a JSON object.
    pub(crate) fn parameters_json(&self) -> Map<String, Value> {
        let parameter = |(name, estimate, unit): (&str, Estimate, &str)| {
            let Estimate { value, low, high } = estimate;
            let found = json!({ "value": value, "low": low, "high": high, "unit": unit });
            (name.to_owned(), found)
        };
        self.with_units().map(parameter).collect()
    }

    /// Returns the calibration as a table for people.
    pub fn table(&self) -> String {
        let mut text =
            format!("{:<10}{:>14}{:>14}{:>14}  unit\n", "parameter", "value", "low", "high");
        for (name, Estimate { value, low, high }, unit) in self.with_units() {
            let digits = if unit == "ns/B" { 6 } else { usize::from(unit == "ns") };
            let _ = writeln!(
                text,
                "{name:<10}{value:>14.digits$}{low:>14.digits$}{high:>14.digits$}  {unit}"
            );
        }
        if self.large.is_some() {
            text += "L, o, g and G are those of messages up to S, large.L and large.G of others\n";
        }
        for (name, reason) in &self.refused {
            let _ = writeln!(text, "{name} is not determined: {reason}");
        }
        for (operation, pieces) in &self.segments {
            for Segment { from, to, base, slope } in pieces {
                let (sign, slope) = (if *slope < 0.0 { '-' } else { '+' }, slope.abs());
                let _ = writeln!(
                    text,
                    "{operation}, {from} B to {to} B: {base:.1} ns {sign} {slope:.6} ns/B"
                );
            }
        }
        if let Some(error) = self.model_error {
            let _ = writeln!(text, "{}", error.text());
        }
        if let Some(factor) = self.limiter() {
            let _ = writeln!(text, "both directions at once take {factor:.2} times as long a byte");
        }
        for diagnosis in &self.diagnoses {
            let _ = writeln!(text, "{}: {}", diagnosis.name, diagnosis.text);
        }
        text
    }
}

impl Provenance {
    /// Returns the table `[calibration]` of a machine file.
    fn table(&self) -> String {
        let mut text = format!("\n[calibration]\ndate = \"{}\"\n", self.date);
        if !self.hosts.is_empty() {
            let _ = writeln!(text, "hosts = {}", json!(self.hosts));
        }
        if !self.library.is_empty() {
            let _ = writeln!(text, "mpi = {}", json!(self.library));
        }
        let _ = writeln!(text, "samples = {}", json!(self.source));
        let _ = writeln!(text, "samples-sha256 = \"{}\"", self.samples);
        if let Some((name, hash)) = &self.replicates {
            let _ = writeln!(text, "replicates = {}", json!(name));
            let _ = writeln!(text, "replicates-sha256 = \"{hash}\"");
        }
        text
    }
}
