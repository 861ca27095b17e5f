//! Quantiles of lateness, against sorting by hand.

use shaper::Lateness;

#[test]
fn nothing_is_not_late() {
    let late = Lateness::default();
    assert_eq!((late.frames(), late.mean(), late.percentile(50), late.largest()), (0, 0, 0, 0));
}

/// Of 1, 2, … 50 the 25th is the median, the 50th (49.5 rounded up) the 99th percentile.
#[test]
fn small_ones_are_exact() {
    let mut late = Lateness::default();
    (1..=50).rev().for_each(|ns| late.add(ns));
    assert_eq!((late.percentile(50), late.percentile(99), late.largest()), (25, 50, 50));
    assert_eq!((late.frames(), late.mean()), (50, 25));
}

/// Up to 1/32 is added, never taken away; the largest is exact.
#[test]
fn large_ones_are_near() {
    for scale in [1, 70, 999, 1_000_003, 1 << 40] {
        let mut late = Lateness::default();
        (1..=1000).for_each(|ns| late.add(ns * scale));
        for (percent, exact) in [(50, 500 * scale), (99, 990 * scale), (100, 1000 * scale)] {
            let found = late.percentile(percent);
            assert!((exact..=exact + exact / 32).contains(&found), "{found} for {exact}");
        }
        assert_eq!(late.largest(), 1000 * scale);
        assert_eq!(late.percentile(100), 1000 * scale);
    }
    let mut late = Lateness::default();
    late.add(u64::MAX);
    assert_eq!((late.percentile(50), late.largest()), (u64::MAX, u64::MAX));
}
