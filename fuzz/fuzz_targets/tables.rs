//! No text makes a reader of forwarding tables panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use topology::{import, parse};

fuzz_target!(|text: &str| {
    let imported = parse("star:hosts=4").map(import::Imported::from).expect("a topology");
    for read in [import::lft_dump, import::fdb_vectors] {
        if let Err(faults) = read(text, &imported) {
            assert!(!faults.0.is_empty());
        }
    }
});
