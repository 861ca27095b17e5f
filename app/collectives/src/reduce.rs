//! Reduce: the root gets the combination of all vectors.
//!
//! Sources of the algorithms: Thakur, Rabenseifner, Gropp 2005; Pješivac-Grbović et al. 2007 (chains
//! and trees); Patarasuk, Yuan 2008 (arrival patterns).

use crate::{
    call::Call,
    halving::{self, Order},
    layout::Blocks,
    plan::{Plan, Region},
    table::{Entry, Need, Way},
    tree::{self, Reduction, Tree},
};

use Way::{Automatic, Run, Select};

const COMMUTES: &[(Need, &str)] = &[(Need::Commutative, "ompi_in_order_binary")];

/// Algorithms of `reduce`.
pub const REDUCE: &[Entry] = &[
    Entry::new(
        "default",
        Run(at_once),
        "everyone sends to the root, which combines when all vectors are there",
    )
    .needs(&[(Need::Commutative, "ompi_basic_linear")]),
    Entry::new(
        "arrival_pattern_aware",
        Run(arrival_chain),
        "everyone reports to rank 0, which starts a chain of those that have, in segments of 8 KiB",
    )
    .needs(COMMUTES),
    Entry::new(
        "binomial",
        Run(|call, plan| along(call, plan, Tree::Knomial(2), 0)),
        "a binomial tree",
    ),
    Entry::new(
        "flat_tree",
        Run(|call, plan| along(call, plan, Tree::Flat, 0)),
        "everyone sends to the root",
    ),
    Entry::new(
        "NTSL",
        Run(chain),
        "a chain to rank 0 in segments of 8 KiB, from there to the root",
    ),
    Entry::new(
        "scatter_gather",
        Run(|call, plan| scatter_gather(call, plan, Order::NearFirst)),
        "Rabenseifner: recursive halving, gather",
    )
    .needs(&[(Need::Commutative, "binomial"), (Need::ElementPerPower, "binomial")]),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_chain",
        Run(|call, plan| along(call, plan, Tree::Chains(4), 64 << 10)),
        "four chains in segments of 64 KiB",
    )
    .needs(COMMUTES),
    Entry::new(
        "ompi_pipeline",
        Run(|call, plan| along(call, plan, Tree::Chains(1), 64 << 10)),
        "a chain in segments of 64 KiB",
    ),
    Entry::new(
        "ompi_basic_linear",
        Run(linear),
        "everyone sends to the root, which combines in the order of ranks",
    ),
    Entry::new(
        "ompi_in_order_binary",
        Run(|call, plan| along(call, plan, Tree::InOrder, 0)),
        "a binary tree that keeps the order of ranks",
    ),
    Entry::new(
        "ompi_binary",
        Run(|call, plan| along(call, plan, Tree::Levels(2), 32 << 10)),
        "a binary tree in segments of 32 KiB",
    )
    .needs(COMMUTES),
    Entry::new(
        "ompi_binomial",
        Run(|call, plan| along(call, plan, Tree::Knomial(2), 0)),
        "a binomial tree",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_knomial",
        Run(|call, plan| along(call, plan, Tree::Knomial(4), 0)),
        "a 4-nomial tree",
    ),
    Entry::new("mvapich2_two_level", Run(two_levels), "binomial trees in nodes, then of leaders")
        .needs(&[(Need::Commutative, "binomial")]),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new(
        "rab",
        Run(|call, plan| scatter_gather(call, plan, Order::FarFirst)),
        "Rabenseifner: recursive halving, the farthest partner first, gather",
    )
    .needs(&[(Need::Commutative, "binomial")]),
    Entry::new("automatic", Automatic, "the best of all"),
];

fn along(call: &Call, plan: &mut Plan, tree: Tree, segment: u64) {
    let (root, commutative) = (call.root, call.commutative);
    let acc = call.accumulator(plan, call.rank == root);
    let reduction = Reduction { root, tree, segment: call.segment(segment), commutative };
    tree::reduce(plan, &call.all(), reduction, acc);
}

fn chain(call: &Call, plan: &mut Plan) {
    let acc = call.accumulator(plan, call.rank == call.root);
    chain_to_zero(call, plan, acc);
    to_root(call, plan, 0, acc);
}

fn chain_to_zero(call: &Call, plan: &mut Plan, acc: Region) {
    let commutative = call.commutative;
    let segment = call.segment(8192);
    let reduction = Reduction { root: 0, tree: Tree::Chains(1), segment, commutative };
    tree::reduce(plan, &call.all(), reduction, acc);
}

/// The result moves from a rank to the root.
fn to_root(call: &Call, plan: &mut Plan, from: u32, acc: Region) {
    if from != call.root && call.rank == from {
        plan.send(call.root, acc);
    } else if from != call.root && call.rank == call.root {
        plan.recv(from, acc);
    }
}

/// Where all ranks have arrived in time: the reports, and one chain of all.
fn arrival_chain(call: &Call, plan: &mut Plan) {
    let acc = call.accumulator(plan, call.rank == call.root);
    if call.rank == 0 {
        (1..call.ranks).for_each(|other| plan.recv(other, Region::control(1)));
        (1..call.ranks).for_each(|other| plan.send(other, Region::control(4096)));
    } else {
        plan.send(0, Region::control(1));
        plan.recv(0, Region::control(4096));
    }
    chain_to_zero(call, plan, acc);
    to_root(call, plan, 0, acc);
}

/// The root posts all receives and combines when all have come.
pub fn at_once(call: &Call, plan: &mut Plan) {
    let root = call.root;
    if call.rank != root {
        return plan.send(root, call.input());
    }
    let acc = call.output();
    plan.copy(call.input(), acc);
    let slots: Vec<_> = (1..call.ranks).map(|_| plan.scratch(acc.len)).collect();
    for (rank, &slot) in (0..call.ranks).filter(|&rank| rank != root).zip(&slots) {
        plan.irecv(rank, slot);
    }
    plan.wait_all();
    slots.into_iter().for_each(|slot| plan.reduce_right(acc, slot));
}

/// The root combines from the last rank to the first.
pub fn linear(call: &Call, plan: &mut Plan) {
    let root = call.root;
    if call.rank != root {
        return plan.send(root, call.input());
    }
    let (acc, n) = (call.output(), call.ranks);
    let mut slots = (0..2).map(|_| plan.scratch(acc.len)).collect::<Vec<_>>();
    for rank in (0..n).rev() {
        if rank == n - 1 && rank == root {
            plan.copy(call.input(), acc);
        } else if rank == n - 1 {
            plan.recv(rank, acc);
        } else if rank == root {
            plan.reduce_left(call.input(), acc);
        } else {
            slots.swap(0, 1);
            plan.recv(rank, slots[0]);
            plan.reduce_left(slots[0], acc);
        }
    }
}

fn two_levels(call: &Call, plan: &mut Plan) {
    let top = call.leader_of(call.root);
    let acc = call.accumulator(plan, call.rank == call.root);
    let tree = Tree::Knomial(2);
    let reduction = Reduction { root: 0, tree, segment: 0, commutative: true };
    tree::reduce(plan, &call.local(), reduction, acc);
    if let Some(team) = call.leaders() {
        let root = call.nodes.leaders(call.ranks).member(top).unwrap_or(0);
        tree::reduce(plan, &team, Reduction { root, ..reduction }, acc);
    }
    to_root(call, plan, top, acc);
}

/// Recursive halving, then a gather along the same meetings. A root that gave its vector away takes
/// the place of the first of those who remain.
fn scatter_gather(call: &Call, plan: &mut Plan, order: Order) {
    let (team, root) = (call.all(), call.root);
    let pairs = team.size - team.power();
    let outside = root < 2 * pairs && root.is_multiple_of(2);
    let target = if outside {
        0
    } else if root < 2 * pairs {
        root / 2
    } else {
        root - pairs
    };
    let acc = call.accumulator(plan, call.rank == root);
    let blocks = Blocks::Split { len: acc.len, count: team.power() };
    let folded = halving::fold(plan, &team, acc);
    if let Some(folded) = &folded {
        let meetings = halving::meetings(folded, order);
        halving::halve(plan, folded, &meetings, acc, &blocks);
    }
    // Whoever acts as member `target` from here on.
    let acting = match folded {
        Some(folded) if outside && folded.me == 0 => {
            let last = halving::meetings(&folded, order).last().map_or((0, 1), |m| m.kept);
            return plan.send(root, blocks.span(acc, last.0, last.1));
        }
        Some(folded) => folded,
        None if outside && call.rank == root => {
            // The first member after the fold is rank 1, whose partners the root now has.
            let folded = team.folded_as(0);
            let last = halving::meetings(&folded, order).last().map_or((0, 1), |m| m.kept);
            plan.recv(folded.rank(0), blocks.span(acc, last.0, last.1));
            folded
        }
        None => return,
    };
    let rank_of = |member| if outside && member == 0 { root } else { acting.rank(member) };
    for meeting in halving::meetings(&acting, order).iter().rev() {
        let partner = rank_of(meeting.partner);
        if acting.me & meeting.mask == target & meeting.mask {
            plan.recv(partner, blocks.span(acc, meeting.given.0, meeting.given.1));
        } else {
            return plan.send(partner, blocks.span(acc, meeting.kept.0, meeting.kept.1));
        }
    }
}
