//! The floors of docs/architecture.md: a crate uses crates above its own row of the table, never
//! those below it nor those beside it.

use std::process::Command;

use serde_json::Value;

use crate::{assert_none, root};

/// Crates as `floor/name`, one row of the table each; a row may have several.
type Floors = Vec<Vec<String>>;

/// Reads the table `| floor | crate | ...` of the architecture page. An empty first cell stands for
/// the floor above it.
fn floors(page: &str) -> Floors {
    let mut floor = "";
    let rows = page.lines().skip_while(|line| !line.starts_with("| floor | crate |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.split('|').skip(1).map(str::trim);
        if let Some(cell) = cells.next().filter(|cell| !cell.is_empty()) {
            floor = cell.trim_matches(['`', '/']);
        }
        let crates = cells.next().unwrap_or_default();
        crates.split('`').skip(1).step_by(2).map(|name| format!("{floor}/{name}")).collect()
    })
    .collect()
}

/// The complaint about an arrow from one crate to another, if it is wrong; both as `floor/name`.
fn wrong_arrow(floors: &Floors, from: &str, to: &str) -> Option<String> {
    let row = |name: &str| floors.iter().position(|row| row.iter().any(|other| other == name));
    let complaint = match (row(from), row(to)) {
        (None, _) => return Some(format!("{from} has no place in docs/architecture.md")),
        (_, None) => return Some(format!("{to} has no place in docs/architecture.md")),
        (Some(from), Some(to)) if to < from => return None,
        (Some(from), Some(to)) if to == from => "stands beside it",
        _ => "stands below it",
    };
    Some(format!("{from} uses {to}, which {complaint} in docs/architecture.md"))
}

/// A crate that uses another; both as `floor/name`.
pub struct Arrow {
    pub from: String,
    pub to: String,
    /// True if only tests, examples or build scripts use it.
    pub of_tests: bool,
}

/// All arrows between crates of the workspace, tests included.
pub fn arrows() -> Vec<Arrow> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let place = |folder: &Value| {
        let folder = std::path::Path::new(folder.as_str()?);
        let inside = folder.strip_prefix(metadata["workspace_root"].as_str()?).ok()?;
        Some(inside.to_string_lossy().replace('\\', "/"))
    };
    let mut arrows = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let from = place(&package["manifest_path"]).expect("packages lie in the workspace");
        let from = from.trim_end_matches("/Cargo.toml");
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if let Some(to) = place(&dependency["path"]) {
                let of_tests = !dependency["kind"].is_null();
                arrows.push(Arrow { from: from.to_owned(), to, of_tests });
            }
        }
    }
    arrows
}

/// A library that tests of the command load into programs, so that cargo has to build it for them.
/// They link nothing of it.
const LOADED: (&str, &str) = ("run/cli", "run/inprocess");

#[test]
fn no_arrow_runs_against_the_floors() {
    let page = std::fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    let floors = floors(&page);
    let arrows = arrows();
    assert!(arrows.iter().any(|arrow| arrow.from == "out/results" && arrow.to == "base/units"));
    let is_loaded =
        |arrow: &&Arrow| arrow.of_tests && (arrow.from.as_str(), arrow.to.as_str()) == LOADED;
    let linked = arrows.iter().filter(|arrow| !is_loaded(arrow));
    let wrong = linked.filter_map(|arrow| wrong_arrow(&floors, &arrow.from, &arrow.to));
    assert_none(&wrong.collect::<Vec<_>>());
}

const PAGE: &str = "\
Text before the table.

| floor | crate | what lives there |
|---|---|---|
| `base/` | `units` | simulated `time` |
| | `kernel` | queues |
| `net/` | `network` | the contract |
| | `loggops` `flow` | one fidelity each |

| another | table |
";

#[test]
fn the_table_is_read() {
    let expected: [&[&str]; 4] =
        [&["base/units"], &["base/kernel"], &["net/network"], &["net/loggops", "net/flow"]];
    assert_eq!(floors(PAGE), expected);
}

#[test]
fn wrong_arrows_are_found() {
    let floors = floors(PAGE);
    let check = |from, to| wrong_arrow(&floors, from, to);
    assert_eq!(check("base/kernel", "base/units"), None);
    assert_eq!(check("net/flow", "base/units"), None);
    let says = |from, to, what: &str| {
        let complaint = check(from, to).expect("a complaint");
        assert!(complaint.contains(what), "{complaint}");
    };
    says("base/units", "base/kernel", "base/units uses base/kernel, which stands below it");
    says("base/kernel", "net/network", "stands below it");
    says("net/flow", "net/loggops", "stands beside it");
    says("net/other", "base/units", "net/other has no place");
    says("net/flow", "net/other", "net/other has no place");
}
