//! The places of a topology's devices in a drawing.

use std::f64::consts::TAU;

use ::topology::{Graph, Grid, Kind, Link, Shape, Topology};

use super::label;
use crate::diagram::{MARGIN, box_width};

/// More hosts than this are not drawn: their switch says how many it has.
const MOST_HOSTS: u32 = 512;
/// Distance of two rows, and least distance of two switches of a grid.
const ROW: f64 = 110.0;
/// Room between the boxes of a row.
const GAP: f64 = 6.0;
/// Distance of a host from its switch where hosts surround it.
const REACH: f64 = 38.0;
/// Distance of hosts that stand side by side.
const DOT: f64 = 11.0;
/// Most hosts in a column below their switch.
const COLUMN: usize = 8;
/// A step in the third dimension of a grid, which is drawn from the front to the back.
const BACK: (f64, f64) = (34.0, -26.0);
/// Most hosts of a switch that are drawn in grids of three and more dimensions.
const BESIDE: u32 = 3;

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
            in_rows(graph, &mut places, &rows);
        }
        Shape::Rails(rails) => {
            let leaves = rails.rails * rails.units;
            let all: Vec<u32> = (hosts..graph.devices()).collect();
            let (below, above) = all.split_at(leaves as usize);
            in_rows(graph, &mut places, &[above.to_vec(), below.to_vec()]);
        }
        Shape::Grid(grid) if !is_ring(grid) => {
            let place = Projection::new(grid);
            for switch in 0..grid.switches() {
                places[(hosts + switch) as usize] = Some(place.of(&grid.coordinates(switch)));
            }
            if grid.extents.len() <= 2 {
                around(graph, &mut places, None);
            } else if grid.hosts <= BESIDE {
                below(graph, &mut places);
            }
        }
        _ => in_a_circle(graph, &mut places),
    }
    places
}

/// The bend of a link of a grid, so that it does not run behind the switches between its ends:
/// wrap-around links, and those of complete lines that pass over others.
pub fn bend(topology: &Topology, link: &Link) -> f64 {
    let Shape::Grid(grid) = &topology.shape else { return 0.0 };
    let hosts = topology.graph.hosts();
    let [a, b] = link.ends.map(|plug| plug.device);
    if is_ring(grid) || a < hosts || b < hosts {
        return 0.0;
    }
    let [from, to] = [a, b].map(|device| grid.coordinates(device - hosts));
    let steps = from.iter().zip(&to).map(|(&from, &to)| f64::from(to) - f64::from(from));
    let step = steps.enumerate().find(|(_, step)| *step != 0.0);
    match step {
        Some((dimension, step)) if step.abs() > 1.0 => {
            // Short steps, as those to the back, leave less room.
            let height = if dimension == 2 { 12.0 } else { 18.0 + 3.0 * step.abs() };
            height.min(60.0).copysign(step)
        }
        _ => 0.0,
    }
}

/// The places of a grid's switches: the first two dimensions across and down, the third to the
/// back, and all others as blocks of these, across and down in turn.
struct Projection {
    /// A step of each dimension.
    steps: Vec<(f64, f64)>,
    origin: (f64, f64),
}

impl Projection {
    fn new(grid: &Grid) -> Self {
        let depth = f64::from(grid.extents.get(2).map_or(0, |extent| extent - 1));
        // As large as a block of the dimensions so far.
        let mut room = (ROW.max(depth * BACK.0 + 60.0), ROW.max(60.0 - depth * BACK.1));
        let mut steps = Vec::new();
        for (dimension, &extent) in grid.extents.iter().enumerate() {
            steps.push(match dimension {
                2 => BACK,
                0 | 3 | 5 | 7 => {
                    let step = (room.0, 0.0);
                    room.0 = room.0 * f64::from(extent) + 20.0;
                    step
                }
                _ => {
                    let step = (0.0, room.1);
                    room.1 = room.1 * f64::from(extent) + 20.0;
                    step
                }
            });
        }
        Self { steps, origin: (MARGIN * 2.0, MARGIN * 2.0 - depth * BACK.1) }
    }

    fn of(&self, coordinates: &[u32]) -> (f64, f64) {
        let (mut x, mut y) = self.origin;
        for (step, &coordinate) in self.steps.iter().zip(coordinates) {
            x += step.0 * f64::from(coordinate);
            y += step.1 * f64::from(coordinate);
        }
        (x, y)
    }
}

/// The hosts of each device: those whose first link leads there, whether or not it works.
fn residents(graph: &Graph) -> Vec<Vec<u32>> {
    let mut residents = vec![Vec::new(); graph.devices() as usize];
    let mut placed = vec![false; graph.hosts() as usize];
    for link in graph.links() {
        let [a, b] = link.ends.map(|plug| plug.device);
        let (host, switch) = if a < b { (a, b) } else { (b, a) };
        if graph.is_host(host) && !std::mem::replace(&mut placed[host as usize], true) {
            residents[switch as usize].push(host);
        }
    }
    residents
}

/// Places rows of switches, the top first, and the hosts in columns below those of the last row.
fn in_rows(graph: &Graph, places: &mut Places, rows: &[Vec<u32>]) {
    let shown = graph.hosts() <= MOST_HOSTS;
    let residents = residents(graph);
    let columns = |switch: u32| residents[switch as usize].len().div_ceil(COLUMN).max(2);
    let room = |&switch: &u32| {
        let hosts = if shown { columns(switch) as f64 * DOT } else { 0.0 };
        (box_width(&label(graph, switch, shown)) + GAP).max(hosts + GAP)
    };
    let widest = |row: &Vec<u32>| row.iter().map(room).fold(0.0, f64::max) * row.len() as f64;
    let width = rows.iter().map(widest).fold(0.0, f64::max);
    // Rows far apart keep links from running side by side.
    let height = ROW.max(width / 6.0);
    for (row, devices) in rows.iter().enumerate() {
        let step = width / devices.len().max(1) as f64;
        for (column, &device) in devices.iter().enumerate() {
            let x = MARGIN + step * (column as f64 + 0.5);
            places[device as usize] = Some((x, MARGIN + height * row as f64));
        }
    }
    if !shown {
        return;
    }
    for &switch in rows.iter().flatten() {
        let (hosts, columns) = (&residents[switch as usize], columns(switch));
        let Some((x, y)) = places[switch as usize] else { continue };
        for (row, line) in hosts.chunks(columns).enumerate() {
            for (column, &host) in line.iter().enumerate() {
                let aside = (column as f64 - (columns - 1) as f64 / 2.0) * DOT;
                let down = 26.0 + DOT * row as f64;
                places[host as usize] = Some((x + aside, y + down));
            }
        }
    }
}

/// Places switches on a circle, the first at the top, and their hosts outside of it.
fn in_a_circle(graph: &Graph, places: &mut Places) {
    let switches = graph.switches();
    let shown = graph.hosts() <= MOST_HOSTS;
    let width = |switch| box_width(&label(graph, graph.hosts() + switch, shown));
    let step = (0..switches).map(width).fold(0.0, f64::max) + GAP;
    let radius = (f64::from(switches) * step / TAU).max(60.0);
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
    for (switch, hosts) in residents(graph).iter().enumerate() {
        let Some((x, y)) = places[switch] else { continue };
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

/// Places hosts in a row right below their switches.
fn below(graph: &Graph, places: &mut Places) {
    if graph.hosts() > MOST_HOSTS {
        return;
    }
    for (switch, hosts) in residents(graph).iter().enumerate() {
        let Some((x, y)) = places[switch] else { continue };
        for (index, &host) in hosts.iter().enumerate() {
            let aside = (index as f64 - (hosts.len() - 1) as f64 / 2.0) * DOT;
            places[host as usize] = Some((x + aside, y + DOT));
        }
    }
}

/// Says whether a grid is better drawn as a circle: a single dimension that wraps or is complete.
fn is_ring(grid: &Grid) -> bool {
    grid.extents.len() == 1 && grid.kind != Kind::Mesh
}
