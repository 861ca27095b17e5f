//! Collective operations as messages.

use crate::definitions::Neighbours;
use crate::format::table::Class;

/// Bytes per peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The same for all.
    Each(u64),
    /// By rank, or by neighbour.
    List(Vec<u64>),
}

impl Amount {
    /// Bytes for a peer.
    pub fn of(&self, peer: usize) -> u64 {
        match self {
            Self::Each(bytes) => *bytes,
            Self::List(bytes) => bytes.get(peer).copied().unwrap_or(0),
        }
    }

    /// Whether it may leave out peers for which there is nothing.
    const fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }
}

/// A collective operation as one of its ranks sees it.
#[derive(Clone, Debug)]
pub struct Collective<'a> {
    /// Which.
    pub class: Class,
    /// How many ranks take part; of an intercommunicator, those of the local group.
    pub ranks: u32,
    /// This rank's place among them.
    pub me: u32,
    /// Ranks of the remote group of an intercommunicator; they are addressed as `ranks`,
    /// `ranks + 1`, …
    pub remote: u32,
    /// The root, addressed likewise. In an intercommunicator: `None` for who does not take part.
    pub root: Option<u32>,
    /// Bytes of an element.
    pub element: u64,
    /// Whether the reduction commutes.
    pub commutative: bool,
    /// Bytes that this rank gives to each.
    pub sends: Amount,
    /// Bytes that it gets from each.
    pub receives: Amount,
    /// Its neighbours, for a collective among such.
    pub neighbours: Option<&'a Neighbours>,
}

/// Where the messages of a collective go. What each returns stands for the operation.
pub trait Sink {
    /// Sends, after other operations of the collective are done.
    fn send(&mut self, to: u32, bytes: u64, after: &[u32]) -> u32;
    /// Receives, likewise.
    fn receive(&mut self, from: u32, bytes: u64, after: &[u32]) -> u32;
    /// Computes for so many picoseconds, likewise.
    fn compute(&mut self, time: u64, after: &[u32]) -> u32;
    /// An operation is blocking: a send by a blocking call, a receive that is waited for in the
    /// order of posting.
    fn blocking(&mut self, op: u32) {
        let _ = op;
    }
    /// The next message is the how manieth between its two ranks in this collective. Without it,
    /// messages match in the order in which they come.
    fn number(&mut self, number: u32);
}

/// Chooses algorithms for collectives and carries them out.
pub trait Expand: Sync {
    /// Posts this rank's part. Fails with a reason if that cannot be expressed.
    fn expand(&self, what: &Collective, sink: &mut dyn Sink) -> Result<(), String>;
}

/// The algorithms of Schedgen, which makes schedules of traces for LogGOPSim: dissemination for
/// barrier, allreduce and allgather (there with a constant size), binomial trees for broadcast and
/// reduction, direct messages for alltoall. What Schedgen drops is done directly: gather and
/// scatter from and to the root, a ring for allgatherv, a chain for scans, one message per pair for
/// reduce-scatter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schedgen;

impl Expand for Schedgen {
    fn expand(&self, what: &Collective, sink: &mut dyn Sink) -> Result<(), String> {
        if what.remote > 0 {
            return between(what, sink);
        }
        match what.class {
            Class::Barrier
            | Class::Create
            | Class::CreateGroup
            | Class::WinCreate
            | Class::WinFree
            | Class::Fence => dissemination(what, 1, sink),
            Class::Allreduce | Class::Allgather => dissemination(what, what.sends.of(0), sink),
            Class::Bcast => tree(what, false, sink),
            Class::Reduce => tree(what, true, sink),
            Class::Gather | Class::Gatherv => star(what, true, sink),
            Class::Scatter | Class::Scatterv => star(what, false, sink),
            Class::Allgatherv => ring(what, sink),
            Class::Alltoall
            | Class::Alltoallv
            | Class::Alltoallw
            | Class::ReduceScatter
            | Class::ReduceScatterBlock => direct(what, sink),
            Class::Scan | Class::Exscan => chain(what, sink),
            Class::NeighborAllgather
            | Class::NeighborAllgatherv
            | Class::NeighborAlltoall
            | Class::NeighborAlltoallv
            | Class::NeighborAlltoallw => return neighbours(what, sink),
            _ => return Err("this is no collective operation".to_owned()),
        }
        Ok(())
    }
}

fn dissemination(what: &Collective, bytes: u64, sink: &mut dyn Sink) {
    let (ranks, me) = (u64::from(what.ranks), u64::from(what.me));
    let mut before = None;
    let mut distance = 1;
    while distance < ranks {
        sink.send(((me + distance) % ranks) as u32, bytes, before.as_slice());
        before = Some(sink.receive(((me + ranks - distance) % ranks) as u32, bytes, &[]));
        distance *= 2;
    }
}

/// A binomial tree: away from the root, or towards it. The root and rank 0 change places.
fn tree(what: &Collective, to_root: bool, sink: &mut dyn Sink) {
    let root = what.root.unwrap_or(0);
    let swap = |rank: u64| match rank as u32 {
        0 => root,
        rank if rank == root => 0,
        rank => rank,
    };
    let (ranks, me) = (u64::from(what.ranks), u64::from(swap(u64::from(what.me))));
    let bytes = what.sends.of(0);
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

/// Everyone to the root, or the root to everyone.
fn star(what: &Collective, to_root: bool, sink: &mut dyn Sink) {
    let root = what.root.unwrap_or(0);
    let others = (0..what.ranks).filter(|rank| *rank != what.me);
    match (to_root, what.me == root) {
        (true, true) => others.for_each(|rank| {
            sink.receive(rank, what.receives.of(rank as usize), &[]);
        }),
        (true, false) => {
            sink.send(root, what.sends.of(0), &[]);
        }
        (false, true) => others.for_each(|rank| {
            sink.send(rank, what.sends.of(rank as usize), &[]);
        }),
        (false, false) => {
            sink.receive(root, what.receives.of(0), &[]);
        }
    }
}

/// Blocks wander around a ring.
fn ring(what: &Collective, sink: &mut dyn Sink) {
    let (ranks, me) = (what.ranks, what.me);
    let mut before = None;
    for step in 0..ranks.saturating_sub(1) {
        let block = |rank: u32| ((rank + ranks - step) % ranks) as usize;
        let left = (me + ranks - 1) % ranks;
        sink.send((me + 1) % ranks, what.receives.of(block(me)), before.as_slice());
        before = Some(sink.receive(left, what.receives.of(block(left)), &[]));
    }
}

/// Each with each, in the order of distance. Lists may leave out who gets nothing.
fn direct(what: &Collective, sink: &mut dyn Sink) {
    for step in 1..what.ranks {
        let to = (what.me + step) % what.ranks;
        let from = (what.me + what.ranks - step) % what.ranks;
        let (sends, receives) = (what.sends.of(to as usize), what.receives.of(from as usize));
        if sends > 0 || !what.sends.is_list() {
            sink.send(to, sends, &[]);
        }
        if receives > 0 || !what.receives.is_list() {
            sink.receive(from, receives, &[]);
        }
    }
}

fn chain(what: &Collective, sink: &mut dyn Sink) {
    let bytes = what.sends.of(0);
    let received = (what.me > 0).then(|| sink.receive(what.me - 1, bytes, &[]));
    if what.me + 1 < what.ranks {
        sink.send(what.me + 1, bytes, received.as_slice());
    }
}

fn neighbours(what: &Collective, sink: &mut dyn Sink) -> Result<(), String> {
    let neighbours = what
        .neighbours
        .ok_or("the trace does not say who the neighbours in this communicator are")?;
    for (index, to) in neighbours.destinations.iter().enumerate() {
        if let Ok(to) = u32::try_from(*to) {
            sink.send(to, what.sends.of(index), &[]);
        }
    }
    for (index, from) in neighbours.sources.iter().enumerate() {
        if let Ok(from) = u32::try_from(*from) {
            sink.receive(from, what.receives.of(index), &[]);
        }
    }
    Ok(())
}

/// All of both groups have come: each tells its first rank, the first ranks tell each other, and
/// then their groups.
fn agreement(what: &Collective, sink: &mut dyn Sink) {
    if what.me > 0 {
        sink.send(0, 1, &[]);
        sink.receive(0, 1, &[]);
        return;
    }
    let mut heard: Vec<_> = (1..what.ranks).map(|rank| sink.receive(rank, 1, &[])).collect();
    sink.send(what.ranks, 1, &heard);
    heard.push(sink.receive(what.ranks, 1, &[]));
    (1..what.ranks).for_each(|rank| {
        sink.send(rank, 1, &heard);
    });
}

/// Collectives between two groups. With a root, it exchanges messages with each rank of the other
/// group; without, each group tells the other's first rank, which tells its own group; alltoall is
/// direct.
// Long because it lists the collectives between two groups.
fn between(what: &Collective, sink: &mut dyn Sink) -> Result<(), String> {
    let others = what.ranks..what.ranks + what.remote;
    match what.class {
        Class::Bcast
        | Class::Scatter
        | Class::Scatterv
        | Class::Reduce
        | Class::Gather
        | Class::Gatherv => {
            let outward = matches!(what.class, Class::Bcast | Class::Scatter | Class::Scatterv);
            match what.root {
                None => {}
                Some(root) if root == what.me => others.enumerate().for_each(|(index, rank)| {
                    if outward {
                        sink.send(rank, what.sends.of(index), &[]);
                    } else {
                        sink.receive(rank, what.receives.of(index), &[]);
                    }
                }),
                Some(root) if outward => {
                    sink.receive(root, what.receives.of(0), &[]);
                }
                Some(root) => {
                    sink.send(root, what.sends.of(0), &[]);
                }
            }
        }
        Class::Alltoall | Class::Alltoallv | Class::Alltoallw => {
            for (index, rank) in others.enumerate() {
                sink.send(rank, what.sends.of(index), &[]);
                sink.receive(rank, what.receives.of(index), &[]);
            }
        }
        Class::Create | Class::CreateGroup => agreement(what, sink),
        Class::Barrier
        | Class::Allreduce
        | Class::Allgather
        | Class::Allgatherv
        | Class::ReduceScatter
        | Class::ReduceScatterBlock => {
            let synchronises = what.class == Class::Barrier;
            let bytes = |amount: &Amount, peer| if synchronises { 1 } else { amount.of(peer) };
            sink.send(what.ranks, bytes(&what.sends, 0), &[]);
            let all: u64 = (0..what.remote as usize).map(|peer| bytes(&what.receives, peer)).sum();
            if what.me > 0 {
                sink.receive(0, all, &[]);
                return Ok(());
            }
            let heard: Vec<_> = others
                .enumerate()
                .map(|(index, rank)| sink.receive(rank, bytes(&what.receives, index), &[]))
                .collect();
            (1..what.ranks).for_each(|rank| {
                sink.send(rank, all, &heard);
            });
        }
        _ => return Err("MPI has no such collective between two groups".to_owned()),
    }
    Ok(())
}
