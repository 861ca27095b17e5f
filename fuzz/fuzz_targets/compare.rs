//! Two tables of calls are compared, or an error says why not. An input is the tables, parted by a
//! form feed; without one, it is both.

#![no_main]

use experiment::compare::compare;
use heddle_fuzz::folder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let place = bytes.iter().position(|byte| *byte == b'\x0c');
    let (first, second) = place.map_or((bytes, bytes), |at| (&bytes[..at], &bytes[at + 1..]));
    let parts = [first, second].map(|table| {
        let folder = folder(&[("calls.csv", table)]);
        let kept = folder.with_extension(if table == first { "a" } else { "b" });
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::rename(folder, &kept).expect("a folder for a table");
        kept
    });
    match compare([&parts[0], &parts[1]], Some((&parts[0], &mut Vec::new()))) {
        Ok(comparison) => drop(comparison),
        Err(failure) => assert!(!failure.to_string().is_empty()),
    }
});
