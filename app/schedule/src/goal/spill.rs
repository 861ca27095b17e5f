//! Bytes that many drafts append, which go to a file where they would take much memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// The bytes that piles may keep in memory in all, unless there are very many, and the least and
/// most that one pile may.
const ALL: usize = 1 << 23;
const LEAST: usize = 1 << 15;
const MOST: usize = 1 << 19;

/// A temporary file without a name, in the system's folder for such files, for the parts of many
/// ranks. It is made when it is needed.
#[derive(Debug)]
pub struct Spill {
    file: Mutex<Option<(File, u64)>>,
    room: usize,
}

impl Spill {
    /// Makes the piles for this many ranks.
    pub fn new(ranks: u32) -> Self {
        let room = (ALL / (ranks as usize).max(1)).clamp(LEAST, MOST);
        Self { file: Mutex::new(None), room }
    }

    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = match &mut *slot {
            Some(open) => open,
            None => slot.insert((tempfile::tempfile()?, 0)),
        };
        let start = *end;
        file.seek(SeekFrom::Start(start))?;
        file.write_all(bytes)?;
        *end += bytes.len() as u64;
        Ok(start)
    }

    /// Takes the last piece out.
    pub(super) fn take(&mut self, piece: Piece, into: &mut Vec<u8>) -> io::Result<()> {
        into.resize(piece.length, 0);
        let slot = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (file, _) = slot.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?;
        file.seek(SeekFrom::Start(piece.start))?;
        file.read_exact(into)?;
        file.set_len(piece.start)
    }
}

/// A piece of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub start: u64,
    pub length: usize,
}

/// Bytes of which the first may lie in the file.
#[derive(Debug, Default)]
pub(super) struct Pile {
    /// The operations that do, in order.
    pub moved: Vec<Piece>,
    before: usize,
    /// The operations that do not.
    pub kept: Vec<u8>,
}

impl Pile {
    /// Returns how many there are.
    pub const fn len(&self) -> usize {
        self.before + self.kept.len()
    }

    /// Moves them to the file if they are many.
    pub fn settle(&mut self, spill: &Spill) -> io::Result<()> {
        let length = self.kept.len();
        if length >= spill.room {
            self.moved.push(Piece { start: spill.append(&self.kept)?, length });
            self.before += length;
            self.kept.clear();
        }
        Ok(())
    }
}
