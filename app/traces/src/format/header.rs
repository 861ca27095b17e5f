//! The header of a file.

use std::io::{self, Read, Write};

use super::{Error, MAGIC, VERSION};

/// In what the times of a file count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, for real runs.
    #[default]
    Nanosecond,
    /// Picoseconds, for simulated ones.
    Picosecond,
}

impl Unit {
    /// Picoseconds in one.
    pub const fn ps(self) -> u64 {
        match self {
            Self::Nanosecond => 1000,
            Self::Picosecond => 1,
        }
    }
}

/// The header of a file: what it says of its run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// In what times count.
    pub unit: Unit,
    /// The rank in the world.
    pub rank: u32,
    /// Ranks of the world.
    pub ranks: u32,
    /// The rank's clock at the start of the trace, in the unit; times count from there.
    pub start: u64,
    /// The wall clock at that moment, in nanoseconds since 1970.
    pub wall: u64,
    /// Name of the host.
    pub host: String,
    /// Name and version of the MPI library.
    pub library: String,
    /// The command that ran.
    pub command: String,
    /// The program that recorded the trace.
    pub recorder: String,
}

/// Bytes before the strings.
const FIXED: usize = 40;
/// Longest header that is read.
const LONGEST: usize = 1 << 20;

impl Header {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<usize> {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&u16::from(self.unit == Unit::Picosecond).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.rank.to_le_bytes());
        bytes.extend_from_slice(&self.ranks.to_le_bytes());
        bytes.extend_from_slice(&self.start.to_le_bytes());
        bytes.extend_from_slice(&self.wall.to_le_bytes());
        for text in [&self.host, &self.library, &self.command, &self.recorder] {
            // A cut character is replaced by the reader.
            let text = text.as_bytes();
            let text = text.get(..usize::from(u16::MAX)).unwrap_or(text);
            bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
            bytes.extend_from_slice(text);
        }
        let length = bytes.len() as u32;
        if let Some(place) = bytes.get_mut(12..16) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        out.write_all(&bytes)?;
        Ok(bytes.len())
    }

    /// Reads a header; with it comes its length.
    pub(super) fn read(input: &mut impl Read) -> Result<(Self, usize), Error> {
        let mut fixed = [0; FIXED];
        let got = fill(input, &mut fixed)?;
        if !fixed.starts_with(&MAGIC) {
            return Err(Error::Magic);
        }
        if got < FIXED {
            return Err(Error::Header { at: got, what: "ends too early" });
        }
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if short(8) != VERSION {
            return Err(Error::Version(short(8)));
        }
        let unit = match short(10) {
            0 => Unit::Nanosecond,
            1 => Unit::Picosecond,
            _ => return Err(Error::Header { at: 10, what: "has an unknown unit of time" }),
        };
        let length = word(12) as usize;
        if !(FIXED..=LONGEST).contains(&length) {
            return Err(Error::Header { at: 12, what: "has an impossible length" });
        }
        let (rank, ranks) = (word(16), word(20));
        if rank >= ranks {
            return Err(Error::Header { at: 16, what: "names a rank outside its world" });
        }
        let mut rest = vec![0; length - FIXED];
        let got = fill(input, &mut rest)?;
        if got < rest.len() {
            return Err(Error::Header { at: FIXED + got, what: "ends too early" });
        }
        let mut rest = rest.as_slice();
        let mut text = || {
            let (size, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*size)))?;
            rest = after;
            Some(String::from_utf8_lossy(text).into_owned())
        };
        // Strings that an older writer did not know are empty.
        let mut text = || text().unwrap_or_default();
        let (host, library, command, recorder) = (text(), text(), text(), text());
        let (start, wall) = (long(24), long(32));
        let header = Self { unit, rank, ranks, start, wall, host, library, command, recorder };
        Ok((header, length))
    }
}

/// Reads until a buffer is full or the input ends; gives how much came.
pub(crate) fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
