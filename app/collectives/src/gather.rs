//! Gather and scatter (with their v-forms): blocks of all ranks to or from the root.

use crate::{
    call::{Call, Team},
    layout::Blocks,
    plan::{Buffer, Plan, Region},
    table::{Entry, Need, Way},
    tree,
};

use Way::{Automatic, Run, Same, Select};

/// Algorithms of `gather`.
pub const GATHER: &[Entry] = &[
    Entry::new("default", Run(to_root), "everyone sends to the root, which posts all receives"),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_basic_linear",
        Run(one_by_one),
        "everyone sends to the root, which receives from one after the other",
    ),
    Entry::new("ompi_binomial", Run(|call, plan| binomial(call, plan, 2)), "a binomial tree"),
    Entry::new(
        "ompi_linear_sync",
        Run(linear_sync),
        "the root asks each rank, which sends in two parts, the first of 1 KiB (32 KiB for blocks \
         above 92160 B)",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_two_level",
        Run(two_level_gather),
        "binomial trees in nodes, then of leaders",
    )
    .needs(&[(Need::BlockedNodes, "ompi_binomial")]),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Algorithms of `gatherv`.
pub const GATHERV: &[Entry] = &[Entry::new("default", Run(to_root), "everyone sends to the root")];

/// Algorithms of `scatter`.
pub const SCATTER: &[Entry] = &[
    Entry::new("default", Same("ompi_linear_nb"), "the root sends to all at once"),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_basic_linear",
        Run(|call, plan| scatter_linear(call, plan, true)),
        "the root sends to one after the other",
    ),
    Entry::new(
        "ompi_linear_nb",
        Run(|call, plan| scatter_linear(call, plan, false)),
        "the root sends to all at once",
    ),
    Entry::new(
        "ompi_binomial",
        Run(|call, plan| scatter_binomial(call, plan, true)),
        "a binomial tree, the smallest subtree first",
    ),
    Entry::new(
        "binomial",
        Run(|call, plan| scatter_binomial(call, plan, false)),
        "a binomial tree, the largest subtree first, as MPICH and Open MPI have it",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_two_level_binomial",
        Run(|call, plan| two_level_scatter(call, plan, true)),
        "binomial trees of leaders, then in nodes",
    )
    .needs(&[(Need::BlockedNodes, "ompi_binomial")]),
    Entry::new(
        "mvapich2_two_level_direct",
        Run(|call, plan| two_level_scatter(call, plan, false)),
        "the root sends to leaders, they to their nodes",
    )
    .needs(&[(Need::BlockedNodes, "ompi_basic_linear")]),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Algorithms of `scatterv`.
pub const SCATTERV: &[Entry] = &[Entry::new(
    "default",
    Run(|call, plan| scatter_linear(call, plan, false)),
    "the root sends to all at once",
)];

fn to_root(call: &Call, plan: &mut Plan) {
    let out = call.whole(Buffer::Recv);
    linear(plan, &call.all(), call.root, call.own(), out, call.blocks);
}

/// Everyone sends its block to the root.
pub fn linear(plan: &mut Plan, team: &Team, root: u32, own: Region, out: Region, blocks: &Blocks) {
    if team.me != root {
        let send = plan.isend(team.rank(root), own);
        return plan.wait(&[send]);
    }
    for member in (0..team.size).filter(|&member| member != root) {
        plan.irecv(team.rank(member), blocks.of_region(out, member));
    }
    plan.copy(own, blocks.of_region(out, root));
    plan.wait_all();
}

fn one_by_one(call: &Call, plan: &mut Plan) {
    if call.rank != call.root {
        return plan.send(call.root, call.own());
    }
    let out = call.whole(Buffer::Recv);
    for rank in (0..call.ranks).filter(|&rank| rank != call.root) {
        plan.recv(rank, call.blocks.of_region(out, rank));
    }
    plan.copy(call.own(), call.blocks.of_region(out, call.root));
}

fn binomial(call: &Call, plan: &mut Plan, k: u32) {
    let out = call.whole(Buffer::Recv);
    tree::gather(plan, &call.all(), call.root, k, call.own(), out, call.blocks);
}

/// The parts of a block, as far as they are not empty.
fn halves(call: &Call, block: Region) -> Vec<Region> {
    let bytes = block.len * call.element;
    let own = if bytes > 92160 { 32 << 10 } else { 1 << 10 };
    let first = call.segment(own).min(block.len);
    vec![block.part(0, first), block.part(first, block.len - first)]
}

fn linear_sync(call: &Call, plan: &mut Plan) {
    let root = call.root;
    if call.rank != root {
        plan.recv(root, Region::control(0));
        return halves(call, call.own()).into_iter().for_each(|part| plan.send(root, part));
    }
    let out = call.whole(Buffer::Recv);
    for rank in (0..call.ranks).filter(|&rank| rank != root) {
        let parts = halves(call, call.blocks.of_region(out, rank));
        let first = plan.irecv(rank, parts[0]);
        plan.send(rank, Region::control(0));
        plan.irecv(rank, parts[1]);
        plan.wait(&[first]);
    }
    plan.copy(call.own(), call.blocks.of_region(out, root));
    plan.wait_all();
}

fn scatter_linear(call: &Call, plan: &mut Plan, blocking: bool) {
    let root = call.root;
    let own = call.output().part(0, call.blocks.len(call.rank));
    if call.rank != root {
        return plan.recv(root, own);
    }
    let all = call.whole(Buffer::Send);
    for rank in (0..call.ranks).filter(|&rank| rank != root) {
        let block = call.blocks.of_region(all, rank);
        if blocking {
            plan.send(rank, block);
        } else {
            plan.isend(rank, block);
        }
    }
    plan.copy(call.blocks.of_region(all, root), own);
    plan.wait_all();
}

fn scatter_binomial(call: &Call, plan: &mut Plan, small_first: bool) {
    let own = call.output().part(0, call.blocks.len(call.rank));
    let all = call.whole(Buffer::Send);
    tree::scatter(plan, &call.all(), call.root, small_first, all, own, call.blocks);
}

/// The blocks of a rank's node, from its first rank on, and the blocks of all nodes.
fn by_node(call: &Call, local: &Team) -> (Blocks, Blocks) {
    let first = local.rank(0);
    let start = call.blocks.start(first);
    let ends = (1..=local.size).map(|i| call.blocks.start(first + i) - start).collect();
    (Blocks::Ends(ends), call.blocks.grouped(call.nodes.ends(call.ranks)))
}

/// The root's leader gets everything; the root gets it from there.
fn two_level_gather(call: &Call, plan: &mut Plan) {
    let local = call.local();
    let (inside, nodes) = by_node(call, &local);
    let top = call.leader_of(call.root);
    let out = call.whole(Buffer::Recv);
    let room = if local.me == 0 { plan.scratch(inside.start(local.size)) } else { out };
    tree::gather(plan, &local, 0, 2, call.own(), room, &inside);
    if let Some(leaders) = call.leaders() {
        let root = call.nodes.leaders(call.ranks).member(top).unwrap_or(0);
        let all = match call.rank {
            rank if rank != top || top == call.root => out,
            _ => plan.scratch(out.len),
        };
        tree::gather(plan, &leaders, root, 2, room, all, &nodes);
        if top == call.rank && top != call.root {
            plan.send(call.root, all);
        }
    }
    if call.rank == call.root && top != call.root {
        plan.recv(top, out);
    }
}

fn two_level_scatter(call: &Call, plan: &mut Plan, binomial: bool) {
    let local = call.local();
    let (inside, nodes) = by_node(call, &local);
    let top = call.leader_of(call.root);
    let mut all = call.whole(Buffer::Send);
    if top != call.root {
        if call.rank == call.root {
            plan.send(top, all);
        } else if call.rank == top {
            all = plan.scratch(all.len);
            plan.recv(call.root, all);
        }
    }
    let mut room = all;
    if let Some(leaders) = call.leaders() {
        let root = call.nodes.leaders(call.ranks).member(top).unwrap_or(0);
        room = plan.scratch(inside.start(local.size));
        if binomial {
            tree::scatter(plan, &leaders, root, false, all, room, &nodes);
        } else {
            deal(plan, &leaders, root, all, room, &nodes);
        }
    }
    let own = call.output().part(0, call.blocks.len(call.rank));
    if binomial {
        tree::scatter(plan, &local, 0, false, room, own, &inside);
    } else {
        deal(plan, &local, 0, room, own, &inside);
    }
}

/// A linear scatter among members.
pub fn deal(plan: &mut Plan, team: &Team, root: u32, all: Region, own: Region, blocks: &Blocks) {
    if team.me != root {
        return plan.recv(team.rank(root), own);
    }
    for member in (0..team.size).filter(|&member| member != root) {
        plan.send(team.rank(member), blocks.of_region(all, member));
    }
    plan.copy(blocks.of_region(all, root), own);
}
