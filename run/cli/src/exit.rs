//! The end of the command: exit codes, and what is said before.

use std::{
    env,
    fmt::Display,
    io::{self, ErrorKind, IsTerminal, Write},
    process::ExitCode,
};

use experiment::Failure;
use results::printable;

use crate::processes;

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
    /// A program ran longer than it was allowed to, as `timeout(1)` says it.
    TimedOut = 124,
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
    /// The message for standard error.
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

    /// Returns the end of one of several processes: what it says names the process.
    pub fn of_process(self, process: usize) -> Self {
        let named = |message: String| match message.strip_prefix("error: ") {
            Some(rest) => format!("error: process {process}: {rest}"),
            None => format!("error: process {process}: {message}"),
        };
        Self { message: self.message.map(named), ..self }
    }

    /// Returns the end of a command whose input is wrong because it is of another kind, as `known`
    /// says.
    pub fn of_kind(self, known: impl FnOnce() -> Option<String>) -> Self {
        let wrong = [Exit::Input as u8, Exit::Usage as u8].contains(&self.exit);
        match wrong.then(known).flatten() {
            Some(message) => Self::new(Exit::Input, message),
            None => self,
        }
    }

    /// Says what there is to say and gives the exit code.
    pub fn report(self) -> ExitCode {
        self.say().into()
    }

    /// Says what there is to say and gives the exit code as a number.
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

/// Writes to standard error; if that is closed, nobody reads it. Control characters, which may come
/// from a file, are escaped, and on a terminal the word that says what it is has a colour. Of
/// several processes of a job only the first one writes.
pub fn complain(message: &str) {
    if processes::is_silent() {
        return;
    }
    let text = printable(message.trim_end());
    let text = if in_colour(&io::stderr()) { coloured(&text).into() } else { text };
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says whether colours are wanted: on a terminal that has them, unless NO_COLOR is set.
pub fn in_colour(stream: &impl IsTerminal) -> bool {
    let unset = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    stream.is_terminal() && unset && env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// The words that begin a message or one of its lines, with the commands for their colours
/// (ECMA-48, SGR). They are those of the parser of command lines.
const WORDS: [(&str, &str); 4] = [
    ("error:", "\x1b[1m\x1b[31m"),
    ("warning:", "\x1b[1m\x1b[33m"),
    ("note:", "\x1b[1m\x1b[36m"),
    ("help:", "\x1b[32m"),
];

/// Colours the words of a message.
fn coloured(text: &str) -> String {
    let line = |line: &str| {
        let words = line.trim_start();
        let (indent, _) = line.split_at(line.len() - words.len());
        let found = WORDS.iter().find_map(|(word, on)| Some((word, on, words.strip_prefix(word)?)));
        match found {
            Some((word, on, rest)) => format!("{indent}{on}{word}\x1b[0m{rest}"),
            None => line.to_owned(),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Writes a text to standard output. Control characters, which may come from a file, are escaped.
pub fn print(text: &str) -> Result<(), Ending> {
    if processes::is_silent() {
        return Ok(());
    }
    written(io::stdout().write_all(printable(text).as_bytes()), "standard output")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_messages_have_colours() {
        let text = "error: a file\n  --> error: here\n  help: remove it";
        let expected = "\x1b[1m\x1b[31merror:\x1b[0m a file\n  --> error: here\n  \
                        \x1b[32mhelp:\x1b[0m remove it";
        assert_eq!(coloured(text), expected);
    }
}
