//! Keys of values that threads have (`pthread_key_create`). There are no more than 1024, so ranks
//! have theirs in common; the values are exchanged when another rank runs.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{next, own_threads, ranks};

type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;
type Create = unsafe extern "C" fn(*mut c_uint, Destructor) -> c_int;

#[derive(Default)]
struct Keys {
    all: Vec<c_uint>,
    /// By rank and key: whether it is in use, and the value while another rank runs.
    of: Vec<Vec<(bool, usize)>>,
}

static KEYS: Mutex<Keys> = Mutex::new(Keys { all: Vec::new(), of: Vec::new() });

fn keys() -> MutexGuard<'static, Keys> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rank that runs on the thread of all ranks. One that has moved to a thread of its own has
/// keys of its own from then on, whose values are destroyed when a thread ends.
fn sharing() -> Option<usize> {
    ranks::running().filter(|_| own_threads::current().is_none())
}

/// Takes the place of the C library's: the n-th key of each rank is the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_create(key: *mut c_uint, destructor: Destructor) -> c_int {
    let Some(real) = next::<Create>(c"pthread_key_create") else { return libc::EAGAIN };
    let Some(rank) = sharing() else {
        // SAFETY: passed on as it came.
        return unsafe { real(key, destructor) };
    };
    let mut keys = keys();
    let Keys { all, of } = &mut *keys;
    {
        if of.len() <= rank {
            of.resize_with(rank + 1, Vec::new);
        }
        let Some(own) = of.get_mut(rank) else { return libc::EAGAIN };
        let place = own.iter().position(|(in_use, _)| !in_use).unwrap_or(own.len());
        if place == all.len() {
            let mut new = 0;
            // A rank's thread does not end before its process does: nothing is destroyed.
            // SAFETY: a place for the key.
            let failed = unsafe { real(&raw mut new, None) };
            if failed != 0 {
                return failed;
            }
            all.push(new);
        }
        own.resize(own.len().max(place + 1), (false, 0));
        if let (Some(mine), Some(common)) = (own.get_mut(place), all.get(place)) {
            *mine = (true, 0);
            // SAFETY: where the caller wants it.
            unsafe {
                *key = *common;
                libc::pthread_setspecific(*common, std::ptr::null())
            };
        }
        0
    }
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_delete(key: c_uint) -> c_int {
    let common = ranks::running().and_then(|rank| {
        let Keys { all, of } = &mut *keys();
        let place = all.iter().position(|common| *common == key)?;
        let own = of.get_mut(rank)?.get_mut(place)?;
        *own = (false, 0);
        Some(())
    });
    if common.is_some() {
        return 0;
    }
    let real = next::<extern "C" fn(c_uint) -> c_int>(c"pthread_key_delete");
    real.map_or(libc::EINVAL, |real| real(key))
}

/// Another rank runs, or the first.
pub fn exchange(before: Option<usize>, now: usize) {
    let Keys { all, of } = &mut *keys();
    if all.is_empty() {
        return;
    }
    {
        let old = before.and_then(|rank| of.get_mut(rank));
        for (key, (_, value)) in all.iter().zip(old.into_iter().flatten()) {
            // SAFETY: a key that was created and is never deleted.
            *value = unsafe { libc::pthread_getspecific(*key) }.addr();
        }
        for (place, key) in all.iter().enumerate() {
            let value = of.get(now).and_then(|own| own.get(place)).map_or(0, |own| own.1);
            // SAFETY: as above; the value is the rank's own.
            unsafe { libc::pthread_setspecific(*key, value as *const c_void) };
        }
    }
}

/// The values that a rank has on this thread, on which it runs.
pub fn values(rank: usize) -> Vec<(c_uint, usize)> {
    let keys = keys();
    let own = keys.all.iter().zip(keys.of.get(rank).into_iter().flatten());
    // SAFETY: keys that were created and are never deleted.
    own.filter(|(_, (in_use, _))| *in_use)
        .map(|(key, _)| (*key, unsafe { libc::pthread_getspecific(*key) }.addr()))
        .collect()
}

/// Gives this thread these values.
pub fn set(values: &[(c_uint, usize)]) {
    for (key, value) in values {
        // SAFETY: as above.
        unsafe { libc::pthread_setspecific(*key, *value as *const c_void) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a key that two ranks have in common are exchanged with the ranks; a rank that
    /// does not use it finds nothing.
    #[test]
    fn values_are_exchanged() {
        let mut key = 0;
        // SAFETY: a place for a key; outside of ranks it is the C library's.
        assert_eq!(unsafe { pthread_key_create(&raw mut key, None) }, 0);
        *keys() = Keys { all: vec![key], of: vec![vec![(true, 0)], vec![(true, 0)]] };
        // SAFETY, of both: the key above, and values that are numbers.
        let set = |value: usize| unsafe {
            libc::pthread_setspecific(key, std::ptr::without_provenance(value))
        };
        let get = || unsafe { libc::pthread_getspecific(key) }.addr();
        exchange(None, 0);
        set(10);
        exchange(Some(0), 1);
        assert_eq!(get(), 0);
        set(11);
        exchange(Some(1), 0);
        assert_eq!(get(), 10);
        exchange(Some(0), 2);
        assert_eq!(get(), 0);
        exchange(Some(2), 1);
        assert_eq!(get(), 11);
    }
}
