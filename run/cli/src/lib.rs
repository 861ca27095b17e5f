//! The heddle command, as a library: the program `heddle`, and what runs inside a program whose
//! ranks share a process.

mod arguments;
mod booksim;
mod compare;
mod compile;
mod doubt;
mod exit;
mod files;
mod fit;
mod flags;
mod installed;
mod kind;
mod ladder;
mod measure;
mod mpirun;
mod picture;
mod plot;
mod processes;
mod program;
mod progress;
mod record;
mod reports;
mod simulate;
mod spelling;
mod stop;
mod streams;
mod study;
mod topology;
mod traffic;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::{Ending, Exit};

pub use program::{ALLOCATOR, FROM, INSIDE, inside};
pub use stop::write_to_the_limit;

/// Carries out the command line.
pub fn main() -> ExitCode {
    write_to_the_limit();
    let line: Vec<_> = std::env::args_os().collect();
    if let Some(Err(failure)) = compile::asked(&line) {
        return failure.report();
    }
    let adapted = match mpirun::Adapted::new(line) {
        Ok(adapted) => adapted,
        Err(message) => return Ending::new(Exit::Usage, format!("error: {message}")).report(),
    };
    adapted.complain();
    let line = flags::joined(adapted.line);
    let arguments = match Arguments::try_parse_from(&line) {
        Ok(arguments) => arguments,
        Err(said) => {
            processes::leave_to_the_first();
            return said_by_parser(&spelling::suggested(said, &line));
        }
    };
    let inputs = kind::Inputs::of(&arguments.command);
    let misplaced = || inputs.misplaced();
    let exit = match arguments.command {
        Command::Run(arguments) => {
            return ended(simulate::spread(&arguments).map_err(|end| end.of_kind(misplaced)));
        }
        Command::Check(arguments) => match misplaced() {
            Some(message) => Err(Ending::new(Exit::Input, message)),
            None => files::check(&arguments),
        },
        Command::Gen(arguments) => files::generate(&arguments),
        Command::Convert(arguments) => files::convert(&arguments),
        Command::Cc(_) | Command::Cxx(_) | Command::Fort(_) => return Exit::Usage.into(),
        Command::Record(arguments) => return record::record(&arguments),
        Command::Mpirun(arguments) => return ended(mpirun::run(&arguments, None)),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Ladder(arguments) => ladder::run(&arguments),
        Command::Study(arguments) => study::run(&arguments),
        Command::Plot(arguments) => plot::run(&arguments),
        Command::Report(arguments) => reports::run(arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Topology(arguments) => topology::describe(&arguments),
        Command::Patterns => exit::print(&experiment::patterns()),
        Command::Schema(arguments) if arguments.reference => {
            exit::print(&experiment::document::reference())
        }
        Command::Schema(_) => exit::print(&experiment::document::schema()),
        Command::Examples(arguments) => installed::examples(&arguments),
        Command::Completions(arguments) => installed::completions(&arguments),
        Command::Man(arguments) => installed::man(&arguments),
    };
    match exit {
        Ok(()) => Exit::Success.into(),
        Err(failure) => failure.of_kind(misplaced).report(),
    }
}

/// The exit code of what gives one of its own.
fn ended(code: Result<u8, Ending>) -> ExitCode {
    code.unwrap_or_else(Ending::say).into()
}

/// A help text, the version, or what is wrong with the command line: in colour, unless the
/// terminal's characters are not those of the parser.
fn said_by_parser(said: &clap::Error) -> ExitCode {
    let plain = (!results::shows_unicode()).then(|| said.render().to_string());
    if said.use_stderr() {
        match plain {
            Some(text) => exit::complain(&text),
            None => drop(said.print()),
        }
        return Exit::Usage.into();
    }
    let printed = match plain {
        Some(text) => exit::print(&text),
        None => exit::written(said.print(), "standard output"),
    };
    printed.map_or_else(Ending::report, |()| Exit::Success.into())
}
