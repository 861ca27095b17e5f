//! The model `infiniband`: packets through switches, flit by flit, from the tables `[network]` and
//! `[placement]`. What it models and what not is in the crate `infiniband`.

mod parameters;

use std::sync::Arc;

use ::infiniband::Fabric;

use super::{
    places,
    stock::Stock,
    switched::{self, Switched, Wires},
    wiring::Needs,
};
use crate::settings::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    keys::{self, Setting},
};

pub(super) use parameters::resolve as parameters;

/// The ports, links and routes of a network, and the service levels of its hosts.
#[derive(Debug)]
pub struct Cables {
    fabric: Arc<Fabric>,
    levels: Vec<u8>,
}

/// A network with switches, and where its ranks are.
pub type Infiniband = Switched<Cables>;

type Mistakes = Vec<Diagnostic>;

pub(crate) fn resolve(
    configuration: &Configuration,
    stock: &mut Stock,
) -> Result<(Infiniband, Vec<String>), Mistakes> {
    let mut mistakes = Vec::new();
    if configuration.word(keys::loggops::COMPAT) == "loggopsim" {
        let message = "LogGOPSim's rules know no switches";
        mistakes.push(configuration.mistake(keys::loggops::COMPAT, message));
    }
    let levels = levels(configuration);
    let count = levels.iter().flatten().max().unwrap_or(&0) + 1;
    let needs = Needs {
        what: "the queues between the ports of each switch",
        bytes: &|size| Fabric::least_memory(size, count),
    };
    let imported = stock.topology(configuration, &needs);
    let imported = imported.map_err(|found| mistakes.extend(found)).ok();
    let parameters =
        parameters::resolve(configuration).map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let levels = levels.map_err(|found| mistakes.push(found)).ok();
    let (Some(imported), Some(parameters), Some(mut places), Some(levels), true) =
        (imported, parameters, places, levels, mistakes.is_empty())
    else {
        return Err(mistakes);
    };
    let topology = &imported.topology;
    switched::places_on(configuration, topology, &mut places)?;
    let routed = stock.routes(configuration, &imported, count)?;
    let fabric = Fabric::new(&topology.graph, Arc::clone(&routed.routes), parameters);
    let fabric = fabric.map_err(|wrong| {
        wrong.iter().map(|wrong| parameters::wrong(configuration, wrong)).collect::<Vec<_>>()
    })?;
    let cables = Cables { fabric: Arc::new(fabric), levels };
    let remarks = routed.remarks(&imported);
    Ok((Switched::new(imported, places, cables), remarks))
}

impl Wires for Cables {
    type Network = ::infiniband::Infiniband;

    /// Service levels go in turn to the hosts that have ranks, in the order of their first ranks.
    fn network(&self, hosts: &[u32], all: u32) -> Self::Network {
        let mut levels = vec![0; all as usize];
        let mut seen = vec![false; levels.len()];
        let first = hosts.iter().map(|host| *host as usize);
        let first = first.filter(|host| !std::mem::replace(&mut seen[*host], true));
        first.zip(self.levels.iter().cycle()).for_each(|(host, level)| levels[host] = *level);
        ::infiniband::Infiniband::new(Arc::clone(&self.fabric), 0).with_levels(levels)
    }
}

/// The service levels of the hosts' messages, in turn.
fn levels(configuration: &Configuration) -> Result<Vec<u8>, Diagnostic> {
    const KEY: Setting<String> = keys::network::LEVELS;
    let one = configuration.value(keys::network::LEVEL).unwrap_or(0) as u8;
    let Some(text) = configuration.value(KEY) else { return Ok(vec![one]) };
    if configuration.is_said(keys::network::LEVEL) {
        let message = "there are `network.levels` too";
        return Err(configuration.mistake(keys::network::LEVEL, message));
    }
    let level = |item: &str| {
        let level = item.trim().parse::<u8>().ok().filter(|level| *level <= 14);
        let message = || format!("expected service levels from 0 to 14, found `{item}`");
        level.ok_or_else(|| configuration.mistake(KEY, message()))
    };
    text.split(',').map(level).collect()
}
