//! The shares of processes that workers run.
//!
//! Processes stand at places, [`BLOCK`] to a block, and each worker has blocks of its own. As a
//! rule the place of a process is its number. Where that makes shares unequal, or parts processes
//! that say much to each other, places are assigned, and nobody may have the last places of a
//! worker.

use units::Time;

use crate::{
    Model, Wire,
    block::{BLOCK, Block},
};

/// The shares of all workers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// The first block of each worker, and the number of blocks.
    pub starts: Vec<usize>,
    /// The number of processes of each worker.
    pub sizes: Vec<usize>,
    /// The number of the process at each place, and the place of each number; empty if every
    /// process stands at the place of its number.
    numbers: Vec<u32>,
    places: Vec<u32>,
}

impl Shares {
    /// Returns contiguous shares of nearly equal weight, none of them empty, of the order that the
    /// model wishes or of the numbers. There are at most as many workers as processes.
    pub fn of<M: Model>(model: &M, count: usize, workers: usize) -> Self {
        let blocks = count.div_ceil(BLOCK);
        if workers == 1 {
            return Self { starts: vec![0, blocks], sizes: vec![count], ..Self::default() };
        }
        let order = model.order();
        debug_assert!(
            order.as_ref().is_none_or(|order| order.len() == count),
            "an order of all processes"
        );
        let order = order.filter(|order| order.len() == count);
        Self::several(order.as_deref(), &|number| model.weight(number), count, workers)
    }

    /// Returns the shares of several workers. It is compiled once for all models.
    fn several(
        order: Option<&[u32]>,
        weight: &dyn Fn(u32) -> u32,
        count: usize,
        workers: usize,
    ) -> Self {
        let blocks = count.div_ceil(BLOCK);
        let number = |place| order.map_or(place as u32, |order| order[place]);
        let weight = |place| weight(number(place));
        let (bounds, sum) = bounds((0..count).map(weight), workers);
        let near = bounds[..workers].iter().map(|bound| (bound + BLOCK / 2) / BLOCK);
        let starts: Vec<_> = near.chain([blocks]).collect();
        // At most 4 % of a share goes to its neighbour.
        let is_near = |(&bound, &start): (&usize, &usize)| {
            let moved = bound.min(start * BLOCK)..bound.max(start * BLOCK).min(count);
            moved.map(weight).map(u128::from).sum::<u128>() * workers as u128 * 25 <= sum
        };
        let all_have = starts.windows(2).all(|share| share[0] < share[1]);
        if order.is_none() && all_have && bounds[..workers].iter().zip(&starts).all(is_near) {
            let size = |share: &[usize]| (share[1] * BLOCK).min(count) - share[0] * BLOCK;
            let sizes = starts.windows(2).map(size).collect();
            return Self { starts, sizes, ..Self::default() };
        }
        Self::assigned(&bounds, number)
    }

    /// Returns shares in which the places between two bounds have blocks of their own.
    fn assigned(bounds: &[usize], number: impl Fn(usize) -> u32) -> Self {
        let count = bounds.last().map_or(0, |&count| count);
        let mut shares = Self { starts: vec![0], places: vec![0; count], ..Self::default() };
        for bound in bounds.windows(2) {
            for number in (bound[0]..bound[1]).map(&number) {
                shares.places[number as usize] = shares.numbers.len() as u32;
                shares.numbers.push(number);
            }
            shares.numbers.resize(shares.numbers.len().next_multiple_of(BLOCK), u32::MAX);
            shares.starts.push(shares.numbers.len() / BLOCK);
            shares.sizes.push(bound[1] - bound[0]);
        }
        shares
    }

    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.starts.last().map_or(0, |&blocks| blocks)
    }

    /// Returns the number of the process at a place.
    #[inline(always)]
    pub fn number(&self, place: u32) -> u32 {
        self.numbers.get(place as usize).copied().unwrap_or(place)
    }

    /// Returns the block of a process.
    #[inline(always)]
    pub fn block_of(&self, number: u32) -> u32 {
        self.place(number) / BLOCK as u32
    }

    /// Returns the place of a process.
    #[inline(always)]
    pub fn place(&self, number: u32) -> u32 {
        self.places.get(number as usize).copied().unwrap_or(number)
    }

    /// Returns the worker that has a block: the last one whose share starts at or before it.
    pub fn owner(&self, block: u32) -> usize {
        self.starts.partition_point(|&start| start <= block as usize) - 1
    }

    /// Returns one of the blocks of a worker.
    pub fn block<M: Wire>(&self, worker: usize, block: usize, lookahead: Time) -> Block<M> {
        let before = (block - self.starts[worker]) * BLOCK;
        let count = (self.sizes[worker] - before).min(BLOCK);
        Block::new((block * BLOCK) as u32, before, count, lookahead)
    }
}

/// Returns the bounds of the shares, from the first one's start to the last one's end, and the
/// whole weight. Each bound is as near as possible to the worker's part of the whole weight, and no
/// share is empty.
fn bounds(
    weights: impl ExactSizeIterator<Item = u32> + Clone,
    workers: usize,
) -> (Vec<usize>, u128) {
    let count = weights.len();
    let sum: u128 = weights.clone().map(u128::from).sum();
    let mut weights = weights.map(u128::from).peekable();
    let (mut bounds, mut bound, mut before) = (vec![0], 0, 0);
    for worker in 1..workers {
        let wanted = sum * worker as u128 / workers as u128;
        let (least, most) = (bounds[worker - 1] + 1, count - (workers - worker));
        let goes_on = |bound, before, weight| bound < least || 2 * before + weight <= 2 * wanted;
        while bound < most
            && let Some(weight) = weights.next_if(|&weight| goes_on(bound, before, weight))
        {
            (bound, before) = (bound + 1, before + weight);
        }
        bounds.push(bound);
    }
    bounds.push(count);
    (bounds, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::{Event, Next, Outbox};

    #[derive(Clone, Copy)]
    struct Nothing;

    impl Wire for Nothing {
        fn encode(&self, _: &mut Vec<u8>) {}

        fn decode(_: &mut &[u8]) -> Option<Self> {
            Some(Self)
        }
    }

    /// The weights of processes.
    struct Weights(Vec<u32>);

    impl Model for Weights {
        type Process = ();
        type Message = Nothing;
        type Worker = ();

        fn process(&self, _: u32) {}

        fn lookahead(&self) -> Time {
            Time::ZERO
        }

        fn weight(&self, id: u32) -> u32 {
            self.0[id as usize]
        }

        fn run(
            &self,
            _: u32,
            (): &mut (),
            _: Time,
            _: &[Event<Nothing>],
            (): &mut (),
            _: &mut Outbox<Nothing>,
        ) -> Next {
            Next::NEVER
        }
    }

    fn shares(weights: Vec<u32>, workers: usize) -> Shares {
        let count = weights.len();
        Shares::of(&Weights(weights), count, workers)
    }

    /// By hand. The bounds of two workers are nearest to half of the weight, 8 of 16 and 5 of 11;
    /// if nearest to nothing or all, no share is empty. Those without weight count for nothing.
    #[test]
    fn shares_of_equal_weight() {
        let bounds = |weights: &[u32], workers| bounds(weights.iter().copied(), workers).0;
        assert_eq!(bounds(&[1; 8], 2), [0, 4, 8]);
        assert_eq!(bounds(&[1, 1, 1, 1, 1, 1, 1, 9], 2), [0, 7, 8]);
        assert_eq!(bounds(&[1, 1, 4, 1, 1, 1, 1, 1], 2), [0, 3, 8]);
        assert_eq!(bounds(&[9, 1, 1, 1, 1, 1, 1, 1], 2), [0, 1, 8]);
        assert_eq!(bounds(&[100, 1, 1, 1], 3), [0, 1, 2, 4]);
        assert_eq!(bounds(&[1, 1, 1, 100], 3), [0, 2, 3, 4]);
        assert_eq!(bounds(&[1; 5], 1), [0, 5]);
        assert_eq!(bounds(&[1, 1, 0, 0, 0], 2), [0, 1, 5]);
    }

    /// No places are assigned where moving bounds to those of blocks moves at most 4 % of a share.
    /// Elsewhere they are, and a worker's blocks are its own.
    #[test]
    fn places() {
        let even = shares(vec![1; 100 * BLOCK + 90], 2);
        assert_eq!(
            (even.starts, even.sizes),
            (vec![0, 50, 101], vec![50 * BLOCK, 50 * BLOCK + 90])
        );
        assert!(even.numbers.is_empty());
        let uneven = shares(vec![1; 3 * BLOCK], 2);
        assert_eq!(
            (&uneven.starts[..], &uneven.sizes[..]),
            (&[0, 2, 4][..], &[BLOCK * 3 / 2; 2][..])
        );
        let last = (BLOCK * 3 / 2 - 1) as u32;
        assert_eq!((uneven.place(last), uneven.place(last + 1)), (last, 2 * BLOCK as u32));
        assert_eq!(uneven.number(2 * BLOCK as u32), last + 1);
        assert_eq!((uneven.owner(1), uneven.owner(2)), (0, 1));
        // Two that have something to do, and many that have not.
        let mut weights = vec![0; BLOCK / 2];
        (weights[0], weights[1]) = (1, 1);
        assert_eq!(shares(weights, 2).sizes, [1, BLOCK / 2 - 1]);
    }
}
