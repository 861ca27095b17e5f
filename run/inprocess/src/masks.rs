//! Signals that threads block: not those by which the threads of a rank are stopped ([`stops`],
//! [`traps`](crate::traps)).

use std::ffi::{CStr, c_int};

use crate::{next, own_threads, stops};

type Mask = unsafe extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

fn mask(
    name: &CStr,
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
    without: c_int,
) -> c_int {
    let Some(real) = next::<Mask>(name) else { return without };
    // SAFETY: by contract null or a set.
    let asked = unsafe { set.as_ref() };
    let blocks = own_threads::current().is_some() && how != libc::SIG_UNBLOCK;
    let Some(mut asked) = asked.copied().filter(|_| blocks) else {
        // SAFETY: passed on as it came.
        return unsafe { real(how, set, old) };
    };
    // SAFETY: a set, from which the signals are taken; the rest is passed on.
    unsafe {
        libc::sigdelset(&raw mut asked, stops::signal());
        libc::sigdelset(&raw mut asked, libc::SIGSEGV);
        real(how, &raw const asked, old)
    }
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigmask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    mask(c"pthread_sigmask", how, set, old, libc::ENOSYS)
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigprocmask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    mask(c"sigprocmask", how, set, old, -1)
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::*;

    /// Outside of ranks, what is asked for is what is blocked.
    #[test]
    fn masks_of_nobody() {
        let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut now = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: places for sets.
        unsafe {
            libc::sigaddset(all.as_mut_ptr(), stops::signal());
            assert_eq!(pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), now.as_mut_ptr()), 0);
            assert_eq!(libc::sigismember(now.as_ptr(), stops::signal()), 0);
            assert_eq!(sigprocmask(libc::SIG_UNBLOCK, all.as_ptr(), now.as_mut_ptr()), 0);
            assert_eq!(libc::sigismember(now.as_ptr(), stops::signal()), 1);
        }
    }
}
