//! The arguments of the command line.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    exit::EXIT_CODES,
    flags::{AllFlags, LadderFlags, LiveFlags, PatternFlags},
    installed::LONG_VERSION,
};

mod installed;
mod measure;
mod plot;
mod report;
mod study;

pub use installed::{Completions, Examples, Man};
pub use measure::Measure;
pub use plot::{Plot, Shape};
pub use report::Report;
pub use study::{Executor, Study};

/// Predicts how a parallel program behaves on an interconnect.
#[derive(Debug, Parser)]
#[command(
    name = "heddle", version, long_version = LONG_VERSION,
    max_term_width = 100, after_help = EXIT_CODES
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a schedule, a pattern, an experiment or an earlier run
    Run(Run),
    /// Report all errors and warnings of a GOAL file, without simulating it
    Check(Check),
    /// Write a pattern or a collective operation as a GOAL file
    Gen(Generate),
    /// Convert a GOAL file between its text and its binary form, or traces to it
    Convert(Convert),
    /// Record the MPI calls of a program, unmodified
    Record(Record),
    /// Run an MPI program, unmodified, on the simulated network
    Mpirun(Mpirun),
    /// Compile a C program that uses MPI: mpicc
    Cc(Compile),
    /// Compile a C++ program that uses MPI: mpicxx
    #[command(name = "c++")]
    Cxx(Compile),
    /// Compile a Fortran program that uses MPI: mpifort
    Fort(Compile),
    /// Compare two runs call by call: traces and simulated runs
    Compare(Compare),
    /// Run a workload at every fidelity that its machine supports, and show where they disagree
    Ladder(Ladder),
    /// Run an experiment once for each combination of values that vary, and make a table of it
    Study(Study),
    /// Draw a table of a run or of a study
    Plot(Plot),
    /// Write a page that shows one run, or several side by side
    Report(Report),
    /// Estimate the parameters of an interconnect from measured times, with intervals
    Fit(Fit),
    /// Measure the parameters of an interconnect between two hosts, with intervals
    Measure(Measure),
    /// Describe a topology: counts, distances, bisection, routes, deadlock check, drawing
    Topology(Topology),
    /// List the patterns
    Patterns,
    /// Print the JSON schema of experiment files
    Schema(Schema),
    /// Write the examples, with files of machines, into a new folder
    Examples(Examples),
    /// Print a script that completes command lines in a shell
    Completions(Completions),
    /// Write manual pages and completions into the folder share of an installation
    #[command(hide = true)]
    Man(Man),
}

/// Reads a whole number between two, inclusive; what it says of another text names both.
fn whole<N: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number: u64| N::try_from(number).ok());
        number.ok_or_else(|| match most {
            u64::MAX => format!("expected a whole number, at least {least}"),
            _ => format!("expected a whole number from {least} to {most}"),
        })
    }
}

/// The processes that a run is spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Processes {
    /// Those that a launcher has started
    Auto,
    /// This one alone
    Off,
}

const RUN_EXAMPLES: &str = "\
Examples:
  heddle run app.goal --set loggops.L=2500ns --set loggops.o=1500ns --set loggops.G=6ns/B
  heddle run app.goal --set workload.time-unit=ps
  heddle run pattern:dissemination --ranks 1048576 --size 15B
  heddle run collective:bcast --collectives openmpi --ranks 64 --size 1MiB
  heddle run traffic:uniform --network infiniband --topology torus:dims=8x8 --load 0.1:0.9:0.1
  heddle run booksim:torus88.cfg --booksim injection_rate=0.3
  heddle run experiment.toml --threads 2 -o result
  mpirun -n 4 heddle run experiment.toml
  zcat app.goal.gz | heddle run -
  heddle run result/manifest.json";

#[derive(Debug, Args)]
#[command(after_help = format!("{RUN_EXAMPLES}\n\n{EXIT_CODES}"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Run {
    /// A GOAL file, pattern:NAME, collective:NAME, traffic:NAME, booksim:FILE (a configuration of
    /// BookSim 2), traces (a folder, the beginning of their names or an .index file), an experiment
    /// file (.toml), a manifest (.json) or the folder that has one; - is a GOAL file on standard
    /// input
    pub source: String,
    /// A machine: an experiment file without a workload, which what follows overrides; or a
    /// platform of SimGrid
    #[arg(long, value_name = "FILE.toml|.xml")]
    pub machine: Option<String>,
    /// Set a key of the experiment, such as loggops.L=2500ns; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Set a key of the BookSim 2 configuration, such as injection_rate=0.3; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub booksim: Vec<String>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = "Output")]
    pub format: Format,
    /// Also print when each rank finishes
    #[arg(long, help_heading = "Output")]
    pub per_rank: bool,
    /// Print nothing but errors
    #[arg(
        short, long, help_heading = "Output",
        conflicts_with_all = ["format", "per_rank", "output.gantt"]
    )]
    pub quiet: bool,
    /// Run as one simulation over all processes that a launcher of MPI has started (mpirun -n 4
    /// heddle run ...), or in each of them alone
    #[arg(long, value_enum, default_value_t = Processes::Auto)]
    pub processes: Processes,
    /// Draw latency and accepted over offered load of traffic as SVG or PNG, with the bands of
    /// their intervals
    #[arg(
        long, value_name = "FILE.svg|FILE.png", value_parser = crate::files::drawing,
        help_heading = "Output"
    )]
    pub plot: Option<String>,
    /// Also draw the points of the traffic in this folder, as curves of their own; can be repeated
    #[arg(long, value_name = "FOLDER", requires = "plot", help_heading = "Output")]
    pub plot_with: Vec<String>,
    /// Also run under so many joint replicates of the machine's measured parameters, 200 unless
    /// said otherwise, and show the interval of the makespan
    #[arg(
        long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "200",
        help_heading = "Output", conflicts_with = "quiet",
        value_parser = whole::<u32>(20, 100_000)
    )]
    pub uncertainty: Option<u32>,
    /// Also show how the makespan follows a parameter, such as loggops.L, and the range over which
    /// it does so; can be repeated
    #[arg(long, value_name = "KEY", help_heading = "Output", conflicts_with = "quiet")]
    pub sensitivity: Vec<String>,
    /// Print every setting and where it comes from, as an experiment file, and do not simulate
    #[arg(long)]
    pub print_config: bool,
    /// Start the program that a file of another user names
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub flags: AllFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Table,
    /// One JSON object
    Json,
}

/// A model whose parameters `heddle fit` estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FitModel {
    /// L, o, g, G, O and S, with the segments of the model flow
    Loggops,
    /// L, and g, os and or of each size
    Plogp,
}

const MPIRUN_EXAMPLES: &str = "\
Examples:
  heddle mpirun -n 64 --machine examples/machines/fat-tree-648.toml ./app input
  heddle mpirun -n 8 --machine platform.xml --compute-time off python3 stencil.py
  heddle mpirun -n 4 ./master : -n 12 ./worker
  heddle mpirun --check ./app";

#[derive(Debug, Args)]
#[command(
    version,
    after_help = format!(
        "{MPIRUN_EXAMPLES}\n\n\
         The exit code is the program's; 3 if it can never finish, 124 after --timeout."
    )
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Mpirun {
    /// Number of ranks
    #[arg(
        short = 'n',
        long = "np",
        visible_alias = "n",
        value_name = "RANKS",
        default_value_t = 1,
        value_parser = crate::mpirun::count
    )]
    pub ranks: u32,
    /// A machine: an experiment file without a workload, or a platform of SimGrid
    #[arg(long, value_name = "FILE.toml|.xml")]
    pub machine: Option<String>,
    /// The hosts to use, in this order: names or numbers of the machine's hosts, each with the most
    /// ranks that it takes, or without; can be repeated
    #[arg(long, value_name = "HOST[:N],…", help_heading = "Placement")]
    pub host: Vec<String>,
    /// The same from a file with a host per line: HOST, HOST:N or HOST slots=N
    #[arg(long, value_name = "FILE", conflicts_with = "host", help_heading = "Placement")]
    pub hostfile: Option<PathBuf>,
    /// The host of each rank from a file with lines RANK HOST or rank RANK=HOST
    #[arg(long, value_name = "FILE", help_heading = "Placement",
        conflicts_with_all = ["host", "hostfile", "map_by", "per_host"])]
    pub rankfile: Option<String>,
    /// How ranks go to hosts: slot or core (host after host), node (one rank of each host in turn),
    /// or ppr:N:node (N on each host)
    #[arg(long, value_name = "HOW", help_heading = "Placement")]
    pub map_by: Option<String>,
    /// Most ranks of each host
    #[arg(
        long, value_name = "N", help_heading = "Placement",
        value_parser = whole::<u32>(1, u64::from(u32::MAX))
    )]
    pub per_host: Option<u32>,
    /// Put [1,RANK]<stdout>: or [1,RANK]<stderr>: before each line that the program prints
    #[arg(long)]
    pub tag_output: bool,
    /// End the program after so many seconds, with exit code 124; 0 is never. Without it, the
    /// variable MPIEXEC_TIMEOUT says the same
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(0, u64::MAX))]
    pub timeout: Option<u64>,
    /// Where the program runs
    #[arg(long = "wdir", value_name = "FOLDER")]
    pub directory: Option<String>,
    /// Set a variable of the program's environment; can be repeated
    #[arg(short = 'x', value_name = "NAME[=VALUE]")]
    pub variables: Vec<String>,
    /// Set a key of the experiment, such as loggops.L=2500ns; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print the summary, or what --check finds, as JSON, on standard output
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<Format>,
    /// Print nothing but what the program prints, and errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Do not run: say which functions of MPI the program and its libraries import, whether any is
    /// missing, and whether one process can hold its ranks; exit code 0 if all is there
    #[arg(long)]
    pub check: bool,
    /// Print every setting and where it comes from, and do not run
    #[arg(long)]
    pub print_config: bool,
    #[command(flatten)]
    pub flags: LiveFlags,
    /// The program and its arguments; a colon comes before a further program with options -n, -wdir
    /// and -x of its own
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Compile {
    /// The compiler's arguments, as they are; --show prints what it is called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Check {
    /// A GOAL file, text or binary; - is standard input
    pub file: String,
}

const GEN_EXAMPLES: &str = "\
Examples:
  heddle gen allreduce-ring --ranks 64 --size 4MiB -o ring.goal
  heddle gen dissemination --ranks 131072 --size 15B -o dissemination.bin
  heddle gen gather --ranks 4 --size 1KiB -o -
  heddle gen collective:allreduce --algorithm lr --ranks 64 --size 4MiB";

#[derive(Debug, Args)]
#[command(after_help = format!("{GEN_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Generate {
    /// Name of the pattern; `heddle patterns` lists them; or collective:NAME
    pub pattern: String,
    /// Set a key of [workload] or run.seed; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Where to write: a .bin file is binary, any other is text; - is standard output, in text
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
    #[command(flatten)]
    pub flags: PatternFlags,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  heddle convert app.goal app.bin
  heddle convert app.bin app.goal
  heddle convert - app.bin < app.goal
  heddle convert app.bin - | head
  heddle convert traces/ app.goal --set traces.mode=durations
  heddle convert traces/ text/ --format allprof";

/// A form of text for traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// The text of liballprof, which Schedgen reads
    Allprof,
    /// Time-independent text, which SMPI replays
    Ti,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{CONVERT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Convert {
    /// A GOAL file, text or binary, or - for standard input; or traces: a folder, the beginning of
    /// their names, or an .index file
    pub input: String,
    /// Where to write: a .bin file is binary, any other is text; - is standard output, in the form
    /// that the input is not
    pub output: String,
    /// Write traces as text of this form into a new folder, instead of a schedule
    #[arg(long, value_enum)]
    pub format: Option<TraceFormat>,
    /// Set a key of [traces], such as traces.mode=aligned; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  heddle record -o traces -- mpirun -n 8 ./app arguments
  heddle record -o traces --mpi mpich -- srun -n 64 ./app
  heddle run traces --set loggops.L=2500ns
  heddle record -o traces --collect";

const RECORD_CODES: &str = "\
Exit codes:
  that of the command, or 128 and the number of the signal that ended it
  1  the recorder's library is missing, or the command cannot be started
  2  the command line is wrong, or the folder holds something
  4  a trace cannot be written, or the program wrote none";

#[derive(Debug, Args)]
#[command(after_help = format!("{RECORD_EXAMPLES}\n\n{RECORD_CODES}"))]
pub struct Record {
    /// The folder of the traces
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// Remove the traces that are in the folder
    #[arg(long)]
    pub force: bool,
    /// The program's MPI library, where neither its launcher nor its executable shows it
    #[arg(long, value_enum)]
    pub mpi: Option<Mpi>,
    /// What counts as computation between calls
    #[arg(long, value_enum, default_value = "wall")]
    pub compute: Compute,
    /// Start nothing; take in what ranks that died had not yet written, after a run that was
    /// started in another way
    #[arg(long, conflicts_with_all = ["force", "mpi", "command"])]
    pub collect: bool,
    /// The command and its arguments
    #[arg(last = true, required_unless_present = "collect")]
    pub command: Vec<OsString>,
}

/// What a recording takes for computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compute {
    /// Time by the clock on the wall
    Wall,
    /// Processor time, where ranks have no processor each
    Cpu,
}

/// MPI libraries that differ in their binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mpi {
    /// Open MPI 4
    Openmpi,
    /// MPICH, Intel MPI, MVAPICH2, Cray MPICH
    Mpich,
    /// The standard binary interface of MPI 5, as of programs compiled by heddle's mpicc
    Standard,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  heddle run traces -o result --tables ranks,calls
  heddle compare traces out
  heddle compare out other-machine --per-rank --timeline both.pftrace";

#[derive(Debug, Args)]
#[command(after_help = format!("{COMPARE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Compare {
    /// Traces, or the folder of a run with a table of calls
    pub a: String,
    /// Another of either
    pub b: String,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Also compare each rank; JSON always does
    #[arg(long)]
    pub per_rank: bool,
    /// Write a timeline of both for Perfetto
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<String>,
}

const LADDER_EXAMPLES: &str = "\
Examples:
  heddle ladder traces --machine machine.toml
  heddle ladder pattern:linear-alltoall --ranks 64 --size 64KiB --machine machine.toml
  heddle ladder pattern:halo2d --ranks 64 --machine machine.toml --over \
  workload.size=1KiB,16KiB,256KiB --plot halo.svg";

#[derive(Debug, Args)]
#[command(after_help = format!("{LADDER_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Ladder {
    /// What runs: as for `heddle run`
    pub source: String,
    /// A machine: an experiment file without a workload, or a platform of SimGrid
    #[arg(long, value_name = "FILE.toml|.xml")]
    pub machine: Option<String>,
    /// Set a key of the experiment; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Climb once for each of these values of a key, separated by commas; or, where values hold
    /// commas, as words of their own behind the first: --over KEY=VALUE VALUE
    #[arg(long, value_name = "KEY=VALUE,VALUE,…", num_args = 1..)]
    pub over: Vec<String>,
    /// Draw the makespans as SVG or PNG: with --over relative to the finest model
    #[arg(long, value_name = "FILE.svg|FILE.png", value_parser = crate::files::drawing)]
    pub plot: Option<String>,
    /// Draw makespans as times also with --over
    #[arg(long, requires = "plot")]
    pub absolute: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub flags: LadderFlags,
}

const FIT_EXAMPLES: &str = "\
Examples:
  heddle fit samples.csv
  heddle fit samples.csv -o mycluster.toml
  heddle run app.goal --machine mycluster.toml
  heddle fit samples.csv --format json";

#[derive(Debug, Args)]
#[command(after_help = format!("{FIT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Fit {
    /// Measured times: samples.csv; - is standard input
    pub file: String,
    /// Write a machine file, and beside it a table of replicates, NAME.replicates.csv
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: Option<PathBuf>,
    /// Replace a machine file that exists
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Number of bootstrap replicates
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1000,
        value_parser = whole::<u32>(100, 100_000)
    )]
    pub replicates: u32,
    /// The model whose parameters are estimated. Runs take those of loggops
    #[arg(long, value_enum, default_value_t = FitModel::Loggops)]
    pub model: FitModel,
    /// Draw samples, fits, residuals and intervals as SVG or PNG
    #[arg(long, value_name = "FILE.svg|FILE.png", value_parser = crate::files::drawing)]
    pub picture: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

const TOPOLOGY_EXAMPLES: &str = "\
Examples:
  heddle topology list
  heddle topology fat-tree:levels=2,radix=36 --draw tree.svg
  heddle topology torus:dims=8x8 --routing dimension-order:lanes=1
  heddle topology M9 --fail links=5% --seed 2 --routes h0:h647
  heddle topology cluster.txt --tables lfts.txt --format json";

/// The help of `--routing`.
fn routings() -> String {
    let names = topology::route::ALGORITHMS.map(|(name, _)| name).join(", ");
    format!("Routing: {names}; with :lanes=1 on one lane")
}

#[derive(Debug, Args)]
#[command(after_help = format!("{TOPOLOGY_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Topology {
    /// KIND:KEY=VALUE,… or a file (TOML, CSV, ibnetdiscover, SimGrid XML, a machine); `list` lists
    /// the kinds
    #[arg(value_name = "TOPOLOGY")]
    pub spec: String,
    #[arg(long, value_name = "NAME", help = routings())]
    pub routing: Option<String>,
    /// Forwarding tables instead of a routing: FDB vectors or a dump of linear forwarding tables
    #[arg(long, value_name = "FILE", conflicts_with = "routing")]
    pub tables: Option<String>,
    /// Take out of service: SWITCH, DEVICE:PORT, links=3, links=5%, switches=1 or switches=5%; can
    /// be repeated
    #[arg(long, value_name = "WHAT")]
    pub fail: Vec<String>,
    /// Decides which links or switches a number or a share means
    #[arg(
        long, value_name = "NUMBER", default_value_t = 1,
        value_parser = whole::<u64>(0, u64::MAX)
    )]
    pub seed: u64,
    /// Print the route between two hosts; can be repeated
    #[arg(long, value_name = "HOST:HOST")]
    pub routes: Vec<String>,
    /// Draw the topology as SVG or PNG
    #[arg(long, value_name = "FILE.svg|FILE.png", value_parser = crate::files::drawing)]
    pub draw: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// Print the reference chapter of the book instead, in Markdown
    #[arg(long)]
    pub reference: bool,
}
