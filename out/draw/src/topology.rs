//! A topology as a diagram: trees by level, grids as grids, the rest in a circle.

mod layout;

use std::fmt::Write as _;

use ::topology::{Graph, Topology};

use crate::diagram::{Connection, Diagram, Legend, Node, Stroke, Symbol};
use layout::bend;
pub use layout::places;

/// Draws a topology. Broken links are dashed.
pub fn topology(topology: &Topology) -> String {
    diagram(topology, |_| Stroke::Plain).draw()
}

/// Draws a topology whose links are coloured from light grey (0) by orange to red (1) by a share,
/// one for each link; a link without one counts as 0.
pub fn heat_map(topology: &Topology, shares: &[f64]) -> String {
    let stroke = |link: usize| {
        let share = shares.get(link).copied().unwrap_or(0.0);
        Stroke::Marked { colour: colour(share), text: format!("{:.1} %", share * 100.0) }
    };
    let step = |tenths: u32| (colour(f64::from(tenths) / 10.0), format!("{} %", tenths * 10));
    let mut colours: Vec<_> = (0..=10).step_by(2).map(step).collect();
    if !topology.is_intact() {
        colours.push(("#c33".to_owned(), "broken".to_owned()));
    }
    let title = "utilisation of each link, in its busier direction".to_owned();
    Diagram { legend: Some(Legend { title, colours }), ..diagram(topology, stroke) }.draw()
}

/// Lays a topology out; `stroke` says how a working link is drawn.
fn diagram(topology: &Topology, stroke: impl Fn(usize) -> Stroke) -> Diagram {
    let graph = &topology.graph;
    let places = places(topology);
    let place = |device: u32| places.get(device as usize).copied().flatten();
    let connections = graph.links().iter().enumerate().filter_map(|(number, link)| {
        let [a, b] = link.ends.map(|plug| place(plug.device));
        let stroke = if link.up { stroke(number) } else { Stroke::Broken };
        Some(Connection { ends: [a?, b?], bend: bend(topology, link), stroke })
    });
    let shown = (0..graph.hosts()).any(|host| place(host).is_some());
    let nodes = (0..graph.devices()).filter_map(|device| {
        let at = place(device)?;
        let (name, label) = (graph.name(device).to_owned(), label(graph, device, shown));
        let symbol = if graph.is_host(device) { Symbol::Dot } else { Symbol::Box };
        Some(Node { at, symbol, name, label })
    });
    Diagram {
        title: format!(
            "{} hosts, {} switches, {} links",
            graph.hosts(),
            graph.switches(),
            graph.links().len()
        ),
        connections: connections.collect(),
        nodes: nodes.collect(),
        legend: None,
    }
}

/// The text in the box of a switch: its name, with the number of its hosts unless they are shown.
fn label(graph: &Graph, device: u32, hosts_shown: bool) -> String {
    let name = graph.name(device);
    let hosts = graph.neighbours(device).filter(|(_, end)| graph.is_host(end.device));
    match hosts.count() {
        count if count > 0 && !hosts_shown => format!("{name} ({count})"),
        _ => name.to_owned(),
    }
}

/// Returns the colour of a share: light grey for 0, orange for a half, red for 1.
fn colour(heat: f64) -> String {
    const STOPS: [[f64; 3]; 3] = [[220.0, 225.0, 230.0], [250.0, 170.0, 60.0], [200.0, 20.0, 30.0]];
    let place = heat.clamp(0.0, 1.0) * 2.0;
    let (low, part) = if place < 1.0 { (0, place) } else { (1, place - 1.0) };
    let mut text = String::from("#");
    for (from, to) in STOPS[low].into_iter().zip(STOPS[low + 1]) {
        #[allow(clippy::cast_sign_loss, reason = "0 to 255")]
        let value = (from + (to - from) * part).round() as u8;
        // Writing to a string cannot fail.
        let _ = write!(text, "{value:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_ends_and_the_middle() {
        assert_eq!([0.0, 0.5, 1.0, 2.0].map(colour), ["#dce1e6", "#faaa3c", "#c8141e", "#c8141e"]);
    }
}
