//! Tails: the calls that a rank had not yet written when it died.
//!
//! A rank collects its records in `rank-N.tail`, a file mapped into its memory, and appends them to
//! its trace block by block (`c/trace.c`). When it ends in order the tail is gone. Otherwise the
//! tail holds all calls that returned since the last block.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use traces::format::{BLOCK, BLOCK_HEADER, LARGEST_BLOCK};

const MAGIC: &[u8; 8] = b"HEDDLETL";
/// The records start here.
const HEADER: usize = 4096;

/// The reason why a tail could not be taken in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system says so.
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    /// The rank had no room for it, and has said so.
    #[error("{0}: its rank could not write it")]
    Unwritten(PathBuf),
    /// It was not written by the recorder, or damaged.
    #[error("{0}: not a tail of a trace, or damaged")]
    Damaged(PathBuf),
}

/// Records that are to be appended to a trace.
struct Tail {
    /// The byte of the trace where they belong.
    offset: u64,
    base: u64,
    calls: u32,
    records: Vec<u8>,
}

impl Tail {
    /// `None` if it is no tail or contradicts itself.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let word = |index: usize| {
            let bytes = rest.get(8 * index..)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes))
        };
        // One word says which of two slots of four words counts.
        let slot = 1 + 4 * usize::try_from(word(0)? & 1).ok()?;
        let used = usize::try_from(word(slot)?).ok().filter(|used| *used <= LARGEST_BLOCK)?;
        let records = bytes.get(HEADER..)?.get(..used)?.to_vec();
        let calls = u32::try_from(word(slot + 3)?).ok()?;
        Some(Self { offset: word(slot + 1)?, base: word(slot + 2)?, calls, records })
    }

    /// Writes it as a block of the trace format.
    fn block(&self) -> io::Result<Vec<u8>> {
        let packed = zstd::encode_all(self.records.as_slice(), 3)?;
        let mut block = Vec::with_capacity(BLOCK_HEADER + packed.len());
        block.extend_from_slice(&BLOCK);
        block.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        block.extend_from_slice(&(self.records.len() as u32).to_le_bytes());
        block.extend_from_slice(&self.calls.to_le_bytes());
        block.extend_from_slice(&self.base.to_le_bytes());
        block.extend_from_slice(&packed);
        Ok(block)
    }
}

fn append(tail: &Path) -> Result<u32, Error> {
    let damaged = || Error::Damaged(tail.to_owned());
    let trace = tail.with_extension("hdl");
    let wrong = |error| Error::Io(trace.clone(), error);
    let mut bytes = Vec::new();
    File::open(tail)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| Error::Io(tail.to_owned(), error))?;
    // The recorder begins with making room.
    if bytes.iter().take(HEADER).all(|byte| *byte == 0) {
        return Err(Error::Unwritten(tail.to_owned()));
    }
    let parsed = Tail::parse(&bytes).ok_or_else(damaged)?;
    let mut file = OpenOptions::new().write(true).open(&trace).map_err(wrong)?;
    if file.metadata().map_err(wrong)?.len() < parsed.offset {
        return Err(damaged());
    }
    // What stands behind that byte is a block that was written and is in the tail, or half of one.
    file.set_len(parsed.offset).map_err(wrong)?;
    if !parsed.records.is_empty() {
        file.seek(SeekFrom::Start(parsed.offset)).map_err(wrong)?;
        file.write_all(&parsed.block().map_err(wrong)?).map_err(wrong)?;
    }
    fs::remove_file(tail).map_err(|error| Error::Io(tail.to_owned(), error))?;
    Ok(parsed.calls)
}

/// Appends all tails of a folder to their traces. Gives how many there were and how many calls they
/// held.
pub fn collect(folder: &Path) -> Result<(usize, u64), Error> {
    let wrong = |error| Error::Io(folder.to_owned(), error);
    let (mut tails, mut calls) = (0, 0);
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|extension| extension == "tail") {
            tails += 1;
            calls += u64::from(append(&path)?);
        }
    }
    Ok((tails, calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header as `c/trace.c` writes it: magic, current slot, two slots of used, offset, base,
    /// calls.
    fn tail(current: u64, slots: [[u64; 4]; 2], records: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(current.to_le_bytes());
        bytes.extend(slots.as_flattened().iter().flat_map(|word| word.to_le_bytes()));
        bytes.resize(HEADER, 0);
        bytes.extend_from_slice(records);
        bytes
    }

    #[test]
    fn the_current_slot_counts() {
        let bytes = tail(1, [[9, 9, 9, 9], [3, 77, 5, 2]], b"abcdef");
        let parsed = Tail::parse(&bytes).expect("a tail");
        assert_eq!((parsed.offset, parsed.base, parsed.calls), (77, 5, 2));
        assert_eq!(parsed.records, b"abc");
    }

    #[test]
    fn damage_is_seen() {
        assert!(Tail::parse(b"HEDDLE").is_none());
        assert!(Tail::parse(&tail(0, [[7, 0, 0, 0]; 2], b"abcdef")).is_none());
        assert!(Tail::parse(&tail(0, [[u64::MAX, 0, 0, 0]; 2], b"abcdef")).is_none());
    }

    /// A trace of 10 whole bytes and 2 of a block that was cut short: these go, and a block of 3
    /// bytes follows (24 bytes of header and the packed data).
    #[test]
    fn a_tail_replaces_what_was_cut_short() {
        let folder = env_folder("tail");
        fs::write(folder.join("rank-0.hdl"), b"0123456789xx").expect("written");
        let slots = [[3, 10, 5, 1], [0; 4]];
        fs::write(folder.join("rank-0.tail"), tail(0, slots, b"abc")).expect("written");
        assert_eq!(collect(&folder).expect("collected"), (1, 1));
        assert!(!folder.join("rank-0.tail").exists());
        let trace = fs::read(folder.join("rank-0.hdl")).expect("read");
        assert_eq!(&trace[..14], b"0123456789HBLK");
        assert_eq!(trace[18..22], 3u32.to_le_bytes());
        assert_eq!(zstd::decode_all(&trace[34..]).expect("unpacked"), b"abc");
        assert_eq!(collect(&folder).expect("nothing left"), (0, 0));
        fs::remove_dir_all(&folder).expect("removed");
    }

    /// There was no room: neither for the beginning of a file nor, where all of it is zeros, for
    /// all of it.
    #[test]
    fn a_tail_without_room() {
        let folder = env_folder("unwritten");
        for room in [0, 100, 2 * HEADER] {
            fs::write(folder.join("rank-0.tail"), vec![0; room]).expect("written");
            assert!(matches!(collect(&folder), Err(Error::Unwritten(_))), "{room} bytes");
        }
        fs::remove_dir_all(&folder).expect("removed");
    }

    fn env_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("heddle-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }
}
