//! `heddle run traffic:NAME`.

use std::io::{self, Write};

use experiment::{Configuration, Measured, TrafficPlan};
use units::Time;

use crate::{
    arguments::{Format, Run},
    exit::{Ending, Exit, complain, written},
    stop,
};

/// Measures traffic and prints its points.
pub fn run(arguments: &Run, configuration: Configuration) -> Result<(), Ending> {
    let plan = TrafficPlan::new(configuration)?;
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    stop::watch(|| {});
    let measured = plan.run()?;
    if !arguments.quiet {
        let mut text = Vec::new();
        let shown = show(arguments.format, &measured, &mut text)
            .and_then(|()| io::stdout().write_all(&text));
        written(shown, "standard output")?;
    }
    if measured.points.iter().any(|point| point.deadlock.is_some()) {
        return Err(Ending::silent(Exit::Deadlock));
    }
    Ok(())
}

fn show(format: Format, measured: &Measured, out: &mut impl Write) -> io::Result<()> {
    if format == Format::Json {
        serde_json::to_writer(&mut *out, measured)?;
        return out.write_all(b"\n");
    }
    traffic::write_table(out, &measured.points)?;
    for (load, deadlock) in
        measured.points.iter().filter_map(|point| Some((point.load, point.deadlock?)))
    {
        let (since, messages) = (Time::from_ps(deadlock.since), deadlock.messages);
        writeln!(
            out,
            "\n\
             deadlock at a load of {load}: nothing moves after {since}, {messages} messages are \
             stuck"
        )?;
    }
    let Some(saturation) = &measured.saturation else { return Ok(()) };
    let [low, high] = saturation.between;
    let too_much = saturation.points.iter().filter(|point| !point.sustained());
    let first = too_much.min_by(|one, other| one.load.total_cmp(&other.load));
    if first.is_some_and(|point| point.deadlock.is_some()) {
        return writeln!(out, "\ndeadlock from a load between {low:.3} and {high:.3} on");
    }
    if high > 1.0 {
        return writeln!(out, "\nnot saturated: all that hosts can send is accepted");
    }
    let throughput = saturation.throughput;
    writeln!(out, "\nsaturated between {low:.3} and {high:.3}, accepting {throughput:.4} there")
}
