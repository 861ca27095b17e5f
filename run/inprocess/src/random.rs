//! State that the C library keeps from one call to the next: random numbers, and the text that
//! `strtok` cuts. Each rank has its own.

use std::cell::RefCell;
use std::ffi::{c_char, c_double, c_int, c_long, c_uint, c_ushort};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use crate::{own_threads, ranks};

/// The C library's `struct random_data`.
#[repr(C)]
struct Random {
    places: [*mut i32; 2],
    state: *mut i32,
    kind: [c_int; 3],
    end: *mut i32,
}

/// The C library's `struct drand48_data`.
#[derive(Default)]
#[repr(C)]
struct Drand {
    now: [c_ushort; 3],
    before: [c_ushort; 3],
    added: c_ushort,
    is_ready: c_ushort,
    factor: u64,
}

/// The state of a rank.
struct Own {
    random: Random,
    drand: Drand,
    rest: *mut c_char,
}

/// Bytes of the state of random numbers, as the C library has it at first, and its seed.
const STATE: usize = 128;
const SEED: c_uint = 1;

unsafe extern "C" {
    fn initstate_r(seed: c_uint, state: *mut c_char, size: usize, data: *mut Random) -> c_int;
    fn setstate_r(state: *mut c_char, data: *mut Random) -> c_int;
    fn random_r(data: *mut Random, number: *mut i32) -> c_int;
    fn srandom_r(seed: c_uint, data: *mut Random) -> c_int;
    fn drand48_r(data: *mut Drand, number: *mut c_double) -> c_int;
    fn lrand48_r(data: *mut Drand, number: *mut c_long) -> c_int;
    fn mrand48_r(data: *mut Drand, number: *mut c_long) -> c_int;
    fn srand48_r(seed: c_long, data: *mut Drand) -> c_int;
    fn seed48_r(seed: *mut c_ushort, data: *mut Drand) -> c_int;
    fn lcong48_r(parameters: *mut c_ushort, data: *mut Drand) -> c_int;
}

impl Own {
    fn new() -> Self {
        let null = ptr::null_mut();
        let random = Random { places: [null; 2], state: null, kind: [0; 3], end: null };
        let mut own = Self { random, drand: Drand::default(), rest: ptr::null_mut() };
        // The program may keep its address for longer than this lives.
        let state = Box::leak(Box::new([0_u64; STATE / 8])).as_mut_ptr().cast();
        // SAFETY: so many bytes, aligned for numbers.
        unsafe { initstate_r(SEED, state, STATE, &raw mut own.random) };
        own
    }

    /// The address of the state, as the program knows it.
    fn state(&self) -> *mut c_char {
        self.random.state.wrapping_sub(1).cast()
    }
}

thread_local! {
    /// By rank; of a thread that has none, the first.
    static ALL: RefCell<Vec<Option<Own>>> = const { RefCell::new(Vec::new()) };
}

/// Of ranks with threads of their own.
static SHARED: Mutex<Vec<Option<Own>>> = Mutex::new(Vec::new());

// SAFETY: its pointers are to memory of the rank, or of the process.
unsafe impl Send for Own {}

/// A rank, which runs on this thread, moves to others.
pub fn share(rank: usize) {
    let own = ALL.with_borrow_mut(|all| all.get_mut(rank + 1).and_then(Option::take));
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let length = shared.len().max(rank + 1);
    shared.resize_with(length, || None);
    if let Some(place) = shared.get_mut(rank) {
        *place = own;
    }
}

fn own<T>(work: impl FnOnce(&mut Own) -> T) -> T {
    if let Some(own) = own_threads::current() {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = shared.get_mut(own.rank) {
            return work(place.get_or_insert_with(Own::new));
        }
    }
    let place = ranks::running().map_or(0, |rank| rank + 1);
    ALL.with_borrow_mut(|all| {
        if all.len() <= place {
            all.resize_with(place + 1, || None);
        }
        match all.get_mut(place) {
            Some(own) => work(own.get_or_insert_with(Own::new)),
            None => work(&mut Own::new()),
        }
    })
}

/// A number, from a function that stores one.
fn number<T: Default>(store: impl FnOnce(*mut T) -> c_int) -> T {
    let mut number = T::default();
    store(&raw mut number);
    number
}

// SAFETY of what follows: the C library's functions, on data of the running rank; what comes from
// the program is passed on.

#[unsafe(no_mangle)]
extern "C" fn random() -> c_long {
    own(|own| number(|place| unsafe { random_r(&raw mut own.random, place) })).into()
}

#[unsafe(no_mangle)]
extern "C" fn rand() -> c_int {
    own(|own| number(|place| unsafe { random_r(&raw mut own.random, place) }))
}

#[unsafe(no_mangle)]
extern "C" fn srandom(seed: c_uint) {
    own(|own| unsafe { srandom_r(seed, &raw mut own.random) });
}

#[unsafe(no_mangle)]
extern "C" fn srand(seed: c_uint) {
    srandom(seed);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char {
    own(|own| {
        let before = own.state();
        let failed = unsafe { initstate_r(seed, state, size, &raw mut own.random) } != 0;
        if failed { ptr::null_mut() } else { before }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setstate(state: *mut c_char) -> *mut c_char {
    own(|own| {
        let before = own.state();
        let failed = unsafe { setstate_r(state, &raw mut own.random) } != 0;
        if failed { ptr::null_mut() } else { before }
    })
}

#[unsafe(no_mangle)]
extern "C" fn drand48() -> c_double {
    own(|own| number(|place| unsafe { drand48_r(&raw mut own.drand, place) }))
}

#[unsafe(no_mangle)]
extern "C" fn lrand48() -> c_long {
    own(|own| number(|place| unsafe { lrand48_r(&raw mut own.drand, place) }))
}

#[unsafe(no_mangle)]
extern "C" fn mrand48() -> c_long {
    own(|own| number(|place| unsafe { mrand48_r(&raw mut own.drand, place) }))
}

#[unsafe(no_mangle)]
extern "C" fn srand48(seed: c_long) {
    own(|own| unsafe { srand48_r(seed, &raw mut own.drand) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn seed48(seed: *mut c_ushort) -> *mut c_ushort {
    own(|own| {
        unsafe { seed48_r(seed, &raw mut own.drand) };
        own.drand.before.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lcong48(parameters: *mut c_ushort) {
    own(|own| unsafe { lcong48_r(parameters, &raw mut own.drand) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strtok(text: *mut c_char, ends: *const c_char) -> *mut c_char {
    own(|own| unsafe { libc::strtok_r(text, ends, &raw mut own.rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of the C library: the first of glibc's `random` with its seed 1, and
    /// of POSIX's 48-bit generator with the seed 1, whose first state is
    /// 0x5DEECE66D · 0x1330E + 0xB modulo 2^48.
    #[test]
    fn numbers_of_the_c_library() {
        srandom(1);
        assert_eq!([random(), random()], [1_804_289_383, 846_930_886]);
        srand(1);
        assert_eq!(rand(), 1_804_289_383);
        srand48(1);
        let state = (0x5_DEEC_E66D_u64 * 0x1_330E + 0xB) % (1 << 48);
        assert_eq!(lrand48().cast_unsigned(), state >> 17);
        srand48(1);
        assert!((drand48() - state as f64 / (1_u64 << 48) as f64).abs() < 1e-15);
    }

    #[test]
    fn a_text_is_cut() {
        let mut text = *b"a,b;c\0";
        let mut next = text.as_mut_ptr().cast();
        let mut parts = Vec::new();
        loop {
            // SAFETY: a string, and then the rest of it.
            let part = unsafe { strtok(next, c",;".as_ptr()) };
            if part.is_null() {
                break;
            }
            // SAFETY: a part of the string.
            parts.push(unsafe { std::ffi::CStr::from_ptr(part) }.to_owned());
            next = ptr::null_mut();
        }
        assert_eq!(parts, [c"a", c"b", c"c"].map(ToOwned::to_owned));
    }
}
