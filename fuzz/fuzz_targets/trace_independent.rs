//! Whatever a time-independent trace of all ranks holds, reader and compiler come to an end without
//! a crash.

#![no_main]

use heddle_fuzz::compiled;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    compiled(&[("t.ti", bytes), ("t.index", b"t.ti\n")], "t.index");
});
