//! Building a rank's operations in memory, one after the other.

use std::io;

use super::format::{BLOB_HEADER, List, NODE, Node, WORD, Waits, code};
use super::rank::{Line, sort};
use super::spill::{Pile, Spill};
use crate::{Edge, Kind, Op};

/// The operations of one rank. Those at the end are open: they can be changed, and dependencies on
/// them can be added. The others are closed and have their final form; all but the last of them lie
/// in a file.
#[derive(Debug, Default)]
pub struct Draft {
    /// The number of closed operations.
    closed: u32,
    ops: Vec<Op>,
    /// Per open operation, how many it waits for.
    dependencies: Vec<u32>,
    /// Dependencies on open operations.
    lines: Vec<Line>,
    /// Scratch space: per operation that is closed and sort of edge, how many wait for it.
    slots: Vec<[u32; 2]>,
    part: RankSchedule,
}

/// A rank's part of the binary form.
#[derive(Debug, Default)]
pub struct RankSchedule {
    pub(super) roots: Vec<u8>,
    pub(super) nodes: Pile,
    pub(super) appendix: Pile,
    pub(super) ops: u32,
    /// Highest CPU and interface.
    pub(super) highest: [u8; 2],
    pub(super) waits: Waits,
}

impl Draft {
    /// Adds an operation; gives its index.
    #[inline]
    pub fn op(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        self.dependencies.push(0);
        self.len() - 1
    }

    /// Makes an operation wait for another, both of which must be open: otherwise the dependency is
    /// void, as it is for those that do not exist.
    #[inline]
    pub fn depend(&mut self, after: u32, before: u32, edge: Edge) {
        let open = before.wrapping_sub(self.closed) < self.ops.len() as u32;
        if let Some(count) = self.dependencies.get_mut(after.wrapping_sub(self.closed) as usize)
            && open
        {
            *count += 1;
            self.lines.push(Line { before, after, edge });
        }
    }

    /// Returns how many operations there are.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.closed + self.ops.len() as u32
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many are closed.
    #[inline]
    pub const fn closed(&self) -> u32 {
        self.closed
    }

    /// Returns how many are open.
    #[inline]
    pub const fn open(&self) -> usize {
        self.ops.len()
    }

    /// An open operation.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&Op> {
        self.ops.get(index.wrapping_sub(self.closed) as usize)
    }

    /// An open operation, to be changed.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut Op> {
        self.ops.get_mut(index.wrapping_sub(self.closed) as usize)
    }

    /// Closes the operations before `end`. What they wait for must be closed with them, and nothing
    /// that is added later may wait for them. Fails if the file for them cannot be written.
    pub fn close(&mut self, end: u32, spill: &Spill) -> io::Result<()> {
        let count = (end.saturating_sub(self.closed) as usize).min(self.ops.len());
        self.slots.clear();
        self.slots.resize(count, [0; 2]);
        let closed = self.closed;
        let slot = |before: u32| before.wrapping_sub(closed) as usize;
        for line in &self.lines {
            if let Some(waiting) = self.slots.get_mut(slot(line.before)) {
                waiting[sort(line.edge)] += 1;
            }
        }
        self.encode(count);
        // The slots now say where in the appendix the next dependent goes.
        let Self { slots, lines, part, .. } = self;
        lines.retain(|line| {
            let Some(waiting) = slots.get_mut(slot(line.before)) else { return true };
            let at = &mut waiting[sort(line.edge)];
            let place = WORD * *at as usize..WORD * (*at as usize + 1);
            if let Some(place) = part.appendix.kept.get_mut(place) {
                place.copy_from_slice(&line.after.to_le_bytes());
            }
            *at += 1;
            false
        });
        self.ops.drain(..count);
        self.dependencies.drain(..count);
        self.closed += count as u32;
        self.part.nodes.settle(spill)?;
        self.part.appendix.settle(spill)
    }

    /// Gives the first open operations their final form, and turns the numbers in the slots to
    /// places in the part of the appendix that is in memory.
    fn encode(&mut self, count: usize) {
        let RankSchedule { roots, nodes, appendix, ops, highest, waits } = &mut self.part;
        nodes.kept.reserve(NODE * count);
        let before = ((appendix.len() - appendix.kept.len()) / WORD) as u32;
        let mut first = (appendix.len() / WORD) as u32;
        let mut list = |count: &mut u32| {
            let list = List { count: *count, first };
            *count = first - before;
            first += list.count;
            list
        };
        let open = self.ops.iter().zip(&self.dependencies).zip(&mut self.slots);
        for (index, ((op, dependencies), waiting)) in (self.closed..).zip(open) {
            let [done, started] = waiting;
            let node = Node {
                dependencies: *dependencies,
                kind: code(op.kind),
                peer: op.peer,
                size: op.size,
                tag: op.tag,
                cpu: op.cpu,
                nic: op.nic,
                done: list(done),
                started: list(started),
            };
            if *dependencies == 0 {
                roots.extend_from_slice(&index.to_le_bytes());
            }
            *highest = [highest[0].max(op.cpu), highest[1].max(op.nic)];
            waits.add(Waits::of(&node));
            nodes.kept.extend_from_slice(&node.encode());
        }
        appendix.kept.resize(WORD * (first - before) as usize, 0);
        *ops += count as u32;
    }

    /// Closes the rank. Fails if the file cannot be written.
    pub fn finish(mut self, spill: &Spill) -> io::Result<RankSchedule> {
        self.close(u32::MAX, spill)?;
        Ok(self.part)
    }
}

impl RankSchedule {
    /// Bytes of the rank's part of the image.
    pub(super) const fn bytes(&self) -> u64 {
        (BLOB_HEADER + self.roots.len() + self.nodes.len() + self.appendix.len()) as u64
    }
}

/// Gives the messages among nodes other tags.
pub(super) fn retag(nodes: &mut [u8], tag: impl Fn(u32) -> u32) {
    for bytes in nodes.as_chunks_mut().0 {
        let node = Node::decode(bytes);
        if node.kind != code(Kind::Calc) {
            *bytes = Node { tag: tag(node.tag), ..node }.encode();
        }
    }
}
