//! A table by columns, in memory, for those who compute with it or draw it.

use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use super::{
    Column, Kind, ReadError, Row, TABLES, Table, Value,
    parquet::{Batches, Groups, is_parquet},
};

/// A table by columns, which all have the same number of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The columns, from left to right.
    pub columns: Vec<NamedColumn>,
    /// The number of rows.
    pub rows: usize,
}

/// A column with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedColumn {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty if they have none, or if it is not known.
    pub unit: &'static str,
    /// A value for each row; zero or an empty text where the cell is empty.
    pub values: Values,
    /// False for each row whose cell is empty; an empty vector if there is no such row.
    pub filled: Vec<bool>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers, not below zero.
    Unsigned(Vec<u64>),
    /// Whole numbers with a sign.
    Signed(Vec<i64>),
    /// Decimal numbers.
    Decimal(Vec<f64>),
    /// `true` or `false`.
    Flag(Vec<bool>),
    /// Texts.
    Text(Vec<String>),
}

impl Values {
    pub(super) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Unsigned => Self::Unsigned(Vec::new()),
            Kind::Signed => Self::Signed(Vec::new()),
            Kind::Decimal => Self::Decimal(Vec::new()),
            Kind::Flag => Self::Flag(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    /// The kind of the values.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Unsigned(_) => Kind::Unsigned,
            Self::Signed(_) => Kind::Signed,
            Self::Decimal(_) => Kind::Decimal,
            Self::Flag(_) => Kind::Flag,
            Self::Text(_) => Kind::Text,
        }
    }

    /// Appends a value of the same kind; any other, or none, becomes zero or an empty text.
    fn push(&mut self, value: Option<Value<'_>>) {
        match (self, value) {
            (Self::Unsigned(all), Some(Value::Unsigned(value))) => all.push(value),
            (Self::Signed(all), Some(Value::Signed(value))) => all.push(value),
            (Self::Decimal(all), Some(Value::Decimal(value))) => all.push(value),
            (Self::Flag(all), Some(Value::Flag(value))) => all.push(value),
            (Self::Text(all), Some(Value::Text(value))) => all.push(value.to_owned()),
            (Self::Unsigned(all), _) => all.push(0),
            (Self::Signed(all), _) => all.push(0),
            (Self::Decimal(all), _) => all.push(0.0),
            (Self::Flag(all), _) => all.push(false),
            (Self::Text(all), _) => all.push(String::new()),
        }
    }
}

impl NamedColumn {
    /// A column of these values, none of which is missing.
    pub fn new(name: impl Into<String>, unit: &'static str, values: Values) -> Self {
        Self { name: name.into(), unit, values, filled: Vec::new() }
    }

    fn of(column: &Column) -> Self {
        Self::new(column.name, column.unit, Values::of(column.kind))
    }

    /// Appends a value, behind `rows` others.
    fn push(&mut self, value: Option<Value<'_>>, rows: usize) {
        if value.is_none() && self.filled.is_empty() {
            self.filled.resize(rows, true);
        }
        if value.is_none() || !self.filled.is_empty() {
            self.filled.push(value.is_some());
        }
        self.values.push(value);
    }

    /// Returns whether a row has a value.
    pub fn is_filled(&self, row: usize) -> bool {
        self.filled.get(row).copied().unwrap_or(true)
    }

    /// The value of a row; none if it is missing.
    pub fn value(&self, row: usize) -> Option<Value<'_>> {
        if !self.is_filled(row) {
            return None;
        }
        match &self.values {
            Values::Unsigned(all) => all.get(row).copied().map(Value::Unsigned),
            Values::Signed(all) => all.get(row).copied().map(Value::Signed),
            Values::Decimal(all) => all.get(row).copied().map(Value::Decimal),
            Values::Flag(all) => all.get(row).copied().map(Value::Flag),
            Values::Text(all) => all.get(row).map(|text| Value::Text(text)),
        }
    }

    /// The value of a row as a number; none if it is missing, or a text.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self.value(row)? {
            Value::Unsigned(value) => Some(value as f64),
            Value::Signed(value) => Some(value as f64),
            Value::Decimal(value) => Some(value),
            Value::Flag(value) => Some(f64::from(value)),
            Value::Text(_) => None,
        }
    }

    /// The value of a row as a text; empty if it is missing.
    pub fn text(&self, row: usize) -> String {
        self.value(row).map_or_else(String::new, |value| match value {
            Value::Unsigned(value) => value.to_string(),
            Value::Signed(value) => value.to_string(),
            Value::Decimal(value) => value.to_string(),
            Value::Flag(value) => value.to_string(),
            Value::Text(text) => text.to_owned(),
        })
    }
}

impl Columns {
    /// Collects rows.
    pub fn of<R: Row>(rows: impl IntoIterator<Item = R>) -> Self {
        let columns = R::TABLE.columns.iter().map(NamedColumn::of).collect();
        let mut table = Self { columns, rows: 0 };
        for row in rows {
            table.push(&row);
        }
        table
    }

    /// Takes all rows away.
    pub(super) fn clear(&mut self) {
        for column in &mut self.columns {
            column.values = Values::of(column.values.kind());
            column.filled.clear();
        }
        self.rows = 0;
    }

    /// Appends a row of its kind.
    pub(super) fn push(&mut self, row: &impl Row) {
        let Self { columns, rows } = self;
        let mut columns = columns.iter_mut();
        row.values(&mut |value| {
            if let Some(column) = columns.next() {
                column.push(value, *rows);
            }
        });
        self.rows += 1;
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&NamedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Reads a table of a run, whose columns have the kinds that [`TABLES`] declares; or any other
    /// in the same form, such as that of a study, the kinds of whose columns are found from their
    /// cells: the first of whole number, number with a sign, decimal number, flag and text that
    /// all of them are.
    ///
    /// # Errors
    /// If the file cannot be read or is no table.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        if is_parquet(path) {
            let mut batches = Batches::open(path)?;
            let mut table = batches.empty()?;
            while batches.append(&mut table)? {}
            return Ok(table);
        }
        let text = units::text::read(path);
        let text = text.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Reads a table from its text in CSV. `path` names it in messages.
    ///
    /// # Errors
    /// If the text is no table.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ReadError> {
        let text = text.trim_start_matches('\u{feff}');
        let header = Records(text).next().unwrap_or_default();
        for (number, record) in (1..).zip(Records(text)) {
            if record.len() != header.len() {
                let found = record.join(",").chars().take(80).collect();
                let (path, expected) = (path.to_owned(), header.len());
                return Err(ReadError::Cells { path, line: number, expected, found });
            }
        }
        let mut table = Self { columns: columns(&header, text), rows: 0 };
        for record in Records(text).skip(1) {
            for (column, cell) in table.columns.iter_mut().zip(&record) {
                let kind = column.values.kind();
                column.push(value(kind, cell), table.rows);
            }
            table.rows += 1;
        }
        Ok(table)
    }

    /// Writes the table as Parquet; any cell may be empty.
    ///
    /// # Errors
    /// If `out` does not take it.
    pub fn write_parquet(self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let optional = vec![true; self.columns.len()];
        Groups::new(out, self, &optional)?.finish()
    }
}

/// Empty columns for the table in `text`: as declared, or of kinds that hold all its cells.
fn columns(header: &[Cow<'_, str>], text: &str) -> Vec<NamedColumn> {
    let is = |table: &&Table| table.columns.iter().map(|column| column.name).eq(header);
    if let Some(known) = TABLES.iter().find(is) {
        return known.columns.iter().map(NamedColumn::of).collect();
    }
    let mut fits = vec![[true; KINDS.len()]; header.len()];
    let mut filled = vec![false; header.len()];
    for record in Records(text).skip(1) {
        for ((cell, fits), filled) in record.iter().zip(&mut fits).zip(&mut filled) {
            if !cell.is_empty() {
                *filled = true;
                for (fits, kind) in fits.iter_mut().zip(KINDS) {
                    *fits = *fits && value(kind, cell).is_some();
                }
            }
        }
    }
    let kind = |(fits, filled): (&[bool; KINDS.len()], &bool)| {
        let found = KINDS.into_iter().zip(fits).find(|(_, fits)| **fits && *filled);
        found.map_or(Kind::Text, |(kind, _)| kind)
    };
    let kinds = fits.iter().zip(&filled).map(kind);
    let column =
        |(name, kind): (&Cow<'_, str>, Kind)| NamedColumn::new(name.as_ref(), "", Values::of(kind));
    header.iter().zip(kinds).map(column).collect()
}

/// The kinds of columns that no table declares, the narrowest first.
const KINDS: [Kind; 5] = [Kind::Unsigned, Kind::Signed, Kind::Decimal, Kind::Flag, Kind::Text];

/// The records of a table, as RFC 4180 describes them: the cells of one after the other.
struct Records<'a>(&'a str);

impl<'a> Iterator for Records<'a> {
    type Item = Vec<Cow<'a, str>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut record = Vec::new();
        loop {
            record.push(self.cell());
            let (separator, rest) = self.0.split_at_checked(1).unwrap_or_default();
            self.0 = rest;
            if separator != "," {
                return Some(record);
            }
        }
    }
}

impl<'a> Records<'a> {
    /// Takes the next cell, and leaves the comma or line end behind it.
    fn cell(&mut self) -> Cow<'a, str> {
        let Some(quoted) = self.0.strip_prefix('"') else {
            let end = self.0.find([',', '\n']).unwrap_or(self.0.len());
            let (cell, rest) = self.0.split_at(end);
            self.0 = rest;
            return cell
                .strip_suffix('\r')
                .filter(|_| !rest.starts_with(','))
                .unwrap_or(cell)
                .into();
        };
        let mut cell = String::new();
        self.0 = quoted;
        loop {
            let (before, after) = self.0.split_once('"').unwrap_or((self.0, ""));
            cell.push_str(before);
            self.0 = after;
            let Some(more) = after.strip_prefix('"') else { break };
            cell.push('"');
            self.0 = more;
        }
        self.0 = self.0.strip_prefix('\r').unwrap_or(self.0);
        cell.into()
    }
}

/// The value of a cell; none if it is empty or of another kind.
fn value(kind: Kind, cell: &str) -> Option<Value<'_>> {
    if cell.is_empty() {
        return None;
    }
    match kind {
        Kind::Unsigned => cell.parse().ok().map(Value::Unsigned),
        Kind::Signed => cell.parse().ok().map(Value::Signed),
        Kind::Decimal => cell.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Decimal),
        Kind::Flag => cell.parse().ok().map(Value::Flag),
        Kind::Text => Some(Value::Text(cell)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::{HopRow, LossRow, Writer};

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("a file");
        file
    }

    /// A table that is written and read again by columns is the one that was collected.
    #[test]
    fn a_table_comes_back() {
        let rows =
            || {
                [("a,\"b\"\nc", 1, 0), ("", 2, u64::MAX)].map(|(device, discarded, resent)| {
                    LossRow { device: device.into(), discarded, resent }
                })
            };
        let mut text = Vec::new();
        Writer::all(&mut text, rows()).expect("memory");
        let file = file(&String::from_utf8(text).expect("text"));
        let read = Columns::read(file.path()).expect("a table");
        let mut expected = Columns::of(rows());
        // An empty text and an empty cell look alike in a file.
        expected.columns[0].filled = vec![true, false];
        assert_eq!(read, expected);
        assert_eq!(read.column("resent").and_then(|c| c.number(1)), Some(u64::MAX as f64));
        let none = Columns::of::<HopRow>([]);
        assert_eq!((none.rows, none.columns.len()), (0, 2));
    }

    /// The kinds of columns that no table declares are those of their cells.
    #[test]
    fn kinds_are_found() {
        let file = file("n,i,d,f,t,e\n1,-1,0.5,true,x,\n2,,1,false,2,\n");
        let table = Columns::read(file.path()).expect("a table");
        let of = |name: &str| &table.column(name).expect("a column").values;
        assert_eq!(of("n"), &Values::Unsigned(vec![1, 2]));
        assert_eq!(of("i"), &Values::Signed(vec![-1, 0]));
        assert_eq!(table.column("i").expect("a column").filled, [true, false]);
        assert_eq!(of("d"), &Values::Decimal(vec![0.5, 1.0]));
        assert_eq!(of("f"), &Values::Flag(vec![true, false]));
        assert_eq!(of("t"), &Values::Text(vec!["x".to_owned(), "2".to_owned()]));
        assert_eq!(table.column("e").expect("a column").filled, [false, false]);
    }

    #[test]
    fn lines_of_another_length_are_refused() {
        let file = file("a,b\n1,2\n3\n");
        let error = Columns::read(file.path()).expect_err("a short line").to_string();
        assert!(error.ends_with(":3: expected 2 cells, found `3`"), "{error}");
    }
}
