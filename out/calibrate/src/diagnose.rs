//! Properties of samples that make parameters doubtful: modes, drift, contention, coarse clocks,
//! directions that differ.

use std::collections::BTreeMap;

use crate::{
    cells::{Cell, cells, resolution},
    samples::Sample,
    statistics::{deviation, mean, median, quantile, scale, student_one_percent},
};

/// A diagnosis: its name in files, and its description for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub text: String,
}

/// A mode has at least this share of the samples.
const SHARE: f64 = 0.1;
/// Two modes are apart by this many times the sum of their widths.
const APART: f64 = 2.2;
/// A cell with fewer samples shows no modes.
const ENOUGH: usize = 12;

/// A split of a cell into two modes.
struct Split {
    /// The number of samples in the lower mode.
    lower: usize,
    /// The medians of both.
    medians: [f64; 2],
}

/// Returns the samples of the lower mode of each cell, if there are two, and describes both.
pub fn lower_modes(samples: &[Sample]) -> (Vec<Sample>, Option<Diagnosis>) {
    let all = cells(samples);
    let mut large: Vec<&Cell> = all.iter().filter(|cell| cell.times.len() >= ENOUGH).collect();
    large.sort_by(|a, b| a.median().total_cmp(&b.median()));
    let found: Vec<Option<Split>> = large.iter().map(|cell| split(&cell.values())).collect();
    // A mode that is later by a constant time shows in the shortest times only.
    let shortest = &found[..found.len() / 3];
    if !(in_half(&found) || shortest.len() >= 4 && in_half(shortest)) {
        return (samples.to_vec(), None);
    }
    let splits: Vec<(&Cell, Split)> =
        large.iter().zip(found).filter_map(|(cell, split)| Some((*cell, split?))).collect();
    let mut keeps = vec![true; samples.len()];
    for (cell, split) in &splits {
        cell.times[split.lower..].iter().for_each(|&(_, place)| keeps[place] = false);
    }
    let part = |(cell, split): &(&Cell, Split)| split.lower as f64 / cell.times.len() as f64;
    let share = 100.0 * median(&splits.iter().map(part).collect::<Vec<_>>());
    let ratio = |(_, split): &(&Cell, Split)| split.medians[1] / split.medians[0];
    let ratio = median(&splits.iter().map(ratio).collect::<Vec<_>>());
    let text = format!(
        "two modes in {} of {} cells: {share:.0} % of the samples in the lower one, the others \
         take {ratio:.2} times as long; parameters are of the lower mode",
        splits.len(),
        large.len()
    );
    let kept = samples.iter().zip(keeps).filter(|(_, keep)| *keep).map(|(sample, _)| sample);
    (kept.cloned().collect(), Some(Diagnosis { name: "bimodal", text }))
}

/// Returns whether at least half of some cells, and one, have two modes.
fn in_half(splits: &[Option<Split>]) -> bool {
    let two = splits.iter().flatten().count();
    two > 0 && two * 2 >= splits.len()
}

/// Splits ascending times at their widest gap, if both sides are modes.
fn split(times: &[f64]) -> Option<Split> {
    #[allow(clippy::cast_sign_loss, reason = "shares are positive")]
    let least = ((times.len() as f64 * SHARE).ceil() as usize).max(3);
    let gap = |place: &usize| times[*place] - times[*place - 1];
    let lower = (least..=times.len() - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (below, above) = times.split_at(lower);
    let medians = [quantile(below, 0.5), quantile(above, 0.5)];
    let widths = scale(below) + scale(above);
    let apart = medians[1] - medians[0];
    (apart > APART * widths && apart > 0.01 * medians[0]).then_some(Split { lower, medians })
}

/// Returns what else samples show, from the residuals of [`crate::resample::residuals`].
pub fn others(samples: &[Sample], residuals: &[f64]) -> Vec<Diagnosis> {
    let runs = in_order(samples, residuals);
    [drift(&runs), contention(&runs), clock(samples)].into_iter().flatten().collect()
}

/// The residuals of each run, in the order in which they were measured.
fn in_order(samples: &[Sample], residuals: &[f64]) -> Vec<Vec<f64>> {
    let mut runs: BTreeMap<u32, Vec<(f64, u32, f64)>> = BTreeMap::new();
    for (sample, residual) in samples.iter().zip(residuals) {
        let key = (sample.at.unwrap_or(0.0), sample.repetition, *residual);
        runs.entry(sample.run).or_default().push(key);
    }
    for run in runs.values_mut() {
        run.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    runs.into_values().map(|run| run.into_iter().map(|(.., residual)| residual).collect()).collect()
}

/// A trend within the runs, or from run to run.
fn drift(runs: &[Vec<f64>]) -> Option<Diagnosis> {
    let slopes: Vec<f64> = runs.iter().filter(|run| run.len() > 2).map(|run| slope(run)).collect();
    let means: Vec<f64> = runs.iter().map(|run| mean(run)).collect();
    let text = if differs(&slopes) {
        let rise = mean(&slopes);
        let what = if rise > 0.0 { "rise" } else { "fall" };
        format!("times {what} within a run, by {:.1} deviations of the noise", rise.abs())
    } else if trend(&means) {
        format!(
            "times change from run to run, by {:.1} deviations of the noise in all",
            (means[means.len() - 1] - means[0]).abs()
        )
    } else {
        return None;
    };
    Some(Diagnosis { name: "drift", text })
}

/// The rise of a line through values, from the first to the last.
fn slope(values: &[f64]) -> f64 {
    let (last, middle) = ((values.len() - 1) as f64, mean(values));
    let place = |index: usize| index as f64 / last - 0.5;
    let along: f64 = values.iter().enumerate().map(|(i, v)| place(i) * (v - middle)).sum();
    along / (0..values.len()).map(|index| place(index).powi(2)).sum::<f64>()
}

/// Returns whether the mean of values of different runs differs from 0, at 1 %.
fn differs(values: &[f64]) -> bool {
    let error = deviation(values) / (values.len() as f64).sqrt();
    values.len() > 3 && mean(values).abs() > student_one_percent(values.len() - 1) * error + 1e-9
}

/// Returns whether values rise or fall with their number, at 1 %.
fn trend(values: &[f64]) -> bool {
    if values.len() < 5 {
        return false;
    }
    let (rise, last, middle) = (slope(values), (values.len() - 1) as f64, mean(values));
    let place = |index: usize| index as f64 / last - 0.5;
    let rest = |(i, v): (usize, &f64)| (v - middle - rise * place(i)).powi(2);
    let squares: f64 = values.iter().enumerate().map(rest).sum();
    let spread: f64 = (0..values.len()).map(|index| place(index).powi(2)).sum();
    let degrees = values.len() - 2;
    let error = (squares / degrees as f64 / spread).sqrt();
    rise.abs() > student_one_percent(degrees) * error + 1e-9
}

/// Late samples that come in bursts.
fn contention(runs: &[Vec<f64>]) -> Option<Diagnosis> {
    let is_late = |residual: &f64| *residual >= 3.0;
    let total: usize = runs.iter().map(Vec::len).sum();
    let late = runs.iter().flatten().filter(|residual| is_late(residual)).count();
    let pairs = runs.iter().flat_map(|run| run.windows(2));
    let both = pairs.filter(|pair| is_late(&pair[0]) && is_late(&pair[1])).count();
    let share = late as f64 / total.max(1) as f64;
    let expected = share * share * total as f64;
    (share > 0.03 && both >= 8 && both as f64 > 3.0 * expected).then(|| {
        let share = share * 100.0;
        let text = format!(
            "{share:.0} % of the samples are late, and they come in bursts: others used the \
             network or the hosts"
        );
        Diagnosis { name: "contention", text }
    })
}

/// A clock whose steps are coarse for what was measured.
fn clock(samples: &[Sample]) -> Option<Diagnosis> {
    let (step, shortest) = (resolution(samples), samples.iter().map(|sample| sample.time));
    let shortest = shortest.fold(f64::INFINITY, f64::min);
    (step > 0.01 * shortest).then(|| {
        let text = format!("the clock's step, {step} ns, is coarse for times of {shortest} ns");
        Diagnosis { name: "clock-resolution", text }
    })
}

/// Compares the directions between two hosts. It needs the samples of all modes, since a slower
/// direction looks like one.
pub fn asymmetry(samples: &[Sample]) -> Option<Diagnosis> {
    let ratios: Vec<f64> = cells(samples).iter().filter_map(|cell| ratio(samples, cell)).collect();
    let away = median(&ratios);
    let same = ratios.iter().filter(|ratio| (**ratio > 0.0) == (away > 0.0)).count();
    (ratios.len() > 3 && away.abs() > 0.03 && same * 10 >= ratios.len() * 8).then(|| {
        let share = (away.abs().exp() - 1.0) * 100.0;
        let text = format!("one direction takes {share:.0} % longer than the other");
        Diagnosis { name: "asymmetric", text }
    })
}

/// The logarithm of the ratio of both directions' times in a cell.
fn ratio(samples: &[Sample], cell: &Cell) -> Option<f64> {
    let (mut ascending, mut descending) = (Vec::new(), Vec::new());
    for &(time, place) in &cell.times {
        let (source, destination) = samples[place].pair.as_ref()?;
        if source < destination { ascending.push(time) } else { descending.push(time) }
    }
    (ascending.len() > 2 && descending.len() > 2)
        .then(|| (median(&ascending) / median(&descending)).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{resample::residuals, samples::Operation};
    use kernel::Random;

    /// Sixteen cells with eight runs of ten samples; `time` gets cell, run, repetition and a number
    /// between -0.5 and 0.5.
    fn samples(time: impl Fn(u32, u32, u32, f64) -> f64) -> Vec<Sample> {
        let all = (0..16 * 80).map(|i| (i / 80, i % 80 / 10, i % 10));
        all.map(|(cell, run, repetition)| {
            let noise = Random::new(3, 3).unit(cell, u64::from(run * 10 + repetition)) - 0.5;
            let time = time(cell, run, repetition, noise);
            let simple = Sample::simple(Operation::Send, u64::from(cell), repetition, time);
            Sample { run, ..simple }
        })
        .collect()
    }

    fn named(samples: &[Sample]) -> Vec<&'static str> {
        let (kept, modes) = lower_modes(samples);
        let cells = cells(&kept);
        let rest = others(&kept, &residuals(&cells, kept.len()));
        modes
            .into_iter()
            .chain(rest)
            .chain(asymmetry(samples))
            .map(|diagnosis| diagnosis.name)
            .collect()
    }

    #[test]
    fn quiet_samples_have_no_diagnosis() {
        assert!(named(&samples(|cell, _, _, noise| 1000.0 + f64::from(cell) + noise)).is_empty());
    }

    /// Every third repetition takes 1200 ns instead of 1000; the noise is at most 20 ns.
    #[test]
    fn two_modes_are_told_apart() {
        let samples = samples(
            |_, _, repetition, noise| {
                if repetition % 3 == 0 { 1200.0 } else { 1000.0 + 40.0 * noise }
            },
        );
        assert_eq!(named(&samples), ["bimodal"]);
        let (kept, diagnosis) = lower_modes(&samples);
        assert_eq!(kept.len(), 16 * 8 * 6);
        let text = diagnosis.expect("a diagnosis").text;
        assert!(text.contains("60 %") && text.contains("1.20 times"), "{text}");
    }

    /// A third of the samples is late by 250 ns, which the noise of 1 % hides beyond 7 us.
    #[test]
    fn modes_of_short_times_are_enough() {
        let samples = samples(|cell, _, repetition, noise| {
            let time = 1000.0 * f64::from(1 + cell);
            time * (1.0 + 0.02 * noise) + if repetition % 3 == 0 { 250.0 } else { 0.0 }
        });
        assert!(named(&samples).contains(&"bimodal"));
    }

    #[test]
    fn trends_are_drift() {
        let within = samples(|_, _, repetition, noise| 1000.0 + f64::from(repetition) + noise);
        assert_eq!(named(&within), ["drift"]);
        let across = samples(|_, run, _, noise| 1000.0 + f64::from(run) * 0.3 + noise);
        assert_eq!(named(&across), ["drift"]);
    }

    /// In two repetitions of ten of half the runs, which are neighbours, everything is late.
    #[test]
    fn bursts_are_contention() {
        let samples = samples(|_, run, repetition, noise| {
            let late = run % 2 == 0 && (4..6).contains(&repetition);
            1000.0 + noise + if late { 500.0 * (1.0 + 1.8 * noise) } else { 0.0 }
        });
        assert!(named(&samples).contains(&"contention"));
    }

    #[test]
    fn coarse_clocks_and_directions() {
        let coarse = samples(|_, _, _, noise| 1000.0 + 100.0 * (5.0 * noise).round());
        assert!(named(&coarse).contains(&"clock-resolution"));
        let mut directed = samples(|_, run, _, noise| 1000.0 + noise + f64::from(run % 2) * 100.0);
        for sample in &mut directed {
            let (a, b) = ("a".to_owned(), "b".to_owned());
            sample.pair = Some(if sample.run % 2 == 0 { (a, b) } else { (b, a) });
        }
        assert!(named(&directed).contains(&"asymmetric"));
    }
}
