//! A topology as an SVG drawing: trees by level, grids of two dimensions as grids, the rest in a
//! circle.

use std::{f64::consts::TAU, fmt::Write};

use crate::{Kind, Shape, Topology};

/// More hosts than this are drawn as a number at their switch.
const HOSTS: u32 = 512;
/// Least distance of two things in a row, and of two rows.
const STEP: f64 = 26.0;
const ROW: f64 = 110.0;
const MARGIN: f64 = 40.0;

/// Where the devices are; hosts are left out where there are too many.
struct Layout {
    places: Vec<Option<(f64, f64)>>,
}

impl Topology {
    /// The drawing. Broken links are dashed.
    pub fn draw(&self) -> String {
        self.draw_with(|_| None)
    }

    /// The drawing, with a colour and a text for some working links, by their numbers.
    pub fn draw_with(&self, look: impl Fn(u32) -> Option<(String, String)>) -> String {
        let graph = &self.graph;
        let layout = self.layout();
        let drawn = || layout.places.iter().flatten();
        let width = drawn().map(|place| place.0).fold(0.0, f64::max) + MARGIN;
        let height = drawn().map(|place| place.1).fold(0.0, f64::max) + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"sans-serif\" font-size=\"8\" text-anchor=\"middle\">\n\
             <title>{} hosts, {} switches, {} links</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<g stroke=\"#8aa\">\n",
            graph.hosts(),
            graph.switches(),
            graph.links().len()
        );
        for (number, link) in (0..).zip(graph.links()) {
            let [a, b] = link.ends.map(|plug| layout.places[plug.device as usize]);
            let (Some((ax, ay)), Some((bx, by))) = (a, b) else { continue };
            let rest = match look(number).filter(|_| link.up) {
                Some((colour, text)) => {
                    let text = escaped(&text);
                    format!(" stroke=\"{colour}\" stroke-width=\"2\"><title>{text}</title></line>")
                }
                None if link.up => "/>".to_owned(),
                None => " stroke=\"#c33\" stroke-dasharray=\"4 3\"/>".to_owned(),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<line x1=\"{ax:.1}\" y1=\"{ay:.1}\" x2=\"{bx:.1}\" y2=\"{by:.1}\"{rest}"
            );
        }
        svg += "</g>\n";
        for device in 0..graph.devices() {
            if let Some(place) = layout.places[device as usize] {
                self.symbol(&mut svg, device, place);
            }
        }
        svg + "</svg>\n"
    }

    /// A host as a dot, a switch as a box; with the number of its hosts if they are left out.
    fn symbol(&self, svg: &mut String, device: u32, (x, y): (f64, f64)) {
        let name = escaped(self.graph.name(device));
        if self.graph.is_host(device) {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#369\"><title>{name}</title></circle>"
            );
            return;
        }
        let hosts = self.graph.neighbours(device).filter(|(_, end)| self.graph.is_host(end.device));
        let label = match hosts.count() {
            count if count > 0 && self.graph.hosts() > HOSTS => format!("{name} ({count})"),
            _ => name.clone(),
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"22\" height=\"12\" fill=\"#fd8\" stroke=\"#963\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\"><title>{name}</title>{label}</text>",
            x - 11.0,
            y - 6.0,
            y + 3.0
        );
    }

    fn layout(&self) -> Layout {
        let mut layout = Layout { places: vec![None; self.graph.devices() as usize] };
        let hosts = self.graph.hosts();
        match &self.shape {
            Shape::Tree(tree) => {
                let mut rows: Vec<Vec<u32>> = vec![Vec::new(); tree.levels()];
                for (switch, level) in tree.switch_levels().enumerate() {
                    rows[tree.levels() - level].push(hosts + switch as u32);
                }
                self.rows(&mut layout, rows);
            }
            Shape::Rails(rails) => {
                let leaves = rails.rails * rails.units;
                let all: Vec<u32> = (hosts..self.graph.devices()).collect();
                let (below, above) = all.split_at(leaves as usize);
                self.rows(&mut layout, vec![above.to_vec(), below.to_vec()]);
            }
            Shape::Grid(grid) if grid.extents.len() <= 2 && !ringlike(grid) => {
                for switch in 0..grid.switches() {
                    let at = grid.coordinates(switch);
                    let [x, y] = [0, 1].map(|d| f64::from(at.get(d).copied().unwrap_or(0)));
                    let place = (MARGIN * 2.0 + x * ROW, MARGIN * 2.0 + y * ROW);
                    layout.places[(hosts + switch) as usize] = Some(place);
                }
                self.around(&mut layout, None);
            }
            _ => {
                let switches = self.graph.switches();
                let radius = (f64::from(switches) * STEP * 1.5 / TAU).max(60.0);
                let centre = radius + ROW;
                for switch in 0..switches {
                    let angle = TAU * f64::from(switch) / f64::from(switches);
                    let place = (centre + radius * angle.sin(), centre - radius * angle.cos());
                    layout.places[(hosts + switch) as usize] = Some(place);
                }
                self.around(&mut layout, Some((centre, centre)));
            }
        }
        layout
    }

    /// Rows of switches, the top first, and the hosts below them.
    fn rows(&self, layout: &mut Layout, mut rows: Vec<Vec<u32>>) {
        if self.graph.hosts() <= HOSTS {
            rows.push((0..self.graph.hosts()).collect());
        }
        let widest = rows.iter().map(Vec::len).max().unwrap_or(0) as f64 * STEP;
        for (row, devices) in rows.iter().enumerate() {
            let step = widest / devices.len().max(1) as f64;
            for (column, &device) in devices.iter().enumerate() {
                let x = MARGIN + step * (column as f64 + 0.5);
                layout.places[device as usize] = Some((x, MARGIN + ROW * row as f64));
            }
        }
    }

    /// Hosts near their switches: outwards from a centre, or all round.
    fn around(&self, layout: &mut Layout, centre: Option<(f64, f64)>) {
        if self.graph.hosts() > HOSTS {
            return;
        }
        for switch in self.graph.hosts()..self.graph.devices() {
            let ends = self.graph.neighbours(switch);
            let hosts: Vec<_> =
                ends.map(|(_, end)| end.device).filter(|&d| self.graph.is_host(d)).collect();
            let Some((x, y)) = layout.places[switch as usize] else { continue };
            for (index, &host) in hosts.iter().enumerate() {
                let share = (index as f64 + 0.5) / hosts.len() as f64;
                let angle = match centre {
                    Some((cx, cy)) => (y - cy).atan2(x - cx) + (share - 0.5) * 1.2,
                    None => TAU * (share + 0.06),
                };
                layout.places[host as usize] =
                    Some((x + 38.0 * angle.cos(), y + 38.0 * angle.sin()));
            }
        }
    }
}

/// Whether a grid is better drawn as a circle: a line that wraps or is complete.
fn ringlike(grid: &crate::Grid) -> bool {
    grid.extents.len() == 1 && grid.kind != Kind::Mesh
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
