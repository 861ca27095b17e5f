//! Buffers of files. What the C library writes with is there once for all ranks, so that it must
//! not lie in the variables of one: buffers that a program gives are not used, which the standard
//! of C allows (7.23.5.6).

use std::ffi::{c_char, c_int};
use std::ptr;

use crate::next;

type Setvbuf = unsafe extern "C" fn(*mut libc::FILE, *mut c_char, c_int, usize) -> c_int;

/// The modes of buffers, as the C library has them.
const FULL: c_int = 0;
const NONE: c_int = 2;

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn setvbuf(
    file: *mut libc::FILE,
    _: *mut c_char,
    mode: c_int,
    size: usize,
) -> c_int {
    let Some(real) = next::<Setvbuf>(c"setvbuf") else { return -1 };
    // SAFETY: passed on, but for the buffer.
    unsafe { real(file, ptr::null_mut(), mode, size) }
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn setbuf(file: *mut libc::FILE, buffer: *mut c_char) {
    // SAFETY: passed on.
    unsafe { setbuffer(file, buffer, libc::BUFSIZ as usize) }
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn setbuffer(file: *mut libc::FILE, buffer: *mut c_char, size: usize) {
    let mode = if buffer.is_null() { NONE } else { FULL };
    // SAFETY: passed on.
    unsafe { setvbuf(file, buffer, mode, size) };
}
