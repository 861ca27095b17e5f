//! Figures without a run: of topologies, of measured times, of patterns.

use ::topology::{Bisection, Topology};
use calibrate::{Options, Provenance, pairs::are_several, read::Reading};
use pyo3::prelude::*;
use serde_json::json;

use crate::error;

/// The figures of a topology such as `torus:dims=8x8`, as JSON.
#[pyfunction]
pub fn topology(py: Python<'_>, spec: String) -> PyResult<String> {
    let topology = parse(&spec)?;
    let metrics = py.detach(|| topology.metrics());
    let (links, exact) = match metrics.bisection {
        Bisection::Exact(links) => (links, true),
        Bisection::AtMost(links) => (links, false),
    };
    let figures = json!({
        "hosts": metrics.hosts,
        "switches": metrics.switches,
        "ports": metrics.ports,
        "host_links": metrics.host_links,
        "switch_links": metrics.switch_links,
        "diameter": metrics.diameter,
        "mean_hops": metrics.mean_hops,
        "sampled": metrics.sampled,
        "bisection": { "links": links, "exact": exact },
    });
    Ok(figures.to_string())
}

/// A drawing of a topology as SVG.
#[pyfunction]
pub fn draw_topology(spec: &str) -> PyResult<String> {
    parse(spec).map(|topology| draw::topology(&topology))
}

fn parse(spec: &str) -> PyResult<Topology> {
    experiment::wire(spec).map_err(|faults| error(faults.render(spec)))
}

/// The names of the patterns, with what they do.
#[pyfunction]
pub fn patterns() -> String {
    experiment::patterns()
}

/// Estimates the parameters of an interconnect from measured times. Returns the figures as JSON,
/// the text of a machine file, and notes on the samples.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    text: String,
    name: String,
    date: String,
    replicates: u32,
) -> PyResult<(String, String, Vec<String>)> {
    let Reading { samples, mut notes } = calibrate::read::read(text.trim_start_matches('\u{feff}'))
        .map_err(|mistakes| {
            let lines = mistakes.iter().map(|mistake| format!("error: {name}: {mistake}"));
            error(lines.collect::<Vec<_>>().join("\n"))
        })?;
    if are_several(&samples) {
        notes
            .push("several pairs of hosts are taken for one; `heddle fit` tells them apart".into());
    }
    let fitted = py.detach(|| calibrate::fit(&samples, &Options { replicates }));
    let pairs = samples.iter().filter_map(|sample| sample.pair.as_ref());
    let mut hosts: Vec<&str> =
        pairs.flat_map(|(source, destination)| [source.as_str(), destination.as_str()]).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let provenance = Provenance {
        date,
        hosts: hosts.join(", "),
        source: name,
        samples: calibrate::sha256(text.as_bytes()),
        library: String::new(),
        cut: String::new(),
        replicates: None,
    };
    Ok((fitted.json().to_string(), fitted.machine(&provenance), notes))
}
