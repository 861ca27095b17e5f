//! Reduce_scatter: rank r gets block r of the combination of all vectors.
//!
//! Sources of the algorithms: Thakur, Rabenseifner, Gropp 2005; Träff, "An Improved Algorithm for
//! (Non-commutative) Reduce-Scatter with an Application", 2005 (butterfly); MPICH 4.0 (`noncomm`).

use calls::Collective;

use crate::{
    allgather::{Half, halves, pack},
    call::{Call, NO_CHOICES, Team},
    gather,
    halving::{self, Order},
    layout::Blocks,
    plan::{Buffer, Plan, Region},
    table::{Entry, Need, Way},
    tree::{self, Reduction, Tree},
};

use Way::{Automatic, Run, Select};

/// Algorithms of `reduce_scatter`.
pub const REDUCE_SCATTER: &[Entry] = &[
    Entry::new(
        "default",
        Run(reduce_then_scatter),
        "`default` reduce to rank 0, which sends to all at once",
    )
    .needs(&[(Need::EqualBlocks, "smpi_mpich")]),
    Entry::new(
        "openmpi_nonoverlapping",
        Run(binomial_then_scatter),
        "binomial reduce to rank 0, linear scatter",
    ),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_basic_recursivehalving",
        Run(recursive_halving),
        "recursive halving, the farthest partner first",
    )
    .needs(&[(Need::Commutative, "default")]),
    Entry::new("ompi_ring", Run(ring), "around a ring").needs(&[(Need::Commutative, "default")]),
    Entry::new(
        "ompi_butterfly",
        Run(butterfly),
        "recursive halving, the nearest partner first, then blocks to their owners",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mpich_pair", Run(pairwise), "block by block with the ranks i ahead and behind")
        .needs(&[(Need::Commutative, "mpich_rdb")]),
    Entry::new("mpich_rdb", Run(doubling), "recursive doubling of all that others still need"),
    Entry::new(
        "mpich_noncomm",
        Run(permuted),
        "recursive halving, the nearest partner first, of blocks in bit-reversed order",
    )
    .needs(&[(Need::PowerOfTwo, "mpich_rdb"), (Need::EqualBlocks, "mpich_rdb")]),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Algorithms of `reduce_scatter_block`.
pub const REDUCE_SCATTER_BLOCK: &[Entry] = &[
    Entry::new(
        "default",
        Run(reduce_then_scatter),
        "`default` reduce to rank 0, which sends to all at once",
    )
    .needs(&[(Need::EqualBlocks, "smpi_mpich")]),
    Entry::new(
        "openmpi_nonoverlapping",
        Run(binomial_then_scatter),
        "binomial reduce to rank 0, linear scatter",
    ),
    Entry::new(
        "recursive_doubling",
        Run(doubling),
        "recursive doubling of all that others still need",
    ),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new(
        "ompi_basic_recursivehalving",
        Run(recursive_halving),
        "recursive halving, the farthest partner first",
    )
    .needs(&[(Need::Commutative, "default")]),
    Entry::new(
        "ompi_butterfly",
        Run(butterfly),
        "recursive halving, the nearest partner first, then blocks to their owners",
    ),
];

/// Scratch space with the own contribution to all blocks.
fn begin(call: &Call, plan: &mut Plan) -> Region {
    let input = call.whole(Buffer::Send);
    let acc = plan.scratch(input.len);
    plan.copy(input, acc);
    acc
}

fn result(call: &Call) -> Region {
    Region { buffer: Buffer::Recv, start: 0, len: call.blocks.len(call.rank) }
}

fn reduce_then_scatter(call: &Call, plan: &mut Plan) {
    let input = call.whole(Buffer::Send);
    let sum = plan.scratch(if call.rank == 0 { input.len } else { 0 });
    let vector = Blocks::Same(input.len);
    let reduce = Call { root: 0, blocks: &vector, inside: &NO_CHOICES, ..*call };
    reduce.nested(plan, Collective::Reduce, &reduce, input, sum);
    if call.rank > 0 {
        return plan.recv(0, result(call));
    }
    for rank in 1..call.ranks {
        plan.isend(rank, call.blocks.of_region(sum, rank));
    }
    plan.copy(call.blocks.of_region(sum, 0), result(call));
    plan.wait_all();
}

fn binomial_then_scatter(call: &Call, plan: &mut Plan) {
    let acc = begin(call, plan);
    let (team, commutative) = (call.all(), call.commutative);
    let reduction =
        Reduction { root: 0, tree: Tree::Knomial(2), segment: 0, commutative, ahead: true };
    tree::reduce(plan, &team, reduction, acc);
    gather::deal(plan, &team, 0, acc, result(call), call.blocks);
}

fn ring(call: &Call, plan: &mut Plan) {
    let acc = begin(call, plan);
    halving::around_ahead(plan, &call.all(), 0, |block| call.blocks.of_region(acc, block));
    plan.copy(call.blocks.of_region(acc, call.rank), result(call));
}

/// First and end of the blocks of a member of the folded team.
fn owned(team: &Team, member: u32) -> (u32, u32) {
    let pairs = team.size - team.power();
    if member < pairs { (2 * member, 2 * member + 2) } else { (member + pairs, member + pairs + 1) }
}

fn by_member(call: &Call) -> Blocks {
    let team = call.all();
    call.blocks.grouped((0..team.power()).map(|member| owned(&team, member).1))
}

fn recursive_halving(call: &Call, plan: &mut Plan) {
    let acc = begin(call, plan);
    let team = call.all();
    if let Some(folded) = halving::fold(plan, &team, acc) {
        let meetings = halving::meetings(&folded, Order::FarFirst);
        halving::halve(plan, &folded, &meetings, acc, &by_member(call));
    }
    let pairs = team.size - team.power();
    if call.rank < 2 * pairs && call.rank.is_multiple_of(2) {
        return plan.recv(call.rank + 1, result(call));
    }
    if call.rank < 2 * pairs {
        plan.send(call.rank - 1, call.blocks.of_region(acc, call.rank - 1));
    }
    plan.copy(call.blocks.of_region(acc, call.rank), result(call));
}

/// A number of so many bits, reversed.
fn mirror(number: u32, size: u32) -> u32 {
    match size.ilog2() {
        0 => 0,
        bits => number.reverse_bits() >> (32 - bits),
    }
}

fn butterfly(call: &Call, plan: &mut Plan) {
    let acc = begin(call, plan);
    let team = call.all();
    let folded = halving::fold(plan, &team, acc);
    if let Some(folded) = &folded {
        let meetings = halving::meetings(folded, Order::NearFirst);
        halving::halve(plan, folded, &meetings, acc, &by_member(call));
    }
    let holder = |rank: u32| {
        let pairs = team.size - team.power();
        let member = if rank < 2 * pairs { rank / 2 } else { rank - pairs };
        team.folded_as(0).rank(mirror(member, team.power()))
    };
    let from = holder(call.rank);
    if from != call.rank {
        plan.irecv(from, result(call));
    }
    if let Some(folded) = folded {
        let (first, end) = owned(&team, mirror(folded.me, folded.size));
        for rank in first..end {
            let block = call.blocks.of_region(acc, rank);
            if rank == call.rank {
                plan.copy(block, result(call));
            } else {
                plan.isend(rank, block);
            }
        }
    }
    plan.wait_all();
}

fn permuted(call: &Call, plan: &mut Plan) {
    let (n, team) = (call.ranks, call.all());
    let acc = plan.scratch(call.blocks.start(n));
    let input = call.whole(Buffer::Send);
    for block in 0..n {
        let from = call.blocks.of_region(input, block);
        plan.copy(from, call.blocks.of_region(acc, mirror(block, n)));
    }
    let meetings = halving::meetings(&team, Order::NearFirst);
    halving::halve(plan, &team, &meetings, acc, call.blocks);
    plan.copy(call.blocks.of_region(acc, mirror(call.rank, n)), result(call));
}

fn pairwise(call: &Call, plan: &mut Plan) {
    let (team, out) = (call.all(), result(call));
    let input = call.whole(Buffer::Send);
    plan.copy(call.blocks.of_region(input, call.rank), out);
    let other = plan.scratch(out.len);
    for step in 1..team.size {
        let to = team.ahead(step);
        plan.exchange(to, call.blocks.of_region(input, to), team.behind(step), other);
        plan.reduce_left(other, out);
    }
}

/// In each step a rank sends, of all blocks but those of its own range of ranks, what its range
/// contributes.
fn doubling(call: &Call, plan: &mut Plan) {
    let acc = begin(call, plan);
    let (n, me, team) = (call.ranks, call.rank, call.all());
    // All blocks but those of a range of ranks.
    let without = |first: u32, size: u32| {
        let end = (first + size).min(n);
        [call.blocks.span(acc, 0, first), call.blocks.span(acc, end, n)]
    };
    let mut other = Region::control(0);
    let mut waiting: Option<(u32, u32)> = None;
    halves(&team, |step| match step {
        Half::Exchange { partner, mine, theirs } => {
            combine(plan, &mut waiting, me, other, &without);
            let size = mine ^ theirs;
            let send = pack(plan, without(mine, size).into_iter());
            let into = without(theirs, size);
            other = plan.scratch(into[0].len + into[1].len);
            plan.exchange(partner, send, partner, other);
            waiting = Some((theirs, size));
        }
        Half::Pass { to, .. } => plan.send(to, other),
        Half::Get { from, first, size } => {
            combine(plan, &mut waiting, me, other, &without);
            let into = without(first, size);
            other = plan.scratch(into[0].len + into[1].len);
            plan.recv(from, other);
            waiting = Some((first, size));
        }
    });
    combine(plan, &mut waiting, me, other, &without);
    plan.copy(call.blocks.of_region(acc, me), result(call));
}

/// Combines what came last, from the range of ranks that is `waiting`.
fn combine(
    plan: &mut Plan,
    waiting: &mut Option<(u32, u32)>,
    me: u32,
    other: Region,
    without: &impl Fn(u32, u32) -> [Region; 2],
) {
    let Some((first, size)) = waiting.take() else { return };
    let into = without(first, size);
    let low = other.part(0, into[0].len);
    plan.reduce_by_rank(me, first, low, into[0]);
    plan.reduce_by_rank(me, first, other.part(low.len, into[1].len), into[1]);
}
