//! Loom's means in place of those of the standard library: see the kernel's module of this name.

pub use std::sync::PoisonError;

pub use loom::hint::spin_loop;
pub use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
pub use loom::sync::{Condvar, Mutex};
pub use loom::thread::yield_now;

/// Workers go to sleep at once: looking again is a step like any other to loom.
pub const SPINS: u32 = 0;
pub const YIELDS: u32 = 0;
