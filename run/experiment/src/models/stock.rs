//! Topologies and routes that were made before, for other settings.

use std::sync::{Arc, OnceLock};

use ::topology::{Imported, Routes};

use super::{switched, topologies, wiring::Needs};
use crate::settings::{configuration::Configuration, diagnostic::Diagnostic, keys, scope};

/// The topologies and routes of the machines that were resolved before.
///
/// Machines that have the same topology or the same routes share them, whatever else differs:
/// [`Plan::of`](crate::Plan::of) takes a stock, looks there first, and adds what it makes. A file
/// is read once; a stock that is used for long does not notice that it changes.
#[derive(Debug, Default)]
pub struct Stock {
    topologies: Shelf<Imported>,
    routes: Shelf<Routed>,
}

/// Things, by the settings that they were made of.
#[derive(Debug)]
struct Shelf<T>(Vec<(String, Arc<T>)>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Shelf<T> {
    /// Returns what was made of these settings, or makes it.
    fn get<E>(&mut self, of: String, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        if let Some((_, known)) = self.0.iter().find(|(key, _)| *key == of) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(make()?);
        self.0.push((of, Arc::clone(&made)));
        Ok(made)
    }
}

/// The routes of a topology.
#[derive(Debug)]
pub(crate) struct Routed {
    /// The routes.
    pub routes: Arc<Routes>,
    warnings: Vec<String>,
    circles: OnceLock<Vec<String>>,
}

impl Routed {
    /// The warnings of the readers of files.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// These warnings, and those of packets that can wait for each other in a circle.
    pub fn remarks(&self, imported: &Imported) -> Vec<String> {
        let circles = self.circles.get_or_init(|| switched::deadlock(imported, &self.routes));
        self.warnings.iter().chain(circles).cloned().collect()
    }
}

impl Stock {
    /// The topology that the settings describe, without what has failed, for a model with these
    /// needs. It is an error if they exceed the memory of this machine; see [`Needs::fit`].
    pub(crate) fn topology(
        &mut self,
        configuration: &Configuration,
        needs: &Needs<'_>,
    ) -> Result<Arc<Imported>, Vec<Diagnostic>> {
        let make = || topologies::topology(configuration, needs);
        let imported = self.topologies.get(of_topology(configuration), make)?;
        // One that came from a file, or was made for another model, has not been checked.
        needs.fit(&imported.topology.graph.size()).map_err(|fault| {
            topologies::faults(configuration, keys::network::TOPOLOGY, None, fault.into())
        })?;
        Ok(imported)
    }

    /// The routes of that topology, with lanes for so many service levels.
    pub(crate) fn routes(
        &mut self,
        configuration: &Configuration,
        imported: &Imported,
        levels: u8,
    ) -> Result<Arc<Routed>, Vec<Diagnostic>> {
        let routing = configuration.value(keys::network::ROUTING);
        let tables = configuration.value(keys::network::TABLES);
        // Whether a routing beside tables is a mistake depends on where the two stand.
        let said = [keys::network::ROUTING.id(), keys::network::TABLES.id()]
            .map(|id| (configuration.is_said(id), configuration.is_said_of_run(id)));
        let topology = of_topology(configuration);
        let of = format!("{topology} {:?}", (routing, tables, said, levels));
        let make = || -> Result<Routed, Vec<Diagnostic>> {
            let (routes, warnings) = topologies::routes(configuration, imported, levels)?;
            Ok(Routed { routes: Arc::new(routes), warnings, circles: OnceLock::new() })
        };
        let routed = self.routes.get(of, make)?;
        if routed.routes.is_adaptive() && configuration.model() != scope::Model::Packet {
            let message = "an adaptive routing needs routers that choose among outputs";
            let help = "set network.model = \"packet\"".to_owned();
            let mistake = configuration.mistake(keys::network::ROUTING, message).help(help);
            return Err(vec![mistake]);
        }
        if routed.routes.bubble().is_some() && configuration.model() != scope::Model::Packet {
            let message = "bubble flow control needs routers that keep room in rings";
            let help = "set network.model = \"packet\"".to_owned();
            let mistake = configuration.mistake(keys::network::ROUTING, message).help(help);
            return Err(vec![mistake]);
        }
        Ok(routed)
    }
}

/// The settings that a topology is made of.
fn of_topology(configuration: &Configuration) -> String {
    let failures = configuration.value(keys::network::FAIL);
    let seed = configuration.value(keys::run::SEED).filter(|_| failures.is_some());
    format!("{:?}", (configuration.topology(), failures, seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Request, models::Model};

    fn plan(stock: &mut Stock, set: &[&str]) -> Plan {
        let all = ["workload.source=pattern:dissemination", "workload.ranks=8"];
        let set = all.iter().chain(set).map(|&text| text.to_owned()).collect();
        let configuration = Configuration::read(&Request { set, ..Request::default() });
        Plan::of(configuration.expect("no mistakes"), stock).expect("a plan")
    }

    /// Two preset links, a flow model and a wish for other lanes leave topology and routes alone;
    /// a link that fails does not.
    #[test]
    fn machines_share_topologies_and_routes() {
        let stock = &mut Stock::default();
        let tree = "network.topology=fat-tree:levels=2,radix=8";
        let switched = "network.model=infiniband";
        let one = plan(stock, &[tree, switched, "network.preset=infiniband-edr"]);
        let other = plan(stock, &[tree, switched, "network.preset=infiniband-fdr"]);
        plan(stock, &[tree, "network.model=flow"]);
        let topology = |plan: &Plan| {
            let switches = plan.machine.switches().expect("switches");
            std::ptr::from_ref(switches.topology())
        };
        assert_eq!(topology(&one), topology(&other));
        assert_eq!((stock.topologies.0.len(), stock.routes.0.len()), (1, 1));
        let links = |plan: &Plan| format!("{:?}", plan.machine);
        assert_ne!(links(&one), links(&other), "the links differ");
        plan(stock, &[tree, switched, "network.level=2"]);
        assert_eq!((stock.topologies.0.len(), stock.routes.0.len()), (1, 2));
        let failed = plan(stock, &[tree, switched, "network.fail=links=1"]);
        assert_ne!(topology(&one), topology(&failed));
        assert_eq!((stock.topologies.0.len(), stock.routes.0.len()), (2, 3));
    }
}
