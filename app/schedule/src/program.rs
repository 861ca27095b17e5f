//! The contract between a static program and what executes it.

/// The wildcard for a peer or a tag.
pub const ANY: u32 = u32::MAX;

/// The kind of an operation. The order of the variants is that in which operations that become
/// ready at the same instant start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Sends a message.
    Send,
    /// Receives a message.
    Recv,
    /// Computes.
    Calc,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// The kind of the operation.
    pub kind: Kind,
    /// Destination of a send, source of a receive ([`ANY`] for any source); 0 for computation.
    pub peer: u32,
    /// Tag of a message ([`ANY`] for any tag); 0 for computation.
    pub tag: u32,
    /// Bytes of a message; duration of a computation in the schedule's time unit.
    pub size: u64,
    /// Index of the CPU that it occupies.
    pub cpu: u8,
    /// Index of the network interface that it uses; 0 for computation.
    pub nic: u8,
}

/// The event of an operation that a dependent one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// `requires`: the end of the earlier operation.
    Done,
    /// `irequires`: the start of the earlier operation.
    Started,
}

/// `count` operations `first`, `first + stride`, … of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Index of the first operation.
    pub first: u32,
    /// Distance between the indices of neighbours; at least 1.
    pub stride: u32,
    /// Number of operations; at least 1.
    pub count: u32,
}

impl Run {
    /// A single operation.
    pub const fn one(op: u32) -> Self {
        Self { first: op, stride: 1, count: 1 }
    }
}

/// The operations that the end of an operation sets free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// No operation waits for it.
    Nothing,
    /// One operation waits for it, and for nothing else.
    One(u32, Op),
    /// Something else: see [`Program::successors`].
    Several,
}

/// A program whose operations can be asked for by rank and index: a file in memory, or a pattern
/// that computes each answer. Nothing here has state; answers never change.
///
/// Operations of a rank are numbered from 0 in the order of its GOAL text.
pub trait Program: Sync {
    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of CPUs per rank: the highest index used, plus one.
    fn cpus(&self) -> u32 {
        1
    }

    /// Number of network interfaces per rank: the highest index used, plus one.
    fn nics(&self) -> u32 {
        1
    }

    /// Number of operations of a rank.
    fn ops(&self, rank: u32) -> u32;

    /// Returns an operation.
    fn op(&self, rank: u32, index: u32) -> Op;

    /// Returns how many dependencies (`requires` and `irequires` lines, repeated ones counted each
    /// time) an operation has.
    fn dependencies(&self, rank: u32, index: u32) -> u32;

    /// Calls `each` with every operation that waits for `index` by an edge of this sort, in the
    /// order of the dependency lines, once per line.
    fn dependents(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32));

    /// The number by which [`Program::successors`] and [`Program::claim`] know a rank, so that what
    /// it costs to find is spent once.
    fn role(&self, rank: u32) -> u32 {
        rank
    }

    /// [`Program::dependents`], each with its number of dependencies and itself: what an executor
    /// asks together, for a rank's role.
    #[inline]
    fn successors(&self, role: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32, u32, Op)) {
        self.dependents(role, index, edge, &mut |next| {
            each(next, self.dependencies(role, next), self.op(role, next));
        });
    }

    /// Returns what the end of an operation sets free, in short.
    #[inline]
    fn follow(&self, role: u32, index: u32) -> Follow {
        let mut next = Follow::Nothing;
        self.successors(role, index, Edge::Done, &mut |index, dependencies, op| {
            next = match next {
                Follow::Nothing if dependencies == 1 => Follow::One(index, op),
                _ => Follow::Several,
            };
        });
        next
    }

    /// [`Program::claim`] and [`Program::follow`] of the answer: what an executor asks together.
    #[inline]
    fn answer(&self, role: u32, memory: &mut u64, source: u32, tag: u32) -> Option<(u32, Follow)> {
        let index = self.claim(role, memory, source, tag)?;
        Some((index, self.follow(role, index)))
    }

    /// Calls `each` with the operations that have no dependency, grouped in runs of the same kind,
    /// CPU and interface. Within such a group the indices ascend over all runs.
    fn roots(&self, rank: u32, each: &mut impl FnMut(Run));

    /// Returns whether a send is a blocking one (`MPI_Send`), where the program knows; of a
    /// receive, whether those that are waited for with it are waited for one after the other.
    /// `None`: what waits for a send may tell.
    fn is_blocking(&self, rank: u32, index: u32) -> Option<bool> {
        let _ = (rank, index);
        None
    }

    /// Returns whether a computation is sleep: it takes its time and uses no core.
    fn is_sleep(&self, rank: u32, index: u32) -> bool {
        let _ = (rank, index);
        false
    }

    /// Returns whether a computation is a look for what may have come (`MPI_Test`, `MPI_Iprobe`): a
    /// rank takes in then what others ask of it.
    fn is_look(&self, rank: u32, index: u32) -> bool {
        let _ = (rank, index);
        false
    }

    /// Prefetches an operation that is about to be asked for. It need not exist. In stage 1
    /// what stage 0 asked for has arrived.
    fn prefetch(&self, rank: u32, index: u32, stage: usize) {
        let _ = (rank, index, stage);
    }

    /// Returns whether any operation waits for the start of another. If not,
    /// [`Program::dependents`] is not asked for [`Edge::Started`].
    fn has_start_edges(&self) -> bool {
        true
    }

    /// Returns whether any operation waits for the end of a send. If not, [`Program::dependents`]
    /// is not asked for it.
    fn has_send_edges(&self) -> bool {
        true
    }

    /// Returns whether all messages and receives have the same size, so that no receive can be too
    /// small.
    fn has_one_size(&self) -> bool {
        false
    }

    /// Returns whether [`Program::claim`] answers for every message. Then every receive is a root,
    /// names its source, and is never posted explicitly.
    fn claims(&self) -> bool {
        false
    }

    /// The receive that the next message from `source` with `tag` matches, by MPI's order. `role`
    /// is the receiving rank's; `memory` belongs to it and starts at 0; the program keeps there
    /// what it needs to tell messages of one source apart. `None`: no receive is left for it.
    fn claim(&self, role: u32, memory: &mut u64, source: u32, tag: u32) -> Option<u32> {
        let _ = (role, memory, source, tag);
        None
    }
}
