//! The time that the computation of ranks takes.
//!
//! Computation comes in regions: what a rank does between two calls that communicate or look at the
//! clock. Calls that only look for messages (`MPI_Test`, `MPI_Iprobe` and their kin) do not end a
//! region, because how many of them a program makes depends on the network.

use std::sync::{Mutex, PoisonError};

/// The rule for the time of a region of computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Regions {
    /// The time that the rank measured; nothing for ranks that do not measure.
    Measured,
    /// This many picoseconds for each region.
    Constant(u64),
    /// The times that are listed for the rank, in nanoseconds of its processor.
    Listed(Vec<Vec<u64>>),
}

/// The rules for computation.
#[derive(Debug)]
pub struct Computation {
    regions: Regions,
    /// Picoseconds of simulated time for a nanosecond of a rank's processor.
    scale: f64,
    /// The measured times by rank, if they are to be kept.
    kept: Option<Box<[Mutex<Vec<u64>>]>>,
}

impl Computation {
    /// Makes the rules; a second of a rank's processor takes `scale` seconds. Measured times are
    /// kept if `keep`.
    pub fn new(regions: Regions, scale: f64, ranks: u32, keep: bool) -> Self {
        let kept = keep.then(|| (0..ranks).map(|_| Mutex::default()).collect());
        Self { regions, scale: scale * 1000.0, kept }
    }

    /// Returns the times that were kept: nanoseconds of the processor, by rank and region.
    pub fn kept(&self) -> Vec<Vec<u64>> {
        let taken = |list: &Mutex<Vec<u64>>| {
            std::mem::take(&mut *list.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.kept.iter().flatten().map(taken).collect()
    }

    fn scaled(&self, nanoseconds: u64) -> u64 {
        if nanoseconds == 0 {
            return 0;
        }
        // A scale is not negative.
        #[expect(clippy::cast_sign_loss, reason = "see above")]
        let time = (nanoseconds as f64 * self.scale).round() as u64;
        time
    }
}

/// The computation of a rank that has not become an operation yet.
#[derive(Debug, Default)]
pub struct Computed {
    /// Nanoseconds of its processor that were measured.
    measured: u64,
    /// Picoseconds that pass whatever the speed of the processor is.
    fixed: u64,
    /// Nanoseconds of the region that have become operations.
    before: u64,
    /// Regions so far.
    regions: usize,
    /// True if the rank has said that it computes in the present region.
    computes: bool,
    /// True if the time of the present region has been taken.
    begun: bool,
    kept: Vec<u64>,
}

impl Computed {
    /// Adds computation of this many nanoseconds of the rank's processor.
    pub const fn measured(&mut self, nanoseconds: u64) {
        self.computes = true;
        self.measured = self.measured.saturating_add(nanoseconds);
    }

    /// Adds this many picoseconds, which pass whatever the processor's speed is.
    pub const fn fixed(&mut self, picoseconds: u64) {
        self.fixed = self.fixed.saturating_add(picoseconds);
    }

    /// Takes the time that has been added up, in picoseconds; with `ends`, the region ends here.
    /// Fails with a reason if nothing says how long it is.
    pub fn take(&mut self, rules: &Computation, rank: u32, ends: bool) -> Result<u64, String> {
        let measured = std::mem::take(&mut self.measured);
        let time = match &rules.regions {
            Regions::Measured => {
                self.before = self.before.saturating_add(measured);
                rules.scaled(measured)
            }
            Regions::Constant(_) | Regions::Listed(_) if self.begun => 0,
            // A call that the library makes in parts is one call.
            Regions::Constant(_) if !self.computes => 0,
            Regions::Constant(time) => *time,
            Regions::Listed(lists) => {
                let listed = lists.get(rank as usize).and_then(|list| list.get(self.regions));
                rules.scaled(*listed.ok_or_else(|| {
                    format!(
                        "{ANOTHER}: it has more than the {} regions of computation that are listed \
                         for it",
                        self.regions
                    )
                })?)
            }
        };
        let takes = self.computes || !matches!(rules.regions, Regions::Constant(_));
        self.begun = !ends && (self.begun || takes);
        if ends {
            self.computes = false;
            self.regions += 1;
            let before = std::mem::take(&mut self.before);
            if rules.kept.is_some() {
                self.kept.push(before);
            }
        }
        Ok(time.saturating_add(std::mem::take(&mut self.fixed)))
    }

    /// Ends the computation of the rank. Fails if more regions are listed for it than it had.
    pub fn finish(&mut self, rules: &Computation, rank: u32) -> Result<(), String> {
        if let Some(kept) = rules.kept.as_ref().and_then(|kept| kept.get(rank as usize)) {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.kept);
        }
        let Regions::Listed(lists) = &rules.regions else { return Ok(()) };
        match lists.get(rank as usize).map_or(0, Vec::len) {
            listed if listed == self.regions => Ok(()),
            listed => Err(format!(
                "{ANOTHER}: it has {} regions of computation where {listed} are listed for it",
                self.regions
            )),
        }
    }
}

const ANOTHER: &str = "it takes another path than the run whose computation is replayed";

#[cfg(test)]
mod tests {
    use super::*;

    /// Two regions of 3 and 5 ns, the first in two parts around a look for messages; and a sleep of
    /// 7 ps.
    fn ran(rules: &Computation) -> Result<Vec<u64>, String> {
        let mut computed = Computed::default();
        let mut times = Vec::new();
        computed.measured(1);
        times.push(computed.take(rules, 0, false)?);
        computed.measured(2);
        times.push(computed.take(rules, 0, true)?);
        computed.measured(5);
        computed.fixed(7);
        times.push(computed.take(rules, 0, true)?);
        computed.finish(rules, 0)?;
        Ok(times)
    }

    #[test]
    fn measured_time_is_kept_by_region() {
        // Twice as slow: 2000 ps for a nanosecond.
        let rules = Computation::new(Regions::Measured, 2.0, 1, true);
        assert_eq!(ran(&rules), Ok(vec![2000, 4000, 10_007]));
        assert_eq!(rules.kept(), [vec![3, 5]]);
    }

    #[test]
    fn what_is_listed_takes_its_time_at_the_beginning_of_the_region() {
        let listed = |list: &[u64]| {
            ran(&Computation::new(Regions::Listed(vec![list.to_vec()]), 1.0, 1, false))
        };
        assert_eq!(listed(&[3, 5]), Ok(vec![3000, 0, 5007]));
        for other in [&[3][..], &[3, 5, 1]] {
            assert!(listed(other).is_err_and(|why| why.contains("another path")), "{other:?}");
        }
        let constant = Computation::new(Regions::Constant(40), 9.0, 1, false);
        assert_eq!(ran(&constant), Ok(vec![40, 0, 47]));
        // A call in several parts computes once before the first.
        let mut computed = Computed::default();
        let mut take = |ends, computes| {
            if computes {
                computed.measured(0);
            }
            computed.take(&constant, 0, ends)
        };
        let parts = [(true, true), (false, false), (true, false), (false, true), (true, true)];
        let took = parts.map(|(ends, computes)| take(ends, computes));
        assert_eq!(took, [40, 0, 0, 40, 0].map(Ok));
    }
}
