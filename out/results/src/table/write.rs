//! Writing a table row by row.

use std::{
    io::{self, Write},
    marker::PhantomData,
};

use super::Row;

/// Rows are handed on in pieces of at least this many bytes.
const PIECE: usize = 1 << 16;

/// Writes a table to `out`, in large pieces. Its memory does not grow with the table.
pub struct Writer<'a, R, W> {
    out: &'a mut W,
    line: Line,
    row: PhantomData<R>,
}

/// Lines under construction. Each cell is followed by a comma, which the end of its line replaces.
pub struct Line {
    text: Vec<u8>,
    digits: itoa::Buffer,
}

impl<'a, R: Row, W: Write> Writer<'a, R, W> {
    /// Begins a table with its header.
    pub fn new(out: &'a mut W) -> Self {
        let mut text = Vec::with_capacity(2 * PIECE);
        text.extend_from_slice(R::TABLE.header().as_bytes());
        text.push(b'\n');
        Self { out, line: Line { text, digits: itoa::Buffer::new() }, row: PhantomData }
    }

    /// Writes a whole table.
    pub fn all(out: &'a mut W, rows: impl IntoIterator<Item = R>) -> io::Result<()> {
        let mut table = Self::new(out);
        for row in rows {
            table.row(&row)?;
        }
        table.finish()
    }

    /// Adds a row.
    pub fn row(&mut self, row: &R) -> io::Result<()> {
        row.write(&mut self.line);
        if let Some(comma) = self.line.text.last_mut() {
            *comma = b'\n';
        }
        if self.line.text.len() >= PIECE {
            self.out.write_all(&self.line.text)?;
            self.line.text.clear();
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.line.text)?;
        self.out.flush()
    }
}

impl Line {
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
