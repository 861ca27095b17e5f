//! The options of a pattern, and mistakes in them.

use units::nearest;

use super::Roles;

/// The names of patterns that are schedules.
pub const NAMES: [&str; 24] = [
    "dissemination",
    "binomial-bcast",
    "binomial-reduce",
    "binary-bcast",
    "nway-dissemination",
    "linear-alltoall",
    "pairwise-alltoall",
    "bruck-alltoall",
    "alltoallv",
    "allreduce-recursive-doubling",
    "allreduce-rabenseifner",
    "allreduce-ring",
    "gather",
    "scatter",
    "pipelined-ring",
    "double-ring",
    "linear-barrier",
    "random-bisection",
    "bulk-reply",
    "halo1d",
    "halo2d",
    "halo3d",
    "random-ring",
    "random",
];

/// The names of patterns whose ranks answer messages in the order in which they come. They have the
/// same options as others, but only a run can say what they do: there is no [`Pattern`] of them.
///
/// [`Pattern`]: super::Pattern
pub const REACTIVE: [&str; 1] = ["two-way-ring"];

/// The options of a pattern. One that the pattern does not use must keep its default;
/// [`users`] lists who uses what. Number of ranks, size and permutation are for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of ranks; at least 1.
    pub ranks: u32,
    /// Bytes of a message; of the whole vector for `allreduce-*` and `pipelined-ring`; of a block
    /// for `bruck-alltoall`; the upper limit for `alltoallv`. `linear-barrier` sends single bytes
    /// whatever the size.
    pub size: u64,
    /// The rank at the root of a tree, of a gather or scatter, at the head of `pipelined-ring`, or
    /// to which `alltoallv` sends messages of the full size. Default 0.
    pub root: u32,
    /// Messages per round of `nway-dissemination`, and in each direction of `bulk-reply`; at least
    /// 1. Default 1.
    pub ways: u32,
    /// Bytes of a segment of `pipelined-ring`; at least 1. Default 1.
    pub segment: u64,
    /// Messages of `alltoallv` have from 1 to size / skew bytes; at least 1. Default 1.
    pub skew: u64,
    /// Number of steps of `halo*`, `random-ring` and `random`, and of times around `two-way-ring`;
    /// at least 1. Default 1.
    pub steps: u32,
    /// Computation at the start of a step of `halo*`, in the schedule's time unit. Default 0.
    pub compute: u64,
    /// Bytes of an allreduce at the end of a step of `halo*`. Default: there is none.
    pub allreduce: Option<u64>,
    /// Extents of the grid of `halo*`. Default: empty, as near to a cube as the number of ranks
    /// allows.
    pub grid: Vec<u32>,
    /// Seed of the random choices of `alltoallv`, `random-bisection`, `random-ring` and `random`.
    /// It may be given to any pattern. Default 1.
    pub seed: u64,
    /// Seed of a random permutation p: rank p(r) takes the part that rank r has in the pattern.
    /// Default: no permutation.
    pub permute: Option<u64>,
}

impl Options {
    /// Options for this many ranks and bytes, everything else at its default.
    pub const fn new(ranks: u32, size: u64) -> Self {
        Self {
            ranks,
            size,
            root: 0,
            ways: 1,
            segment: 1,
            skew: 1,
            steps: 1,
            compute: 0,
            allreduce: None,
            grid: Vec::new(),
            seed: 1,
            permute: None,
        }
    }

    /// Checks what does not depend on the sizes of things, for a pattern of [`NAMES`] or
    /// [`REACTIVE`].
    ///
    /// # Errors
    /// If there is no such pattern, or if it does not use an option that is set.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        if !NAMES.contains(&name) && !REACTIVE.contains(&name) {
            return Err(Error::unknown(name));
        }
        let default = Self::new(self.ranks, self.size);
        let options = [
            ("root", self.root != default.root, true),
            ("ways", self.ways != default.ways, self.ways > 0),
            ("segment", self.segment != default.segment, self.segment > 0),
            ("skew", self.skew != default.skew, self.skew > 0),
            ("steps", self.steps != default.steps, self.steps > 0),
            ("compute", self.compute != default.compute, true),
            ("allreduce", self.allreduce != default.allreduce, true),
            ("grid", self.grid != default.grid, true),
            ("ranks", true, self.ranks > 0),
        ];
        for (option, changed, positive) in options {
            if changed && users(option).is_some_and(|users| !users.contains(&name)) {
                let pattern = name.to_owned();
                return Err(Error::Unused { pattern, option });
            }
            if !positive {
                return Err(Error::Zero { option });
            }
        }
        if self.root >= self.ranks {
            return Err(Error::Root { root: self.root, ranks: self.ranks });
        }
        Ok(())
    }

    /// The roles of the ranks.
    pub fn roles(&self, name: &str) -> Roles {
        // In `alltoallv` the root is not at the head of anything; the pattern knows it by number.
        let head = if name == "alltoallv" { 0 } else { self.root };
        match self.permute {
            None => Roles::rooted(head),
            Some(seed) => Roles::permuted(head, self.ranks, seed),
        }
    }

    /// The grid asked for, if it has this many dimensions and as many places as there are ranks.
    pub(super) fn checked_grid(&self, dimensions: usize) -> Result<Vec<u32>, Error> {
        if self.grid.is_empty() {
            return Ok(super::halo::grid(self.ranks, dimensions));
        }
        if self.grid.len() != dimensions {
            return Err(Error::Dimensions { expected: dimensions, found: self.grid.len() });
        }
        let product = self.grid.iter().try_fold(1_u32, |product, &e| product.checked_mul(e));
        if product != Some(self.ranks) {
            return Err(Error::Grid { grid: self.grid.clone(), ranks: self.ranks });
        }
        Ok(self.grid.clone())
    }
}

/// The patterns that use an option, by the option's name; `None` for an option that all may be
/// given.
pub fn users(option: &str) -> Option<&'static [&'static str]> {
    const HALOS: &[&str] = &["halo1d", "halo2d", "halo3d"];
    match option {
        "root" => Some(&[
            "binomial-bcast",
            "binomial-reduce",
            "binary-bcast",
            "alltoallv",
            "gather",
            "scatter",
            "pipelined-ring",
        ]),
        "ways" => Some(&["nway-dissemination", "bulk-reply"]),
        "segment" => Some(&["pipelined-ring"]),
        "skew" => Some(&["alltoallv"]),
        "steps" => Some(&["halo1d", "halo2d", "halo3d", "random-ring", "random", "two-way-ring"]),
        "compute" | "allreduce" | "grid" => Some(HALOS),
        _ => None,
    }
}

/// The reason why there is no such pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The name is not known.
    #[error("unknown pattern \"{name}\"{} (patterns: \
             {})", did_you_mean(*.nearest), all().join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// The known name that looks most like it.
        nearest: Option<&'static str>,
    },
    /// An option is set that means nothing to the pattern.
    #[error("pattern {pattern} does not use \"{option}\" (it is for \
             {})", users(option).unwrap_or_default().join(", "))]
    Unused {
        /// The pattern.
        pattern: String,
        /// The option.
        option: &'static str,
    },
    /// An option is 0 that must be positive.
    #[error("\"{option}\" must be at least 1")]
    Zero {
        /// The option.
        option: &'static str,
    },
    /// The root is not one of the ranks.
    #[error("\"root\" is {root}, but the ranks are 0 to {}", ranks.saturating_sub(1))]
    Root {
        /// The root.
        root: u32,
        /// Number of ranks.
        ranks: u32,
    },
    /// The grid has the wrong number of dimensions.
    #[error("\"grid\" has {found} extents, but the pattern has {expected} dimensions")]
    Dimensions {
        /// Dimensions of the pattern.
        expected: usize,
        /// Extents that were given.
        found: usize,
    },
    /// The product of the grid's extents is not the number of ranks.
    #[error("\"grid\" {} does not hold {ranks} ranks", by(grid))]
    Grid {
        /// The grid.
        grid: Vec<u32>,
        /// Number of ranks.
        ranks: u32,
    },
    /// No schedule says what the pattern does.
    #[error(
        "pattern {pattern} answers messages in the order in which they come: no schedule says that"
    )]
    Reactive {
        /// The pattern.
        pattern: String,
    },
    /// A rank would have more operations than can be numbered.
    #[error(
        "pattern {pattern} has up to {ops} operations per rank here; the limit is {}",
        u32::MAX
    )]
    TooLong {
        /// The pattern.
        pattern: String,
        /// Operations of the busiest rank, or slightly more.
        ops: u64,
    },
}

impl Error {
    pub(super) fn unknown(name: &str) -> Self {
        Self::UnknownName { name: name.to_owned(), nearest: nearest(name, &all()) }
    }
}

/// The names of all patterns.
fn all() -> Vec<&'static str> {
    [&NAMES[..], &REACTIVE].concat()
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!(", did you mean \"{word}\"?"))
}

fn by(grid: &[u32]) -> String {
    let extents: Vec<String> = grid.iter().map(ToString::to_string).collect();
    extents.join(" x ")
}
