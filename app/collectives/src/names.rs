//! The names of collectives and algorithms, and how a name becomes a plan.

use calls::Collective;
use units::nearest;

use crate::{
    allgather, allreduce, alltoall, barrier, bcast,
    call::Call,
    gather,
    plan::{MOST_STEPS, Plan},
    reduce, reduce_scatter, scan, selection,
    table::{Build, Entry, Way},
};

use Collective as C;

/// The collectives that have algorithms to choose from. `MPI_Alltoallw` uses those of
/// `MPI_Alltoallv`, with elements of one byte.
pub const WITH_ALGORITHMS: [Collective; 16] = [
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

fn known_names() -> [&'static str; 16] {
    WITH_ALGORITHMS.map(Collective::name)
}

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

/// Returns the collective of this name, if it has algorithms to choose from. Capitals, `-` for `_`,
/// a leading `i` (non-blocking) and a trailing `_init` (persistent) make no difference.
pub fn named(name: &str) -> Result<Collective, Error> {
    let small = name.to_lowercase().replace('-', "_");
    let small = small.strip_suffix("_init").unwrap_or(&small);
    let bare = small.strip_prefix('i').unwrap_or(small);
    let bare = if bare == "alltoallw" { "alltoallv" } else { bare };
    let found = WITH_ALGORITHMS.into_iter().find(|collective| collective.name() == bare);
    found.ok_or_else(|| Error::UnknownCollective {
        name: name.to_owned(),
        nearest: nearest(bare, &known_names()),
    })
}

/// Returns the algorithms of a collective; none if it has none to choose from.
pub const fn algorithms(collective: Collective) -> &'static [Entry] {
    match collective {
        C::Barrier => barrier::BARRIER,
        C::Bcast => bcast::BCAST,
        C::Reduce => reduce::REDUCE,
        C::Allreduce => allreduce::ALLREDUCE,
        C::Gather => gather::GATHER,
        C::Gatherv => gather::GATHERV,
        C::Scatter => gather::SCATTER,
        C::Scatterv => gather::SCATTERV,
        C::Allgather => allgather::ALLGATHER,
        C::Allgatherv => allgather::ALLGATHERV,
        C::Alltoall => alltoall::ALLTOALL,
        C::Alltoallv => alltoall::ALLTOALLV,
        C::ReduceScatter => reduce_scatter::REDUCE_SCATTER,
        C::ReduceScatterBlock => reduce_scatter::REDUCE_SCATTER_BLOCK,
        C::Scan => scan::SCAN,
        C::Exscan => scan::EXSCAN,
        _ => &[],
    }
}

/// The reason why there is no such collective or algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No collective has this name.
    #[error("unknown collective \"{name}\"{} (collectives: \
             {})", did_you_mean(*.nearest), known_names().join(", "))]
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
    #[error("unknown library \"{name}\"{} (libraries: \
             {})", did_you_mean(*.nearest), CHOICES.join(", "))]
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
    /// A vector is cut in too many segments.
    #[error(
        "too many segments: a rank would have more than {MOST_STEPS} steps; make segments larger"
    )]
    TooManySegments,
}

/// Names that stand for a choice in every collective.
const CHOICES: [&str; 8] =
    ["default", "openmpi", "mpich", "mvapich2", "impi", "smpi_ompi", "smpi_mpich", "smpi_default"];

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
    let names: Vec<_> = algorithms(collective).iter().map(|entry| entry.name).collect();
    names.join(", ")
}

/// The entry of a name or an alias. Capitals, and `-` for `_`, make no difference.
pub fn find(collective: Collective, name: &str) -> Result<&'static Entry, Error> {
    // Tables name algorithms as they are, and traces have many collectives.
    if let Some(entry) = algorithms(collective).iter().find(|entry| entry.name == name) {
        return Ok(entry);
    }
    let plain = |name: &str| name.to_lowercase().replace('-', "_");
    let wanted = plain(name);
    let entry =
        |wanted: &str| algorithms(collective).iter().find(move |entry| plain(entry.name) == wanted);
    let alias = || {
        let belongs = |of: &Option<Collective>| of.is_none_or(|of| of == collective);
        let found = ALIASES.iter().find(|(of, other, _)| belongs(of) && plain(other) == wanted)?;
        entry(&plain(found.2))
    };
    entry(&wanted).or_else(alias).ok_or_else(|| {
        let names = algorithms(collective).iter().map(|entry| entry.name);
        let others = ALIASES.iter().filter(|(of, ..)| of.is_none_or(|of| of == collective));
        let known: Vec<&'static str> = names.chain(others.map(|&(_, other, _)| other)).collect();
        Error::UnknownAlgorithm {
            collective,
            name: name.to_owned(),
            nearest: nearest(name, &known),
        }
    })
}

/// The algorithm that a name leads to for a call: through other names, selection tables, and what
/// is taken where a demand is not met.
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

/// The algorithms among which `automatic` chooses: all that do something of their own for this
/// call.
pub fn candidates(collective: Collective, call: &Call) -> Vec<&'static Entry> {
    let own = |entry: &&Entry| {
        matches!(entry.way, Way::Run(_)) && entry.needs.iter().all(|(need, _)| need.is_met(call))
    };
    algorithms(collective).iter().filter(own).collect()
}

/// Returns what a rank does. Vectors without elements need no messages.
pub fn plan(collective: Collective, name: &str, call: &Call) -> Result<Plan, Error> {
    let (_, build) = follow(collective, name, call)?;
    let plan = built(collective, build, call);
    if plan.overflows() { Err(Error::TooManySegments) } else { Ok(plan) }
}

fn built(collective: Collective, build: Build, call: &Call) -> Plan {
    let mut plan = Plan::new();
    let is_barrier = collective == Collective::Barrier;
    if is_barrier || !collective.is_whole() || call.count() > 0 {
        build(call, &mut plan);
    }
    plan
}
