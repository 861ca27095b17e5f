//! `heddle run traffic:NAME`.

use std::{
    io::{self, Write},
    path::Path,
};

use draw::{Curve, CurveChart, stacked};
use experiment::{Configuration, Measured, TrafficPlan, Value};
use results::{Artifact, PointRow, Reader};
use traffic::Point;
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
    // Only the model packet has this key, and by default it is "age".
    let arbitration = configuration.get("network.arbitration");
    let by_robin = matches!(arbitration, Some((Value::Word("round-robin"), _)));
    let mut plan = TrafficPlan::new(configuration)?;
    if let Some(job) = job {
        plan.spread(job)?;
    }
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    let others: Result<Vec<Drawn>, Ending> =
        arguments.plot_with.iter().map(|folder| read(folder)).collect();
    let others = others?;
    stop::watch(|| {});
    let measured = plan.run()?;
    if !arguments.quiet && !processes::is_silent() {
        let mut text = Vec::new();
        let shown = show(arguments.format, &measured, by_robin, &mut text)
            .and_then(|()| io::stdout().write_all(&text));
        written(shown, "standard output")?;
    }
    if let Some(file) = arguments.plot.as_ref().filter(|_| !processes::is_silent()) {
        let mut runs =
            vec![(arguments.source.clone(), measured.points.iter().map(PointRow::new).collect())];
        runs.extend(others);
        let drawing = stacked(&plot(&arguments.source, &runs));
        write_drawing(Path::new(file), &drawing)?;
    }
    if measured.points.iter().any(|point| point.deadlock.is_some()) {
        return Err(Ending::silent(Exit::Deadlock));
    }
    Ok(())
}

fn show(
    format: Format,
    measured: &Measured,
    by_robin: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    if format == Format::Json {
        serde_json::to_writer(&mut *out, measured)?;
        return out.write_all(b"\n");
    }
    traffic::write_table(out, &measured.points)?;
    for remark in &measured.remarks {
        writeln!(out, "\nnote: {remark}")?;
    }
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
    if let Some([best, worst]) = falls(&measured.points) {
        let help =
            if by_robin { "; network.arbitration = \"age\" shares links evenly" } else { "" };
        writeln!(
            out,
            "\n\
             accepted load falls beyond saturation, from {:.4} at {} to {:.4} at {}: packets that \
             enter take the links from those on their way{help}",
            best.accepted.mean, best.load, worst.accepted.mean, worst.load
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

/// The part of the most that is accepted below which a network that is offered more has lost a good
/// deal.
const KEPT: f64 = 0.8;

/// Returns the point that accepts most and the one of a higher load that accepts least, if that is
/// much less.
fn falls(points: &[Point]) -> Option<[&Point; 2]> {
    let moves = || points.iter().filter(|point| point.deadlock.is_none());
    let by_accepted =
        |one: &&Point, other: &&Point| one.accepted.mean.total_cmp(&other.accepted.mean);
    let best = moves().max_by(by_accepted)?;
    let beyond = moves().filter(|point| point.load > best.load && point.saturated);
    let worst = beyond.min_by(by_accepted)?;
    (worst.accepted.mean < KEPT * best.accepted.mean).then_some([best, worst])
}

/// A curve of a picture: its name and its points.
type Drawn = (String, Vec<PointRow>);

/// Reads the points of a run from its folder, which names the curve.
fn read(folder: &str) -> Result<Drawn, Ending> {
    let path = Path::new(folder).join(Artifact::Points.file_name());
    let points = Reader::<PointRow>::open(&path).and_then(Iterator::collect);
    let points = points.map_err(|error| {
        let message = format!(
            "error: --plot-with {folder}: {error}\n  help: name the folder of a measurement of \
             traffic"
        );
        Ending::new(Exit::Input, message)
    })?;
    let name = Path::new(folder).file_name().map_or(folder.into(), |name| name.to_string_lossy());
    Ok((name.into_owned(), points))
}

/// Two charts over the offered load: the mean latency, where the load is sustained, and the load
/// that is accepted.
fn plot(title: &str, runs: &[Drawn]) -> [CurveChart; 2] {
    type Value<'v> = &'v dyn Fn(&PointRow) -> Option<(f64, Option<f64>)>;
    let chart = |unit: &str, value: Value<'_>| {
        let curve = |(name, points): &Drawn| {
            let values = points.iter().filter_map(|point| Some((point.offered.0, value(point)?)));
            let values: Vec<_> = values.collect();
            let band = |&(load, (mean, width)): &(f64, (f64, Option<f64>))| {
                let width = width.unwrap_or(f64::INFINITY);
                (load, [mean - width, mean + width])
            };
            Curve {
                name: name.clone(),
                points: values.iter().map(|&(load, (mean, _))| (load, mean)).collect(),
                band: values.iter().map(band).collect(),
            }
        };
        CurveChart {
            title: title.to_owned(),
            x: "offered load, part of the bandwidth of a host's link".to_owned(),
            y: unit.to_owned(),
            curves: runs.iter().map(curve).collect(),
            ..CurveChart::default()
        }
    };
    let latency = |point: &PointRow| {
        let sustained = !point.saturated && point.deadlock.is_none();
        let mean = point.latency_mean.filter(|_| sustained)?;
        Some((mean.0 * 1e-6, point.latency_half_width.map(|width| width.0 * 1e-6)))
    };
    let accepted =
        |point: &PointRow| Some((point.accepted.0, point.accepted_half_width.map(|width| width.0)));
    [chart("mean latency, us", &latency), chart("accepted load", &accepted)]
}
