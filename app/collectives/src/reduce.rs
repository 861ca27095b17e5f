//! Reduce: the root gets the combination of all vectors.
//!
//! Sources of the algorithms: Thakur, Rabenseifner, Gropp 2005; Pješivac-Grbović et al. 2007
//! (chains and trees); Patarasuk, Yuan 2008 (arrival patterns).

use calls::Collective;

use crate::{
    call::{Call, NO_CHOICES},
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
    Entry::new("binomial", Run(binomial), "a binomial tree"),
    Entry::new(
        "flat_tree",
        Run(linear),
        "everyone sends to the root, which combines in the order of ranks",
    ),
    Entry::new(
        "NTSL",
        Run(chain),
        "a chain to the root in segments of 8 KiB; what does not fill one is reduced by itself",
    )
    .needs(COMMUTES),
    Entry::new(
        "scatter_gather",
        Run(|call, plan| {
            // With fewer elements than ranks, SMPI fills up.
            let len = call.count().max(u64::from(call.ranks));
            let padded = len > call.count();
            scatter_gather(call, plan, padded, &Blocks::Rest { len, count: call.all().power() });
        }),
        "Rabenseifner: recursive halving, gather",
    )
    .needs(&[(Need::Commutative, "binomial")]),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_chain",
        Run(|call, plan| along(call, plan, Tree::Chains((call.ranks / 2).clamp(1, 32)), 64 << 10)),
        "half as many chains as ranks, 32 at most, in segments of 64 KiB",
    )
    .needs(COMMUTES),
    Entry::new(
        "openmpi_chain",
        Run(|call, plan| along(call, plan, Tree::Chains(4), 64 << 10)),
        "four chains in segments of 64 KiB",
    )
    .needs(COMMUTES),
    Entry::new(
        "ompi_pipeline",
        Run(|call, plan| along(call, plan, Tree::Chains(1), pipeline_segment(call))),
        "a chain in segments of 1, 32 or 64 KiB, by size and ranks",
    ),
    Entry::new(
        "openmpi_pipeline",
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
        Run(|call, plan| along(call, plan, Tree::Knomial(2), binomial_segment(call))),
        "a binomial tree, in segments of 1 KiB where the vector is short and ranks are many",
    ),
    Entry::new(
        "openmpi_binomial",
        Run(|call, plan| along(call, plan, Tree::Knomial(2), 0)),
        "a binomial tree",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_knomial",
        Run(knomial),
        "a 4-nomial tree, each rank with all its receives at once",
    )
    .needs(COMMUTES),
    Entry::new("mvapich2_two_level", Run(two_levels), "binomial trees in nodes, then of leaders")
        .needs(&[(Need::Commutative, "binomial")]),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new(
        "rab",
        Run(rabenseifner),
        "Rabenseifner: recursive halving, also between neighbours beyond a power of two; gather",
    )
    .needs(&[(Need::Commutative, "binomial")]),
    Entry::new("automatic", Automatic, "the best of all"),
];

fn along(call: &Call, plan: &mut Plan, tree: Tree, segment: u64) {
    let (root, commutative) = (call.root, call.commutative);
    let acc = call.accumulator(plan, call.rank == root);
    let segment = call.segment(segment);
    tree::reduce(
        plan,
        &call.all(),
        Reduction { root, tree, segment, commutative, ahead: true },
        acc,
    );
}

fn binomial(call: &Call, plan: &mut Plan) {
    let (root, commutative) = (call.root, call.commutative);
    let acc = call.accumulator(plan, call.rank == root);
    let tree = Tree::Knomial(2);
    let reduction = Reduction { root, tree, segment: 0, commutative, ahead: false };
    tree::reduce(plan, &call.all(), reduction, acc);
}

/// Returns what SMPI takes for a chain: the borders of Open MPI 1's decision rules.
fn pipeline_segment(call: &Call) -> u64 {
    let (ranks, kib) = (f64::from(call.ranks), call.bytes() as f64 / 1024.0);
    if ranks > 0.0410 * kib + 9.7128 {
        1 << 10
    } else if ranks > 0.0033 * kib + 1.6761 {
        32 << 10
    } else {
        64 << 10
    }
}

/// Does the same for a binomial tree.
fn binomial_segment(call: &Call) -> u64 {
    let (ranks, bytes) = (call.ranks, call.bytes());
    let whole = ranks < 8 && bytes < 20_480 || bytes < 2048 || call.count() <= 1;
    let short = f64::from(ranks) > 0.6016 * (bytes as f64 / 1024.0) + 1.3496;
    if short && !whole { 1 << 10 } else { 0 }
}

fn knomial(call: &Call, plan: &mut Plan) {
    let team = call.all().from(call.root);
    let acc = call.accumulator(plan, call.rank == call.root);
    let place = Tree::Knomial(4).place(team.me, team.size);
    let receive = |&child: &u32| {
        let slot = plan.scratch(acc.len);
        plan.irecv(team.rank(child), slot);
        slot
    };
    let slots: Vec<_> = place.children.iter().rev().map(receive).collect();
    plan.wait_all();
    for slot in slots {
        plan.reduce_right(acc, slot);
    }
    if let Some(parent) = place.parent {
        let send = plan.isend(team.rank(parent), acc);
        plan.wait(&[send]);
    }
}

/// All receives are posted at the start, and nobody waits for sends before the end.
fn chain(call: &Call, plan: &mut Plan) {
    let team = call.all().from(call.root);
    let acc = call.accumulator(plan, team.me == 0);
    let segment = call.segment(8192).max(1);
    let rest = if acc.len > segment { acc.len % segment } else { 0 };
    let pieces = tree::pieces(plan, acc.part(0, acc.len - rest), segment);
    let other = plan.scratch(if team.me + 1 < team.size { acc.len } else { 0 });
    let slots = tree::pieces(plan, other.part(0, other.len.saturating_sub(rest)), segment);
    let has_child = team.me + 1 < team.size;
    let receives: Vec<_> = (0..if has_child { pieces.count } else { 0 })
        .map(|index| plan.irecv(team.rank(team.me + 1), slots.at(index)))
        .collect();
    for index in 0..pieces.count {
        if let Some(&receive) = receives.get(index as usize) {
            plan.wait(&[receive]);
            plan.reduce_right(pieces.at(index), slots.at(index));
        }
        if team.me > 0 {
            plan.isend(team.rank(team.me - 1), pieces.at(index));
        }
    }
    plan.wait_all();
    if rest > 0 {
        let part = Call { blocks: &Blocks::Same(rest), inside: &NO_CHOICES, ..*call };
        let start = acc.len - rest;
        let (send, receive) = (call.input().part(start, rest), acc.part(start, rest));
        part.nested(plan, Collective::Reduce, &part, send, receive);
    }
}

fn chain_to_zero(call: &Call, plan: &mut Plan, acc: Region) {
    let commutative = call.commutative;
    let segment = call.segment(8192);
    let reduction = Reduction { root: 0, tree: Tree::Chains(1), segment, commutative, ahead: true };
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

/// Reduces for the case that all ranks have arrived in time: the reports, and one chain of all.
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
        let send = plan.isend(root, call.input());
        return plan.wait(&[send]);
    }
    let acc = call.output();
    plan.copy(call.input(), acc);
    let slots: Vec<_> = (1..call.ranks).map(|_| plan.scratch(acc.len)).collect();
    for (rank, &slot) in (0..call.ranks).filter(|&rank| rank != root).zip(&slots) {
        plan.irecv(rank, slot);
    }
    plan.wait_all();
    for slot in slots {
        plan.reduce_right(acc, slot);
    }
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
    let reduction = Reduction { root: 0, tree, segment: 0, commutative: true, ahead: true };
    tree::reduce(plan, &call.local(), reduction, acc);
    if let Some(team) = call.leaders() {
        let root = call.nodes.leaders(call.ranks).member(top).unwrap_or(0);
        tree::reduce(plan, &team, Reduction { root, ..reduction }, acc);
    }
    to_root(call, plan, top, acc);
}

/// Recursive halving, then a gather along the same meetings. A root that gave its vector away takes
/// the place of the first of those who remain, whose rank is 0.
fn scatter_gather(call: &Call, plan: &mut Plan, padded: bool, blocks: &Blocks) {
    let acc = if padded {
        let acc = plan.scratch(u64::from(call.ranks));
        plan.fill(call.input(), acc);
        acc
    } else {
        call.accumulator(plan, call.rank == call.root)
    };
    let member = halving::fold_down(plan, &call.all(), acc);
    halve_and_gather(call, plan, member, acc, blocks, false);
    if padded && call.rank == call.root {
        plan.copy(acc.part(0, call.count()), call.output());
    }
}

/// Adds the steps after the fold, for the remaining member of this number. If `on` is set, a rank
/// that has sent its blocks towards the root goes on as if it had not.
fn halve_and_gather(
    call: &Call,
    plan: &mut Plan,
    member: Option<u32>,
    acc: Region,
    blocks: &Blocks,
    on: bool,
) {
    let (team, root) = (call.all(), call.root);
    let power = team.power();
    let pairs = team.size - power;
    let outside = root < 2 * pairs && !root.is_multiple_of(2);
    let target = match root {
        _ if outside => 0,
        root if root < 2 * pairs => root / 2,
        root => root - pairs,
    };
    let meetings = |me| halving::meetings_of(me, power, Order::NearFirst);
    if let Some(me) = member {
        let room = meetings(me).first().map_or(0, |m| blocks.span(acc, m.kept.0, m.kept.1).len);
        let other = plan.scratch(room);
        for meeting in meetings(me) {
            let keep = blocks.span(acc, meeting.kept.0, meeting.kept.1);
            let give = blocks.span(acc, meeting.given.0, meeting.given.1);
            let partner = halving::low_rank(&team, meeting.partner);
            let other = other.part(0, keep.len);
            plan.exchange(partner, give, partner, other);
            plan.reduce_by_rank(me, meeting.partner, other, keep);
        }
    }
    // Member 0 keeps the first block.
    let acting = match member {
        Some(0) if outside => return plan.send(root, blocks.of_region(acc, 0)),
        Some(me) => me,
        None if call.rank == root => {
            plan.recv(0, blocks.of_region(acc, 0));
            0
        }
        None => return,
    };
    let rank_of = |member| match member {
        0 if outside => root,
        member => halving::low_rank(&team, member),
    };
    for meeting in meetings(acting).iter().rev() {
        let partner = rank_of(meeting.partner);
        if acting & meeting.mask == target & meeting.mask {
            plan.recv(partner, blocks.span(acc, meeting.given.0, meeting.given.1));
        } else {
            plan.send(partner, blocks.span(acc, meeting.kept.0, meeting.kept.1));
            if !on {
                return;
            }
        }
    }
}

/// Blocks that halving a vector again and again makes, the upper half with the odd element.
pub fn halved(len: u64, count: u32) -> Blocks {
    let mut ends = vec![len];
    while ends.len() < count as usize {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        ends =
            starts.zip(&ends).flat_map(|(start, &end)| [start + (end - start) / 2, end]).collect();
    }
    Blocks::Ends(ends)
}

/// Neighbours beyond a power of two exchange halves, and the odd one gives the half that it
/// combined to the even one.
pub fn fold_in_halves(call: &Call, plan: &mut Plan, acc: Region) -> Option<u32> {
    let team = call.all();
    let pairs = team.size - team.power();
    if team.me >= 2 * pairs {
        return Some(team.me - pairs);
    }
    let half = acc.len / 2;
    let (below, above) = (acc.part(0, half), acc.part(half, acc.len - half));
    if team.me.is_multiple_of(2) {
        let other = plan.scratch(half);
        plan.exchange(team.me + 1, above, team.me + 1, other);
        plan.reduce_right(below, other);
        plan.recv(team.me + 1, above);
        return Some(team.me / 2);
    }
    let other = plan.scratch(above.len);
    plan.exchange(team.me - 1, below, team.me - 1, other);
    plan.reduce_left(other, above);
    plan.send(team.me - 1, above);
    None
}

fn rabenseifner(call: &Call, plan: &mut Plan) {
    let acc = call.accumulator(plan, call.rank == call.root);
    let member = fold_in_halves(call, plan, acc);
    let blocks = halved(acc.len, call.all().power());
    halve_and_gather(call, plan, member, acc, &blocks, true);
}
