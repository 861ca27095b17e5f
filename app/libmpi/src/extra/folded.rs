//! Memory that is the same for all ranks (`heddle_shared_malloc`, and large allocations on
//! request).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::hash::Hasher;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use rank_ipc::fold::{FOLD, Fold, file};
use rustc_hash::{FxHashMap, FxHasher};

use super::clock::is_rank;
use crate::state::unguarded;

/// The slots that a rank uses, with their sizes.
pub type Folded = Mutex<FxHashMap<usize, usize>>;

static OPENED: OnceLock<Option<Fold>> = OnceLock::new();

/// This process's mapping, and the slot of an address in it. What is given back while the mapping
/// is made is none of it.
fn slot(address: *const c_void) -> Option<(&'static Fold, usize)> {
    let fold = OPENED.get()?.as_ref()?;
    Some((fold, fold.holds(address.cast())?))
}

/// This process's mapping; `None` if there can be none.
fn fold() -> Option<&'static Fold> {
    let open = || match std::env::var(FOLD).ok().and_then(|said| said.parse().ok()) {
        // SAFETY: the simulator opened it for this process, which uses it only here.
        Some(descriptor) => unsafe { Fold::open(descriptor) },
        // All ranks are in this process.
        None => file().and_then(Fold::new),
    };
    OPENED.get_or_init(|| open().ok()).as_ref()
}

/// The slots that the running rank uses.
fn used() -> &'static Folded {
    unguarded().folded.get_or_init(Box::default)
}

/// The memory of a block: of the n-th that a rank has at a time from one place of the program, all
/// ranks have the same.
fn allocate(place: &[u8], bytes: usize) -> Option<*mut u8> {
    let fold = fold()?;
    let mut used = used().lock().unwrap_or_else(PoisonError::into_inner);
    let block = |number: u64| {
        let mut hasher = FxHasher::default();
        hasher.write(place);
        hasher.write_u64(number);
        hasher.finish().max(1)
    };
    let slot = (0..).find_map(|number| match fold.slot(block(number)) {
        Some(slot) if used.contains_key(&slot) => None,
        slot => Some(slot),
    })??;
    let address = fold.map(slot, bytes, true).ok()?;
    used.insert(slot, bytes);
    Some(address)
}

/// Allocates `bytes` bytes that are the same for all ranks that ask from the same place of the
/// program; returns null if there can be none.
///
/// # Safety
/// `file` must be a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_shared_allocate(
    bytes: usize,
    file: *const c_char,
    line: c_int,
) -> *mut c_void {
    // SAFETY: by contract a string.
    let place = [unsafe { CStr::from_ptr(file) }.to_bytes(), &line.to_ne_bytes()].concat();
    allocate(&place, bytes).map_or(ptr::null_mut(), <*mut u8>::cast)
}

/// Allocates `bytes` bytes for a program that does not know of folded memory: the n-th large block
/// that a rank has at a time is the same for all. Null if there can be none.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_fold(bytes: usize) -> *mut c_void {
    if !is_rank() {
        return ptr::null_mut();
    }
    allocate(b"", bytes).map_or(ptr::null_mut(), <*mut u8>::cast)
}

/// Gives memory back; tells whether it was such.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_fold_free(address: *const c_void) -> c_int {
    let Some((fold, slot)) = slot(address) else { return 0 };
    let mut used = used().lock().unwrap_or_else(PoisonError::into_inner);
    if used.remove(&slot).is_some() {
        fold.unmap(slot);
    }
    1
}

/// Bytes of such memory; 0 if it is none.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_fold_size(address: *const c_void) -> usize {
    let Some((_, slot)) = slot(address) else { return 0 };
    let used = used().lock().unwrap_or_else(PoisonError::into_inner);
    used.get(&slot).copied().unwrap_or(0)
}

/// Gives such memory another size, in place; tells whether that could be done.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_fold_resize(address: *const c_void, bytes: usize) -> c_int {
    let Some((fold, slot)) = slot(address) else { return 0 };
    let mut used = used().lock().unwrap_or_else(PoisonError::into_inner);
    let Some(size) = used.get_mut(&slot) else { return 0 };
    if bytes > *size && fold.map(slot, bytes, false).is_err() {
        return 0;
    }
    *size = bytes;
    1
}
