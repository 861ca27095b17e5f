//! Scan and exscan: rank r gets the combination of the vectors of the ranks up to r, or below r.

use crate::{
    call::Call,
    plan::{Plan, Region},
    table::{Entry, Way},
};

use Way::{Run, Same};

/// Algorithms of `scan`.
pub const SCAN: &[Entry] = &[
    Entry::new("default", Same("linear"), "every rank sends to all above it"),
    Entry::new(
        "linear",
        Run(|call, plan| linear(call, plan, true)),
        "every rank sends to all above it",
    ),
    Entry::new("ompi_basic_linear", Run(|call, plan| chain(call, plan, true)), "from rank to rank"),
    Entry::new("mpich", Run(|call, plan| doubling(call, plan, true)), "recursive doubling"),
    Entry::new("ompi", Same("ompi_basic_linear"), "as Open MPI chooses"),
];

/// Algorithms of `exscan`. Rank 0 gets nothing.
pub const EXSCAN: &[Entry] = &[
    Entry::new("default", Same("linear"), "every rank sends to all above it"),
    Entry::new(
        "linear",
        Run(|call, plan| linear(call, plan, false)),
        "every rank sends to all above it",
    ),
    Entry::new(
        "ompi_basic_linear",
        Run(|call, plan| chain(call, plan, false)),
        "from rank to rank",
    ),
    Entry::new("mpich", Run(|call, plan| doubling(call, plan, false)), "recursive doubling"),
    Entry::new("ompi", Same("ompi_basic_linear"), "as Open MPI chooses"),
];

fn linear(call: &Call, plan: &mut Plan, inclusive: bool) {
    let (me, out) = (call.rank, call.output());
    let others = plan.scratch(call.count() * u64::from(me));
    for rank in 0..me {
        plan.irecv(rank, others.part(u64::from(rank) * call.count(), call.count()));
    }
    for rank in me + 1..call.ranks {
        plan.isend(rank, call.input());
    }
    plan.wait_in_order();
    let terms = (0..me).map(|rank| others.part(u64::from(rank) * call.count(), call.count()));
    combine(plan, terms.chain(inclusive.then(|| call.input())), out);
}

fn combine(plan: &mut Plan, mut terms: impl Iterator<Item = Region>, out: Region) {
    if let Some(first) = terms.next() {
        plan.copy(first, out);
    }
    terms.for_each(|term| plan.reduce_right(out, term));
}

fn chain(call: &Call, plan: &mut Plan, inclusive: bool) {
    let (me, out) = (call.rank, call.output());
    let below = if inclusive { plan.scratch(call.count()) } else { out };
    if me > 0 {
        plan.recv(me - 1, below);
    }
    let upto = if inclusive { out } else { plan.scratch(call.count()) };
    plan.copy(call.input(), upto);
    if me > 0 {
        plan.reduce_left(below, upto);
    }
    if me + 1 < call.ranks {
        plan.send(me + 1, upto);
    }
}

fn doubling(call: &Call, plan: &mut Plan, inclusive: bool) {
    let (out, team) = (call.output(), call.all());
    // What the range of ranks that this one is in contributes, as far as it is known.
    let range = plan.scratch(call.count());
    let other = plan.scratch(call.count());
    plan.copy(call.input(), range);
    let mut is_empty = !inclusive;
    if inclusive {
        plan.copy(call.input(), out);
    }
    let mut mask = 1;
    while mask < team.size {
        let partner = team.me ^ mask;
        if partner < team.size {
            plan.exchange(partner, range, partner, other);
            if partner < team.me && is_empty {
                plan.copy(other, out);
                is_empty = false;
            } else if partner < team.me {
                plan.reduce_left(other, out);
            }
            plan.reduce_by_rank(team.me, partner, other, range);
        }
        mask *= 2;
    }
}
