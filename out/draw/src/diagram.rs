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

/// A straight line between two places.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Where it begins and ends.
    pub ends: [(f64, f64); 2],
    /// Its style.
    pub stroke: Stroke,
}

/// Nodes in front of connections. The drawing is as large as its nodes need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// The text that a viewer shows for the drawing as a whole.
    pub title: String,
    /// The connections, the first behind all others.
    pub connections: Vec<Connection>,
    /// The nodes.
    pub nodes: Vec<Node>,
}

impl Diagram {
    /// Draws the diagram as SVG.
    pub fn draw(&self) -> String {
        let end = |of: fn((f64, f64)) -> f64| {
            let most = self.nodes.iter().map(|node| of(node.at)).fold(0.0, f64::max);
            (most + MARGIN).round_ties_even()
        };
        let size = (end(|at| at.0), end(|at| at.1));
        let mut svg = String::from("<g stroke=\"#8aa\">\n");
        for connection in &self.connections {
            svg += &connection.draw();
        }
        svg += "</g>\n";
        for node in &self.nodes {
            svg += &node.draw();
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
        format!("<line x1=\"{ax:.1}\" y1=\"{ay:.1}\" x2=\"{bx:.1}\" y2=\"{by:.1}\"{rest}\n")
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
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"22\" height=\"12\" fill=\"#fd8\" \
                 stroke=\"#963\"/><text x=\"{x:.1}\" y=\"{:.1}\"><title>{name}</title>{}</text>",
                x - 11.0,
                y - 6.0,
                y + 3.0,
                escaped(&self.label)
            ),
        };
        svg
    }
}
