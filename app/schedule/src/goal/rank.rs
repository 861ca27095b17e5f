//! The operations of one rank, unpacked.

use super::format::{BLOB_HEADER, List, NODE, Node, WORD, code};
use crate::{Edge, Op, Program};

/// The operations of one rank and who waits for whom. A buffer, filled for one rank after the
/// other.
#[derive(Default)]
pub struct Rank {
    pub ops: Vec<Op>,
    /// Per operation, how many it waits for.
    pub dependencies: Vec<u32>,
    /// Per operation, how many wait for its end and for its start.
    pub waiting: Vec<[u32; 2]>,
    /// The operations that wait: for operation 0's end, for its start, for operation 1's end, …
    pub appendix: Vec<u32>,
}

/// A dependency.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub before: u32,
    pub after: u32,
    pub edge: Edge,
}

/// An index into [`Rank::waiting`].
pub const fn sort(edge: Edge) -> usize {
    match edge {
        Edge::Done => 0,
        Edge::Started => 1,
    }
}

impl Rank {
    pub fn clear(&mut self) {
        self.ops.clear();
        self.dependencies.clear();
        self.waiting.clear();
        self.appendix.clear();
    }

    /// Fetches the operations of a rank of a program.
    pub fn load(&mut self, program: &impl Program, rank: u32) {
        self.clear();
        for index in 0..program.ops(rank) {
            self.ops.push(program.op(rank, index));
            self.dependencies.push(program.dependencies(rank, index));
            let mut waiting = [0; 2];
            for edge in [Edge::Done, Edge::Started] {
                program.dependents(rank, index, edge, &mut |op| {
                    waiting[sort(edge)] += 1;
                    self.appendix.push(op);
                });
            }
            self.waiting.push(waiting);
        }
    }

    /// Sorts the dependency lines into the appendix, by the operation that is waited for. `slots`
    /// is scratch space: per operation and sort of edge, where in the appendix the next dependent
    /// goes.
    pub fn link(&mut self, lines: &[Line], slots: &mut Vec<[u32; 2]>) {
        let Self { ops, dependencies, waiting, appendix } = self;
        dependencies.resize(ops.len(), 0);
        waiting.resize(ops.len(), [0; 2]);
        appendix.resize(lines.len(), 0);
        for line in lines {
            dependencies[line.after as usize] += 1;
            waiting[line.before as usize][sort(line.edge)] += 1;
        }
        let mut first = 0;
        slots.clear();
        slots.extend(waiting.iter().map(|[done, started]| {
            let slots = [first, first + done];
            first += done + started;
            slots
        }));
        for line in lines {
            let slot = &mut slots[line.before as usize][sort(line.edge)];
            appendix[*slot as usize] = line.after;
            *slot += 1;
        }
    }

    /// Calls `each` with all (earlier operation, edge, later operation), in the order of the
    /// appendix.
    pub fn edges(&self, mut each: impl FnMut(u32, Edge, u32)) {
        let mut appendix = self.appendix.iter();
        for (before, waiting) in (0..).zip(&self.waiting) {
            for edge in [Edge::Done, Edge::Started] {
                let count = waiting[sort(edge)] as usize;
                appendix.by_ref().take(count).for_each(|after| each(before, edge, *after));
            }
        }
    }

    /// Appends the rank's part of the binary form.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let roots = || (0_u32..).zip(&self.dependencies).filter(|(_, count)| **count == 0);
        let count = roots().count();
        let words = count + self.appendix.len();
        out.reserve(BLOB_HEADER + NODE * self.ops.len() + WORD * words);
        out.extend_from_slice(&(self.ops.len() as u32).to_le_bytes());
        out.extend_from_slice(&(count as u32).to_le_bytes());
        roots().for_each(|(root, _)| out.extend_from_slice(&root.to_le_bytes()));
        let mut first = 0;
        let mut list = |count| {
            first += count;
            List { count, first: first - count }
        };
        for ((op, dependencies), waiting) in
            self.ops.iter().zip(&self.dependencies).zip(&self.waiting)
        {
            let node = Node {
                dependencies: *dependencies,
                kind: code(op.kind),
                peer: op.peer,
                size: op.size,
                tag: op.tag,
                cpu: op.cpu,
                nic: op.nic,
                done: list(waiting[0]),
                started: list(waiting[1]),
            };
            out.extend_from_slice(&node.encode());
        }
        self.appendix.iter().for_each(|op| out.extend_from_slice(&op.to_le_bytes()));
    }
}
