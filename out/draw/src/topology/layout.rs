//! The places of a topology's devices in a drawing.

use std::f64::consts::TAU;

use ::topology::{Graph, Grid, Kind, Shape, Topology};

use crate::diagram::MARGIN;

/// More hosts than this are not drawn: their switch says how many it has.
pub const MOST_HOSTS: u32 = 512;
/// Least distance of two devices in a row.
const STEP: f64 = 26.0;
/// Distance of two rows.
const ROW: f64 = 110.0;
/// Distance of a host from its switch where hosts surround it.
const REACH: f64 = 38.0;

/// The place of each device, by its number.
type Places = Vec<Option<(f64, f64)>>;

/// Lays out the devices of a topology. Hosts have no place where there are too many.
pub fn places(topology: &Topology) -> Places {
    let graph = &topology.graph;
    let hosts = graph.hosts();
    let mut places = vec![None; graph.devices() as usize];
    match &topology.shape {
        Shape::Tree(tree) => {
            let mut rows: Vec<Vec<u32>> = vec![Vec::new(); tree.levels()];
            for (switch, level) in tree.switch_levels().enumerate() {
                rows[tree.levels() - level].push(hosts + switch as u32);
            }
            in_rows(graph, &mut places, rows);
        }
        Shape::Rails(rails) => {
            let leaves = rails.rails * rails.units;
            let all: Vec<u32> = (hosts..graph.devices()).collect();
            let (below, above) = all.split_at(leaves as usize);
            in_rows(graph, &mut places, vec![above.to_vec(), below.to_vec()]);
        }
        Shape::Grid(grid) if grid.extents.len() <= 2 && !is_ring(grid) => {
            for switch in 0..grid.switches() {
                let at = grid.coordinates(switch);
                let [x, y] = [0, 1].map(|d| f64::from(at.get(d).copied().unwrap_or(0)));
                let place = (MARGIN * 2.0 + x * ROW, MARGIN * 2.0 + y * ROW);
                places[(hosts + switch) as usize] = Some(place);
            }
            around(graph, &mut places, None);
        }
        _ => in_a_circle(graph, &mut places),
    }
    places
}

/// Places rows of switches, the top first, and the hosts below them.
fn in_rows(graph: &Graph, places: &mut Places, mut rows: Vec<Vec<u32>>) {
    if graph.hosts() <= MOST_HOSTS {
        rows.push((0..graph.hosts()).collect());
    }
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0) as f64 * STEP;
    for (row, devices) in rows.iter().enumerate() {
        let step = widest / devices.len().max(1) as f64;
        for (column, &device) in devices.iter().enumerate() {
            let x = MARGIN + step * (column as f64 + 0.5);
            places[device as usize] = Some((x, MARGIN + ROW * row as f64));
        }
    }
}

/// Places switches on a circle, the first at the top, and their hosts outside of it.
fn in_a_circle(graph: &Graph, places: &mut Places) {
    let switches = graph.switches();
    let radius = (f64::from(switches) * STEP * 1.5 / TAU).max(60.0);
    let centre = radius + ROW;
    for switch in 0..switches {
        let angle = TAU * f64::from(switch) / f64::from(switches);
        let place = (centre + radius * angle.sin(), centre - radius * angle.cos());
        places[(graph.hosts() + switch) as usize] = Some(place);
    }
    around(graph, places, Some((centre, centre)));
}

/// Places hosts near their switches: on the side that faces away from a centre, or all round.
fn around(graph: &Graph, places: &mut Places, centre: Option<(f64, f64)>) {
    if graph.hosts() > MOST_HOSTS {
        return;
    }
    for switch in graph.hosts()..graph.devices() {
        let ends = graph.neighbours(switch);
        let hosts: Vec<_> = ends.map(|(_, end)| end.device).filter(|&d| graph.is_host(d)).collect();
        let Some((x, y)) = places[switch as usize] else { continue };
        for (index, &host) in hosts.iter().enumerate() {
            let share = (index as f64 + 0.5) / hosts.len() as f64;
            let angle = match centre {
                Some((cx, cy)) => (y - cy).atan2(x - cx) + (share - 0.5) * 1.2,
                None => TAU * (share + 0.06),
            };
            places[host as usize] = Some((x + REACH * angle.cos(), y + REACH * angle.sin()));
        }
    }
}

/// Says whether a grid is better drawn as a circle: a single dimension that wraps or is complete.
fn is_ring(grid: &Grid) -> bool {
    grid.extents.len() == 1 && grid.kind != Kind::Mesh
}
