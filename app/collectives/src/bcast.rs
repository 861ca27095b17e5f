//! Bcast: every rank gets the root's vector, in place in its receive buffer.
//!
//! Sources of the algorithms: Thakur, Rabenseifner, Gropp 2005 (scatter and allgather);
//! Pješivac-Grbović et al., "Performance Analysis of MPI Collective Operations", 2007 (pipeline,
//! split binary); Patarasuk, Yuan, Faraj, "Techniques for Pipelined Broadcast on Ethernet Switched
//! Clusters", 2008 (NTSL, NTSB); Patarasuk, Yuan, "Efficient MPI_Bcast across Different Process
//! Arrival Patterns", 2008; Mamidala et al., "MPI Collectives on Modern Multicore Clusters", 2008
//! (two levels).

use calls::Collective;

use crate::{
    allgather::scatter_allgather,
    call::{Call, Team},
    layout::Blocks,
    plan::{Plan, Region},
    table::{Entry, Need, Way},
    tree::{self, Tree, pieces},
};

use Way::{Automatic, Run, Same, Select};

/// Algorithms of `bcast`.
pub const BCAST: &[Entry] = &[
    Entry::new("default", Same("binomial_tree"), "a binomial tree"),
    Entry::new(
        "arrival_pattern_aware",
        Run(arrival_chain),
        "everyone reports to rank 0, which starts a chain of those that have, in segments of 8 KiB",
    ),
    Entry::new(
        "arrival_pattern_aware_wait",
        Run(arrival_chain),
        "the same where rank 0 waits for reports first",
    ),
    Entry::new(
        "arrival_scatter",
        Run(arrival_scatter),
        "everyone reports, then scatter and allgather around a ring",
    )
    .needs(&[(Need::ElementPerRank, "arrival_pattern_aware")]),
    Entry::new(
        "binomial_tree",
        Run(|call, plan| along(call, plan, Tree::Knomial(2), 0)),
        "a binomial tree",
    ),
    Entry::new("flattree", Run(flat), "the root sends to all at once"),
    Entry::new(
        "flattree_pipeline",
        Run(flat_pipeline),
        "the root sends to one after the other in segments of 8 KiB",
    ),
    Entry::new(
        "NTSB",
        Run(|call, plan| from_zero(call, plan, Tree::Heap(2))),
        "to rank 0, then a binary tree in segments of 8 KiB; what does not fill one is broadcast \
         by itself",
    ),
    Entry::new(
        "NTSL",
        Run(|call, plan| from_zero(call, plan, Tree::Chains(1))),
        "to rank 0, then a chain in segments of 8 KiB; what does not fill one is broadcast by \
         itself",
    ),
    Entry::new("NTSL_Isend", Same("NTSL"), "the same: in NTSL nobody waits for a send either"),
    Entry::new(
        "scatter_LR_allgather",
        Run(|call, plan| scatter(call, plan, true)),
        "binomial scatter, allgather around a ring",
    ),
    Entry::new(
        "scatter_rdb_allgather",
        Run(|call, plan| scatter(call, plan, false)),
        "binomial scatter, allgather by recursive doubling",
    ),
    Entry::new(
        "SMP_binary",
        Run(|call, plan| two_levels(call, plan, Tree::Heap(2), Tree::Heap(2), 8192)),
        "binary trees of leaders and in nodes, segments of 8 KiB",
    ),
    Entry::new(
        "SMP_binomial",
        Run(|call, plan| {
            to_zero(call, plan);
            two_levels(&Call { root: 0, ..*call }, plan, Tree::Knomial(2), Tree::Knomial(2), 0);
        }),
        "to rank 0, then binomial trees of leaders and in nodes",
    ),
    Entry::new(
        "SMP_linear",
        Run(|call, plan| two_levels(call, plan, Tree::Chains(1), Tree::Chains(1), 8192)),
        "chains of leaders and in nodes, segments of 8 KiB",
    ),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_split_bintree",
        Run(|call, plan| {
            split_binary(call, plan, if call.bytes() < 370_728 { 1 << 10 } else { 8 << 10 });
        }),
        "each half of a binary tree gets one half of the vector, then pairs exchange; segments of \
         1 KiB, from 370728 B on of 8 KiB",
    ),
    Entry::new(
        "openmpi_split_bintree",
        Run(|call, plan| split_binary(call, plan, 32 << 10)),
        "the same in segments of 32 KiB",
    ),
    Entry::new(
        "ompi_pipeline",
        Run(|call, plan| along(call, plan, Tree::Chains(1), pipeline_segment(call))),
        "a chain in segments of 16, 64 or 128 KiB, by size and ranks",
    ),
    Entry::new(
        "openmpi_pipeline",
        Run(|call, plan| along(call, plan, Tree::Chains(1), 128 << 10)),
        "a chain in segments of 128 KiB",
    ),
    Entry::new(
        "ompi_chain",
        Run(|call, plan| along(call, plan, Tree::Chains(4), 128 << 10)),
        "four chains in segments of 128 KiB",
    ),
    Entry::new(
        "ompi_bintree",
        Run(|call, plan| along(call, plan, Tree::Levels(2), 32 << 10)),
        "a binary tree in segments of 32 KiB",
    ),
    Entry::new(
        "ompi_knomial",
        Run(|call, plan| along(call, plan, Tree::Knomial(4), 0)),
        "a 4-nomial tree",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_inter_node",
        Run(|call, plan| two_levels(call, plan, Tree::Knomial(4), Tree::Knomial(2), 0)),
        "a 4-nomial tree of leaders, binomial trees in nodes",
    ),
    Entry::new(
        "mvapich2_intra_node",
        Run(|call, plan| two_levels(call, plan, Tree::Knomial(2), Tree::Flat, 0)),
        "a binomial tree of leaders, who send to one after the other in their node",
    ),
    Entry::new(
        "mvapich2_knomial_intra_node",
        Run(knomial),
        "a 4-nomial tree, the messages of each level at once",
    ),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Bytes of a 1024-entry list of ranks, which travels with arrival-aware broadcasts.
const HEADER: Region = Region::control(4096);
const REPORT: Region = Region::control(1);

fn along(call: &Call, plan: &mut Plan, tree: Tree, segment: u64) {
    tree::bcast(plan, &call.all(), call.root, tree, call.output(), call.segment(segment));
}

/// The vector goes to rank 0 first.
fn to_zero(call: &Call, plan: &mut Plan) {
    if call.root != 0 && call.rank == call.root {
        plan.send(0, call.output());
    } else if call.root != 0 && call.rank == 0 {
        plan.recv(call.root, call.output());
    }
}

fn from_zero(call: &Call, plan: &mut Plan, tree: Tree) {
    to_zero(call, plan);
    relay_whole(call, plan, tree);
}

/// Broadcasts from rank 0 in full segments. What does not fill one is a broadcast of its own, from
/// the root.
fn relay_whole(call: &Call, plan: &mut Plan, tree: Tree) {
    let (team, data, segment) = (call.all(), call.output(), call.segment(8192).max(1));
    if data.len <= segment {
        return tree::bcast(plan, &team, 0, tree, data, 0);
    }
    let rest = data.len % segment;
    relay(plan, &team, tree, data.part(0, data.len - rest), segment);
    if rest > 0 {
        let (vector, part) = (Blocks::Same(rest), data.part(data.len - rest, rest));
        call.nested(plan, Collective::Bcast, &Call { blocks: &vector, ..*call }, part, part);
    }
}

/// Returns what SMPI takes for a chain: the borders of Open MPI 1's decision rules.
fn pipeline_segment(call: &Call) -> u64 {
    let (ranks, bytes) = (f64::from(call.ranks), call.bytes() as f64);
    if ranks < 1.6134e-6 * bytes + 2.1102 {
        128 << 10
    } else if ranks < 2.3679e-6 * bytes + 1.1787 {
        64 << 10
    } else if ranks < 3.2118e-6 * bytes + 8.7936 {
        16 << 10
    } else {
        128 << 10
    }
}

fn flat(call: &Call, plan: &mut Plan) {
    let data = call.output();
    if call.rank != call.root {
        return plan.recv(call.root, data);
    }
    for rank in (0..call.ranks).filter(|&rank| rank != call.root) {
        plan.isend(rank, data);
    }
    plan.wait_all();
}

/// All receives are posted at the start, and nobody waits for sends before the end.
fn relay(plan: &mut Plan, team: &Team, tree: Tree, data: Region, segment: u64) {
    let place = tree.place(team.me, team.size);
    let pieces = pieces(plan, data, segment);
    let mut receives = Vec::new();
    if let Some(parent) = place.parent {
        receives.extend((0..pieces.count).map(|i| plan.irecv(team.rank(parent), pieces.at(i))));
    }
    for index in 0..pieces.count {
        if let Some(&receive) = receives.get(index as usize) {
            plan.wait(&[receive]);
        }
        for &child in &place.children {
            plan.isend(team.rank(child), pieces.at(index));
        }
    }
    plan.wait_all();
}

fn flat_pipeline(call: &Call, plan: &mut Plan) {
    let segment = call.segment(8192);
    if call.count() < segment {
        return flat(call, plan);
    }
    let pieces = pieces(plan, call.output(), segment);
    if call.rank == call.root {
        for rank in (0..call.ranks).filter(|&rank| rank != call.root) {
            if plan.overflows() {
                return;
            }
            (0..pieces.count).for_each(|index| plan.send(rank, pieces.at(index)));
        }
    } else {
        for index in 0..pieces.count {
            plan.irecv(call.root, pieces.at(index));
        }
        plan.wait_all();
    }
}

/// Broadcasts for the case that all ranks have arrived in time: the reports, and one chain of all.
fn arrival_chain(call: &Call, plan: &mut Plan) {
    to_zero(call, plan);
    let team = call.all();
    report(&team, plan);
    if team.me > 0 {
        plan.recv(team.rank(team.me - 1), HEADER);
    }
    if team.me + 1 < team.size {
        plan.send(team.rank(team.me + 1), HEADER);
    }
    relay(plan, &team, Tree::Chains(1), call.output(), call.segment(8192));
}

fn report(team: &Team, plan: &mut Plan) {
    if team.me > 0 {
        plan.send(team.rank(0), REPORT);
    } else {
        (1..team.size).for_each(|member| plan.recv(team.rank(member), REPORT));
    }
}

fn arrival_scatter(call: &Call, plan: &mut Plan) {
    to_zero(call, plan);
    let team = call.all();
    report(&team, plan);
    let data = call.output();
    let blocks = Blocks::Split { len: data.len, count: team.size };
    if team.me == 0 {
        for member in 1..team.size {
            plan.send(team.rank(member), HEADER);
            plan.send(team.rank(member), blocks.of_region(data, member));
        }
    } else {
        plan.recv(team.rank(0), HEADER);
        plan.recv(team.rank(0), blocks.of_region(data, team.me));
    }
    crate::allgather::around(plan, &team, 0, |block| blocks.of_region(data, block));
}

fn scatter(call: &Call, plan: &mut Plan, ring: bool) {
    scatter_allgather(plan, &call.all().from(call.root), call.output(), ring);
}

/// Scatters blocks of a vector from member 0 along the binomial tree; what a member's subtree gets
/// lies together, where it is in the vector. Empty parts are not sent.
pub fn scatter_in_place(plan: &mut Plan, team: &Team, data: Region, blocks: &Blocks) {
    let place = Tree::Knomial(2).place(team.me, team.size);
    let part = |v: u32| {
        let low = if v == 0 { team.size } else { 1 << v.trailing_zeros() };
        blocks.span(data, v, (v.saturating_add(low)).min(team.size))
    };
    if let Some(parent) = place.parent
        && part(team.me).len > 0
    {
        plan.recv(team.rank(parent), part(team.me));
    }
    for child in place.children {
        if part(child).len > 0 {
            plan.send(team.rank(child), part(child));
        }
    }
}

fn knomial(call: &Call, plan: &mut Plan) {
    let (team, data) = (call.all().from(call.root), call.output());
    let place = Tree::Knomial(4).place(team.me, team.size);
    if let Some(parent) = place.parent {
        plan.recv(team.rank(parent), data);
    }
    let level = |&child: &u32| (child - team.me).ilog2() / 2;
    for children in place.children.chunk_by(|a, b| level(a) == level(b)) {
        children.iter().rev().for_each(|&child| {
            plan.isend(team.rank(child), data);
        });
        plan.wait_all();
    }
}

/// The root's leader, all leaders, their nodes.
fn two_levels(call: &Call, plan: &mut Plan, leaders: Tree, local: Tree, segment: u64) {
    let (data, segment) = (call.output(), call.segment(segment));
    let top = call.leader_of(call.root);
    if top != call.root {
        if call.rank == call.root {
            plan.send(top, data);
        } else if call.rank == top {
            plan.recv(call.root, data);
        }
    }
    if let Some(team) = call.leaders() {
        let root = call.nodes.leaders(call.ranks).member(top).unwrap_or(0);
        tree::bcast(plan, &team, root, leaders, data, segment);
    }
    tree::bcast(plan, &call.local(), 0, local, data, segment);
}

/// The members of either subtree of the root get one half, and exchange halves with a member of the
/// other one.
fn split_binary(call: &Call, plan: &mut Plan, segment: u64) {
    let (team, data) = (call.all().from(call.root), call.output());
    let n = team.size;
    let tree = Tree::Levels(2);
    let half = data.len.div_ceil(2);
    let segment = call.segment(segment);
    // SMPI takes its `SMP_linear` for what is shorter than a segment.
    if n < 3 || data.len < 2 {
        return tree::bcast(plan, &team, 0, Tree::Chains(1), data, segment);
    }
    let halves = [data.part(0, half), data.part(half, data.len - half)];
    let cut = halves.map(|half| pieces(plan, half, segment));
    let place = tree.place(team.me, n);
    // In Open MPI's numbering the left subtree has the odd members.
    if team.me == 0 {
        for index in 0..cut[0].count {
            for (side, &child) in place.children.iter().enumerate() {
                if index < cut[side].count {
                    plan.send(team.rank(child), cut[side].at(index));
                }
            }
        }
    } else {
        let side = usize::from(team.me.is_multiple_of(2));
        let parent = place.parent.map_or(0, |parent| team.rank(parent));
        if place.children.is_empty() {
            (0..cut[side].count).for_each(|index| plan.recv(parent, cut[side].at(index)));
            return pair_up(plan, &team, halves);
        }
        let mut next = Some(plan.irecv(parent, cut[side].at(0)));
        for index in 0..cut[side].count {
            let arrived = next.take();
            if index + 1 < cut[side].count {
                next = Some(plan.irecv(parent, cut[side].at(index + 1)));
            }
            plan.wait(arrived.as_slice());
            for &child in &place.children {
                plan.send(team.rank(child), cut[side].at(index));
            }
        }
    }
    pair_up(plan, &team, halves);
}

/// Members 2k - 1 and 2k exchange their halves; if n is even, the last one gets the other half from
/// the root.
fn pair_up(plan: &mut Plan, team: &Team, halves: [Region; 2]) {
    let (me, n) = (team.me, team.size);
    let last = n.is_multiple_of(2).then_some(n - 1);
    if me == 0 {
        if let Some(last) = last {
            plan.send(team.rank(last), halves[1]);
        }
    } else if last == Some(me) {
        plan.recv(team.rank(0), halves[1]);
    } else {
        let odd = me % 2 == 1;
        let partner = team.rank(if odd { me + 1 } else { me - 1 });
        let (mine, other) = if odd { (halves[0], halves[1]) } else { (halves[1], halves[0]) };
        plan.exchange(partner, mine, partner, other);
    }
}
