//! The heddle command, as a library: the program `heddle`, and what runs inside a program whose ranks share a process.

mod arguments;
mod compare;
mod exit;
mod files;
mod flags;
mod ladder;
mod mpirun;
mod plot;
mod record;
mod simulate;
mod stop;
mod topology;
mod traffic;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::Exit;

pub use mpirun::{INSIDE, inside};

/// Carries out the command line.
pub fn main() -> ExitCode {
    let line = mpirun::adapted(std::env::args_os());
    let exit = match Arguments::parse_from(flags::joined(line)).command {
        Command::Run(arguments) => simulate::run(&arguments),
        Command::Check(arguments) => files::check(&arguments),
        Command::Gen(arguments) => files::generate(&arguments),
        Command::Convert(arguments) => files::convert(&arguments),
        Command::Record(arguments) => return record::record(&arguments),
        Command::Mpirun(arguments) => return mpirun::run(&arguments, None).into(),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Ladder(arguments) => ladder::run(&arguments),
        Command::Topology(arguments) => topology::describe(&arguments),
        Command::Patterns => exit::print(&experiment::registry::patterns()),
        Command::Schema(arguments) if arguments.reference => {
            exit::print(&experiment::document::reference())
        }
        Command::Schema(_) => exit::print(&experiment::document::schema()),
    };
    match exit {
        Ok(()) => Exit::Success.into(),
        Err(failure) => failure.report(),
    }
}
