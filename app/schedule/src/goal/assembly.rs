//! Putting the parts of ranks together.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;

use super::bytes::Bytes;
use super::draft::{Part, retag};
use super::format::{BASE, BLOB_HEADER, HEADER, MAGIC, NODE, SPAN, Waits};
use super::image::{Blob, Image};

/// Images of more bytes lie in a file.
const LARGEST: u64 = 1 << 26;

/// An image in the making. The parts of its ranks come in any order. They are kept in memory while they are few, and
/// else in a temporary file without a name, in the system's folder for such files, so that memory for one part is
/// enough.
#[derive(Debug)]
pub struct Assembly {
    store: Store,
    /// Per rank, where its part starts and ends.
    spans: Vec<(u64, u64)>,
    ranks: Vec<Blob>,
    end: u64,
    highest: [u8; 2],
    waits: Waits,
}

#[derive(Debug)]
enum Store {
    Memory(Vec<u8>),
    File(File),
}

impl Store {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(memory) => {
                memory.extend_from_slice(bytes);
                Ok(())
            }
            Self::File(file) => file.write_all(bytes),
        }
    }
}

impl Assembly {
    /// An image of so many ranks, none of which has operations.
    pub fn new(ranks: u32) -> Self {
        let end = HEADER + SPAN * ranks as usize;
        Self {
            store: Store::Memory(vec![0; end]),
            spans: vec![(0, 0); ranks as usize],
            ranks: vec![Blob::default(); ranks as usize],
            end: end as u64,
            highest: [0; 2],
            waits: Waits::default(),
        }
    }

    /// Adds the part of a rank. Fails if the temporary file cannot be written.
    pub fn add(&mut self, rank: u32, part: Part) -> io::Result<()> {
        let length = part.bytes() as u64;
        if let Store::Memory(memory) = &mut self.store
            && self.end + length > LARGEST
        {
            let mut file = tempfile::tempfile()?;
            file.write_all(&mem::take(memory))?;
            self.store = Store::File(file);
        }
        let (start, roots) = (self.end, part.roots.len());
        self.store.append(&part.ops.to_le_bytes())?;
        self.store.append(&((roots / size_of::<u32>()) as u32).to_le_bytes())?;
        self.store.append(&part.roots)?;
        for piece in part.nodes {
            self.store.append(&piece)?;
        }
        self.store.append(&part.appendix)?;
        self.end += length;
        if let Some(span) = self.spans.get_mut(rank as usize) {
            *span = (start - BASE as u64, self.end - BASE as u64);
        }
        if let Some(blob) = self.ranks.get_mut(rank as usize) {
            let nodes = start + (BLOB_HEADER + roots) as u64;
            let roots = (roots / size_of::<u32>()) as u32;
            *blob = Blob { nodes, ops: part.ops, roots };
        }
        self.waits.add(part.waits);
        let [cpu, nic] = part.highest;
        self.highest = [self.highest[0].max(cpu), self.highest[1].max(nic)];
        Ok(())
    }

    /// Gives the messages of a rank that was added other tags.
    pub fn retag(&mut self, rank: u32, tag: &impl Fn(u32) -> u32) -> io::Result<()> {
        let Some(Blob { nodes, ops, .. }) = self.ranks.get(rank as usize).copied() else {
            return Ok(());
        };
        let end = nodes + (NODE * ops as usize) as u64;
        match &mut self.store {
            Store::Memory(memory) => {
                retag(memory.get_mut(nodes as usize..end as usize).unwrap_or_default(), tag);
            }
            Store::File(file) => {
                let mut piece = vec![0; NODE << 14];
                let mut at = nodes;
                while at < end {
                    let length = (end - at).min(piece.len() as u64);
                    let some = piece.get_mut(..length as usize).unwrap_or_default();
                    file.seek(SeekFrom::Start(at))?;
                    file.read_exact(some)?;
                    retag(some, tag);
                    file.seek(SeekFrom::Start(at))?;
                    file.write_all(some)?;
                    at += length;
                }
                file.seek(SeekFrom::Start(self.end))?;
            }
        }
        Ok(())
    }

    /// The image.
    pub fn finish(self) -> io::Result<Image> {
        let mut head = Vec::with_capacity(HEADER + SPAN * self.spans.len());
        head.extend_from_slice(&MAGIC.to_le_bytes());
        head.extend_from_slice(&(self.spans.len() as u32).to_le_bytes());
        head.extend_from_slice(&self.highest);
        for (start, end) in &self.spans {
            head.extend_from_slice(&start.to_le_bytes());
            head.extend_from_slice(&end.to_le_bytes());
        }
        let bytes = match self.store {
            Store::Memory(mut memory) => {
                memory.get_mut(..head.len()).unwrap_or_default().copy_from_slice(&head);
                Bytes::Owned(memory)
            }
            Store::File(mut file) => {
                file.rewind()?;
                file.write_all(&head)?;
                Bytes::map(&file)?
            }
        };
        Ok(Image::assembled(bytes, self.ranks, self.waits))
    }
}
