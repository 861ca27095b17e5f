//! The arguments of `heddle report`.

use std::path::PathBuf;

use clap::Args;

use crate::exit::EXIT_CODES;

const REPORT_EXAMPLES: &str = "\
Examples:
  heddle run app.goal --machine machine.toml -o result --report
  heddle report result -o result.html
  heddle report before after -o compare.html
  heddle report result --report-window 1ms..1200us -o detail.html
  heddle report study -o study.html
  heddle ladder app.goal --machine machine.toml --format json > ladder.json
  heddle report ladder.json -o ladder.html";

#[derive(Debug, Args)]
#[command(after_help = format!("{REPORT_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Report {
    /// Folders of results, as `-o` of run, mpirun and study fills them; or files of ladders in JSON
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "FILE.html", value_parser = crate::reports::page)]
    pub output: PathBuf,
    /// Most events of a run of which the page shows each
    #[arg(
        long = "report-detail", value_name = "EVENTS", default_value_t = report::DETAIL,
        value_parser = super::whole::<u64>(0, u64::MAX)
    )]
    pub detail: u64,
    /// A stretch of simulated time of which it shows every event; can be repeated
    #[arg(long = "report-window", value_name = "T0..T1", value_parser = report::window)]
    pub windows: Vec<report::Window>,
    /// Leave out names of hosts and files, and arguments of programs
    #[arg(long)]
    pub anonymous: bool,
}
