//! The arguments of a collective.

use calls::Collective;

use crate::{
    layout::{Blocks, Group, Nodes},
    names,
    plan::{Buffer, Plan, Region},
};

/// The name of each collective's algorithm or of a library's choice, by number of the collective;
/// `None` stands for `default`.
pub type Choices = [Option<&'static str>; Collective::COUNT];

/// The choices where nothing is chosen.
pub const NO_CHOICES: Choices = [None; Collective::COUNT];

/// A collective call as one rank sees it, in elements.
///
/// The meaning of the blocks: for `bcast`, `reduce`, `allreduce`, `scan` and `exscan` the first one
/// is the whole vector; for `gather`, `scatter`, `allgather` and `reduce_scatter` (and their
/// v-forms) block r belongs to rank r; for `alltoall` block r goes to rank r, and comes from rank r
/// in `received`.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Number of ranks; at least 1.
    pub ranks: u32,
    /// The rank whose part is asked for.
    pub rank: u32,
    /// The root of a rooted collective; one of the ranks.
    pub root: u32,
    /// Bytes of an element: of the datatype (its size, not its extent). A w-form counts in bytes.
    pub element: u64,
    /// True if the operation commutes.
    pub commutative: bool,
    /// Bytes of a segment, for the algorithms that cut messages; if it is not given, each has its
    /// own.
    pub segment: Option<u64>,
    /// The blocks, in elements.
    pub blocks: &'a Blocks,
    /// The blocks that an `alltoall` receives, in elements.
    pub received: &'a Blocks,
    /// The ranks that share a node.
    pub nodes: &'a Nodes,
    /// The choices for the collectives that an algorithm calls.
    pub inside: &'a Choices,
}

/// The ranks that take part in a step of an algorithm, numbered for it, seen by one of them.
#[derive(Clone, Debug)]
pub struct Team {
    group: Group,
    /// Members of the group; member 0 of the team is the group's member `shift`.
    base: u32,
    shift: u32,
    /// The number of first pairs of members that count as one member each, for which the odd one
    /// acts.
    pairs: u32,
    /// The number of this rank in the team.
    pub me: u32,
    /// Number of members.
    pub size: u32,
}

impl Team {
    /// A group as its member `rank` sees it.
    pub fn new(group: Group, rank: u32) -> Option<Self> {
        let me = group.member(rank)?;
        let size = group.size();
        Some(Self { group, base: size, shift: 0, pairs: 0, me, size })
    }

    /// The rank of a member.
    pub fn rank(&self, member: u32) -> u32 {
        let member = if member < self.pairs { 2 * member + 1 } else { member + self.pairs };
        self.group.rank((member + self.shift) % self.base)
    }

    /// Returns the team numbered from the member `root`. Not for a folded team.
    #[must_use]
    pub fn from(&self, root: u32) -> Self {
        let me = (self.me + self.size - root) % self.size;
        Self { shift: (self.shift + root) % self.base, me, ..self.clone() }
    }

    /// The folded team as its member `me` sees it.
    #[must_use]
    pub fn folded_as(&self, me: u32) -> Self {
        let size = self.power();
        Self { pairs: self.size - size, me, size, ..self.clone() }
    }

    /// Returns the folded team: as many members as a power of two, where each of the first pairs is
    /// one member; `None` for the even member of such a pair.
    pub fn folded(&self) -> Option<Self> {
        let pairs = self.size - self.power();
        if self.me < 2 * pairs && self.me.is_multiple_of(2) {
            return None;
        }
        let me = if self.me < 2 * pairs { self.me / 2 } else { self.me - pairs };
        Some(self.folded_as(me))
    }

    /// The member so many places on, around the ring.
    pub fn ahead(&self, distance: u32) -> u32 {
        (self.me + distance) % self.size
    }

    /// The member so many places back, around the ring.
    pub fn behind(&self, distance: u32) -> u32 {
        (self.me + self.size - distance % self.size) % self.size
    }

    /// The largest power of two up to the size.
    pub fn power(&self) -> u32 {
        1 << self.size.ilog2()
    }
}

impl Call<'_> {
    /// Returns the team of all ranks.
    pub fn all(&self) -> Team {
        let size = self.ranks;
        let group = Group::all(size);
        Team { group, base: size, shift: 0, pairs: 0, me: self.rank, size }
    }

    /// Returns the team of the ranks of this one's node.
    pub fn local(&self) -> Team {
        let group = self.nodes.local(self.rank, self.ranks);
        Team::new(group, self.rank).unwrap_or_else(|| self.all())
    }

    /// Returns the team of the first ranks of all nodes, if this rank is one.
    pub fn leaders(&self) -> Option<Team> {
        Team::new(self.nodes.leaders(self.ranks), self.rank)
    }

    /// The leader of a rank's node.
    pub fn leader_of(&self, rank: u32) -> u32 {
        self.nodes.local(rank, self.ranks).rank(0)
    }

    /// Elements of the vector of a `bcast`, `reduce`, `allreduce` or `scan`.
    pub fn count(&self) -> u64 {
        self.blocks.len(0)
    }

    /// Bytes of that vector.
    pub fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.element)
    }

    /// Elements of a segment, where the algorithm's own is so many bytes (0: not cut).
    pub fn segment(&self, own: u64) -> u64 {
        match self.segment.unwrap_or(own) {
            0 => 0,
            bytes => (bytes / self.element.max(1)).max(1),
        }
    }

    /// Carries out another collective as a step of this one: from the region `send` into the region
    /// `receive`, in this call's unit. There may be too many steps; other errors cannot be: what
    /// leads to no algorithm is refused before.
    pub fn nested(
        &self,
        plan: &mut Plan,
        what: Collective,
        call: &Self,
        send: Region,
        receive: Region,
    ) {
        let chosen = self.inside.get(what as usize).copied().flatten().unwrap_or("default");
        match names::plan(what, chosen, call) {
            Ok(inner) => plan.append(&inner, send, receive),
            Err(_) => plan.overflow(),
        }
    }

    /// The vector that the rank contributes.
    pub fn input(&self) -> Region {
        Region { buffer: Buffer::Send, start: 0, len: self.count() }
    }

    /// The vector that the rank gets.
    pub fn output(&self) -> Region {
        Region { buffer: Buffer::Recv, start: 0, len: self.count() }
    }

    /// The rank's own block in its send buffer.
    pub fn own(&self) -> Region {
        Region { buffer: Buffer::Send, start: 0, len: self.blocks.len(self.rank) }
    }

    /// Returns the region of all blocks in a buffer.
    pub fn whole(&self, buffer: Buffer) -> Region {
        Region { buffer, start: 0, len: self.blocks.start(self.ranks) }
    }

    /// The block for a rank in the send buffer of an `alltoall`.
    pub fn to(&self, rank: u32) -> Region {
        let whole = Region { buffer: Buffer::Send, start: 0, len: 0 };
        self.blocks.of_region(whole, rank)
    }

    /// The block of a rank in the receive buffer of an `alltoall`.
    pub fn from(&self, rank: u32) -> Region {
        let whole = Region { buffer: Buffer::Recv, start: 0, len: 0 };
        self.received.of_region(whole, rank)
    }

    /// The result's place, or scratch space where only others get it, with the own contribution.
    pub fn accumulator(&self, plan: &mut Plan, gets_result: bool) -> Region {
        let place = if gets_result { self.output() } else { plan.scratch(self.count()) };
        plan.copy(self.input(), place);
        place
    }
}
