//! `heddle run traffic:NAME`.

use std::{
    io::{self, Write},
    path::Path,
};

use draw::{Curve, CurveChart, stacked};
use experiment::{Configuration, Measured, TrafficPlan};
use traffic::{Estimate, Point};
use transport_mpi::Job;
use units::Time;

use crate::{
    arguments::{Format, Run},
    exit::{Ending, Exit, complain, written},
    files::write_drawing,
    processes, stop,
};

/// Measures traffic and prints its points.
pub fn run(
    arguments: &Run,
    configuration: Configuration,
    job: Option<&'static Job>,
) -> Result<(), Ending> {
    let mut plan = TrafficPlan::new(configuration)?;
    if let Some(job) = job {
        plan.spread(job)?;
    }
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    stop::watch(|| {});
    let measured = plan.run()?;
    if !arguments.quiet && !processes::is_silent() {
        let mut text = Vec::new();
        let shown = show(arguments.format, &measured, &mut text)
            .and_then(|()| io::stdout().write_all(&text));
        written(shown, "standard output")?;
    }
    if let Some(file) = arguments.plot.as_ref().filter(|_| !processes::is_silent()) {
        let drawing = stacked(&plot(&arguments.source, &measured.points));
        write_drawing(Path::new(file), &drawing)?;
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

/// Two charts over the offered load: the mean latency, where the load is sustained, and the load
/// that is accepted.
fn plot(title: &str, points: &[Point]) -> [CurveChart; 2] {
    let chart = |name: &str, unit: &str, estimate: &dyn Fn(&Point) -> Option<Estimate>| {
        let estimates: Vec<_> =
            points.iter().filter_map(|point| Some((point.offered, estimate(point)?))).collect();
        let band = |&(load, Estimate { mean, half_width }): &(f64, Estimate)| {
            (load, [mean - half_width, mean + half_width])
        };
        let curve = Curve {
            name: name.to_owned(),
            points: estimates.iter().map(|(load, estimate)| (*load, estimate.mean)).collect(),
            band: estimates.iter().map(band).collect(),
        };
        CurveChart {
            title: title.to_owned(),
            x: "offered load, part of the bandwidth of a host's link".to_owned(),
            y: unit.to_owned(),
            curves: vec![curve],
        }
    };
    let microseconds = |point: &Point| {
        let Estimate { mean, half_width } = point.latency.filter(|_| point.sustained())?;
        Some(Estimate { mean: mean * 1e-6, half_width: half_width * 1e-6 })
    };
    [
        chart("latency", "mean latency, us", &microseconds),
        chart("accepted", "accepted load", &|point| Some(point.accepted)),
    ]
}
