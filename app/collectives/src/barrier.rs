//! Barrier: nobody leaves before all have come.
//!
//! Sources: Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization", 1988 (Open MPI's
//! `bruck`); Open MPI 4.1, `coll/base` (the others).

use crate::{
    call::{Call, Team},
    plan::{Plan, Region},
    table::{Entry, Need, Way},
};

use Way::{Automatic, Run, Same, Select};

/// Algorithms of `barrier`.
pub const BARRIER: &[Entry] = &[
    Entry::new("default", Same("ompi_basic_linear"), "all report to rank 0, which answers"),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_basic_linear",
        Run(|call, plan| linear(plan, &call.all())),
        "all report to rank 0, which answers",
    ),
    Entry::new(
        "ompi_two_procs",
        Run(|call, plan| dissemination(plan, &call.all())),
        "one exchange",
    )
    .needs(&[(Need::TwoRanks, "ompi_bruck")]),
    Entry::new("ompi_tree", Run(tree), "a binomial tree up and down"),
    Entry::new("ompi_bruck", Run(|call, plan| dissemination(plan, &call.all())), "dissemination"),
    Entry::new(
        "ompi_recursivedoubling",
        Run(|call, plan| doubling(plan, &call.all())),
        "exchanges with partners 1, 2, 4, … away",
    ),
    Entry::new("ompi_doublering", Run(double_ring), "twice around a ring"),
    Entry::new("mpich_smp", Run(two_levels), "to leaders, dissemination among them, and back"),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new(
        "mvapich2_pair",
        Run(|call, plan| doubling(plan, &call.all())),
        "exchanges with partners 1, 2, 4, … away",
    ),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

const NOTICE: Region = Region::control(0);

/// All members report to member 0, which then answers.
pub fn linear(plan: &mut Plan, team: &Team) {
    if team.me > 0 {
        plan.send(team.rank(0), NOTICE);
        plan.recv(team.rank(0), NOTICE);
        return;
    }
    for member in 1..team.size {
        plan.irecv(team.rank(member), NOTICE);
    }
    plan.wait_all();
    for member in 1..team.size {
        plan.isend(team.rank(member), NOTICE);
    }
    plan.wait_all();
}

/// In round k each member notifies the one 2^k ahead.
pub fn dissemination(plan: &mut Plan, team: &Team) {
    let mut distance = 1;
    while distance < team.size {
        let (to, from) = (team.ahead(distance), team.behind(distance));
        plan.exchange(team.rank(to), NOTICE, team.rank(from), NOTICE);
        distance *= 2;
    }
}

/// Ranks beyond the largest power of two report to one within, and are answered at the end.
fn doubling(plan: &mut Plan, team: &Team) {
    let power = team.power();
    if team.me >= power {
        plan.exchange(team.rank(team.me - power), NOTICE, team.rank(team.me - power), NOTICE);
        return;
    }
    let extra = (team.me + power < team.size).then(|| team.rank(team.me + power));
    if let Some(extra) = extra {
        plan.recv(extra, NOTICE);
    }
    let mut mask = 1;
    while mask < power {
        let partner = team.rank(team.me ^ mask);
        plan.exchange(partner, NOTICE, partner, NOTICE);
        mask *= 2;
    }
    if let Some(extra) = extra {
        plan.send(extra, NOTICE);
    }
}

fn tree(call: &Call, plan: &mut Plan) {
    let place = crate::tree::Tree::Knomial(2).place(call.rank, call.ranks);
    place.children.iter().rev().for_each(|&child| plan.recv(child, NOTICE));
    if let Some(parent) = place.parent {
        plan.send(parent, NOTICE);
        plan.recv(parent, NOTICE);
    }
    place.children.iter().for_each(|&child| plan.send(child, NOTICE));
}

fn double_ring(call: &Call, plan: &mut Plan) {
    let team = call.all();
    if team.size < 2 {
        return;
    }
    let (left, right) = (team.behind(1), team.ahead(1));
    for _ in 0..2 {
        if team.me > 0 {
            plan.recv(left, NOTICE);
        }
        plan.send(right, NOTICE);
        if team.me == 0 {
            plan.recv(left, NOTICE);
        }
    }
}

fn two_levels(call: &Call, plan: &mut Plan) {
    let local = call.local();
    if local.me > 0 {
        plan.send(local.rank(0), NOTICE);
    } else {
        (1..local.size).for_each(|member| plan.recv(local.rank(member), NOTICE));
    }
    if let Some(leaders) = call.leaders() {
        dissemination(plan, &leaders);
    }
    crate::tree::bcast(plan, &local, 0, crate::tree::Tree::Knomial(2), NOTICE, 0);
}
