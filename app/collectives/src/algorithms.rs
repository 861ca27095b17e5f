//! A choice of algorithms for all collectives of a program.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use calls::{Amount, Collective, CollectiveCall, Expand, Sink};
use smallvec::SmallVec;
use units::TimePerByte;

use crate::call::{Call, Choices};
use crate::layout::{Blocks, Nodes};
use crate::names::{find, plan, resolve};
use crate::plan::{Action, Buffer, Plan, Region};
use crate::schedgen::Schedgen;
use crate::set_up::{NUMBER, needs_nodes, set_up};

/// Algorithms by name, those that a library chooses, or Schedgen's.
///
/// Collectives that libraries carry out by direct messages stay as [`Schedgen`] has them: gather
/// and scatter with a count per rank, of which only the root knows all, collectives among
/// neighbours and between groups.
#[derive(Clone, Debug)]
pub struct Algorithms {
    /// The name of each collective's algorithm or of a library's choice, by number;
    /// `None` for Schedgen's algorithm.
    names: Choices,
    /// The ranks of a communicator that share a node.
    pub nodes: Nodes,
    /// The time that reducing a byte takes.
    pub reduction: TimePerByte,
    /// The library that chooses where no algorithm is named.
    chooser: Option<&'static str>,
    /// By collective and algorithm, the number of calls.
    taken: Arc<Mutex<BTreeMap<(usize, &'static str), u64>>>,
    /// SMPI's replay is imitated: vectors without elements are sent all the same, and the first
    /// algorithm for nodes on a communicator sets these up.
    pub imitates_smpi: bool,
}

/// The number of the first message between two ranks that sets nodes up; those of a collective lie
/// below.
const SET_UP: u32 = 1 << 20;

impl Algorithms {
    /// Returns what a library of this name, such as `openmpi`, chooses, or Schedgen if there is
    /// none; but these algorithms for these collectives.
    pub fn new(name: Option<&str>, algorithms: &[(Collective, &'static str)]) -> Self {
        let names = std::array::from_fn(|number| {
            let collective = *Collective::ALL.get(number)?;
            let own = algorithms.iter().find(|(of, _)| *of == collective);
            // A collective of which a library has no choice has only the default.
            let choice = |name| find(collective, name).map_or("default", |entry| entry.name);
            own.map(|(_, algorithm)| *algorithm).or_else(|| name.map(choice))
        });
        let chooser = name.and_then(|name| find(Collective::Bcast, name).ok());
        Self {
            names,
            nodes: Nodes::Consecutive(1),
            reduction: TimePerByte::ZERO,
            chooser: chooser.map(|entry| entry.name),
            taken: Arc::default(),
            imitates_smpi: false,
        }
    }

    /// Returns the library that chooses where no algorithm is named; `None` for Schedgen.
    pub const fn chooser(&self) -> Option<&'static str> {
        self.chooser
    }

    /// Returns the number of calls of each collective by each algorithm, as far as rank 0 of the
    /// communicators has made them.
    pub fn taken(&self) -> Vec<((Collective, &'static str), u64)> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let each = taken.iter().filter_map(|((place, algorithm), count)| {
            Some(((*Collective::ALL.get(*place)?, *algorithm), *count))
        });
        each.collect()
    }

    fn count(&self, collective: Collective, algorithm: &'static str) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken.entry((collective as usize, algorithm)).or_default() += 1;
    }
}

impl Expand for Algorithms {
    fn expand(&self, what: &CollectiveCall, sink: &mut dyn Sink) -> Result<(), String> {
        let collective = algorithms_of(what.collective).filter(|_| what.remote == 0);
        let name = collective.and_then(|collective| *self.names.get(collective as usize)?);
        let (Some(collective), Some(name)) = (collective, name) else {
            return Schedgen.expand(what, sink);
        };
        let (sends, receives) = (&what.sends, &what.receives);
        // What all ranks know, so that they choose alike.
        let shared = match collective {
            Collective::Gather if what.root == Some(what.me) => receives,
            Collective::Scatter if what.root != Some(what.me) => receives,
            Collective::Allgatherv => receives,
            _ => sends,
        };
        let whole = |amount: &Amount| match amount {
            Amount::Each(bytes) => bytes.is_multiple_of(what.element),
            Amount::List(list) => list.iter().all(|bytes| bytes.is_multiple_of(what.element)),
        };
        let fits = what.element > 0 && whole(shared) && whole(receives);
        let element = if fits { what.element } else { 1 };
        let (shared, receives) = (blocks(shared, element), blocks(receives, element));
        // A plan for one element stands for a vector without any.
        let empty = self.imitates_smpi
            && (collective.is_whole() || collective == Collective::ReduceScatter)
            && shared.start(what.ranks) == 0;
        let one = Blocks::Same(1);
        let call = Call {
            ranks: what.ranks,
            rank: what.me,
            root: what.root.unwrap_or(0),
            element,
            commutative: what.commutative,
            segment: None,
            blocks: if empty { &one } else { &shared },
            received: &receives,
            nodes: &self.nodes,
            inside: &self.names,
        };
        if what.me == 0 {
            let entry = resolve(collective, name, &call).map_err(|error| error.to_string())?;
            self.count(collective, entry.name);
            sink.by(entry.name);
        }
        let before = if self.imitates_smpi && needs_nodes(collective, name) && sink.is_first() {
            post(&set_up(&call), (NUMBER, SET_UP), TimePerByte::ZERO, &[], sink)
        } else {
            Vec::new()
        };
        let before: Vec<u32> = before.into_iter().flatten().collect();
        let plan = plan(collective, name, &call).map_err(|error| error.to_string())?;
        let element = if empty { 0 } else { element };
        post(&plan, (element, 0), self.reduction, &before, sink);
        Ok(())
    }

    fn again(&self, collective: Collective, algorithm: &'static str) {
        if let Some(collective) = algorithms_of(collective) {
            self.count(collective, algorithm);
        }
    }
}

/// Posts the steps of a plan, whose messages have numbers from `first` on, behind the operations
/// `before`. Copies cost nothing and have no operation. Returns what stands for each step.
fn post(
    plan: &Plan,
    (element, first): (u64, u32),
    reduction: TimePerByte,
    before: &[u32],
    sink: &mut dyn Sink,
) -> Vec<SmallVec<[u32; 2]>> {
    let bytes = |region: Region| match region.buffer {
        Buffer::Control => region.len,
        _ => region.len.saturating_mul(element),
    };
    // By step, what one has to wait for to wait for it.
    let mut done: Vec<SmallVec<[u32; 2]>> = Vec::with_capacity(plan.len());
    for (step, (action, required)) in (0..).zip(plan.steps()) {
        let required = required.iter().filter_map(|step| done.get(*step as usize));
        let mut after: SmallVec<[u32; 2]> = required.flatten().copied().collect();
        if after.is_empty() {
            after.extend_from_slice(before);
        }
        after.sort_unstable();
        after.dedup();
        let op = match action {
            Action::Send { to, tag, from } => {
                sink.number(first + tag);
                let send = sink.send(to, bytes(from), &after);
                if plan.is_blocking(step) {
                    sink.blocking(send);
                }
                Some(send)
            }
            Action::Recv { from, tag, into } => {
                sink.number(first + tag);
                let receive = sink.receive(from, bytes(into), &after);
                if plan.is_blocking(step) {
                    sink.blocking(receive);
                }
                Some(receive)
            }
            Action::Copy { .. } => None,
            Action::Reduce { into, .. } => match reduction.cost(bytes(into)).ps() {
                0 => None,
                time => Some(sink.compute(time, &after)),
            },
        };
        done.push(op.map_or(after, |op| SmallVec::from_slice(&[op])));
    }
    done
}

fn blocks(amount: &Amount, element: u64) -> Blocks {
    match amount {
        Amount::Each(bytes) => Blocks::Same(bytes / element),
        Amount::List(list) => {
            Blocks::of(&list.iter().map(|bytes| bytes / element).collect::<Vec<_>>())
        }
    }
}

/// Returns the collective whose algorithms carry out another one, if libraries choose among
/// several.
const fn algorithms_of(collective: Collective) -> Option<Collective> {
    match collective {
        _ if collective.only_synchronises() => Some(Collective::Barrier),
        Collective::Alltoallw => Some(Collective::Alltoallv),
        Collective::Gatherv
        | Collective::Scatterv
        | Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv
        | Collective::NeighborAlltoallw => None,
        _ => Some(collective),
    }
}
