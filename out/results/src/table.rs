//! The tables of a run folder: what columns they have, how they are written and how they are read.
//!
//! A table is declared once, in [`rows`], as a structure whose fields are its columns. Writer,
//! reader and the pages of the book follow from that declaration: [`Writer`] writes rows as CSV or
//! as Parquet, [`Reader`] reads them, and [`Table::markdown`] describes the columns. Rows pass one
//! by one, so that a table may be larger than memory.
//!
//! A Parquet file is read as the CSV that it would be. CSV begins with the names of the columns.
//! Cells are separated by commas and lines end with `\n`. A cell that holds a comma, a quotation
//! mark or a line end is quoted as RFC 4180 says.

mod cell;
mod columns;
mod parquet;
mod read;
mod rows;
mod write;

use std::fmt::Write as _;

use crate::Artifact;

pub use cell::{Cell, Fixed, Kind, Text, Value};
pub use columns::{Columns, NamedColumn, Values};
pub use read::{ReadError, Reader, TableText, open_table, table_file};
pub use rows::{
    ActivityRow, Call, CallRow, ComputationRow, ConnectionRow, DeviceRow, FlowRow, HopRow, LaneRow,
    LineRow, LoadRow, LossRow, MessageRow, PointRow, RankRow, TABLES, write_activity, write_calls,
    write_computation, write_loads, write_messages, write_ranks,
};
pub use write::{TableForm, TableOutput, Writer};

/// The schema of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The file of the run folder that holds it.
    pub artifact: Artifact,
    /// The meaning of a row, and the order of the rows.
    pub about: &'static str,
    /// The columns, from left to right.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in the first line.
    pub name: &'static str,
    /// The values that it holds.
    pub kind: Kind,
    /// Is true if a cell may be empty.
    pub optional: bool,
    /// The unit of its values; empty if they have none.
    pub unit: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

/// A row of a table: a structure whose fields are the cells. [`rows`] implements it for each table.
///
/// A writer calls [`Row::write`], and a reader [`Row::read`], once per row. Both pass over the
/// cells in the order of [`Table::columns`], and what the one writes, the other reads as the same
/// value.
pub trait Row: Sized {
    /// The schema of the table that the row belongs to.
    const TABLE: Table;

    /// Writes all cells.
    fn write(&self, line: &mut write::Line);

    /// Reads all cells. On an error, `cells` knows which one was wrong.
    fn read(cells: &mut read::Cells) -> Option<Self>;

    /// Hands all cells to `each`, in the order of the columns.
    fn values(&self, each: &mut impl FnMut(Option<Value<'_>>));
}

impl Table {
    /// The first line of the file, without its end.
    pub fn header(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| column.name).collect();
        names.join(",")
    }

    /// The description of the columns for the book: a table in Markdown, a row per column.
    pub fn markdown(&self) -> String {
        let mut text = String::from("| column | unit | meaning |\n|---|---|---|\n");
        for Column { name, kind, optional, unit, about } in self.columns {
            let unit = if unit.is_empty() { kind.name() } else { unit };
            let empty = if *optional { " May be empty." } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{name}` | {unit} | {about}{empty} |");
        }
        text
    }
}
