//! The names of collectives and algorithms, and how a name becomes a plan.

use units::nearest;

use crate::{
    allgather, allreduce, alltoall, barrier, bcast,
    call::Call,
    gather,
    plan::Plan,
    reduce, reduce_scatter, scan, selection,
    table::{Build, Entry, Way},
};

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collective {
    /// `MPI_Barrier`
    Barrier,
    /// `MPI_Bcast`
    Bcast,
    /// `MPI_Reduce`
    Reduce,
    /// `MPI_Allreduce`
    Allreduce,
    /// `MPI_Gather`
    Gather,
    /// `MPI_Gatherv`
    Gatherv,
    /// `MPI_Scatter`
    Scatter,
    /// `MPI_Scatterv`
    Scatterv,
    /// `MPI_Allgather`
    Allgather,
    /// `MPI_Allgatherv`
    Allgatherv,
    /// `MPI_Alltoall`
    Alltoall,
    /// `MPI_Alltoallv`, and `MPI_Alltoallw` with elements of one byte
    Alltoallv,
    /// `MPI_Reduce_scatter`
    ReduceScatter,
    /// `MPI_Reduce_scatter_block`
    ReduceScatterBlock,
    /// `MPI_Scan`
    Scan,
    /// `MPI_Exscan`
    Exscan,
}

use Collective as C;

/// The names of [`Collective`], in the same order.
const NAMES: [&str; 16] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
];

/// Other names of algorithms: for one collective or for all, the other name, the name.
pub const ALIASES: &[(Option<Collective>, &str, &str)] = &[
    (None, "openmpi", "ompi"),
    (None, "openmpi_4.1", "ompi"),
    (None, "mpich_4.0", "mpich"),
    (None, "mvapich", "mvapich2"),
    (None, "mvapich2_1.9", "mvapich2"),
    (None, "intel", "impi"),
    (None, "intelmpi", "impi"),
    (None, "intelmpi_4.1", "impi"),
    (None, "auto", "automatic"),
    (Some(C::Barrier), "linear", "ompi_basic_linear"),
    (Some(C::Barrier), "dissemination", "ompi_bruck"),
    (Some(C::Barrier), "recursive_doubling", "ompi_recursivedoubling"),
    (Some(C::Barrier), "tree", "ompi_tree"),
    (Some(C::Bcast), "binomial", "binomial_tree"),
    (Some(C::Bcast), "linear", "flattree"),
    (Some(C::Bcast), "chain", "ompi_chain"),
    (Some(C::Bcast), "pipeline", "ompi_pipeline"),
    (Some(C::Bcast), "binary", "ompi_bintree"),
    (Some(C::Bcast), "split_binary", "ompi_split_bintree"),
    (Some(C::Bcast), "knomial", "ompi_knomial"),
    (Some(C::Bcast), "ring", "scatter_LR_allgather"),
    (Some(C::Bcast), "NTSL_lsend", "NTSL_Isend"),
    (Some(C::Reduce), "linear", "ompi_basic_linear"),
    (Some(C::Reduce), "chain", "ompi_chain"),
    (Some(C::Reduce), "pipeline", "ompi_pipeline"),
    (Some(C::Reduce), "binary", "ompi_binary"),
    (Some(C::Reduce), "rabenseifner", "scatter_gather"),
    (Some(C::Allreduce), "ring", "lr"),
    (Some(C::Allreduce), "recursive_doubling", "rdb"),
    (Some(C::Gather), "linear", "ompi_basic_linear"),
    (Some(C::Gather), "binomial", "ompi_binomial"),
    (Some(C::Scatter), "linear", "ompi_basic_linear"),
    (Some(C::Allgather), "recursive_doubling", "rdb"),
    (Some(C::Allgather), "neighbor_exchange", "ompi_neighborexchange"),
    (Some(C::Allgather), "lr", "NTSLR"),
    (Some(C::Allgatherv), "recursive_doubling", "mpich_rdb"),
    (Some(C::Allgatherv), "bruck", "ompi_bruck"),
    (Some(C::Alltoall), "linear", "basic_linear"),
    (Some(C::Alltoall), "pairwise", "pair"),
    (Some(C::Alltoallv), "linear", "ompi_basic_linear"),
    (Some(C::Alltoallv), "pairwise", "pair"),
    (Some(C::ReduceScatter), "ring", "ompi_ring"),
    (Some(C::ReduceScatter), "butterfly", "ompi_butterfly"),
    (Some(C::ReduceScatter), "recursive_halving", "ompi_basic_recursivehalving"),
    (Some(C::Scan), "recursive_doubling", "mpich"),
];

impl Collective {
    /// All of them.
    pub const ALL: [Self; 16] = [
        C::Barrier,
        C::Bcast,
        C::Reduce,
        C::Allreduce,
        C::Gather,
        C::Gatherv,
        C::Scatter,
        C::Scatterv,
        C::Allgather,
        C::Allgatherv,
        C::Alltoall,
        C::Alltoallv,
        C::ReduceScatter,
        C::ReduceScatterBlock,
        C::Scan,
        C::Exscan,
    ];

    /// Its name, as in `MPI_…`, in small letters.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The collective of this name, without `MPI_`; a leading `i` (non-blocking) or a trailing `_init`
    /// (persistent) makes no difference.
    pub fn named(name: &str) -> Result<Self, Error> {
        let small = name.to_lowercase().replace('-', "_");
        let small = small.strip_suffix("_init").unwrap_or(&small);
        let bare = small.strip_prefix('i').unwrap_or(small);
        let bare = if bare == "alltoallw" { "alltoallv" } else { bare };
        let found = C::ALL.into_iter().find(|collective| collective.name() == bare);
        found.ok_or_else(|| Error::UnknownCollective {
            name: name.to_owned(),
            nearest: nearest(bare, &NAMES),
        })
    }

    /// Its algorithms.
    pub const fn algorithms(self) -> &'static [Entry] {
        match self {
            Self::Barrier => barrier::BARRIER,
            Self::Bcast => bcast::BCAST,
            Self::Reduce => reduce::REDUCE,
            Self::Allreduce => allreduce::ALLREDUCE,
            Self::Gather => gather::GATHER,
            Self::Gatherv => gather::GATHERV,
            Self::Scatter => gather::SCATTER,
            Self::Scatterv => gather::SCATTERV,
            Self::Allgather => allgather::ALLGATHER,
            Self::Allgatherv => allgather::ALLGATHERV,
            Self::Alltoall => alltoall::ALLTOALL,
            Self::Alltoallv => alltoall::ALLTOALLV,
            Self::ReduceScatter => reduce_scatter::REDUCE_SCATTER,
            Self::ReduceScatterBlock => reduce_scatter::REDUCE_SCATTER_BLOCK,
            Self::Scan => scan::SCAN,
            Self::Exscan => scan::EXSCAN,
        }
    }

    /// Whether it has a root.
    pub const fn is_rooted(self) -> bool {
        use C::{Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
        matches!(self, Bcast | Reduce | Gather | Gatherv | Scatter | Scatterv)
    }

    /// Whether it combines what ranks contribute.
    pub const fn combines(self) -> bool {
        use C::{Allreduce, Exscan, Reduce, ReduceScatter, ReduceScatterBlock, Scan};
        matches!(self, Reduce | Allreduce | ReduceScatter | ReduceScatterBlock | Scan | Exscan)
    }

    /// Whether all ranks have one vector of the same length, rather than a block per rank.
    pub const fn is_whole(self) -> bool {
        use C::{Allreduce, Barrier, Bcast, Exscan, Reduce, Scan};
        matches!(self, Barrier | Bcast | Reduce | Allreduce | Scan | Exscan)
    }
}

/// Why there is no such collective or algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No collective has this name.
    #[error("unknown collective \"{name}\"{} (collectives: {})", did_you_mean(*.nearest), NAMES.join(", "))]
    UnknownCollective {
        /// The name.
        name: String,
        /// The known name that looks most like it.
        nearest: Option<&'static str>,
    },
    /// No algorithm of the collective has this name.
    #[error("unknown algorithm \"{name}\" of {}{} (algorithms: {})",
        .collective.name(), did_you_mean(*.nearest), listed(*.collective))]
    UnknownAlgorithm {
        /// The collective.
        collective: Collective,
        /// The name.
        name: String,
        /// The known name that looks most like it.
        nearest: Option<&'static str>,
    },
    /// No library has this name.
    #[error("unknown library \"{name}\"{} (libraries: {})", did_you_mean(*.nearest), CHOICES.join(", "))]
    UnknownLibrary {
        /// The name.
        name: String,
        /// The known name that looks most like it.
        nearest: Option<&'static str>,
    },
    /// `automatic` names no algorithm: whoever asks must try all.
    #[error(
        "\"automatic\" is no algorithm of its own: each one has to be tried, as `heddle run` does"
    )]
    Automatic,
}

/// Names that stand for a choice in every collective.
const CHOICES: [&str; 7] =
    ["default", "openmpi", "mpich", "mvapich2", "impi", "smpi_ompi", "smpi_mpich"];

/// The algorithms' name for a library's choice, from the library's name or an alias of it.
pub fn library(name: &str) -> Result<&'static str, Error> {
    let is_choice = |entry: &&Entry| matches!(entry.way, Way::Select(_)) || entry.name == "default";
    let found = find(Collective::Bcast, name).ok().filter(is_choice);
    found.map(|entry| entry.name).ok_or_else(|| Error::UnknownLibrary {
        name: name.to_owned(),
        nearest: nearest(name, &CHOICES),
    })
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!(", did you mean \"{word}\"?"))
}

fn listed(collective: Collective) -> String {
    let names: Vec<_> = collective.algorithms().iter().map(|entry| entry.name).collect();
    names.join(", ")
}

/// The entry of a name or an alias. Capitals, and `-` for `_`, make no difference.
pub fn find(collective: Collective, name: &str) -> Result<&'static Entry, Error> {
    // Tables name algorithms as they are, and traces have many collectives.
    if let Some(entry) = collective.algorithms().iter().find(|entry| entry.name == name) {
        return Ok(entry);
    }
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let wanted = plain(name);
    let entry = |wanted: &str| {
        collective.algorithms().iter().find(move |entry| plain(entry.name) == wanted)
    };
    let alias = || {
        let belongs = |of: &Option<Collective>| of.is_none_or(|of| of == collective);
        let found = ALIASES.iter().find(|(of, other, _)| belongs(of) && plain(other) == wanted)?;
        entry(&plain(found.2))
    };
    entry(&wanted).or_else(alias).ok_or_else(|| {
        let names = collective.algorithms().iter().map(|entry| entry.name);
        let others = ALIASES.iter().filter(|(of, ..)| of.is_none_or(|of| of == collective));
        let known: Vec<&'static str> = names.chain(others.map(|&(_, other, _)| other)).collect();
        Error::UnknownAlgorithm {
            collective,
            name: name.to_owned(),
            nearest: nearest(name, &known),
        }
    })
}

/// The algorithm that a name leads to for a call: through other names, selection tables, and what is
/// taken where a demand is not met.
pub fn resolve(collective: Collective, name: &str, call: &Call) -> Result<&'static Entry, Error> {
    follow(collective, name, call).map(|(entry, _)| entry)
}

fn follow(
    collective: Collective,
    name: &str,
    call: &Call,
) -> Result<(&'static Entry, Build), Error> {
    let mut entry = find(collective, name)?;
    loop {
        // No way leads back: a test follows all of them.
        let next = match entry.way {
            Way::Run(build) => {
                let unmet = entry.needs.iter().find(|(need, _)| !need.is_met(call));
                match unmet {
                    None => return Ok((entry, build)),
                    Some((_, instead)) => instead,
                }
            }
            Way::Same(other) => other,
            Way::Select(library) => selection::choose(library, collective, call),
            Way::Automatic => return Err(Error::Automatic),
        };
        entry = find(collective, next)?;
    }
}

/// The algorithms among which `automatic` chooses: all that do something of their own for this call.
pub fn candidates(collective: Collective, call: &Call) -> Vec<&'static Entry> {
    let own = |entry: &&Entry| {
        matches!(entry.way, Way::Run(_)) && entry.needs.iter().all(|(need, _)| need.is_met(call))
    };
    collective.algorithms().iter().filter(own).collect()
}

/// What a rank does. Vectors without elements need no messages.
pub fn plan(collective: Collective, name: &str, call: &Call) -> Result<Plan, Error> {
    let (_, build) = follow(collective, name, call)?;
    Ok(built(collective, build, call))
}

fn built(collective: Collective, build: Build, call: &Call) -> Plan {
    let mut plan = Plan::new();
    let is_barrier = collective == Collective::Barrier;
    if is_barrier || !collective.is_whole() || call.count() > 0 {
        build(call, &mut plan);
    }
    plan
}
