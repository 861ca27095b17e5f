//! Only the crate of a model of networks and `run/experiment` know the model.

use std::path::Path;

use crate::floors::arrows;
use crate::sources::for_each_source;
use crate::{assert_none, root};

/// The models, by the names of their crates under `net/`.
const MODELS: &[&str] = &["loggops", "infiniband", "packet", "flow"];

/// Models whose names are also ordinary words of programming: their names are not looked for.
const ORDINARY: &[&str] = &["flow", "packet"];

/// Crates that use a model and name it, and why.
const CRATES: &[(&str, &str, &str)] = &[
    ("app/host", "loggops", "the costs of hosts are those of LogGOPS, and LogGOPSim is imitated"),
    ("app/host", "flow", "a solver of all flows has one clock, so programs have an engine there"),
];

/// Files that name a model, and why.
const FILES: &[(&str, &str, &str)] = &[
    ("run/cli/src/arguments.rs", "infiniband", "examples in the help"),
    ("run/cli/src/arguments.rs", "loggops", "examples in the help"),
    ("out/calibrate/src/output.rs", "loggops", "the keys of the machine files that it writes"),
    ("out/calibrate/src/models.rs", "loggops", "the keys of the machine files that it writes"),
    ("out/calibrate/src/pairs/output.rs", "loggops", "the keys of machine files that it writes"),
    ("out/calibrate/src/pairs.rs", "loggops", "its test of those keys"),
    ("openmpi/core/src/machine.rs", "loggops", "the keys of the machine files that it reads"),
    ("net/topology/src/route/build.rs", "infiniband", "the standard's number of lanes for data"),
];

/// True if a crate may know a model.
fn knows(place: &str, model: &str) -> bool {
    place == "run/experiment"
        || place == format!("net/{model}")
        || CRATES.iter().any(|(known, of, _)| place == *known && model == *of)
}

#[test]
fn only_experiments_use_models() {
    let arrows = arrows();
    let to = |model: &str| format!("net/{model}");
    for model in MODELS {
        let found = arrows.iter().any(|arrow| arrow.to == to(model));
        assert!(found, "net/{model} is used by nobody");
    }
    let wrong = arrows.iter().filter(|arrow| !arrow.of_tests).flat_map(|arrow| {
        let models = MODELS.iter().filter(|model| arrow.to == to(model));
        models
            .filter(|model| !knows(&arrow.from, model))
            .map(|model| format!("{} uses net/{model}; only run/experiment may", arrow.from))
    });
    assert_none(&wrong.collect::<Vec<_>>());
    let unused = CRATES.iter().filter(|(from, model, _)| {
        !arrows.iter().any(|arrow| arrow.from == *from && arrow.to == to(model))
    });
    let unused = unused.map(|(from, model, _)| format!("{from} uses {model} no more"));
    assert_none(&unused.collect::<Vec<_>>());
}

/// The text without its line comments.
fn code(text: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

#[test]
fn only_experiments_name_models() {
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for_each_source(&root(), &mut |path, text| {
        let is_rust = Path::new(path).extension().is_some_and(|ending| ending == "rs");
        let Some((place, _)) = path.split_once("/src/").filter(|_| is_rust) else {
            return;
        };
        // LogGOPSim is another program, whose files are read.
        let code = code(text).to_lowercase().replace("loggopsim", "");
        for model in MODELS.iter().filter(|model| !ORDINARY.contains(model)) {
            if knows(place, model) || !code.contains(model) {
                continue;
            }
            let excused = FILES.iter().find(|(file, of, _)| path == *file && model == of);
            seen.extend(excused);
            if excused.is_none() {
                wrong.push(format!("{path} names {model}; only run/experiment may"));
            }
        }
    });
    let unused = FILES.iter().filter(|file| !seen.contains(file));
    wrong.extend(unused.map(|(file, model, _)| format!("{file} names {model} no more")));
    assert_none(&wrong);
}

#[test]
fn comments_may_name_models() {
    assert_eq!(code("let a = 1; // of flow\n/// A flow.\nflow();"), "let a = 1; \n\nflow();");
}
