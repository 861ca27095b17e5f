//! The JSON schema and the reader of experiment files agree on what is an experiment file.

use std::{fs, path::Path};

use experiment::{Configuration, Request, document};
use regex_lite::Regex;
use serde_json::Value;

/// Returns whether a value fits a schema, by the keywords that ours uses; any other is a failure.
fn fits(schema: &Value, value: &Value) -> bool {
    let schema = schema.as_object().expect("a schema");
    schema.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "title" | "description" | "default" => true,
        "type" => match rule.as_str().expect("a type") {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            other => panic!("unknown type {other}"),
        },
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(key, value)| rule.get(key).is_none_or(|rule| fits(rule, value)))
        }),
        "additionalProperties" => {
            let known =
                |key: &String| schema.get("properties").is_some_and(|all| all.get(key).is_some());
            let accepts = |value: &Value| *rule != false && fits(rule, value);
            let is_good = |(key, value): (&String, &Value)| known(key) || accepts(value);
            value.as_object().is_none_or(|object| object.iter().all(is_good))
        }
        "items" => value.as_array().is_none_or(|list| list.iter().all(|item| fits(rule, item))),
        "enum" => rule.as_array().expect("a list").contains(value),
        "pattern" => {
            let pattern = Regex::new(rule.as_str().expect("a pattern")).expect("a pattern");
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= number(rule)),
        "minimum" => value.as_i64().is_none_or(|value| i128::from(value) >= number(rule).into()),
        "maximum" => value.as_u64().is_none_or(|value| value <= number(rule)),
        other => panic!("unknown keyword {other}"),
    })
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a number")
}

/// Expects schema and reader to accept a text, or both to refuse it.
fn check(name: &str, text: &str, accepted: bool) {
    let schema = serde_json::from_str(&document::schema()).expect("JSON");
    let document: Value = toml::from_str(text).expect("TOML");
    assert_eq!(fits(&schema, &document), accepted, "the schema on {name}: {text}");
    let read = Configuration::from_text(name, text);
    assert_eq!(read.is_ok(), accepted, "the reader on {name}: {text}");
}

#[test]
fn examples_and_defaults_are_accepted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = 0;
    for folder in ["examples", "fuzz/seeds/experiment_file"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = fs::read_to_string(&path).expect("a text");
                check(&path.display().to_string(), &text, true);
                files += 1;
            }
        }
    }
    assert!(files >= 6, "{files}");
    let defaults = Configuration::read(&Request::default()).expect("no mistakes");
    check("defaults", &defaults.to_string(), true);
}

#[test]
fn values_of_every_type() {
    for (table, accepted, refused) in [
        ("workload", "source = \"-\"", "source = \"\""),
        ("workload", "source = \"pattern:gather\"", "source = 1"),
        ("workload", "time-unit = \"ps\"", "time-unit = \"B\""),
        ("workload", "time-unit = \"0.5 us\"", "time-unit = 1"),
        ("workload", "size = \"4MiB\"", "size = \"4\""),
        ("workload", "size = \" 1.5 kB \"", "size = \"-1 B\""),
        ("workload", "ranks = 4294967295", "ranks = 4294967296"),
        ("workload", "root = 0", "root = -1"),
        ("workload", "grid = \"8x4x4\"", "grid = \"8x\""),
        ("workload", "grid = \"2 x 4\"", "grid = \"0x8\""),
        ("workload", "time-unit = \"0.5 ns\"", "time-unit = \"0 ns\""),
        ("workload", "time-unit = \"10 ps\"", "time-unit = \"0.0 us\""),
        ("loggops", "L = \"1.5 ns\"", "L = \"1.5 ps\""),
        ("loggops", "L = \"2.0 ps\"", "L = \"0.1 ps\""),
        ("loggops", "L = \"0 ps\"", "L = \"ps\""),
        ("traces", "scale = 1000000", "scale = 1000001"),
        ("workload", "seed = 18446744073", "seed = 1.5"),
        ("loggops", "L = \"2500ns\"", "L = 2500"),
        ("loggops", "L = \"1 min\"", "L = \"1 minute\""),
        ("loggops", "G = \"155 ps/B\"", "G = \"155 ps\""),
        ("loggops", "G = \"100 Gb/s\"", "G = \"100 Gb\""),
        ("loggops", "G = \"1 us/4 KiB\"", "G = [\"6 ns/B\"]"),
        ("loggops", "inject = \"start\"", "inject = \"middle\""),
        ("loggops.large", "o-send = \"1 us\"", "S = \"1 B\""),
        ("noise", "coscheduled = true", "coscheduled = \"true\""),
        ("run", "threads = 1024", "threads = 0"),
        ("output", "tables = [\"ranks\", \"messages\"]", "tables = [\"rank\"]"),
        ("output", "tables = []", "tables = \"ranks\""),
        ("output", "directory = \"out\"", "folder = \"out\""),
        ("run", "", "[runs]"),
    ] {
        check("accepted", &format!("[{table}]\n{accepted}\n"), true);
        check("refused", &format!("[{table}]\n{refused}\n"), false);
    }
}
