//! Whatever traces of ours hold, reader and compiler come to an end without a crash. An input is
//! the files of up to four ranks, one behind the other: each begins with the format's first bytes.

#![no_main]

use heddle_fuzz::compiled;
use libfuzzer_sys::fuzz_target;
use traces::format::MAGIC;

fuzz_target!(|bytes: &[u8]| {
    let starts = bytes.windows(MAGIC.len()).enumerate().filter(|(_, window)| *window == MAGIC);
    let mut places: Vec<_> = starts.map(|(place, _)| place).take(4).collect();
    if places.first() != Some(&0) {
        places.insert(0, 0);
    }
    places.push(bytes.len());
    let parts = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
    let names = ["r-0.hdl", "r-1.hdl", "r-2.hdl", "r-3.hdl"];
    compiled(&names.into_iter().zip(parts).collect::<Vec<_>>(), "r-0.hdl");
});
