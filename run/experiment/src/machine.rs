//! What lies between the hosts, from the tables `[network]` and `[placement]`.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use infiniband::{Control, Fabric, Infiniband, Parameters, preset};
use topology::{Failure, Fault, Faults, Imported, Routes, Routing, import};
use units::Time;

use crate::{
    configuration::{Configuration, Request},
    diagnostic::{Diagnostic, Place, reason},
    keys::{self, KEYS},
    places::{self, Places},
    toml_file::{self, PLATFORM},
    value::Topology,
};

/// A network with switches, and where its ranks are.
#[derive(Debug)]
pub(crate) struct Machine {
    pub topology: topology::Topology,
    fabric: Arc<Fabric>,
    level: u8,
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
    let parameters = parameters(configuration).map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let (Some(imported), Some(parameters), Some(places), true) =
        (imported, parameters, places, mistakes.is_empty())
    else {
        return Err(mistakes);
    };
    let routes = routes(configuration, &imported)?;
    let warnings = deadlock(&imported, &routes);
    let topology = imported.topology;
    let fabric = Fabric::new(&topology.graph, routes, parameters).map_err(|wrong| {
        let mistake =
            |wrong: infiniband::Invalid| configuration.mistake("network.preset", wrong.to_string());
        wrong.into_iter().map(mistake).collect::<Vec<_>>()
    })?;
    let (fabric, level) =
        (Arc::new(fabric), configuration.count("network.level").unwrap_or(0) as u8);
    Ok(Some(Machine { topology, fabric, level, places, warnings }))
}

impl Machine {
    /// The host of each rank.
    pub fn hosts(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.topology.graph.host_names())
    }

    /// How many hosts have no rank, of so many ranks.
    pub fn spare(&self, ranks: u32) -> Result<u32, String> {
        self.places.spare(ranks, &self.topology.graph.host_names())
    }

    /// The network with `ranks` ranks on its hosts, and the number there of each rank's host. Hosts without
    /// ranks take no part.
    pub fn with(&self, ranks: u32) -> Result<(Infiniband, Vec<u32>), String> {
        let mut hosts = self.hosts(ranks)?;
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
        let used = number(&mut hosts, self.topology.graph.hosts());
        Infiniband::new(Arc::clone(&self.fabric), used, self.level)
            .map(|network| (network, hosts))
            .map_err(|error| format!("error: placement: {error}"))
    }
}

/// Most ranks of a host.
const ROOM: u32 = 256;

/// Numbers the hosts that are used, of `count`, in the order of their first ranks; answers which they are.
fn number(hosts: &mut [u32], count: u32) -> Vec<u32> {
    let mut numbers = vec![None; count as usize];
    let mut used = Vec::new();
    for host in hosts {
        let number = numbers[*host as usize].get_or_insert_with(|| {
            used.push(*host);
            used.len() as u32 - 1
        });
        *host = *number;
    }
    used
}

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

pub(crate) fn routes(
    configuration: &Configuration,
    imported: &Imported,
) -> Result<Routes, Mistakes> {
    const KEY: &str = "network.routing";
    let levels = configuration.count("network.level").unwrap_or(0) as u8 + 1;
    if let Some(path) = configuration.path("network.tables") {
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

pub(crate) fn parameters(configuration: &Configuration) -> Result<Parameters, Mistakes> {
    let name = configuration.word("network.preset");
    let Some(mut set) = preset(name) else {
        let message = format!("the preset {name} cannot be read");
        return Err(vec![configuration.mistake("network.preset", message)]);
    };
    set.seed = configuration.count("run.seed").unwrap_or(1);
    if let Some(link) = configuration.name("network.link") {
        set.link = link
            .parse()
            .map_err(|fault: Fault| faults(configuration, "network.link", None, fault.into()))?;
        // Hosts keep up with their link unless something else is said.
        set.generator = Fabric::flit_time(set.link);
        set.sink = set.generator;
    }
    let time = |key: &str, place: &mut Time| {
        if let Some(time) = configuration.time(&format!("network.{key}")) {
            *place = time;
        }
    };
    time("cable", &mut set.cable);
    time("latency-in", &mut set.latency_in);
    time("latency-out", &mut set.latency_out);
    time("credit-delay", &mut set.credit_delay);
    time("update", &mut set.update);
    time("generator", &mut set.generator);
    time("sink", &mut set.sink);
    let ps = |key: &str, place: &mut u64| {
        if let Some(time) = configuration.time(&format!("network.{key}")) {
            *place = time.ps();
        }
    };
    ps("pause-period", &mut set.hiccups.period);
    ps("pause", &mut set.hiccups.pause);
    ps("pause-phase", &mut set.hiccups.phase);
    ps("pause-resume", &mut set.hiccups.resume);
    if set.hiccups.pause == 0 {
        set.hiccups = infiniband::Hiccups::NONE;
    }
    let number = |key: &str| configuration.count(&format!("network.{key}"));
    set.buffer = number("buffer").map_or(set.buffer, |flits| flits as u32);
    set.host_buffer = number("host-buffer").map_or(set.host_buffer, |flits| flits as u32);
    set.output_buffer = number("output-buffer").map_or(set.output_buffer, |flits| flits as u32);
    set.max_being_sent = number("max-being-sent").map_or(set.max_being_sent, |n| n as u16);
    let bytes = |key: &str, place: u32| {
        let bytes = configuration.bytes(&format!("network.{key}"));
        bytes.map_or(place, |bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX))
    };
    set.mtu = bytes("mtu", set.mtu);
    set.header = bytes("header", set.header);
    if configuration.is_said("network.padded") {
        set.padded = configuration.switch("network.padded");
    }
    if configuration.is_said("network.acknowledge") {
        set.acknowledge = configuration.switch("network.acknowledge");
    }
    set.congestion = congestion(configuration, set.congestion.take())?;
    Ok(set)
}

fn congestion(
    configuration: &Configuration,
    preset: Option<Control>,
) -> Result<Option<Control>, Mistakes> {
    let keys = ["threshold", "marking-rate", "increase", "limit", "timer"];
    let word = configuration.word("network.congestion.control");
    let control = match word {
        "off" => None,
        "on" => preset.or_else(|| {
            infiniband::preset("infiniband-ddr-simula-cc").and_then(|set| set.congestion)
        }),
        _ => preset,
    };
    let Some(mut control) = control else {
        let said = keys.map(|key| format!("network.congestion.{key}"));
        let useless = said.iter().filter(|key| configuration.is_said(key));
        let mistakes: Vec<_> = useless
            .map(|key| {
                configuration
                    .mistake(key, format!("`{key}` needs congestion control"))
                    .help("set network.congestion.control = \"on\"".to_owned())
            })
            .collect();
        return if mistakes.is_empty() { Ok(None) } else { Err(mistakes) };
    };
    let number = |key: &str, otherwise: u16| {
        let number = configuration.count(&format!("network.congestion.{key}"));
        number.map_or(otherwise, |number| number as u16)
    };
    control.threshold = number("threshold", control.threshold.into()) as u8;
    control.marking_rate = number("marking-rate", control.marking_rate);
    control.increase = number("increase", control.increase);
    control.limit = number("limit", control.limit);
    if let Some(timer) = configuration.time("network.congestion.timer") {
        control.timer = timer;
    }
    Ok(Some(control))
}
