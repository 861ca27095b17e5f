//! Reading a table row by row.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek as _},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use super::{
    Cell, Row,
    parquet::{self, is_parquet},
};

/// No row of a table is longer than this: a line that is does not come from one.
const LONGEST_ROW: u64 = 1 << 16;
/// Characters of a wrong line that are shown.
const SHOWN: usize = 80;

/// An error in reading a table.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("{}: {}", path.display(), units::text::reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The first line does not name the columns of the table.
    #[error("{}:1: expected `{expected}`, found `{found}`", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The names of the columns.
        expected: String,
        /// The beginning of the line.
        found: String,
    },
    /// A cell holds something else than its column.
    #[error("{}:{line}: expected {expected} in column `{column}`, found `{found}`", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The name of the column.
        column: &'static str,
        /// The values that the column holds.
        expected: &'static str,
        /// The beginning of the cell.
        found: String,
    },
    /// A line has too few or too many cells, or does not end.
    #[error("{}:{line}: expected {expected} cells, found `{found}`", path.display())]
    Cells {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The number of columns.
        expected: usize,
        /// The beginning of the line.
        found: String,
    },
    /// The file is no table in Parquet, or it is damaged.
    #[error("{}: {message}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
}

/// The text of a table in CSV: that of its file, or made of a Parquet file while it is read.
pub type TableText = BufReader<Box<dyn Read + Send>>;

/// Opens a table, whatever its form, for reading as CSV.
///
/// # Errors
/// If the file cannot be read.
pub fn open_table(path: &Path) -> Result<TableText, ReadError> {
    let text: Box<dyn Read + Send> = if is_parquet(path) {
        Box::new(parquet::Text::open(path)?)
    } else {
        let file = units::text::open(path);
        Box::new(file.map_err(|source| ReadError::Io { path: path.to_owned(), source })?)
    };
    Ok(BufReader::with_capacity(1 << 16, text))
}

/// Opens a table as a file of CSV, for reading at any place: its own file, or a temporary one that
/// a Parquet file is copied to.
///
/// # Errors
/// If the file cannot be read, or copied.
pub fn table_file(path: &Path) -> Result<File, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    if !is_parquet(path) {
        return units::text::open(path).map_err(io);
    }
    let mut file = tempfile::tempfile().map_err(io)?;
    io::copy(&mut open_table(path)?, &mut file).map_err(io)?;
    file.rewind().map_err(io)?;
    Ok(file)
}

/// Reads the rows of a table, one after the other: an iterator that ends after the first error. Its
/// memory does not grow with the table.
pub struct Reader<R, B = TableText> {
    input: B,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
    ended: bool,
    row: PhantomData<R>,
}

impl<R: Row> Reader<R> {
    /// Opens a file and checks that it is this table.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::new(open_table(path)?, path)
    }
}

impl<R: Row, B: BufRead> Reader<R, B> {
    /// Begins to read, behind a byte order mark if there is one, and checks that the input is this
    /// table. `path` names it in messages.
    pub fn new(mut input: B, path: &Path) -> Result<Self, ReadError> {
        let path = path.to_owned();
        units::text::skip_mark(&mut input)
            .map_err(|source| ReadError::Io { path: path.clone(), source })?;
        let mut reader =
            Self { input, path, line: Vec::new(), number: 0, ended: false, row: PhantomData };
        let read = reader.read_line()?;
        let expected = R::TABLE.header();
        if read && reader.line == expected.as_bytes() {
            return Ok(reader);
        }
        let found = shown(&reader.line);
        Err(ReadError::Header { path: reader.path, expected, found })
    }

    /// Reads the next line, without its end; says whether there was one.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        self.number += 1;
        loop {
            let room = LONGEST_ROW.saturating_sub(self.line.len() as u64);
            let read = (&mut self.input).take(room).read_until(b'\n', &mut self.line);
            let length =
                read.map_err(|source| ReadError::Io { path: self.path.clone(), source })?;
            let ends = length > 0 && self.line.last() == Some(&b'\n');
            if !ends && self.line.len() as u64 >= LONGEST_ROW {
                return Err(self.wrong_cells());
            }
            // A line end within quotation marks belongs to a cell.
            let open = self.line.iter().fold(false, |open, byte| open != (*byte == b'"'));
            if !ends || !open {
                let read = !self.line.is_empty();
                self.line.truncate(self.line.len() - usize::from(ends));
                // RFC 4180 ends lines with both; other programs may have written the table anew.
                if ends && self.line.last() == Some(&b'\r') {
                    self.line.pop();
                }
                return Ok(read);
            }
        }
    }

    fn wrong_cells(&self) -> ReadError {
        let (path, found) = (self.path.clone(), shown(&self.line));
        ReadError::Cells { path, line: self.number, expected: R::TABLE.columns.len(), found }
    }

    fn row(&mut self) -> Result<Option<R>, ReadError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let columns = R::TABLE.columns;
        let Ok(text) = std::str::from_utf8(&self.line) else {
            return Err(self.wrong_cells());
        };
        let mut cells = Cells { rest: Some(text), number: 0, wrong: None };
        if let Some(row) = R::read(&mut cells).filter(|_| cells.rest.is_none()) {
            return Ok(Some(row));
        }
        let column = cells.number.checked_sub(1).and_then(|number| columns.get(number));
        Err(match (cells.wrong, column) {
            (Some((expected, found)), Some(column)) => ReadError::Cell {
                path: self.path.clone(),
                line: self.number,
                column: column.name,
                expected,
                found: shown(found.as_bytes()),
            },
            _ => self.wrong_cells(),
        })
    }
}

impl<R: Row, B: BufRead> Iterator for Reader<R, B> {
    type Item = Result<R, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let row = self.row().transpose();
        self.ended = !matches!(row, Some(Ok(_)));
        row
    }
}

/// The beginning of a line, with control characters escaped.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown = String::new();
    for character in text.chars().take(SHOWN) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// The cells of a line that are still to be read.
pub struct Cells<'a> {
    /// The rest of the line; none behind the last cell.
    rest: Option<&'a str>,
    /// Number of cells that were read.
    number: usize,
    /// The expectation and the text of a cell that is wrong.
    wrong: Option<(&'static str, String)>,
}

impl Cells<'_> {
    /// Reads the next cell.
    pub fn next<C: Cell>(&mut self) -> Option<C> {
        let rest = self.rest.take()?;
        self.number += 1;
        if rest.starts_with('"') {
            let (text, rest) = unquoted(rest)?;
            self.rest = rest;
            return self.value(&text);
        }
        let text = match rest.split_once(',') {
            Some((text, rest)) => {
                self.rest = Some(rest);
                text
            }
            None => rest,
        };
        self.value(text)
    }

    fn value<C: Cell>(&mut self, text: &str) -> Option<C> {
        let value = C::read(text);
        if value.is_none() {
            self.wrong = Some((C::EXPECTED, text.to_owned()));
        }
        value
    }
}

/// Splits a line behind its first cell, which is quoted: the text of that cell, and the rest if
/// there is one.
fn unquoted(line: &str) -> Option<(String, Option<&str>)> {
    let mut text = String::new();
    let mut rest = line.strip_prefix('"')?;
    loop {
        let (before, after) = rest.split_once('"')?;
        text.push_str(before);
        match after.chars().next() {
            Some('"') => text.push('"'),
            Some(',') => return Some((text, after.get(1..))),
            None => return Some((text, None)),
            Some(_) => return None,
        }
        rest = after.get(1..)?;
    }
}
