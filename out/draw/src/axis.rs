//! Axes from zero with round ticks.

/// An axis from zero to a multiple of the distance of its ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    step: f64,
    count: u32,
}

impl Axis {
    /// The axis for values up to `most`: its ticks are 1, 2 or 5 times a power of ten apart, and
    /// four to ten of those distances reach `most`. Without a positive value it ends at 1.
    pub fn up_to(most: f64) -> Self {
        if most <= 0.0 || !most.is_finite() {
            return Self { step: 1.0, count: 1 };
        }
        let power = 10_f64.powf((most / 4.0).log10().floor());
        let mut steps = [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power);
        let step = steps.find(|step| most / step >= 4.0).unwrap_or(power);
        // A multiple of the step may lack the last bits: 11 steps of 0.1 are less than 1.1.
        #[allow(clippy::cast_sign_loss, reason = "most and step are positive")]
        let count = (most / step - 1e-9).ceil() as u32;
        Self { step, count }
    }

    /// The axis for the largest of the finite values.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        Self::up_to(values.filter(|value| value.is_finite()).fold(0.0, f64::max))
    }

    /// The value at which the axis ends.
    pub fn end(&self) -> f64 {
        f64::from(self.count) * self.step
    }

    /// The values of the ticks, both ends included.
    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let step = self.step;
        (0..=self.count).map(move |tick| f64::from(tick) * step)
    }
}

/// A number without noise in its last digits.
pub fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-6 {
        return format!("{value:e}");
    }
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four to ten steps: 9 in steps of 2, 1.2 in steps of 0.2, 40 in steps of 10, 1234 in steps of
    /// 200.
    #[test]
    fn steps_are_round() {
        let axes = [9.0, 1.2, 40.0, 1234.0].map(Axis::up_to);
        assert_eq!(axes.map(|axis| number(axis.step)), ["2", "0.2", "10", "200"]);
        assert_eq!(axes.map(|axis| number(axis.end())), ["10", "1.2", "40", "1400"]);
    }

    #[test]
    fn an_axis_ends_at_the_first_tick_that_is_not_below_its_values() {
        assert_eq!(number(Axis::up_to(1.1).end()), "1.2");
        assert_eq!(number(Axis::up_to(0.9).end()), "1");
        assert_eq!(number(Axis::up_to(0.7).end()), "0.7");
        assert_eq!(Axis::over([].into_iter()).ticks().collect::<Vec<_>>(), [0.0, 1.0]);
        assert_eq!(Axis::over([f64::NAN, f64::INFINITY].into_iter()).end().to_string(), "1");
    }
}
