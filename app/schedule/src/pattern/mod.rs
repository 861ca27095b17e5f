//! Communication patterns that are known by rule: each query is answered by a formula, and memory
//! does not grow with the number of messages, nor with that of ranks.
//!
//! All messages have tag 0, CPU 0 and network interface 0. One rank alone exchanges nothing. The
//! patterns marked S have the operations, order and dependencies of Schedgen, the generator of
//! `LogGOPSim`.
//!
//! | name | |
//! |---|---|
//! | `dissemination` | S: in round k, a message to the rank 2^k ahead |
//! | `binomial-bcast` | S: broadcast along a binomial tree |
//! | `binomial-reduce` | S: the same tree upwards |
//! | `binary-bcast` | S: broadcast along a binary tree |
//! | `nway-dissemination` | S: w messages per round, to the ranks 1 to w times (w + 1)^k ahead |
//! | `linear-alltoall` | S: all messages at once, in the order of distance |
//! | `pairwise-alltoall` | one partner per step, each step after the last |
//! | `bruck-alltoall` | as `dissemination`, with the blocks of all-to-all combined |
//! | `alltoallv` | as `linear-alltoall`, with random sizes |
//! | `allreduce-recursive-doubling` | the whole vector, log2 n times |
//! | `allreduce-rabenseifner` | S (powers of two): reduce-scatter and allgather by halves |
//! | `allreduce-ring` | S: reduce-scatter and allgather around a ring |
//! | `gather`, `scatter` | S: the root and each other rank |
//! | `pipelined-ring` | S: broadcast along a line, in segments |
//! | `double-ring` | S: a message around a ring in each direction |
//! | `linear-barrier` | S: reports to rank 0, then answers |
//! | `random-bisection` | one half sends to the other, in random pairs |
//! | `bulk-reply` | between two ranks, several messages at once, then as many back |
//! | `halo1d`, `halo2d`, `halo3d` | neighbours on a periodic grid, step by step |
//! | `random-ring` | neighbours on a ring in random order, drawn anew in each step |
//! | `random` | each rank to a random other, step by step |
//!
//! Patterns whose ranks answer messages as they come ([`REACTIVE`]) are no schedules; of them there
//! are only names and options here.

mod allreduce;
mod alltoall;
mod bulk;
mod dissemination;
mod halo;
mod linear;
mod options;
mod random;
mod ring;
mod roles;
mod shape;
mod traffic;
mod tree;

pub use options::{Error, NAMES, Options, REACTIVE, users};
pub use roles::Roles;

use crate::{Edge, Follow, Kind, Op, Program, Run};
use allreduce::{Algorithm, Exchange};
use alltoall::{LinearAlltoall, PairwiseAlltoall, Sizes};
use bulk::BulkReply;
use dissemination::{Dissemination, Nway};
use halo::Halo;
use ring::{DoubleRing, PipelinedRing};
use shape::Shape;
use traffic::{Bisection, Random};

/// A communication pattern among a number of ranks.
///
/// The methods of [`Program`] expect ranks below [`Program::ranks`] and indices below
/// [`Program::ops`] of the rank. [`Program::claim`] expects to be asked once for each message that
/// the pattern sends.
#[derive(Clone, Debug)]
pub struct Pattern {
    ranks: u32,
    roles: Roles,
    shape: AnyShape,
}

#[derive(Clone, Debug)]
enum AnyShape {
    Dissemination(Dissemination),
    Nway(Nway),
    BinomialBcast(tree::BinomialBcast),
    BinomialReduce(tree::BinomialReduce),
    BinaryBcast(tree::BinaryBcast),
    LinearAlltoall(LinearAlltoall),
    PairwiseAlltoall(PairwiseAlltoall),
    Exchange(Exchange),
    Ring(allreduce::Ring),
    Gather(linear::Gather),
    Scatter(linear::Scatter),
    PipelinedRing(PipelinedRing),
    DoubleRing(DoubleRing),
    LinearBarrier(linear::LinearBarrier),
    Bisection(Bisection),
    BulkReply(BulkReply),
    Halo(Halo),
    Random(Random),
}

/// Evaluates an expression for whichever shape it is.
macro_rules! with_shape {
    ($any:expr, $shape:ident => $value:expr) => {
        match $any {
            AnyShape::Dissemination($shape) => $value,
            AnyShape::Nway($shape) => $value,
            AnyShape::BinomialBcast($shape) => $value,
            AnyShape::BinomialReduce($shape) => $value,
            AnyShape::BinaryBcast($shape) => $value,
            AnyShape::LinearAlltoall($shape) => $value,
            AnyShape::PairwiseAlltoall($shape) => $value,
            AnyShape::Exchange($shape) => $value,
            AnyShape::Ring($shape) => $value,
            AnyShape::Gather($shape) => $value,
            AnyShape::Scatter($shape) => $value,
            AnyShape::PipelinedRing($shape) => $value,
            AnyShape::DoubleRing($shape) => $value,
            AnyShape::LinearBarrier($shape) => $value,
            AnyShape::Bisection($shape) => $value,
            AnyShape::BulkReply($shape) => $value,
            AnyShape::Halo($shape) => $value,
            AnyShape::Random($shape) => $value,
        }
    };
}

impl Pattern {
    /// The pattern of this name.
    pub fn build(name: &str, options: &Options) -> Result<Self, Error> {
        options.check(name)?;
        let ranks = options.ranks;
        let shape = AnyShape::build(name, options)?;
        let ops = with_shape!(&shape, shape => Shape::longest(shape));
        if ops > u64::from(u32::MAX) {
            let pattern = name.to_owned();
            return Err(Error::TooLong { pattern, ops });
        }
        Ok(Self { ranks, roles: options.roles(name), shape })
    }

    /// Converts roles to ranks.
    #[inline]
    fn of_ranks(&self, mut next: Follow) -> Follow {
        if let Follow::One(_, op) = &mut next
            && op.kind != Kind::Calc
        {
            op.peer = self.roles.rank(op.peer);
        }
        next
    }
}

impl AnyShape {
    fn build(name: &str, options: &Options) -> Result<Self, Error> {
        let &Options { ranks, size, seed, .. } = options;
        let halo = |dimensions| {
            let grid = options.checked_grid(dimensions)?;
            let (compute, allreduce) = (options.compute, options.allreduce);
            let halo = Halo::new(&grid, size, options.steps, compute, allreduce);
            Ok(Self::Halo(halo))
        };
        let exchange = |algorithm| Self::Exchange(Exchange::new(algorithm, ranks, size));
        Ok(match name {
            "dissemination" | "bruck-alltoall" => {
                let is_alltoall = name == "bruck-alltoall";
                Self::Dissemination(Dissemination { ranks, size, is_alltoall })
            }
            "binomial-bcast" => Self::BinomialBcast(tree::BinomialBcast { ranks, size }),
            "binomial-reduce" => Self::BinomialReduce(tree::BinomialReduce { ranks, size }),
            "binary-bcast" => Self::BinaryBcast(tree::BinaryBcast { ranks, size }),
            "nway-dissemination" => Self::Nway(Nway::new(ranks, size, options.ways)),
            "linear-alltoall" => {
                Self::LinearAlltoall(LinearAlltoall { ranks, sizes: Sizes::Same(size) })
            }
            "pairwise-alltoall" => Self::PairwiseAlltoall(PairwiseAlltoall { ranks, size }),
            "alltoallv" => {
                Self::LinearAlltoall(LinearAlltoall { ranks, sizes: Sizes::drawn(options) })
            }
            "allreduce-recursive-doubling" => exchange(Algorithm::RecursiveDoubling),
            "allreduce-rabenseifner" => exchange(Algorithm::Rabenseifner),
            "allreduce-ring" => Self::Ring(allreduce::Ring { ranks, size }),
            "gather" => Self::Gather(linear::Gather { ranks, size }),
            "scatter" => Self::Scatter(linear::Scatter { ranks, size }),
            "pipelined-ring" => {
                Self::PipelinedRing(PipelinedRing::new(ranks, size, options.segment))
            }
            "double-ring" => Self::DoubleRing(DoubleRing { ranks, size }),
            "linear-barrier" => Self::LinearBarrier(linear::LinearBarrier { ranks }),
            "random-bisection" => Self::Bisection(Bisection::new(ranks, size, seed)),
            "bulk-reply" => Self::BulkReply(BulkReply { ranks, size, messages: options.ways }),
            "halo1d" => halo(1)?,
            "halo2d" => halo(2)?,
            "halo3d" => halo(3)?,
            "random-ring" => {
                Self::Halo(Halo::new(&[ranks], size, options.steps, 0, None).shuffled(seed))
            }
            "random" => Self::Random(Random::new(ranks, size, seed, options.steps)),
            _ if REACTIVE.contains(&name) => {
                return Err(Error::Reactive { pattern: name.to_owned() });
            }
            _ => return Err(Error::unknown(name)),
        })
    }
}

impl Program for Pattern {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    #[inline]
    fn ops(&self, rank: u32) -> u32 {
        let role = self.roles.role(rank);
        with_shape!(&self.shape, shape => shape.ops(role))
    }

    #[inline]
    fn op(&self, rank: u32, index: u32) -> Op {
        let role = self.roles.role(rank);
        let mut op = with_shape!(&self.shape, shape => Shape::op(shape, role, index));
        if op.kind != Kind::Calc {
            op.peer = self.roles.rank(op.peer);
        }
        op
    }

    #[inline]
    fn dependencies(&self, rank: u32, index: u32) -> u32 {
        let role = self.roles.role(rank);
        with_shape!(&self.shape, shape => shape.dependencies(role, index))
    }

    #[inline]
    fn dependents(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32)) {
        if edge == Edge::Done {
            let role = self.roles.role(rank);
            with_shape!(&self.shape, shape => shape.dependents(role, index, each));
        }
    }

    #[inline]
    fn role(&self, rank: u32) -> u32 {
        self.roles.role(rank)
    }

    #[inline]
    fn successors(&self, role: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32, u32, Op)) {
        if edge == Edge::Started {
            return;
        }
        with_shape!(&self.shape, shape => shape.dependents(role, index, &mut |next| {
            let mut op = Shape::op(shape, role, next);
            if op.kind != Kind::Calc {
                op.peer = self.roles.rank(op.peer);
            }
            each(next, shape.dependencies(role, next), op);
        }));
    }

    #[inline]
    fn follow(&self, role: u32, index: u32) -> Follow {
        self.of_ranks(with_shape!(&self.shape, shape => Shape::follow(shape, role, index)))
    }

    #[inline]
    fn answer(&self, role: u32, memory: &mut u64, source: u32, tag: u32) -> Option<(u32, Follow)> {
        if source >= self.ranks || tag != 0 {
            return None;
        }
        let source = self.roles.role(source);
        with_shape!(&self.shape, shape => {
            let index = Shape::claim(shape, role, memory, source)?;
            Some((index, self.of_ranks(Shape::follow(shape, role, index))))
        })
    }

    #[inline]
    fn roots(&self, rank: u32, each: &mut impl FnMut(Run)) {
        let role = self.roles.role(rank);
        with_shape!(&self.shape, shape => shape.roots(role, each));
    }

    fn has_start_edges(&self) -> bool {
        false
    }

    fn has_send_edges(&self) -> bool {
        with_shape!(&self.shape, shape => shape.has_send_edges())
    }

    fn has_one_size(&self) -> bool {
        with_shape!(&self.shape, shape => shape.has_one_size())
    }

    fn claims(&self) -> bool {
        with_shape!(&self.shape, shape => shape.claims())
    }

    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32, tag: u32) -> Option<u32> {
        if source >= self.ranks || tag != 0 {
            return None;
        }
        let source = self.roles.role(source);
        with_shape!(&self.shape, shape => Shape::claim(shape, role, memory, source))
    }
}
