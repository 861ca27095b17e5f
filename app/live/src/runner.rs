//! The interface between the simulator and what runs the ranks.

use std::io;

use rank_ipc::Memory;

use crate::Launch;

/// Runs the ranks of a program: a process for each ([`crate::Processes`]), or coroutines in the
/// process of the simulator (crate `inprocess`).
///
/// A live source calls it from the workers of the simulation. At most one worker resumes a given
/// rank at a time; different ranks may be resumed from several threads at once, unless
/// [`rank_ipc::Layout::is_private`] says that all share one process. A rank that is resumed writes
/// commands into its channel of the shared memory and hands the turn back; the runner promises that
/// it touches nothing of the simulator's in between. After [`Runner::end`] no rank is resumed.
pub trait Runner: Sync {
    /// Returns the memory that ranks and simulator share.
    fn memory(&self) -> &Memory;

    /// Resumes a rank at the simulated time `now`, in picoseconds, and returns when the turn is the
    /// simulator's again. Fails if the rank ended instead.
    fn resume(&self, rank: u32, now: u64) -> Result<(), Lost>;

    /// Resumes a rank that has said goodbye: it runs on without the simulator and does not come
    /// back.
    fn release(&self, rank: u32, now: u64);

    /// Prefetches what a rank needs that will be resumed soon, or next if `next`.
    fn prefetch(&self, rank: u32, next: bool) {
        let _ = (rank, next);
    }

    /// Starts processes for ranks, in order as many for each program as it says, with the
    /// environment of rank `by`. Starts all of them, or none and returns the reason.
    fn spawn(&self, by: u32, ranks: &[u32], programs: &[Launch]) -> Result<(), String> {
        let _ = (by, ranks, programs);
        Err("only ranks that are processes can start others".to_owned())
    }

    /// Ends all ranks: at once, or waits until they end. Returns the exit code of the first that
    /// failed, 0 if none did.
    fn end(&mut self, at_once: bool) -> i32;

    /// Returns why output of ranks was lost, if some was. To be called after [`Runner::end`].
    fn unprinted(&mut self) -> Option<io::Error> {
        None
    }
}

/// A function that makes the runner of programs.
pub type MakeRunner<'a> = &'a dyn Fn(&[Launch]) -> io::Result<Box<dyn Runner>>;

/// The error of a rank that ended without telling the simulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{how}")]
pub struct Lost {
    /// The way in which it ended, in words.
    pub how: String,
    /// The exit code for the whole program; 0 if the rank does not use MPI, or not any more, and so
    /// may end like this.
    pub code: i32,
    /// True if it has ever used MPI.
    pub used: bool,
}

impl From<Lost> for Ended {
    fn from(Lost { how, code, .. }: Lost) -> Self {
        Self { rank: 0, time: 0, how: Some(how), code }
    }
}

/// The early end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The rank that ended it.
    pub rank: u32,
    /// The time when it did, in picoseconds of simulated time.
    pub time: u64,
    /// The way in which it did, in words; `None` if the rank called `MPI_Abort`.
    pub how: Option<String>,
    /// The exit code of the program.
    pub code: i32,
}
