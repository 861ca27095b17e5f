//! Blocks of a program that run a few times and from then on take the mean of what they took.

/// The rule that says how often a block runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// It runs at least this often.
    pub times: u32,
    /// Then it runs until the standard error of the mean is at most this part of the mean; 0 asks
    /// for no more runs.
    pub precision: f64,
}

/// Durations of a block, in nanoseconds: their number, mean and squared deviations (B. P. Welford,
/// 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    count: u32,
    mean: f64,
    squares: f64,
}

impl Samples {
    /// Adds a duration.
    pub fn add(&mut self, nanoseconds: u64) {
        self.count = self.count.saturating_add(1);
        let (value, before) = (nanoseconds as f64, self.mean);
        self.mean += (value - before) / f64::from(self.count);
        self.squares += (value - before) * (value - self.mean);
    }

    /// Returns the mean in nanoseconds, if there are enough durations by a rule.
    pub fn enough(&self, rule: Rule) -> Option<u64> {
        if self.count < rule.times.max(1) {
            return None;
        }
        if rule.precision > 0.0 {
            // One duration says nothing about the deviation.
            let others = f64::from(self.count.checked_sub(1).filter(|others| *others > 0)?);
            let error = (self.squares / others / f64::from(self.count)).sqrt();
            if error > rule.precision * self.mean {
                return None;
            }
        }
        // The mean of unsigned numbers is not negative.
        #[expect(clippy::cast_sign_loss, reason = "see above")]
        let mean = self.mean.round() as u64;
        Some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 90, 110, 100: mean 100, deviations 100 + 100 + 0, variance 200 / 2 = 100, standard error
    /// sqrt(100 / 3) = 5.77.
    #[test]
    fn enough_is_when_the_mean_is_known_well() {
        let mut samples = Samples::default();
        let rule = |times, precision| Rule { times, precision };
        assert_eq!(samples.enough(rule(0, 0.0)), None);
        samples.add(90);
        assert_eq!((samples.enough(rule(1, 0.0)), samples.enough(rule(1, 0.5))), (Some(90), None));
        samples.add(110);
        samples.add(100);
        let found = [rule(4, 0.0), rule(3, 0.0), rule(3, 0.057), rule(3, 0.058)];
        assert_eq!(found.map(|rule| samples.enough(rule)), [None, Some(100), None, Some(100)]);
    }
}
