//! Allgather and allgatherv: every rank gets the blocks of all.
//!
//! Sources of the algorithms: Thakur, Rabenseifner, Gropp, "Optimization of Collective
//! Communication Operations in MPICH", 2005 (ring, recursive doubling, Bruck); Chen, Zhang, et al.,
//! "Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet",
//! 2005 (neighbour exchange); Faraj, Yuan, "STAR-MPI", 2006 (the others).

use calls::Collective;

use crate::{
    bcast,
    call::{Call, Team},
    gather,
    layout::{Blocks, Group},
    plan::{Buffer, Plan, Region},
    table::{Entry, Need, Way},
    tree::{self, Tree},
};

use Way::{Automatic, Run, Select};

/// Algorithms of `allgather`.
pub const ALLGATHER: &[Entry] = &[
    Entry::new("default", Run(at_once), "all messages at once"),
    Entry::new("2dmesh", Run(mesh2), "rows of a grid, then its columns"),
    Entry::new("3dmesh", Run(mesh3), "lines, planes and layers of a grid")
        .needs(&[(Need::Cube, "2dmesh")]),
    Entry::new("bruck", Run(bruck), "ever more blocks from the ranks 1, 2, 4, … ahead"),
    Entry::new(
        "GB",
        Run(|call, plan| gather_bcast(call, plan, Collective::Gather)),
        "`default` gather to rank 0 and broadcast",
    ),
    Entry::new(
        "loosely_lr",
        Run(loosely_ring),
        "rings across nodes, each block exchanged within its node as it arrives",
    )
    .needs(&[(Need::FullNodes, "ring")]),
    Entry::new("NTSLR", Run(ring), "around a ring, from neighbour to neighbour"),
    Entry::new("NTSLR_NB", Run(ring_ahead), "the same with all receives posted at the start"),
    Entry::new("pair", Run(pair), "the own block to rank xor i in step i")
        .needs(&[(Need::PowerOfTwo, "ring")]),
    Entry::new("rdb", Run(doubling), "recursive doubling"),
    Entry::new("rhv", Run(halving), "recursive doubling, the farthest partner first")
        .needs(&[(Need::PowerOfTwo, "default")]),
    Entry::new("ring", Run(direct), "the own block to the rank i ahead in step i"),
    Entry::new(
        "SMP_NTS",
        Run(smp_ring),
        "within nodes, then a ring of leaders, passed on along each node's chain",
    )
    .needs(&[(Need::FullNodes, "default")]),
    Entry::new(
        "smp_simple",
        Run(smp_simple),
        "within nodes, then among leaders, then to the node's ranks",
    )
    .needs(&[(Need::FullNodes, "default")]),
    Entry::new("spreading_simple", Run(spread), "all messages at once"),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_neighborexchange",
        Run(neighbours),
        "two blocks per step, with the neighbours in turn",
    )
    .needs(&[(Need::Even, "NTSLR")]),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new(
        "mvapich2_smp",
        Run(smp_two_level),
        "gather to leaders, allgather among them, broadcast in nodes",
    )
    .needs(&[(Need::BlockedNodes, "rdb")]),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Algorithms of `allgatherv`.
pub const ALLGATHERV: &[Entry] = &[
    Entry::new("default", Run(at_once), "all messages at once"),
    Entry::new(
        "GB",
        Run(|call, plan| gather_bcast(call, plan, Collective::Gatherv)),
        "`default` gather to rank 0 and broadcast",
    ),
    Entry::new("pair", Run(pair), "the own block to rank xor i in step i")
        .needs(&[(Need::PowerOfTwo, "ring")]),
    Entry::new("ring", Run(direct), "the own block to the rank i ahead in step i"),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_neighborexchange",
        Run(neighbours),
        "two blocks per step, with the neighbours in turn",
    )
    .needs(&[(Need::Even, "ring")]),
    Entry::new(
        "openmpi_neighborexchange",
        Run(neighbours),
        "the same, as Open MPI has it where the number of ranks is odd",
    )
    .needs(&[(Need::Even, "mpich_ring")]),
    Entry::new(
        "openmpi_default",
        Run(gather_and_bcast),
        "linear gather to rank 0, binomial broadcast",
    ),
    Entry::new("ompi_bruck", Run(bruck), "ever more blocks from the ranks 1, 2, 4, … ahead"),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mpich_rdb", Run(doubling), "recursive doubling"),
    Entry::new("mpich_ring", Run(ring), "around a ring, from neighbour to neighbour"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new("automatic", Automatic, "the best of all"),
];

/// Puts the own block in its place; returns the place of all.
fn begin(call: &Call, plan: &mut Plan) -> Region {
    let whole = call.whole(Buffer::Recv);
    plan.copy(call.own(), call.blocks.of_region(whole, call.rank));
    whole
}

fn ring(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    around(plan, &call.all(), 0, |block| call.blocks.of_region(whole, block));
}

/// Blocks travel around the ring. At the start member m has block m + `offset`.
pub fn around(plan: &mut Plan, team: &Team, offset: u32, at: impl Fn(u32) -> Region) {
    let n = team.size;
    let (right, left) = (team.rank(team.ahead(1)), team.rank(team.behind(1)));
    for step in 1..n {
        let send = (team.behind(step - 1) + offset) % n;
        let receive = (team.behind(step) + offset) % n;
        plan.exchange(right, at(send), left, at(receive));
    }
}

fn ring_ahead(call: &Call, plan: &mut Plan) {
    let (whole, team) = (begin(call, plan), call.all());
    let at = |block| call.blocks.of_region(whole, block);
    let (right, left) = (team.ahead(1), team.behind(1));
    let receives: Vec<_> =
        (1..team.size).map(|step| plan.irecv(left, at(team.behind(step)))).collect();
    for (step, receive) in (0..).zip(receives) {
        let send = plan.isend(right, at(team.behind(step)));
        plan.wait(&[receive, send]);
    }
}

fn direct(call: &Call, plan: &mut Plan) {
    let (whole, team) = (begin(call, plan), call.all());
    for step in 1..team.size {
        let from = team.behind(step);
        plan.exchange(team.ahead(step), call.own(), from, call.blocks.of_region(whole, from));
    }
}

fn pair(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    for step in 1..call.ranks {
        let partner = call.rank ^ step;
        plan.exchange(partner, call.own(), partner, call.blocks.of_region(whole, partner));
    }
}

/// Exchanges like SMPI's non-blocking form: operations are posted partner by partner.
fn at_once(call: &Call, plan: &mut Plan) {
    let (whole, team) = (begin(call, plan), call.all());
    for other in others(&team, false) {
        plan.isend(other, call.own());
        plan.irecv(other, call.blocks.of_region(whole, other));
    }
    plan.wait_all();
}

fn spread(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    all_at_once(plan, &call.all(), whole, call.blocks);
}

/// Everyone sends the own block, which is in place, to everyone.
pub fn all_at_once(plan: &mut Plan, team: &Team, whole: Region, blocks: &Blocks) {
    for step in 1..team.size {
        let from = team.behind(step);
        plan.irecv(team.rank(from), blocks.of_region(whole, from));
    }
    for step in 1..team.size {
        plan.isend(team.rank(team.ahead(step)), blocks.of_region(whole, team.me));
    }
    plan.wait_all();
}

/// The others of a team, from member 0 on, or around the ring from the next one on.
pub fn others(team: &Team, around: bool) -> impl Iterator<Item = u32> {
    let (me, size) = (team.me, team.size);
    let number = move |step: u32| if around { (me + step) % size } else { step };
    (0..size).map(number).filter(move |&member| member != me)
}

/// Does the same as [`all_at_once`], but sends a message when the one before has left.
pub fn one_by_one(plan: &mut Plan, team: &Team, around: bool, whole: Region, blocks: &Blocks) {
    for from in others(team, around) {
        plan.irecv(team.rank(from), blocks.of_region(whole, from));
    }
    for to in others(team, around) {
        plan.send(team.rank(to), blocks.of_region(whole, team.me));
    }
    plan.wait_all();
}

fn doubling(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    double(plan, &call.all(), whole, call.blocks);
}

/// Recursive doubling for any number of members. Where that is no power of two, members without a
/// partner get what they miss from those that had one.
pub fn double(plan: &mut Plan, team: &Team, whole: Region, blocks: &Blocks) {
    let n = team.size;
    halves(team, |step| match step {
        Half::Exchange { partner, mine, theirs } => {
            let (from, into) = (blocks.span(whole, mine, (mine + (mine ^ theirs)).min(n)), theirs);
            let into = blocks.span(whole, into, (into + (mine ^ theirs)).min(n));
            plan.exchange(team.rank(partner), from, team.rank(partner), into);
        }
        Half::Pass { to, first } => {
            plan.send(team.rank(to), blocks.span(whole, first, n));
        }
        Half::Get { from, first, .. } => {
            plan.recv(team.rank(from), blocks.span(whole, first, n));
        }
    });
}

/// A step of recursive doubling. Ranges of members are named by their first one.
pub enum Half {
    /// Exchanges what the two ranges of the partners have; `mine` xor `theirs` is their length.
    Exchange {
        /// The partner.
        partner: u32,
        /// The own range.
        mine: u32,
        /// The partner's range.
        theirs: u32,
    },
    /// Passes on what came from the last range, which is incomplete.
    Pass {
        /// The rank that it goes to.
        to: u32,
        /// The last range.
        first: u32,
    },
    /// Gets what another one passes on.
    Get {
        /// The source.
        from: u32,
        /// The last range.
        first: u32,
        /// The length of the range if it were complete.
        size: u32,
    },
}

/// The steps of a member in recursive doubling.
pub fn halves(team: &Team, mut each: impl FnMut(Half)) {
    let (me, n) = (team.me, team.size);
    let mut mask = 1;
    while mask < n {
        let mine = me & !(mask - 1);
        let theirs = mine ^ mask;
        let partner = me ^ mask;
        if partner < n {
            each(Half::Exchange { partner, mine, theirs });
        }
        // The partner range has `there` members: the others of this range have no partner.
        let there = n.saturating_sub(theirs);
        if theirs > mine && 0 < there && there < mask {
            let mut half = mask / 2;
            while half > 0 {
                let place = me & (2 * half - 1);
                let other = me ^ half;
                if place < half && place < there && place + half >= there {
                    each(Half::Pass { to: other, first: theirs });
                } else if place >= half && place >= there && place - half < there {
                    each(Half::Get { from: other, first: theirs, size: mask });
                }
                half /= 2;
            }
        }
        mask *= 2;
    }
}

/// The farthest partner first. So that what is exchanged lies together, the own block is exchanged
/// first with that of the rank whose number has the same bits in reversed order.
fn halving(call: &Call, plan: &mut Plan) {
    let (whole, n) = (call.whole(Buffer::Recv), call.ranks);
    let bits = n.ilog2();
    let mirrored = call.rank.reverse_bits().checked_shr(32 - bits).unwrap_or(0);
    let mut base = mirrored;
    let span = |base: u32, size: u32| call.blocks.span(whole, base, base + size);
    if mirrored == call.rank {
        plan.copy(call.own(), span(base, 1));
    } else {
        plan.exchange(mirrored, call.own(), mirrored, span(base, 1));
    }
    let (mut mask, mut size) = (n / 2, 1);
    while mask > 0 {
        let partner = call.rank ^ mask;
        let other = base ^ size;
        plan.exchange(partner, span(base, size), partner, span(other, size));
        base = base.min(other);
        (mask, size) = (mask / 2, 2 * size);
    }
}

/// Copies regions to one piece.
pub fn pack(plan: &mut Plan, regions: impl Iterator<Item = Region>) -> Region {
    let regions: Vec<_> = regions.collect();
    let whole = plan.scratch(regions.iter().map(|region| region.len).sum());
    let mut start = 0;
    for region in regions {
        plan.copy(region, whole.part(start, region.len));
        start += region.len;
    }
    whole
}

/// Copies a piece to regions.
pub fn unpack(plan: &mut Plan, whole: Region, regions: impl IntoIterator<Item = Region>) {
    let mut start = 0;
    for region in regions {
        plan.copy(whole.part(start, region.len), region);
        start += region.len;
    }
}

/// Member m's space begins with its own block, then that of m + 1, and so on.
fn bruck(call: &Call, plan: &mut Plan) {
    let (n, me, blocks) = (call.ranks, call.rank, call.blocks);
    // Where the block of me + j lies.
    let total = blocks.start(n);
    let mine = blocks.start(me);
    let place = |j: u32| match me + j {
        later if later < n => blocks.start(later) - mine,
        later => total - mine + blocks.start(later - n),
    };
    let space = plan.scratch(total);
    plan.copy(call.own(), space.part(0, blocks.len(me)));
    let mut have = 1;
    while have < n {
        let more = have.min(n - have);
        let receive = space.part(place(have), place(have + more) - place(have));
        let team = call.all();
        plan.exchange(team.behind(have), space.part(0, place(more)), team.ahead(have), receive);
        have += more;
    }
    let whole = call.whole(Buffer::Recv);
    plan.copy(space.part(0, total - mine), blocks.span(whole, me, n));
    plan.copy(space.part(total - mine, mine), blocks.span(whole, 0, me));
}

fn neighbours(call: &Call, plan: &mut Plan) {
    let (whole, n, me) = (begin(call, plan), call.ranks, call.rank);
    if n < 2 {
        return;
    }
    let team = call.all();
    let even = me.is_multiple_of(2);
    let (near, far) =
        if even { (team.ahead(1), team.behind(1)) } else { (team.behind(1), team.ahead(1)) };
    plan.exchange(near, call.own(), near, call.blocks.of_region(whole, near));
    // The pair of blocks to send, and those that came last from either side.
    let mut send = me - me % 2;
    let mut last = [send, send];
    for step in 1..n / 2 {
        let (side, partner) = if step % 2 == 0 { (0, near) } else { (1, far) };
        let forward = even == (side == 0);
        last[side] = (last[side] + if forward { 2 } else { n - 2 }) % n;
        let receive = last[side];
        let pair = |first| call.blocks.span(whole, first, first + 2);
        plan.exchange(partner, pair(send), partner, pair(receive));
        send = receive;
    }
}

fn gather_and_bcast(call: &Call, plan: &mut Plan) {
    let whole = call.whole(Buffer::Recv);
    gather::linear(plan, &call.all(), 0, call.own(), whole, call.blocks);
    tree::bcast(plan, &call.all(), 0, Tree::Knomial(2), whole, 0);
}

fn gather_bcast(call: &Call, plan: &mut Plan, gather: Collective) {
    let whole = call.whole(Buffer::Recv);
    let root = Call { root: 0, ..*call };
    call.nested(plan, gather, &root, call.own(), whole);
    let vector = Blocks::Same(whole.len);
    call.nested(plan, Collective::Bcast, &Call { blocks: &vector, ..root }, whole, whole);
}

fn mesh2(call: &Call, plan: &mut Plan) {
    mesh(call, plan, &grid2(call.ranks));
}

fn mesh3(call: &Call, plan: &mut Plan) {
    mesh(call, plan, &grid3(call.ranks));
}

/// Along the last dimension each rank sends its block to all, then along the one before, what it
/// has by then, and so on.
fn mesh(call: &Call, plan: &mut Plan, extents: &[u32]) {
    let whole = begin(call, plan);
    let mut stride = 1;
    for &extent in extents.iter().rev() {
        let (line, base) = line(call.rank, stride, extent);
        if let Some(team) = Team::new(line, call.rank) {
            let start = call.blocks.start(base);
            let ends: Vec<u64> =
                (1..=extent).map(|i| call.blocks.start(base + i * stride) - start).collect();
            let is_third = extents.len() == 3 && stride * extent == call.ranks;
            one_by_one(plan, &team, is_third, whole.part(start, 0), &Blocks::Ends(ends));
        }
        stride *= extent;
    }
}

/// The line of a grid on which a rank lies, and the first rank of the lines that lie together.
pub fn line(rank: u32, stride: u32, extent: u32) -> (Group, u32) {
    let base = rank - rank % (stride * extent);
    (Group::Stride { first: base + rank % stride, stride, size: extent }, base)
}

/// Extents of a grid of two dimensions, as near to a square as can be.
pub fn grid2(ranks: u32) -> [u32; 2] {
    let root = ranks.isqrt();
    let rows = (1..=root).rev().find(|&rows| ranks.is_multiple_of(rows)).unwrap_or(1);
    [rows, ranks / rows]
}

/// Extents z, x and x, where x is the first number from the cube root up to a third of the ranks
/// whose square divides them; all are 1 if there is none.
pub fn grid3(ranks: u32) -> [u32; 3] {
    let root = (1..=ranks).take_while(|x| x.saturating_pow(3) <= ranks).last().unwrap_or(1);
    let found = (root..=ranks / 3).find(|x| ranks.is_multiple_of(x.saturating_mul(*x)));
    found.map_or([1; 3], |x| [ranks / (x * x), x, x])
}

/// Step i: blocks of node i places behind arrive from the same place of the node before, while
/// those of the step before are exchanged in the node.
fn loosely_ring(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    let local = call.local();
    let (p, n) = (local.size, call.ranks);
    let nodes = n / p;
    let (node, place) = (call.rank / p, call.rank % p);
    let at = |block| call.blocks.of_region(whole, block);
    let team = call.all();
    for step in 0..nodes {
        let from = (node + nodes - step) % nodes;
        let mut arriving = None;
        for other in 0..p {
            if other != place {
                plan.irecv(local.rank(other), at(from * p + other));
                plan.isend(local.rank(other), at(from * p + place));
            } else if step + 1 < nodes {
                let next = (node + nodes - step - 1) % nodes;
                arriving = Some(plan.irecv(team.behind(p), at(next * p + place)));
                plan.isend(team.ahead(p), at(from * p + place));
            }
        }
        plan.wait(arriving.as_slice());
    }
    plan.wait_all();
}

/// Gathers all blocks of the own node, one exchange after the other.
fn within_node(call: &Call, plan: &mut Plan, local: &Team, whole: Region) {
    for step in 1..local.size {
        let (to, from) = (local.rank(local.ahead(step)), local.rank(local.behind(step)));
        plan.exchange(to, call.own(), from, call.blocks.of_region(whole, from));
    }
}

fn smp_ring(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    let local = call.local();
    within_node(call, plan, &local, whole);
    let (p, nodes) = (local.size, call.ranks / local.size);
    let node = call.rank / p;
    let at = |step: u32| {
        let from = (node + nodes - step) % nodes;
        call.blocks.span(whole, from * p, (from + 1) * p)
    };
    let receives: Vec<_> = if local.me == 0 {
        let left = call.all().behind(p);
        (1..nodes).map(|step| plan.irecv(left, at(step))).collect()
    } else {
        Vec::new()
    };
    for step in 1..nodes {
        match receives.get(step as usize - 1) {
            Some(&receive) => {
                plan.isend(call.all().ahead(p), at(step - 1));
                plan.wait(&[receive]);
            }
            None => plan.recv(call.rank - 1, at(step)),
        }
        if local.me + 1 < p {
            plan.send(call.rank + 1, at(step));
        }
    }
    plan.wait_all();
}

fn smp_simple(call: &Call, plan: &mut Plan) {
    let whole = begin(call, plan);
    let local = call.local();
    within_node(call, plan, &local, whole);
    let (p, nodes) = (local.size, call.ranks / local.size);
    let by_node = call.blocks.grouped((1..=nodes).map(|node| node * p));
    if let Some(leaders) = call.leaders() {
        all_at_once(plan, &leaders, whole, &by_node);
    }
    for other in (0..nodes).filter(|&node| node != call.rank / p) {
        let region = by_node.of_region(whole, other);
        if local.me == 0 {
            (1..p).for_each(|member| {
                plan.isend(local.rank(member), region);
            });
        } else {
            plan.irecv(local.rank(0), region);
        }
    }
    plan.wait_all();
}

fn smp_two_level(call: &Call, plan: &mut Plan) {
    let whole = call.whole(Buffer::Recv);
    let local = call.local();
    let first = local.rank(0);
    let start = call.blocks.start(first);
    let ends = (1..=local.size).map(|i| call.blocks.start(first + i) - start).collect();
    gather::linear(plan, &local, 0, call.own(), whole.part(start, 0), &Blocks::Ends(ends));
    if let Some(leaders) = call.leaders() {
        let by_node = call.blocks.grouped(call.nodes.ends(call.ranks));
        if leaders.size.is_power_of_two() {
            double(plan, &leaders, whole, &by_node);
        } else {
            around(plan, &leaders, 0, |node| by_node.of_region(whole, node));
        }
    }
    tree::bcast(plan, &local, 0, Tree::Knomial(2), whole, 0);
}

/// A broadcast from the first member by scattering and gathering again.
pub fn scatter_allgather(plan: &mut Plan, team: &Team, data: Region, ring: bool) {
    let blocks =
        Blocks::Cut { len: data.len, size: data.len.div_ceil(u64::from(team.size)).max(1) };
    bcast::scatter_in_place(plan, team, data, &blocks);
    if ring {
        around(plan, team, 0, |block| blocks.of_region(data, block));
    } else {
        double(plan, team, data, &blocks);
    }
}
