//! Locks, flushes and what else targets take no part in (MPI 4.1, sections 12.5.3 to 12.5.5).

use std::ffi::c_int;
use std::ops::Range;

use rank_ipc::{ANY, Command, Poll};

use super::active::Notice;
use super::epoch::Access;
use super::{ALL, Which, Window};
use crate::abi::{self, Handle};
use crate::error::{Error, Result};
use crate::{check, control, mpi, mpi_functions, threads};

/// The targets of which no lock is taken, as nobody else wants one (`MPI_MODE_NOCHECK`); what the
/// rank does then, it does at the same moments.
const NOBODY: Range<u32> = 0..0;

impl Window {
    /// Takes the locks of some targets, and waits for those that are not free.
    fn lock(&self, targets: Range<u32>, alone: bool) -> Result {
        let mpi = mpi();
        let port = mpi.port()?;
        // Others may have asked before, or not yet given it back.
        self.turn()?;
        let (mut places, mut tickets) = (Vec::new(), Vec::new());
        for target in targets {
            if let Some(place) = self.locks.take(target, self.comm.rank(), alone)? {
                let notice = Command::receive(ANY, self.tag(Notice::Granted(target)), 1);
                places.push(place);
                tickets.push(port.start(&notice));
            }
        }
        if tickets.is_empty() {
            return Ok(());
        }
        threads::finish(port, &tickets);
        for (ticket, place) in tickets.into_iter().zip(places) {
            port.forget(ticket);
            port.give_back(place);
        }
        Ok(())
    }

    /// Lets everything happen first that others do to the locks before this moment.
    fn turn(&self) -> Result {
        control::settle();
        mpi().turn.set(self.locks.turn()?);
        Ok(())
    }

    /// Gives back the locks of some targets.
    fn unlock(&self, mut targets: Range<u32>) -> Result {
        self.turn()?;
        targets.try_for_each(|target| self.give_back(target))
    }

    fn give_back(&self, target: u32) -> Result {
        let granted = self.locks.give_back(target)?;
        if granted.is_empty() { Ok(()) } else { self.notify(&granted, Notice::Granted(target)) }
    }

    /// Waits until accesses are complete.
    fn flush(&self, which: Which) -> Result {
        if self.complete(which)? {
            let mpi = mpi();
            let port = mpi.port()?;
            port.poll(Poll::Nothing);
            port.order();
            return Ok(());
        }
        self.idle()
    }

    /// There was nothing to wait for: the others go on for a moment, but not every time. The
    /// program may be waiting for what they do to its memory.
    pub fn idle(&self) -> Result {
        let times = self.idle.get().wrapping_add(1);
        self.idle.set(times);
        if times.is_multiple_of(LOOKS) {
            threads::look(mpi().port()?, &[]);
        }
        Ok(())
    }

    fn flush_locked(&self, target: Option<u32>, local: bool) -> Result {
        self.epoch.borrow().check_locked(target)?;
        self.flush(Which { target, local })
    }
}

/// Of so many calls with nothing to wait for, one lets the others go on.
const LOOKS: u32 = 16;

fn check_assertion(assert: c_int) -> Result {
    check!(assert & !abi::MODE_NOCHECK == 0, ERR_ASSERT, "the assertion {assert:#x}");
    Ok(())
}

/// A flush of the accesses to a rank, which may be nobody.
fn flush_rank(rank: c_int, win: Handle, local: bool) -> Result {
    let window = mpi().window(win)?;
    match window.target(rank)? {
        Some(target) => window.flush_locked(Some(target), local),
        // A lock of nobody leaves no trace, so that it cannot be asked for.
        None => Ok(()),
    }
}

mpi_functions! {
    fn Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        let known = [abi::LOCK_EXCLUSIVE, abi::LOCK_SHARED].contains(&lock_type);
        check!(known, ERR_LOCKTYPE, "the lock type {lock_type}");
        check_assertion(assert)?;
        let Some(target) = window.target(rank)? else { return Ok(()) };
        window.epoch.borrow_mut().lock(target)?;
        let held = assert & abi::MODE_NOCHECK == 0;
        let targets = if held { target..target + 1 } else { NOBODY };
        window.lock(targets, lock_type == abi::LOCK_EXCLUSIVE)?;
        window.epoch.borrow_mut().locked(target, held);
        Ok(())
    }

    fn Win_unlock(rank: c_int, win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        let Some(target) = window.target(rank)? else { return Ok(()) };
        let held = window.epoch.borrow_mut().unlock(target)?;
        window.flush(Which { target: Some(target), local: false })?;
        window.unlock(if held { target..target + 1 } else { NOBODY })
    }

    fn Win_lock_all(assert: c_int, win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        check_assertion(assert)?;
        window.epoch.borrow_mut().begin()?;
        let held = assert & abi::MODE_NOCHECK == 0;
        window.lock(if held { 0..window.comm.size() } else { NOBODY }, false)?;
        window.epoch.borrow_mut().access = Access::All(held);
        Ok(())
    }

    fn Win_unlock_all(win: Handle) about Win(win) {
        let window = mpi().window(win)?;
        let Access::All(held) = window.epoch.borrow().access else {
            return Err(Error::new(abi::ERR_RMA_SYNC, "MPI_Win_lock_all was not called before"));
        };
        window.epoch.borrow_mut().access = Access::None;
        window.flush(ALL)?;
        window.unlock(if held { 0..window.comm.size() } else { NOBODY })
    }

    fn Win_flush(rank: c_int, win: Handle) about Win(win) {
        flush_rank(rank, win, false)
    }

    fn Win_flush_local(rank: c_int, win: Handle) about Win(win) {
        flush_rank(rank, win, true)
    }

    fn Win_flush_all(win: Handle) about Win(win) {
        mpi().window(win)?.flush_locked(None, false)
    }

    fn Win_flush_local_all(win: Handle) about Win(win) {
        mpi().window(win)?.flush_locked(None, true)
    }

    fn Win_sync(win: Handle) about Win(win) {
        mpi().window(win)?;
        // There is one copy of the memory; but the program may be waiting for others to change it.
        threads::look(mpi().port()?, &[]);
        Ok(())
    }
}
