//! Named nodes and the lines between them.

use std::fmt::Write as _;

use crate::svg::{document, escaped};

/// Room around the nodes.
pub const MARGIN: f64 = 40.0;

/// The shape of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A blue dot without a label.
    Dot,
    /// A yellow box with a label.
    Box,
}

/// The width of a box around a label.
pub fn box_width(label: &str) -> f64 {
    (label.chars().count() as f64 * 4.6 + 5.0).max(22.0)
}

/// A node of a diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its centre, from the top left corner.
    pub at: (f64, f64),
    /// Its shape.
    pub symbol: Symbol,
    /// The name that a viewer shows when the pointer rests on it.
    pub name: String,
    /// The text in a box.
    pub label: String,
}

/// The style of a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Stroke {
    /// A thin line.
    Plain,
    /// A thin dashed line in red.
    Broken,
    /// A thick line in a colour, with a text that a viewer shows when the pointer rests on it.
    Marked {
        /// The colour, as SVG writes it.
        colour: String,
        /// The text.
        text: String,
    },
}

/// A line between two places.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The places of its two ends.
    pub ends: [(f64, f64); 2],
    /// The distance of its middle from the straight line, to the left of someone who goes along it.
    pub bend: f64,
    /// Its style.
    pub stroke: Stroke,
}

/// The meaning of the colours of connections, below the nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    /// A name for what is shown.
    pub title: String,
    /// Colours, as SVG writes them, and their texts.
    pub colours: Vec<(String, String)>,
}

/// More connections than this are thin.
const MANY: usize = 300;
/// Width of a colour in the legend.
const SWATCH: f64 = 44.0;
/// Height of the legend.
const LEGEND: f64 = 34.0;

/// Nodes in front of connections. The drawing is as large as its nodes need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// The text that a viewer shows for the drawing as a whole.
    pub title: String,
    /// The connections, the first behind all others.
    pub connections: Vec<Connection>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The meaning of colours, where they have one.
    pub legend: Option<Legend>,
}

impl Diagram {
    /// Draws the diagram as SVG.
    pub fn draw(&self) -> String {
        let end = |of: fn((f64, f64)) -> f64| {
            let most = self.nodes.iter().map(|node| of(node.at)).fold(0.0, f64::max);
            (most + MARGIN).round_ties_even()
        };
        let (width, height) = (end(|at| at.0), end(|at| at.1));
        // Many lines are thin, so that they can be told apart.
        let thin = if self.connections.len() > MANY { " stroke-width=\"0.5\"" } else { "" };
        let mut svg = format!("<g stroke=\"#8aa\"{thin}>\n");
        for connection in &self.connections {
            svg += &connection.draw();
        }
        svg += "</g>\n";
        for node in &self.nodes {
            svg += &node.draw();
        }
        let mut size = (width, height);
        if let Some(legend) = &self.legend {
            svg += &legend.draw(height);
            size = (width.max(legend.width()), height + LEGEND);
        }
        let title = format!("<title>{}</title>\n", escaped(&self.title));
        document(size, " font-size=\"8\" text-anchor=\"middle\"", &title, &svg)
    }
}

impl Connection {
    fn draw(&self) -> String {
        let [(ax, ay), (bx, by)] = self.ends;
        let rest = match &self.stroke {
            Stroke::Plain => "/>".to_owned(),
            Stroke::Broken => " stroke=\"#c33\" stroke-dasharray=\"4 3\"/>".to_owned(),
            Stroke::Marked { colour, text } => format!(
                " stroke=\"{}\" stroke-width=\"2\"><title>{}</title></line>",
                escaped(colour),
                escaped(text)
            ),
        };
        let length = (bx - ax).hypot(by - ay);
        if self.bend == 0.0 || length == 0.0 {
            return format!(
                "<line x1=\"{ax:.1}\" y1=\"{ay:.1}\" x2=\"{bx:.1}\" y2=\"{by:.1}\"{rest}\n"
            );
        }
        // The middle of the curve is half as far from the line as its control point.
        let (across, along) = ((by - ay) / length, (ax - bx) / length);
        let x = f64::midpoint(ax, bx) + 2.0 * self.bend * across;
        let y = f64::midpoint(ay, by) + 2.0 * self.bend * along;
        let rest = rest.replace("</line>", "</path>");
        format!("<path d=\"M{ax:.1} {ay:.1}Q{x:.1} {y:.1} {bx:.1} {by:.1}\" fill=\"none\"{rest}\n")
    }
}

impl Legend {
    fn width(&self) -> f64 {
        2.0 * MARGIN + SWATCH * self.colours.len() as f64
    }

    /// A row of colours with their texts, from a height on.
    fn draw(&self, top: f64) -> String {
        let mut svg = format!(
            "<text x=\"{MARGIN}\" y=\"{top}\" text-anchor=\"start\" font-size=\"9\">{}</text>\n",
            escaped(&self.title)
        );
        for (place, (colour, text)) in self.colours.iter().enumerate() {
            let x = MARGIN + SWATCH * place as f64;
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<path d=\"M{x} {:.0}h{SWATCH}\" stroke=\"{}\" stroke-width=\"8\"/><text x=\"{}\" \
                 y=\"{:.0}\">{}</text>",
                top + 9.0,
                escaped(colour),
                x + SWATCH / 2.0,
                top + 23.0,
                escaped(text)
            );
        }
        svg
    }
}

impl Node {
    fn draw(&self) -> String {
        let ((x, y), name) = (self.at, escaped(&self.name));
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _ = match self.symbol {
            Symbol::Dot => writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#369\"><title>{name}</title>\
                 </circle>"
            ),
            Symbol::Box => writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"12\" fill=\"#fd8\" \
                 stroke=\"#963\"/><text x=\"{x:.1}\" y=\"{:.1}\"><title>{name}</title>{}</text>",
                x - box_width(&self.label) / 2.0,
                y - 6.0,
                box_width(&self.label),
                y + 3.0,
                escaped(&self.label)
            ),
        };
        svg
    }
}
