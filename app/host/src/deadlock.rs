//! The report of a deadlock: who waits for whom when a program cannot finish.

use std::collections::BTreeMap;

use schedule::ANY;
use serde::{Deserialize, Serialize};
use units::Time;

use crate::rank::Matching;
use crate::source::Source;
use crate::{BlockedCall, Deadlock, PendingOp};

/// Most operations that are listed.
const LISTED: usize = 1_000;
/// Most of one live rank, which may wait for very many in one call.
const LISTED_OF_LIVE: usize = 8;

/// The facts about ranks that are not finished, gathered rank by rank in any order.
#[derive(Default, Serialize, Deserialize)]
pub struct Stuck {
    ranks: Vec<u32>,
    /// Edges of the waiting graph: a rank, and the rank that it waits for.
    waits: Vec<(u32, u32)>,
    pending: Pending,
    /// The calls of live ranks, which all belong to one process of the system.
    #[serde(skip)]
    places: Vec<BlockedCall>,
}

/// The pending operations of the lowest ranks: as many ranks as it takes to list [`LISTED`].
#[derive(Default, Serialize, Deserialize)]
struct Pending {
    by_rank: BTreeMap<u32, Vec<PendingOp>>,
    operations: usize,
}

impl Pending {
    /// Returns true if the operations of a rank may be among those that are listed.
    fn has_room(&self, rank: u32) -> bool {
        self.operations < LISTED || self.by_rank.last_key_value().is_some_and(|last| rank < *last.0)
    }

    /// Adds the operations of a rank, and removes the ranks that are not listed any more.
    fn add(&mut self, rank: u32, operations: Vec<PendingOp>) {
        if operations.is_empty() || !self.has_room(rank) {
            return;
        }
        self.operations += operations.len();
        self.by_rank.insert(rank, operations);
        while let Some(last) = self.by_rank.last_entry() {
            let rest = self.operations - last.get().len();
            if rest < LISTED {
                break;
            }
            last.remove();
            self.operations = rest;
        }
    }
}

impl Stuck {
    /// Adds a rank that is not finished.
    pub fn add<S: Source>(
        &mut self,
        source: &S,
        state: &S::State,
        rank: u32,
        matching: Option<&Matching>,
    ) {
        self.ranks.push(rank);
        let mut started: Vec<u32> = Vec::new();
        let mut wait = |index, partner| {
            started.push(index);
            if partner != ANY {
                self.waits.push((rank, partner));
            }
        };
        if let Some(matching) = matching {
            matching.posted.iter().for_each(|(from, _, receive)| wait(*receive, from));
        }
        if let Some(rare) = matching.and_then(Matching::any_rare) {
            let sends = rare.unreleased.iter().chain(&rare.departing);
            sends.for_each(|send| wait(send.send, send.destination));
            rare.cleared.iter().for_each(|cleared| wait(cleared.receive, cleared.sender));
        }
        started.sort_unstable();
        if let Some(call) = source.waits_in(state) {
            let operations = started.len();
            // What it has not got past comes first.
            let is_earlier =
                |index: &u32| source.message(state, *index).is_some_and(|message| message.earlier);
            if let Some(place) = started.iter().position(is_earlier) {
                started[..=place].rotate_right(1);
            }
            started.truncate(LISTED_OF_LIVE);
            let messages = started.iter().filter_map(|index| source.message(state, *index));
            let messages = messages.collect();
            self.places.push(BlockedCall { rank, call, operations, messages });
        }
        if !self.pending.has_room(rank) {
            return;
        }
        let blocked = if started.is_empty() { source.first_blocked(state, rank) } else { None };
        let blocked = blocked.map(|index| PendingOp { rank, index, started: false });
        let started = started.into_iter().map(|index| PendingOp { rank, index, started: true });
        self.pending.add(rank, blocked.into_iter().chain(started).take(LISTED).collect());
    }

    /// Adds the ranks of another worker.
    pub fn merge(&mut self, other: Self) {
        self.ranks.extend(other.ranks);
        self.waits.extend(other.waits);
        self.places.extend(other.places);
        for (rank, operations) in other.pending.by_rank {
            self.pending.add(rank, operations);
        }
    }

    /// Returns the deadlock among `ranks` ranks if any is stuck; `at` is the time of the last
    /// event.
    pub fn describe(mut self, ranks: u32, at: Time) -> Option<Deadlock> {
        if self.ranks.is_empty() {
            return None;
        }
        self.ranks.sort_unstable();
        self.places.sort_unstable_by_key(|call| call.rank);
        self.waits.retain(|(_, to)| self.ranks.binary_search(to).is_ok());
        self.waits.sort_unstable();
        self.waits.dedup();
        Some(Deadlock {
            at,
            ranks: self.ranks.len() as u64,
            pending: self.pending.by_rank.into_values().flatten().take(LISTED).collect(),
            places: self.places,
            cycle: cycle(ranks, &self.waits),
        })
    }
}

/// A cycle in a graph given by sorted edges, from its lowest member; empty if there is none.
fn cycle(nodes: u32, edges: &[(u32, u32)]) -> Vec<u32> {
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
