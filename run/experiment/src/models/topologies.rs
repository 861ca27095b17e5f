//! The topology of a network and its routes, from the table `[network]`, for every model that has
//! hosts and switches.

use std::path::{Path, PathBuf};

use ::topology::{Failure, Fault, Faults, Imported, Routes, Routing, import};

use super::{
    stock::Stock,
    wiring::{self, Needs},
};
use crate::settings::{
    configuration::{Configuration, Request},
    diagnostic::{self, Diagnostic, Place},
    keys::{self, Id, Setting},
    scope,
    toml_file::{self, PLATFORM},
    value::Topology,
};

type Mistakes = Vec<Diagnostic>;

/// The topology and routing that a machine or an experiment describes.
#[derive(Debug)]
pub struct Described {
    /// The topology, without what has failed.
    pub imported: Imported,
    /// The routing that it names.
    pub routing: Option<String>,
    /// The file of forwarding tables that it names.
    pub tables: Option<PathBuf>,
}

impl Described {
    /// Reads the description from a file; `None` if the file is neither a machine nor an
    /// experiment.
    pub fn read(path: &str, text: &str) -> Option<Result<Self, diagnostic::Mistakes>> {
        let is_ours = Path::new(path).extension() == Some("toml".as_ref())
            && toml_file::tables(text)
                .iter()
                .any(|table| keys::is_table(table) || table == PLATFORM);
        is_ours.then(|| {
            let request = Request { subject: Some(path.to_owned()), ..Request::default() };
            let configuration = Configuration::read(&request)?;
            let imported =
                topology(&configuration, &Needs::NOTHING).map_err(diagnostic::Mistakes)?;
            let (routing, tables) = (
                configuration.value(keys::network::ROUTING),
                configuration.value(keys::network::TABLES),
            );
            Ok(Self { imported, routing, tables })
        })
    }
}

pub(super) fn contents(path: &Path) -> Result<String, Mistakes> {
    units::text::read_lossy(path).map_err(|error| vec![Diagnostic::unread(path, &error)])
}

/// Reads or wires the topology that the settings describe, without what is to fail. One that is
/// written as a line is not wired if it and these needs exceed the memory of this machine.
pub(super) fn topology(
    configuration: &Configuration,
    needs: &Needs<'_>,
) -> Result<Imported, Mistakes> {
    const KEY: Setting<Topology> = keys::network::TOPOLOGY;
    let mut imported = match configuration.topology() {
        None => {
            let message = "a network with switches needs a topology";
            let help = "set network.topology, such as \"fat-tree:levels=2,radix=36\"".to_owned();
            return Err(vec![configuration.mistake(keys::network::MODEL, message).help(help)]);
        }
        Some(Topology::Spec(spec)) => wiring::wire_for(&spec, needs)
            .map(Imported::from)
            .map_err(|found| faults(configuration, KEY, None, found))?,
        Some(Topology::File(path)) => {
            let text = contents(&path)?;
            let imported = if toml_file::has(&text, PLATFORM) {
                platform::Platform::graph_of_toml(&text)
            } else {
                import::any(&text)
            };
            imported.map_err(|found| faults(configuration, KEY, Some(&path), found))?
        }
    };
    let seed = configuration.value(keys::run::SEED).unwrap_or(1);
    failures(configuration)
        .map_err(Faults::from)
        .and_then(|failures| imported.topology.fail(&failures, seed))
        .map_err(|found| faults(configuration, keys::network::FAIL, None, found))?;
    Ok(imported)
}

/// Reads what is to fail.
fn failures(configuration: &Configuration) -> Result<Vec<Failure>, Fault> {
    let failures = configuration.value(keys::network::FAIL).unwrap_or_default();
    let each = failures.split(',').map(str::trim).filter(|text| !text.is_empty());
    each.map(Failure::parse).collect()
}

/// Remarks on what is out of service in each network of which something is to fail: what that is,
/// and shares of which rounding leaves nothing.
pub(crate) fn out_of_service(configuration: &Configuration, stock: &mut Stock) -> Vec<String> {
    if configuration.model() == scope::Model::Rails {
        let rails = configuration.by_rail().unwrap_or_default();
        let of_rail = |(name, alone): &(String, Configuration)| {
            let remarks = out_of_service(alone, stock).into_iter();
            remarks.map(|remark| format!("rail {name}: {remark}")).collect::<Vec<_>>()
        };
        return rails.iter().flat_map(of_rail).collect();
    }
    let key = keys::network::FAIL;
    let is_used = key.id().key().scope.has_model(configuration.model());
    if configuration.value(key).is_none() || !is_used || configuration.topology().is_none() {
        return Vec::new();
    }
    let (Ok(imported), Ok(failures)) =
        (stock.topology(configuration, &Needs::NOTHING), failures(configuration))
    else {
        return Vec::new();
    };
    let topology = &imported.topology;
    let mut remarks = topology.rounded_away(&failures);
    let out = topology.out_of_service();
    if remarks.is_empty() || out.all_links > 0 {
        remarks.insert(0, format!("out of service: {}", out.describe(&topology.graph)));
    }
    remarks
}

pub(super) fn routes(
    configuration: &Configuration,
    imported: &Imported,
    levels: u8,
) -> Result<(Routes, Vec<String>), Mistakes> {
    const KEY: Setting<String> = keys::network::ROUTING;
    let mut warnings = match configuration.topology() {
        Some(Topology::File(path)) => said(&path, &imported.warnings),
        _ => Vec::new(),
    };
    if let Some(path) = configuration.value(keys::network::TABLES) {
        // A machine's routing may be replaced by tables for a run, but not the other way round.
        let of_machine = !configuration.is_said_of_run(KEY);
        if configuration.is_said(KEY)
            && !(of_machine && configuration.is_said_of_run(keys::network::TABLES))
        {
            let message = "with forwarding tables no routes are computed";
            let help = "leave out network.routing or network.tables".to_owned();
            return Err(vec![configuration.mistake(KEY, message).help(help)]);
        }
        let text = contents(&path)?;
        let lfts = text.lines().any(|line| line.trim_start().starts_with("Unicast lids"));
        let read = if lfts { import::lft_dump } else { import::fdb_vectors };
        let tables = read(&text, imported)
            .map_err(|found| faults(configuration, keys::network::TABLES, Some(&path), found))?;
        warnings.extend(said(&path, &tables.warnings));
        return Ok((tables.routes.with_levels(levels), warnings));
    }
    let routing = configuration.value(KEY).map(|name| name.parse::<Routing>()).transpose();
    routing
        .and_then(|routing| Routes::build(&imported.topology, routing))
        .map(|routes| (routes.with_levels(levels), warnings))
        .map_err(|fault| faults(configuration, KEY, None, fault.into()))
}

/// Returns the warnings of a file's reader as lines without the word `warning`.
fn said(file: &Path, warnings: &Faults) -> Vec<String> {
    let text = warnings.render_warnings(&file.display().to_string());
    text.lines().map(|line| line.trim_start_matches("warning: ").to_owned()).collect()
}

/// Faults of a file, or of a text given by a key.
pub(super) fn faults(
    configuration: &Configuration,
    key: impl Into<Id> + Copy,
    file: Option<&Path>,
    faults: Faults,
) -> Mistakes {
    let each = |fault: Fault| {
        let place = match (file, fault.line) {
            (Some(file), _) => Place::File(file.to_owned()),
            // Routes that nobody chose fail over what was said of the network.
            (None, _) => [key.into(), keys::network::FAIL.id(), keys::network::TOPOLOGY.id()]
                .map(|id| configuration.place(id))
                .into_iter()
                .find(|place| *place != Place::Nowhere)
                .unwrap_or(Place::Nowhere),
        };
        let at = match (fault.line, fault.column) {
            (0, _) => String::new(),
            (line, 0) => format!("line {line}: "),
            (line, column) => format!("line {line}, column {column}: "),
        };
        Diagnostic::new(place, format!("{at}{}", fault.message)).help(fault.help)
    };
    faults.0.into_iter().map(each).collect()
}
