//! The times at which the rails of a host are free again, shared by the processes of a job on it.
#![allow(unsafe_code)]

use std::{
    mem::size_of,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use rails::MOST_RAILS;
use rustix::{
    fs::{Mode, fstat, ftruncate},
    io::Errno,
    mm::{MapFlags, ProtFlags, mmap, munmap},
    process::geteuid,
    shm::{self, OFlags},
};

use crate::Error;

/// Values of all rails, in a cache line of their own: those that every message writes must not lie
/// beside those that it reads.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Line(pub [AtomicU64; MOST_RAILS]);

/// The state that processes share. All zero is the state at the start.
#[repr(C)]
#[derive(Debug, Default)]
pub struct State {
    /// The virtual finishing time of each rail.
    pub finish: Line,
    /// G of each rail where it was found to be slower than its parameters say; 0 where not.
    pub slower: Line,
    /// The processes that have mapped it.
    mapped: AtomicU32,
}

/// The state in memory that processes share, or in memory of this process alone.
#[derive(Debug)]
pub enum Segment {
    /// Of this process alone.
    Own(Box<State>),
    /// Shared.
    Shared(NonNull<State>),
}

// SAFETY: the memory stays mapped until the segment is dropped, and all of it is atomic.
unsafe impl Send for Segment {}

impl Segment {
    /// A state of this process alone.
    #[must_use]
    pub fn own() -> Self {
        Self::Own(Box::default())
    }

    /// Opens, or makes, the segment of this name, which only the user can open. It has no name any
    /// more as soon as `processes` have opened it, so that nothing stays behind if they are killed.
    pub fn shared(name: &str, processes: u32) -> Result<Self, Error> {
        let state = Self::map(name)
            .map_err(|why| Error::new(format!("the shared memory {name} cannot be used: {why}")))?;
        let segment = Self::Shared(state);
        if segment.mapped.fetch_add(1, Ordering::AcqRel) + 1 >= processes {
            let _ = shm::unlink(name);
        }
        Ok(segment)
    }

    fn map(name: &str) -> Result<NonNull<State>, Errno> {
        let mode = Mode::RUSR | Mode::WUSR;
        let descriptor = shm::open(name, OFlags::CREATE | OFlags::RDWR, mode)?;
        let found = fstat(&descriptor)?;
        if found.st_uid != geteuid().as_raw() || found.st_mode & 0o077 != 0 {
            return Err(Errno::PERM);
        }
        // Each process gives it the same length: what is there already is kept.
        ftruncate(&descriptor, size_of::<State>() as u64)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the system likes it to be, of the length of the object.
        let start = unsafe {
            let (nowhere, length) = (std::ptr::null_mut(), size_of::<State>());
            mmap(nowhere, length, access, MapFlags::SHARED, &descriptor, 0)?
        };
        NonNull::new(start.cast()).ok_or(Errno::NOMEM)
    }
}

impl std::ops::Deref for Segment {
    type Target = State;

    fn deref(&self) -> &State {
        match self {
            Self::Own(state) => state,
            // SAFETY: mapped until it is dropped; all bytes are valid for a state.
            Self::Shared(state) => unsafe { state.as_ref() },
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if let Self::Shared(state) = self {
            // SAFETY: what `map` has mapped, and nobody refers to it after this.
            let _ = unsafe { munmap(state.as_ptr().cast(), size_of::<State>()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_processes_share_a_state_which_then_has_no_name() {
        let name = format!("/heddle-test-segment-{}", std::process::id());
        let first = Segment::shared(&name, 2).unwrap();
        first.finish.0[3].store(7, Ordering::Release);
        let second = Segment::shared(&name, 2).unwrap();
        assert_eq!(second.finish.0[3].load(Ordering::Acquire), 7);
        assert_eq!(shm::unlink(&name), Err(Errno::NOENT));
    }
}
