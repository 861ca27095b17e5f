//! Axes with round ticks: even ones, which hold zero, and those of powers of ten.

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences; zero is on the axis.
    #[default]
    Even,
    /// Equal distances are equal factors; only positive values have a place.
    Logarithmic,
}

/// An axis between two of its ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// Between two multiples of the distance of its ticks, of which the lower one is zero where no
    /// value is negative.
    Even {
        /// The distance of its ticks.
        step: f64,
        /// The steps below zero.
        below: u32,
        /// The steps above zero.
        above: u32,
    },
    /// Between two powers of ten, by their exponents.
    Logarithmic {
        /// The exponent of the lower end.
        first: i32,
        /// The exponent of the upper end, which is larger.
        last: i32,
    },
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
            return Self::Even { step: 1.0, below: 0, above: 1 };
        }
        let mut steps = [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power);
        let step = steps.find(|step| most / step - least / step >= 4.0).unwrap_or(power);
        // A multiple of the step may lack the last bits: 11 steps of 0.1 are less than 1.1.
        #[allow(clippy::cast_sign_loss, reason = "both numbers of steps are positive or zero")]
        let steps = |reach: f64| (reach / step - 1e-9).ceil().max(0.0) as u32;
        Self::Even { step, below: steps(-least), above: steps(most) }
    }

    /// The axis of a scale for the finite values: also for zero if it is even, or for the positive
    /// ones.
    pub fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let finite = values.filter(|value| value.is_finite());
        if scale == Scale::Even {
            let ends = finite.fold((0.0_f64, 0.0_f64), |(least, most), value| {
                (least.min(value), most.max(value))
            });
            return Self::between(ends.0, ends.1);
        }
        let exponents = finite.filter(|value| *value > 0.0).map(f64::log10);
        let ends = exponents.fold(None, |ends: Option<(f64, f64)>, exponent| {
            let (least, most) = ends.unwrap_or((exponent, exponent));
            Some((least.min(exponent), most.max(exponent)))
        });
        // A power of ten may miss its exponent by the last bits.
        let (first, last) = ends.map_or((0, 1), |(least, most)| {
            ((least + 1e-9).floor() as i32, (most - 1e-9).ceil() as i32)
        });
        Self::Logarithmic { first, last: last.max(first + 1) }
    }

    /// The value at which the axis begins.
    pub fn start(&self) -> f64 {
        match *self {
            Self::Even { step, below, .. } => -f64::from(below) * step,
            Self::Logarithmic { first, .. } => 10_f64.powi(first),
        }
    }

    /// The share of the axis that lies below a value.
    pub fn share(&self, value: f64) -> f64 {
        match *self {
            Self::Even { step, below, above } => {
                (value / step + f64::from(below)) / f64::from(below + above)
            }
            Self::Logarithmic { first, last } => {
                (value.log10() - f64::from(first)) / f64::from(last - first)
            }
        }
    }

    /// True if zero is on the axis, and not where it begins.
    pub const fn is_signed(&self) -> bool {
        matches!(self, Self::Even { below: 1.., .. })
    }

    /// The values of the ticks, both ends included: of few powers of ten their double and fivefold,
    /// too.
    pub fn ticks(&self) -> Vec<f64> {
        match *self {
            Self::Even { step, below, above } => (0..=below + above)
                .map(|tick| (f64::from(tick) - f64::from(below)) * step)
                .collect(),
            Self::Logarithmic { first, last } => {
                let digits: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let within = (first..last).flat_map(|exponent| {
                    digits.iter().map(move |digit| digit * 10_f64.powi(exponent))
                });
                within.chain([10_f64.powi(last)]).collect()
            }
        }
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

    fn even(values: &[f64]) -> Axis {
        Axis::over(Scale::Even, values.iter().copied())
    }

    fn texts(axis: Axis) -> Vec<String> {
        axis.ticks().into_iter().map(number).collect()
    }

    impl Axis {
        fn end(self) -> f64 {
            self.ticks().last().copied().unwrap_or_default()
        }
    }

    /// Four to ten steps: 9 in steps of 2, 1.2 in steps of 0.2, 40 in steps of 10, 1234 in steps of
    /// 200.
    #[test]
    fn steps_are_round() {
        let axes = [9.0, 1.2, 40.0, 1234.0].map(|most| Axis::between(0.0, most));
        assert_eq!(axes.map(|axis| number(axis.ticks()[1])), ["2", "0.2", "10", "200"]);
        assert_eq!(axes.map(|axis| number(axis.end())), ["10", "1.2", "40", "1400"]);
    }

    #[test]
    fn an_axis_ends_at_the_first_tick_that_is_not_below_its_values() {
        assert_eq!(number(Axis::between(0.0, 1.1).end()), "1.2");
        assert_eq!(number(Axis::between(0.0, 0.9).end()), "1");
        assert_eq!(number(Axis::between(0.0, 0.7).end()), "0.7");
        assert_eq!(even(&[]).ticks(), [0.0, 1.0]);
        assert_eq!(even(&[f64::NAN, f64::INFINITY]).end().to_string(), "1");
        assert_eq!(even(&[1e-320]).ticks().len(), 2);
    }

    /// -3 to 5 are four steps of 2, which reach from -4 to 6, with 0 after two fifths; values below
    /// zero alone end at zero.
    #[test]
    fn an_axis_goes_below_zero_for_negative_values() {
        let axis = even(&[5.0, -3.0, f64::NAN]);
        assert_eq!(texts(axis), ["-4", "-2", "0", "2", "4", "6"]);
        assert_eq!([axis.start(), axis.end()].map(number), ["-4", "6"]);
        assert_eq!(
            [-4.0, 0.0, 1.0, 6.0].map(|value| number(axis.share(value))),
            ["0", "0.4", "0.5", "1"]
        );
        assert!(axis.is_signed() && !even(&[5.0]).is_signed());
        let negative = even(&[-40.0]);
        assert_eq!([negative.start(), negative.end()].map(number), ["-40", "0"]);
        let wide = even(&[f64::MIN, f64::MAX]);
        assert!(wide.ticks().len() <= 13, "{}", wide.ticks().len());
    }

    /// 8 to 65 536 are in five decades, of which 1000 is after three fifths; 2 to 9 in one, with
    /// ticks at 2 and 5.
    #[test]
    fn powers_of_ten() {
        let axis = |values: &[f64]| Axis::over(Scale::Logarithmic, values.iter().copied());
        let wide = axis(&[8.0, 65_536.0, 0.0, -1.0, f64::NAN]);
        assert_eq!(texts(wide), ["1", "10", "100", "1000", "10000", "100000"]);
        assert!((wide.share(1000.0) - 0.6).abs() < 1e-12);
        assert!(!wide.share(0.0).is_finite() && !wide.is_signed());
        assert_eq!(texts(axis(&[2.0, 9.0])), ["1", "2", "5", "10"]);
        assert_eq!(texts(axis(&[0.01, 1000.0])).len(), 6);
        assert_eq!(texts(axis(&[])), ["1", "2", "5", "10"]);
        assert_eq!(texts(axis(&[100.0])), ["100", "200", "500", "1000"]);
    }
}
