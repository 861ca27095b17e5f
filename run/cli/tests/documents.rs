//! Every command that the README and the book show with its output, run; and every link within
//! them.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder like the root of the repository, as far as the commands need it.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    for part in ["examples", "examples/corner-cases", "examples/machines"] {
        fs::create_dir(folder.path(part)).expect("a folder");
        for entry in fs::read_dir(root().join(part)).expect("the examples") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_str().expect("text");
            if path.is_file() {
                fs::copy(&path, folder.path(part).join(name)).expect("a copy");
            }
        }
    }
    folder
}

/// A command with the output that is shown below it.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// The commands in the console blocks of a document.
fn shown(text: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            all.push(Shown { command: command.to_owned(), output: Vec::new() });
        } else if inside {
            all.last_mut().expect("a command first").output.push(line.to_owned());
        }
    }
    all
}

/// A line without what measures the simulator itself.
fn steady(line: &str) -> &str {
    let name = line.split("  ").next().unwrap_or_default();
    // A rung of the ladder is 92 columns wide and ends with its wall time.
    if let Some((rung, wall)) = line.split_at_checked(83).filter(|_| line.len() == 92)
        && wall.trim_start().parse::<f64>().is_ok()
    {
        return rung;
    }
    match name {
        "messages" | "events" => line.rsplit_once(", ").map_or(line, |(count, _)| count),
        "time" | "peak memory" => name,
        _ => line,
    }
    .trim_end()
}

/// True if lines are those expected, of which `…` stands for any number of lines.
fn matches(expected: &[&str], found: &[&str]) -> bool {
    match expected {
        [] => found.is_empty(),
        ["…", rest @ ..] => (0..=found.len()).any(|skipped| matches(rest, &found[skipped..])),
        [line, rest @ ..] => found.first() == Some(line) && matches(rest, &found[1..]),
    }
}

/// Runs one after the other the commands of a document; the number of them.
fn check(document: &str) -> usize {
    let folder = folder(&format!("document-{}", document.replace('/', "-")));
    let text = fs::read_to_string(root().join(document)).expect("the document");
    let mut code = 0;
    let commands = shown(&text);
    for Shown { command, output } in &commands {
        let printed = match command.split_once(' ').expect("a program and arguments") {
            ("heddle", arguments) => {
                let ended = folder.heddle(arguments);
                code = ended.code;
                ended.stderr + &ended.stdout
            }
            ("echo", "$?") => code.to_string(),
            ("cat" | "ls" | "cmp", _) => {
                let mut words = command.split(' ');
                let mut program = Command::new(words.next().expect("a program"));
                let output = program.args(words).current_dir(folder.path("")).output();
                String::from_utf8(output.expect("it runs").stdout).expect("text")
            }
            _ => panic!("{document}: {command}: not a command that is run here"),
        };
        let expected: Vec<&str> = output.iter().map(|line| steady(line)).collect();
        let found: Vec<&str> = printed.lines().map(steady).collect();
        assert!(matches(&expected, &found), "{document}: {command} prints\n{printed}");
    }
    commands.len()
}

#[test]
fn readme() {
    assert!(check("README.md") >= 5);
}

#[test]
fn tutorial() {
    assert!(check("docs/src/tutorial.md") >= 15);
}

#[test]
fn corner_cases() {
    assert!(check("docs/src/corner-cases.md") >= 10);
}

/// Every relative link leads to a file, and every link to a heading to one that exists.
#[test]
fn links() {
    let book = fs::read_dir(root().join("docs/src")).expect("the book");
    let pages = book.map(|entry| entry.expect("an entry").path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let mut links = 0;
    for page in pages.chain([root().join("README.md")]) {
        let text = fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            links += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            let Ok(found) = fs::read(&target) else { panic!("{}: {link}", page.display()) };
            let found = String::from_utf8_lossy(&found);
            let headings = found.lines().filter(|line| line.starts_with("##"));
            let headings = headings.map(|line| line.trim_start_matches('#').trim());
            let mut anchors = headings.map(|text| text.to_lowercase().replace(' ', "-"));
            let exists = heading.is_empty() || anchors.any(|anchor| anchor == heading);
            assert!(exists, "{}: {link}", page.display());
        }
    }
    assert!(links > 20, "{links}");
}

/// Every page of the book is in its table of contents.
#[test]
fn contents() {
    let contents = fs::read_to_string(root().join("docs/src/SUMMARY.md")).expect("the contents");
    for entry in fs::read_dir(root().join("docs/src")).expect("the book") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_str().expect("text");
        if path.extension().is_some_and(|extension| extension == "md") && name != "SUMMARY.md" {
            assert!(contents.contains(&format!("({name})")), "{name}");
        }
    }
}

/// The book describes every pattern.
#[test]
fn patterns() {
    let chapter = fs::read_to_string(root().join("docs/src/patterns.md")).expect("the chapter");
    let listed = Folder::new("document-patterns").heddle("patterns").stdout;
    assert!(listed.lines().count() > 20);
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(chapter.contains(&format!("`{name}`")), "{name}");
    }
}

/// The book has every topology that `heddle topology list` names in its table.
#[test]
fn topologies() {
    let chapter = fs::read_to_string(root().join("docs/src/topologies.md")).expect("the chapter");
    let listed = Folder::new("document-topologies").heddle("topology list").stdout;
    let kinds = listed.lines().filter(|line| !line.starts_with(' '));
    let kinds: Vec<_> = kinds.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(kinds.len() > 20 && kinds.contains(&"M9"), "{kinds:?}");
    for name in kinds {
        let is_named = |line: &str| line.starts_with("| `") && line.contains(&format!("`{name}`"));
        assert!(chapter.lines().any(is_named), "{name}");
    }
}

/// The files exist that the Makefile runs and builds: not all of its targets are tested elsewhere.
#[test]
fn makefile() {
    let text = fs::read_to_string(root().join("Makefile")).expect("the Makefile");
    let recipes = text.lines().filter(|line| line.starts_with('\t'));
    let words: Vec<&str> = recipes.flat_map(str::split_whitespace).collect();
    let folders = ["benches/", "examples/", "fuzz/", "validation/"];
    let files = words.iter().filter(|word| folders.iter().any(|folder| word.starts_with(folder)));
    let mut found = 0;
    for file in files.filter(|file| **file != "fuzz/target") {
        found += 1;
        assert!(root().join(file).is_file(), "{file}");
    }
    for words in words.windows(4) {
        let ["--package", krate, "--example", example] = words else { continue };
        let path = format!("{}/examples/{example}.rs", krate.trim_start_matches("heddle-"));
        // The folder of a crate is in that of its floor.
        let mut floors = ["app", "base", "net", "run"].iter();
        assert!(floors.any(|floor| root().join(floor).join(&path).is_file()), "{path}");
        found += 1;
    }
    assert!(found >= 12, "{found}");
}
