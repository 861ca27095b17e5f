//! Draws the charts and writes the tables of the book's chapter on traffic into a folder.

#[path = "../../../app/traffic/tests/common/scenarios.rs"]
mod scenarios;

use std::{fs, io, path::Path};

use draw::{Curve, CurveChart};
use results::write_points;
use scenarios::{Seen, even, incast, parking_lot, play};
use traffic::loads;

fn main() -> io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    let [without, with] = [false, true].map(|control| play(incast(), control, 2));
    // Port 0 of the switch that all of them meet at: the tenth of the switches, to leaf 0.
    let root = (81 + 9, 0, 0);
    let depth = |seen: &Seen| {
        let of = |bin: &traffic::Bin| bin.waiting as f64 / seen.watched.width.ps() as f64;
        seen.watched.series(root, of)
    };
    let victim = |seen: &Seen| {
        seen.watched.series((17, 0, 0), |bin| bin.flits as f64 * 32_000.0 / 20_000_000.0)
    };
    chart(
        folder,
        "traffic-incast-queue.svg",
        "Incast 32 to 1: flits waiting for leaf 0",
        "flits",
        [("without", depth(&without)), ("with congestion control", depth(&with))],
    )?;
    chart(
        folder,
        "traffic-incast-victim.svg",
        "Incast 32 to 1: the victim",
        "part of the link",
        [("without", victim(&without)), ("with congestion control", victim(&with))],
    )?;
    let map = draw::heat_map(&with.topology, &with.link_utilisation());
    fs::write(folder.join("traffic-incast-links.svg"), map)?;
    for (name, seen) in [("without", &without), ("with", &with)] {
        table(folder, &format!("traffic-incast-{name}.csv"), &[17, 9, 18, 27, 36], seen)?;
    }
    for (name, control) in [("without", false), ("with", true)] {
        let seen = play(parking_lot(), control, 1);
        let curve = |host: u32| {
            seen.watched.series((host, 0, 0), |bin| bin.flits as f64 * 32_000.0 / 20_000_000.0)
        };
        let file = format!("traffic-parking-{name}.svg");
        let title = format!("Parking lot, {name} congestion control");
        let curves = [("1 hop away", 1), ("2", 2), ("3", 3), ("4", 4)];
        chart(folder, &file, &title, "part of the link", curves.map(|(n, h)| (n, curve(h))))?;
        table(folder, &format!("traffic-parking-{name}.csv"), &[1, 2, 3, 4], &seen)?;
    }
    curves(folder)
}

/// Latency and accepted load of uniform traffic on three networks of 64 hosts.
fn curves(folder: &Path) -> io::Result<()> {
    let mut latency = Vec::new();
    for spec in ["torus:dims=8x8", "mesh:dims=8x8", "k-ary-n-tree:k=4,n=3"] {
        let topology = topology::parse(spec).expect("a topology");
        let network = uniform(&topology);
        let destinations = traffic::Pattern::Uniform.on(&topology).expect("a pattern");
        let settings = traffic::Settings {
            threads: 2,
            lengths: traffic::Lengths::Fixed(1000),
            ..traffic::Settings::new(destinations, 1.0)
        };
        let points = traffic::curve(&network, &settings, &loads("0.05:0.95:0.05").expect("loads"));
        let points = points.expect("points");
        let name = spec.split(':').next().unwrap_or(spec);
        write_points(&mut fs::File::create(folder.join(format!("traffic-{name}.csv")))?, &points)?;
        let below = points.iter().filter(|point| !point.saturated);
        let latency_of = |point: &traffic::Point| Some((point.load, point.latency?.mean / 1e6));
        let points = below.filter_map(latency_of).collect();
        latency.push((name, points));
    }
    let title = "Uniform traffic, 64 hosts: mean latency below saturation";
    let series: [(&str, Vec<_>); 3] = latency.try_into().expect("three");
    draw(folder, "traffic-latency.svg", title, ("offered load", "us"), series)
}

fn uniform(topology: &topology::Topology) -> infiniband::Infiniband {
    let routes = topology::Routes::build(topology, None).expect("routes");
    let fabric = infiniband::Fabric::new(&topology.graph, routes, even()).expect("a fabric");
    infiniband::Infiniband::new(fabric, 0)
}

fn chart<const N: usize>(
    folder: &Path,
    file: &str,
    title: &str,
    y: &str,
    curves: [(&str, Vec<(f64, f64)>); N],
) -> io::Result<()> {
    // Only while messages enter.
    let cut = |points: Vec<(f64, f64)>| points.into_iter().filter(|p| p.0 < 6000.0).collect();
    draw(folder, file, title, ("us", y), curves.map(|(name, points)| (name, cut(points))))
}

fn draw<const N: usize>(
    folder: &Path,
    file: &str,
    title: &str,
    (x, y): (&str, &str),
    curves: [(&str, Vec<(f64, f64)>); N],
) -> io::Result<()> {
    let curves =
        curves.map(|(name, points)| Curve { name: name.to_owned(), points, band: Vec::new() });
    let (title, x, y) = (title.to_owned(), x.to_owned(), y.to_owned());
    fs::write(
        folder.join(file),
        CurveChart { title, x, y, curves: curves.into(), ..CurveChart::default() }.draw(),
    )
}

/// The accepted load of some sources.
fn table(folder: &Path, file: &str, sources: &[usize], seen: &Seen) -> io::Result<()> {
    let row = |&source: &usize| format!("{source},{:.4}\n", seen.observed.by_source[source]);
    let rows: String = sources.iter().map(row).collect();
    fs::write(folder.join(file), format!("source,accepted\n{rows}"))
}
