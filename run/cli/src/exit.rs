//! How the command ends: exit codes, and what is said before.

use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use experiment::Failure;

/// The exit codes, besides those of signals. `EXIT_CODES` and the book's chapter on the command
/// line list them too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything went well.
    Success = 0,
    /// An input is wrong or cannot be read.
    Input = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The program that was simulated can never finish.
    Deadlock = 3,
    /// A result could not be written.
    Output = 4,
}

/// The exit codes, for help texts.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  success; for `check`, also with warnings
  1  an input (schedule, experiment file, manifest, trace) is wrong or cannot be read
  2  the command line is wrong
  3  the simulated program can never finish (deadlock)
  4  a result cannot be written
  129  stopped by the end of its terminal (SIGHUP)
  130  stopped by Ctrl-C (SIGINT)
  143  stopped by SIGTERM";

/// An end that is not a success.
#[derive(Debug)]
pub struct Ending {
    exit: u8,
    /// What to say on standard error.
    message: Option<String>,
}

impl Ending {
    /// Says something on standard error.
    pub fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit: exit as u8, message: Some(message.to_string()) }
    }

    /// Says nothing more.
    pub const fn silent(exit: Exit) -> Self {
        Self { exit: exit as u8, message: None }
    }

    /// Says what there is to say and gives the exit code.
    pub fn report(self) -> ExitCode {
        self.say().into()
    }

    /// The same, as a number.
    pub fn say(self) -> u8 {
        if let Some(message) = self.message {
            complain(&message);
        }
        self.exit
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Self {
        let exit = match &failure {
            Failure::Ended(ending) => byte_of(ending.code),
            Failure::Mistakes(mistakes) if mistakes.are_usage() => Exit::Usage as u8,
            Failure::Mistakes(_) | Failure::Input(_) | Failure::Simulation(_) => Exit::Input as u8,
            Failure::Output(_) => Exit::Output as u8,
        };
        Self { exit, message: Some(failure.to_string()) }
    }
}

impl From<experiment::Mistakes> for Ending {
    fn from(mistakes: experiment::Mistakes) -> Self {
        Failure::Mistakes(mistakes).into()
    }
}

/// The exit code of a process that ends as one with this code: its last byte, but 0 only for 0.
pub fn byte_of(code: i32) -> u8 {
    let [last, ..] = code.to_le_bytes();
    if last == 0 && code != 0 { Exit::Input as u8 } else { last }
}

/// Writes to standard error; if that is closed, nobody reads it.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{}", message.trim_end());
}

/// Writes a text to standard output.
pub fn print(text: &str) -> Result<(), Ending> {
    written(io::stdout().write_all(text.as_bytes()), "standard output")
}

/// Judges the result of writing to `name`. A reader that has seen enough, as `head` does, is no
/// failure.
pub fn written(result: io::Result<()>, name: &str) -> Result<(), Ending> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Ending::new(Exit::Output, format!("error: {name}: {}", experiment::reason(&error))))
        }
        _ => Ok(()),
    }
}
