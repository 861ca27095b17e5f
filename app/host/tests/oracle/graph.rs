//! A program unpacked into plain lists, as both oracles walk it.

use schedule::{Edge, Op, Program};

/// One operation and what waits for it.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    /// Dependencies that are not met yet.
    pub missing: u32,
    /// Operations that wait for its end, in the order of the dependency lines.
    pub done: Vec<u32>,
    /// Operations that wait for its start, in the same order.
    pub started: Vec<u32>,
}

/// The operations of every rank.
pub fn unpack(program: &impl Program) -> Vec<Vec<Node>> {
    let waiting = |rank, index, edge| {
        let mut list = Vec::new();
        program.dependents(rank, index, edge, &mut |next| list.push(next));
        list
    };
    let node = |rank, index| Node {
        op: program.op(rank, index),
        missing: program.dependencies(rank, index),
        done: waiting(rank, index, Edge::Done),
        started: waiting(rank, index, Edge::Started),
    };
    let rank = |rank| (0..program.ops(rank)).map(|index| node(rank, index)).collect();
    (0..program.ranks()).map(rank).collect()
}
