//! Operations of a rank that wait for each other.

use super::super::rank::Rank;

/// The most operations of a cycle that are named.
const NAMED: usize = 10;

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
    /// Calls `found` with the first operation of one cycle and a message that names it, if there is
    /// one.
    pub fn find(&mut self, graph: &Rank, mut found: impl FnMut(u32, String)) {
        let ops = graph.ops.len();
        if graph.appendix.is_empty() {
            return;
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
        if stuck > 0 {
            let cycle = self.cycle(graph);
            found(cycle.first().copied().unwrap_or(0), describe(&cycle, stuck));
        }
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

fn describe(cycle: &[u32], stuck: usize) -> String {
    let named: Vec<_> = cycle.iter().take(NAMED).map(ToString::to_string).collect();
    let named = named.join(", ");
    let plural = if stuck == 1 { "" } else { "s" };
    let never = format!("{stuck} operation{plural} can never start");
    match cycle.len() {
        1 => format!("the operation waits for itself; {never}"),
        length if length > NAMED => {
            format!(
                "{length} operations wait each for the next, the last for the first ({named}, …); \
                 {never}"
            )
        }
        _ => format!("operations {named} wait each for the next, the last for the first; {never}"),
    }
}
