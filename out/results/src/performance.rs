//! The figures of a run that differ from one time to the next.

use std::time::{Duration, Instant};

use kernel::TransportKind;
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

/// CPU time that this process has used.
fn cpu_seconds() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
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

    #[test]
    fn cpu_time_passes_while_computing() {
        let (wall, cpu) = (Instant::now(), cpu_seconds());
        while cpu_seconds() < cpu + 0.01 {
            std::hint::black_box(0);
            assert!(wall.elapsed() < Duration::from_secs(60));
        }
    }
}
