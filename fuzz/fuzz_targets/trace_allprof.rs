//! Whatever traces of liballprof hold, reader and compiler come to an end without a crash. An input
//! is the file of each of two ranks, parted by a form feed; without one, it is both.

#![no_main]

use heddle_fuzz::compiled;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let place = bytes.iter().position(|byte| *byte == b'\x0c');
    let (first, second) = place.map_or((bytes, bytes), |at| (&bytes[..at], &bytes[at + 1..]));
    compiled(&[("t-0.txt", first), ("t-1.txt", second)], "t-0.txt");
});
