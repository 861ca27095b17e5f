//! Who holds the ranks.

use std::io;

use rank_ipc::Memory;

use crate::Launch;

/// Runs ranks.
pub trait Holder: Sync {
    /// The memory that ranks and simulator share.
    fn memory(&self) -> &Memory;

    /// Gives a rank its turn for good, at a moment in picoseconds: it will not come back.
    fn release(&self, rank: u32, now: u64);

    /// Gives a rank its turn, at a moment in picoseconds, and returns when it is the simulator's
    /// again.
    fn turn(&self, rank: u32, now: u64) -> Result<(), Lost>;

    /// A rank may run soon, or with `next` runs next: what it needs at once may be asked for.
    fn soon(&self, rank: u32, next: bool) {
        let _ = (rank, next);
    }

    /// Starts processes for ranks, program after program as many as it says, with the environment
    /// of rank `by`: all, or none and the reason.
    fn start(&self, by: u32, ranks: &[u32], programs: &[Launch]) -> Result<(), String> {
        let _ = (by, ranks, programs);
        Err("only ranks that are processes can start others".to_owned())
    }

    /// Ends all ranks: at once, or when they come to their ends. Gives the exit code of the first
    /// that failed.
    fn end(&mut self, at_once: bool) -> i32;

    /// Why some of what ranks have printed was lost, if it was, once they have ended.
    fn unprinted(&mut self) -> Option<io::Error> {
        None
    }
}

/// Makes the holder of programs.
pub type Make<'a> = &'a dyn Fn(&[Launch]) -> io::Result<Box<dyn Holder>>;

/// A rank has ended without a word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{how}")]
pub struct Lost {
    /// How it ended, in words.
    pub how: String,
    /// The exit code that the whole program gets; 0 if the rank does not use MPI, or not any more,
    /// and so may end like this.
    pub code: i32,
    /// Whether it has ever used MPI.
    pub used: bool,
}

impl From<Lost> for Ended {
    fn from(Lost { how, code, .. }: Lost) -> Self {
        Self { rank: 0, time: 0, how: Some(how), code }
    }
}

/// Why a program ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The rank that ended it.
    pub rank: u32,
    /// When, in picoseconds of simulated time.
    pub time: u64,
    /// How, in words; `None` if the rank asked for it (`MPI_Abort`).
    pub how: Option<String>,
    /// The exit code.
    pub code: i32,
}
