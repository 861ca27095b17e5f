//! Allreduce: every rank gets the combination of all vectors.
//!
//! Sources of the algorithms: Thakur, Rabenseifner, Gropp 2005 (recursive doubling, Rabenseifner);
//! Patarasuk, Yuan 2009 (`lr`); Open MPI 4.1, `coll/base` (segmented ring); Faraj, Yuan,
//! "STAR-MPI", 2006 (the others).

use calls::Collective;

use crate::{
    allgather,
    call::{Call, NO_CHOICES, Team},
    halving::{self, Order},
    layout::Blocks,
    plan::{Plan, Region},
    reduce,
    table::{Entry, Need, Way},
    tree::{self, Reduction, Tree},
};

use Way::{Automatic, Run, Select};

const COMMUTES: &[(Need, &str)] = &[(Need::Commutative, "rdb")];
const RABENSEIFNER: &[(Need, &str)] = &[(Need::Commutative, "rdb"), (Need::ElementPerPower, "rdb")];

/// Algorithms of `allreduce`.
pub const ALLREDUCE: &[Entry] = &[
    Entry::new(
        "default",
        Run(|call, plan| reduce_bcast(&Call { inside: &NO_CHOICES, ..*call }, plan)),
        "`default` reduce to rank 0, `default` broadcast, whatever is chosen for these",
    ),
    Entry::new(
        "lr",
        Run(logical_ring),
        "reduce-scatter and allgather around a ring; what cannot be cut into equal parts is \
         reduced by itself",
    )
    .needs(&[(Need::Commutative, "rdb"), (Need::ElementPerRank, "default")]),
    Entry::new(
        "rab1",
        Run(halve_and_gather),
        "recursive halving, the farthest partner first, then `default` allgather; filled up to \
         equal parts",
    )
    .needs(&[(Need::Commutative, "rdb"), (Need::PowerOfTwo, "rab2")]),
    Entry::new(
        "rab2",
        Run(direct),
        "`default` alltoall, every rank reduces its part, `default` allgather; filled up to equal \
         parts",
    ),
    Entry::new(
        "rab_rdb",
        Run(rabenseifner_rest),
        "Rabenseifner: recursive halving, recursive doubling; the last part is the longest",
    )
    .needs(COMMUTES),
    Entry::new(
        "rabenseifner",
        Run(|call, plan| rabenseifner(call, plan, Order::NearFirst)),
        "the same with parts that differ by one element, as MPICH and Open MPI have it",
    )
    .needs(RABENSEIFNER),
    Entry::new(
        "rdb",
        Run(doubling),
        "recursive doubling: whole vectors with partners 1, 2, 4, … away",
    ),
    Entry::new(
        "smp_binomial",
        Run(|call, plan| smp(call, plan, Leaders::Binomial)),
        "binomial trees in nodes and of leaders, up and down",
    )
    .needs(COMMUTES),
    Entry::new(
        "smp_binomial_pipeline",
        Run(|call, plan| smp(call, plan, Leaders::Pipeline)),
        "the same in segments of 8 KiB",
    )
    .needs(COMMUTES),
    Entry::new(
        "smp_rdb",
        Run(|call, plan| smp(call, plan, Leaders::Doubling)),
        "binomial trees in nodes, recursive doubling among leaders",
    )
    .needs(COMMUTES),
    Entry::new(
        "smp_rsag",
        Run(|call, plan| smp(call, plan, Leaders::Direct)),
        "binomial trees in nodes; leaders reduce parts and gather",
    )
    .needs(COMMUTES),
    Entry::new(
        "smp_rsag_lr",
        Run(|call, plan| smp(call, plan, Leaders::Ring)),
        "binomial trees in nodes, a ring of leaders",
    )
    .needs(COMMUTES),
    Entry::new(
        "smp_rsag_rab",
        Run(|call, plan| smp(call, plan, Leaders::Rabenseifner)),
        "binomial trees in nodes, Rabenseifner among leaders",
    )
    .needs(COMMUTES),
    Entry::new("redbcast", Run(reduce_bcast), "reduce to rank 0, broadcast, as chosen for these"),
    Entry::new("ompi", Select("openmpi"), "as Open MPI chooses"),
    Entry::new("smpi_ompi", Select("smpi_ompi"), "as SMPI chooses under the name `ompi`"),
    Entry::new(
        "ompi_ring_segmented",
        Run(segmented_ring),
        "as `lr`; from 1 MiB per rank on with even parts, which are reduced in segments of 1 MiB",
    )
    .needs(&[(Need::Commutative, "rdb"), (Need::ElementPerRank, "lr")]),
    Entry::new(
        "openmpi_ring",
        Run(|call, plan| ring(call, plan, 0)),
        "reduce-scatter and allgather around a ring, with parts that differ by one element",
    )
    .needs(&[(Need::Commutative, "rdb"), (Need::ElementPerRank, "rdb")]),
    Entry::new(
        "openmpi_ring_segmented",
        Run(|call, plan| ring(call, plan, 1 << 20)),
        "the same, reducing in segments of 1 MiB",
    )
    .needs(&[(Need::Commutative, "rdb"), (Need::ElementPerRank, "rdb")]),
    Entry::new("openmpi_linear", Run(linear_bcast), "linear reduce to rank 0, binomial broadcast"),
    Entry::new(
        "ompi_nonoverlapping",
        Run(binomial_reduce_bcast),
        "binomial reduce to rank 0, binomial broadcast",
    ),
    Entry::new("mpich", Select("mpich"), "as MPICH chooses"),
    Entry::new("smpi_mpich", Select("smpi_mpich"), "as SMPI chooses under the name `mpich`"),
    Entry::new("mvapich2", Select("mvapich2"), "as MVAPICH2 chooses"),
    Entry::new("mvapich2_rs", Run(rabenseifner_rest), "as `rab_rdb`").needs(RABENSEIFNER),
    Entry::new(
        "mvapich2_two_level",
        Run(|call, plan| smp(call, plan, Leaders::Best)),
        "flat reduce in nodes; leaders by `rdb`, or `rab_rdb` above 2 KiB",
    )
    .needs(COMMUTES),
    Entry::new("impi", Select("impi"), "as Intel MPI chooses"),
    Entry::new(
        "rab",
        Run(rabenseifner_halves),
        "Rabenseifner: recursive halving and doubling, also between neighbours beyond a power of \
         two",
    )
    .needs(COMMUTES),
    Entry::new("automatic", Automatic, "the best of all"),
];

fn reduce_bcast(call: &Call, plan: &mut Plan) {
    let root = Call { root: 0, ..*call };
    call.nested(plan, Collective::Reduce, &root, call.input(), call.output());
    call.nested(plan, Collective::Bcast, &root, call.output(), call.output());
}

fn linear_bcast(call: &Call, plan: &mut Plan) {
    reduce::linear(&Call { root: 0, ..*call }, plan);
    tree::bcast(plan, &call.all(), 0, Tree::Knomial(2), call.output(), 0);
}

fn binomial_reduce_bcast(call: &Call, plan: &mut Plan) {
    let acc = call.accumulator(plan, true);
    up_and_down(plan, &call.all(), call.commutative, 0, acc);
}

fn up_and_down(plan: &mut Plan, team: &Team, commutative: bool, segment: u64, acc: Region) {
    let tree = Tree::Knomial(2);
    tree::reduce(plan, team, Reduction { root: 0, tree, segment, commutative, ahead: true }, acc);
    tree::bcast(plan, team, 0, tree, acc, segment);
}

fn doubling(call: &Call, plan: &mut Plan) {
    let acc = call.accumulator(plan, true);
    double(plan, &call.all(), acc);
}

fn double(plan: &mut Plan, team: &Team, acc: Region) {
    if let Some(folded) = halving::fold(plan, team, acc) {
        halving::exchange_all(plan, &folded, acc);
    }
    halving::unfold(plan, team, acc);
}

fn rabenseifner(call: &Call, plan: &mut Plan, order: Order) {
    let acc = call.accumulator(plan, true);
    halve_and_join(plan, &call.all(), acc, order);
}

fn halve_and_join(plan: &mut Plan, team: &Team, acc: Region, order: Order) {
    if let Some(folded) = halving::fold(plan, team, acc) {
        let blocks = Blocks::Split { len: acc.len, count: folded.size };
        let meetings = halving::meetings(&folded, order);
        halving::halve(plan, &folded, &meetings, acc, &blocks);
        halving::join(plan, &folded, &meetings, acc, &blocks);
    }
    halving::unfold(plan, team, acc);
}

/// Does the same where the last part has what is left over.
fn rabenseifner_rest(call: &Call, plan: &mut Plan) {
    let (acc, team) = (call.accumulator(plan, true), call.all());
    if let Some(folded) = halving::fold(plan, &team, acc) {
        let blocks = Blocks::Rest { len: acc.len, count: folded.size };
        let meetings = halving::meetings(&folded, Order::NearFirst);
        halving::halve(plan, &folded, &meetings, acc, &blocks);
        halving::join(plan, &folded, &meetings, acc, &blocks);
    }
    halving::unfold(plan, &team, acc);
}

fn rabenseifner_halves(call: &Call, plan: &mut Plan) {
    let (acc, team) = (call.accumulator(plan, true), call.all());
    let pairs = team.size - team.power();
    let blocks = reduce::halved(acc.len, team.power());
    if let Some(me) = reduce::fold_in_halves(call, plan, acc) {
        let meetings = halving::meetings_of(me, team.power(), Order::NearFirst);
        let room = meetings.first().map_or(0, |m| blocks.span(acc, m.kept.0, m.kept.1).len);
        let other = plan.scratch(room);
        let at = |range: (u32, u32)| blocks.span(acc, range.0, range.1);
        for meeting in &meetings {
            let (keep, partner) = (at(meeting.kept), halving::low_rank(&team, meeting.partner));
            let other = other.part(0, keep.len);
            plan.exchange(partner, at(meeting.given), partner, other);
            plan.reduce_by_rank(me, meeting.partner, other, keep);
        }
        for meeting in meetings.iter().rev() {
            let partner = halving::low_rank(&team, meeting.partner);
            plan.exchange(partner, at(meeting.kept), partner, at(meeting.given));
        }
    }
    if team.me < 2 * pairs {
        if team.me.is_multiple_of(2) {
            plan.send(team.me + 1, acc);
        } else {
            plan.recv(team.me - 1, acc);
        }
    }
}

/// The vector with room for equal parts, one more element each if it does not come out even.
fn filled(call: &Call, plan: &mut Plan) -> (Region, Blocks) {
    let ranks = u64::from(call.ranks);
    let part = match call.count() {
        count if count.is_multiple_of(ranks) => {
            return (call.accumulator(plan, true), Blocks::Same(count / ranks));
        }
        count if count < ranks => 0,
        count => count / ranks,
    } + 1;
    let room = plan.scratch(part * ranks);
    plan.fill(call.input(), room);
    (room, Blocks::Same(part))
}

fn halve_and_gather(call: &Call, plan: &mut Plan) {
    let team = call.all();
    let (acc, blocks) = filled(call, plan);
    let meetings = halving::meetings(&team, Order::FarFirst);
    halving::halve(plan, &team, &meetings, acc, &blocks);
    gather_parts(call, plan, acc, &blocks);
}

/// Allgather of the parts; the result is copied if it stands elsewhere.
fn gather_parts(call: &Call, plan: &mut Plan, acc: Region, blocks: &Blocks) {
    let own = plan.scratch(blocks.len(call.rank));
    plan.copy(blocks.of_region(acc, call.rank), own);
    call.nested(plan, Collective::Allgather, &Call { blocks, ..*call }, own, acc);
    plan.copy(acc.part(0, call.count()), call.output());
}

/// A ring over equal parts, and an allreduce of what is left over.
fn logical_ring(call: &Call, plan: &mut Plan) {
    let acc = call.accumulator(plan, true);
    let rest = acc.len % u64::from(call.ranks);
    reduce_around(plan, &call.all(), acc.part(0, acc.len - rest), 0);
    if rest > 0 {
        let vector = Blocks::Same(rest);
        let start = acc.len - rest;
        let (send, receive) = (call.input().part(start, rest), acc.part(start, rest));
        call.nested(plan, Collective::Allreduce, &Call { blocks: &vector, ..*call }, send, receive);
    }
}

/// Source: Open MPI, `coll/base`; SMPI falls back to [`logical_ring`] where a segment per rank is
/// more than there is.
fn segmented_ring(call: &Call, plan: &mut Plan) {
    let (ranks, count) = (u64::from(call.ranks), call.count());
    let segment = match call.segment(1 << 20) {
        0 => count,
        segment => segment.min(count),
    };
    if count < ranks * segment || ranks < 2 {
        return logical_ring(call, plan);
    }
    let over = count % (ranks * segment);
    let more = over >= ranks && over > ranks * segment / 2;
    let phases = tree::segments(plan, count / (ranks * segment), 1) + u32::from(more);
    let (acc, team) = (call.accumulator(plan, true), call.all());
    let blocks = Blocks::Split { len: count, count: call.ranks };
    for phase in 0..phases {
        if plan.overflows() {
            return;
        }
        halving::around_ahead(plan, &team, 1, |block| {
            let block = blocks.of_region(acc, block);
            Blocks::Split { len: block.len, count: phases }.of_region(block, phase)
        });
    }
    allgather::around(plan, &team, 1, |block| blocks.of_region(acc, block));
}

fn ring(call: &Call, plan: &mut Plan, segment: u64) {
    let acc = call.accumulator(plan, true);
    reduce_around(plan, &call.all(), acc, call.segment(segment));
}

/// A ring that reduces all blocks' segments of one place after the other, then gathers whole
/// blocks.
fn reduce_around(plan: &mut Plan, team: &Team, acc: Region, segment: u64) {
    let blocks = Blocks::Split { len: acc.len, count: team.size };
    let longest = blocks.len(0);
    let segment = if segment == 0 { longest } else { segment.min(longest) }.max(1);
    for phase in 0..u64::from(tree::segments(plan, longest, segment)) {
        if plan.overflows() {
            return;
        }
        halving::around(plan, team, 1, |block| {
            let block = blocks.of_region(acc, block);
            let start = (phase * segment).min(block.len);
            block.part(start, segment.min(block.len - start))
        });
    }
    allgather::around(plan, team, 1, |block| blocks.of_region(acc, block));
}

fn direct(call: &Call, plan: &mut Plan) {
    let (acc, blocks) = filled(call, plan);
    let parts = plan.scratch(acc.len);
    let equal = Call { blocks: &blocks, received: &blocks, ..*call };
    call.nested(plan, Collective::Alltoall, &equal, acc, parts);
    let first = blocks.of_region(parts, 0);
    for rank in 1..call.ranks {
        plan.reduce_right(first, blocks.of_region(parts, rank));
    }
    call.nested(plan, Collective::Allgather, &equal, first, acc);
    if acc != call.output() {
        plan.copy(acc.part(0, call.count()), call.output());
    }
}

/// Every member gets its part of all vectors, and combines them in the order of members.
fn reduce_parts(plan: &mut Plan, team: &Team, acc: Region) {
    let blocks = Blocks::Split { len: acc.len, count: team.size };
    let mine = blocks.of_region(acc, team.me);
    let parts = plan.scratch(mine.len * u64::from(team.size));
    let part = |member: u32| parts.part(u64::from(member) * mine.len, mine.len);
    for step in 1..team.size {
        let from = team.behind(step);
        plan.irecv(team.rank(from), part(from));
    }
    for step in 1..team.size {
        let to = team.ahead(step);
        plan.isend(team.rank(to), blocks.of_region(acc, to));
    }
    plan.wait_all();
    plan.copy(mine, part(team.me));
    for member in 1..team.size {
        plan.reduce_right(part(0), part(member));
    }
    plan.copy(part(0), mine);
    allgather::all_at_once(plan, team, acc, &blocks);
}

/// The steps of the leaders.
#[derive(Clone, Copy, Debug)]
enum Leaders {
    Binomial,
    Pipeline,
    Doubling,
    Direct,
    Ring,
    Rabenseifner,
    Best,
}

fn smp(call: &Call, plan: &mut Plan, how: Leaders) {
    let (acc, local) = (call.accumulator(plan, true), call.local());
    let segment = if matches!(how, Leaders::Pipeline) { call.segment(8192) } else { 0 };
    let tree = if matches!(how, Leaders::Best) { Tree::Flat } else { Tree::Knomial(2) };
    let reduction = Reduction { root: 0, tree, segment, commutative: true, ahead: true };
    tree::reduce(plan, &local, reduction, acc);
    if let Some(team) = call.leaders() {
        let is_long = acc.len * call.element > 2048 && acc.len >= u64::from(team.power());
        match how {
            Leaders::Binomial | Leaders::Pipeline => up_and_down(plan, &team, true, segment, acc),
            Leaders::Direct => reduce_parts(plan, &team, acc),
            Leaders::Ring => reduce_around(plan, &team, acc, 0),
            Leaders::Rabenseifner => halve_and_join(plan, &team, acc, Order::NearFirst),
            Leaders::Best if is_long => halve_and_join(plan, &team, acc, Order::NearFirst),
            Leaders::Doubling | Leaders::Best => double(plan, &team, acc),
        }
    }
    tree::bcast(plan, &local, 0, Tree::Knomial(2), acc, segment);
}
