//! The memory that a run needs, estimated before it starts, so that one that has no chance fails at
//! once.

use std::fs;

/// The least memory of a rank in bytes: its state, its totals, and events on their way to it.
const PER_RANK: u64 = 256;

/// Checks that a simulation of `ranks` ranks, whose schedule takes `schedule` bytes, can fit into
/// the memory of this machine. If it cannot, or not by far, the error says how much it would need.
/// Where the system does not tell how much there is, everything fits.
pub(crate) fn suffices(ranks: u32, schedule: u64) -> Result<(), String> {
    let needed = u64::from(ranks) * PER_RANK + schedule;
    has(needed).map_err(|text| format!("{ranks} ranks need {text}"))
}

/// Checks that so many bytes can fit into the memory of this machine. The error says how much they
/// are, and how much there is.
pub(crate) fn has(needed: u64) -> Result<(), String> {
    match total().filter(|&total| needed > total) {
        None => Ok(()),
        Some(total) => {
            let [needed, total] = [needed, total].map(gigabytes);
            Err(format!("at least {needed} of memory; this machine has {total}"))
        }
    }
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// The memory of this machine in bytes: `MemTotal` of Linux's `/proc/meminfo`, in KiB there.
fn total() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn more_than_any_machine_has_is_refused() {
        let said = super::has(u64::MAX).expect_err("too much");
        assert!(
            said.starts_with("at least 18446744073.7 GB of memory; this machine has "),
            "{said}"
        );
        assert_eq!(super::has(1), Ok(()));
    }
}
