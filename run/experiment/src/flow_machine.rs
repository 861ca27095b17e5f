//! A platform for the model `flow`, from the tables `[network]`, `[flow]`, `[host]` and
//! `[placement]`.

use std::{collections::BTreeMap, path::PathBuf};

use ::flow::{Contention, Factors, Link, Load, Loads, Network, Routes, Sharing};
use host::{Outcome, Piece, Pieces, Protocols, Record, Settings, simulate_flow};
use kernel::Probe;
use platform::{Platform, Rates};
use results::LinkLoad;
use units::{Bandwidth, Bytes, Time, TimePerByte};

use crate::{
    configuration::Configuration,
    diagnostic::{Diagnostic, Place},
    machine, parameters,
    places::{self, Places},
    run::Failure,
    simgrid_items::{Items, quantity},
};

/// A platform, and what its messages and hosts cost.
#[derive(Debug)]
pub(crate) struct FlowMachine {
    platform: Platform,
    /// Where it is described, if by a file of its own.
    file: Option<PathBuf>,
    pub items: Items,
    protocols: Protocols,
    places: Places,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

/// What a link had to carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Its name.
    pub link: String,
    /// Bytes, with what the model's factors add to them.
    pub bytes: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

type Mistakes = Vec<Diagnostic>;

/// Routes of a platform as flows need them.
struct Ways<'a>(&'a FlowMachine);

impl Routes for Ways<'_> {
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String> {
        let Self(FlowMachine { platform, file, .. }) = self;
        platform.route(from, to, links).map_err(|error| match (file, error.place) {
            (Some(file), (line @ 1.., column)) => {
                format!("{}: line {line}, column {column}: {error}", file.display())
            }
            _ => error.to_string(),
        })
    }
}

/// The machine; `None` if the model is another one.
pub(crate) fn resolve(configuration: &Configuration) -> Result<Option<FlowMachine>, Mistakes> {
    if configuration.word("network.model") != "flow" {
        return unused(configuration).map(|()| None);
    }
    let mut mistakes = foreign(configuration);
    mistakes.extend(speeds_of_nothing(configuration));
    let found = platform(configuration).map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let (Some((mut platform, out)), Some(mut places)) = (found, places) else {
        return Err(mistakes);
    };
    let names: Vec<_> = platform.hosts.iter().map(|host| host.name.as_str()).collect();
    mistakes.extend(places::mistakes(configuration, &names, &out));
    places.out = out;
    let mut items = Items::default();
    mistakes.extend(of_platform(configuration, &platform, &mut items));
    let protocols = of_hosts(configuration, &platform, &items, &mut mistakes);
    mistakes.extend(keys(configuration, &mut items));
    let in_order = configuration.switch("flow.in-order");
    let mut protocols = Protocols { usual: items.protocol.clone(), others: protocols, in_order };
    mistakes.extend(said_items(configuration, &mut items));
    for protocol in protocols.others.values_mut() {
        protocol.eager_below = items.protocol.eager_below;
        protocol.detached_below = items.protocol.detached_below;
    }
    protocols.usual = items.protocol.clone();
    variant(configuration, &mut items, &mut protocols);
    if items.protocol.eager_below > items.protocol.detached_below {
        let message = "eager messages must be detached: eager-below is larger than detached-below";
        let help = "these are smpi/async-small-thresh and smpi/send-is-detached-thresh of SimGrid";
        mistakes.push(configuration.mistake("flow.eager-below", message).help(help.to_owned()));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let (bandwidth, latency) = items.loopback;
    if let Some(link) = platform.links().last() {
        let figures = (bandwidth.unwrap_or(link.bandwidth), latency.unwrap_or(link.latency));
        platform.set_loopback(figures.0, figures.1);
    }
    let wtime = (items.calls.wtime > Time::ZERO)
        .then(|| "smpi/wtime has no effect: traces do not tell of MPI_Wtime".to_owned());
    let warnings =
        platform.remarks.iter().map(|remark| remark.message.clone()).chain(wtime).collect();
    let file = configuration.platform();
    Ok(Some(FlowMachine { platform, file, items, protocols, places, warnings }))
}

impl FlowMachine {
    /// The host of each rank.
    pub fn hosts(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.host_names())
    }

    /// How many hosts have no rank, of so many ranks.
    pub fn spare(&self, ranks: u32) -> Result<u32, String> {
        self.places.spare(ranks, &self.host_names())
    }

    /// The names of all hosts.
    pub fn host_names(&self) -> Vec<&str> {
        self.platform.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// Loads by link, for timelines.
    pub fn loads(&self, loads: &Loads) -> Vec<LinkLoad> {
        let mut links: BTreeMap<u32, Vec<(Time, u64)>> = BTreeMap::new();
        for Load { at, link, rate } in &loads.0 {
            #[expect(clippy::cast_sign_loss, reason = "rates are not negative")]
            let rate = rate.round() as u64;
            let loads = links.entry(*link).or_default();
            // Of several at one instant the last holds.
            loads.pop_if(|(before, _)| before == at);
            loads.push((*at, rate));
        }
        let named = |(link, loads): (u32, Vec<_>)| {
            let link = self.platform.links().get(link as usize)?;
            #[expect(clippy::cast_sign_loss, reason = "bandwidths are not negative")]
            let bandwidth = link.bandwidth.round() as u64;
            Some(LinkLoad { name: link.name.clone(), bandwidth, loads })
        };
        links.into_iter().filter_map(named).collect()
    }

    /// By rank, by how much longer computation takes here than on a machine of this speed, in
    /// operations per second.
    pub fn scale(&self, ranks: u32, speed: f64) -> Result<BTreeMap<u32, f64>, String> {
        let hosts = self.hosts(ranks)?;
        let speed_of = |host: u32| self.platform.hosts.get(host as usize).map(|host| host.speed);
        let factor = |host| speed_of(host).filter(|own| *own > 0.0).map_or(1.0, |own| speed / own);
        Ok((0..).zip(hosts).map(|(rank, host)| (rank, factor(host))).collect())
    }

    /// Simulates a program; also gives the bytes that each link had to carry. `watch` hears of
    /// loads over time.
    pub fn simulate<P: host::Work, W: Probe<Load>, B: Probe<Record>>(
        &self,
        program: &P,
        settings: &Settings,
        watch: W,
        probe: B,
    ) -> Result<(Outcome, B, Vec<Carried>, W), Failure> {
        let hosts = self.hosts(program.ranks()).map_err(Failure::Input)?;
        let mut counts = vec![0; self.platform.hosts.len()];
        for host in &hosts {
            counts[*host as usize] += 1;
        }
        let crowded = |(host, count): (&platform::Host, u32)| {
            (count.saturating_mul(program.cpus().max(1)) > host.cores).then_some(host.cores)
        };
        let cores: Vec<_> = self.platform.hosts.iter().zip(counts).map(crowded).collect();
        let sharing = |link: &platform::Link| match link.sharing {
            platform::Sharing::Shared => Sharing::Shared,
            platform::Sharing::FatPipe => Sharing::FatPipe,
        };
        let link =
            |link: &platform::Link| Link { bandwidth: link.bandwidth, sharing: sharing(link) };
        let links: Vec<_> = self.platform.links().iter().map(link).collect();
        let parameters = self.items.parameters.clone();
        let mut network = Network::new(Ways(self), &links, &cores, parameters, watch);
        let (outcome, probe) =
            simulate_flow(&mut network, &hosts, &self.protocols, program, settings, probe)?;
        let carried = |(number, link): (u32, &platform::Link)| {
            let bytes = network.carried(number);
            let (name, bandwidth) = (link.name.clone(), link.bandwidth);
            (bytes > 0.0).then_some(Carried { link: name, bytes, bandwidth })
        };
        let carried = (0..).zip(self.platform.links()).filter_map(carried).collect();
        Ok((outcome, probe, carried, network.into_probe()))
    }
}

/// Settings of the model where it is not used.
fn unused(configuration: &Configuration) -> Result<(), Mistakes> {
    let names = crate::keys::KEYS.iter().map(|key| key.name);
    let names = names.filter(|name| name.starts_with("flow.") || name.starts_with("host."));
    let mistake = |name: &str| {
        let message = format!("`{name}` belongs to the model flow");
        configuration.mistake(name, message).help("set network.model = \"flow\"".to_owned())
    };
    let said = names.filter(|name| configuration.is_said_of_run(name));
    let mistakes: Vec<_> = said.map(mistake).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Speeds of hosts, which a platform states itself.
const SPEEDS: [&str; 2] = ["host.speed", "traces.speed"];

/// Settings that have no meaning for flows.
fn foreign(configuration: &Configuration) -> Mistakes {
    let tables = ["loggops.", "protocol.", "noise.", "network.arbiter.", "network.congestion."];
    let packets = [
        "network.buffer",
        "network.host-buffer",
        "network.output-buffer",
        "network.max-being-sent",
        "network.mtu",
        "network.header",
        "network.generator",
        "network.sink",
        "network.pause",
        "network.pause-period",
        "network.pause-phase",
        "network.pause-resume",
        "network.pause-spread",
        "network.crossbar",
        "network.choice",
        "network.update",
        "network.padded",
        "network.acknowledge",
        "network.level",
        "network.levels",
        "network.credit-delay",
    ];
    // A platform says all of this itself.
    let of_platform = [
        "network.routing",
        "network.tables",
        "network.fail",
        "network.preset",
        "network.link",
        "network.cable",
        "network.latency-in",
        "network.latency-out",
        SPEEDS[0],
        SPEEDS[1],
    ];
    let platform = configuration.platform().is_some();
    let names = crate::keys::KEYS.iter().map(|key| key.name);
    let names = names.filter(|name| {
        packets.contains(name)
            || platform && of_platform.contains(name)
            || tables.iter().any(|table| name.starts_with(table))
    });
    let help = "hosts cost what [flow] says, and links what the platform says";
    names
        .filter(|name| configuration.is_said_of_run(name))
        .map(|name| {
            if SPEEDS.contains(&name) {
                let message = format!("`{name}`: the platform states the speed of its hosts");
                return configuration.mistake(name, message);
            }
            let message = format!("`{name}` means nothing to the model flow");
            configuration.mistake(name, message).help(help.to_owned())
        })
        .collect()
}

/// Speeds where no traces are scaled: the computation of any other workload is a time.
fn speeds_of_nothing(configuration: &Configuration) -> Mistakes {
    let said = ["host.speed", "host.recorded-speed"].into_iter();
    let said = said.filter(|name| !configuration.is_traces() && configuration.is_said_of_run(name));
    said.map(|name| {
        let message = format!("`{name}` is not used by this workload");
        let help = "only the computation of traces is scaled to the speed of hosts".to_owned();
        configuration.mistake(name, message).help(help)
    })
    .collect()
}

/// The platform, of a file, or a topology of ours with its forwarding tables; and the hosts that
/// are out of service.
fn platform(configuration: &Configuration) -> Result<(Platform, Vec<u32>), Mistakes> {
    const KEY: &str = "network.topology";
    if let Some(path) = configuration.platform() {
        let text = machine::contents(&path)?;
        let read =
            if machine::is_xml(&path) { Platform::read(&text) } else { Platform::read_toml(&text) };
        let read = read.map(|platform| (platform, Vec::new()));
        return read.map_err(|faults| machine::faults(configuration, KEY, Some(&path), faults));
    }
    let imported = machine::topology(configuration)?;
    let routes = machine::routes(configuration, &imported)?;
    let set = parameters::resolve(configuration)?;
    let seconds = |time: Time| time.ps() as f64 * 1e-12;
    let rates = Rates {
        bandwidth: set.link.bandwidth().bits_per_second() as f64 / 8.0,
        cable: seconds(set.cable),
        switch: seconds(set.latency_in) + seconds(set.latency_out),
        // What traces of operations count by is the speed of the hosts, if nothing else is said.
        speed: speed(configuration, "host.speed")?
            .or_else(|| Some(configuration.count("traces.speed")? as f64))
            .unwrap_or(1e9),
    };
    let topology = &imported.topology;
    Ok((Platform::from_topology(topology, &routes, rates), topology.graph.hosts_out()))
}

/// A speed in operations per second.
fn speed(configuration: &Configuration, key: &str) -> Result<Option<f64>, Mistakes> {
    let Some(text) = configuration.name(key) else { return Ok(None) };
    let text = text.replace(' ', "");
    let known = text.ends_with("flop/s") || text.ends_with("flops") || text.ends_with('f');
    let found = quantity(&text).ok().filter(|speed| known && *speed > 0.0);
    let message = || format!("expected a speed such as `10 Gflop/s`, found `{text}`");
    found.map(Some).ok_or_else(|| vec![configuration.mistake(key, message())])
}

/// Configuration items in the platform's file.
fn of_platform(configuration: &Configuration, platform: &Platform, items: &mut Items) -> Mistakes {
    let inside = platform.properties.iter().filter(|property| property.zone.is_none());
    inside
        .filter_map(|property| {
            let (line, column) = property.place;
            let item = format!("{}:{}", property.name, property.value);
            let (message, help) = items.apply(&item).err()?;
            let place = match configuration.platform() {
                Some(file) => Place::File(file),
                None => configuration.place("network.topology"),
            };
            let message = format!("line {line}, column {column}: {message}");
            Some(Diagnostic::new(place, message).help(Some(help).filter(|help| !help.is_empty())))
        })
        .collect()
}

/// Overheads that hosts have of their own, by their properties.
fn of_hosts(
    configuration: &Configuration,
    platform: &Platform,
    items: &Items,
    mistakes: &mut Mistakes,
) -> BTreeMap<u32, host::Protocol> {
    let names = ["smpi/os", "smpi/ois", "smpi/or"];
    let mut others = BTreeMap::new();
    for (number, host) in (0..).zip(&platform.hosts) {
        let mut own = items.clone();
        let said = host.properties.iter().filter(|(name, _)| names.contains(&name.as_str()));
        let mut any = false;
        for (name, value) in said {
            any = true;
            if let Err((message, _)) = own.apply(&format!("{name}:{value}")) {
                let message = format!("host {}: {message}", host.name);
                mistakes.push(configuration.mistake("network.topology", message));
            }
        }
        if any {
            others.insert(number, own.protocol);
        }
    }
    others
}

/// `SIZE:…` between semicolons, each with the rest of its words.
fn by_size<T>(text: &str, rest: impl Fn(&[&str]) -> Option<T>) -> Result<Vec<(u64, T)>, String> {
    let part = |part: &str| {
        let words: Vec<_> = part.split(':').map(str::trim).collect();
        let (size, words) = words.split_first()?;
        Some((size.parse::<Bytes>().ok()?.get(), rest(words)?))
    };
    text.split(';').map(|text| part(text).ok_or_else(|| text.trim().to_owned())).collect()
}

/// What `[flow]` says.
// Long because it lists the keys.
fn keys(configuration: &Configuration, items: &mut Items) -> Mistakes {
    let mut mistakes = Vec::new();
    let mut listed =
        |key: &str, example: &str, read: &mut dyn FnMut(&str) -> Result<(), String>| {
            let Some(text) = configuration.name(key) else { return };
            if let Err(part) = read(&text) {
                let message = format!("expected {example} between semicolons, found `{part}`");
                mistakes.push(configuration.mistake(key, message));
            }
        };
    let piece = |words: &[&str]| match words {
        [base] => Some((base.parse().ok()?, TimePerByte::ZERO)),
        [base, rate] => Some((base.parse::<Time>().ok()?, rate.parse().ok()?)),
        _ => None,
    };
    let pieces = |text: &str| {
        let made = |(above, (base, rate)): (u64, (Time, TimePerByte))| {
            let (ps, bytes) = rate.parts();
            let per_byte = ps as f64 * 1e-12 / bytes.max(1) as f64;
            Piece { above, base: base.ps() as f64 * 1e-12, per_byte }
        };
        by_size(text, piece).map(|parts| Pieces::new(parts.into_iter().map(made).collect()))
    };
    let factor = |words: &[&str]| match words {
        [factor] => factor.parse().ok().filter(|factor: &f64| *factor > 0.0 && factor.is_finite()),
        _ => None,
    };
    let factors = |text: &str| by_size(text, factor).map(Factors::new);
    let (protocol, parameters) = (&mut items.protocol, &mut items.parameters);
    let example = "SIZE:TIME or SIZE:TIME:RATE";
    listed("flow.os", example, &mut |text| pieces(text).map(|found| protocol.send = found));
    listed("flow.ois", example, &mut |text| pieces(text).map(|found| protocol.isend = found));
    listed("flow.or", example, &mut |text| pieces(text).map(|found| protocol.receive = found));
    listed("flow.bandwidth-factors", "SIZE:FACTOR", &mut |text| {
        factors(text).map(|found| parameters.bandwidth_factors = found)
    });
    listed("flow.latency-factors", "SIZE:FACTOR", &mut |text| {
        factors(text).map(|found| parameters.latency_factors = found)
    });
    let bytes = |key: &str| {
        configuration.is_said(key).then(|| configuration.bytes(key)).flatten().map(Bytes::get)
    };
    protocol.eager_below = bytes("flow.eager-below").unwrap_or(protocol.eager_below);
    protocol.detached_below = bytes("flow.detached-below").unwrap_or(protocol.detached_below);
    parameters.weight = bytes("flow.weight").map_or(parameters.weight, |bytes| bytes as f64);
    parameters.window = bytes("flow.window").map_or(parameters.window, |bytes| bytes as f64);
    if configuration.is_said("flow.cross-traffic") {
        parameters.cross_traffic = configuration.switch("flow.cross-traffic");
    }
    let time = |key: &str, place: &mut Time| {
        if configuration.is_said(key) {
            *place = configuration.time(key).unwrap_or(*place);
        }
    };
    time("flow.test", &mut items.calls.test);
    time("flow.iprobe", &mut items.calls.iprobe);
    time("flow.init", &mut items.calls.init);
    mistakes.extend(loopback(configuration, items));
    match speed(configuration, "host.recorded-speed") {
        Ok(speed) => items.speed = speed.or(items.speed),
        Err(found) => mistakes.extend(found),
    }
    mistakes
}

/// What messages of a host to itself have.
fn loopback(configuration: &Configuration, items: &mut Items) -> Option<Diagnostic> {
    const KEY: &str = "flow.loopback-bandwidth";
    if let Some(latency) = configuration.time("flow.loopback-latency") {
        items.loopback.1 = Some(latency.ps() as f64 * 1e-12);
    }
    let text = configuration.name(KEY)?;
    if let Ok(bits @ 1..) = text.parse::<Bandwidth>().map(Bandwidth::bits_per_second) {
        items.loopback.0 = Some(bits as f64 / 8.0);
        return None;
    }
    let message = format!("expected a bandwidth such as `10 GB/s`, found `{text}`");
    Some(configuration.mistake(KEY, message))
}

/// The items of `flow.cfg`.
fn said_items(configuration: &Configuration, items: &mut Items) -> Mistakes {
    const KEY: &str = "flow.cfg";
    let text = configuration.name(KEY).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|item| {
            let (message, help) = items.apply(item).err()?;
            let help = Some(help).filter(|help| !help.is_empty());
            Some(configuration.mistake(KEY, message).help(help))
        })
        .collect()
}

/// What the simpler models leave out.
fn variant(configuration: &Configuration, items: &mut Items, protocols: &mut Protocols) {
    match configuration.word("flow.variant") {
        "fluid" => {
            items.parameters.bandwidth_factors = Factors::default();
            items.parameters.latency_factors = Factors::default();
            let all = protocols.others.values_mut().chain([&mut protocols.usual]);
            for protocol in all {
                protocol.send = Pieces::default();
                protocol.isend = Pieces::default();
                protocol.receive = Pieces::default();
            }
        }
        "loggps" => items.parameters.contention = Contention::None,
        _ => {}
    }
}
