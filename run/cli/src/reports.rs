//! `heddle report`.

use report::{Error, Options};

use crate::{
    arguments::Report,
    exit::{Ending, Exit},
    stop,
};

/// Writes the page.
pub fn run(arguments: Report) -> Result<(), Ending> {
    let Report { folders, output, detail, windows, anonymous } = arguments;
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
