//! What lies between the hosts, from the tables `[network]` and `[placement]`.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use infiniband::{Fabric, Infiniband};
use topology::{Failure, Fault, Faults, Imported, Routes, Routing, import};

use crate::{
    configuration::{Configuration, Request},
    diagnostic::{Diagnostic, Place, reason},
    keys::{self, KEYS},
    parameters,
    places::{self, Places},
    toml_file::{self, PLATFORM},
    value::Topology,
};

/// A network with switches, and where its ranks are.
#[derive(Debug)]
pub(crate) struct Machine {
    pub topology: topology::Topology,
    fabric: Arc<Fabric>,
    levels: Vec<u8>,
    places: Places,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

type Mistakes = Vec<Diagnostic>;

/// The machine; `None` if messages just take L.
pub(crate) fn resolve(configuration: &Configuration) -> Result<Option<Machine>, Mistakes> {
    match configuration.word("network.model") {
        "loggops" => return unused(configuration).map(|()| None),
        "flow" => return Ok(None),
        _ => {}
    }
    let mut mistakes = foreign(configuration);
    let imported = topology(configuration).map_err(|found| mistakes.extend(found)).ok();
    let parameters =
        parameters::resolve(configuration).map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let (Some(imported), Some(parameters), Some(mut places), true) =
        (imported, parameters, places, mistakes.is_empty())
    else {
        return Err(mistakes);
    };
    let graph = &imported.topology.graph;
    places.out = graph.hosts_out();
    let nowhere = places::mistakes(configuration, &graph.host_names(), &places.out);
    if !nowhere.is_empty() {
        return Err(nowhere);
    }
    let routes = routes(configuration, &imported)?;
    let warnings = deadlock(&imported, &routes);
    let topology = imported.topology;
    let fabric = Fabric::new(&topology.graph, routes, parameters).map_err(|wrong| {
        wrong.iter().map(|wrong| parameters::wrong(configuration, wrong)).collect::<Vec<_>>()
    })?;
    let (fabric, levels) = (Arc::new(fabric), levels(configuration).map_err(|found| vec![found])?);
    Ok(Some(Machine { topology, fabric, levels, places, warnings }))
}

impl Machine {
    /// The host of each rank.
    pub fn hosts(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.topology.graph.host_names())
    }

    /// How many hosts are in service.
    pub fn in_service(&self) -> u32 {
        self.topology.graph.hosts() - self.places.out.len() as u32
    }

    /// How many hosts have no rank, of so many ranks.
    pub fn spare(&self, ranks: u32) -> Result<u32, String> {
        self.places.spare(ranks, &self.topology.graph.host_names())
    }

    /// The network, and the host of each of `ranks` ranks. Service levels go in turn to the hosts
    /// that have ranks, in the order of their first ranks.
    pub fn with(&self, ranks: u32) -> Result<(Infiniband, Vec<u32>), String> {
        let hosts = self.hosts(ranks)?;
        let mut counts = vec![0; self.topology.graph.hosts() as usize];
        for &host in &hosts {
            counts[host as usize] += 1;
        }
        if let Some((host, count)) = (0..).zip(counts).find(|(_, count)| *count > ROOM) {
            return Err(format!(
                "error: {count} ranks on {}: a host has room for {ROOM}\n  help: choose a larger \
                 topology (network.topology), another placement, or fewer ranks",
                self.topology.graph.name(host)
            ));
        }
        let mut levels = vec![0; self.topology.graph.hosts() as usize];
        let mut seen = vec![false; levels.len()];
        let first = hosts.iter().map(|host| *host as usize);
        let first = first.filter(|host| !std::mem::replace(&mut seen[*host], true));
        first.zip(self.levels.iter().cycle()).for_each(|(host, level)| levels[host] = *level);
        Ok((Infiniband::new(Arc::clone(&self.fabric), 0).with_levels(levels), hosts))
    }
}

/// Most ranks of a host.
const ROOM: u32 = 256;

/// Settings of topologies and placement where there is no topology.
fn unused(configuration: &Configuration) -> Result<(), Mistakes> {
    let said = |table: &str| {
        let keys = KEYS.iter().map(|key| key.name);
        keys.filter(|name| name.starts_with(table) && configuration.is_said_of_run(name))
            .collect::<Vec<_>>()
    };
    let tables = ["network.", "placement.", "loggops.local."];
    let names = tables.into_iter().flat_map(said);
    let mistakes: Vec<_> = names
        .filter(|name| *name != "network.model")
        .map(|name| {
            let message = format!("`{name}` needs a network with switches");
            configuration
                .mistake(name, message)
                .help("set network.model = \"infiniband\"".to_owned())
        })
        .collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Settings that only the wire of LogGOPS has.
fn foreign(configuration: &Configuration) -> Mistakes {
    let said = ["loggops.L", "loggops.large.L"].into_iter();
    let mut mistakes: Vec<_> = said
        .filter(|name| configuration.is_said_of_run(name))
        .map(|name| {
            let message = format!("`{name}` belongs to the wire of LogGOPS");
            configuration
                .mistake(name, message)
                .help("the network's own delays are network.cable, latency-in and -out".to_owned())
        })
        .collect();
    if configuration.word("loggops.compat") == "loggopsim" {
        let message = "LogGOPSim's rules know no switches";
        mistakes.push(configuration.mistake("loggops.compat", message));
    }
    mistakes
}

/// Faults of a file, or of a text given by a key.
pub(crate) fn faults(
    configuration: &Configuration,
    key: &str,
    file: Option<&Path>,
    faults: Faults,
) -> Mistakes {
    let each = |fault: Fault| {
        let place = match (file, fault.line) {
            (Some(file), _) => Place::File(file.to_owned()),
            (None, _) => configuration.place(key),
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

/// What a machine or an experiment has between its hosts.
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
    /// What a file describes; `None` if it is neither a machine nor an experiment.
    pub fn read(path: &str, text: &str) -> Option<Result<Self, crate::Mistakes>> {
        let is_ours = Path::new(path).extension() == Some("toml".as_ref())
            && toml_file::tables(text)
                .iter()
                .any(|table| keys::is_table(table) || table == PLATFORM);
        is_ours.then(|| {
            let request = Request { subject: Some(path.to_owned()), ..Request::default() };
            let configuration = Configuration::read(&request)?;
            let imported = topology(&configuration).map_err(crate::Mistakes)?;
            let (routing, tables) =
                (configuration.name("network.routing"), configuration.path("network.tables"));
            Ok(Self { imported, routing, tables })
        })
    }
}

/// Whether a file is XML, as SimGrid's platforms are: by its name, or else by its first character.
pub(crate) fn is_xml(path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    named || path.is_file() && begins_as_xml(path).unwrap_or(false)
}

fn begins_as_xml(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(1 << 10).read_to_end(&mut start)?;
    let text = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&start);
    Ok(text.trim_ascii_start().starts_with(b"<"))
}

pub(crate) fn contents(path: &Path) -> Result<String, Mistakes> {
    let bytes = fs::read(path)
        .map_err(|error| vec![Diagnostic::new(Place::File(path.to_owned()), reason(&error))])?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn topology(configuration: &Configuration) -> Result<Imported, Mistakes> {
    const KEY: &str = "network.topology";
    let mut imported = match configuration.topology() {
        None => {
            let message = "a network with switches needs a topology";
            let help = "set network.topology, such as \"fat-tree:levels=2,radix=36\"".to_owned();
            return Err(vec![configuration.mistake("network.model", message).help(help)]);
        }
        Some(Topology::Spec(spec)) => topology::parse(&spec)
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
    let failures = configuration.name("network.fail").unwrap_or_default();
    let failures: Result<Vec<_>, Fault> = failures
        .split(',')
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(Failure::parse)
        .collect();
    let seed = configuration.count("run.seed").unwrap_or(1);
    failures
        .map_err(Faults::from)
        .and_then(|failures| imported.topology.fail(&failures, seed))
        .map_err(|found| faults(configuration, "network.fail", None, found))?;
    Ok(imported)
}

/// The service levels of the hosts' messages, in turn.
fn levels(configuration: &Configuration) -> Result<Vec<u8>, Diagnostic> {
    const KEY: &str = "network.levels";
    let one = configuration.count("network.level").unwrap_or(0) as u8;
    let Some(text) = configuration.name(KEY) else { return Ok(vec![one]) };
    if configuration.is_said("network.level") {
        let message = "there are `network.levels` too";
        return Err(configuration.mistake("network.level", message));
    }
    let level = |item: &str| {
        let level = item.trim().parse::<u8>().ok().filter(|level| *level <= 14);
        let message = || format!("expected service levels from 0 to 14, found `{item}`");
        level.ok_or_else(|| configuration.mistake(KEY, message()))
    };
    text.split(',').map(level).collect()
}

pub(crate) fn routes(
    configuration: &Configuration,
    imported: &Imported,
) -> Result<Routes, Mistakes> {
    const KEY: &str = "network.routing";
    let levels = levels(configuration).map_err(|found| vec![found])?;
    let levels = levels.into_iter().max().unwrap_or(0) + 1;
    if let Some(path) = configuration.path("network.tables") {
        // A machine's routing may be replaced by tables for a run, but not the other way round.
        let of_machine = !configuration.is_said_of_run(KEY);
        if configuration.is_said(KEY)
            && !(of_machine && configuration.is_said_of_run("network.tables"))
        {
            let message = "with forwarding tables no routes are computed";
            let help = "leave out network.routing or network.tables".to_owned();
            return Err(vec![configuration.mistake(KEY, message).help(help)]);
        }
        let text = contents(&path)?;
        let lfts = text.lines().any(|line| line.trim_start().starts_with("Unicast lids"));
        let read = if lfts { import::lft_dump } else { import::fdb_vectors };
        let routes = read(&text, imported)
            .map_err(|found| faults(configuration, "network.tables", Some(&path), found))?;
        return Ok(routes.with_levels(levels));
    }
    let routing = configuration.name(KEY).map(|name| name.parse::<Routing>()).transpose();
    routing
        .and_then(|routing| Routes::build(&imported.topology, routing))
        .map(|routes| routes.with_levels(levels))
        .map_err(|fault| faults(configuration, KEY, None, fault.into()))
}

/// Whether packets can wait for each other in a circle.
fn deadlock(imported: &Imported, routes: &Routes) -> Vec<String> {
    let cycle = topology::route::analyse(&imported.topology.graph, routes).cycle;
    let warn = |cycle: Vec<_>| {
        format!(
            "packets can wait for each other in a circle of {} channels; heddle topology shows it",
            cycle.len()
        )
    };
    cycle.map(warn).into_iter().collect()
}
