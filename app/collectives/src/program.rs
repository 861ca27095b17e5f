//! A collective as a schedule.

use calls::Collective;
use schedule::{Edge, Kind, Op, Program, Run};

use crate::{
    call::Call,
    names::{Error, plan},
    plan::{Action, Buffer, Plan, Region},
};

/// The plans of all ranks as a program. Copies cost nothing and are left out, and so are reductions
/// that cost nothing. Memory grows with the number of messages.
#[derive(Clone, Debug, Default)]
pub struct Scheduled {
    ranks: Vec<Rank>,
}

/// The operations of one rank.
#[derive(Clone, Debug, Default)]
struct Rank {
    ops: Vec<Op>,
    /// Per operation, how many it requires.
    required: Vec<u32>,
    /// Per operation, where the list of those that require it ends in `dependents`.
    ends: Vec<u32>,
    dependents: Vec<u32>,
    /// Operations that are blocking, in order.
    blocking: Vec<u32>,
}

impl Scheduled {
    /// The program of a collective; `call.rank` does not matter. `cost` is the duration of the
    /// reduction of so many bytes, in the schedule's time unit.
    pub fn new(
        collective: Collective,
        name: &str,
        call: &Call,
        cost: impl Fn(u64) -> u64,
    ) -> Result<Self, Error> {
        let rank = |rank| {
            let plan = plan(collective, name, &Call { rank, ..*call })?;
            Ok(Rank::new(&plan, call.element, &cost))
        };
        Ok(Self { ranks: (0..call.ranks).map(rank).collect::<Result<_, _>>()? })
    }
}

impl Rank {
    fn new(plan: &Plan, element: u64, cost: &impl Fn(u64) -> u64) -> Self {
        let bytes = |region: Region| match region.buffer {
            Buffer::Control => region.len,
            _ => region.len * element,
        };
        let mut made = Self::default();
        let mut edges: Vec<(u32, u32)> = Vec::new();
        // Per step, the operations for which one has to wait to wait for the step: a list in
        // `lists`.
        let mut lists: Vec<Vec<u32>> = vec![Vec::new()];
        let mut list_of: Vec<usize> = Vec::with_capacity(plan.len());
        for (step, (action, required)) in (0..).zip(plan.steps()) {
            let op = match action {
                Action::Send { to, tag, from } => Some(op(Kind::Send, to, tag, bytes(from))),
                Action::Recv { from, tag, into } => Some(op(Kind::Recv, from, tag, bytes(into))),
                Action::Copy { .. } => None,
                Action::Reduce { into, .. } => match cost(bytes(into)) {
                    0 => None,
                    time => Some(op(Kind::Calc, 0, 0, time)),
                },
            };
            let wanted = |step: &u32| list_of.get(*step as usize).copied().unwrap_or(0);
            let list = match required {
                [] => 0,
                [one] => wanted(one),
                several => {
                    let lists = &mut lists;
                    let mut all: Vec<u32> =
                        several.iter().flat_map(|step| lists[wanted(step)].clone()).collect();
                    all.sort_unstable();
                    all.dedup();
                    lists.push(all);
                    lists.len() - 1
                }
            };
            if let Some(op) = op {
                let index = made.ops.len() as u32;
                if plan.is_blocking(step) {
                    made.blocking.push(index);
                }
                made.ops.push(op);
                made.required.push(lists[list].len() as u32);
                edges.extend(lists[list].iter().map(|&before| (before, index)));
                list_of.push(lists.len());
                lists.push(vec![index]);
            } else {
                list_of.push(list);
            }
        }
        edges.sort_unstable();
        made.dependents = edges.iter().map(|&(_, after)| after).collect();
        let mut end = 0;
        made.ends = (0..made.ops.len() as u32)
            .map(|index| {
                end += edges[end..].iter().take_while(|&&(before, _)| before == index).count();
                end as u32
            })
            .collect();
        made
    }
}

const fn op(kind: Kind, peer: u32, tag: u32, size: u64) -> Op {
    Op { kind, peer, tag, size, cpu: 0, nic: 0 }
}

impl Program for Scheduled {
    fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    fn ops(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].ops.len() as u32
    }

    fn op(&self, rank: u32, index: u32) -> Op {
        self.ranks[rank as usize].ops[index as usize]
    }

    fn dependencies(&self, rank: u32, index: u32) -> u32 {
        self.ranks[rank as usize].required[index as usize]
    }

    fn dependents(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32)) {
        if edge == Edge::Started {
            return;
        }
        let rank = &self.ranks[rank as usize];
        let before = (index as usize).checked_sub(1);
        let start = before.map_or(0, |before| rank.ends[before] as usize);
        rank.dependents[start..rank.ends[index as usize] as usize].iter().copied().for_each(each);
    }

    fn roots(&self, rank: u32, each: &mut impl FnMut(Run)) {
        let rank = &self.ranks[rank as usize];
        for kind in [Kind::Send, Kind::Recv, Kind::Calc] {
            let roots = (0..).zip(&rank.ops).zip(&rank.required);
            let roots = roots.filter(|((_, op), required)| op.kind == kind && **required == 0);
            roots.for_each(|((index, _), _)| each(Run::one(index)));
        }
    }

    fn is_blocking(&self, rank: u32, index: u32) -> Option<bool> {
        Some(self.ranks[rank as usize].blocking.binary_search(&index).is_ok())
    }

    fn has_start_edges(&self) -> bool {
        false
    }
}
