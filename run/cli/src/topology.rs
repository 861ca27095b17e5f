//! `heddle topology`.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use ::topology::{
    Bisection, Failure, Fault, Faults, Graph, Header, Imported, Metrics, Routes, Routing, import,
    import::Tables,
    route::{Analysis, Sample, analyse},
};
use experiment::Described;
use serde_json::{Value, json};

use crate::{
    arguments::{Format, Topology},
    exit::{Ending, Exit, complain, print},
    files::write_drawing,
};

/// Describes a topology: figures, routes, a drawing.
pub fn describe(arguments: &Topology) -> Result<(), Ending> {
    if arguments.spec == "list" {
        return print(&list());
    }
    let mut described = read(&arguments.spec)?;
    fail(arguments, &mut described.imported)?;
    let Described { imported, routing, tables } = described;
    // What the line says goes before what the file does.
    let said = arguments.routing.is_some() || arguments.tables.is_some();
    let (key, routing, tables) = if said {
        ("--routing", arguments.routing.clone(), arguments.tables.clone().map(PathBuf::from))
    } else {
        ("network.routing", routing, tables)
    };
    let topology = &imported.topology;
    let graph = &topology.graph;
    let routes = routes(&arguments.spec, &imported, (key, routing), tables)?;
    let ways = arguments.routes.iter().map(|pair| way(graph, &routes.1, pair));
    let ways = ways.collect::<Result<Vec<_>, _>>()?;
    let analysis = analyse(graph, &routes.1);
    if let Some(path) = &arguments.draw {
        write_drawing(Path::new(path), &draw::topology(topology))?;
    }
    let metrics = topology.metrics();
    print(&match arguments.format {
        Format::Json => as_json(topology, &metrics, &routes, &analysis, &ways),
        Format::Table => as_table(topology, &metrics, &routes, &analysis, &ways),
    })
}

/// The kinds that can be generated.
fn list() -> String {
    let mut text = String::new();
    for entry in ::topology::KINDS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<14} {}", entry.name, entry.about);
        if !entry.keys.is_empty() {
            let _ = writeln!(text, "{:<14} keys: {}", "", entry.keys.join(", "));
        }
    }
    text
}

fn warn(warnings: &Faults, file: &str) {
    if !warnings.0.is_empty() {
        complain(&warnings.render_warnings(file));
    }
}

fn usage(argument: &str, fault: Fault) -> Ending {
    Ending::new(Exit::Usage, Faults::from(fault).render(argument))
}

/// A file if there is one of this name or no kind is written so, perhaps of a whole machine, else a
/// kind with its keys.
fn read(spec: &str) -> Result<Described, Ending> {
    let is_name = spec.contains(['/', '.']) && !spec.contains('=');
    let imported = if is_name || Path::new(spec).exists() {
        let text = contents(Path::new(spec))?;
        if let Some(described) = Described::read(spec, &text) {
            return Ok(described?);
        }
        let imported = import::any(&text);
        let imported = imported.map_err(|faults| Ending::new(Exit::Input, faults.render(spec)))?;
        warn(&imported.warnings, spec);
        imported
    } else {
        let topology = experiment::wire(spec);
        let topology = topology.map_err(|faults| Ending::new(Exit::Usage, faults.render(spec)))?;
        Imported::from(topology)
    };
    Ok(Described { imported, routing: None, tables: None })
}

fn contents(path: &Path) -> Result<String, Ending> {
    units::text::read_lossy(path).map_err(|error| {
        let reason = experiment::unread(path, &error);
        Ending::new(Exit::Input, format!("error: {}: {reason}", path.display()))
    })
}

/// Takes what is asked for out of service.
fn fail(arguments: &Topology, imported: &mut Imported) -> Result<(), Ending> {
    let mut failures = Vec::new();
    let mut faults = Faults::default();
    for text in &arguments.fail {
        match Failure::parse(text) {
            Ok(failure) => failures.push(failure),
            Err(fault) => faults.push(fault),
        }
    }
    let failed = faults.or(()).and_then(|()| imported.topology.fail(&failures, arguments.seed));
    failed.map_err(|faults| Ending::new(Exit::Usage, faults.render("--fail")))?;
    for remark in imported.topology.rounded_away(&failures) {
        complain(&format!("note: {remark}"));
    }
    Ok(())
}

/// The routes and their name.
fn routes(
    spec: &str,
    imported: &Imported,
    (key, routing): (&str, Option<String>),
    tables: Option<PathBuf>,
) -> Result<(String, Routes), Ending> {
    if let Some(path) = tables {
        let text = contents(&path)?;
        let path = path.display().to_string();
        let lfts = text.lines().any(|line| line.trim_start().starts_with("Unicast lids"));
        let read = if lfts { import::lft_dump } else { import::fdb_vectors };
        let routes = read(&text, imported);
        let Tables { routes, warnings } =
            routes.map_err(|faults| Ending::new(Exit::Input, faults.render(&path)))?;
        warn(&warnings, &path);
        return Ok((format!("tables of {path}"), routes));
    }
    let parsed = routing.as_deref().map(str::parse::<Routing>).transpose();
    let parsed = parsed.map_err(|fault| usage(key, fault))?;
    let routes = Routes::build(&imported.topology, parsed);
    let usual = || ::topology::Algorithm::usual(&imported.topology).name().to_owned();
    let name = routing.unwrap_or_else(usual);
    match routes {
        Ok(routes) => Ok((name, routes)),
        Err(fault) => {
            let text = Faults::from(fault).render(spec);
            Err(Ending::new(Exit::Input, text))
        }
    }
}

/// A way from one host to another.
struct Way {
    /// Devices, ports and lanes.
    hops: Vec<(String, u16, u8)>,
    /// Is true if the source chooses among several, of which this is one.
    chosen: bool,
}

fn way(graph: &Graph, routes: &Routes, pair: &str) -> Result<Way, Ending> {
    let wrong = |message: String| usage("--routes", Fault::new(message));
    let (a, b) = pair
        .split_once(':')
        .ok_or_else(|| wrong(format!("expected two hosts such as h0:h5, found `{pair}`")))?;
    let out = graph.hosts_out();
    let host = |name: &str| match graph.host(name) {
        Some(host) if out.contains(&host) => {
            Err(wrong(format!("host `{name}` is out of service: all its links are (--fail)")))
        }
        Some(host) => Ok(host),
        None => Err(wrong(format!("there is no host `{name}`"))),
    };
    let (source, destination) = (host(a)?, host(b)?);
    let choices = (1..16_u64).map(|part| routes.choose(source, destination, || part << 60));
    let choice = choices.max().unwrap_or(0);
    let header = Header { source, destination, choice, ..Header::default() };
    let mut hop = routes.first_hop(&header);
    let mut way = vec![(a.to_owned(), hop.port, hop.lane)];
    let mut here = source;
    while here != destination {
        let Some(end) = graph.peer(here, hop.port) else { break };
        here = end.device;
        if here != destination {
            hop = routes.hop(here, end.port, hop.lane, &header);
            way.push((graph.name(here).to_owned(), hop.port, hop.lane));
        }
    }
    way.push((b.to_owned(), 0, 0));
    Ok(Way { hops: way, chosen: choice != 0 })
}

fn bisection(metrics: &Metrics) -> String {
    match metrics.bisection {
        Bisection::Exact(1) => "1 link".to_owned(),
        Bisection::Exact(links) => format!("{links} links"),
        Bisection::AtMost(links) => format!("at most {links} links (found by search)"),
    }
}

fn as_table(
    topology: &::topology::Topology,
    metrics: &Metrics,
    (name, routes): &(String, Routes),
    analysis: &Analysis,
    ways: &[Way],
) -> String {
    let graph = &topology.graph;
    let diameter =
        metrics.diameter.map_or("none: not all joined".to_owned(), |d| format!("{d} hops"));
    let sampled = if metrics.sampled { " (of a sample)" } else { "" };
    let lanes = routes.lanes();
    let s = if lanes == 1 { "" } else { "s" };
    let out = match metrics.hosts_out {
        0 => String::new(),
        count => format!(", {count} of them out of service"),
    };
    let mut text = format!(
        "hosts            {}{out}\nswitches         {} with up to {} ports in use\n\
         links            {} between switches, {} of hosts\ndiameter         {diameter}{sampled}\n\
         mean             {:.3} hops{sampled}\nbisection        {}\n\
         routing          {name}, {lanes} lane{s}\n",
        metrics.hosts,
        metrics.switches,
        metrics.ports,
        metrics.switch_links,
        metrics.host_links,
        metrics.mean_hops,
        bisection(metrics),
    );
    // Writing to a string cannot fail.
    if !topology.is_intact() {
        let _ = writeln!(text, "out of service   {}", topology.out_of_service().describe(graph));
    }
    let _ = match &analysis.cycle {
        Some(cycle) => {
            let names: Vec<_> = cycle.iter().map(|channel| channel_name(graph, *channel)).collect();
            writeln!(text, "deadlock         possible: {} wait for each other", names.join(" -> "))
        }
        None => match analysis.sample {
            Some(Sample { destinations, of }) => writeln!(
                text,
                "deadlock         none found (on the ways to {destinations} of {of} destinations)"
            ),
            None => writeln!(text, "deadlock         none possible"),
        },
    };
    for way in ways {
        let hop = |(device, port, lane): &(String, u16, u8)| match lanes {
            1 => format!("{device}:{port}"),
            _ => format!("{device}:{port} lane {lane}"),
        };
        let (last, rest) =
            way.hops.split_last().map_or(("", &[][..]), |(last, rest)| (&last.0, rest));
        let hops: Vec<_> = rest.iter().map(hop).collect();
        let chosen = if way.chosen { ", one of those that the source may choose" } else { "" };
        let _ = writeln!(text, "route            {} -> {last}{chosen}", hops.join(" -> "));
    }
    text
}

fn channel_name(graph: &Graph, channel: ::topology::route::Channel) -> String {
    format!("{} lane {}", graph.plug_name(channel.from), channel.lane)
}

fn as_json(
    topology: &::topology::Topology,
    metrics: &Metrics,
    (name, routes): &(String, Routes),
    analysis: &Analysis,
    ways: &[Way],
) -> String {
    let graph = &topology.graph;
    let out = topology.out_of_service();
    let switches_out = out.switches.iter().map(|switch| graph.name(*switch));
    let switches_out: Vec<_> = switches_out.collect();
    let ends = |link: &u32| graph.link(*link).ends.map(|plug| graph.plug_name(plug));
    let links_out: Vec<_> = out.links.iter().map(ends).collect();
    let (links, exact) = match metrics.bisection {
        Bisection::Exact(links) => (links, true),
        Bisection::AtMost(links) => (links, false),
    };
    let cycle = analysis.cycle.iter().flatten();
    let cycle: Vec<_> = cycle.map(|channel| channel_name(graph, *channel)).collect();
    let hop = |hop: &(String, u16, u8)| {
        let (device, port, lane) = hop;
        json!({ "device": device, "port": port, "lane": lane })
    };
    let ways: Vec<Value> = ways.iter().map(|way| way.hops.iter().map(hop).collect()).collect();
    // A sample without a cycle proves nothing.
    let free = match (&analysis.cycle, analysis.sample) {
        (None, Some(_)) => Value::Null,
        (cycle, _) => Value::Bool(cycle.is_none()),
    };
    let mut value = json!({
        "hosts": metrics.hosts,
        "hosts_out": metrics.hosts_out,
        "switches": metrics.switches,
        "ports": metrics.ports,
        "host_links": metrics.host_links,
        "switch_links": metrics.switch_links,
        "diameter": metrics.diameter,
        "mean_hops": metrics.mean_hops,
        "sampled": metrics.sampled,
        "bisection": { "links": links, "exact": exact },
        "routing": name,
        "lanes": routes.lanes(),
        "deadlock_free": free,
        "cycle": cycle,
        "routes": ways,
    });
    if !topology.is_intact() {
        value["switches_out"] = json!(switches_out);
        value["links_out"] = json!(links_out);
    }
    format!("{value:#}\n")
}
