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

const fn snapshot(total: Option<u64>) -> Snapshot {
    Snapshot {
        elapsed: Duration::from_secs(4),
        operations: 3_000_000,
        simulated_ps: 1_234_567_000,
        total,
    }
}

/// 3 million in 4 s are 750 k/s; the other 9 million of 12 take 12 s.
#[test]
fn the_line_with_a_total() {
    assert_eq!(
        snapshot(Some(12_000_000)).to_string(),
        "25.0 %, 1.234567 ms simulated, 750 k operations/s, 12.00 s left"
    );
}

#[test]
fn the_line_without_a_total() {
    assert_eq!(snapshot(None).to_string(), "1.234567 ms simulated, 750 k operations/s");
}

#[test]
fn nothing_is_divided_by_zero() {
    let nothing =
        Snapshot { elapsed: Duration::ZERO, operations: 0, simulated_ps: 0, total: Some(0) };
    assert_eq!(nothing.to_string(), "0.0 %, 0 ps simulated, 0 operations/s");
}

#[test]
fn short_work_shows_nothing() {
    let (operations, simulated_ps) = (AtomicU64::new(0), AtomicU64::new(0));
    let progress = Progress { operations: &operations, simulated_ps: &simulated_ps, total: None };
    let out = Shared::default();
    let hour = Duration::from_secs(3600);
    let answer = progress.show(&out, hour, hour, || 42);
    assert_eq!((answer, out.text().as_str()), (42, ""));
}

#[test]
fn long_work_is_shown_and_wiped() {
    let (operations, simulated_ps) = (AtomicU64::new(7), AtomicU64::new(5_000));
    let progress =
        Progress { operations: &operations, simulated_ps: &simulated_ps, total: Some(14) };
    let out = Shared::default();
    progress.show(&out, Duration::ZERO, Duration::ZERO, || {
        while !out.text().contains("left") {
            std::thread::yield_now();
        }
        operations.store(14, Ordering::Relaxed);
        while !out.text().contains("100.0 %") {
            std::thread::yield_now();
        }
    });
    let text = out.text();
    assert!(text.starts_with("\r50.0 %, 5 ns simulated, "), "{text:?}");
    assert!(text.ends_with("\x1b[K\r\x1b[K"), "{text:?}");
}
