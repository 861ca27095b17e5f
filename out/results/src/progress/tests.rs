use super::*;

use std::sync::Mutex;

/// A writer that can be read from elsewhere.
#[derive(Default)]
struct Shared(Mutex<Vec<u8>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for &Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const fn snapshot(share: Option<f64>) -> Snapshot {
    Snapshot {
        elapsed: Duration::from_secs(4),
        done: 3_000_000,
        simulated_ps: 1_234_567_000,
        share,
    }
}

/// 3 million in 4 s are 750 k/s; a quarter of the work in 4 s leaves 12 s.
#[test]
fn the_line_with_a_total() {
    assert_eq!(
        snapshot(Some(0.25)).to_string(),
        "25.0 %, 1.234567 ms simulated, 750 k events/s, 12.00 s left"
    );
}

#[test]
fn the_line_without_a_total() {
    assert_eq!(snapshot(None).to_string(), "1.234567 ms simulated, 750 k events/s");
}

#[test]
fn nothing_is_divided_by_zero() {
    let nothing = Snapshot { elapsed: Duration::ZERO, done: 0, simulated_ps: 0, share: Some(0.0) };
    assert_eq!(nothing.to_string(), "0.0 %, 0 ps simulated, 0 events/s");
    assert!(Work { operations: 0, signals: 0 }.share(0, 0) <= 0.0);
}

/// 1000 operations and, as is believed, 1000 signals; really there are 3 times as many, evenly. At
/// half the way, (1500 + 20) / 0.52 * 0.5 = 1461.5 further signals are expected, so that 2000 of
/// 1000 + 1500 + 1461.5 are done. At the end, all are.
#[test]
fn the_share_learns() {
    let work = Work { operations: 1000, signals: 1000 };
    assert!(work.share(0, 0) <= 0.0);
    let half = work.share(500, 1500);
    assert!((half - 2000.0 / (1000.0 + 1500.0 + 1520.0 / 0.52 * 0.5)).abs() < 1e-12, "{half}");
    let shares: Vec<_> = (0..=1000).map(|done| work.share(done, 3 * done)).collect();
    assert!(shares.is_sorted());
    assert!((1.0..=1.0).contains(&shares[1000]));
    // However many signals are still to come, operations are missing.
    assert!(work.share(999, 1_000_000_000) < 1.0);
}

#[test]
fn short_work_shows_nothing() {
    let (operations, signals, simulated_ps) = Default::default();
    let progress = Progress {
        operations: &operations,
        signals: &signals,
        simulated_ps: &simulated_ps,
        total: None,
    };
    let out = Shared::default();
    let hour = Duration::from_secs(3600);
    let answer = progress.show(&out, hour, hour, || 42);
    assert_eq!((answer, out.text().as_str()), (42, ""));
}

#[test]
fn long_work_is_shown_and_wiped() {
    let (operations, simulated_ps) = (AtomicU64::new(7), AtomicU64::new(5_000));
    let total = Some(Work { operations: 14, signals: 0 });
    let progress = Progress {
        operations: &operations,
        signals: &AtomicU64::new(0),
        simulated_ps: &simulated_ps,
        total,
    };
    let out = Shared::default();
    progress.show(&out, Duration::ZERO, Duration::ZERO, || {
        while !out.text().contains("left") {
            std::thread::yield_now();
        }
        operations.store(14, Ordering::Relaxed);
        while !out.text().contains("99.9 %") {
            std::thread::yield_now();
        }
    });
    let text = out.text();
    assert!(text.starts_with("\r50.0 %, 5 ns simulated, "), "{text:?}");
    assert!(text.ends_with("\x1b[K\r\x1b[K"), "{text:?}");
    // All operations are done, but the run had not ended.
    assert!(!text.contains("100.0 %"), "{text:?}");
}

/// A thousand million events at five million a second.
#[test]
fn a_long_run_is_announced() {
    let counter = AtomicU64::new(0);
    let total = Some(Work { operations: 400_000_000, signals: 600_000_000 });
    let progress =
        Progress { operations: &counter, signals: &counter, simulated_ps: &counter, total };
    let out = Shared::default();
    let hour = Duration::from_secs(3600);
    progress.show(&out, hour, hour, || {
        while out.text().is_empty() {
            std::thread::yield_now();
        }
    });
    assert!(out.text().starts_with("\rabout 3 min 20 s expected"), "{:?}", out.text());
}
