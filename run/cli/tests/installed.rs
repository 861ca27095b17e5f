//! An installed command is enough: examples, completions, manual pages, and what `make install` and
//! `make deb` put in place.

mod common;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use common::Folder;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The commands that the help lists, and that have a manual page each.
fn commands(folder: &Folder) -> Vec<String> {
    let help = folder.heddle("--help").stdout;
    let (_, listed) = help.split_once("Commands:\n").expect("a list of commands");
    let listed = listed.lines().take_while(|line| line.starts_with("  "));
    let names = listed.filter(|line| !line.starts_with("   "));
    names.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

fn make(arguments: &[String]) {
    let mut make = Command::new("make");
    // A test may itself run below make, whose options are not meant for this one.
    make.current_dir(ROOT).env_remove("MAKEFLAGS").env_remove("MAKELEVEL").args(arguments);
    let output = make.output().expect("make runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A folder as `make dist` leaves it, but for the contents of the libraries of MPI.
fn built(folder: &Folder) -> String {
    let built = folder.path("built");
    for part in ["bin", "include", "lib"] {
        fs::create_dir_all(built.join("mpi").join(part)).expect("a folder");
        fs::write(built.join("mpi").join(part).join("part"), part).expect("a file");
    }
    // The command itself is large without optimisation; this stands for it.
    let script = concat!("#!/bin/sh\nexec '", env!("CARGO_BIN_EXE_heddle"), "' \"$@\"\n");
    fs::write(built.join("heddle"), script).expect("a file");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(built.join("heddle"), executable).expect("an executable file");
    format!("BUILT={}", built.display())
}

/// Names of all files below a folder, in order.
fn files(folder: &Path) -> Vec<String> {
    fn add(folder: &Path, root: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                add(&path, root, names);
            } else {
                names.push(path.strip_prefix(root).expect("below").display().to_string());
            }
        }
    }
    let mut names = Vec::new();
    add(folder, folder, &mut names);
    names.sort();
    names
}

/// The examples are those of the source, and the tutorial's first commands run with them.
#[test]
fn examples_are_written() {
    let folder = Folder::new("installed-examples");
    let ended = folder.heddle("examples examples");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let source = Path::new(ROOT).join("examples");
    let mut expected = files(&source);
    expected.retain(|name| !name.starts_with("toy/") && name != "demo.sh");
    assert_eq!(files(&folder.path("examples")), expected);
    for name in &expected {
        let copy = folder.read(&format!("examples/{name}"));
        assert!(copy == fs::read(source.join(name)).expect("an example"), "{name}");
    }
    let summary = folder.heddle("run examples/sum.toml --format json").json();
    // The tutorial works this figure out by hand.
    assert_eq!(summary["makespan_ps"], 38_701_680);
    let machine = "run pattern:gather --ranks 8 --machine examples/machines/fat-tree-648.toml -q";
    assert_eq!(folder.heddle(machine).code, 0);

    let again = folder.heddle("examples examples");
    assert_eq!(again.code, 4);
    assert!(again.stderr.contains("examples exists already"), "{}", again.stderr);
}

/// Bash completes the names of commands and of flags, also of those from the table of keys.
#[test]
fn bash_completes() {
    let folder = Folder::new("installed-bash");
    let script = folder.heddle("completions bash");
    assert_eq!((script.code, script.stderr.as_str()), (0, ""));
    folder.write("heddle.bash", &script.stdout);
    for (line, expected) in [
        ("heddle lad", "ladder"),
        ("heddle run --topol", "--topology"),
        ("heddle completions fi", "fish"),
    ] {
        let words: Vec<_> = line.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let ask = format!(
            "source heddle.bash; COMP_WORDS=({line}); COMP_CWORD={}; \
             _heddle heddle {last} {before}; echo ${{COMPREPLY[@]}}",
            words.len() - 1
        );
        let mut bash = Command::new("bash");
        let output = bash.current_dir(folder.path("")).args(["-c", &ask]).output();
        let output = output.expect("bash runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{line}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = folder.heddle(&format!("completions {shell}"));
        assert!(script.code == 0 && script.stdout.contains("topology"), "{shell}");
    }
}

/// The version tells the target of the build.
#[test]
fn the_version_tells_of_the_build() {
    let folder = Folder::new("installed-version");
    let short = folder.heddle("-V").stdout;
    assert_eq!(short, concat!("heddle ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = folder.heddle("--version").stdout;
    assert!(long.starts_with(&short), "{long}");
    assert!(long.contains("\nbuilt for ") && long.contains("opt-level"), "{long}");
}

/// `make install` puts everything below PREFIX, and `make uninstall` takes it away.
#[test]
fn make_installs() {
    let folder = Folder::new("installed-make");
    let place = [
        "PREFIX=/opt/x".to_owned(),
        format!("DESTDIR={}", folder.path("stage").display()),
        built(&folder),
    ];
    let with = |target: &str| [&[target.to_owned()], &place[..]].concat();
    make(&with("install-built"));
    let names = files(&folder.path("stage/opt/x"));
    let mut expected: Vec<_> =
        ["bin/heddle", "lib/heddle/mpi/lib/part", "share/doc/heddle/README.md"]
            .map(str::to_owned)
            .into();
    expected.extend(
        [
            "share/bash-completion/completions/heddle",
            "share/fish/vendor_completions.d/heddle.fish",
            "share/zsh/site-functions/_heddle",
            "share/heddle/examples/machines/edr-cluster.toml",
            "share/man/man1/heddle.1",
        ]
        .map(str::to_owned),
    );
    let commands = commands(&folder);
    assert!(commands.len() > 15, "{commands:?}");
    expected.extend(
        commands
            .iter()
            .filter(|name| *name != "help")
            .map(|name| format!("share/man/man1/heddle-{name}.1")),
    );
    for name in &expected {
        assert!(names.contains(name), "{name} is missing: {names:#?}");
    }
    let page = fs::read_to_string(folder.path("stage/opt/x/share/man/man1/heddle-run.1"));
    assert!(page.expect("a page").contains("\\-\\-topology"));
    make(&with("uninstall"));
    assert_eq!(files(&folder.path("stage")), [""; 0]);
}

/// The Debian package holds the same, where Debian looks for it.
#[test]
fn a_debian_package() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        println!("not tested: there is no dpkg-deb");
        return;
    }
    let folder = Folder::new("installed-deb");
    let out = format!("TARGET={}", folder.path("out").display());
    make(&["deb-built".to_owned(), built(&folder), out]);
    let names = folder.names("out");
    let package = names
        .iter()
        .find(|name| Path::new(name).extension() == Some("deb".as_ref()))
        .expect("a package");
    assert!(package.starts_with(concat!("heddle_", env!("CARGO_PKG_VERSION"), "_")), "{package}");
    let ask = |what: &str| {
        let mut query = Command::new("dpkg-deb");
        query.arg(what).arg(folder.path("out").join(package));
        let output = query.output().expect("dpkg-deb runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let listed = ask("-c");
    for (mode, path) in [
        ("-rwxr-xr-x root/root", "./usr/bin/heddle"),
        ("-rw-r--r-- root/root", "./usr/share/man/man1/heddle.1.gz"),
        ("-rw-r--r-- root/root", "./usr/share/bash-completion/completions/heddle"),
        ("-rw-r--r-- root/root", "./usr/share/zsh/vendor-completions/_heddle"),
        ("-rw-r--r-- root/root", "./usr/share/heddle/examples/sum.goal"),
        ("-rw-r--r-- root/root", "./usr/share/doc/heddle/copyright"),
        ("drwxr-xr-x root/root", "./usr/lib/heddle/mpi/lib/"),
    ] {
        let found = listed.lines().find(|line| line.ends_with(&format!(" {path}")));
        let found = found.unwrap_or_else(|| panic!("{path} is missing: {listed}"));
        assert!(found.starts_with(mode), "{found}");
    }
    let control = ask("-f");
    assert!(control.contains("Package: heddle\n"), "{control}");
    // A script asks for no version of the C library.
    assert!(control.contains("Depends: libc6"), "{control}");
}
