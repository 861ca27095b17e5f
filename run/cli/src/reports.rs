//! `heddle report`.

use std::path::{Path, PathBuf};

use report::{Error, Options};

use crate::{
    arguments::Report,
    exit::{Ending, Exit},
    files::apart,
    stop,
};

/// Writes the page.
pub fn run(arguments: Report) -> Result<(), Ending> {
    let Report { folders, output, detail, windows, anonymous } = arguments;
    for input in &folders {
        input.metadata().map_err(|error| {
            let reason = experiment::unread(input, &error);
            Ending::new(Exit::Input, format!("error: {}: {reason}", input.display()))
        })?;
        apart(input, &output)?;
    }
    stop::watch(|| {});
    let written = report::write(&folders, &output, &Options { detail, windows, anonymous });
    written.map_err(|error| {
        let exit = match &error {
            Error::Io { path, .. } if *path == output => Exit::Output,
            _ => Exit::Input,
        };
        let text = match &error {
            Error::Io { path, source } => {
                let reason = match exit {
                    Exit::Input => experiment::unread(path, source),
                    _ => experiment::reason(source),
                };
                format!("{}: {reason}", path.display())
            }
            error => error.to_string(),
        };
        Ending::new(exit, format!("error: {text}"))
    })
}

/// Returns the name of a file that a page can be written to: one in `.html`, `.htm` or in nothing,
/// which no table or summary of a run has.
pub fn page(name: &str) -> Result<PathBuf, String> {
    let is_page =
        |end: &std::ffi::OsStr| ["html", "htm"].iter().any(|known| end.eq_ignore_ascii_case(known));
    match Path::new(name).extension() {
        Some(other) if !is_page(other) => Err(format!(
            "a report is a page in HTML, found a name in .{}: end it in .html",
            other.display()
        )),
        _ => Ok(PathBuf::from(name)),
    }
}
