//! The figures of a run that differ from one time to the next.

use std::time::{Duration, Instant};

use kernel::TransportKind;
use rustix::time::ClockId;
use serde::Serialize;

/// The contents of `performance.json`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Performance {
    /// Wall time of the whole run.
    pub wall_seconds: f64,
    /// Wall time of the simulation phase alone.
    pub simulation_seconds: f64,
    /// CPU time, of all threads and processes.
    pub cpu_seconds: f64,
    /// The most memory that a process ever had resident; `None` where the system does not tell.
    pub peak_rss_bytes: Option<u64>,
    /// Events and signals per second of the simulation phase, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_per_second: Option<f64>,
    /// Messages per second of the simulation phase.
    pub messages_per_second: f64,
    /// Worker threads, of each process.
    pub threads: usize,
    /// The processes that a run was spread over, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
}

impl Performance {
    /// Takes the process's CPU time and memory now. `start` is when the run began.
    pub fn measure(
        start: Instant,
        simulation: Duration,
        threads: usize,
        events: Option<u64>,
        messages: u64,
    ) -> Self {
        let per_second =
            |count: u64| count as f64 / simulation.max(Duration::from_nanos(1)).as_secs_f64();
        Self {
            wall_seconds: start.elapsed().as_secs_f64(),
            simulation_seconds: simulation.as_secs_f64(),
            cpu_seconds: cpu_seconds(),
            peak_rss_bytes: peak_rss(),
            events_per_second: events.map(per_second),
            messages_per_second: per_second(messages),
            threads,
            processes: None,
        }
    }

    /// Adds what the other processes have taken that a run is spread over: the sum of their CPU
    /// times, and the memory of the largest one. All processes call it at the same place.
    #[must_use]
    pub fn of_all(self, transport: TransportKind) -> Self {
        let Some(peers) = transport.peers() else { return self };
        let all = transport.exchange((self.cpu_seconds, self.peak_rss_bytes));
        Self {
            cpu_seconds: all.iter().map(|one| one.0).sum(),
            peak_rss_bytes: all.iter().filter_map(|one| one.1).max(),
            processes: Some(peers.count()),
            ..self
        }
    }
}

/// Measures what one of several runs in a process uses.
#[derive(Debug)]
pub struct Usage {
    start: Instant,
    cpu: f64,
}

/// The figures of a run that [`Usage`] measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// Wall time.
    pub wall_seconds: f64,
    /// CPU time of the thread that carried it out. Further threads of the run are not counted.
    pub cpu_seconds: f64,
    /// The most memory that the process had resident since a run last began in it; `None` where
    /// the system does not tell.
    pub peak_rss_bytes: Option<u64>,
}

impl Usage {
    /// Begins to measure, and lets the most memory that the process had be what it has now, where
    /// the system allows that.
    pub fn begin() -> Self {
        // Linux: 5 resets VmHWM. Where that is refused, the mark of the whole process stands.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Self { start: Instant::now(), cpu: cpu_of(ClockId::ThreadCPUTime) }
    }

    /// Ends to measure, on the same thread.
    pub fn end(self) -> Used {
        Used {
            wall_seconds: self.start.elapsed().as_secs_f64(),
            cpu_seconds: cpu_of(ClockId::ThreadCPUTime) - self.cpu,
            peak_rss_bytes: peak_rss(),
        }
    }
}

/// CPU time that this process has used.
fn cpu_seconds() -> f64 {
    cpu_of(ClockId::ProcessCPUTime)
}

/// The time in seconds of a clock of CPU time.
fn cpu_of(clock: ClockId) -> f64 {
    let used = rustix::time::clock_gettime(clock);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}

/// High-water mark of resident memory in bytes: `VmHWM` of Linux's `/proc/self/status`, in KiB
/// there. Unlike `ru_maxrss` it does not begin with the parent's mark.
fn peak_rss() -> Option<u64> {
    high_water_mark(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_high_water_mark() {
        let status = "Name:\theddle\nVmPeak:\t  9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1000 kB\n";
        assert_eq!(high_water_mark(status), Some(1234 * 1024));
        assert_eq!(high_water_mark("Name:\theddle\n"), None);
    }

    #[test]
    fn memory_counts_what_was_touched() {
        let before = peak_rss().expect("Linux tells");
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = peak_rss().expect("Linux tells");
        assert!(after >= 64 << 20, "{after} bytes, {before} before");
        assert_eq!(block.len(), 64 << 20);
    }

    /// A run that waits takes no CPU time; one that computes does. A run before it that took more
    /// memory does not count.
    #[test]
    fn runs_are_measured_one_by_one() {
        let usage = Usage::begin();
        assert_eq!(std::hint::black_box(vec![1_u8; 256 << 20]).len(), 256 << 20);
        let large = usage.end();
        let usage = Usage::begin();
        std::thread::sleep(Duration::from_millis(20));
        let small = usage.end();
        assert!(small.wall_seconds >= 0.02 && small.cpu_seconds < 0.01, "{small:?}");
        assert!(large.cpu_seconds > small.cpu_seconds, "{large:?} {small:?}");
        let bytes = large.peak_rss_bytes.zip(small.peak_rss_bytes).expect("Linux tells");
        assert!(bytes.0 > bytes.1 + (128 << 20), "{bytes:?}");
    }

    #[test]
    fn cpu_time_passes_while_computing() {
        let (wall, cpu) = (Instant::now(), cpu_seconds());
        while cpu_seconds() < cpu + 0.01 {
            std::hint::black_box(0);
            assert!(wall.elapsed() < Duration::from_secs(60));
        }
    }
}
