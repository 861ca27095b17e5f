//! The one form of a GOAL file in memory.

use std::path::Path;

use super::bytes::Bytes;
use super::compile;
use super::diagnostic::Diagnostic;
use super::format::{self, BASE, BLOB_HEADER, HEADER, NODE, Node, SPAN, WORD, Waits};
use super::read::ReadError;
use super::roots;
use super::validate::{BinaryError, validate};
use crate::{Edge, Kind, Op, Program, Run};

/// A GOAL schedule: the bytes of its binary form and where each rank's part lies in them.
///
/// The bytes are validated when an image is made; questions about it are then answered from them
/// directly. A question about a rank or an operation that does not exist gets an empty answer: no
/// operations, or a computation of length 0 without dependents.
#[derive(Debug)]
pub struct Image {
    bytes: Bytes,
    ranks: Vec<Blob>,
    waits: Waits,
    /// The operations that are known to be blocking ([`Program::is_blocking`]), by rank and in
    /// order; all others are not. They are no part of the binary form.
    blocking: Option<Box<[Vec<u32>]>>,
    /// The computations that are sleep ([`Program::is_sleep`]), and those that are looks
    /// ([`Program::is_look`]), by rank and in order. They are no part of the binary form either.
    sleeps: Vec<Vec<u32>>,
    looks: Vec<Vec<u32>>,
}

/// The location of a rank's operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blob {
    /// Byte at which the nodes start.
    pub nodes: u64,
    /// Number of operations.
    pub ops: u32,
    /// Number of roots among them.
    pub roots: u32,
}

impl Image {
    /// Maps a binary file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self::validated(Bytes::open(path)?)?)
    }

    /// Takes the bytes of a binary file.
    pub fn from_binary(bytes: Vec<u8>) -> Result<Self, BinaryError> {
        Self::validated(Bytes::Owned(bytes))
    }

    /// Compiles a text; with the image come the warnings. The error is everything that is wrong
    /// with the text, and the warnings.
    pub fn from_text(text: &[u8]) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        compile::compile(text, false).map(|compiled| (compiled.image, compiled.warnings))
    }

    pub(super) fn validated(bytes: Bytes) -> Result<Self, BinaryError> {
        let (ranks, waits) = validate(&bytes)?;
        Ok(Self { bytes, ranks, waits, blocking: None, sleeps: Vec::new(), looks: Vec::new() })
    }

    /// Takes bytes that this crate wrote.
    pub(super) fn written(bytes: Vec<u8>) -> Self {
        let count = format::u32_at(&bytes, BASE).unwrap_or(0);
        let blob = |rank: u32| {
            let start = format::u64_at(&bytes, HEADER + SPAN * rank as usize)? as usize + BASE;
            let roots = format::u32_at(&bytes, start + WORD)?;
            Some(Blob {
                nodes: (start + BLOB_HEADER + WORD * roots as usize) as u64,
                ops: format::u32_at(&bytes, start)?,
                roots,
            })
        };
        let ranks = (0..count).map(|rank| blob(rank).unwrap_or_default()).collect();
        let waits = Waits::default();
        let mut image = Self {
            bytes: Bytes::Owned(bytes),
            ranks,
            waits,
            blocking: None,
            sleeps: Vec::new(),
            looks: Vec::new(),
        };
        let mut waits = Waits::default();
        for blob in &image.ranks {
            let nodes = (0..blob.ops).filter_map(|op| image.node(*blob, op));
            nodes.for_each(|node| waits.add(Waits::of(&node)));
        }
        image.waits = waits;
        image
    }

    /// Takes bytes that this crate wrote, and what is known of them.
    pub(super) const fn assembled(bytes: Bytes, ranks: Vec<Blob>, waits: Waits) -> Self {
        Self { bytes, ranks, waits, blocking: None, sleeps: Vec::new(), looks: Vec::new() }
    }

    /// Says by rank which operations are blocking ([`Program::is_blocking`]), in ascending order;
    /// all others then are not.
    pub fn set_blocking(&mut self, sends: Vec<Vec<u32>>) {
        self.blocking = Some(sends.into());
    }

    /// Says by rank which computations are sleep ([`Program::is_sleep`]), in ascending order.
    pub fn set_sleeps(&mut self, sleeps: Vec<Vec<u32>>) {
        self.sleeps = sleeps;
    }

    /// Says by rank which computations are looks ([`Program::is_look`]), in ascending order.
    pub fn set_looks(&mut self, looks: Vec<Vec<u32>>) {
        self.looks = looks;
    }

    /// The binary form.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    fn blob(&self, rank: u32) -> Blob {
        self.ranks.get(rank as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn node(&self, blob: Blob, index: u32) -> Option<Node> {
        if index >= blob.ops {
            return None;
        }
        let at = blob.nodes as usize + NODE * index as usize;
        self.bytes.get(at..)?.first_chunk().map(Node::decode)
    }

    /// `count` words from the byte `at` on.
    #[inline]
    fn words(&self, at: usize, count: u32) -> impl Iterator<Item = u32> + '_ {
        let end = at + WORD * count as usize;
        format::words(self.bytes.get(at..end).unwrap_or_default())
    }
}

impl Program for Image {
    fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    fn cpus(&self) -> u32 {
        self.bytes.get(BASE + WORD).map_or(1, |highest| u32::from(*highest) + 1)
    }

    fn nics(&self) -> u32 {
        self.bytes.get(BASE + WORD + 1).map_or(1, |highest| u32::from(*highest) + 1)
    }

    #[inline]
    fn ops(&self, rank: u32) -> u32 {
        self.blob(rank).ops
    }

    #[inline]
    fn op(&self, rank: u32, index: u32) -> Op {
        let nothing = Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: 0, nic: 0 };
        self.node(self.blob(rank), index).map_or(nothing, |node| node.op())
    }

    #[inline]
    fn dependencies(&self, rank: u32, index: u32) -> u32 {
        self.node(self.blob(rank), index).map_or(0, |node| node.dependencies)
    }

    #[inline]
    fn dependents(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32)) {
        let blob = self.blob(rank);
        let Some(node) = self.node(blob, index) else {
            return;
        };
        let list = match edge {
            Edge::Done => node.done,
            Edge::Started => node.started,
        };
        let appendix = blob.nodes as usize + NODE * blob.ops as usize;
        self.words(appendix + WORD * list.first as usize, list.count).for_each(each);
    }

    #[inline]
    fn successors(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32, u32, Op)) {
        let blob = self.blob(rank);
        self.dependents(rank, index, edge, &mut |next| {
            if let Some(node) = self.node(blob, next) {
                each(next, node.dependencies, node.op());
            }
        });
    }

    fn is_blocking(&self, rank: u32, index: u32) -> Option<bool> {
        let sends = self.blocking.as_ref()?.get(rank as usize)?;
        Some(sends.binary_search(&index).is_ok())
    }

    fn is_sleep(&self, rank: u32, index: u32) -> bool {
        let sleeps = self.sleeps.get(rank as usize);
        sleeps.is_some_and(|sleeps| sleeps.binary_search(&index).is_ok())
    }

    fn is_look(&self, rank: u32, index: u32) -> bool {
        let looks = self.looks.get(rank as usize);
        looks.is_some_and(|looks| looks.binary_search(&index).is_ok())
    }

    fn has_start_edges(&self) -> bool {
        self.waits.for_starts
    }

    fn has_send_edges(&self) -> bool {
        self.waits.for_sends
    }

    #[inline]
    fn prefetch(&self, rank: u32, index: u32, stage: usize) {
        let blob = self.blob(rank);
        let node = blob.nodes as usize + NODE * index as usize;
        let place = if stage == 0 {
            node
        } else {
            let appendix = blob.nodes as usize + NODE * blob.ops as usize;
            let first = self.node(blob, index).map_or(0, |node| node.done.first);
            if let Some(next) = self.bytes.get(node + 64) {
                kernel::prefetch(next);
            }
            appendix + WORD * first as usize
        };
        if let Some(byte) = self.bytes.get(place) {
            kernel::prefetch(byte);
        }
    }

    fn roots(&self, rank: u32, each: &mut impl FnMut(Run)) {
        let blob = self.blob(rank);
        let first = (blob.nodes as usize).saturating_sub(WORD * blob.roots as usize);
        let groups = self.words(first, blob.roots).filter_map(|root| {
            let op = self.node(blob, root)?.op();
            Some((root, (op.kind, op.cpu, op.nic)))
        });
        roots::runs(groups, each);
    }
}
