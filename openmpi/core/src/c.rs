//! The functions that C calls. `c/heddle_rails.h` says what each takes and gives.
//!
//! A function that fails gives a code and writes the reason into a text of the caller's, cut to its
//! length.
#![allow(unsafe_code)]
#![expect(clippy::missing_safety_doc, reason = "what C must keep to stands in heddle_rails.h")]

use std::{
    ffi::{CStr, c_char, c_int},
    path::Path,
    ptr, slice,
    time::Duration,
};

use rails::MOST_RAILS;

use crate::{
    Error,
    cache::Cache,
    estimate::Samples,
    host::{Host, Toward},
    machine,
    rail::Rail,
    segment::Segment,
};

/// A text of the caller's for the reason of an error.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    text: *mut c_char,
    length: usize,
}

impl Reason {
    fn write(self, error: &Error) {
        if self.text.is_null() || self.length == 0 {
            return;
        }
        let message = error.to_string();
        let bytes = &message.as_bytes()[..message.len().min(self.length - 1)];
        // SAFETY: the caller gives a text of that length.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), self.text, bytes.len());
            *self.text.add(bytes.len()) = 0;
        }
    }

    /// Returns the value, or nothing and the reason why.
    fn or_say<T>(self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.write(&error)).ok()
    }
}

/// Returns the text at an address; `None` for the null address.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: the caller gives a text that ends with a zero.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    text.to_str().ok()
}

/// Makes the scheduler of a host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_host_new(
    rails: *const Rail,
    count: u32,
    policy: *const c_char,
    segment: *const c_char,
    processes: u32,
    reason: Reason,
) -> *mut Host {
    // SAFETY: the caller gives so many rails, and texts that end with a zero.
    let (rails, policy, name) =
        unsafe { (slice::from_raw_parts(rails, count as usize), text(policy), text(segment)) };
    let made = || {
        let segment = name.map_or_else(|| Ok(Segment::own()), |it| Segment::shared(it, processes));
        Host::new(rails, policy.unwrap_or("vft"), segment?)
    };
    reason.or_say(made()).map_or(ptr::null_mut(), |host| Box::into_raw(Box::new(host)))
}

/// Frees a host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_host_free(host: *mut Host) {
    if !host.is_null() {
        // SAFETY: `heddle_host_new` has made it, and the caller does not use it any more.
        drop(unsafe { Box::from_raw(host) });
    }
}

/// Chooses the rail of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_choose(
    host: *mut Host,
    bytes: u64,
    usable: u8,
    toward: *mut Toward,
) -> u8 {
    // SAFETY: both are the caller's, who lets one thread at a time call.
    let (host, toward) = unsafe { (&mut *host, &mut *toward) };
    host.choose(bytes, usable, toward)
}

/// Notes bytes of a large message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_used(host: *const Host, rail: u8, bytes: u64) {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.used(rail, bytes);
}

/// Returns the rail of a large message that is asked for next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_next(host: *const Host, bytes: u64, usable: u8, turn: u8) -> u8 {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.next(bytes, usable, turn)
}

/// Notes that a large message was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_taken(
    host: *mut Host,
    rail: u8,
    bytes: u64,
    usable: u8,
    turn: *mut u8,
) {
    // SAFETY: `heddle_host_new` has made it; the caller's place, and one thread at a time.
    let (host, turn) = unsafe { (&mut *host, &mut *turn) };
    host.taken(rail, bytes, usable, turn);
}

/// Gives the shares of a large message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_shares(
    host: *const Host,
    bytes: u64,
    usable: u8,
    shares: *mut [f64; MOST_RAILS],
) {
    // SAFETY: `heddle_host_new` has made it; the caller's room.
    unsafe { *shares = (*host).shares(bytes, usable) };
}

/// Returns 1 for a rail that is slower than its parameters say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_is_slower(host: *const Host, rail: u8) -> c_int {
    // SAFETY: `heddle_host_new` has made it.
    c_int::from(unsafe { &*host }.is_slower(rail))
}

/// Notes that a rail is slower than expected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_slower(host: *const Host, rail: u8, rate: u64, times: f64) {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.slower(rail, rate, times);
}

/// Returns what a byte takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_rate(host: *const Host, rail: u8) -> u64 {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.rate(rail)
}

/// Notes that a rail is as fast as its parameters say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_as_fast(host: *const Host, rail: u8) {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.as_fast(rail);
}

/// Returns how long a rail is busy, in nanoseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_ahead(host: *const Host, rail: u8) -> f64 {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.ahead(rail) as f64 / 1024.0
}

/// Returns the bytes that a rail has still to take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_backlog(host: *const Host, rail: u8) -> u64 {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.backlog(rail)
}

/// Returns the bytes between two that are confirmed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_spacing(host: *const Host, rail: u8, least: u64) -> u64 {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.spacing(rail, least)
}

/// Returns how many bytes may be unconfirmed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_limit(host: *const Host, rail: u8, least: u64) -> u64 {
    // SAFETY: `heddle_host_new` has made it.
    unsafe { &*host }.limit(rail, least)
}

/// Gives rails to C; the error says if there are more than it has room for.
unsafe fn give(rails: &[Rail], room: *mut Rail) -> Result<c_int, Error> {
    if rails.len() > MOST_RAILS {
        let most = format!("there are {} rails, and at most {MOST_RAILS} can be used", rails.len());
        return Err(Error::new(most));
    }
    // SAFETY: the caller gives room for the most rails.
    unsafe { ptr::copy_nonoverlapping(rails.as_ptr(), room, rails.len()) };
    Ok(c_int::try_from(rails.len()).unwrap_or_default())
}

/// Reads the rails of a machine file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_read(
    path: *const c_char,
    rails: *mut Rail,
    reason: Reason,
) -> c_int {
    // SAFETY: a text that ends with a zero.
    let path = unsafe { text(path) }.unwrap_or_default();
    let read = || {
        let text = units::text::read(Path::new(path));
        let text = text.map_err(|error| Error::new(format!("{path}: {error}")))?;
        let found = machine::read(&text).map_err(|why| Error::new(format!("{path}: {why}")))?;
        // SAFETY: the caller's room.
        unsafe { give(&found, rails) }
    };
    reason.or_say(read()).unwrap_or(-1)
}

/// Reads the rails that a cache has kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_cache_read(
    folder: *const c_char,
    key: *const c_char,
    seconds: u64,
    rails: *mut Rail,
    reason: Reason,
) -> c_int {
    // SAFETY: texts that end with a zero.
    let (folder, key) = unsafe { (text(folder), text(key).unwrap_or_default()) };
    let found = Cache::new(folder.map(Path::new))
        .and_then(|cache| cache.read(key, Duration::from_secs(seconds)));
    // SAFETY: the caller's room.
    let given = found.and_then(|found| found.map_or(Ok(0), |found| unsafe { give(&found, rails) }));
    reason.or_say(given).unwrap_or(-1)
}

/// Keeps rails in a cache.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_cache_write(
    folder: *const c_char,
    key: *const c_char,
    rails: *const Rail,
    count: u32,
    reason: Reason,
) -> c_int {
    // SAFETY: texts that end with a zero, and so many rails.
    let (folder, key, rails) = unsafe {
        (text(folder), text(key).unwrap_or_default(), slice::from_raw_parts(rails, count as usize))
    };
    let written = Cache::new(folder.map(Path::new)).and_then(|cache| cache.write(key, rails));
    reason.or_say(written).map_or(-1, |()| 0)
}

/// Makes an empty set of samples.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_samples_new() -> *mut Samples {
    Box::into_raw(Box::default())
}

/// Frees samples that nothing is estimated from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_samples_free(samples: *mut Samples) {
    // SAFETY: `heddle_samples_new` has made them, and the caller does not use them any more.
    drop(unsafe { Box::from_raw(samples) });
}

/// Adds the time of a round trip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_trip(
    samples: *mut Samples,
    messages: u32,
    delay: f64,
    bytes: u64,
    time: f64,
) {
    // SAFETY: `heddle_samples_new` has made them.
    unsafe { &mut *samples }.trip(messages, delay, bytes, time);
}

/// Adds the time of a send.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_send(samples: *mut Samples, bytes: u64, time: f64) {
    // SAFETY: `heddle_samples_new` has made them.
    unsafe { &mut *samples }.sent(bytes, time);
}

/// Estimates a rail from samples, and frees them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_fit(
    samples: *mut Samples,
    name: *const c_char,
    rail: *mut Rail,
    reason: Reason,
) -> c_int {
    // SAFETY: `heddle_samples_new` has made them, the text ends with a zero.
    let (samples, name) = unsafe { (Box::from_raw(samples), text(name).unwrap_or_default()) };
    let Some(fitted) = reason.or_say(samples.fit(name)) else { return -1 };
    // SAFETY: the caller's room for one rail.
    unsafe { *rail = fitted };
    0
}
