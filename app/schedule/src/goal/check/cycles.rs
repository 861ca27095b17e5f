//! Operations of a rank that wait for each other.

use std::fmt::{self, Display};

use super::super::rank::Rank;
use crate::Program;

/// The most operations of a cycle that are named.
const NAMED: usize = 10;

/// Operations of a rank that wait for each other. Displayed, it says so in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The rank.
    pub rank: u32,
    /// Operations of which each waits for the next and the last for the first, from the lowest on.
    pub operations: Vec<u32>,
    /// Number of operations that can never start: these, and those that wait for them.
    pub stuck: u64,
}

/// Returns one cycle of each of these ranks whose operations wait for each other.
pub fn cycles(program: &impl Program, ranks: impl IntoIterator<Item = u32>) -> Vec<Cycle> {
    let mut graph = Rank::default();
    let mut finder = Finder::default();
    let cycle = |rank| {
        graph.load(program, rank);
        let (operations, stuck) = finder.find(&graph)?;
        Some(Cycle { rank, operations, stuck })
    };
    ranks.into_iter().filter(|rank| *rank < program.ranks()).filter_map(cycle).collect()
}

/// Finds cycles, by removing again and again the operations that wait for none (Kahn's algorithm).
/// A buffer, used for one rank after the other.
#[derive(Default)]
pub struct Finder {
    /// Per operation, how many it still waits for.
    waits: Vec<u32>,
    /// Per operation, where its dependents start in the appendix.
    starts: Vec<usize>,
    ready: Vec<u32>,
}

impl Finder {
    /// Returns the operations of one cycle, if there is one, and how many can never start.
    pub fn find(&mut self, graph: &Rank) -> Option<(Vec<u32>, u64)> {
        let ops = graph.ops.len();
        if graph.appendix.is_empty() {
            return None;
        }
        self.waits.clear();
        self.waits.resize(ops, 0);
        graph.edges(|_, _, after| {
            if let Some(waits) = self.waits.get_mut(after as usize) {
                *waits += 1;
            }
        });
        self.starts.clear();
        let mut start = 0;
        self.starts.extend(graph.waiting.iter().map(|[done, started]| {
            start += *done as usize + *started as usize;
            start - *done as usize - *started as usize
        }));
        let stuck = ops - self.remove(graph);
        (stuck > 0).then(|| (self.cycle(graph), stuck as u64))
    }

    fn dependents<'g>(&self, graph: &'g Rank, op: u32) -> &'g [u32] {
        let start = self.starts.get(op as usize).copied().unwrap_or(0);
        let [done, started] = graph.waiting.get(op as usize).copied().unwrap_or([0; 2]);
        let end = start + done as usize + started as usize;
        graph.appendix.get(start..end).unwrap_or_default()
    }

    /// Removes what can start; returns how many can.
    fn remove(&mut self, graph: &Rank) -> usize {
        self.ready.clear();
        let free = (0..).zip(&self.waits).filter(|(_, waits)| **waits == 0);
        self.ready.extend(free.map(|(op, _)| op));
        let mut removed = 0;
        while let Some(op) = self.ready.pop() {
            removed += 1;
            for after in self.dependents(graph, op) {
                if let Some(waits) = self.waits.get_mut(*after as usize) {
                    *waits -= 1;
                    if *waits == 0 {
                        self.ready.push(*after);
                    }
                }
            }
        }
        removed
    }

    /// A cycle among what is left, from its lowest operation on; each waits for the next.
    fn cycle(&self, graph: &Rank) -> Vec<u32> {
        let ops = self.waits.len();
        let is_left = |op: u32| self.waits.get(op as usize).is_some_and(|waits| *waits > 0);
        // Whom each waits for, among those left: every one of them waits for such a one.
        let mut waits_for = vec![None; ops];
        for before in (0..ops as u32).rev().filter(|op| is_left(*op)) {
            for after in self.dependents(graph, before).iter().filter(|op| is_left(**op)) {
                waits_for[*after as usize] = Some(before);
            }
        }
        let next = |op: &u32| waits_for.get(*op as usize).copied().flatten();
        // After as many steps as there are operations, the walk is on a cycle.
        let start = (0..ops as u32).find(|op| is_left(*op));
        let entry = std::iter::successors(start, next).nth(ops);
        let around = std::iter::successors(entry, next);
        let rest = around.skip(1).take_while(|op| Some(*op) != entry);
        let mut cycle: Vec<u32> = entry.into_iter().chain(rest).collect();
        let lowest = (0..cycle.len()).min_by_key(|place| cycle[*place]).unwrap_or(0);
        cycle.rotate_left(lowest);
        cycle
    }
}

impl Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { operations, stuck, .. } = self;
        let named: Vec<_> = operations.iter().take(NAMED).map(ToString::to_string).collect();
        let named = named.join(", ");
        match operations.len() {
            1 => write!(f, "the operation waits for itself; "),
            length if length > NAMED => write!(
                f,
                "{length} operations wait each for the next, the last for the first ({named}, …); "
            ),
            _ => {
                write!(f, "operations {named} wait each for the next, the last for the first; ")
            }
        }?;
        write!(f, "{stuck} operation{} can never start", if *stuck == 1 { "" } else { "s" })
    }
}
