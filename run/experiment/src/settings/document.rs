//! Documents generated from the table of settings: the JSON schema and the reference chapter.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use super::{
    keys::{Fallback, Id, KEYS, Key, TABLES},
    toml_file::{PLATFORM, RAIL},
    value::{Kind, Words},
};

/// The JSON schema of experiment files, with a final newline.
pub fn schema() -> String {
    let mut root = table_schema("");
    root["properties"][PLATFORM] = json!({
        "type": "object",
        "description": "The network as a platform: SimGrid's elements as tables, their attributes \
                        as keys.",
    });
    root["properties"][RAIL] = json!({
        "type": "object",
        "description": "Several networks of each host, by name.",
        "additionalProperties": rail_schema(),
    });
    let class = root["properties"]["loggops"]["properties"]["class"].take();
    root["properties"]["loggops"]["properties"]["class"] = json!({
        "type": "object",
        "description": "Classes of pairs of hosts, by name.",
        "additionalProperties": class,
    });
    let calibrated = &mut root["properties"]["calibration"]["properties"]["loggops"];
    let mut intervals = calibrated.clone();
    intervals["description"] = "Intervals of 95 % of the parameters of a class.".into();
    if let Some(keys) = intervals["properties"].as_object_mut() {
        keys.remove("S");
    }
    calibrated["properties"]["class"] = json!({
        "type": "object",
        "description": "Intervals of the parameters of classes of pairs, by class.",
        "additionalProperties": intervals,
    });
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "Heddle experiment".into();
    let text = serde_json::to_string_pretty(&root).unwrap_or_default();
    text + "\n"
}

/// The schema of a table: its keys and the tables in it.
fn table_schema(table: &str) -> Json {
    let mut properties = Map::new();
    for key in KEYS.iter().filter(|key| key.table() == table) {
        properties.insert(key.short().to_owned(), key_schema(key));
    }
    for (name, full) in inner_tables(table) {
        let mut schema = table_schema(&full);
        if let Some((_, doc)) = TABLES.iter().find(|(known, _)| *known == full) {
            schema["description"] = (*doc).into();
        }
        properties.insert(name, schema);
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// The schema of the table of a rail: its own keys, those of the network, and its costs.
fn rail_schema() -> Json {
    let mut schema = table_schema("network");
    let own = Id::all().filter(|id| id.is_of_rail());
    for id in own {
        let (tables, short) = id.name_in_rail().rsplit_once('.').unwrap_or(("", id.name_in_rail()));
        let mut table = &mut schema;
        for name in tables.split('.').filter(|name| !name.is_empty()) {
            table = &mut table["properties"][name];
            if table.is_null() {
                *table = json!({
                    "type": "object", "additionalProperties": false, "properties": {},
                });
            }
        }
        table["properties"][short] = key_schema(id.key());
    }
    schema
}

/// Returns the names and the full names of the tables right in a table, of which some have no keys
/// but only tables.
fn inner_tables(table: &str) -> Vec<(String, String)> {
    let prefix = if table.is_empty() { String::new() } else { format!("{table}.") };
    let mut names: Vec<(String, String)> = TABLES
        .iter()
        .filter_map(|(inner, _)| inner.strip_prefix(prefix.as_str())?.split('.').next())
        .map(|name| (name.to_owned(), format!("{prefix}{name}")))
        .collect();
    names.dedup();
    names
}

fn key_schema(key: &Key) -> Json {
    let mut schema = kind_schema(key.kind);
    schema["description"] = key.doc.into();
    if let Fallback::Value(_) | Fallback::Hosts(..) = key.fallback
        && let Some(value) = key.default_value()
    {
        schema["default"] = value.json(None);
    }
    schema
}

fn kind_schema(kind: Kind) -> Json {
    match kind {
        Kind::Topology => json!({
            "anyOf": [
                { "type": "string", "minLength": 1 },
                { "type": "object", "required": ["kind"] },
            ],
        }),
        Kind::Workload | Kind::Path | Kind::Name | Kind::Names | Kind::Routing => {
            json!({ "type": "string", "minLength": 1 })
        }
        Kind::Time => pattern(&format!("([0-9]+(\\.[0-9]+)?\\s*{LONGER}|[0-9]+(\\.0+)?\\s*ps)")),
        Kind::TimeUnit => {
            let (whole, part) = ("0*[1-9][0-9]*", "0+\\.0*[1-9][0-9]*");
            pattern(&format!(
                "(ps|{LONGER}|({whole}(\\.[0-9]+)?|{part})\\s*{LONGER}|{whole}(\\.0+)?\\s*ps)"
            ))
        }
        Kind::TimePerByte => quantity("[A-Za-zµμ]+\\s*/\\s*([0-9.]*\\s*[kKMGTPE]?i?B|s)"),
        Kind::Bytes => quantity("[kKMGTPE]?i?B"),
        Kind::Count(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
        Kind::Count(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Factor => json!({ "type": "number", "minimum": 0, "maximum": 1_000_000 }),
        Kind::Probability => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Grid => pattern("0*[1-9][0-9]*(\\s*x\\s*0*[1-9][0-9]*)*"),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "enum": names(words) }),
        Kind::Words(words) => json!({
            "type": "array",
            "items": { "enum": names(words) },
        }),
    }
}

/// Units of time that can be divided: there is nothing below a picosecond.
const LONGER: &str = "(ns|us|µs|μs|ms|s|min|h)";

fn quantity(unit: &str) -> Json {
    pattern(&format!("[0-9]+(\\.[0-9]+)?\\s*{unit}"))
}

/// A text that fits a pattern, with blanks around it.
fn pattern(inner: &str) -> Json {
    json!({ "type": "string", "pattern": format!("^\\s*{inner}\\s*$") })
}

fn names(words: Words) -> Vec<&'static str> {
    words.iter().map(|&(name, _)| name).collect()
}

const INTRODUCTION: &str = "\
<!-- Generated by `heddle schema --reference`; do not edit. -->

# The experiment file

An experiment file says what runs, on what, and what is written about it. It is written in
[TOML](https://toml.io) and ends in `.toml`:

```toml
[workload]
source = \"app.goal\"

[loggops]
L = \"1.4 us\"
G = \"100 Gb/s\"

[output]
directory = \"out\"
```

`heddle run FILE.toml` runs it. Every key can be left out, except `workload.source`. An argument
`--set table.key=value` overrides a key of the file, and so do the flags named below; a value then
needs no quotes, and a list is separated by commas. `heddle run FILE.toml --print-config` shows \
every
value and where it comes from, as an experiment file that can be run in the same folder: what is \
set and
used stands there as a setting, everything else as a comment.

A quantity is a text with its unit, such as `\"2500 ns\"` or `\"64 KiB\"`; a bare number is an \
error.
Relative paths in a file are relative to the file, those of the command line to the current folder.
All mistakes of a file are reported at once. A table `[platform]`, the network's hosts, links and \
routes, is described in [Platforms](platforms.md).

| type | written as |
|---|---|
| time | `ps`, `ns`, `us`, `ms`, `s`, `min` or `h`: `\"2500 ns\"`, `\"1.4 us\"` |
| unit of time | one of these units: `\"ps\"`; or a time: `\"10 ns\"` |
| size | `B`, `kB` to `EB` (powers of 1000), `KiB` to `EiB` (powers of 1024): `\"64 KiB\"` |
| time per byte | a time per size: `\"6 ns/B\"`, `\"1 us/KiB\"`; or a bandwidth: `\"100 Gb/s\"`, \
`\"12.5 GB/s\"` |
| count | a whole number |
| number | a number with up to six decimals: `0.5` |
| grid | the extents of one to three dimensions: `\"8x4x4\"` |
| switch | `true` or `false` |
| word | one of the words listed, in quotes |
| list | words in brackets: `[\"ranks\", \"messages\"]` |
| topology | a kind with its keys, `\"fat-tree:levels=2,radix=36\"` or `{ kind = \"fat-tree\", \
levels = 2, radix = 36 }`, or a path |
| name | a text |
| path | a text |

A JSON schema for editors is in `docs/experiment.schema.json`; `heddle schema` prints it.
";

/// The chapter of the book that describes every setting, in Markdown.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (table, doc) in TABLES {
        let _ = write!(page, "\n## `[{table}]`\n\n{doc}\n\n");
        page += "| key | type | default | meaning |\n|---|---|---|---|\n";
        for key in KEYS.iter().filter(|key| key.table() == *table) {
            let (kind, default) = (type_name(key.kind), default_cell(key));
            let _ = writeln!(page, "| `{}` | {kind} | {default} | {} |", key.short(), meaning(key));
        }
    }
    page
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Workload | Kind::Path => "path",
        Kind::Topology => "topology",
        Kind::Name | Kind::Routing => "name",
        Kind::Names => "names",
        Kind::Time => "time",
        Kind::TimeUnit => "unit of time",
        Kind::TimePerByte => "time per byte",
        Kind::Bytes => "size",
        Kind::Count(..) => "count",
        Kind::Factor => "number",
        Kind::Probability => "probability",
        Kind::Grid => "grid",
        Kind::Switch => "switch",
        Kind::Word(_) => "word",
        Kind::Words(_) => "list",
    }
}

fn default_cell(key: &Key) -> String {
    match key.fallback {
        Fallback::Value(_) => {
            let value = key.default_value();
            value.map_or_else(String::new, |value| format!("`{value}`"))
        }
        Fallback::Hosts(..) => {
            let quoted = |value| format!("`{value}`");
            let [wire, preset] = [key.default_value(), key.default_with_preset()]
                .map(|v| v.map_or_else(String::new, quoted));
            format!("{wire}; where the network has a preset {preset}")
        }
        Fallback::Same(names) => {
            let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("as {}", quoted.join(", else "))
        }
        Fallback::Unset(meaning) => meaning.to_owned(),
    }
}

fn meaning(key: &Key) -> String {
    let mut text = key.doc.to_owned();
    if let Kind::Word(words) | Kind::Words(words) = key.kind {
        let list: Vec<_> = words.iter().map(|(word, doc)| format!("`\"{word}\"`: {doc}")).collect();
        let _ = write!(text, " {}.", list.join("; "));
    }
    match key.flag {
        Some(flag) if flag.value.is_empty() => {
            let _ = write!(text, " Flag `--{}`.", flag.long);
        }
        Some(flag) => {
            let short = flag.short.map_or_else(String::new, |short| format!("-{short}, "));
            let _ = write!(text, " Flag `{short}--{} {}`.", flag.long, flag.value);
        }
        None => {}
    }
    text
}
