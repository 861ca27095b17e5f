//! The distribution of how late frames are delivered.

/// Buckets per doubling of the lateness: quantiles are exact to 1/32.
const PER_OCTAVE: u64 = 32;
const SHIFT: u32 = PER_OCTAVE.ilog2();
const BUCKETS: usize = (64 - SHIFT as usize + 1) * PER_OCTAVE as usize;

/// The distribution of the time from when a frame should have been delivered to when it was, in
/// nanoseconds, in a fixed amount of memory.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    frames: u64,
    total: u64,
    largest: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], frames: 0, total: 0, largest: 0 }
    }
}

impl Lateness {
    /// Adds a frame that was `ns` nanoseconds late.
    pub fn add(&mut self, ns: u64) {
        if let Some(count) = self.counts.get_mut(bucket(ns)) {
            *count += 1;
        }
        self.frames += 1;
        self.total = self.total.saturating_add(ns);
        self.largest = self.largest.max(ns);
    }

    /// Returns the number of frames.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the mean in nanoseconds, or 0 without frames.
    pub fn mean(&self) -> u64 {
        self.total.checked_div(self.frames).unwrap_or(0)
    }

    /// Returns the largest in nanoseconds.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// Returns the least nanoseconds that a share of `percent` of the frames, of all frames rounded
    /// up, does not exceed: exact below 64 ns, else up to 1/32 too large. It is 0 without frames.
    pub fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.frames * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in (0..).zip(&self.counts) {
            seen += count;
            if seen >= rank {
                return last_of(bucket).min(self.largest);
            }
        }
        self.largest
    }
}

/// Returns the bucket of a lateness: up to 2 × [`PER_OCTAVE`] one for each nanosecond, from there
/// on [`PER_OCTAVE`] for each doubling.
fn bucket(ns: u64) -> usize {
    let shift = (ns | PER_OCTAVE).ilog2() - SHIFT;
    (u64::from(shift) * PER_OCTAVE + (ns >> shift)) as usize
}

/// Returns the largest lateness of a bucket.
fn last_of(bucket: u64) -> u64 {
    if bucket < PER_OCTAVE {
        return bucket;
    }
    let shift = bucket / PER_OCTAVE - 1;
    let first = bucket - shift * PER_OCTAVE;
    // The last bucket ends with the largest number.
    (((u128::from(first) + 1) << shift) - 1).try_into().unwrap_or(u64::MAX)
}
