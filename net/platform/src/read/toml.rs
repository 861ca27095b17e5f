//! Platforms in TOML: the elements and attributes of SimGrid's files as tables and keys.
//!
//! `[[platform.zone.host]]` with `id = "a"` is `<host id="a"/>` in the zone. Properties are a table
//! `properties`, the links of a route a list `links`, each the link's name, with `:UP` or `:DOWN`
//! behind it where the link has two directions. Quantities are texts with units.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use topology::{
    Fault, Faults,
    import::{
        Lines,
        xml::{Attribute, Element, Place},
    },
};

use super::Node;

/// Tables within tables beyond this depth are refused: the readers recurse.
const DEPTH: usize = 64;

/// Attributes that are quantities with units.
const QUANTITIES: &[&str] = &[
    "speed",
    "bw",
    "lat",
    "bandwidth",
    "latency",
    "bb_bw",
    "bb_lat",
    "loopback_bw",
    "loopback_lat",
    "limiter_link",
    "bw_in",
    "bw_out",
];

/// The elements that the table `[platform]` of a text describes; none without such a table.
pub(super) fn tree(text: &str, faults: &mut Faults) -> Vec<Node> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = Lines::new(text);
    for error in &errors {
        let (line, column) = lines.place(error.span().map_or(0, |span| span.start));
        faults.push(Fault::at(line, column, error.message()));
    }
    let Some((key, value)) = table.get_ref().get_key_value("platform") else { return Vec::new() };
    let mut reader = Reader { lines, faults };
    let place = reader.place(&key.span());
    let DeValue::Table(inner) = value.get_ref() else {
        reader.fault(place, "`platform` is a table");
        return Vec::new();
    };
    let mut platform = reader.node("platform", inner, place, 0);
    platform.element.attributes.push(attribute("version", "4.1", place));
    vec![platform]
}

fn attribute(name: &str, value: impl Into<String>, place: Place) -> Attribute {
    Attribute { name: name.to_owned(), value: value.into(), place }
}

fn leaf(name: &str, attributes: Vec<Attribute>, place: Place) -> Node {
    Node { element: Element { name: name.to_owned(), place, attributes }, children: Vec::new() }
}

struct Reader<'a> {
    lines: Lines<'a>,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> Place {
        self.lines.place(span.start)
    }

    fn fault(&mut self, (line, column): Place, message: impl Into<String>) {
        self.faults.push(Fault::at(line, column, message));
    }

    fn node(&mut self, name: &str, table: &DeTable, place: Place, depth: usize) -> Node {
        let mut node = leaf(name, Vec::new(), place);
        if depth > DEPTH {
            self.fault(place, format!("more than {DEPTH} tables within each other"));
            return node;
        }
        // A table gives its keys in the order of the alphabet; their places tell that of the file.
        let mut inner = Vec::new();
        for (key, value) in table {
            let (key, place) = (key.get_ref().as_ref(), self.place(&key.span()));
            match (key, value.get_ref()) {
                ("properties", DeValue::Table(properties)) => {
                    node.children.extend(self.properties(properties));
                }
                ("config", DeValue::Table(items)) if name == "platform" => {
                    let mut config = leaf("config", Vec::new(), place);
                    config.children = self.properties(items);
                    node.children.push(config);
                }
                ("links", DeValue::Array(links)) => {
                    for link in links {
                        node.children.extend(self.link(link.get_ref(), self.place(&link.span())));
                    }
                }
                (key, DeValue::Table(table)) => inner.push((value.span().start, key, table)),
                (key, DeValue::Array(items))
                    if !items.is_empty() && items.iter().all(|item| item.get_ref().is_table()) =>
                {
                    inner.extend(items.iter().filter_map(|item| match item.get_ref() {
                        DeValue::Table(table) => Some((item.span().start, key, table)),
                        _ => None,
                    }));
                }
                (key, value) => {
                    let value = self.value(key, value, place);
                    node.element.attributes.extend(value.map(|value| attribute(key, value, place)));
                }
            }
        }
        inner.sort_by_key(|(start, ..)| *start);
        for (start, key, table) in inner {
            let child = self.node(key, table, self.lines.place(start), depth + 1);
            node.children.push(child);
        }
        node
    }

    fn properties(&mut self, table: &DeTable) -> Vec<Node> {
        let mut all: Vec<_> = table.iter().collect();
        all.sort_by_key(|(key, _)| key.span().start);
        let mut nodes = Vec::new();
        for (key, value) in all {
            let place = self.place(&key.span());
            let Some(value) = self.value("", value.get_ref(), place) else { continue };
            let attributes = vec![
                attribute("id", key.get_ref().as_ref(), place),
                attribute("value", value, place),
            ];
            nodes.push(leaf("prop", attributes, place));
        }
        nodes
    }

    /// A link of a route: `NAME`, `NAME:UP` or `NAME:DOWN`.
    fn link(&mut self, value: &DeValue, place: Place) -> Option<Node> {
        let DeValue::String(text) = value else {
            self.fault(place, "expected the name of a link");
            return None;
        };
        let (name, direction) = match text.rsplit_once(':') {
            Some((name, way @ ("UP" | "DOWN"))) => (name, Some(way)),
            _ => (text.as_ref(), None),
        };
        let mut attributes = vec![attribute("id", name, place)];
        attributes.extend(direction.map(|way| attribute("direction", way, place)));
        Some(leaf("link_ctn", attributes, place))
    }

    /// The text of an attribute.
    fn value(&mut self, key: &str, value: &DeValue, place: Place) -> Option<String> {
        let quantity = QUANTITIES.contains(&key);
        let text = match value {
            DeValue::String(text) if quantity => Some(simgrid(text)),
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) if !quantity => Some(number.as_str().to_owned()),
            DeValue::Float(number) if !quantity => Some(number.as_str().to_owned()),
            DeValue::Boolean(value) => Some(if *value { "YES" } else { "NO" }.to_owned()),
            _ => None,
        };
        if text.is_none() {
            let what = if quantity {
                "a quantity with its unit, such as \"12.5 GB/s\", \"50 us\" or \"10 Gflop/s\""
            } else {
                "a text, a number, or a table"
            };
            self.fault(place, format!("`{key}`: expected {what}"));
        }
        text
    }
}

/// A quantity, or a list of them, as SimGrid writes it: `12.5 GB/s` is `12.5GBps`.
fn simgrid(text: &str) -> String {
    let text = text.replace(' ', "");
    text.replace("B/s", "Bps").replace("b/s", "bps").replace("flop/s", "f")
}
