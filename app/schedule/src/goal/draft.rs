//! Building a schedule in memory, rank by rank.

use super::format::{BASE, HEADER, MAGIC, SPAN};
use super::image::Image;
use super::rank::{Line, Rank};
use crate::{Edge, Op};

/// The operations of one rank, as they are thought of: operations and dependencies in any order.
#[derive(Debug, Default)]
pub struct Draft {
    ops: Vec<Op>,
    lines: Vec<Line>,
}

/// A rank's part of the binary form.
#[derive(Debug)]
pub struct Part {
    bytes: Vec<u8>,
    cpu: u8,
    nic: u8,
}

impl Draft {
    /// Adds an operation; gives its index.
    #[inline]
    pub fn op(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    /// Makes an operation wait for another. Indices of operations that are never added make the
    /// dependency void.
    #[inline]
    pub fn depend(&mut self, after: u32, before: u32, edge: Edge) {
        self.lines.push(Line { before, after, edge });
    }

    /// The operations so far.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The operations so far, to be changed.
    pub fn ops_mut(&mut self) -> &mut [Op] {
        &mut self.ops
    }

    /// Closes the rank.
    pub fn finish(mut self) -> Part {
        let count = self.ops.len();
        self.lines.retain(|line| (line.before.max(line.after) as usize) < count);
        let highest = |(cpu, nic): (u8, u8), op: &Op| (cpu.max(op.cpu), nic.max(op.nic));
        let (cpu, nic) = self.ops.iter().fold((0, 0), highest);
        let mut rank = Rank { ops: self.ops, ..Rank::default() };
        rank.link(&self.lines, &mut Vec::new());
        let mut bytes = Vec::new();
        rank.encode(&mut bytes);
        Part { bytes, cpu, nic }
    }
}

impl Image {
    /// Joins the parts of all ranks, in order.
    pub fn from_parts(parts: Vec<Part>) -> Self {
        let table = HEADER + SPAN * parts.len();
        let length: usize = parts.iter().map(|part| part.bytes.len()).sum();
        let mut out = Vec::with_capacity(table + length);
        let highest = |index: fn(&Part) -> u8| parts.iter().map(index).max().unwrap_or(0);
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&(parts.len() as u32).to_le_bytes());
        out.extend_from_slice(&[highest(|part| part.cpu), highest(|part| part.nic)]);
        let mut start = (table - BASE) as u64;
        for part in &parts {
            out.extend_from_slice(&start.to_le_bytes());
            start += part.bytes.len() as u64;
            out.extend_from_slice(&start.to_le_bytes());
        }
        // Each part is let go when it has been copied, so that memory holds little more than one copy.
        for part in parts {
            out.extend_from_slice(&part.bytes);
        }
        Self::written(out)
    }
}
