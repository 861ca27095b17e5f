//! The algorithms of Schedgen.

use calls::{Amount, Collective, CollectiveCall, Expand, Sink};

/// The algorithms of Schedgen, which makes schedules of traces for LogGOPSim: dissemination for
/// barrier, allreduce and allgather (there with a constant size), binomial trees for broadcast and
/// reduction, direct messages for alltoall. What Schedgen drops is done directly: gather and
/// scatter from and to the root, a ring for allgatherv, a chain for scans, one message per pair for
/// reduce-scatter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedgen;

impl Expand for Schedgen {
    fn expand(&self, call: &CollectiveCall, sink: &mut dyn Sink) -> Result<(), String> {
        if call.remote > 0 {
            return between(call, sink);
        }
        match call.collective {
            operation if operation.only_synchronises() => dissemination(call, 1, sink),
            Collective::Allreduce | Collective::Allgather => {
                dissemination(call, call.sends.of(0), sink);
            }
            Collective::Bcast => tree(call, false, sink),
            Collective::Reduce => tree(call, true, sink),
            Collective::Gather | Collective::Gatherv => star(call, true, sink),
            Collective::Scatter | Collective::Scatterv => star(call, false, sink),
            Collective::Allgatherv => ring(call, sink),
            Collective::Alltoall
            | Collective::Alltoallv
            | Collective::Alltoallw
            | Collective::ReduceScatter
            | Collective::ReduceScatterBlock => direct(call, sink),
            Collective::Scan | Collective::Exscan => chain(call, sink),
            Collective::NeighborAllgather
            | Collective::NeighborAllgatherv
            | Collective::NeighborAlltoall
            | Collective::NeighborAlltoallv
            | Collective::NeighborAlltoallw => return neighbours(call, sink),
            _ => return Err("this is no collective operation".to_owned()),
        }
        Ok(())
    }
}

fn dissemination(call: &CollectiveCall, bytes: u64, sink: &mut dyn Sink) {
    let (ranks, me) = (u64::from(call.ranks), u64::from(call.me));
    let mut before = None;
    let mut distance = 1;
    while distance < ranks {
        sink.send(((me + distance) % ranks) as u32, bytes, before.as_slice());
        before = Some(sink.receive(((me + ranks - distance) % ranks) as u32, bytes, &[]));
        distance *= 2;
    }
}

/// A binomial tree: away from the root, or towards it. The root and rank 0 change places.
fn tree(call: &CollectiveCall, to_root: bool, sink: &mut dyn Sink) {
    let root = call.root.unwrap_or(0);
    let swap = |rank: u64| match rank as u32 {
        0 => root,
        rank if rank == root => 0,
        rank => rank,
    };
    let (ranks, me) = (u64::from(call.ranks), u64::from(swap(u64::from(call.me))));
    let bytes = call.sends.of(0);
    // Rank m has its parent at m without its highest bit, its children at m + 2^k above that bit.
    let highest = if me == 0 { 0 } else { 1 << me.ilog2() };
    let first = if me == 0 { 1 } else { 2 * highest };
    let children = std::iter::successors(Some(first), |step| Some(step * 2));
    let children: Vec<_> =
        children.map(|step| me + step).take_while(|child| *child < ranks).map(swap).collect();
    let parent = swap(me - highest);
    if to_root {
        let received: Vec<_> =
            children.into_iter().map(|child| sink.receive(child, bytes, &[])).collect();
        if me > 0 {
            sink.send(parent, bytes, &received);
        }
    } else {
        let received = (me > 0).then(|| sink.receive(parent, bytes, &[]));
        for child in children {
            sink.send(child, bytes, received.as_slice());
        }
    }
}

/// Posts messages from everyone to the root, or from the root to everyone.
fn star(call: &CollectiveCall, to_root: bool, sink: &mut dyn Sink) {
    let root = call.root.unwrap_or(0);
    let others = (0..call.ranks).filter(|rank| *rank != call.me);
    match (to_root, call.me == root) {
        (true, true) => others.for_each(|rank| {
            sink.receive(rank, call.receives.of(rank as usize), &[]);
        }),
        (true, false) => {
            sink.send(root, call.sends.of(0), &[]);
        }
        (false, true) => others.for_each(|rank| {
            sink.send(rank, call.sends.of(rank as usize), &[]);
        }),
        (false, false) => {
            sink.receive(root, call.receives.of(0), &[]);
        }
    }
}

/// Posts the messages of blocks that travel around a ring.
fn ring(call: &CollectiveCall, sink: &mut dyn Sink) {
    let (ranks, me) = (call.ranks, call.me);
    let mut before = None;
    for step in 0..ranks.saturating_sub(1) {
        let block = |rank: u32| ((rank + ranks - step) % ranks) as usize;
        let left = (me + ranks - 1) % ranks;
        sink.send((me + 1) % ranks, call.receives.of(block(me)), before.as_slice());
        before = Some(sink.receive(left, call.receives.of(block(left)), &[]));
    }
}

/// Posts messages from each to each, in the order of distance. Lists may leave out peers with
/// nothing.
fn direct(call: &CollectiveCall, sink: &mut dyn Sink) {
    for step in 1..call.ranks {
        let to = (call.me + step) % call.ranks;
        let from = (call.me + call.ranks - step) % call.ranks;
        let (sends, receives) = (call.sends.of(to as usize), call.receives.of(from as usize));
        if sends > 0 || !call.sends.is_list() {
            sink.send(to, sends, &[]);
        }
        if receives > 0 || !call.receives.is_list() {
            sink.receive(from, receives, &[]);
        }
    }
}

fn chain(call: &CollectiveCall, sink: &mut dyn Sink) {
    let bytes = call.sends.of(0);
    let received = (call.me > 0).then(|| sink.receive(call.me - 1, bytes, &[]));
    if call.me + 1 < call.ranks {
        sink.send(call.me + 1, bytes, received.as_slice());
    }
}

fn neighbours(call: &CollectiveCall, sink: &mut dyn Sink) -> Result<(), String> {
    let neighbours = call
        .neighbours
        .ok_or("the trace does not say who the neighbours in this communicator are")?;
    for (index, to) in neighbours.destinations.iter().enumerate() {
        if let Ok(to) = u32::try_from(*to) {
            sink.send(to, call.sends.of(index), &[]);
        }
    }
    for (index, from) in neighbours.sources.iter().enumerate() {
        if let Ok(from) = u32::try_from(*from) {
            sink.receive(from, call.receives.of(index), &[]);
        }
    }
    Ok(())
}

/// Posts the agreement that all of both groups have come: each member tells its first rank, the
/// first ranks tell each other, and then their groups.
fn agreement(call: &CollectiveCall, sink: &mut dyn Sink) {
    if call.me > 0 {
        sink.send(0, 1, &[]);
        sink.receive(0, 1, &[]);
        return;
    }
    let mut heard: Vec<_> = (1..call.ranks).map(|rank| sink.receive(rank, 1, &[])).collect();
    sink.send(call.ranks, 1, &heard);
    heard.push(sink.receive(call.ranks, 1, &[]));
    (1..call.ranks).for_each(|rank| {
        sink.send(rank, 1, &heard);
    });
}

/// Posts a collective between two groups. With a root, that exchanges messages with each rank of
/// the other group; without, each group tells the other's first rank, which tells its own group;
/// alltoall is direct.
// Long because it lists the collectives between two groups.
fn between(call: &CollectiveCall, sink: &mut dyn Sink) -> Result<(), String> {
    let others = call.ranks..call.ranks + call.remote;
    match call.collective {
        Collective::Bcast
        | Collective::Scatter
        | Collective::Scatterv
        | Collective::Reduce
        | Collective::Gather
        | Collective::Gatherv => {
            let outward = matches!(
                call.collective,
                Collective::Bcast | Collective::Scatter | Collective::Scatterv
            );
            match call.root {
                None => {}
                Some(root) if root == call.me => others.enumerate().for_each(|(index, rank)| {
                    if outward {
                        sink.send(rank, call.sends.of(index), &[]);
                    } else {
                        sink.receive(rank, call.receives.of(index), &[]);
                    }
                }),
                Some(root) if outward => {
                    sink.receive(root, call.receives.of(0), &[]);
                }
                Some(root) => {
                    sink.send(root, call.sends.of(0), &[]);
                }
            }
        }
        Collective::Alltoall | Collective::Alltoallv | Collective::Alltoallw => {
            for (index, rank) in others.enumerate() {
                sink.send(rank, call.sends.of(index), &[]);
                sink.receive(rank, call.receives.of(index), &[]);
            }
        }
        Collective::Create | Collective::CreateGroup => agreement(call, sink),
        Collective::Barrier
        | Collective::Allreduce
        | Collective::Allgather
        | Collective::Allgatherv
        | Collective::ReduceScatter
        | Collective::ReduceScatterBlock => {
            let synchronises = call.collective == Collective::Barrier;
            let bytes = |amount: &Amount, peer| if synchronises { 1 } else { amount.of(peer) };
            sink.send(call.ranks, bytes(&call.sends, 0), &[]);
            let all: u64 = (0..call.remote as usize).map(|peer| bytes(&call.receives, peer)).sum();
            if call.me > 0 {
                sink.receive(0, all, &[]);
                return Ok(());
            }
            let heard: Vec<_> = others
                .enumerate()
                .map(|(index, rank)| sink.receive(rank, bytes(&call.receives, index), &[]))
                .collect();
            (1..call.ranks).for_each(|rank| {
                sink.send(rank, all, &heard);
            });
        }
        _ => return Err("MPI has no such collective between two groups".to_owned()),
    }
    Ok(())
}
