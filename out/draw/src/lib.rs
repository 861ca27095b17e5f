//! Every drawing that Heddle makes, as SVG: no other crate writes SVG.
//!
//! - [`CurveChart`] draws curves over a numeric axis, with bands around them, and [`stacked`]
//!   several such charts; [`CategoryChart`] lines or bars over named places, [`GroupChart`] bars or
//!   boxes of several values each, and [`HeatChart`] a colour for each pair of places.
//! - [`Diagram`] draws named nodes and the lines between them; [`topology`] lays a topology out as
//!   one, and [`heat_map`] colours its links; [`places`]
//!   are where it puts the devices.
//! - [`png`] draws any of these as pixels.
//!
//! A drawing is a function of plain data: strings, numbers, and the graph of a topology. The crate
//! knows neither runs nor network models, and it does not write files. Whatever text it is given
//! is escaped, so that a name from an input file cannot add elements to a drawing.

mod axis;
mod category;
mod course;
mod curve;
mod diagram;
mod group;
mod heat;
mod png;
mod svg;
mod topology;

pub use self::topology::{heat_map, places, topology};
pub use axis::Scale;
pub use category::{CategoryChart, Line};
pub use curve::{Curve, CurveChart, stacked};
pub use diagram::{Connection, Diagram, Legend, Node, Stroke, Symbol};
pub use group::{Group, GroupChart, GroupShape};
pub use heat::HeatChart;
pub use png::{PngError, png};
