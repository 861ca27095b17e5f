//! Descriptors of the simulator in the process of a program, which ranks do not close.
//!
//! Programs close descriptors that they have not opened, all up to a limit, before they start
//! others or go into the background. Those that the simulator opened before the first rank ran are
//! not there for a rank that closes them: so signals are still heard, and files still written.
//! Files that the simulator opens later, such as those to which a long run spills its messages, are
//! not kept.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint};
use std::sync::{OnceLock, PoisonError, RwLock};

use crate::{next, ranks};

/// Descriptors that were there when the process began, and those that ranks do not close.
static INHERITED: RwLock<BTreeSet<c_int>> = RwLock::new(BTreeSet::new());
static KEPT: RwLock<BTreeSet<c_int>> = RwLock::new(BTreeSet::new());

type Close = unsafe extern "C" fn(c_int) -> c_int;
type CloseRange = unsafe extern "C" fn(c_uint, c_uint, c_int) -> c_int;
type CloseFrom = unsafe extern "C" fn(c_int);

/// The descriptors of this process (proc(5), `fd`); those of the standard streams are the ranks'.
fn open() -> BTreeSet<c_int> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let known: Vec<c_int> = numbers.filter(|number| *number > 2).collect();
    // That of the list itself is closed by now.
    // SAFETY: it only asks.
    let is_open = |number: &c_int| unsafe { libc::fcntl(*number, libc::F_GETFD) } != -1;
    known.into_iter().filter(is_open).collect()
}

/// The process begins: what is open was opened by who started it, and is the program's.
pub fn inherit() {
    *INHERITED.write().unwrap_or_else(PoisonError::into_inner) = open();
}

/// From now on, ranks do not close what is open and was not inherited.
pub fn protect() {
    let inherited = INHERITED.read().unwrap_or_else(PoisonError::into_inner);
    *KEPT.write().unwrap_or_else(PoisonError::into_inner) = &open() - &inherited;
}

/// The kept ones in a range, if a rank asks.
fn kept(first: c_int, last: c_int) -> Vec<c_int> {
    if !ranks::is_rank() {
        return Vec::new();
    }
    KEPT.read().unwrap_or_else(PoisonError::into_inner).range(first..=last).copied().collect()
}

/// The parts of a range without those that are kept, which are in it and ascend.
fn around(first: c_uint, last: c_uint, kept: &[c_int]) -> Vec<(c_uint, c_uint)> {
    let mut parts = Vec::new();
    let mut next = Some(first);
    for number in kept.iter().map(|number| number.cast_unsigned()) {
        parts.extend(next.filter(|next| *next < number).map(|next| (next, number - 1)));
        next = number.checked_add(1);
    }
    parts.extend(next.filter(|next| *next <= last).map(|next| (next, last)));
    parts
}

/// Takes the place of the C library's: to a rank, what it must not close is not open.
#[unsafe(no_mangle)]
extern "C" fn close(number: c_int) -> c_int {
    // Found once: a process that has been forked must not look for it.
    static REAL: OnceLock<Option<Close>> = OnceLock::new();
    if !kept(number, number).is_empty() {
        // SAFETY: the calling thread's.
        unsafe { *libc::__errno_location() = libc::EBADF };
        return -1;
    }
    // SAFETY: passed on as it came.
    REAL.get_or_init(|| next(c"close")).map_or(-1, |real| unsafe { real(number) })
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let Some(real) = next::<CloseRange>(c"close_range") else { return -1 };
    let most = c_int::MAX.cast_unsigned();
    let kept = kept(first.min(most).cast_signed(), last.min(most).cast_signed());
    if kept.is_empty() {
        // SAFETY: passed on as it came.
        return unsafe { real(first, last, flags) };
    }
    // SAFETY: passed on in parts.
    let part = |(first, last)| unsafe { real(first, last, flags) };
    around(first, last, &kept).into_iter().map(part).find(|failed| *failed != 0).unwrap_or(0)
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
extern "C" fn closefrom(first: c_int) {
    let first = first.max(0);
    if kept(first, c_int::MAX).is_empty() {
        if let Some(real) = next::<CloseFrom>(c"closefrom") {
            // SAFETY: passed on as it came.
            unsafe { real(first) };
        }
        return;
    }
    close_range(first.cast_unsigned(), c_uint::MAX, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_range_around_what_is_kept() {
        assert_eq!(around(3, 9, &[]), [(3, 9)]);
        assert_eq!(around(3, 9, &[5, 6]), [(3, 4), (7, 9)]);
        assert_eq!(around(3, 9, &[3, 9]), [(4, 8)]);
        assert_eq!(around(3, 3, &[3]), []);
        assert_eq!(around(3, c_uint::MAX, &[7]), [(3, 6), (8, c_uint::MAX)]);
    }

    /// A descriptor that a process inherits may be closed; one that was opened later is kept.
    #[test]
    fn what_is_opened_after_the_beginning_is_kept() {
        let of_parent = std::fs::File::open("/dev/null").expect("a file");
        inherit();
        let ours = std::fs::File::open("/dev/null").expect("a file");
        protect();
        let kept = KEPT.read().unwrap_or_else(PoisonError::into_inner).clone();
        let number = |file: &std::fs::File| std::os::fd::AsRawFd::as_raw_fd(file);
        assert!(kept.contains(&number(&ours)) && !kept.contains(&number(&of_parent)), "{kept:?}");
    }
}
