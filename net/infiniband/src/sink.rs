//! What takes flits out of a host's input buffer: the bus to memory, which now and then pauses.
//!
//! The bus takes one flit per pace. During a pause (the "PCI Express hiccup" of the seed's section
//! 3.2.6) it takes none: a flit that is due in a pause goes when the pause has ended, and the next one
//! a pace after it.

use kernel::Random;

use crate::train::Shape;

/// How the lengths of pauses vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All alike.
    Fixed,
    /// Uniform between zero and twice the mean.
    Uniform,
    /// Exponential, cut just below the period.
    Exponential,
}

/// Pauses of a bus: number k begins at `phase + k * period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hiccups {
    /// Picoseconds from the start of a pause to that of the next; 0 for none.
    pub period: u64,
    /// Mean length in picoseconds.
    pub pause: u64,
    /// Start of the first pause, in picoseconds.
    pub phase: u64,
    /// How the lengths vary.
    pub spread: Spread,
}

impl Hiccups {
    /// No pauses.
    pub const NONE: Self = Self { period: 0, pause: 0, phase: 0, spread: Spread::Fixed };

    /// Length of pause `k` at `host`.
    fn length(&self, random: Random, host: u32, k: u64) -> u64 {
        let mean = self.pause as f64;
        #[allow(clippy::cast_sign_loss, reason = "no factor is negative")]
        let length = match self.spread {
            Spread::Fixed => self.pause,
            Spread::Uniform => (mean * 2.0 * random.unit(host, k)) as u64,
            Spread::Exponential => (-mean * random.unit(host, k).ln()) as u64,
        };
        length.min(self.period.saturating_sub(1))
    }
}

/// A piece of a train of consumed flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub start: u64,
    pub shape: Shape,
    pub flits: u8,
}

/// The bus of one port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sink {
    /// Picoseconds per flit.
    pub pace: u32,
    pub hiccups: Hiccups,
    pub random: Random,
    pub host: u32,
    /// When the last flit that has arrived so far is gone.
    free: u64,
}

impl Sink {
    pub fn new(pace: u32, hiccups: Hiccups, random: Random, host: u32) -> Self {
        Self { pace, hiccups, random, host, free: 0 }
    }

    /// Takes a packet whose flits arrive from `at` on as `shape` says. `single` is what the flit of
    /// a packet of one takes: less than a pace if it is short. Tells `gone` when flits are gone, in pieces, and answers
    /// when the last one is.
    pub fn take(
        &mut self,
        at: u64,
        shape: Shape,
        flits: u8,
        single: u32,
        mut gone: impl FnMut(Piece),
    ) -> u64 {
        let mut done: u32 = 0;
        while done < flits.into() {
            let left = u32::from(flits) - done;
            let arrival = at + shape.offset(done);
            let service = if flits == 1 { single } else { self.pace };
            let start = self.free.max(arrival) + u64::from(service);
            // What is left of the arrivals, as seen one pace later.
            let rest = if done == 0 { shape } else { tail(shape, done, left) };
            let wait = start - arrival - u64::from(service);
            let mut piece = Piece { start, shape: rest.behind(left, self.pace, wait), flits: 0 };
            let (count, after) = self.unbroken(&piece, left);
            piece.flits = count as u8;
            match after {
                // The first flit is due in a pause: it goes alone, when that ends.
                Some(end) if count == 0 => {
                    gone(Piece { start: end, shape: Shape::even(self.pace), flits: 1 });
                    done += 1;
                    self.free = end;
                }
                _ => {
                    gone(piece);
                    done += count;
                    self.free = start + piece.shape.offset(count.saturating_sub(1));
                }
            }
        }
        self.free
    }

    /// How many flits of a piece of up to `left` go before one is due in a pause, and if that is the
    /// first one, when the pause ends.
    fn unbroken(&self, piece: &Piece, left: u32) -> (u32, Option<u64>) {
        let Hiccups { period, phase, .. } = self.hiccups;
        let last = piece.start + piece.shape.offset(left - 1);
        if period == 0 || last < phase {
            return (left, None);
        }
        let mut k = piece.start.saturating_sub(phase) / period;
        loop {
            let begin = phase + k * period;
            if begin > last {
                return (left, None);
            }
            let end = begin + self.hiccups.length(self.random, self.host, k);
            if piece.start >= begin && piece.start < end {
                return (0, Some(end));
            }
            if begin > piece.start {
                // Flits due before the pause, and whether the next is due inside it.
                let before = piece.shape.passed(left, begin - 1 - piece.start);
                if before < left && piece.start + piece.shape.offset(before) < end {
                    return (before, None);
                }
            }
            k += 1;
        }
    }
}

/// The arrivals of flits `done..` of a train, relative to the first of them.
fn tail(shape: Shape, done: u32, left: u32) -> Shape {
    let begin = shape.offset(done);
    let line = u64::from(done) * u64::from(shape.slow);
    if begin + u64::from(shape.lead) == line {
        return Shape::even(shape.slow);
    }
    let lead = (begin + u64::from(shape.lead)).saturating_sub(line);
    if u64::from(left) * u64::from(shape.slow - shape.gap) <= lead {
        return Shape::even(shape.gap);
    }
    Shape { lead: lead as u32, ..shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by one flit at a time, with the pauses walked through one by one.
    fn one_by_one(
        sink: &Sink,
        mut free: u64,
        at: u64,
        shape: Shape,
        flits: u8,
        single: u32,
    ) -> Vec<u64> {
        let mut gone = Vec::new();
        for i in 0..flits.into() {
            let service = if flits == 1 { single } else { sink.pace };
            let mut due = free.max(at + shape.offset(i)) + u64::from(service);
            for k in 0..1000 {
                let begin = sink.hiccups.phase + k * sink.hiccups.period;
                let end = begin + sink.hiccups.length(sink.random, 0, k);
                if due >= begin && due < end {
                    due = end;
                }
            }
            free = due;
            gone.push(due);
        }
        gone
    }

    #[test]
    fn pieces_are_flits() {
        let random = Random::new(1, 2);
        for spread in [Spread::Fixed, Spread::Uniform, Spread::Exponential] {
            for (period, pause) in [(1000, 68), (300, 20), (250, 100), (40, 39)] {
                let hiccups = Hiccups { period, pause, phase: 1, spread };
                let mut sink = Sink::new(33, hiccups, random, 0);
                let mut at = 0;
                let mut free = 0;
                let shapes = [
                    (32, 32, 0),
                    (1, 1, 0),
                    (32, 64, 300),
                    (40, 40, 0),
                    (40, 40, 0),
                    (1, 1, 0),
                    (10, 90, 95),
                ];
                for (i, (gap, slow, lead)) in shapes.into_iter().enumerate() {
                    let shape = Shape { gap, slow, lead };
                    let flits = [20, 1][i % 2];
                    let expected = one_by_one(&sink, free, at, shape, flits, 13);
                    let mut found = Vec::new();
                    let end = sink.take(at, shape, flits, 13, |piece| {
                        let times = 0..u32::from(piece.flits);
                        found.extend(times.map(|i| piece.start + piece.shape.offset(i)));
                    });
                    assert_eq!(found, expected, "{spread:?} {period} {i}");
                    free = expected[usize::from(flits) - 1];
                    assert_eq!(end, free);
                    at += shape.offset(19) + 200;
                }
            }
        }
    }
}
