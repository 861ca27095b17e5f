//! The threads of a rank that shares its process with others: whoever starts them says so, since
//! the kernel tells only which threads a process has.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::threads::me;

/// A thread of a rank.
#[derive(Debug)]
pub struct Member {
    /// By the kernel's number.
    pub thread: u32,
    /// The system call in which the thread was last seen asleep, for who wants it to stop there;
    /// [`NO_CALL`] if it was seen to run.
    pub call: AtomicI64,
}

/// No system call.
pub const NO_CALL: i64 = -1;

/// The threads of a rank. One that has ended is among them until somebody finds that the kernel
/// knows nothing of it any more: only then has it woken those who wait for its end.
#[derive(Debug, Default)]
pub struct Members {
    all: Mutex<Vec<Arc<Member>>>,
    /// Threads that have been started and are not among all yet.
    coming: AtomicU32,
}

impl Members {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Member>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is about to be started.
    pub fn announce(&self) {
        self.coming.fetch_add(1, Ordering::SeqCst);
    }

    /// An announced thread has begun, or could not be started.
    pub fn arrived(&self) {
        self.coming.fetch_sub(1, Ordering::SeqCst);
    }

    /// The calling thread is one of them.
    pub fn join(&self) -> Arc<Member> {
        let member = Arc::new(Member { thread: me(), call: AtomicI64::new(NO_CALL) });
        self.all().push(Arc::clone(&member));
        member
    }

    /// The number of threads; none as long as one has been started that is not among them.
    pub fn count(&self) -> Option<usize> {
        let count = self.all().len();
        (self.coming.load(Ordering::SeqCst) == 0).then_some(count)
    }

    /// All threads.
    pub fn list(&self) -> Vec<Arc<Member>> {
        self.all().clone()
    }

    /// The kernel does not know a thread any more.
    pub fn remove(&self, thread: u32) {
        self.all().retain(|member| member.thread != thread);
    }
}
