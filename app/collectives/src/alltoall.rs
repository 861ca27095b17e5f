//! Alltoall and alltoallv: every rank has a block for every other one.
//!
//! Sources of the algorithms: Bruck et al., "Efficient Algorithms for All-to-All Communications in
//! Multiport Message-Passing Systems", 1997; Thakur, Rabenseifner, Gropp 2005; Faraj, Yuan,
//! "STAR-MPI", 2006 (the others).

use calls::Collective;

use crate::{
    allgather::{self, grid2, grid3, line, pack, unpack},
    barrier,
    call::{Call, Team},
    layout::Blocks,
    plan::{Buffer, Plan, Region},
    table::{Entry, Need, Way},
};

use Way::{Automatic, Run, Same, Select};

const POWER: &[(Need, &str)] = &[(Need::PowerOfTwo, "ring")];

/// Algorithms of `alltoall`.
pub const ALLTOALL: &[Entry] = &[
    Entry::new("default", Same("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "2dmesh",
        Run(|call, plan| mesh(call, plan, &grid2(call.ranks))),
        "all blocks to the ranks of the own row, then theirs along columns",
    ),
    Entry::new(
        "3dmesh",
        Run(|call, plan| mesh(call, plan, &grid3(call.ranks))),
        "the same on a grid of three dimensions",
    )
    .needs(&[(Need::Cube, "2dmesh")]),
    Entry::new(
        "basic_linear",
        Run(|call, plan| batches(call, plan, u32::MAX)),
        "all messages at once",
    ),
    Entry::new("bruck", Run(bruck), "blocks hop by 1, 2, 4, … ranks"),
    Entry::new(
        "pair",
        Run(|call, plan| pairs(call, plan, Pace::Free)),
        "partner rank xor i in step i",
    )
    .needs(POWER),
    Entry::new("pair_rma", Run(one_sided), "puts to the partners rank xor i, between two barriers")
        .needs(POWER),
    Entry::new(
        "pair_light_barrier",
        Run(|call, plan| pairs(call, plan, Pace::Light)),
        "`pair`, with a notice between next partners after each step",
    )
    .needs(&[(Need::PowerOfTwo, "ring_light_barrier")]),
    Entry::new(
        "pair_mpi_barrier",
        Run(|call, plan| pairs(call, plan, Pace::Every)),
        "`pair`, with a barrier before each step",
    )
    .needs(&[(Need::PowerOfTwo, "ring_mpi_barrier")]),
    Entry::new(
        "pair_one_barrier",
        Run(|call, plan| pairs(call, plan, Pace::Once)),
        "`pair`, with a barrier at the start",
    )
    .needs(&[(Need::PowerOfTwo, "ring_one_barrier")]),
    Entry::new("rdb", Run(doubling), "recursive doubling of all that everyone has"),
    Entry::new(
        "ring",
        Run(|call, plan| rings(call, plan, Pace::Free)),
        "to the rank i ahead, from the one i behind in step i",
    ),
    Entry::new(
        "ring_light_barrier",
        Run(|call, plan| rings(call, plan, Pace::Light)),
        "`ring`, with a notice between next partners after each step",
    ),
    Entry::new(
        "ring_mpi_barrier",
        Run(|call, plan| rings(call, plan, Pace::Every)),
        "`ring`, with a barrier before each step",
    ),
    Entry::new(
        "ring_one_barrier",
        Run(|call, plan| rings(call, plan, Pace::Once)),
        "`ring`, with a barrier at the start",
    ),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_scatter_dest",
        Run(scatter_dest),
        "messages in batches of 4, of which the first has one to the rank itself",
    ),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Algorithms of `alltoallv` (and `alltoallw`).
pub const ALLTOALLV: &[Entry] = &[
    Entry::new("default", Same("ompi_basic_linear"), "all messages at once"),
    Entry::new(
        "bruck",
        Run(|call, plan| batches(call, plan, 4)),
        "messages in batches of 4, one less in the first (SMPI's name for MPICH's)",
    ),
    Entry::new(
        "mpich_scattered",
        Run(|call, plan| batches(call, plan, 32)),
        "messages in batches of 32, one less in the first",
    ),
    Entry::new(
        "pair",
        Run(|call, plan| pairs(call, plan, Pace::Free)),
        "partner rank xor i in step i",
    )
    .needs(POWER),
    Entry::new(
        "pair_light_barrier",
        Run(|call, plan| pairs(call, plan, Pace::Light)),
        "`pair`, with a notice between next partners after each step",
    )
    .needs(&[(Need::PowerOfTwo, "ring_light_barrier")]),
    Entry::new(
        "pair_mpi_barrier",
        Run(|call, plan| pairs(call, plan, Pace::Every)),
        "`pair`, with a barrier before each step",
    )
    .needs(&[(Need::PowerOfTwo, "ring_mpi_barrier")]),
    Entry::new(
        "pair_one_barrier",
        Run(|call, plan| pairs(call, plan, Pace::Once)),
        "`pair`, with a barrier at the start",
    )
    .needs(&[(Need::PowerOfTwo, "ring_one_barrier")]),
    Entry::new(
        "ring",
        Run(|call, plan| {
            if call.ranks.is_power_of_two() {
                pairs(call, plan, Pace::Free);
            } else {
                rings(call, plan, Pace::Free);
            }
        }),
        "to the rank i ahead, from the one i behind in step i; `pair` among a power of two of \
         ranks",
    ),
    Entry::new(
        "openmpi_pairwise",
        Run(|call, plan| rings(call, plan, Pace::Free)),
        "to the rank i ahead, from the one i behind in step i",
    ),
    Entry::new(
        "ring_light_barrier",
        Run(|call, plan| rings(call, plan, Pace::Light)),
        "`ring`, with a notice between next partners after each step",
    ),
    Entry::new(
        "ring_mpi_barrier",
        Run(|call, plan| rings(call, plan, Pace::Every)),
        "`ring`, with a barrier before each step",
    ),
    Entry::new(
        "ring_one_barrier",
        Run(|call, plan| rings(call, plan, Pace::Once)),
        "`ring`, with a barrier at the start",
    ),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("ompi_basic_linear", Run(in_order), "all messages at once, in the order of ranks"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

fn copy_own(call: &Call, plan: &mut Plan) {
    plan.copy(call.to(call.rank), call.from(call.rank));
}

/// At most this many messages each way are under way at a time. The own block, which is copied,
/// counts as the first one.
fn batches(call: &Call, plan: &mut Plan, size: u32) {
    copy_own(call, plan);
    let team = call.all();
    let mut end = 0_u32;
    while end < team.size {
        let start = end.max(1);
        end = end.saturating_add(size).min(team.size);
        batch(call, plan, start..end);
    }
}

fn batch(call: &Call, plan: &mut Plan, steps: std::ops::Range<u32>) {
    let team = call.all();
    for step in steps.clone() {
        let from = team.ahead(step);
        plan.irecv(from, call.from(from));
    }
    for step in steps {
        let to = team.behind(step);
        plan.isend(to, call.to(to));
    }
    plan.wait_all();
}

/// All messages at once, posted in the order of ranks.
fn in_order(call: &Call, plan: &mut Plan) {
    copy_own(call, plan);
    let others = || (0..call.ranks).filter(|rank| *rank != call.rank);
    for from in others() {
        plan.irecv(from, call.from(from));
    }
    for to in others() {
        plan.isend(to, call.to(to));
    }
    plan.wait_all();
}

/// The own block is a message like all others.
fn scatter_dest(call: &Call, plan: &mut Plan) {
    let mut start = 0;
    while start < call.ranks {
        let end = (start + 4).min(call.ranks);
        batch(call, plan, start..end);
        start = end;
    }
}

/// The way in which steps are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Not at all.
    Free,
    /// A notice of one byte between those that meet in the next step.
    Light,
    /// A barrier before each step, of which the first is the copy.
    Every,
    /// One barrier at the start.
    Once,
}

fn pairs(call: &Call, plan: &mut Plan, pace: Pace) {
    steps(call, plan, pace, |step| (call.rank ^ step, call.rank ^ step));
}

fn rings(call: &Call, plan: &mut Plan, pace: Pace) {
    let team = call.all();
    steps(call, plan, pace, |step| (team.ahead(step), team.behind(step)));
}

/// Sends to one rank and receives from one in each step.
fn steps(call: &Call, plan: &mut Plan, pace: Pace, partners: impl Fn(u32) -> (u32, u32)) {
    copy_own(call, plan);
    // There is one before the copy, which is the first step, as well.
    if matches!(pace, Pace::Once | Pace::Every) {
        meet(call, plan);
    }
    for step in 1..call.ranks {
        if pace == Pace::Every {
            meet(call, plan);
        }
        let (to, from) = partners(step);
        plan.exchange(to, call.to(to), from, call.from(from));
        if pace == Pace::Light && step + 1 < call.ranks {
            let (next_to, next_from) = partners(step + 1);
            plan.exchange(next_from, Region::control(1), next_to, Region::control(1));
        }
    }
}

/// A barrier.
fn meet(call: &Call, plan: &mut Plan) {
    let nothing = Region::control(0);
    call.nested(plan, Collective::Barrier, call, nothing, nothing);
}

fn one_sided(call: &Call, plan: &mut Plan) {
    copy_own(call, plan);
    barrier::linear(plan, &call.all());
    for step in 1..call.ranks {
        let partner = call.rank ^ step;
        plan.irecv(partner, call.from(partner));
        plan.isend(partner, call.to(partner));
    }
    plan.wait_all();
    barrier::linear(plan, &call.all());
}

/// Block j of the space belongs to the rank j ahead, and moves on by each bit of j.
fn bruck(call: &Call, plan: &mut Plan) {
    let (n, me, team) = (call.ranks, call.rank, call.all());
    let size = call.blocks.len(0);
    let space = plan.scratch(u64::from(n) * size);
    let span =
        |first: u32, end: u32| space.part(u64::from(first) * size, u64::from(end - first) * size);
    let send = call.whole(Buffer::Send);
    plan.copy(call.blocks.span(send, me, n), span(0, n - me));
    plan.copy(call.blocks.span(send, 0, me), span(n - me, n));
    let mut distance = 1;
    while distance < n {
        // Runs of blocks that have this bit.
        let runs =
            || (distance..n).step_by(2 * distance as usize).map(|j| span(j, (j + distance).min(n)));
        let packed = pack(plan, runs());
        let receive = plan.scratch(packed.len);
        plan.exchange(team.ahead(distance), packed, team.behind(distance), receive);
        unpack(plan, receive, runs());
        distance *= 2;
    }
    for j in 0..n {
        plan.copy(span(j, j + 1), call.from(team.behind(j)));
    }
}

fn doubling(call: &Call, plan: &mut Plan) {
    let n = call.ranks;
    let row = call.blocks.start(n);
    let rows = Blocks::Same(row);
    let space = plan.scratch(u64::from(n) * row);
    plan.copy(call.whole(Buffer::Send), rows.of_region(space, call.rank));
    allgather::double(plan, &call.all(), space, &rows);
    for rank in 0..n {
        let block = call.blocks.of_region(rows.of_region(space, rank), call.rank);
        plan.copy(block, call.from(rank));
    }
}

/// Along all dimensions but the first, everyone sends all it has to everyone; along the first, only
/// what is for the receiver.
fn mesh(call: &Call, plan: &mut Plan, extents: &[u32]) {
    let (me, row) = (call.rank, call.blocks.start(call.ranks));
    let plane: u32 = extents.iter().skip(1).product();
    let rows = Blocks::Same(row);
    let space = plan.scratch(u64::from(plane) * row);
    plan.copy(call.whole(Buffer::Send), rows.of_region(space, me % plane));
    let mut stride = 1;
    for &extent in extents.iter().skip(1).rev() {
        let (group, base) = line(me, stride, extent);
        let lines = Blocks::Same(row * u64::from(stride));
        let part = space.part(u64::from(base % plane) * row, 0);
        if let Some(team) = Team::new(group, me) {
            allgather::one_by_one(plan, &team, false, part, &lines);
        }
        stride *= extent;
    }
    let planes = extents.first().copied().unwrap_or(1);
    let mine = me / plane;
    let blocks_for = |rank: u32| (0..plane).map(move |q| (q, rank));
    let at = |(q, rank): (u32, u32)| call.blocks.of_region(space.part(u64::from(q) * row, 0), rank);
    let team = Team::new(line(me, plane, planes).0, me);
    let others = team.iter().flat_map(|team| allgather::others(team, extents.len() == 3));
    let others: Vec<u32> = others.collect();
    for &other in &others {
        let first = other * plane;
        plan.irecv(
            first + me % plane,
            call.received.span(call.whole(Buffer::Recv), first, first + plane),
        );
    }
    for other in others {
        let to = other * plane + me % plane;
        let packed = pack(plan, blocks_for(to).map(at));
        plan.send(to, packed);
    }
    let first = mine * plane;
    for (q, rank) in blocks_for(me) {
        plan.copy(at((q, rank)), call.from(first + q));
    }
    plan.wait_all();
}
