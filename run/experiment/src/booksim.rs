//! Configuration files of BookSim 2 as a workload: `booksim:FILE`.
//!
//! A file is read as it is ([`file`], [`values`]). What it describes is a network of the model
//! `packet` ([`network`]) under synthetic traffic ([`workload`]), measured for as long as BookSim
//! would ([`traffic::Settling`]) and told in its units: cycles, flits per node and cycle, routers.

mod anynet;
mod file;
mod keys;
mod network;
mod values;
mod workload;

use std::path::Path;

use ::packet::{Fabric, Invalid, Packets};
use serde::Serialize;
use traffic::{Point, Settings};

use self::{network::CYCLE, values::Values};
use crate::{
    job::Failure,
    models::switched,
    settings::diagnostic::{Diagnostic, Mistakes, sort},
};

/// A measurement that a configuration of BookSim 2 describes.
#[derive(Debug)]
pub struct BookSim {
    network: Packets,
    settings: Settings,
    /// Cycles of a packet at its source that BookSim does not count as waiting.
    injection: f64,
    /// Warnings about a configuration that can be measured nevertheless.
    pub warnings: Vec<String>,
}

/// The results of a configuration.
#[derive(Debug, Serialize)]
pub struct BookSimPoints {
    /// A point for its injection rate.
    pub points: Vec<BookSimPoint>,
}

/// The results of an injection rate, in BookSim's units.
#[derive(Debug, Serialize)]
pub struct BookSimPoint {
    /// Flits per node and cycle that were asked for.
    pub offered: f64,
    /// Flits per node and cycle that arrived.
    pub accepted: f64,
    /// Mean cycles from the creation of a packet to the arrival of its last flit; none of a
    /// saturated network.
    pub latency_cycles: Option<f64>,
    /// Mean cycles from when the source could send it to the arrival of its last flit.
    pub network_latency_cycles: Option<f64>,
    /// Mean number of routers on the way.
    pub hops: Option<f64>,
    /// True if the mean latency went above `latency_thres`, or the network did not warm up.
    pub saturated: bool,
}

impl BookSim {
    /// Reads a configuration and what the command line says besides. The error lists every mistake.
    pub fn new(path: &Path, arguments: &[String], threads: usize) -> Result<Self, Mistakes> {
        let failed = |mut wrong: Vec<Diagnostic>| {
            sort(&mut wrong);
            Mistakes(wrong)
        };
        let values = Values::read(path, arguments).map_err(failed)?;
        let mut wrong = Vec::new();
        let described = network::describe(&values).map_err(|found| wrong.extend(found)).ok();
        let sizes = workload::sizes(&values).map_err(|found| wrong.push(found)).ok();
        let most = sizes.iter().flatten().map(|size| size.0).max().unwrap_or(1);
        let seed = workload::seed(&values).unwrap_or_default();
        let parameters = network::parameters(&values, most, seed);
        let parameters = parameters.map_err(|found| wrong.extend(found)).ok();
        let settings = described.as_ref().zip(sizes).and_then(|(described, sizes)| {
            let (topology, places) = (&described.topology, &described.places);
            let settings = workload::settings(&values, topology, places, &sizes);
            settings.map_err(|found| wrong.extend(found)).ok()
        });
        let (Some(described), Some(parameters), Some(settings), true) =
            (described, parameters, settings, wrong.is_empty())
        else {
            return Err(failed(wrong));
        };
        let injection = parameters.injection.ps(parameters.cycle()) as f64 / CYCLE as f64;
        let warnings = switched::circles(&described.topology, &described.routes);
        let graph = &described.topology.graph;
        let fabric = Fabric::new(graph, described.routes, parameters).map_err(|found| {
            let place = |wrong: &Invalid| match wrong {
                Invalid::Channels { .. } => "num_vcs",
                Invalid::Packet { .. } => "packet_size",
                _ => "topology",
            };
            failed(found.iter().map(|one| values.wrong(place(one), one.to_string())).collect())
        })?;
        let settings = Settings { threads, ..settings };
        let network = Packets::new(fabric);
        Ok(Self { network, settings, injection, warnings })
    }

    /// Measures it.
    ///
    /// # Errors
    /// If the settings do not fit the network.
    pub fn run(&self) -> Result<BookSimPoints, Failure> {
        let point = traffic::followed(&self.network, &self.settings);
        let point = point.map_err(|error| Failure::Input(format!("error: {error}")))?;
        Ok(BookSimPoints { points: vec![self.told(&point)] })
    }

    fn told(&self, point: &Point) -> BookSimPoint {
        let cycles = |ps: f64| ps / CYCLE as f64;
        let saturated = !point.sustained();
        let latency = point.latency.filter(|_| !saturated).map(|found| cycles(found.mean));
        let waited = |wait: f64| (cycles(wait) - self.injection).max(0.0);
        BookSimPoint {
            offered: point.load,
            accepted: point.accepted.mean,
            latency_cycles: latency,
            network_latency_cycles: latency.zip(point.wait).map(|(all, wait)| all - waited(wait)),
            hops: point.hops.map(|links| links - 1.0),
            saturated,
        }
    }
}
