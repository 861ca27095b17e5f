//! The arguments of `heddle measure`.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use super::{Format, Mpi};
use crate::exit::EXIT_CODES;

const MEASURE_EXAMPLES: &str = "\
Examples:
  heddle measure -o mycluster.toml -- mpirun -n 2 --host nodeA,nodeB
  heddle measure --pairs sample:100 -o mycluster.toml -- srun -N 64 --ntasks-per-node 1
  heddle measure --shm -o node.toml
  heddle measure --serve 192.0.2.7:5001
  heddle measure --tcp 192.0.2.7:5001 --token-file token -o ethernet.toml
  heddle measure --noise -o noise.txt";

#[derive(Debug, Args)]
#[command(after_help = format!("{MEASURE_EXAMPLES}\n\n{EXIT_CODES}"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Measure {
    /// Write a machine file, and beside it the samples and a table of replicates; with --noise a
    /// trace
    #[arg(
        short,
        long,
        value_name = "FILE.toml",
        value_parser = crate::measure::file,
        required_unless_present = "serve"
    )]
    pub output: Option<PathBuf>,
    /// Replace files of an earlier measurement
    #[arg(long, conflicts_with = "serve")]
    pub force: bool,
    /// Write the samples there, and not to NAME.samples.csv
    #[arg(long, value_name = "FILE.csv")]
    pub samples: Option<PathBuf>,
    /// The launcher's MPI library, where it does not show it
    #[arg(long, value_enum)]
    pub mpi: Option<Mpi>,
    /// Measure between several hosts, each of which has one rank: ring (each host and the next),
    /// sample:N (so many pairs) or all pairs. --time is that of each round of disjoint pairs
    #[arg(
        long,
        value_name = "ring|sample:N|all",
        conflicts_with_all = ["shm", "tcp", "serve", "noise"]
    )]
    pub pairs: Option<measure::pairs::Choice>,
    /// Measure shared memory between two processes of this host, without MPI
    #[arg(long, group = "what")]
    pub shm: bool,
    /// Measure TCP sockets to a server, without MPI
    #[arg(long, value_name = "ADDRESS:PORT", group = "what", requires = "token_file")]
    pub tcp: Option<String>,
    /// A file with the token that the server printed
    #[arg(long, value_name = "FILE", requires = "tcp")]
    pub token_file: Option<PathBuf>,
    /// Be the server of such measurements: print a token, and serve one client after the other
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        group = "what",
        conflicts_with_all = ["output", "samples", "time", "quick", "picture"]
    )]
    pub serve: Option<String>,
    /// Record how the system interrupts a computing process, as a trace for [noise]
    #[arg(long, group = "what", conflicts_with_all = ["samples"])]
    pub noise: bool,
    /// Stop when the intervals of L, o and G reach no farther than this share from the value
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = crate::measure::share)]
    pub precision: f64,
    /// The time for measuring, in seconds; starts of jobs come on top. What does not fit is cut off
    /// between repetitions, and said; the first one of three runs is always done
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = crate::measure::seconds)]
    pub time: f64,
    /// Measure for one second, as with --time 1: the intervals are about three times as wide, and
    /// wider still on a busy host
    #[arg(long, conflicts_with = "time")]
    pub quick: bool,
    /// Number of runs, each a fresh start of the job
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 8,
        value_parser = super::whole::<u32>(2, 1000)
    )]
    pub runs: u32,
    /// Draw samples, fits, residuals and intervals as SVG or PNG
    #[arg(
        long,
        value_name = "FILE.svg|FILE.png",
        value_parser = crate::files::drawing,
        conflicts_with = "noise"
    )]
    pub picture: Option<String>,
    /// Print in this form
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// The launcher and its arguments, which start two processes of the program that is put behind
    /// them; more with --pairs
    #[arg(last = true, required_unless_present = "what", conflicts_with = "what")]
    pub command: Vec<OsString>,
}
