//! The arguments of `heddle study`.

use clap::{Args, ValueEnum};
use results::TableForm;

use crate::exit::EXIT_CODES;

const STUDY_EXAMPLES: &str = "\
Examples:
  heddle study study.toml -o study
  heddle study study.toml --dry-run
  heddle study study.toml -o study --resume --jobs 8
  heddle study study.toml -o study --on commands --chunk 10 | parallel
  heddle study study.toml -o study --on slurm --partition short --chunk 10";

#[derive(Debug, Args)]
#[command(after_help = format!("{STUDY_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Study {
    /// An experiment file with a table [study], which lists what varies
    pub file: String,
    /// The folder of results
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<String>,
    /// A machine: an experiment file without a workload, or a platform of SimGrid
    #[arg(long, value_name = "FILE.toml|.xml")]
    pub machine: Option<String>,
    /// Set a key of the experiment; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Form of the tables
    #[arg(long, value_enum, default_value_t = TablesFormat::Csv, value_name = "FORMAT")]
    pub tables_format: TablesFormat,
    /// Runs at a time
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1, value_parser = at_least_one())]
    pub jobs: usize,
    /// List the runs, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Go on with the runs whose results are not in the folder
    #[arg(long)]
    pub resume: bool,
    /// Go on, and run those again that failed
    #[arg(long)]
    pub retry_failed: bool,
    /// Only these runs, from the first to the one before the last: 10..20
    #[arg(long, value_name = "FROM..TO")]
    pub runs: Option<String>,
    /// Run there, and not here
    #[arg(long, value_enum)]
    pub on: Option<Executor>,
    /// Runs of each command or task
    #[arg(
        long, value_name = "NUMBER", default_value_t = 1, requires = "on",
        value_parser = at_least_one()
    )]
    pub chunk: usize,
    /// The partition of Slurm
    #[arg(long, value_name = "NAME", requires = "on")]
    pub partition: Option<String>,
    /// Further options for sbatch, such as --time=10; can be repeated
    #[arg(long, value_name = "OPTION", requires = "on", allow_hyphen_values = true)]
    pub sbatch: Vec<String>,
}

/// Reads a number of things of which there is one at least.
fn at_least_one() -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    super::whole::<usize>(1, 1_000_000)
}

/// The form of the tables of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TablesFormat {
    /// Text with a line per row
    Csv,
    /// Apache Parquet
    Parquet,
}

impl From<TablesFormat> for TableForm {
    fn from(format: TablesFormat) -> Self {
        match format {
            TablesFormat::Csv => Self::Csv,
            TablesFormat::Parquet => Self::Parquet,
        }
    }
}

/// The place at which a study runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Executor {
    /// Nowhere yet: print a command for each part of what is missing, for whatever runs commands
    Commands,
    /// On the nodes of a cluster, as job arrays of Slurm; waits for them and writes the tables
    Slurm,
}
