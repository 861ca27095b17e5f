//! MPI calls in simulated time.
//!
//! Between two calls of a thread a rank computes, if only for no time. A call is over when the
//! computation behind it starts, and the next begins when that is done.

use std::{collections::BTreeMap, sync::Arc};

use calls::Table;
use results::{Call, Computation, Tables};
use traces::Mark;
use units::Time;

/// A call by operations of its rank.
struct Marked {
    thread: u32,
    /// The function; empty for what is none, such as a look at another clock.
    name: Arc<str>,
    /// The place in the program; empty if that is not known.
    place: Arc<str>,
    /// The operation with whose start the call before is over.
    first: u32,
    /// The computation before the call; without it, the call begins at once.
    before: Option<u32>,
}

/// The calls of the ranks of a schedule.
pub(super) fn of_traces(marks: &[Vec<Mark>], tables: &Tables) -> Vec<Call> {
    let mut names: BTreeMap<u32, Arc<str>> = BTreeMap::new();
    let place: Arc<str> = "".into();
    let mut marked = |mark: &Mark| {
        let name = || Table::get().by_id(mark.call).map_or("", |call| call.name).into();
        let name = Arc::clone(names.entry(mark.call).or_insert_with(name));
        let (thread, place) = (mark.thread, Arc::clone(&place));
        Marked { thread, name, place, first: mark.first, before: Some(mark.before) }
    };
    let ranks = marks.iter().map(|marks| (marks.iter().map(&mut marked).collect(), true));
    timed(ranks, &tables.computations)
}

/// The calls of live ranks.
pub(super) fn of_live(ranks: Vec<live::Calls>, tables: &Tables) -> Vec<Call> {
    let marked = |live::Call { name, place, first, computes }| {
        let before = computes.then_some(first);
        Marked { thread: 0, name, place, first, before }
    };
    let ranks = ranks
        .into_iter()
        .map(|live::Calls { calls, finished }| (calls.into_iter().map(marked).collect(), finished));
    timed(ranks, &tables.computations)
}

/// The calls of ranks, which have or have not `finished`, with their times. `computations` are
/// sorted by rank and index.
fn timed(
    ranks: impl Iterator<Item = (Vec<Marked>, bool)>,
    mut computations: &[Computation],
) -> Vec<Call> {
    let mut calls = Vec::new();
    for (rank, (marks, finished)) in (0..).zip(ranks) {
        let behind = computations.partition_point(|computation| computation.rank <= rank);
        let (own, rest) = computations.split_at(behind);
        computations = rest;
        let of = |index: u32| {
            let found = own.binary_search_by_key(&index, |computation| computation.index);
            found.ok().and_then(|place| own.get(place))
        };
        // When the thread's next call begins, found from behind.
        let mut next: BTreeMap<u32, Time> = BTreeMap::new();
        let first = calls.len();
        for mark in marks.into_iter().rev() {
            let start = of(mark.first).map_or(Time::MAX, |found| found.start);
            let before = |index| of(index).map_or(Time::MAX, |found| found.end);
            let enter = mark.before.map_or(start, before);
            let last = if finished { enter } else { Time::MAX };
            let leave = next.insert(mark.thread, start).unwrap_or(last);
            if !mark.name.is_empty() {
                let Marked { thread, name, place, .. } = mark;
                calls.push(Call { rank, thread, name, place, enter, leave });
            }
        }
        if let Some(own) = calls.get_mut(first..) {
            own.reverse();
        }
    }
    calls
}
