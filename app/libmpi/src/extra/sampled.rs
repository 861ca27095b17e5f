//! Blocks of the program that run a few times, and whose mean time passes instead afterwards
//! (`HEDDLE_SAMPLE`).

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{CStr, c_char, c_int};
use std::hash::Hasher;

use rank_ipc::{Client, Command, Rule, Samples};
use rustc_hash::{FxHashMap, FxHasher};

use crate::simulator::{computed, leave};
use crate::state::{Mpi, alongside};

/// A rank's blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    /// The times that the rank's blocks took, by number; few programs have any.
    own: OnceCell<Box<RefCell<FxHashMap<u64, Samples>>>>,
    /// The computation of the block that runs so far, in nanoseconds.
    pub running: Cell<u64>,
}

/// The number of a block: the same in all ranks.
unsafe fn number(file: *const c_char, line: c_int) -> u64 {
    let mut hasher = FxHasher::default();
    // SAFETY: by contract a string.
    hasher.write(unsafe { CStr::from_ptr(file) }.to_bytes());
    hasher.write_i32(line);
    hasher.finish()
}

/// A block begins: tells whether it is to run. If not, the mean of what it took passes instead.
/// `shared` says that the times of all ranks count together.
///
/// # Safety
/// `file` must be a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_sample_begin(
    file: *const c_char,
    line: c_int,
    shared: c_int,
    times: c_int,
    precision: f64,
) -> c_int {
    // SAFETY: by contract.
    let block = unsafe { number(file, line) };
    alongside(|mpi| match mpi.port.get().filter(|_| !mpi.is_singleton.get()) {
        Some(port) => c_int::from(runs(mpi, port, block, shared != 0, times, precision)),
        None => 1,
    })
}

/// True if a block is to run; otherwise its mean passes.
fn runs(mpi: &Mpi, port: &Client, block: u64, shared: bool, times: c_int, precision: f64) -> bool {
    computed(mpi);
    let rule = Rule { times: u32::try_from(times).unwrap_or(0), precision };
    let mean = if shared {
        port.sample(block, rule)
    } else {
        let own = mpi.blocks.own.get().map(|own| own.borrow());
        own.and_then(|own| own.get(&block).and_then(|samples| samples.enough(rule)))
    };
    if let Some(mean) = mean.filter(|_| mpi.measured.get().is_some()) {
        port.say(&Command::Compute(mean));
    }
    mpi.blocks.running.set(0);
    leave(mpi);
    mean.is_none()
}

/// A block that ran has ended.
///
/// # Safety
/// `file` must be a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_sample_end(file: *const c_char, line: c_int, shared: c_int) {
    // SAFETY: by contract.
    let block = unsafe { number(file, line) };
    alongside(|mpi| {
        let Some(port) = mpi.port.get() else { return };
        computed(mpi);
        let nanoseconds = mpi.blocks.running.get();
        if shared == 0 {
            let own = mpi.blocks.own.get_or_init(Box::default);
            own.borrow_mut().entry(block).or_default().add(nanoseconds);
        } else {
            port.say(&Command::Sampled { block, nanoseconds });
        }
        leave(mpi);
    });
}
