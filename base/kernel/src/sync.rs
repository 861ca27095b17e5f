//! The means by which threads wait for each other. The tests under loom, which tries all orders of
//! threads, have a module of the same name with loom's own.

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
pub use std::sync::{Condvar, Mutex, PoisonError};
pub use std::thread::yield_now;

/// The number of times that a waiting worker looks without a break: about a microsecond.
pub const SPINS: u32 = 50;

/// The number of times that it looks after that before it goes to sleep. In between, others may
/// have its core, and the one it waits for may be among them: there may be more workers than cores,
/// or the system may have put two on one core.
pub const YIELDS: u32 = 1_000;
