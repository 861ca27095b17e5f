//! Finds classes of pairs that are equal.
//!
//! Pairs in the order of a parameter belong to different classes where a gap between neighbours is
//! more than 5 % of the value and more than three deviations of both together. First L separates
//! pairs, then G within what L left together, and so on until nothing changes. Pairs that are known
//! much less well than the others separate nothing: a wide interval would bridge a gap. They join
//! the nearest class.

use crate::{estimate::Estimate, statistics::median};

/// Classes are apart by this share of a value at least.
const SHARE: f64 = 0.05;
/// Classes are apart by so many deviations of neighbours.
const DEVIATIONS: f64 = 3.0;
/// A pair is known less well than others if an interval is so many times as wide as the median one.
const WIDE: f64 = 4.0;

/// The number of parameters.
const COUNT: usize = 2;

/// Returns the pairs of each class, ascending, the classes in the order of the first parameter.
/// Pairs without values are in none.
pub fn find(values: &[Option<[Estimate; COUNT]>]) -> Vec<Vec<usize>> {
    let known: Vec<(usize, [Estimate; COUNT])> =
        values.iter().enumerate().filter_map(|(pair, value)| Some((pair, (*value)?))).collect();
    let usual: [f64; COUNT] = std::array::from_fn(|parameter| {
        let widths: Vec<f64> = known.iter().map(|(_, of)| deviation(&of[parameter])).collect();
        if widths.is_empty() { 0.0 } else { median(&widths) }
    });
    let is_wide = |of: &[Estimate; COUNT]| {
        (0..COUNT).any(|parameter| {
            let own = deviation(&of[parameter]);
            own > WIDE * usual[parameter] && own > SHARE * of[parameter].value
        })
    };
    let (wide, sure): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, of)| is_wide(of));
    let mut classes = if sure.is_empty() { Vec::new() } else { vec![sure] };
    while let Some(split) = classes.iter().position(|class| parts(class).is_some()) {
        let class = classes.swap_remove(split);
        classes.extend(parts(&class).unwrap_or_else(|| vec![class]));
    }
    let middle = |class: &[Known], parameter: usize| {
        median(&class.iter().map(|(_, of)| of[parameter].value).collect::<Vec<_>>())
    };
    classes.sort_by(|one, other| {
        let compared = |parameter| middle(one, parameter).total_cmp(&middle(other, parameter));
        compared(0).then(compared(1))
    });
    let middles: Vec<[f64; COUNT]> = classes
        .iter()
        .map(|class| std::array::from_fn(|parameter| middle(class, parameter)))
        .collect();
    let mut found: Vec<Vec<usize>> =
        classes.iter().map(|class| class.iter().map(|(pair, _)| *pair).collect()).collect();
    for (pair, of) in wide {
        let away = |class: &[f64; COUNT]| -> f64 {
            let each = |parameter: usize| {
                (of[parameter].value - class[parameter]).abs() / deviation(&of[parameter])
            };
            (0..COUNT).map(each).sum()
        };
        let nearest = (0..middles.len())
            .min_by(|one, other| away(&middles[*one]).total_cmp(&away(&middles[*other])));
        match nearest {
            Some(class) => found[class].push(pair),
            None => found.push(vec![pair]),
        }
    }
    for class in &mut found {
        class.sort_unstable();
    }
    found
}

/// A pair, by its number, and the estimates of its parameters.
type Known = (usize, [Estimate; COUNT]);

/// Returns the deviation of an estimate: its interval is of 95 %.
fn deviation(estimate: &Estimate) -> f64 {
    ((estimate.high - estimate.low) / (2.0 * 1.96)).max(1e-9)
}

/// Returns the parts into which gaps of a parameter separate pairs; none if there are no gaps.
fn parts(class: &[Known]) -> Option<Vec<Vec<Known>>> {
    (0..COUNT).find_map(|parameter| {
        let mut sorted = class.to_vec();
        sorted.sort_by(|(_, one), (_, other)| {
            one[parameter].value.total_cmp(&other[parameter].value)
        });
        let is_one = |one: &Known, other: &Known| {
            let (one, other) = (&one.1[parameter], &other.1[parameter]);
            let gap = other.value - one.value;
            let doubt = deviation(one).hypot(deviation(other));
            gap <= SHARE * one.value || gap <= DEVIATIONS * doubt
        };
        let parts: Vec<Vec<_>> = sorted.chunk_by(is_one).map(<[_]>::to_vec).collect();
        (parts.len() > 1).then_some(parts)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Random;

    /// A value that is known to a share of itself.
    fn known(value: f64, share: f64) -> Estimate {
        Estimate { value, low: value * (1.0 - 1.96 * share), high: value * (1.0 + 1.96 * share) }
    }

    fn of(latency: f64, per_byte: f64) -> [Estimate; 2] {
        [known(latency, 0.005), known(per_byte, 0.005)]
    }

    /// 10 and 12 us are two classes, and so are 1 and 2 ns/B at 12 us; 10 and 10.4 us are one.
    /// Pairs that are not known are in none.
    #[test]
    fn gaps_separate_classes() {
        let values = [
            Some(of(12_000.0, 1.0)),
            Some(of(10_000.0, 1.0)),
            None,
            Some(of(10_400.0, 1.0)),
            Some(of(12_000.0, 2.0)),
            Some(of(12_100.0, 2.01)),
        ];
        assert_eq!(find(&values), [vec![1, 3], vec![0], vec![4, 5]]);
        assert_eq!(find(&[None, None]), Vec::<Vec<usize>>::new());
        assert_eq!(find(&[Some(of(10.0, 1.0))]), [vec![0]]);
    }

    /// A pair that is known to 20 % between two classes does not join them, and belongs to the
    /// nearer one.
    #[test]
    fn a_doubtful_pair_bridges_nothing() {
        let doubtful = Some([known(11_200.0, 0.2), known(1.0, 0.2)]);
        let (near, far) = (Some(of(10_000.0, 1.0)), Some(of(12_000.0, 1.0)));
        assert_eq!(find(&[near, doubtful, far, near, far]), [vec![0, 3], vec![1, 2, 4]]);
    }

    /// Of 200 sets of 20 pairs of one class, at most 2 are taken for several; of two classes that
    /// are 15 % apart, all are found as they are.
    #[test]
    fn noise_makes_no_classes() {
        let mut wrong = [0; 2];
        for set in 0..200 {
            let random = Random::new(set, 3);
            // The sum of twelve uniform numbers is nearly normal with a deviation of 1.
            let normal = |pair: u32| (0..12).map(|part| random.unit(pair, part)).sum::<f64>() - 6.0;
            for (apart, wrong) in [0.0, 0.15].into_iter().zip(&mut wrong) {
                let value = |pair: u32| {
                    let middle = if pair < 10 { 10_000.0 } else { 10_000.0 * (1.0 + apart) };
                    let noisy = middle * (1.0 + 0.01 * normal(pair));
                    Some([known(noisy, 0.01), known(1.0 + 0.01 * normal(pair + 100), 0.01)])
                };
                let values: Vec<_> = (0..20).map(value).collect();
                let expected: Vec<Vec<usize>> = if apart > 0.0 {
                    vec![(0..10).collect(), (10..20).collect()]
                } else {
                    vec![(0..20).collect()]
                };
                *wrong += u32::from(find(&values) != expected);
            }
        }
        assert!(wrong[0] <= 2 && wrong[1] <= 4, "{wrong:?}");
    }
}
