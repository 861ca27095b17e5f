//! Names in a page: all of them, or none that leads to a machine, a person or a program.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The replacement of what is left out.
const HIDDEN: &str = "(left out)";

/// Tables of keys whose texts are names of files, hosts or people, or arguments.
const PRIVATE: [&str; 5] = ["calibration", "live", "placement", "output", "booksim"];

/// Names of devices and links, or numbers in their place.
#[derive(Debug, Default)]
pub struct Names {
    anonymous: bool,
    devices: BTreeMap<String, usize>,
    links: usize,
}

impl Names {
    /// Names as they are, or numbers.
    pub fn new(anonymous: bool) -> Self {
        Self { anonymous, ..Self::default() }
    }

    /// The name of a host or switch.
    pub fn device(&mut self, name: &str) -> String {
        if !self.anonymous {
            return name.to_owned();
        }
        let next = self.devices.len();
        let number = *self.devices.entry(name.to_owned()).or_insert(next);
        format!("device {number}")
    }

    /// The name of a link, of which each is asked for once.
    pub fn link(&mut self, name: &str) -> String {
        if !self.anonymous {
            return name.to_owned();
        }
        self.links += 1;
        format!("link {}", self.links - 1)
    }
}

/// Leaves out of the settings of a run what leads to a machine, a person or a program.
pub fn settings(settings: &mut Map<String, Value>) {
    for (key, value) in settings {
        let table = key.split('.').next().unwrap_or_default();
        let is_private = PRIVATE.contains(&table) || key == "workload.source";
        hide(value, &|text| if is_private { is_synthetic(text) } else { is_plain(text) });
    }
}

/// Leaves out of a value the texts that are not `allowed`.
fn hide(value: &mut Value, allowed: &dyn Fn(&str) -> bool) {
    match value {
        Value::String(text) if !allowed(text) => *value = json!(HIDDEN),
        Value::Array(values) => values.iter_mut().for_each(|value| hide(value, allowed)),
        Value::Object(values) => values.values_mut().for_each(|value| hide(value, allowed)),
        _ => {}
    }
}

/// True for a workload that is no file, and for a quantity.
fn is_synthetic(text: &str) -> bool {
    let prefixes = ["pattern:", "collective:", "traffic:"];
    let quantity = text.starts_with(|first: char| first.is_ascii_digit())
        && text.split_whitespace().count() <= 2
        && is_plain(text);
    quantity || prefixes.iter().any(|prefix| text.starts_with(prefix)) && is_plain(text)
}

/// True for words and quantities: no path and no name of a file.
fn is_plain(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    characters.iter().enumerate().all(|(place, character)| match character {
        // Between digits; with a unit for the time per byte or a rate.
        '.' => characters.get(place + 1).is_some_and(char::is_ascii_digit),
        '/' => matches!(characters.get(place + 1..), Some(['B' | 's'])),
        _ => character.is_ascii_alphanumeric() || " :=,+-_()%*^".contains(*character),
    })
}

/// A text, unless it is a path or the name of a file.
pub fn text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { HIDDEN.to_owned() }
}

/// Leaves out of a value all paths and names of files.
pub fn texts(value: &mut Value) {
    hide(value, &is_plain);
}

/// Leaves out of a summary the texts of inputs.
pub fn summary(summary: &mut Value) {
    if let Some(parameters) = summary.get_mut("parameters").and_then(Value::as_object_mut) {
        settings(parameters);
    }
    if let Some(remarks) = summary.get_mut("remarks") {
        hide(remarks, &|text| !text.contains(['/', '\\', '`', '"']));
    }
    let pending = summary.pointer_mut("/deadlock/pending").and_then(Value::as_array_mut);
    for text in pending.into_iter().flatten().filter_map(|pending| pending.get_mut("text")) {
        *text = json!(HIDDEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_keep_quantities_and_lose_names() {
        let mut found = json!({
            "noise.G": "1.5 ns/B",
            "network.topology": "fat-tree:levels=2,radix=36",
            "network.tables": "cluster/lfts.txt",
            "network.rate": "100 Gb/s",
            "workload.source": "program:./app --secret 7",
            "workload.ranks": 4,
            "placement.hosts": "node17 node18",
            "calibration.host": "frontier",
            "calibration.L.low": "900 ns",
        });
        let values = found.as_object_mut().expect("an object");
        settings(values);
        let expected = json!({
            "noise.G": "1.5 ns/B",
            "network.topology": "fat-tree:levels=2,radix=36",
            "network.tables": HIDDEN,
            "network.rate": "100 Gb/s",
            "workload.source": HIDDEN,
            "workload.ranks": 4,
            "placement.hosts": HIDDEN,
            "calibration.host": HIDDEN,
            "calibration.L.low": "900 ns",
        });
        assert_eq!(found, expected);
    }
}
