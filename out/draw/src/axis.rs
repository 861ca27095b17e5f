//! Axes with round ticks that hold zero.

/// An axis between two multiples of the distance of its ticks, of which the lower one is zero where
/// no value is negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    step: f64,
    /// The steps below zero, and those above it.
    below: u32,
    above: u32,
}

impl Axis {
    /// The axis for values from `least`, at most zero, to `most`, at least zero: its ticks are 1, 2
    /// or 5 times a power of ten apart, and four to ten of those distances, and at most one more on
    /// either side, reach from one to the other. Where both are zero it ends at 1.
    fn between(least: f64, most: f64) -> Self {
        // The difference of both may be too large for a number, that of their quarters is not.
        let quarter = most / 4.0 - least / 4.0;
        let power = 10_f64.powf(quarter.log10().floor());
        if !power.is_normal() {
            return Self { step: 1.0, below: 0, above: 1 };
        }
        let mut steps = [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power);
        let step = steps.find(|step| most / step - least / step >= 4.0).unwrap_or(power);
        // A multiple of the step may lack the last bits: 11 steps of 0.1 are less than 1.1.
        #[allow(clippy::cast_sign_loss, reason = "both numbers of steps are positive or zero")]
        let steps = |reach: f64| (reach / step - 1e-9).ceil().max(0.0) as u32;
        Self { step, below: steps(-least), above: steps(most) }
    }

    /// The axis for the finite values, and for zero.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let ends = finite
            .fold((0.0_f64, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        Self::between(ends.0, ends.1)
    }

    /// The value at which the axis begins: zero, or less where there are negative values.
    pub fn start(&self) -> f64 {
        -f64::from(self.below) * self.step
    }

    /// The share of the axis that lies below a value.
    pub fn share(&self, value: f64) -> f64 {
        (value / self.step + f64::from(self.below)) / f64::from(self.below + self.above)
    }

    /// True if zero is not where the axis begins.
    pub fn is_signed(&self) -> bool {
        self.below > 0
    }

    /// The values of the ticks, both ends included.
    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let (step, below) = (self.step, f64::from(self.below));
        (0..=self.below + self.above).map(move |tick| (f64::from(tick) - below) * step)
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

    impl Axis {
        fn end(self) -> f64 {
            self.ticks().last().unwrap_or_default()
        }
    }

    /// Four to ten steps: 9 in steps of 2, 1.2 in steps of 0.2, 40 in steps of 10, 1234 in steps of
    /// 200.
    #[test]
    fn steps_are_round() {
        let axes = [9.0, 1.2, 40.0, 1234.0].map(|most| Axis::between(0.0, most));
        assert_eq!(axes.map(|axis| number(axis.step)), ["2", "0.2", "10", "200"]);
        assert_eq!(axes.map(|axis| number(axis.end())), ["10", "1.2", "40", "1400"]);
    }

    #[test]
    fn an_axis_ends_at_the_first_tick_that_is_not_below_its_values() {
        assert_eq!(number(Axis::between(0.0, 1.1).end()), "1.2");
        assert_eq!(number(Axis::between(0.0, 0.9).end()), "1");
        assert_eq!(number(Axis::between(0.0, 0.7).end()), "0.7");
        assert_eq!(Axis::over([].into_iter()).ticks().collect::<Vec<_>>(), [0.0, 1.0]);
        assert_eq!(Axis::over([f64::NAN, f64::INFINITY].into_iter()).end().to_string(), "1");
        assert_eq!(Axis::over([1e-320].into_iter()).ticks().count(), 2);
    }

    /// -3 to 5 are four steps of 2, which reach from -4 to 6, with 0 after two fifths; values below
    /// zero alone end at zero.
    #[test]
    fn an_axis_goes_below_zero_for_negative_values() {
        let axis = Axis::over([5.0, -3.0, f64::NAN].into_iter());
        assert_eq!(axis.ticks().map(number).collect::<Vec<_>>(), ["-4", "-2", "0", "2", "4", "6"]);
        assert_eq!([axis.start(), axis.end()].map(number), ["-4", "6"]);
        assert_eq!(
            [-4.0, 0.0, 1.0, 6.0].map(|value| number(axis.share(value))),
            ["0", "0.4", "0.5", "1"]
        );
        assert!(axis.is_signed() && !Axis::over([5.0].into_iter()).is_signed());
        let negative = Axis::over([-40.0].into_iter());
        assert_eq!([negative.start(), negative.end()].map(number), ["-40", "0"]);
        let wide = Axis::over([f64::MIN, f64::MAX].into_iter());
        assert!(wide.ticks().count() <= 13, "{}", wide.ticks().count());
    }
}
