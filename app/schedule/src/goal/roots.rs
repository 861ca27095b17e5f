//! Grouping of operations into runs.

use std::collections::BTreeMap;

use crate::{Kind, Run};

/// Operations that may stand in one run.
pub type Group = (Kind, u8, u8);

/// Passes ascending operations on as runs of one group each, as long as a constant stride allows.
pub fn runs(ops: impl Iterator<Item = (u32, Group)>, each: &mut impl FnMut(Run)) {
    let mut open: BTreeMap<Group, Run> = BTreeMap::new();
    for (op, group) in ops {
        let run = open.entry(group).or_insert(Run { count: 0, ..Run::one(op) });
        if run.count == 0 {
            run.count = 1;
        } else if run.count == 1 {
            run.stride = op - run.first;
            run.count = 2;
        } else if u64::from(op) == last(run) + u64::from(run.stride) {
            run.count += 1;
        } else {
            each(*run);
            *run = Run::one(op);
        }
    }
    open.into_values().for_each(each);
}

fn last(run: &Run) -> u64 {
    u64::from(run.first) + u64::from(run.stride) * u64::from(run.count - 1)
}
