//! `heddle run`.

use std::io::{self, BufWriter, Write};

use experiment::{Configuration, Plan, Report, Request};

use crate::{
    arguments::{Format, Run},
    exit::{Ending, Exit, complain, print, written},
    stop,
};

/// Simulates what is asked for and prints the summary.
pub fn run(arguments: &Run) -> Result<(), Ending> {
    let request = Request {
        subject: Some(arguments.source.clone()),
        set: arguments.set.clone(),
        flags: arguments.flags.0.clone(),
    };
    let configuration = Configuration::read(&request)?;
    if arguments.print_config {
        return print(&configuration.to_string());
    }
    let plan = Plan::new(configuration)?;
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    if plan.output.is_some() {
        stop::watch();
    }
    let report = experiment::run(&plan)?;
    report.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    if !arguments.quiet {
        let mut out = BufWriter::new(io::stdout().lock());
        let shown = show(arguments, &report, &mut out).and_then(|()| out.flush());
        written(shown, "standard output")?;
    }
    match report.summary.deadlock {
        Some(_) => Err(Ending::silent(Exit::Deadlock)),
        None => Ok(()),
    }
}

fn show(arguments: &Run, report: &Report, out: &mut impl Write) -> io::Result<()> {
    let ranks = arguments.per_rank.then_some(report.ranks.as_slice());
    match arguments.format {
        Format::Json => results::write_json(out, &report.summary, &report.performance, ranks),
        Format::Table => {
            results::write_terminal(out, &report.summary, &report.performance)?;
            let Some(ranks) = ranks else {
                return Ok(());
            };
            writeln!(out, "\n{:>10}  finish", "rank")?;
            for (rank, totals) in ranks.iter().enumerate() {
                writeln!(out, "{rank:>10}  {}", totals.finish)?;
            }
            Ok(())
        }
    }
}
