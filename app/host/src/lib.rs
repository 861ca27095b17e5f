//! Hosts: ranks, their CPUs and network interfaces, and what they do in time.

mod outcome;

pub use outcome::{
    Activity, CriticalPath, Deadlock, Outcome, PendingOp, RankTotals, Record,
};
