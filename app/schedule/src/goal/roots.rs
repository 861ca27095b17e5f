//! Grouping of operations into runs.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::{Kind, Run};

/// Operations that may stand in one run.
pub type Group = (Kind, u8, u8);

/// The number of groups that a rank with one CPU and one interface can have.
const FEW: usize = 3;

/// Passes ascending operations on as runs of one group each, as long as a constant stride allows.
pub fn runs(ops: impl Iterator<Item = (u32, Group)>, each: &mut impl FnMut(Run)) {
    // The groups met first, and a map for those beyond, which most ranks do not need.
    let mut few: SmallVec<[(Group, Run); FEW]> = SmallVec::new();
    let mut others: BTreeMap<Group, Run> = BTreeMap::new();
    for (op, group) in ops {
        if let Some((_, run)) = few.iter_mut().find(|(other, _)| *other == group) {
            extend(run, op, each);
        } else if few.len() < FEW {
            few.push((group, Run::one(op)));
        } else if let Some(run) = others.get_mut(&group) {
            extend(run, op, each);
        } else {
            others.insert(group, Run::one(op));
        }
    }
    if others.is_empty() {
        few.sort_unstable_by_key(|(group, _)| *group);
        few.into_iter().for_each(|(_, run)| each(run));
    } else {
        others.extend(few);
        others.into_values().for_each(each);
    }
}

/// Appends an operation to a run, or passes the run on and starts another.
#[inline]
fn extend(run: &mut Run, op: u32, each: &mut impl FnMut(Run)) {
    if run.count == 1 {
        run.stride = op - run.first;
        run.count = 2;
    } else if u64::from(op) == last(run) + u64::from(run.stride) {
        run.count += 1;
    } else {
        each(*run);
        *run = Run::one(op);
    }
}

#[inline]
fn last(run: &Run) -> u64 {
    u64::from(run.first) + u64::from(run.stride) * u64::from(run.count - 1)
}

#[cfg(test)]
mod tests;
