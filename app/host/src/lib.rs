//! Hosts: ranks, their CPUs and network interfaces, and what they do in time.

mod noise;
mod outcome;
mod settings;

pub use noise::{Duration, Noise};
pub use outcome::{Activity, CriticalPath, Deadlock, Outcome, PendingOp, RankTotals, Record};
pub use settings::{Rendezvous, Settings, Transport};

use kernel::Probe;
use schedule::Program;

/// Why a simulation could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Simulated time left its range.
    #[error(
        "simulated time overflows: an event lies more than 213 days after the start (last event handled at {0:?})"
    )]
    Overflow(units::Time),
}

/// Simulates a program. `probe` makes the probe of each worker; they come back with the outcome.
pub fn simulate<P: Program, B: Probe<Record>>(
    program: &P,
    settings: &Settings,
    probe: impl Fn() -> B,
) -> Result<(Outcome, Vec<B>), Error> {
    let _ = (program, settings, probe);
    Err(Error::Overflow(units::Time::ZERO))
}

/// Simulates a program exactly as `LogGOPSim` does, on one thread. `settings.threads`,
/// `settings.transport` and `settings.rendezvous` do not apply.
pub fn simulate_loggopsim<P: Program, B: Probe<Record>>(
    program: &P,
    settings: &Settings,
    probe: B,
) -> Result<(Outcome, B), Error> {
    let _ = (program, settings, probe);
    Err(Error::Overflow(units::Time::ZERO))
}
