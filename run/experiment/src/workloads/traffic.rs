//! Synthetic traffic as a workload: load-latency curves, saturation, what the network tells.

use std::{io::Write, path::Path, time::Instant};

use kernel::{Peers, TransportKind};
use results::{Artifact, Performance, RunDirectory};
use serde::Serialize;
use traffic::{Arrivals, Destinations, Lengths, Pattern, Point, Saturation, Settings, Span};
use units::{Bytes, Time};

use crate::{
    folder::{self, Output},
    job::Failure,
    models::{self, Loaded, Model, Seen, Stock, Switches, tables},
    plan,
    settings::{
        configuration::Configuration,
        diagnostic::{Diagnostic, Mistakes, Place, reason, sort},
        keys::{self, Id, Setting},
        manifest, scope, usage,
        value::Workload,
    },
};

/// Traffic that can be measured.
#[derive(Debug)]
pub struct TrafficPlan {
    network: Box<dyn Loaded>,
    settings: Settings,
    loads: Vec<f64>,
    saturation: bool,
    interval: Time,
    output: Option<Output>,
    configuration: Configuration,
    /// Warnings about an experiment that can be run nevertheless.
    pub warnings: Vec<String>,
    /// Remarks on the settings, which stand beside the points.
    remarks: Vec<String>,
}

/// The points of a measurement of traffic.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The points, by load.
    pub points: Vec<Point>,
    /// Further facts that the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The load at which the network saturates, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

/// The precision to which the load of saturation is found.
const WITHIN: f64 = 0.01;

impl TrafficPlan {
    /// Checks the settings. The error lists every mistake.
    pub fn new(configuration: Configuration) -> Result<Self, Mistakes> {
        let mut mistakes = usage::mistakes(&configuration, scope::Workload::Traffic);
        let mut stock = Stock::default();
        let resolved = models::resolve(&configuration, &mut stock);
        let resolved = resolved.map_err(|found| mistakes.extend(found)).ok();
        let switches = resolved.as_ref().and_then(|(machine, _)| machine.switches());
        if resolved.is_some() && switches.is_none() && mistakes.is_empty() {
            let help = "set network.model = \"infiniband\", \"packet\" or \"flow\" and a topology, \
                        or give a --machine with one";
            let message = "traffic needs a network with a topology";
            let mistake = configuration.mistake(keys::workload::SOURCE, message);
            mistakes.push(mistake.help(help.to_owned()));
        }
        let loads = loads(&configuration).map_err(|mistake| mistakes.push(mistake)).ok();
        let interval = tables::interval(&configuration, keys::traffic::INTERVAL)
            .map_err(|mistake| mistakes.push(mistake))
            .unwrap_or_default();
        let lengths = lengths(&configuration).map_err(|found| mistakes.extend(found)).ok();
        let output =
            folder::output(&configuration).map_err(|mistake| mistakes.push(mistake)).ok().flatten();
        let pattern = pattern(&configuration).map_err(|mistake| mistakes.push(mistake)).ok();
        mistakes.extend(unused(&configuration, output.is_some(), loads.as_deref()));
        let destinations = switches.zip(pattern).and_then(|(switches, pattern)| {
            let placed = destinations(&configuration, switches, &pattern);
            placed.map_err(|mistake| mistakes.push(mistake)).ok()
        });
        let (Some(switches), Some(destinations), Some(lengths), Some(loads), true) =
            (switches, destinations, lengths, loads, mistakes.is_empty())
        else {
            sort(&mut mistakes);
            return Err(Mistakes(mistakes));
        };
        let network = switches
            .loaded(destinations.hosts())
            .map_err(|message| Mistakes(vec![nowhere(&message)]))?;
        let shortest = Time::from_ps(network.lookahead().ps().saturating_mul(8));
        let settings = settings(&configuration, destinations, lengths, shortest);
        Ok(Self {
            network,
            settings,
            loads,
            saturation: configuration.switch(keys::traffic::SATURATION),
            interval,
            output,
            remarks: models::topologies::out_of_service(&configuration, &mut stock),
            warnings: resolved.map(|(_, remarks)| remarks).unwrap_or_default(),
            configuration,
        })
    }

    /// Makes it the plan of one of several processes that carry it out together. The first of them
    /// writes the folder.
    ///
    /// # Errors
    /// If it is for one process only.
    pub fn spread(&mut self, peers: &'static dyn Peers) -> Result<(), Mistakes> {
        if self.configuration.model() == scope::Model::Flow {
            let message = format!("flows are simulated in one process, not in {}", peers.count());
            let help = "start heddle without the launcher".to_owned();
            return Err(Mistakes(vec![nowhere(&message).help(help)]));
        }
        self.settings.transport = TransportKind::Spread(peers);
        Ok(())
    }

    /// Returns whether a folder is written.
    pub const fn writes(&self) -> bool {
        self.output.is_some()
    }

    /// Measures, and writes what is asked for.
    pub fn run(&self) -> Result<Measured, Failure> {
        let wrong = |error: traffic::Error| match self.setting_of(&error) {
            Some(id) => Mistakes(vec![self.configuration.mistake(id, error.to_string())]).into(),
            None => Failure::Input(self.network.explained(&error)),
        };
        let Some(output) = &self.output else {
            return self.measure().map(|measured| self.with_bounds(measured)).map_err(wrong);
        };
        let start = Instant::now();
        // Of several processes the first one writes.
        let first = self.settings.transport.peers().is_none_or(|peers| peers.me() == 0);
        let directory = first.then(|| self.create(output)).transpose()?;
        let (measured, seen) = match self.loads[..] {
            [load] if !self.saturation => self.watch(load).map_err(wrong)?,
            _ => (self.measure().map_err(wrong)?, None),
        };
        let measured = self.with_bounds(measured);
        let took = start.elapsed();
        let points = &measured.points;
        let messages = points.iter().map(|point| point.messages).sum();
        let performance = Performance::measure(start, took, self.settings.threads, None, messages)
            .of_all(self.settings.transport);
        let Some(mut directory) = directory else { return Ok(measured) };
        if let Some(seen) = seen {
            seen.write_all(&mut directory)?;
        }
        directory.write(Artifact::Performance, |out| results::write_pretty(out, &performance))?;
        directory.write(Artifact::Points, |out| results::write_points(out, points))?;
        directory.write(Artifact::PointsJson, |out| results::write_pretty(out, &measured))?;
        directory.finish()?;
        if let Some(options) = &output.report {
            folder::write_report(&output.directory, options)?;
        }
        Ok(measured)
    }

    /// The setting that an error is about, if it is about one.
    fn setting_of(&self, error: &traffic::Error) -> Option<Id> {
        let said = |ids: &[Id]| ids.iter().copied().find(|id| self.configuration.is_said(*id));
        match error {
            traffic::Error::Load(_) => said(&[keys::traffic::LOAD.id()]),
            traffic::Error::Burst(_) => said(&[keys::traffic::BURST.id()]),
            traffic::Error::Short { .. } | traffic::Error::Long { .. } => {
                said(&[keys::traffic::BATCH.id(), keys::traffic::TIME.id()])
            }
            _ => None,
        }
    }

    /// Makes the folder, with the manifest.
    fn create(&self, output: &Output) -> Result<RunDirectory, Failure> {
        let mut directory = output.create()?;
        let inputs = plan::inputs(&self.configuration);
        directory.write(Artifact::Manifest, |out| {
            let text = manifest::write(&self.configuration, &inputs, None, &output.directory)?;
            out.write_all(text.as_bytes())
        })?;
        Ok(directory)
    }

    /// Adds what the routes say of the traffic to all points.
    fn with_bounds(&self, measured: Measured) -> Measured {
        let bounds = self.network.bounds(&self.settings);
        let with = |points: Vec<Point>| points.into_iter().map(|point| point.with(bounds));
        let saturation = measured
            .saturation
            .map(|found| Saturation { points: with(found.points).collect(), ..found });
        let points = with(measured.points).collect();
        Measured { points, remarks: self.remarks.clone(), saturation }
    }

    fn measure(&self) -> Result<Measured, traffic::Error> {
        let (network, settings) = (&self.network, &self.settings);
        if self.saturation {
            let saturation = network.saturation(settings, WITHIN)?;
            let points = saturation.points.clone();
            return Ok(Measured { points, remarks: Vec::new(), saturation: Some(saturation) });
        }
        let points = if let [load] = self.loads[..] {
            vec![network.point(&Settings { load, ..settings.clone() })?]
        } else {
            network.curve(settings, &self.loads)?
        };
        Ok(Measured { points, remarks: Vec::new(), saturation: None })
    }

    /// Measures one load and keeps what the network tells of it.
    fn watch(&self, load: f64) -> Result<(Measured, Option<Seen>), traffic::Error> {
        let settings = Settings { load, ..self.settings.clone() };
        let (point, seen) = self.network.observe(&settings, self.interval)?;
        let points = vec![point];
        Ok((Measured { points, remarks: Vec::new(), saturation: None }, seen))
    }
}

fn settings(
    configuration: &Configuration,
    destinations: Destinations,
    lengths: Lengths,
    shortest: Time,
) -> Settings {
    let (span, batch) = span(configuration, shortest);
    Settings {
        arrivals: arrivals(configuration),
        lengths,
        span,
        batch,
        seed: configuration.value(keys::run::SEED).unwrap_or(1),
        threads: configuration.value(keys::run::THREADS).unwrap_or(1) as usize,
        ..Settings::new(destinations, 1.0)
    }
}

/// The number of batches into which a time is cut if they are not given.
const BATCHES: u64 = 10;

/// Returns for how long a point is measured, and the time of a batch if that is given or follows.
/// Batches that only follow take the `shortest` time at least.
fn span(configuration: &Configuration, shortest: Time) -> (Span, Option<Time>) {
    let batch = configuration.value(keys::traffic::BATCH);
    let Some(time) = configuration.value(keys::traffic::TIME) else {
        let half_width = configuration.value(keys::traffic::PRECISION).unwrap_or(0.02);
        let batches = configuration.value(keys::traffic::BATCHES).unwrap_or(200) as u32;
        return (Span::Precise { half_width, batches }, batch);
    };
    let usual = || time.ps().div_ceil(BATCHES).max(shortest.ps().min(time.ps()));
    let batch = batch.map_or_else(usual, Time::ps).max(1);
    let warm_up = configuration.value(keys::traffic::WARM_UP).unwrap_or(Time::ZERO);
    let batches = |time: Time| u32::try_from(time.ps().div_ceil(batch)).unwrap_or(u32::MAX);
    let span = Span::Batches { warm_up: batches(warm_up), kept: batches(time).max(1) };
    (span, Some(Time::from_ps(batch)))
}

fn nowhere(message: &str) -> Diagnostic {
    Diagnostic::new(Place::Nowhere, message.trim_start_matches("error: ").to_owned())
}

/// The hosts that take part, in the order of their numbers: all that are in service, or those of
/// `placement.hosts`.
fn places(configuration: &Configuration, switches: &dyn Switches) -> Result<Vec<u32>, Diagnostic> {
    let graph = &switches.topology().graph;
    let count = match configuration.value(keys::placement::HOSTS) {
        Some(list) => {
            let listed = topology::place::listed(&list, &graph.host_names());
            listed.map_err(|faults| nowhere(&faults.render(keys::placement::HOSTS.name())))?.len()
                as u32
        }
        None => switches.in_service(),
    };
    let places = switches.host_of_ranks(count).map_err(|message| nowhere(&message))?;
    let mut taken = vec![false; graph.hosts() as usize];
    let twice = places.iter().find(|&&host| std::mem::replace(&mut taken[host as usize], true));
    let Some(&twice) = twice else { return Ok(places) };
    let message = format!("{} is placed twice: traffic has each host once", graph.name(twice));
    Err(configuration.mistake(keys::placement::KIND, message))
}

fn destinations(
    configuration: &Configuration,
    switches: &dyn Switches,
    pattern: &Pattern,
) -> Result<Destinations, Diagnostic> {
    let places = places(configuration, switches)?;
    let placed = pattern.placed(switches.topology(), &places);
    placed.map_err(|misfit| configuration.mistake(keys::workload::SOURCE, misfit.to_string()))
}

/// Refuses what is said but has no effect on this traffic.
fn unused(configuration: &Configuration, writes: bool, loads: Option<&[f64]>) -> Vec<Diagnostic> {
    let name = match configuration.workload() {
        Some(Workload::Traffic(name)) => name,
        _ => String::new(),
    };
    let is = |names: &[&str]| names.contains(&name.as_str());
    let bursty = configuration.word(keys::traffic::ARRIVALS) == "bursty";
    let saturation = configuration.switch(keys::traffic::SATURATION);
    let timed = configuration.value(keys::traffic::TIME).is_some();
    let says = "traffic.time says how long a point is measured";
    let single = writes && !saturation && loads.is_none_or(|loads| loads.len() == 1);
    let refused = [
        (
            keys::traffic::HOST.id(),
            is(&["hot-spot", "incast"]),
            "it belongs to hot-spot and incast",
        ),
        (keys::traffic::WAYS.id(), is(&["incast"]), "it belongs to incast"),
        (
            keys::traffic::SHARE.id(),
            is(&["hot-spot", "sphere"]),
            "it belongs to hot-spot and sphere",
        ),
        (keys::traffic::RADIUS.id(), is(&["sphere"]), "it belongs to sphere"),
        (keys::traffic::BURST.id(), bursty, "set traffic.arrivals = \"bursty\""),
        (keys::traffic::LOAD.id(), !saturation, "saturation is sought among all loads"),
        (keys::traffic::PRECISION.id(), !timed, says),
        (keys::traffic::BATCHES.id(), !timed, says),
        (keys::traffic::WARM_UP.id(), timed, "it belongs to traffic.time"),
        (
            keys::traffic::INTERVAL.id(),
            single,
            "a run of one load with a folder (-o) writes lanes.csv",
        ),
    ];
    let unused = |(id, used, _): &(Id, bool, &str)| !used && configuration.is_said_of_run(*id);
    let mistake = |(id, _, help): (Id, bool, &str)| {
        let message = format!("`{}` is not used by this workload", id.key().name);
        configuration.mistake(id, message).help(help.to_owned())
    };
    refused.into_iter().filter(unused).map(mistake).collect()
}

fn loads(configuration: &Configuration) -> Result<Vec<f64>, Diagnostic> {
    let text = configuration.value(keys::traffic::LOAD).unwrap_or_default();
    traffic::loads(&text).map_err(|message| configuration.mistake(keys::traffic::LOAD, message))
}

/// Lengths by their names, or from a file.
fn lengths(configuration: &Configuration) -> Result<Lengths, Vec<Diagnostic>> {
    const KEY: Setting<String> = keys::traffic::LENGTH;
    let text = configuration.value(KEY).unwrap_or_default();
    if let Some(lengths) = Lengths::parse(&text) {
        let wrong = |why| vec![configuration.mistake(KEY, format!("`{text}`: {why}"))];
        return lengths.map_err(wrong);
    }
    let read = units::text::read(Path::new(&text)).map_err(|error| {
        let message = format!(
            "expected a length, uniform:LEAST:MOST, normal:MEAN:DEVIATION, \
             bimodal:SHORT:LONG:SHARE or a file, found `{text}` ({})",
            reason(&error)
        );
        let help = match text.parse::<u64>() {
            Ok(number) => format!("with its unit: `{}`", Bytes::new(number)),
            Err(_) => "such as `2 KiB` or `uniform:64B:4KiB`".to_owned(),
        };
        vec![configuration.mistake(KEY, message).help(help)]
    })?;
    Lengths::read(&read).map_err(|wrong| {
        let mistake = |wrong: traffic::Unreadable| {
            Diagnostic::new(Place::File(text.clone().into()), wrong.to_string())
        };
        wrong.into_iter().map(mistake).collect()
    })
}

fn pattern(configuration: &Configuration) -> Result<Pattern, Diagnostic> {
    let Some(Workload::Traffic(name)) = configuration.workload() else {
        return Err(configuration.mistake(keys::workload::SOURCE, "this is no traffic"));
    };
    let pattern = Pattern::named(&name).map_err(|misfit| {
        let help = super::names::elsewhere("traffic", &name);
        configuration.mistake(keys::workload::SOURCE, misfit.to_string()).help(help)
    })?;
    let given_share = configuration.value(keys::traffic::SHARE);
    let given_host = configuration.value(keys::traffic::HOST).unwrap_or(0) as u32;
    Ok(match pattern {
        Pattern::HotSpot { share, .. } => {
            Pattern::HotSpot { host: given_host, share: given_share.unwrap_or(share) }
        }
        Pattern::Sphere { radius, share } => {
            let given = configuration.value(keys::traffic::RADIUS);
            let radius = given.map(|radius| radius as u32).or(radius);
            Pattern::Sphere { radius, share: given_share.unwrap_or(share) }
        }
        Pattern::Incast { ways, .. } => {
            let given = configuration.value(keys::traffic::WAYS);
            Pattern::Incast { host: given_host, ways: given.map_or(ways, |ways| ways as u32) }
        }
        other => other,
    })
}

fn arrivals(configuration: &Configuration) -> Arrivals {
    match configuration.word(keys::traffic::ARRIVALS) {
        "bernoulli" => Arrivals::Bernoulli,
        "bursty" => Arrivals::Bursty(configuration.value(keys::traffic::BURST).unwrap_or(8.0)),
        "fixed" => Arrivals::Fixed,
        _ => Arrivals::Poisson,
    }
}
