//! Telling who waits for whom when a program cannot finish.

use network::Network;
use schedule::ANY;
use units::Time;

use crate::engine::Engine;
use crate::rank::Rank;
use crate::source::Source;
use crate::{Deadlock, PendingOp};

/// Most operations that are listed.
const LISTED: usize = 1_000;

/// Describes the ranks that are not finished. With `claimed` receives nothing is known about them.
pub fn describe<S: Source, N: Network>(
    engine: &Engine<'_, S, N>,
    parts: &[Vec<Rank<S::State, N::Interface>>],
    at: Time,
    claimed: bool,
) -> Deadlock {
    let mut deadlock = Deadlock { at, ..Deadlock::default() };
    if claimed {
        return deadlock;
    }
    let mut waits = Vec::new();
    let mut stuck = vec![false; engine.ranks as usize];
    for (id, rank) in (0u32..).zip(parts.iter().flatten()) {
        if !engine.source.unfinished(&rank.source, id) {
            continue;
        }
        deadlock.ranks += 1;
        stuck[id as usize] = true;
        let mut started: Vec<u32> = Vec::new();
        if let Some(matching) = &rank.matching {
            for (source, _, receive) in matching.posted.iter() {
                started.push(receive.index);
                if source != ANY {
                    waits.push((id, source));
                }
            }
            for send in &matching.unreleased {
                started.push(send.send);
                waits.push((id, send.destination));
            }
            for &(receive, source, _) in &matching.cleared {
                started.push(receive);
                waits.push((id, source));
            }
        }
        started.sort_unstable();
        let pending = started.into_iter().map(|index| PendingOp { rank: id, index, started: true });
        let room = LISTED.saturating_sub(deadlock.pending.len());
        let before = deadlock.pending.len();
        deadlock.pending.extend(pending.take(room));
        if deadlock.pending.len() == before
            && before < LISTED
            && let Some(index) = engine.source.first_blocked(&rank.source, id)
        {
            deadlock.pending.push(PendingOp { rank: id, index, started: false });
        }
    }
    waits.retain(|&(_, to)| stuck.get(to as usize) == Some(&true));
    waits.sort_unstable();
    waits.dedup();
    deadlock.cycle = cycle(engine.ranks, &waits);
    deadlock
}

/// A cycle in a graph given by sorted edges, from its lowest member; empty if there is none.
pub fn cycle(nodes: u32, edges: &[(u32, u32)]) -> Vec<u32> {
    let of = |node: u32| {
        let first = edges.partition_point(|edge| edge.0 < node);
        edges[first..].iter().take_while(move |edge| edge.0 == node).map(|edge| edge.1)
    };
    // Depth first, without recursion: a node is new, on the current way, or finished.
    let mut finished = vec![false; nodes as usize];
    let mut place = vec![u32::MAX; nodes as usize];
    for root in 0..nodes {
        if finished[root as usize] {
            continue;
        }
        let mut way = vec![(root, of(root))];
        place[root as usize] = 0;
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            match next.next() {
                Some(to) if place[to as usize] != u32::MAX => {
                    let mut found: Vec<u32> =
                        way[place[to as usize] as usize..].iter().map(|step| step.0).collect();
                    let lowest = (0..found.len()).min_by_key(|&i| found[i]).unwrap_or(0);
                    found.rotate_left(lowest);
                    return found;
                }
                Some(to) if finished[to as usize] => {}
                Some(to) => {
                    place[to as usize] = way.len() as u32;
                    way.push((to, of(to)));
                }
                None => {
                    finished[node as usize] = true;
                    place[node as usize] = u32::MAX;
                    way.pop();
                }
            }
        }
    }
    Vec::new()
}
