//! Embeds the examples, and says in optimised builds of which commit they are.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Parts of the folder of examples that belong to the source: a crate, and a script of `make demo`.
const LEFT_OUT: [&str; 2] = ["toy", "demo.sh"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files = Vec::new();
    collect(&root, Path::new(""), &mut files);
    let mut table = String::from("&[\n");
    for file in &files {
        let path = root.join(file).display().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(table, "    ({file:?}, include_bytes!({path:?})),");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("examples.rs"), table).expect("a file for the table of examples");
    // A build for tests would be made anew after each commit.
    let (quick, level) = (variable("PROFILE") == "release", variable("OPT_LEVEL"));
    let commit = if quick || level == "3" { commit() } else { String::new() };
    // The command itself is not what takes time to run.
    let level = if level == "0" { "2 where it simulates" } else { &level };
    let version = format!(
        "{}\n{commit}built for {}, opt-level {level}",
        variable("CARGO_PKG_VERSION"),
        variable("TARGET"),
    );
    fs::write(out.join("version.txt"), version).expect("a file for the version");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Collects the names of the files below a folder, in order.
fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    println!("cargo::rerun-if-changed={}", root.join(folder).display());
    let entries = fs::read_dir(root.join(folder)).expect("a readable folder");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        if LEFT_OUT.iter().any(|left_out| path == Path::new(left_out)) {
            continue;
        }
        if root.join(&path).is_dir() {
            collect(root, &path, files);
        } else {
            println!("cargo::rerun-if-changed={}", root.join(&path).display());
            files.push(path.to_str().expect("a name in UTF-8").to_owned());
        }
    }
}

/// A line that names the commit, where there is a repository and git.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // The log of the head changes with each commit and each branch that is checked out.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["log", "-1", "--format=commit %h of %cs"]).map_or(String::new(), |line| line + "\n")
}
