//! `heddle run`.

use std::{
    env,
    io::{self, Write},
};

use experiment::{Configuration, MakeRunner, Observer, Observers, Plan, Report, Request};
use results::{Screen, TimeColumn};
use transport_mpi::Job;

use crate::{
    arguments::{Format, Processes, Run},
    booksim, doubt,
    exit::{Ending, Exit, complain, in_colour, print, written},
    processes, program,
    progress::Terminal,
    stop, traffic,
};

/// Simulates what is asked for, in the processes that a launcher has started if it has started
/// several.
pub fn spread(arguments: &Run) -> Result<u8, Ending> {
    match arguments.processes {
        Processes::Auto => processes::spread(|job| simulate(arguments, None, job)),
        Processes::Off => run(arguments, None),
    }
}

/// Simulates what is asked for and prints the summary. A live program is held by what `make` makes,
/// or as the settings say, and the exit code is its own.
pub fn run(arguments: &Run, make: Option<MakeRunner>) -> Result<u8, Ending> {
    simulate(arguments, make, None)
}

/// Simulates in one process, or as one of the processes of a job.
fn simulate(
    arguments: &Run,
    make: Option<MakeRunner>,
    job: Option<&'static Job>,
) -> Result<u8, Ending> {
    if job.is_some() {
        processes::unspread(arguments)?;
    }
    if let Some(file) = arguments.source.strip_prefix(booksim::PREFIX) {
        return booksim::run(arguments, file).map(|()| Exit::Success as u8);
    }
    booksim::unused(arguments)?;
    let request = Request {
        subject: Some(arguments.source.clone()),
        machine: arguments.machine.clone(),
        set: arguments.set.clone(),
        flags: arguments.flags.0.clone(),
        ..Request::default()
    };
    let configuration = Configuration::read(&request)?;
    if arguments.print_config {
        let taken = experiment::taken(&configuration).map(|taken| format!("# {taken}\n"));
        let text = taken.unwrap_or_default() + &configuration.to_string();
        return print(&text).map(|()| Exit::Success as u8);
    }
    if configuration.is_traffic() {
        if arguments.uncertainty.is_some() || !arguments.sensitivity.is_empty() {
            let message = "error: traffic has no makespan for --uncertainty or --sensitivity";
            return Err(Ending::new(Exit::Usage, message));
        }
        return traffic::run(arguments, configuration, job).map(|()| Exit::Success as u8);
    }
    if arguments.plot.is_some() {
        let message = "error: --plot draws the curves of traffic, such as traffic:uniform\n  \
                       help: a program has --gantt";
        return Err(Ending::new(Exit::Usage, message));
    }
    if make.is_none() {
        program::trusted(arguments, &configuration)?;
    }
    program::begin(&configuration, make, arguments.quiet)?;
    carry_out(arguments, make, configuration, job)
}

/// Simulates a program as it is configured.
fn carry_out(
    arguments: &Run,
    make: Option<MakeRunner>,
    configuration: Configuration,
    job: Option<&'static Job>,
) -> Result<u8, Ending> {
    let live = configuration.is_program();
    let mut plan = Plan::new(configuration)?;
    if let Some(job) = job {
        plan.spread(job)?;
    }
    if plan.gantt && arguments.format == Format::Json {
        return Err(drawn_in_json());
    }
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    stop::watch(if live { live::stop } else { || {} });
    let mut out = program::output(live && arguments.format == Format::Json)?;
    let terminal = Terminal::default();
    let progress: &dyn Observer = if processes::is_silent() { &() } else { &terminal };
    let report = plan.run(Observers { progress, make, ..Observers::default() })?;
    report.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    let doubt = doubt::Doubt::of(arguments, &plan)?;
    if !arguments.quiet && !processes::is_silent() {
        let mut text = Vec::new();
        let shown = show(arguments, plan.gantt, &report, &mut text);
        let shown = shown.and_then(|()| doubt.add(arguments.format, &mut text));
        written(shown.and_then(|()| out.write(&text)), "standard output")?;
    }
    Ok(program::code(&report))
}

/// The error of asking for a picture and for JSON.
pub fn drawn_in_json() -> Ending {
    let message = "error: --gantt draws on the terminal, not in JSON\n  \
                   help: leave out --format json, or set output.gantt = false";
    Ending::new(Exit::Usage, message)
}

fn show(arguments: &Run, gantt: bool, report: &Report, out: &mut impl Write) -> io::Result<()> {
    let ranks = arguments.per_rank.then_some(report.ranks());
    match arguments.format {
        Format::Json => results::write_json(out, &report.summary, &report.performance, ranks),
        Format::Table => {
            describe(report, gantt, out)?;
            let Some(ranks) = ranks else {
                return Ok(());
            };
            let finish = ranks.iter().map(|totals| totals.finish);
            let column = TimeColumn::of(finish.clone(), usize::MAX);
            let header = format!("finish, {}", column.unit());
            let times: Vec<_> = finish.map(|time| column.show(time)).collect();
            let width = times.iter().map(String::len).max().unwrap_or(0).max(header.len());
            writeln!(out, "\n{:>10}  {header:>width$}", "rank")?;
            for (rank, time) in times.iter().enumerate() {
                writeln!(out, "{rank:>10}  {time:>width$}")?;
            }
            Ok(())
        }
    }
}

/// Writes what people want to know of a run.
pub fn describe(report: &Report, gantt: bool, out: &mut impl Write) -> io::Result<()> {
    results::write_terminal(out, &report.summary, &report.performance)?;
    if gantt { draw(report, out) } else { Ok(()) }
}

/// Draws the timeline, below an empty line.
fn draw(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let (colour, unicode) = (in_colour(&io::stdout()), results::shows_unicode());
    let screen = Screen { width: columns(), colour, unicode };
    writeln!(out)?;
    let Report { summary, tables, .. } = report;
    results::write_gantt(out, summary, report.ranks(), &tables.slices, screen)
}

/// Width of the terminal: what the variable COLUMNS says, or else the terminal itself, or else 100.
fn columns() -> u16 {
    let said = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
    said.or_else(measured).filter(|&columns| columns > 0).unwrap_or(100)
}
