//! LogGP parameters of a recorded ping-pong.
//!
//! Half a round trip of s bytes takes 2 o + L + (s - 1) G in the model, if nothing is computed in
//! between. o is the median time in `MPI_Send` of the smallest size. The line through the median
//! half round trip of each size is Theil's: its slope, G, is the median of the slopes between any
//! two sizes, and its intercept the median of what they leave (H. Theil, "A rank-invariant method
//! of linear and polynomial regression analysis", 1950); a few disturbed rounds do not bend it.

use std::collections::BTreeMap;
use std::fmt;

/// A call of the ping-pong: when it began and ended, in nanoseconds of one clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub enter: f64,
    pub leave: f64,
}

/// A round: the send and the receive of rank 0, the receive and the send of rank 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    pub bytes: u64,
    pub send: Span,
    pub receive: Span,
    /// The computation of rank 1 between receiving and sending, in nanoseconds.
    pub pause: f64,
}

/// Larger messages have a line of their own: MPI libraries copy them in another way.
pub const SMALL: u64 = 4096;

/// Parameters in nanoseconds, and nanoseconds per byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    pub overhead: f64,
    /// L and G of messages up to [`SMALL`] bytes.
    pub small: (f64, f64),
    /// L and G of larger ones.
    pub large: (f64, f64),
}

/// Writes the parameters as settings of an experiment. There is no gap besides o.
impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "--set loggops.S={SMALL}B --set loggops.g=0ps")?;
        write!(f, " --set loggops.o={:.0}ps", self.overhead * 1e3)?;
        for (table, (latency, per_byte)) in [("", self.small), ("large.", self.large)] {
            let [latency, per_byte] = [latency, per_byte].map(|time| time * 1e3);
            write!(
                f,
                " --set loggops.{table}L={latency:.0}ps --set loggops.{table}G={per_byte:.0}ps/B"
            )?;
        }
        Ok(())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

/// Intercept and slope.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let from = |(index, a): (usize, &(f64, f64))| {
        let a = *a;
        points[index + 1..].iter().map(move |b| (b.1 - a.1) / (b.0 - a.0))
    };
    let slope = median(points.iter().enumerate().flat_map(from).collect()).max(0.0);
    (median(points.iter().map(|(bytes, time)| time - bytes * slope).collect()), slope)
}

/// Fits the parameters to rounds of at least two sizes of either kind.
pub fn fit(rounds: &[Round]) -> Fitted {
    let mut sizes: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for round in rounds {
        let there_and_back = round.receive.leave - round.send.enter - round.pause;
        sizes.entry(round.bytes).or_default().push(there_and_back / 2.0);
    }
    let of = |range: &mut dyn Iterator<Item = (&u64, &Vec<f64>)>| {
        let points = range.map(|(bytes, halves)| (*bytes as f64 - 1.0, median(halves.clone())));
        line(&points.collect::<Vec<_>>())
    };
    let (small, large) = (of(&mut sizes.range(..=SMALL)), of(&mut sizes.range(SMALL + 1..)));
    let smallest = rounds.iter().map(|round| round.bytes).min();
    let first = rounds.iter().filter(|round| Some(round.bytes) == smallest);
    let sending = median(first.map(|round| round.send.leave - round.send.enter).collect());
    let overhead = sending.min(small.0 / 2.0);
    let rest = |(intercept, slope): (f64, f64)| ((intercept - 2.0 * overhead).max(0.0), slope);
    Fitted { overhead, small: rest(small), large: rest(large) }
}
