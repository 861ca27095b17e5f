//! The text that is generated from the table of settings: it must be complete, and its copies
//! current.

use std::{collections::BTreeSet, fs, path::Path};

use experiment::{
    Configuration, Request, document,
    keys::{Fallback, KEYS, Key, TABLES},
};

/// Compares a file of the repository with what it is generated from.
fn is_current(file: &str, expected: &str, command: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{file} is out of date: `{command} > {file}`");
}

#[test]
fn the_schema_is_current() {
    is_current("docs/experiment.schema.json", &document::schema(), "heddle schema");
}

#[test]
fn the_reference_is_current() {
    let command = "heddle schema --reference";
    is_current("docs/src/experiment-file.md", &document::reference(), command);
}

/// The names that scripts rely on, from the issue; LogGOPSim's values, from its `--help`.
#[test]
fn the_defaults_are_those_of_loggopsim() {
    let configuration = Configuration::read(&Request::default()).expect("no mistakes");
    for (name, value) in [
        ("loggops.L", "\"2.5 us\""),
        ("loggops.o", "\"1.5 us\""),
        ("loggops.g", "\"1 us\""),
        ("loggops.G", "\"6 ns/B\""),
        ("loggops.O", "\"0 ns/B\""),
        ("loggops.S", "\"65535 B\""),
        ("loggops.compat", "\"heddle\""),
        ("workload.time-unit", "\"1 ns\""),
        ("run.threads", "1"),
    ] {
        let found = configuration.get(name).map(|(value, _)| value.to_string());
        assert_eq!(found.as_deref(), Some(value), "{name}");
    }
}

#[test]
fn the_table_is_sound() {
    let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names.len(), KEYS.len(), "no name twice");
    let flags = KEYS.iter().filter(|key| key.table() != "traces.algorithms");
    let flags: Vec<_> = flags.filter_map(|key| key.flag).collect();
    let longs: BTreeSet<_> = flags.iter().map(|flag| flag.long).collect();
    assert_eq!(longs.len(), flags.len(), "no flag twice, but for what it means for traces");
    for key in KEYS {
        assert!(TABLES.iter().any(|(table, _)| *table == key.table()), "{}", key.name);
        assert!(key.doc.ends_with('.'), "{}", key.name);
        match key.fallback {
            Fallback::Value(_) => assert!(key.default_value().is_some(), "{}", key.name),
            Fallback::Hosts(..) => {
                assert!(key.default_value().is_some(), "{}", key.name);
                assert!(key.default_with_preset().is_some(), "{}", key.name);
            }
            Fallback::Same(others) => {
                assert!(!others.is_empty() && others.iter().all(|other| names.contains(other)));
            }
            Fallback::Unset(meaning) => assert!(!meaning.is_empty(), "{}", key.name),
        }
    }
}

/// The output of `--print-config` is an experiment file that says the same.
#[test]
fn what_is_printed_can_be_read() {
    let request = Request {
        subject: Some("pattern:halo2d".to_owned()),
        set: [
            "workload.grid=4x2",
            "loggops.O=155ps/B",
            "loggops.large.o=3us",
            "noise.interval=1ms",
        ]
        .map(str::to_owned)
        .to_vec(),
        flags: vec![("output.tables", "messages,ranks,messages".to_owned())],
        ..Request::default()
    };
    let first = Configuration::read(&request).expect("no mistakes");
    let second = Configuration::from_text("e.toml", &first.to_string()).expect("no mistakes");
    for key in KEYS {
        let value =
            |configuration: &Configuration| configuration.get(key.name).map(|(value, _)| value);
        assert_eq!(value(&first), value(&second), "{}", key.name);
    }
    assert!(first.to_string().contains("\ntables = [\"messages\", \"ranks\"] "));
}

/// The schema that describes a table's keys. Of a table whose tables the user names, such as
/// `[rail.NAME]`, the one that each of those follows.
fn keys_of(table: &serde_json::Value) -> &serde_json::Value {
    if table["additionalProperties"].is_object() { &table["additionalProperties"] } else { table }
}

/// The keys of a table's schema and of the tables in it.
fn count(table: &serde_json::Value) -> usize {
    match keys_of(table)["properties"].as_object() {
        Some(properties) => properties.values().map(count).sum(),
        None => 1,
    }
}

/// And no others. What it says about their values is compared with the reader in `schema.rs`.
#[test]
fn the_schema_knows_every_key() {
    let mut schema: serde_json::Value = serde_json::from_str(&document::schema()).expect("JSON");
    for key in KEYS {
        let tables = key.table().split('.');
        let table = tables.fold(&schema, |schema, name| keys_of(&schema["properties"][name]));
        assert_eq!(table["additionalProperties"], false, "{}", key.name);
        assert!(table["properties"][key.short()]["description"].is_string(), "{}", key.name);
    }
    // And the platform, whose tables are not settings, and rails, which have the keys of networks.
    let tables = schema["properties"].as_object_mut().expect("an object");
    for name in ["platform", "rail"] {
        assert!(tables.remove(name).expect("a table")["description"].is_string());
    }
    let of_rails = KEYS.iter().filter(|key| key.table() == "rail").count();
    // Classes have the intervals of all parameters but S, which pairs have in common.
    let is_of_class = |key: &&Key| {
        key.table().starts_with("calibration.loggops.") && key.table() != "calibration.loggops.S"
    };
    let of_classes = KEYS.iter().filter(is_of_class).count();
    assert_eq!(count(&schema), KEYS.len() - of_rails + of_classes);
}
