//! The parts of an installation that the command itself brings: examples, completions for shells,
//! manual pages, and its version.

use std::{fs, io, path::Path};

use clap::CommandFactory as _;
use clap_complete::Shell;
use results::Temporary;

use crate::{
    arguments::{Arguments, Completions, Examples, Man},
    exit::{Ending, Exit, print, written},
    stop,
};

/// The examples that the source of the command has, by their names in the folder `examples`.
const EXAMPLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The version with the commit, where it is known, and the target of the build.
pub const LONG_VERSION: &str = include_str!(concat!(env!("OUT_DIR"), "/version.txt"));

/// Prints a script that completes command lines of heddle in a shell.
pub fn completions(arguments: &Completions) -> Result<(), Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "heddle", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Writes the completions and manual pages that belong below the folder `share` of an installation.
pub fn man(arguments: &Man) -> Result<(), Ending> {
    let share = Path::new(&arguments.folder);
    let write = || -> io::Result<()> {
        let pages = share.join("man/man1");
        fs::create_dir_all(&pages)?;
        clap_mangen::generate_to(Arguments::command(), &pages)?;
        for (shell, folder) in [
            (Shell::Bash, "bash-completion/completions"),
            (Shell::Fish, "fish/vendor_completions.d"),
            (Shell::Zsh, "zsh/site-functions"),
        ] {
            let folder = share.join(folder);
            fs::create_dir_all(&folder)?;
            let script =
                clap_complete::generate_to(shell, &mut Arguments::command(), "heddle", &folder)?;
            if shell == Shell::Bash {
                // The loader of completions looks for the name of the command.
                fs::rename(script, folder.join("heddle"))?;
            }
        }
        Ok(())
    };
    written(write(), &arguments.folder)
}

/// Writes the examples into a new folder, which appears when it is complete.
pub fn examples(arguments: &Examples) -> Result<(), Ending> {
    let folder = Path::new(&arguments.folder);
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_empty() {
        let message = format!(
            "error: {} exists already\n  help: name a new folder for the examples",
            folder.display()
        );
        return Err(Ending::new(Exit::Output, message));
    }
    stop::watch(|| {});
    let write = || -> io::Result<()> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent)?;
        }
        let partial = Temporary::folder(folder)?;
        for (name, contents) in EXAMPLES {
            let path = partial.path().join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, contents)?;
        }
        results::hold().rename(&partial, folder)
    };
    written(write(), &arguments.folder)?;
    let (folder, count) = (&arguments.folder, results::plural(EXAMPLES.len() as u64, "file"));
    print(&format!("{count} in {folder}; for a first run: heddle run {folder}/sum.goal --gantt\n"))
}
