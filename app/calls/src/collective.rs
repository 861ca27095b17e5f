//! The collective operations, and one of them as a rank sees it.

/// Declares [`Collective`] together with the names of its variants.
macro_rules! collectives {
    ($($(#[$doc:meta])* $collective:ident = $name:literal),* $(,)?) => {
        /// A collective operation: all ranks of a communicator take part in it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Collective {
            $($(#[$doc])* $collective,)*
        }

        impl Collective {
            /// All collectives, in the order of their numbers (`collective as usize`).
            pub const ALL: &'static [Self] = &[$(Self::$collective,)*];

            /// The number of collectives.
            pub const COUNT: usize = Self::ALL.len();

            /// Returns its name: that of the function without `MPI_`, in small letters.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$collective => $name,)*
                }
            }

            /// Returns the collective of this name.
            pub fn named(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$collective,)*
                    _ => return None,
                })
            }
        }
    };
}

collectives! {
    /// `MPI_Barrier`
    Barrier = "barrier",
    /// `MPI_Bcast`
    Bcast = "bcast",
    /// `MPI_Reduce`
    Reduce = "reduce",
    /// `MPI_Allreduce`
    Allreduce = "allreduce",
    /// `MPI_Gather`
    Gather = "gather",
    /// `MPI_Gatherv`
    Gatherv = "gatherv",
    /// `MPI_Scatter`
    Scatter = "scatter",
    /// `MPI_Scatterv`
    Scatterv = "scatterv",
    /// `MPI_Allgather`
    Allgather = "allgather",
    /// `MPI_Allgatherv`
    Allgatherv = "allgatherv",
    /// `MPI_Alltoall`
    Alltoall = "alltoall",
    /// `MPI_Alltoallv`
    Alltoallv = "alltoallv",
    /// `MPI_Reduce_scatter`
    ReduceScatter = "reduce_scatter",
    /// `MPI_Reduce_scatter_block`
    ReduceScatterBlock = "reduce_scatter_block",
    /// `MPI_Scan`
    Scan = "scan",
    /// `MPI_Exscan`
    Exscan = "exscan",
    /// `MPI_Alltoallw`
    Alltoallw = "alltoallw",
    /// `MPI_Neighbor_allgather`
    NeighborAllgather = "neighbor_allgather",
    /// `MPI_Neighbor_allgatherv`
    NeighborAllgatherv = "neighbor_allgatherv",
    /// `MPI_Neighbor_alltoall`
    NeighborAlltoall = "neighbor_alltoall",
    /// `MPI_Neighbor_alltoallv`
    NeighborAlltoallv = "neighbor_alltoallv",
    /// `MPI_Neighbor_alltoallw`
    NeighborAlltoallw = "neighbor_alltoallw",
    /// Agreement of all members of a communicator on a new one (`MPI_Comm_dup`, `MPI_Comm_split`).
    Create = "create",
    /// Agreement of the members of a new communicator only (`MPI_Comm_create_group`).
    CreateGroup = "create_group",
    /// `MPI_Win_create` and the functions that allocate windows
    WinCreate = "win_create",
    /// `MPI_Win_free`
    WinFree = "win_free",
    /// `MPI_Win_fence`
    Fence = "fence",
}

impl Collective {
    /// Returns whether it has a root.
    pub const fn is_rooted(self) -> bool {
        matches!(
            self,
            Self::Bcast
                | Self::Reduce
                | Self::Gather
                | Self::Gatherv
                | Self::Scatter
                | Self::Scatterv
        )
    }

    /// Returns whether it reduces: it combines what ranks contribute by an operator.
    pub const fn reduces(self) -> bool {
        matches!(
            self,
            Self::Reduce
                | Self::Allreduce
                | Self::ReduceScatter
                | Self::ReduceScatterBlock
                | Self::Scan
                | Self::Exscan
        )
    }

    /// Returns whether all ranks have one vector of the same length, rather than a block per rank.
    pub const fn is_whole(self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::Bcast
                | Self::Reduce
                | Self::Allreduce
                | Self::Scan
                | Self::Exscan
        )
    }

    /// Returns whether ranks only wait for each other in it: it moves no data of the program's
    /// buffers. Such a collective costs what a barrier costs.
    pub const fn only_synchronises(self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::Create
                | Self::CreateGroup
                | Self::WinCreate
                | Self::WinFree
                | Self::Fence
        )
    }

    /// Returns whether its members contribute contents that others read.
    pub const fn has_contents(self) -> bool {
        !matches!(self, Self::Barrier | Self::Fence | Self::WinFree)
    }
}

/// Bytes for each member of a communicator, or for each neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of bytes that is the same for all.
    Each(u64),
    /// A number of bytes per member, or per neighbour.
    List(Vec<u64>),
}

impl Amount {
    /// Returns the bytes for a peer: 0 for one that a list does not name.
    pub fn of(&self, peer: usize) -> u64 {
        match self {
            Self::Each(bytes) => *bytes,
            Self::List(bytes) => bytes.get(peer).copied().unwrap_or(0),
        }
    }

    /// Returns whether the amounts are listed, so that peers with nothing can be left out.
    pub const fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }
}

/// The neighbours of a rank in a Cartesian or graph communicator, as ranks in it; -2 stands for
/// `MPI_PROC_NULL`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The neighbours from which it receives.
    pub sources: Vec<i64>,
    /// The neighbours to which it sends.
    pub destinations: Vec<i64>,
}

/// A call of a collective as one of its ranks sees it.
#[derive(Clone, Debug)]
pub struct CollectiveCall<'a> {
    /// The operation.
    pub collective: Collective,
    /// Number of ranks that take part; in an intercommunicator, those of the local group.
    pub ranks: u32,
    /// Number of this rank among them.
    pub me: u32,
    /// Number of ranks of the remote group of an intercommunicator, 0 without one; they are
    /// addressed as `ranks`, `ranks + 1`, …
    pub remote: u32,
    /// The root, addressed likewise. In an intercommunicator, `None` for a rank that does not take
    /// part.
    pub root: Option<u32>,
    /// Bytes of an element.
    pub element: u64,
    /// The reduction commutes.
    pub commutative: bool,
    /// Bytes that this rank sends to each.
    pub sends: Amount,
    /// Bytes that it receives from each.
    pub receives: Amount,
    /// Its neighbours, for a collective among such.
    pub neighbours: Option<&'a Neighbours>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back() {
        for (number, collective) in Collective::ALL.iter().enumerate() {
            assert_eq!(*collective as usize, number);
            assert_eq!(Collective::named(collective.name()), Some(*collective));
        }
        assert_eq!(Collective::named("send"), None);
    }

    #[test]
    fn amounts_of_peers() {
        let (each, list) = (Amount::Each(7), Amount::List(vec![1, 2]));
        assert_eq!([each.of(0), each.of(9), list.of(1), list.of(2)], [7, 7, 2, 0]);
    }
}
