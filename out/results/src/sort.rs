//! Sorting more records than memory holds.
//!
//! A [`Sorter`] keeps records until there are too many, then sorts those that it has and moves them
//! to a file. In the end, [`Rows`] merges the sorted parts. A record is a few numbers, and
//! records are ordered by their numbers from the first to the last; equal ones are alike, so that
//! the order does not depend on how records were divided among sorters.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{self, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
    vec,
};

/// Bytes of records that a sorter keeps in memory if it may use a file.
const MEMORY: usize = 16 << 20;
/// Bytes that are read at once from a sorted part of a file.
const PIECE: usize = 1 << 16;
/// Bytes of a number.
const WORD: usize = size_of::<u64>();

/// A record of `N` numbers.
pub type Words<const N: usize> = [u64; N];

/// Collects records that are to be sorted.
#[derive(Debug, Default)]
pub struct Sorter<const N: usize> {
    records: Vec<Words<N>>,
    spill: Option<Spill>,
}

/// The file that a sorter moves records to.
#[derive(Debug)]
struct Spill {
    /// The folder that the file is made in. It has no name, so that nothing stays behind.
    folder: PathBuf,
    /// Records that are kept in memory.
    most: usize,
    file: Option<File>,
    /// The number of records of each sorted part, in the order in which they stand in the file.
    parts: Vec<usize>,
    /// The error that lost records.
    failed: Option<io::Error>,
}

impl<const N: usize> Sorter<N> {
    /// A sorter that moves records to a file in `folder`, if there is one, when they are many.
    pub fn new(folder: Option<&Path>) -> Self {
        folder.map_or_else(Self::default, |folder| Self::with_room(folder, MEMORY / (N * WORD)))
    }

    /// A sorter that keeps `most` records in memory.
    fn with_room(folder: &Path, most: usize) -> Self {
        let (folder, parts) = (folder.to_owned(), Vec::new());
        let spill = Spill { folder, most, file: None, parts, failed: None };
        Self { records: Vec::new(), spill: Some(spill) }
    }

    /// Adds a record. If it cannot be kept, [`Rows::new`] says so.
    #[inline]
    pub fn push(&mut self, record: Words<N>) {
        if self.spill.as_ref().is_some_and(|spill| self.records.len() >= spill.most) {
            self.write_out();
        }
        self.records.push(record);
    }

    #[cold]
    fn write_out(&mut self) {
        let Some(spill) = &mut self.spill else { return };
        self.records.sort_unstable();
        if spill.failed.is_none() {
            match spill.append(&self.records) {
                Ok(()) => spill.parts.push(self.records.len()),
                Err(error) => spill.failed = Some(error),
            }
        }
        self.records.clear();
    }
}

impl Spill {
    fn append<const N: usize>(&mut self, records: &[Words<N>]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        let mut out = io::BufWriter::with_capacity(PIECE, file);
        for word in records.iter().flatten() {
            out.write_all(&word.to_le_bytes())?;
        }
        out.flush()
    }
}

/// The records of several sorters in order. They can be read any number of times.
#[derive(Clone, Debug, Default)]
pub struct Rows<const N: usize>(Arc<Stored<N>>);

/// The parts of [`Rows`], each in order.
#[derive(Debug, Default)]
struct Stored<const N: usize> {
    memory: Vec<Vec<Words<N>>>,
    /// Files with the number of records of each part.
    files: Vec<(File, Vec<usize>)>,
}

impl<const N: usize> Rows<N> {
    /// Takes the records of sorters.
    ///
    /// # Errors
    /// If one of them could not keep its records.
    pub fn new(sorters: Vec<Sorter<N>>) -> io::Result<Self> {
        let mut stored = Stored::default();
        for Sorter { mut records, spill } in sorters {
            records.sort_unstable();
            stored.memory.push(records);
            let Some(spill) = spill else { continue };
            spill.failed.map_or(Ok(()), Err)?;
            stored.files.extend(spill.file.map(|file| (file, spill.parts)));
        }
        Ok(Self(Arc::new(stored)))
    }

    /// Returns true if there is no record.
    pub fn is_empty(&self) -> bool {
        self.0.files.is_empty() && self.0.memory.iter().all(Vec::is_empty)
    }

    /// Returns the records from the least to the greatest.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(&self) -> io::Result<Sorted<N>> {
        let memory = (0..self.0.memory.len()).map(|list| Part::Memory { list, next: 0 });
        let files = self.0.files.iter().enumerate().flat_map(|(file, (_, parts))| {
            parts.iter().scan(0, move |end, count| {
                let at = *end;
                *end += (count * N * WORD) as u64;
                Some(Part::File { file, at, end: *end, read: Vec::new().into_iter() })
            })
        });
        let parts = memory.chain(files).collect();
        let mut sorted = Sorted { stored: Arc::clone(&self.0), parts, next: BinaryHeap::new() };
        for part in 0..sorted.parts.len() {
            sorted.advance(part)?;
        }
        Ok(sorted)
    }
}

/// The place of the next record of a part.
enum Part<const N: usize> {
    Memory {
        list: usize,
        next: usize,
    },
    File {
        file: usize,
        /// Place of the first record that was not read.
        at: u64,
        /// Place behind the last record.
        end: u64,
        read: vec::IntoIter<Words<N>>,
    },
}

impl<const N: usize> Part<N> {
    fn next(&mut self, stored: &Stored<N>) -> io::Result<Option<Words<N>>> {
        let (file, at, end, read) = match self {
            Self::Memory { list, next } => {
                *next += 1;
                return Ok(stored.memory[*list].get(*next - 1).copied());
            }
            Self::File { file, at, end, read } => (&stored.files[*file].0, at, end, read),
        };
        if let Some(record) = read.next() {
            return Ok(Some(record));
        }
        let whole = (PIECE / (N * WORD) * N * WORD) as u64;
        let mut bytes = vec![0; whole.min(*end - *at) as usize];
        file.read_exact_at(&mut bytes, *at)?;
        *at += bytes.len() as u64;
        let (words, _) = bytes.as_chunks::<WORD>();
        let words: Vec<_> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        *read = words.as_chunks::<N>().0.to_vec().into_iter();
        Ok(read.next())
    }
}

/// Records from the least to the greatest.
pub struct Sorted<const N: usize> {
    stored: Arc<Stored<N>>,
    parts: Vec<Part<N>>,
    /// The least record that is left of each part, with the number of the part.
    next: BinaryHeap<Reverse<(Words<N>, usize)>>,
}

impl<const N: usize> Sorted<N> {
    /// Takes the next record of a part.
    fn advance(&mut self, part: usize) -> io::Result<()> {
        if let Some(record) = self.parts[part].next(&self.stored)? {
            self.next.push(Reverse((record, part)));
        }
        Ok(())
    }
}

impl<const N: usize> Iterator for Sorted<N> {
    type Item = io::Result<Words<N>>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((record, part)) = self.next.pop()?;
        Some(self.advance(part).map(|()| record))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any division among sorters, and any room in memory, gives the order of `sort`.
        #[test]
        fn parts_come_together(
            records in prop::collection::vec((0..50_u64, any::<u64>()), 0..400),
            rooms in prop::collection::vec(1..100_usize, 1..4),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorters: Vec<_> =
                rooms.iter().map(|room| Sorter::with_room(folder.path(), *room)).collect();
            sorters.push(Sorter::default());
            let number = sorters.len();
            for (index, &(first, second)) in records.iter().enumerate() {
                sorters[index % number].push([first, second]);
            }
            let mut expected: Vec<_> = records.iter().map(|&(a, b)| [a, b]).collect();
            expected.sort_unstable();
            let rows = Rows::new(sorters).unwrap();
            // The second reading finds what the first has found.
            for _ in 0..2 {
                let found: Vec<_> = rows.read().unwrap().map(Result::unwrap).collect();
                prop_assert_eq!(&found, &expected);
            }
            // The files have no names.
            prop_assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
    }

    /// A part that is longer than what is read at once.
    #[test]
    fn long_parts_are_read_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::with_room(folder.path(), 30_000);
        (0..100_000).rev().for_each(|number| sorter.push([number, 1, 2]));
        let rows = Rows::new(vec![sorter]).unwrap();
        let found = rows.read().unwrap().map(|record| record.unwrap()[0]);
        assert!(found.eq(0..100_000));
    }

    #[test]
    fn records_that_cannot_be_kept_are_an_error() {
        let mut sorter = Sorter::with_room(Path::new("/nonexistent"), 1);
        (0..3).for_each(|number| sorter.push([number]));
        assert!(Rows::new(vec![sorter]).is_err());
    }
}
