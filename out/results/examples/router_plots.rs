//! Draws the chart of the book's chapter on routers into a folder: latency over offered load by
//! this model, and what BookSim 2 measured.

use std::{fs, path::Path};

use draw::{Curve, CurveChart};
use packet::{Fabric, Packets, Parameters, preset};
use topology::Routes;
use traffic::{Arrivals, Lengths, Pattern, Settings, Span, run};
use units::Time;

/// The measurements of BookSim 2, of which `app/traffic/tests/booksim.rs` says what they are.
const BOOKSIM: &str = include_str!("../../../app/traffic/tests/booksim.csv");

/// A network of the chart: its name there, topology, routing, channels, buffer and flits of a
/// packet, and the loads of its curve up to the last that is steady.
type Shown = (&'static str, [&'static str; 5], &'static [f64]);

const SHOWN: [Shown; 3] = [
    (
        "torus, 2 channels",
        ["torus:dims=8x8", "dimension-order:dateline=whole", "2", "8", "1"],
        &[0.02, 0.05, 0.1, 0.15, 0.2, 0.22, 0.23],
    ),
    (
        "torus, 4 channels, 5 flits",
        ["torus:dims=8x8", "dimension-order:dateline=whole", "4", "16", "5"],
        &[0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5],
    ),
    (
        "mesh, 4 channels",
        ["mesh:dims=8x8", "dimension-order", "4", "8", "1"],
        &[0.05, 0.1, 0.2, 0.3, 0.34, 0.36, 0.38],
    ),
];

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let mut curves = Vec::new();
    for (name, setting, loads) in SHOWN {
        let points = loads.iter().filter_map(|&load| Some((load, latency(setting, load)?)));
        let mut curve = |name: &str, points: Vec<(f64, f64)>| {
            curves.push(Curve { name: name.to_owned(), points, band: Vec::new() });
        };
        curve(name, points.collect());
        curve("BookSim 2", measured(setting));
    }
    let chart = CurveChart {
        title: "Uniform traffic, 8x8: latency here and in BookSim 2".to_owned(),
        x: "offered load, flits per node and cycle".to_owned(),
        y: "cycles".to_owned(),
        curves,
        ..CurveChart::default()
    };
    fs::write(Path::new(&folder).join("routers-booksim.svg"), chart.draw())
}

/// Mean latency in cycles; `None` if the load is not sustained.
fn latency([spec, routing, channels, buffer, flits]: [&str; 5], load: f64) -> Option<f64> {
    let topology = topology::parse(spec).expect("a topology");
    let routing = routing.parse().expect("a routing");
    let routes = Routes::build(&topology, Some(routing)).expect("routes");
    let flits: u32 = flits.parse().expect("a number");
    let parameters = Parameters {
        channels: channels.parse().ok(),
        buffer: buffer.parse().ok(),
        mtu: 8 * flits,
        ..preset("packet-booksim").expect("a preset")
    };
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    let settings = Settings {
        arrivals: Arrivals::Bernoulli,
        lengths: Lengths::Fixed(u64::from(8 * flits)),
        span: Span::Batches { warm_up: 3, kept: 15 },
        batch: Some(Time::from_ps(4_000_000)),
        ..Settings::new(Pattern::UniformWithSelf.on(&topology).expect("hosts"), load)
    };
    let point = run(&Packets::new(fabric), &settings).expect("it runs");
    point.latency.filter(|_| !point.saturated).map(|latency| latency.mean / 1000.0)
}

/// BookSim's points of a network.
fn measured([spec, _, channels, _, flits]: [&str; 5]) -> Vec<(f64, f64)> {
    let point = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [topology, _, vcs, _, size, pattern, offered, latency, _] = fields[..] else {
            return None;
        };
        let same = (topology, vcs, size) == (spec, channels, flits);
        let point = || Some((offered.parse().ok()?, latency.parse().ok()?));
        (same && pattern == "uniform-with-self").then(point).flatten()
    };
    BOOKSIM.lines().filter_map(point).collect()
}
