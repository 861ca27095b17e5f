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
/// Greatest distance of a bent link from the straight line.
const BEND: f64 = 60.0;
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
        Shape::Tree(_) if graph.switches() == 1 => as_a_star(graph, &mut places),
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
            let fan = Fan::beside(grid.hosts);
            let place = Projection::new(grid, &fan);
            for switch in 0..grid.switches() {
                places[(hosts + switch) as usize] = Some(place.of(&grid.coordinates(switch)));
            }
            if grid.extents.len() <= 2 {
                beside(graph, &mut places, &fan);
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
            height.min(BEND).copysign(step)
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
    fn new(grid: &Grid, fan: &Fan) -> Self {
        let depth = f64::from(grid.extents.get(2).map_or(0, |extent| extent - 1));
        // As large as a block of the dimensions so far.
        let mut room = (ROW.max(depth * BACK.0 + 60.0), ROW.max(60.0 - depth * BACK.1));
        if grid.extents.len() <= 2 {
            let least = fan.radius() + BEND + 10.0;
            room = (room.0.max(least), room.1.max(least));
        }
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

/// Places the only switch with its hosts all round.
fn as_a_star(graph: &Graph, places: &mut Places) {
    let hosts = graph.hosts();
    let shown = hosts <= MOST_HOSTS;
    let reach = if shown { REACH.max(f64::from(hosts) * DOT / TAU) } else { 0.0 };
    let centre = MARGIN + reach;
    places[hosts as usize] = Some((centre, centre));
    let fan = Fan { spread: TAU, reach, arcs: 1 };
    if shown {
        for host in 0..hosts {
            places[host as usize] = Some(fan.at((centre, centre), -TAU / 4.0, (host, hosts)));
        }
    }
}

/// Places switches on a circle, the first at the top, and their hosts outside of it.
fn in_a_circle(graph: &Graph, places: &mut Places) {
    let switches = graph.switches();
    let shown = graph.hosts() <= MOST_HOSTS;
    let width = |switch| box_width(&label(graph, graph.hosts() + switch, shown));
    let step = (0..switches).map(width).fold(0.0, f64::max) + GAP;
    let residents = residents(graph);
    let most = residents.iter().map(Vec::len).max().unwrap_or(0);
    let fan = Fan::outside(if shown { most as u32 } else { 0 });
    // Each fan is within its own sector of the circle.
    let half = (fan.spread / 2.0) * (1.0 - 1.0 / most.max(1) as f64);
    let sector = (TAU / 2.0 / f64::from(switches)).tan();
    let outer = (fan.reach * half.sin() + DOT / 2.0) / sector - fan.reach * half.cos();
    let outer = if shown && switches > 2 { outer } else { 0.0 };
    let radius = (f64::from(switches) * step / TAU).max(outer).max(60.0);
    let centre = radius + ROW.max(fan.radius() + MARGIN);
    for switch in 0..switches {
        let angle = TAU * f64::from(switch) / f64::from(switches);
        let place = (centre + radius * angle.sin(), centre - radius * angle.cos());
        places[(graph.hosts() + switch) as usize] = Some(place);
    }
    if shown {
        fan_out(&residents, places, &fan, |(x, y)| (y - centre).atan2(x - centre));
    }
}

/// The hosts of a switch on arcs around it, so many on each in turn that neither they nor their
/// links hide each other.
struct Fan {
    /// The angle between the ends of an arc.
    spread: f64,
    /// The radius of the innermost arc.
    reach: f64,
    arcs: u32,
}

impl Fan {
    /// The fan of so many hosts on the side of a circle that faces away from its centre.
    fn outside(hosts: u32) -> Self {
        let spread = 1.2;
        Self { spread, reach: REACH.max(f64::from(hosts) * DOT / spread), arcs: 1 }
    }

    /// The fan of so many hosts between two links of a grid. More than four are on two arcs.
    fn beside(hosts: u32) -> Self {
        let (spread, arcs) = (1.2, if hosts > 4 { 2 } else { 1 });
        let inner = f64::from(hosts.min(MOST_HOSTS).div_ceil(arcs));
        Self { spread, reach: REACH.max(inner * DOT / spread), arcs }
    }

    /// The radius of the outermost arc.
    fn radius(&self) -> f64 {
        self.reach + DOT * f64::from(self.arcs - 1)
    }

    /// The place of a host, given by its number and that of all, around a switch.
    fn at(&self, (x, y): (f64, f64), middle: f64, (host, hosts): (u32, u32)) -> (f64, f64) {
        let share = (f64::from(host) + 0.5) / f64::from(hosts.max(1));
        let angle = middle + (share - 0.5) * self.spread;
        let reach = self.reach + DOT * f64::from(host % self.arcs);
        (x + reach * angle.cos(), y + reach * angle.sin())
    }
}

/// Places the hosts of each switch on arcs around the angle that `middle` gives its place.
fn fan_out(
    residents: &[Vec<u32>],
    places: &mut Places,
    fan: &Fan,
    middle: impl Fn((f64, f64)) -> f64,
) {
    for (switch, hosts) in residents.iter().enumerate() {
        let Some(place) = places[switch] else { continue };
        for (index, &host) in hosts.iter().enumerate() {
            let number = (index as u32, hosts.len() as u32);
            places[host as usize] = Some(fan.at(place, middle(place), number));
        }
    }
}

/// Places the hosts of a grid of two dimensions left of and below their switches, where no link is:
/// links bend upwards and to the right.
fn beside(graph: &Graph, places: &mut Places, fan: &Fan) {
    if graph.hosts() <= MOST_HOSTS {
        fan_out(&residents(graph), places, fan, |_| 0.375 * TAU);
    }
}

/// Places hosts in a row below their switches and to the right, clear of the link downwards and of
/// that to the front, which goes to the left.
fn below(graph: &Graph, places: &mut Places) {
    if graph.hosts() > MOST_HOSTS {
        return;
    }
    for (switch, hosts) in residents(graph).iter().enumerate() {
        let Some((x, y)) = places[switch] else { continue };
        for (index, &host) in hosts.iter().enumerate() {
            places[host as usize] = Some((x + DOT * (index as f64 + 1.0), y + DOT));
        }
    }
}

/// Says whether a grid is better drawn as a circle: a single dimension that wraps or is complete.
fn is_ring(grid: &Grid) -> bool {
    grid.extents.len() == 1 && grid.kind != Kind::Mesh
}
