//! XML as SimGrid's files use it: one outermost element, and elements and their attributes with
//! their places. Comments, declarations and processing instructions are skipped. Text is an error,
//! because no element of these files holds any. The only entities are XML's own five and references
//! to characters by number.

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::lines::Lines;
use crate::{Fault, Faults};

/// Elements within elements beyond this depth are refused, so that readers may recurse.
const DEPTH: usize = 64;

/// Line and column, from 1.
pub type Place = (usize, usize);

/// The beginning of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// The place of its beginning.
    pub place: Place,
    /// Its attributes in the order of the file, each name once.
    pub attributes: Vec<Attribute>,
}

/// An attribute of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value, entities resolved.
    pub value: String,
    /// The place of its name.
    pub place: Place,
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attribute(name).map(|attribute| attribute.value.as_str())
    }

    /// An attribute by its name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// A part of the text that a reader is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// An element begins.
    Open(Element),
    /// The element of this name ends.
    Close(String),
}

/// Reads a text and passes on its parts in order. Every `Open` has its `Close`, unless there is an
/// error. Attributes that cannot be read, text and a second outermost element are errors that do
/// not end the reading; a tag that does not close is.
// Long because it lists the events of the parser.
pub fn read(text: &str, mut each: impl FnMut(Part)) -> Result<(), Faults> {
    let lines = Lines::new(text);
    let mut faults = Faults::default();
    let mut reader = Reader::from_str(text);
    let mut open: Vec<(String, Place)> = Vec::new();
    let mut root: Option<String> = None;
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let event = reader.read_event();
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let content = text.get(start..end).unwrap_or_default();
        let misplaced = match (&event, &root) {
            (Ok(Event::Start(_) | Event::Empty(_)), Some(root)) if open.is_empty() => {
                Some(format!("a second outermost element; the file ends with </{root}>"))
            }
            (Ok(Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)), _) => stray(content),
            _ => None,
        };
        if let Some(message) = misplaced {
            let blank = content.len() - content.trim_start().len();
            let (line, column) = lines.place(start.saturating_add(blank));
            faults.push(Fault::at(line, column, message));
        }
        match event {
            Ok(Event::Start(tag)) => {
                let element = element(&tag, start, &lines, &mut faults);
                root.get_or_insert_with(|| element.name.clone());
                if open.len() == DEPTH {
                    let message =
                        format!("elements stand within each other more than {DEPTH} deep");
                    faults.push(Fault::at(element.place.0, element.place.1, message));
                    return Err(faults);
                }
                open.push((element.name.clone(), element.place));
                each(Part::Open(element));
            }
            Ok(Event::Empty(tag)) => {
                let element = element(&tag, start, &lines, &mut faults);
                root.get_or_insert_with(|| element.name.clone());
                let name = element.name.clone();
                each(Part::Open(element));
                each(Part::Close(name));
            }
            Ok(Event::End(tag)) => {
                open.pop();
                each(Part::Close(tag.name().0.to_owned()));
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                let (line, column) = lines.place(at);
                faults.push(Fault::at(line, column, error.to_string()));
                return faults.or(());
            }
        }
    }
    for (name, (line, column)) in open {
        faults.push(Fault::at(line, column, format!("<{name}> is not closed")));
    }
    faults.or(())
}

/// Says that there is text where only elements stand, unless it is nothing but blanks.
fn stray(content: &str) -> Option<String> {
    let word = content.split_whitespace().next()?;
    let shown: String = word.chars().take(20).collect();
    Some(format!("expected an element, found the text `{shown}`"))
}

fn element(tag: &BytesStart, start: usize, lines: &Lines, faults: &mut Faults) -> Element {
    let name = tag.name().0.to_owned();
    let mut attributes: Vec<Attribute> = Vec::new();
    for attribute in tag.attributes() {
        match attribute {
            Ok(attribute) => {
                // Names are slices of the tag, which begins behind its `<`.
                let offset =
                    (attribute.key.0.as_ptr() as usize).wrapping_sub(tag.as_ptr() as usize);
                let place = lines.place(start.saturating_add(offset).saturating_add(1));
                let name = attribute.key.0.to_owned();
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_or_else(
                    |error| {
                        faults.push(Fault::at(place.0, place.1, format!("`{name}`: {error}")));
                        attribute.value.to_string()
                    },
                    std::borrow::Cow::into_owned,
                );
                attributes.push(Attribute { name, value, place });
            }
            Err(error) => {
                let (line, column) = lines.place(start);
                faults.push(Fault::at(line, column, format!("<{name}>: {error}")));
            }
        }
    }
    Element { name, place: lines.place(start), attributes }
}
