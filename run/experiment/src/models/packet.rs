//! The model `packet`: routers with virtual channels, from the tables `[network]` and
//! `[placement]`. The crate `packet` says what it models and what not.

mod parameters;

use std::sync::Arc;

use ::packet::{Fabric, Packets};

use super::{
    places,
    stock::Stock,
    switched::{self, Switched, Wires},
    wiring::Needs,
};
use crate::settings::{configuration::Configuration, diagnostic::Diagnostic, keys};

pub(super) use parameters::{resolve as parameters, takes};

/// The ports, links and routes of a network.
#[derive(Debug)]
pub struct Links(Arc<Fabric>);

/// A network of routers, and where its ranks are.
pub type Packet = Switched<Links>;

pub(crate) fn resolve(
    configuration: &Configuration,
    stock: &mut Stock,
) -> Result<(Packet, Vec<String>), Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    if configuration.word(keys::loggops::COMPAT) == "loggopsim" {
        let message = "LogGOPSim's rules know no routers";
        mistakes.push(configuration.mistake(keys::loggops::COMPAT, message));
    }
    let parameters = parameters(configuration);
    let needs = Needs {
        what: "the channels of its routers",
        bytes: &|size| {
            let known = parameters.as_ref().ok();
            known.map_or(0, |parameters| Fabric::least_memory(size, parameters))
        },
    };
    let imported = stock.topology(configuration, &needs);
    let imported = imported.map_err(|found| mistakes.extend(found)).ok();
    let parameters = parameters.map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let (Some(imported), Some(parameters), Some(mut places), true) =
        (imported, parameters, places, mistakes.is_empty())
    else {
        return Err(mistakes);
    };
    let topology = &imported.topology;
    switched::places_on(configuration, topology, &mut places)?;
    let routed = stock.routes(configuration, &imported, 1)?;
    let fabric = Fabric::new(&topology.graph, Arc::clone(&routed.routes), parameters);
    let fabric = fabric.map_err(|wrong| {
        wrong.iter().map(|wrong| parameters::wrong(configuration, wrong)).collect::<Vec<_>>()
    })?;
    let mut remarks = routed.remarks(&imported);
    if configuration.is_said_of_run(keys::network::LBR) && !routed.routes.has_candidates() {
        remarks.push(
            "network.lbr has no effect: it is for channels beside the escape, which the routing \
             does not have"
                .to_owned(),
        );
    }
    Ok((Switched::new(imported, places, Links(Arc::new(fabric))), remarks))
}

impl Wires for Links {
    type Network = Packets;

    fn network(&self, _: &[u32], _: u32) -> Packets {
        Packets::new(Arc::clone(&self.0))
    }
}
