//! Layout of the binary form. All numbers are little endian and packed.
//!
//! ```text
//! u64 magic
//! u32 ranks, u8 highest CPU, u8 highest interface
//! per rank:  u64 start, u64 end                of its blob, counted from behind the magic number
//! per rank:  u32 operations, u32 roots
//!            u32 root[roots]                   operations without dependencies, ascending
//!            node[operations]                  39 bytes each, see `Node`
//!            u32 appendix[edges]               per node: those that wait for its end, for its
//! start
//! ```

use crate::{Kind, Op};

/// First eight bytes of a file.
pub const MAGIC: u64 = 4223;
/// First eight bytes of a file that `LogGOPSim` changed in place.
pub const MAGIC_CONSUMED: u64 = 2342;
/// The position that offsets of blobs count from.
pub const BASE: usize = 8;
/// Bytes before the table of blobs.
pub const HEADER: usize = 14;
/// Bytes per entry of that table.
pub const SPAN: usize = 16;
/// Bytes of a blob before its roots.
pub const BLOB_HEADER: usize = 8;
/// Bytes per node.
pub const NODE: usize = 39;
/// Bytes per root and per element of the appendix.
pub const WORD: usize = 4;

/// A part of the appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    pub count: u32,
    pub first: u32,
}

/// A node as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub dependencies: u32,
    pub kind: u8,
    pub peer: u32,
    pub size: u64,
    pub tag: u32,
    pub cpu: u8,
    pub nic: u8,
    pub done: List,
    pub started: List,
}

/// The code of a kind.
pub const fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Send => 1,
        Kind::Recv => 2,
        Kind::Calc => 3,
    }
}

/// The kind of a code; computation for an unknown one, which no validated file has.
#[inline]
pub const fn kind(code: u8) -> Kind {
    match code {
        1 => Kind::Send,
        2 => Kind::Recv,
        _ => Kind::Calc,
    }
}

impl Node {
    #[inline]
    pub fn decode(b: &[u8; NODE]) -> Self {
        let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let size = [b[9], b[10], b[11], b[12], b[13], b[14], b[15], b[16]];
        Self {
            dependencies: word(0),
            kind: b[4],
            peer: word(5),
            size: u64::from_le_bytes(size),
            tag: word(17),
            cpu: b[21],
            nic: b[22],
            done: List { count: word(23), first: word(27) },
            started: List { count: word(31), first: word(35) },
        }
    }

    pub fn encode(&self) -> [u8; NODE] {
        let mut b = [0; NODE];
        b[0..4].copy_from_slice(&self.dependencies.to_le_bytes());
        b[4] = self.kind;
        b[5..9].copy_from_slice(&self.peer.to_le_bytes());
        b[9..17].copy_from_slice(&self.size.to_le_bytes());
        b[17..21].copy_from_slice(&self.tag.to_le_bytes());
        b[21] = self.cpu;
        b[22] = self.nic;
        b[23..27].copy_from_slice(&self.done.count.to_le_bytes());
        b[27..31].copy_from_slice(&self.done.first.to_le_bytes());
        b[31..35].copy_from_slice(&self.started.count.to_le_bytes());
        b[35..39].copy_from_slice(&self.started.first.to_le_bytes());
        b
    }

    /// Returns what the node does.
    #[inline]
    pub const fn op(&self) -> Op {
        Op {
            kind: kind(self.kind),
            peer: self.peer,
            tag: self.tag,
            size: self.size,
            cpu: self.cpu,
            nic: self.nic,
        }
    }
}

/// The events that operations of a program wait for, besides the ends of receives and of
/// computations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Some operations wait for the start of another.
    pub for_starts: bool,
    /// Some operations wait for the end of a send.
    pub for_sends: bool,
}

impl Waits {
    /// Returns what others wait for at a node.
    #[inline]
    pub const fn of(node: &Node) -> Self {
        Self {
            for_starts: node.started.count > 0,
            for_sends: node.kind == code(Kind::Send) && node.done.count > 0,
        }
    }

    /// Both together.
    #[inline]
    pub const fn add(&mut self, other: Self) {
        self.for_starts |= other.for_starts;
        self.for_sends |= other.for_sends;
    }
}

/// The number at a byte; `None` beyond the end.
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// The number at a byte; `None` beyond the end.
#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

/// The numbers of a list.
#[inline]
pub fn words(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> + '_ {
    bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b))
}
