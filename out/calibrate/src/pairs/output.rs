//! The forms in which pairs are written: a machine file with classes, the file that puts pairs into
//! them, JSON, a table.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Calls, Class, Pair, Pairs, TOLD_APART};
use crate::{
    estimate::Estimate,
    output::{More, Provenance, joined_table},
};

/// So many pairs are named in a comment.
const NAMED: usize = 3;

/// A matrix of more hosts is not printed.
const PRINTED: usize = 16;

impl Pairs {
    /// Returns the file that puts pairs of hosts into classes, as `loggops.pairs` names it. Pairs
    /// of a class of which nothing is known have what `[loggops]` says.
    pub fn file(&self) -> String {
        let mut text = "source,destination,class\n".to_owned();
        for Pair { hosts: [one, other], class, .. } in &self.pairs {
            let class = class.and_then(|class| self.classes.get(class));
            if let Some(class) = class.filter(|class| !class.fitted.known_lines().is_empty()) {
                let _ = writeln!(text, "{one},{other},{}", class.name);
            }
        }
        text
    }

    /// Returns the machine file: that of the median class, with a table for each class. `file` is
    /// the name of the file that puts pairs into them, relative to the machine file. Empty without
    /// classes.
    pub fn machine(&self, from: &Provenance, file: &str) -> String {
        let Some(median) = self.median() else { return String::new() };
        let lines = format!(
            "# These are of the class {}, and all pairs of hosts cost so much. Where rank i of a \
             program\n# is at host i of the file of pairs, the next line gives each pair the costs \
             of its class.\n# pairs = {}\n",
            median.name,
            json!(file)
        );
        let table = |Class { name, pairs, fitted }: &Class| {
            let count = pairs.len();
            let large = fitted.large(&format!("loggops.class.{name}.large"));
            let lines = fitted.known_lines();
            format!(
                "\n# {count} of {} pairs.\n[loggops.class.{name}]\n{lines}{large}",
                self.total()
            )
        };
        let tables: String = self.classes.iter().map(table).collect();
        let intervals = |Class { name, fitted, .. }: &Class| fitted.class_intervals(name);
        let intervals: String = self.classes.iter().map(intervals).collect();
        let flow = self.flow(median);
        median.fitted.machine_with(from, &More { lines, tables, flow, intervals })
    }

    /// Returns the table `[flow]` of the median class, with a remark that says so.
    fn flow(&self, Class { name, fitted, .. }: &Class) -> String {
        let Some(Calls { pairs, fitted }) = self.calls.as_deref() else {
            return fitted.flow(&format!("# This is of the class {name}.\n"));
        };
        if pairs.is_empty() {
            return format!(
                "\n# There is no table of flows: `send`, `isend` and `recv` were timed between no \
                 pair of the class {name}.\n"
            );
        }
        let shown = |&pair: &usize| {
            let [one, other] = self.pairs[pair].hosts.map(|host| self.hosts[host].as_str());
            format!("{one} and {other}")
        };
        let first: Vec<String> = pairs.iter().take(NAMED).map(shown).collect();
        let more = match pairs.len().saturating_sub(NAMED) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let first = first.join("; ");
        fitted.flow(&format!("# This is of the class {name}, measured between {first}{more}.\n"))
    }

    /// Returns the table of joint replicates as CSV: of `[loggops]` and of each class. What is in
    /// one row for `[loggops]` and for the median class, whose values it has, is the same; classes
    /// are independent of each other. Empty if no class has replicates.
    pub fn replicates_table(&self) -> String {
        let median = self.median().map(|median| ("loggops".to_owned(), &median.fitted));
        let classes = self
            .classes
            .iter()
            .map(|Class { name, fitted, .. }| (format!("loggops.class.{name}"), fitted));
        joined_table(&median.into_iter().chain(classes).collect::<Vec<_>>())
    }

    fn total(&self) -> usize {
        self.pairs.len()
    }

    /// Returns the value of a parameter between two hosts.
    fn value(&self, one: usize, other: usize, parameter: &str) -> Option<&Estimate> {
        let key = [one.min(other), one.max(other)];
        let place = self.pairs.binary_search_by(|pair| pair.hosts.cmp(&key)).ok()?;
        self.pairs[place].fitted.parameters.get(parameter)
    }

    /// Returns the pairs as a JSON object. Beside them it has what the median class says alone.
    pub fn json(&self) -> Value {
        let name = |class: Option<usize>| Some(&self.classes.get(class?)?.name);
        let pair = |pair: &Pair| {
            let Pair { hosts: [source, destination], fitted, class } = pair;
            let mut found = fitted.parameters_json();
            let names = fitted.diagnoses.iter().map(|found| found.name);
            found.insert("source".to_owned(), json!(source));
            found.insert("destination".to_owned(), json!(destination));
            found.insert("class".to_owned(), json!(name(*class)));
            found.insert("refused".to_owned(), json!(fitted.refused));
            found.insert("diagnoses".to_owned(), names.collect());
            Value::Object(found)
        };
        let class = |class: &Class| {
            let Class { name, pairs, fitted } = class;
            json!({
                "name": name,
                "pairs": pairs.iter().map(|&pair| self.pairs[pair].hosts).collect::<Vec<_>>(),
                "parameters": fitted.parameters_json(),
                "refused": fitted.refused,
            })
        };
        let median = self.median().map(|class| class.fitted.json());
        let mut all: Map<String, Value> = match median {
            Some(Value::Object(fitted)) => fitted,
            _ => Map::new(),
        };
        if let (Some(calls), Some(segments)) = (&self.calls, all.get_mut("segments")) {
            let more = calls.fitted.json()["segments"].take();
            if let (Value::Object(more), Some(segments)) = (more, segments.as_object_mut()) {
                more.into_iter().for_each(|(name, pieces)| {
                    segments.entry(name).or_insert(pieces);
                });
            }
        }
        let matrix = |parameter: &str| -> Value {
            let hosts = 0..self.hosts.len();
            let value = |one, other| self.value(one, other, parameter).map(|found| found.value);
            let row = |one| hosts.clone().map(|other| value(one, other)).collect::<Vec<_>>();
            hosts.clone().map(row).collect::<Vec<_>>().into()
        };
        let matrices: Map<String, Value> =
            TOLD_APART.iter().map(|name| ((*name).to_owned(), matrix(name))).collect();
        all.insert("hosts".to_owned(), json!(self.hosts));
        all.insert("matrix".to_owned(), Value::Object(matrices));
        all.insert("pairs".to_owned(), self.pairs.iter().map(pair).collect());
        all.insert("classes".to_owned(), self.classes.iter().map(class).collect());
        all.insert("median".to_owned(), json!(self.median().map(|class| &class.name)));
        Value::Object(all)
    }

    /// Returns the pairs as tables for people: a matrix of L above the diagonal and G below it, and
    /// the classes.
    pub fn table(&self) -> String {
        let mut text = String::new();
        if self.hosts.len() <= PRINTED {
            text += "L in us above the diagonal, G in ns/B below it\n";
            self.print_matrix(&mut text);
            text += "\n";
        }
        let _ = writeln!(
            text,
            "{:<8}{:>6}{:>12}{:>24}{:>12}{:>24}",
            "class", "pairs", "L, us", "95 %", "G, ns/B", "95 %"
        );
        for Class { name, pairs, fitted } in &self.classes {
            let _ = write!(text, "{name:<8}{:>6}", pairs.len());
            for (parameter, unit, digits) in [("L", 1000.0, 3), ("G", 1.0, 6)] {
                let found = fitted.parameters.get(parameter);
                let [value, between] = found.map_or_else(
                    || ["-", "-"].map(str::to_owned),
                    |Estimate { value, low, high }| {
                        let [value, low, high] =
                            [value, low, high].map(|it| format!("{:.digits$}", it / unit));
                        [value, format!("{low} to {high}")]
                    },
                );
                let _ = write!(text, "{value:>12}{between:>24}");
            }
            let mark = if self.median().is_some_and(|median| median.name == *name) {
                "  the median"
            } else {
                ""
            };
            let _ = writeln!(text, "{mark}");
        }
        for Pair { hosts, fitted, .. } in self.pairs.iter().filter(|pair| pair.class.is_none()) {
            let reasons: Vec<String> = TOLD_APART
                .iter()
                .filter_map(|name| Some(format!("{name}: {}", fitted.refused.get(name)?)))
                .collect();
            let [one, other] = hosts.map(|host| self.hosts[host].as_str());
            let _ = writeln!(text, "{one} and {other} are in no class; {}", reasons.join("; "));
        }
        text
    }

    fn print_matrix(&self, text: &mut String) {
        let hosts = 0..self.hosts.len();
        let width = self.hosts.iter().map(String::len).max().unwrap_or(0).max(4);
        let _ = write!(text, "{:width$}", "");
        for host in hosts.clone() {
            let _ = write!(text, "{host:>10}");
        }
        text.push('\n');
        for one in hosts.clone() {
            let cell = |other: usize| {
                let (parameter, unit) = if one < other { ("L", 1000.0) } else { ("G", 1.0) };
                let found = self.value(one, other, parameter);
                found.map_or_else(
                    || format!("{:>10}", if one == other { "" } else { "-" }),
                    |found| format!("{:>10.4}", found.value / unit),
                )
            };
            let cells: String = hosts.clone().map(cell).collect();
            let _ = writeln!(text, "{:<width$}{cells}", self.hosts[one]);
        }
    }
}
