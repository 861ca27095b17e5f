//! Single rows of a table whose rows are in order, found without reading the others.

use std::{
    fs::File,
    io::{BufReader, Cursor, Read as _},
    marker::PhantomData,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use results::{Reader, Row};

use crate::Error;

/// Bytes that are read at once. A row of the tables that are searched is much shorter.
const PIECE: u64 = 1 << 12;

/// A table that is searched by bisection of its bytes. Its cells hold no line ends.
#[derive(Debug)]
pub struct Random<R> {
    file: File,
    path: PathBuf,
    /// The place of the first row.
    start: u64,
    /// The place behind the last row.
    end: u64,
    row: PhantomData<R>,
}

/// A row with its place.
#[derive(Clone, Debug)]
pub struct Placed<R> {
    /// The row.
    pub row: R,
    /// The place of its first byte.
    pub begin: u64,
    /// The place behind its line end.
    pub end: u64,
}

impl<R: Row> Random<R> {
    /// Opens a table; `None` if the folder does not have it.
    pub fn open(folder: &Path) -> Result<Option<Self>, Error> {
        let path = R::TABLE.artifact.path(folder);
        if !path.is_file() {
            return Ok(None);
        }
        // Checks the header.
        Reader::<R>::open(&path)?;
        let file = results::table_file(&path)?;
        let end = file.metadata().map_err(Error::at(&path))?.len();
        let start = R::TABLE.header().len() as u64 + 1;
        Ok(Some(Self { file, path, start, end, row: PhantomData }))
    }

    fn bytes(&self, from: u64, to: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; to.saturating_sub(from) as usize];
        self.file.read_exact_at(&mut bytes, from).map_err(Error::at(&self.path))?;
        Ok(bytes)
    }

    /// The row that covers a byte between the first row and the end.
    fn covering(&self, at: u64) -> Result<Placed<R>, Error> {
        let from = at.saturating_sub(PIECE / 2).max(self.start);
        let to = (at + PIECE / 2).min(self.end);
        let bytes = self.bytes(from, to)?;
        let (before, after) = bytes.split_at((at - from) as usize);
        let begin = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
        let length = after.iter().position(|&byte| byte == b'\n');
        let end = length.map_or(bytes.len(), |place| before.len() + place + 1);
        let header = R::TABLE.header() + "\n";
        let text = Cursor::new(header).chain(&bytes[begin..end]);
        let mut rows = Reader::<R, _>::new(BufReader::new(text), &self.path)?;
        let row = rows.next().transpose()?.ok_or_else(|| Error::Contents {
            path: self.path.clone(),
            message: format!("no row at byte {at}"),
        })?;
        Ok(Placed { row, begin: from + begin as u64, end: from + end as u64 })
    }

    /// The last row that is `wanted`, if there is one: rows that are stand before those that are
    /// not.
    pub fn last(&self, wanted: impl Fn(&R) -> bool) -> Result<Option<Placed<R>>, Error> {
        let (mut low, mut high) = (self.start, self.end);
        let mut found = None;
        while low < high {
            let placed = self.covering(low + (high - low) / 2)?;
            if wanted(&placed.row) {
                low = placed.end;
                found = Some(placed);
            } else {
                high = placed.begin;
            }
        }
        Ok(found)
    }

    /// The row before one.
    pub fn before(&self, placed: &Placed<R>) -> Result<Option<Placed<R>>, Error> {
        if placed.begin <= self.start {
            return Ok(None);
        }
        self.covering(placed.begin - 1).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use results::LossRow;

    use super::*;

    #[test]
    fn finds_rows_by_bisection() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows = (0..5000).map(|number| format!("device {number},{},1\n", number * 3));
        let text = [LossRow::TABLE.header() + "\n"].into_iter().chain(rows).collect::<String>();
        fs::write(folder.path().join("losses.csv"), text).expect("written");
        let table = Random::<LossRow>::open(folder.path()).expect("a table").expect("a file");
        for sought in [0, 1, 2999, 14_997, 20_000] {
            let placed = table.last(|row| row.discarded <= sought).expect("read");
            let row = placed.expect("found").row;
            assert_eq!(row.discarded, (sought / 3 * 3).min(14_997), "{sought}");
        }
        let first = table.last(|row| row.discarded == 0).expect("read").expect("found");
        assert!(table.before(&first).expect("read").is_none());
        let second = table.last(|row| row.discarded <= 3).expect("read").expect("found");
        assert_eq!(table.before(&second).expect("read").expect("found").row, first.row);
        assert!(table.last(|_| false).expect("read").is_none());
    }
}
