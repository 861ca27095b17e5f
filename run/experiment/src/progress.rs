//! Progress of a simulation, for a person who waits.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use host::{Meter, Settings};
use results::Progress;
use schedule::{Kind, Program};

/// How many ranks, and operations of each, are looked at to estimate the work.
const SAMPLE: u32 = 64;

/// Does `work` by these settings. If standard error is a terminal, it shows how far it is.
pub(crate) fn during<T>(
    program: &impl Program,
    settings: &Settings,
    work: impl FnOnce(&Settings) -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work(settings);
    }
    let meter = Arc::new(Meter::default());
    let settings = Settings { progress: Some(Arc::clone(&meter)), ..settings.clone() };
    let progress = Progress {
        operations: &meter.events,
        simulated_ps: &meter.time_ps,
        total: Some(events(program)),
    };
    progress.during(|| work(&settings))
}

/// About how many events a program has: its operations, and an arrival for each message. Which
/// share of the operations are sends is taken from a sample.
fn events(program: &impl Program) -> u64 {
    let operations: u64 = (0..program.ranks()).map(|rank| u64::from(program.ops(rank))).sum();
    let stride = (program.ranks() / SAMPLE).max(1) as usize;
    let (mut seen, mut sends) = (0_u64, 0_u64);
    for rank in (0..program.ranks()).step_by(stride) {
        for index in 0..program.ops(rank).min(SAMPLE) {
            seen += 1;
            sends += u64::from(program.op(rank, index).kind == Kind::Send);
        }
    }
    let messages = u128::from(operations) * u128::from(sends) / u128::from(seen.max(1));
    operations.saturating_add(messages as u64)
}
