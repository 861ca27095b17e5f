//! Synthetic traffic as a workload: load-latency curves, saturation, what the network tells.

use std::{fs, io::Write, time::Instant};

use infiniband::Infiniband;
use results::{Artifact, Performance, RunDirectory};
use serde::Serialize;
use traffic::{Arrivals, Destinations, Lengths, Pattern, Point, Saturation, Settings, Span, Watch};
use units::{Bytes, Time};

use crate::{
    configuration::Configuration,
    diagnostic::{Diagnostic, Mistakes, Place, reason, sort},
    machine::{self, Machine},
    manifest, network_tables,
    plan::{self, Output},
    run::Failure,
    value::Workload,
};

/// Traffic that can be measured.
#[derive(Debug)]
pub struct TrafficPlan {
    network: Infiniband,
    topology: topology::Topology,
    settings: Settings,
    loads: Vec<f64>,
    saturation: bool,
    interval: Time,
    output: Option<Output>,
    configuration: Configuration,
    /// What is odd about it, though it can be run.
    pub warnings: Vec<String>,
}

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The points, by load.
    pub points: Vec<Point>,
    /// Where the network saturates, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

/// How close saturation is found.
const WITHIN: f64 = 0.01;

impl TrafficPlan {
    /// Checks the settings. The error lists every mistake.
    pub fn new(configuration: Configuration) -> Result<Self, Mistakes> {
        let mut mistakes = Vec::new();
        let help = "traffic has a load, lengths and hosts of its own: see [traffic]";
        for table in ["workload.", "loggops.", "noise.", "protocol.", "traces."] {
            let found = plan::without(table, &configuration, help).err().into_iter().flatten();
            // The name of the traffic is a key of [workload], too.
            let foreign = |mistake: &Diagnostic| !mistake.message.contains("workload.source");
            mistakes.extend(found.filter(foreign));
        }
        let machine = machine::resolve(&configuration).unwrap_or_else(|found| {
            mistakes.extend(found);
            None
        });
        if machine.is_none() && mistakes.is_empty() {
            let help = "set network.model = \"infiniband\" and a topology, or give a --machine";
            let message = "traffic needs a network with switches";
            let mistake = configuration.mistake("workload.source", message);
            mistakes.push(mistake.help(help.to_owned()));
        }
        let loads = loads(&configuration).map_err(|mistake| mistakes.push(mistake)).ok();
        let interval = network_tables::interval(&configuration, "traffic.interval")
            .map_err(|mistake| mistakes.push(mistake))
            .unwrap_or_default();
        let lengths = lengths(&configuration).map_err(|found| mistakes.extend(found)).ok();
        let output =
            plan::output(&configuration).map_err(|mistake| mistakes.push(mistake)).ok().flatten();
        let pattern = pattern(&configuration).map_err(|mistake| mistakes.push(mistake)).ok();
        mistakes.extend(unused(&configuration, output.is_some(), loads.as_deref()));
        let destinations = machine.as_ref().zip(pattern).and_then(|(machine, pattern)| {
            let placed = destinations(&configuration, machine, &pattern);
            placed.map_err(|mistake| mistakes.push(mistake)).ok()
        });
        let (Some(machine), Some(destinations), Some(lengths), Some(loads), true) =
            (machine, destinations, lengths, loads, mistakes.is_empty())
        else {
            sort(&mut mistakes);
            return Err(Mistakes(mistakes));
        };
        let (network, _) = machine
            .with(destinations.hosts())
            .map_err(|message| Mistakes(vec![nowhere(&message)]))?;
        let settings = settings(&configuration, destinations, lengths);
        Ok(Self {
            network,
            settings,
            loads,
            saturation: configuration.switch("traffic.saturation"),
            interval,
            output,
            warnings: machine.warnings,
            topology: machine.topology,
            configuration,
        })
    }

    /// Whether a folder is written.
    pub const fn writes(&self) -> bool {
        self.output.is_some()
    }

    /// Measures, and writes what is asked for.
    pub fn run(&self) -> Result<Measured, Failure> {
        let wrong = |error: traffic::Error| Failure::Input(format!("error: {error}"));
        let Some(output) = &self.output else { return self.measure().map_err(wrong) };
        let start = Instant::now();
        let mut directory = RunDirectory::create(&output.directory, output.force)?;
        let inputs = plan::inputs(&self.configuration);
        directory.write(Artifact::Manifest, |out| {
            let text = manifest::write(&self.configuration, &inputs, None, &output.directory)?;
            out.write_all(text.as_bytes())
        })?;
        let measured = match self.loads[..] {
            [load] if !self.saturation => self.watch(load, &mut directory)?,
            _ => self.measure().map_err(wrong)?,
        };
        let took = start.elapsed();
        let points = &measured.points;
        let messages = points.iter().map(|point| point.messages).sum();
        let performance = Performance::measure(start, took, self.settings.threads, None, messages);
        directory.write(Artifact::Performance, |out| results::write_pretty(out, &performance))?;
        directory.write(Artifact::Points, |out| results::write_points(out, points))?;
        directory.write(Artifact::PointsJson, |out| results::write_pretty(out, &measured))?;
        directory.finish()?;
        Ok(measured)
    }

    fn measure(&self) -> Result<Measured, traffic::Error> {
        let (network, settings) = (&self.network, &self.settings);
        if self.saturation {
            let saturation = traffic::saturation(network, settings, WITHIN)?;
            let points = saturation.points.clone();
            return Ok(Measured { points, saturation: Some(saturation) });
        }
        let points = if let [load] = self.loads[..] {
            vec![traffic::run(network, &Settings { load, ..settings.clone() })?]
        } else {
            traffic::curve(network, settings, &self.loads)?
        };
        Ok(Measured { points, saturation: None })
    }

    /// Measures one load and writes what the network tells of it.
    fn watch(&self, load: f64, directory: &mut RunDirectory) -> Result<Measured, Failure> {
        let settings = Settings { load, ..self.settings.clone() };
        let watch = || Watch::new(self.interval);
        let observed = traffic::observe(&self.network, &settings, false, watch)
            .map_err(|error| Failure::Input(format!("error: {error}")))?;
        let watched = Watch::merge(observed.probes);
        let (on, end) = ((&self.network, &self.topology), observed.span.1);
        network_tables::write(directory, &network_tables::ALL, &watched, on, end)?;
        Ok(Measured { points: vec![observed.point], saturation: None })
    }
}

fn settings(
    configuration: &Configuration,
    destinations: Destinations,
    lengths: Lengths,
) -> Settings {
    Settings {
        arrivals: arrivals(configuration),
        lengths,
        span: Span::Precise {
            half_width: configuration.factor("traffic.precision").unwrap_or(0.02),
            batches: configuration.count("traffic.batches").unwrap_or(200) as u32,
        },
        batch: configuration.time("traffic.batch"),
        seed: configuration.count("run.seed").unwrap_or(1),
        threads: configuration.count("run.threads").unwrap_or(1) as usize,
        ..Settings::new(destinations, 1.0)
    }
}

fn nowhere(message: &str) -> Diagnostic {
    Diagnostic::new(Place::Nowhere, message.trim_start_matches("error: ").to_owned())
}

/// The hosts that take part, in the order of their numbers: all that are in service, or those of
/// `placement.hosts`.
fn places(configuration: &Configuration, machine: &Machine) -> Result<Vec<u32>, Diagnostic> {
    let graph = &machine.topology.graph;
    let count = match configuration.name("placement.hosts") {
        Some(list) => {
            let listed = topology::place::listed(&list, &graph.host_names());
            listed.map_err(|faults| nowhere(&faults.render("placement.hosts")))?.len() as u32
        }
        None => machine.in_service(),
    };
    let places = machine.hosts(count).map_err(|message| nowhere(&message))?;
    let mut taken = vec![false; graph.hosts() as usize];
    let twice = places.iter().find(|&&host| std::mem::replace(&mut taken[host as usize], true));
    let Some(&twice) = twice else { return Ok(places) };
    let message = format!("{} is placed twice: traffic has each host once", graph.name(twice));
    Err(configuration.mistake("placement.kind", message))
}

fn destinations(
    configuration: &Configuration,
    machine: &Machine,
    pattern: &Pattern,
) -> Result<Destinations, Diagnostic> {
    let places = places(configuration, machine)?;
    let placed = pattern.placed(&machine.topology, &places);
    placed.map_err(|misfit| configuration.mistake("workload.source", misfit.to_string()))
}

/// Refuses what is said but has no effect on this traffic.
fn unused(configuration: &Configuration, writes: bool, loads: Option<&[f64]>) -> Vec<Diagnostic> {
    let name = match configuration.workload() {
        Some(Workload::Traffic(name)) => name,
        _ => String::new(),
    };
    let is = |names: &[&str]| names.contains(&name.as_str());
    let bursty = configuration.word("traffic.arrivals") == "bursty";
    let saturation = configuration.switch("traffic.saturation");
    let single = writes && !saturation && loads.is_none_or(|loads| loads.len() == 1);
    let own = "traffic writes tables of its own, all of them, and has no ranks";
    let refused = [
        ("output.timeline", false, own),
        ("output.gantt", false, own),
        ("output.tables", false, own),
        ("placement.per-host", false, "traffic has each host once"),
        ("traffic.host", is(&["hot-spot", "incast"]), "it belongs to hot-spot and incast"),
        ("traffic.ways", is(&["incast"]), "it belongs to incast"),
        ("traffic.share", is(&["hot-spot", "sphere"]), "it belongs to hot-spot and sphere"),
        ("traffic.radius", is(&["sphere"]), "it belongs to sphere"),
        ("traffic.burst", bursty, "set traffic.arrivals = \"bursty\""),
        ("traffic.load", !saturation, "saturation is sought among all loads"),
        ("traffic.interval", single, "a run of one load with a folder (-o) writes lanes.csv"),
    ];
    let refused = refused.into_iter().filter(|(_, used, _)| !used);
    let found = refused.filter_map(|(key, _, help)| plan::without(key, configuration, help).err());
    found.flatten().collect()
}

fn loads(configuration: &Configuration) -> Result<Vec<f64>, Diagnostic> {
    let text = configuration.name("traffic.load").unwrap_or_default();
    traffic::loads(&text).map_err(|message| configuration.mistake("traffic.load", message))
}

/// Lengths by their names, or from a file.
fn lengths(configuration: &Configuration) -> Result<Lengths, Vec<Diagnostic>> {
    const KEY: &str = "traffic.length";
    let text = configuration.name(KEY).unwrap_or_default();
    if let Some(lengths) = Lengths::parse(&text) {
        let wrong = |why| vec![configuration.mistake(KEY, format!("`{text}`: {why}"))];
        return lengths.map_err(wrong);
    }
    let read = fs::read_to_string(&text).map_err(|error| {
        let message = format!(
            "expected a length, uniform:LEAST:MOST, normal:MEAN:DEVIATION, bimodal:SHORT:LONG:SHARE or \
             a file, found `{text}` ({})",
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
        return Err(configuration.mistake("workload.source", "this is no traffic"));
    };
    let pattern = Pattern::named(&name)
        .map_err(|misfit| configuration.mistake("workload.source", misfit.to_string()))?;
    let given_share = configuration.factor("traffic.share");
    let given_host = configuration.count("traffic.host").unwrap_or(0) as u32;
    Ok(match pattern {
        Pattern::HotSpot { share, .. } => {
            Pattern::HotSpot { host: given_host, share: given_share.unwrap_or(share) }
        }
        Pattern::Sphere { radius, share } => {
            let given = configuration.count("traffic.radius");
            let radius = given.map(|radius| radius as u32).or(radius);
            Pattern::Sphere { radius, share: given_share.unwrap_or(share) }
        }
        Pattern::Incast { ways, .. } => {
            let given = configuration.count("traffic.ways");
            Pattern::Incast { host: given_host, ways: given.map_or(ways, |ways| ways as u32) }
        }
        other => other,
    })
}

fn arrivals(configuration: &Configuration) -> Arrivals {
    match configuration.word("traffic.arrivals") {
        "bernoulli" => Arrivals::Bernoulli,
        "bursty" => Arrivals::Bursty(configuration.factor("traffic.burst").unwrap_or(8.0)),
        "fixed" => Arrivals::Fixed,
        _ => Arrivals::Poisson,
    }
}
