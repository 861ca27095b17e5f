//! Writing a table row by row.

use std::{
    fs::File,
    io::{self, Write},
    marker::PhantomData,
};

use super::{Cell as _, Columns, Row, Value, parquet::Groups};

/// Rows are handed on in pieces of at least this many bytes.
const PIECE: usize = 1 << 16;

/// The form of the file of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableForm {
    /// Text, as RFC 4180 describes it.
    #[default]
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// A place to which a table is written, which says in which form.
pub trait TableOutput: Write + Send {
    /// The form of the table; CSV unless the place says otherwise.
    fn form(&self) -> TableForm {
        TableForm::Csv
    }
}

impl TableOutput for Vec<u8> {}
impl TableOutput for File {}

/// Writes a table to `out`, in large pieces. Its memory does not grow with the table.
pub struct Writer<'a, R, W: TableOutput> {
    sheet: Sheet<'a, W>,
    row: PhantomData<R>,
}

/// A table that is being written, in each of the forms.
enum Sheet<'a, W: TableOutput> {
    Csv { out: &'a mut W, line: Line },
    Parquet(Groups<&'a mut W>),
}

impl<'a, R: Row, W: TableOutput> Writer<'a, R, W> {
    /// Begins a table with the names of its columns.
    pub fn new(out: &'a mut W) -> io::Result<Self> {
        let sheet = match out.form() {
            TableForm::Csv => {
                let mut line = Line { text: Vec::with_capacity(2 * PIECE), ..Line::default() };
                line.text.extend_from_slice(R::TABLE.header().as_bytes());
                line.text.push(b'\n');
                Sheet::Csv { out, line }
            }
            TableForm::Parquet => {
                let optional: Vec<_> = R::TABLE.columns.iter().map(|c| c.optional).collect();
                Sheet::Parquet(Groups::new(out, Columns::of::<R>([]), &optional)?)
            }
        };
        Ok(Self { sheet, row: PhantomData })
    }

    /// Writes a whole table.
    pub fn all(out: &'a mut W, rows: impl IntoIterator<Item = R>) -> io::Result<()> {
        let mut table = Self::new(out)?;
        for row in rows {
            table.row(&row)?;
        }
        table.finish()
    }

    /// Adds a row.
    pub fn row(&mut self, row: &R) -> io::Result<()> {
        match &mut self.sheet {
            Sheet::Csv { out, line } => {
                row.write(line);
                line.end_row();
                if line.text.len() >= PIECE {
                    out.write_all(&line.text)?;
                    line.text.clear();
                }
                Ok(())
            }
            Sheet::Parquet(groups) => {
                groups.rows.push(row);
                groups.flush_full()
            }
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<()> {
        match self.sheet {
            Sheet::Csv { out, line } => {
                out.write_all(&line.text)?;
                out.flush()
            }
            Sheet::Parquet(groups) => groups.finish(),
        }
    }
}

/// Lines under construction. Each cell is followed by a comma, which the end of its line replaces.
#[derive(Default)]
pub struct Line {
    text: Vec<u8>,
    digits: itoa::Buffer,
}

impl Line {
    /// The text of the lines.
    pub fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Takes all lines away.
    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// Ends a line behind its last cell.
    #[inline]
    pub fn end_row(&mut self) {
        if let Some(comma) = self.text.last_mut() {
            *comma = b'\n';
        }
    }

    /// Appends the value of a cell, if it has one.
    pub fn value(&mut self, value: Option<Value<'_>>) {
        match value {
            Some(Value::Unsigned(number)) => self.integer(number),
            Some(Value::Signed(number)) => self.integer(number),
            Some(Value::Decimal(number)) => number.write(self),
            Some(Value::Flag(flag)) => flag.write(self),
            Some(Value::Text(text)) => self.text(text),
            None => {}
        }
    }

    /// Ends a cell.
    #[inline]
    pub fn end(&mut self) {
        self.text.push(b',');
    }

    /// The place to which a cell is appended.
    pub const fn cell(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Appends a whole number.
    #[inline]
    pub fn integer(&mut self, number: impl itoa::Integer) {
        self.text.extend_from_slice(self.digits.format(number).as_bytes());
    }

    /// Appends a text, in quotation marks if it needs them.
    pub fn text(&mut self, text: &str) {
        if text.contains([',', '"', '\n', '\r']) {
            self.text.push(b'"');
            self.text.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.text.push(b'"');
        } else {
            self.text.extend_from_slice(text.as_bytes());
        }
    }
}
