//! Heddle's own edge lists, in TOML and in CSV.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::{
    Imported,
    draft::{Draft, Place, Properties, Tip},
    lines::Lines,
};
use crate::{Fault, Faults, place::column_of};

/// Reads lines `host,NAME[,PORTS]`, `switch,NAME[,PORTS]` and
/// `link,END,END[,DELAY[,LENGTH[,RATE]]]`, where an end is `NAME` or `NAME:PORT`; `#` begins a
/// comment.
pub fn csv(text: &str) -> Result<Imported, Faults> {
    let mut draft = Draft::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        if line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let place = |field: &str| (index + 1, column_of(line, field));
        match fields.as_slice() {
            [kind @ ("host" | "switch"), name, rest @ ..] if rest.len() < 2 => {
                let ports = rest.first().filter(|ports| !ports.is_empty());
                let number = ports.and_then(|ports| ports.parse().ok());
                if let (Some(ports), None) = (ports, number) {
                    let message = format!("expected a number of ports, found `{ports}`");
                    draft.fault(place(ports), message);
                }
                draft.device(name, *kind == "host", number, place(name));
            }
            ["link", a, b, rest @ ..] if rest.len() < 4 => {
                let mut properties = Properties::default();
                for (key, value) in ["delay", "length", "rate"].into_iter().zip(rest) {
                    if !value.is_empty() {
                        draft.property(&mut properties, key, value, place(value));
                    }
                }
                draft.cable(Tip::parse(a, place(a)), Tip::parse(b, place(b)), properties);
            }
            ["host" | "switch", ..] => {
                draft.fault((index + 1, 1), "expected host,NAME[,PORTS] or switch,NAME[,PORTS]");
            }
            ["link", ..] => {
                draft.fault((index + 1, 1), "expected link,END,END[,DELAY[,LENGTH[,RATE]]]");
            }
            [first, ..] => {
                let message = format!("expected host, switch or link, found `{first}`");
                let (line, column) = place(first);
                let fault =
                    Fault::at(line, column, message).near(first, &["host", "switch", "link"]);
                draft.faults.push(fault);
            }
            [] => {}
        }
    }
    draft.finish()
}

/// Reads tables `[hosts]` and `[switches]` of names and numbers of ports, and an array `link` of
/// tables with `ends`, `delay`, `length` and `rate`.
pub fn toml(text: &str) -> Result<Imported, Faults> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { lines: Lines::new(text), draft: Draft::default() };
    for error in &errors {
        let place = reader.place(&error.span().unwrap_or(0..0));
        reader.draft.fault(place, error.message());
    }
    if !errors.is_empty() {
        return Err(reader.draft.faults);
    }
    for (key, value) in table.get_ref() {
        let place = reader.place(&key.span());
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("hosts", DeValue::Table(devices)) => reader.devices(devices, true),
            ("switches", DeValue::Table(devices)) => reader.devices(devices, false),
            ("link", DeValue::Array(links)) => {
                for link in links {
                    let place = reader.place(&link.span());
                    match link.get_ref() {
                        DeValue::Table(link) => reader.link(link, place),
                        _ => reader.draft.fault(place, "expected a table of a link"),
                    }
                }
            }
            (name @ ("hosts" | "switches"), _) => {
                let message = format!("expected [{name}] with lines such as name = 1");
                reader.draft.fault(place, message);
            }
            ("link", _) => reader.draft.fault(place, "expected [[link]] tables"),
            (other, _) => {
                let known = ["hosts", "switches", "link"];
                let message = format!("unknown key `{other}`; expected {}", known.join(", "));
                reader.draft.faults.push(Fault::at(place.0, place.1, message).near(other, &known));
            }
        }
    }
    reader.draft.finish()
}

struct Reader<'a> {
    lines: Lines<'a>,
    draft: Draft,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> Place {
        self.lines.place(span.start)
    }

    fn devices(&mut self, devices: &DeTable, host: bool) {
        // A table gives its keys in the order of the alphabet; their places tell that of the file.
        let mut sorted: Vec<_> = devices.iter().collect();
        sorted.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in sorted {
            let ports = match value.get_ref() {
                DeValue::Integer(ports) => ports.as_str().parse().ok(),
                _ => None,
            };
            if ports.is_none() {
                let place = self.place(&value.span());
                self.draft.fault(place, "expected a number of ports");
            }
            let place = self.place(&key.span());
            self.draft.device(key.get_ref(), host, ports, place);
        }
    }

    fn link(&mut self, link: &DeTable, place: Place) {
        let mut properties = Properties::default();
        let mut ends = Vec::new();
        for (key, value) in link {
            let value_place = self.place(&value.span());
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("ends", DeValue::Array(tips)) => {
                    for tip in tips {
                        let place = self.place(&tip.span());
                        match tip.get_ref() {
                            DeValue::String(text) => ends.push(Tip::parse(text, place)),
                            _ => self.draft.fault(place, "expected \"DEVICE\" or \"DEVICE:PORT\""),
                        }
                    }
                }
                (name, DeValue::String(text)) if name != "ends" => {
                    let place = match name {
                        "delay" | "length" | "rate" => value_place,
                        _ => self.place(&key.span()),
                    };
                    self.draft.property(&mut properties, name, text, place);
                }
                (name, _) => {
                    let message =
                        format!("`{name}` must be a text in quotes, and `ends` a list of two");
                    self.draft.fault(value_place, message);
                }
            }
        }
        match <[Tip; 2]>::try_from(ends) {
            Ok([a, b]) => self.draft.cable(a, b, properties),
            Err(ends) => {
                let message = format!("a link has two ends, found {}", ends.len());
                self.draft.fault(place, message);
            }
        }
    }
}
