//! Halo exchange on a periodic grid of one, two or three dimensions, or on a ring in random order.
//!
//! A step is: the computation, a receive from and a send to each neighbour (all waiting for the
//! computation), and optionally an allreduce by recursive doubling. The computation of the next
//! step waits for all of that, and so keeps the steps apart; where no computation was asked for it
//! takes no time, and the first step does without.

use super::allreduce::{Algorithm, Exchange};
use super::random::{Permutation, draw};
use super::shape::{Chained, Shape, calc, recv, run, send};
use crate::{Op, Run};

/// Ranks are numbered in row-major order, the last dimension fastest, as by `MPI_Cart_create`.
#[derive(Clone, Debug)]
pub struct Halo {
    /// Extent and stride of each dimension that has more than one role; the others have no
    /// neighbours.
    dimensions: Vec<(u32, u32)>,
    size: u64,
    steps: u32,
    compute: u64,
    allreduce: Option<Exchange>,
    /// The order of a ring of one dimension, which a seed gives anew in each step.
    order: Option<(Permutation, u64)>,
}

/// An operation's place in its step.
#[derive(Clone, Copy)]
enum HaloStep {
    /// The computation.
    Compute,
    /// Receive from a neighbour.
    Recv(u32),
    /// Send to a neighbour.
    Send(u32),
    /// Waits for the exchange and holds the allreduce back until then.
    Exchanged,
    /// An operation of the allreduce.
    Reduce(u32),
}

impl Halo {
    pub fn new(grid: &[u32], size: u64, steps: u32, compute: u64, allreduce: Option<u64>) -> Self {
        let mut stride = 1;
        let mut dimensions = Vec::new();
        for &extent in grid.iter().rev() {
            if extent > 1 {
                dimensions.push((extent, stride));
            }
            stride *= extent;
        }
        dimensions.reverse();
        let alone = stride == 1;
        let exchange = |bytes| Exchange::new(Algorithm::RecursiveDoubling, stride, bytes);
        Self {
            dimensions,
            size,
            steps: if alone && compute == 0 { 0 } else { steps },
            compute,
            allreduce: allreduce.filter(|_| !alone).map(exchange),
            order: None,
        }
    }

    /// The exchange on a ring, in which the order of roles is drawn anew in each step.
    pub fn shuffled(self, seed: u64) -> Self {
        let ring = self.dimensions.first().map(|(extent, _)| Permutation::new(*extent));
        Self { order: ring.map(|ring| (ring, seed)), ..self }
    }

    #[inline]
    fn neighbours(&self) -> u32 {
        2 * self.dimensions.len() as u32
    }

    /// A neighbour in a step.
    #[inline]
    fn neighbour(&self, role: u32, step: u32, number: u32) -> u32 {
        let Some((ring, seed)) = &self.order else { return self.on_grid(role, number) };
        let key = draw(*seed, u64::from(step));
        ring.backward(key, self.on_grid(ring.forward(key, role), number))
    }

    /// Along each dimension first the neighbour below, then the one above.
    #[inline]
    fn on_grid(&self, role: u32, number: u32) -> u32 {
        let (extent, stride) = self.dimensions[number as usize / 2];
        let coordinate = role / stride % extent;
        let (up, end) = (number % 2 == 1, extent - 1);
        match coordinate {
            0 if !up => role + end * stride,
            c if c == end && up => role - end * stride,
            _ if up => role + stride,
            _ => role - stride,
        }
    }

    /// Operations per step, the computation counted.
    #[inline]
    fn length(&self, role: u32) -> u32 {
        let reduce = self.allreduce.as_ref().map(|all| 1 + all.chain(role).ops);
        1 + 2 * self.neighbours() + reduce.unwrap_or(0)
    }

    /// 1 if the first step has no computation.
    #[inline]
    fn missing(&self) -> u32 {
        u32::from(self.compute == 0)
    }

    /// Step and part.
    #[inline]
    fn locate(&self, role: u32, index: u32) -> (u32, HaloStep) {
        let (length, m) = (self.length(role), self.neighbours());
        let (step, place) = ((index + self.missing()) / length, (index + self.missing()) % length);
        let part = match place {
            0 => HaloStep::Compute,
            p if p <= m => HaloStep::Recv(p - 1),
            p if p <= 2 * m => HaloStep::Send(p - 1 - m),
            p if p == 2 * m + 1 => HaloStep::Exchanged,
            p => HaloStep::Reduce(p - 2 * m - 2),
        };
        (step, part)
    }

    /// Index of an operation by its step and its place in it.
    #[inline]
    fn index(&self, role: u32, step: u32, place: u32) -> u32 {
        step * self.length(role) + place - self.missing()
    }
}

impl Shape for Halo {
    #[inline]
    fn ops(&self, role: u32) -> u32 {
        (self.steps * self.length(role)).saturating_sub(self.missing())
    }

    fn longest(&self) -> u64 {
        let reduce = self.allreduce.as_ref().map(|all| 1 + Chained::longest(all));
        u64::from(self.steps) * (1 + 2 * u64::from(self.neighbours()) + reduce.unwrap_or(0))
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let (step, part) = self.locate(role, index);
        match (part, &self.allreduce) {
            (HaloStep::Compute, _) => calc(self.compute),
            (HaloStep::Recv(number), _) => recv(self.neighbour(role, step, number), self.size),
            (HaloStep::Send(number), _) => send(self.neighbour(role, step, number), self.size),
            (HaloStep::Reduce(i), Some(all)) => Chained::op(all, role, i),
            (HaloStep::Reduce(_) | HaloStep::Exchanged, _) => calc(0),
        }
    }

    #[inline]
    fn dependencies(&self, role: u32, index: u32) -> u32 {
        match (self.locate(role, index), &self.allreduce) {
            ((0, HaloStep::Compute), _) => 0,
            ((_, HaloStep::Compute), Some(all)) => all.chain(role).ops,
            // A role alone has nothing but computations, and each waits for the last.
            ((_, HaloStep::Compute), None) => (2 * self.neighbours()).max(1),
            ((0, HaloStep::Recv(_) | HaloStep::Send(_)), _) => 1 - self.missing(),
            ((_, HaloStep::Recv(_) | HaloStep::Send(_) | HaloStep::Reduce(_)), _) => 1,
            ((_, HaloStep::Exchanged), _) => 2 * self.neighbours(),
        }
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        let (step, part) = self.locate(role, index);
        let m = self.neighbours();
        match (part, &self.allreduce) {
            (HaloStep::Compute, _) if m > 0 => {
                (1..=2 * m).for_each(|place| each(self.index(role, step, place)));
                return;
            }
            (HaloStep::Recv(_) | HaloStep::Send(_), Some(_)) => {
                each(self.index(role, step, 2 * m + 1));
                return;
            }
            (HaloStep::Exchanged, Some(all)) => {
                let chain = all.chain(role);
                (0..chain.ops)
                    .filter(|&i| i == 0 || chain.is_receive(i))
                    .for_each(|i| each(index + 1 + i));
                return;
            }
            (HaloStep::Reduce(i), Some(all)) => {
                Shape::dependents(all, role, i, &mut |_| each(index + 1));
            }
            _ => {}
        }
        if step + 1 < self.steps {
            each(self.index(role, step + 1, 0));
        }
    }

    #[inline]
    fn roots(&self, _: u32, each: &mut impl FnMut(Run)) {
        let m = self.neighbours();
        if self.steps == 0 {
            return;
        }
        if self.compute > 0 {
            each(Run::one(0));
        } else {
            run(0, 1, m, each);
            run(m, 1, m, each);
        }
    }

    fn claims(&self) -> bool {
        false
    }

    fn claim(&self, _: u32, _: &mut u64, _: u32) -> Option<u32> {
        None
    }
}

/// Splits `ranks` into `dimensions` extents, the first the largest, so that their sum and with it
/// the surface of each rank's part is the smallest, in the manner of `MPI_Dims_create`.
pub fn grid(ranks: u32, dimensions: usize) -> Vec<u32> {
    if dimensions < 2 {
        return vec![ranks];
    }
    // Extents in this order: the smallest one is at most the root of the product.
    let divisors = (1..=ranks).take_while(|&d| {
        u64::from(d).checked_pow(dimensions as u32).is_some_and(|p| p <= u64::from(ranks))
    });
    let grids = divisors.filter(|&d| ranks.is_multiple_of(d)).map(|smallest| {
        let mut extents = grid(ranks / smallest, dimensions - 1);
        extents.push(smallest);
        extents
    });
    let surface = |extents: &Vec<u32>| extents.iter().map(|&e| u64::from(e)).sum::<u64>();
    grids.min_by_key(surface).unwrap_or_default()
}

#[cfg(test)]
mod tests;
