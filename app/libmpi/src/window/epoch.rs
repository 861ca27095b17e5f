//! Epochs: what a rank may do with a window at a moment, and what it may not (MPI 4.1, section
//! 12.5).

use std::collections::BTreeMap;
use std::ffi::c_int;

use rank_ipc::Ticket;

use crate::abi;
use crate::error::{Error, Result};

/// The way in which a rank may access the memory of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Not at all.
    #[default]
    None,
    /// Since `MPI_Win_fence`.
    Fence {
        /// It opened an epoch: there was an access. That the call ended no epoch does not say that
        /// it begins one (section 12.5.1).
        open: bool,
    },
    /// Since `MPI_Win_start`: that of these ranks.
    Start(Vec<u32>),
    /// Since `MPI_Win_lock`: that of these ranks, and whether a lock is held.
    Locks(BTreeMap<u32, bool>),
    /// Since `MPI_Win_lock_all`: whether locks are held.
    All(bool),
}

/// The memory of this rank is open to others, since `MPI_Win_post`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// To these ranks.
    pub to: Vec<u32>,
    /// The receives of their notices, if it was asked for them.
    pub notices: Option<Vec<Ticket>>,
}

/// The epochs of a window.
#[derive(Debug, Default)]
pub struct Epoch {
    /// The epoch of this rank as an origin.
    pub access: Access,
    /// The epoch of this rank as a target.
    pub exposure: Option<Exposure>,
}

fn out_of_order<T>(text: &str) -> Result<T> {
    Err(Error::new(abi::ERR_RMA_SYNC, text))
}

impl Epoch {
    /// Nothing is open but perhaps what a fence left, which ends.
    pub fn begin(&mut self) -> Result {
        match self.access {
            Access::None | Access::Fence { open: false } => {
                self.access = Access::None;
                Ok(())
            }
            Access::Fence { open: true } => out_of_order("a fence has opened an epoch"),
            Access::Start(_) => out_of_order("the epoch of MPI_Win_start is open"),
            Access::Locks(_) | Access::All(_) => out_of_order("a lock is held"),
        }
    }

    /// A fence.
    pub fn fence(&mut self, assert: c_int) -> Result {
        if self.exposure.is_some() {
            return out_of_order("the epoch of MPI_Win_post is open");
        }
        if !matches!(self.access, Access::Fence { .. }) {
            self.begin()?;
        }
        let ends = assert & abi::MODE_NOSUCCEED != 0;
        self.access = if ends { Access::None } else { Access::Fence { open: false } };
        Ok(())
    }

    /// The window is to be freed.
    pub fn free(&mut self) -> Result {
        if self.exposure.is_some() {
            return out_of_order("the epoch of MPI_Win_post is open");
        }
        if matches!(self.access, Access::Fence { .. }) {
            return Ok(());
        }
        self.begin()
    }

    /// The window is opened to some.
    pub fn post(&mut self, to: Vec<u32>) -> Result {
        if self.exposure.is_some() {
            return out_of_order("the epoch of MPI_Win_post is open already");
        }
        if self.access == (Access::Fence { open: true }) {
            return out_of_order("a fence has opened an epoch");
        }
        self.exposure = Some(Exposure { to, notices: None });
        Ok(())
    }

    /// An access to a rank; those with a request of their own need a lock.
    pub fn access(&mut self, target: u32, by_request: bool) -> Result {
        let fits = match &mut self.access {
            Access::None => return out_of_order("no epoch is open"),
            Access::Fence { open } if !by_request => {
                *open = true;
                true
            }
            Access::Start(group) if !by_request => group.contains(&target),
            Access::Locks(held) => held.contains_key(&target),
            Access::All(_) => true,
            _ => return out_of_order("accesses with requests need a lock"),
        };
        if fits { Ok(()) } else { out_of_order("no epoch is open for this rank") }
    }

    /// True if the targets of accesses take no part in them: they, and others, may look at any time
    /// for what these have done.
    pub const fn is_passive(&self) -> bool {
        matches!(self.access, Access::Locks(_) | Access::All(_))
    }

    /// A target is locked: it must not be so already.
    pub fn lock(&mut self, target: u32) -> Result {
        match &self.access {
            Access::Locks(held) if !held.contains_key(&target) => Ok(()),
            Access::Locks(_) => out_of_order("the rank is locked already"),
            _ => self.begin(),
        }
    }

    /// The lock is there; `held` unless the program said that nothing conflicts.
    pub fn locked(&mut self, target: u32, held: bool) {
        match &mut self.access {
            Access::Locks(locks) => {
                locks.insert(target, held);
            }
            access => *access = Access::Locks([(target, held)].into_iter().collect()),
        }
    }

    /// A lock is given up; tells whether it was held.
    pub fn unlock(&mut self, target: u32) -> Result<bool> {
        let Access::Locks(locks) = &mut self.access else {
            return out_of_order("no rank is locked");
        };
        let Some(held) = locks.remove(&target) else {
            return out_of_order("the rank is not locked");
        };
        if locks.is_empty() {
            self.access = Access::None;
        }
        Ok(held)
    }

    /// An error unless locks are there: of a rank, or of any.
    pub fn check_locked(&self, target: Option<u32>) -> Result {
        match (&self.access, target) {
            (Access::All(_), _) | (Access::Locks(_), None) => Ok(()),
            (Access::Locks(locks), Some(target)) if locks.contains_key(&target) => Ok(()),
            _ => out_of_order("the rank is not locked"),
        }
    }
}
