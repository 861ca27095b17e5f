//! Putting the parts of ranks together.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use super::bytes::Bytes;
use super::draft::{RankSchedule, retag};
use super::format::{BASE, BLOB_HEADER, HEADER, MAGIC, SPAN, Waits};
use super::image::{Blob, Image};
use super::spill::{Piece, Spill};

/// Images of more bytes lie in a file.
const LARGEST: u64 = 1 << 26;

/// The place where an image is made: in memory if it is small, else in a temporary file without a
/// name, in the system's folder for such files.
#[derive(Debug)]
enum Store {
    Memory(Vec<u8>),
    File(File),
}

impl Store {
    fn new(length: u64) -> io::Result<Self> {
        if length <= LARGEST {
            return Ok(Self::Memory(vec![0; length as usize]));
        }
        let file = tempfile::tempfile()?;
        file.set_len(length)?;
        Ok(Self::File(file))
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(memory) => {
                let place = memory.get_mut(at as usize..at as usize + bytes.len());
                place.unwrap_or_default().copy_from_slice(bytes);
                Ok(())
            }
            Self::File(file) => {
                file.seek(SeekFrom::Start(at))?;
                file.write_all(bytes)
            }
        }
    }

    fn finish(self) -> io::Result<Bytes> {
        Ok(match self {
            Self::Memory(memory) => Bytes::Owned(memory),
            Self::File(file) => Bytes::map(&file)?,
        })
    }
}

/// A piece that is to be put into the image.
struct Move {
    piece: Piece,
    /// The buffer or file that it goes to.
    to: u64,
    /// True if it is of nodes.
    nodes: bool,
}

/// Makes an image of the parts of ranks 0, 1, …. Messages get other tags, if `tag` says how. What
/// the file of the parts holds is taken from it piece by piece, the last one first, so that both
/// together never need more room than the image. Fails if a temporary file cannot be read or
/// written.
pub fn assemble(
    parts: Vec<RankSchedule>,
    mut spill: Spill,
    tag: Option<&dyn Fn(u32) -> u32>,
) -> io::Result<Image> {
    let front = HEADER + SPAN * parts.len();
    let mut store = Store::new(front as u64 + parts.iter().map(RankSchedule::bytes).sum::<u64>())?;
    let (mut head, mut blobs) = (Vec::with_capacity(front), Vec::with_capacity(parts.len()));
    let (mut highest, mut waits) = ([0, 0], Waits::default());
    for part in &parts {
        highest = [0, 1].map(|unit: usize| part.highest[unit].max(highest[unit]));
        waits.add(part.waits);
    }
    head.extend_from_slice(&MAGIC.to_le_bytes());
    head.extend_from_slice(&(parts.len() as u32).to_le_bytes());
    head.extend_from_slice(&highest);
    let (mut moves, mut at) = (Vec::new(), front as u64);
    for mut part in parts {
        let start = at;
        if let Some(tag) = tag {
            retag(&mut part.nodes.kept, tag);
        }
        let roots = (part.roots.len() / size_of::<u32>()) as u32;
        store.write(at, &[part.ops.to_le_bytes(), roots.to_le_bytes()].concat())?;
        at += BLOB_HEADER as u64;
        store.write(at, &part.roots)?;
        at += part.roots.len() as u64;
        blobs.push(Blob { nodes: at, ops: part.ops, roots });
        for (nodes, pile) in [(true, part.nodes), (false, part.appendix)] {
            for piece in pile.moved {
                moves.push(Move { piece, to: at, nodes });
                at += piece.length as u64;
            }
            store.write(at, &pile.kept)?;
            at += pile.kept.len() as u64;
        }
        head.extend_from_slice(&(start - BASE as u64).to_le_bytes());
        head.extend_from_slice(&(at - BASE as u64).to_le_bytes());
    }
    store.write(0, &head)?;
    moves.sort_unstable_by_key(|one| Reverse(one.piece.start));
    let mut bytes = Vec::new();
    for Move { piece, to, nodes } in moves {
        spill.take(piece, &mut bytes)?;
        if let Some(tag) = tag.filter(|_| nodes) {
            retag(&mut bytes, tag);
        }
        store.write(to, &bytes)?;
    }
    Ok(Image::assembled(store.finish()?, blobs, waits))
}
