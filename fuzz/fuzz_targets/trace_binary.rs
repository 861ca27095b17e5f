//! Whatever a trace holds, its reader comes to an end without a crash.

#![no_main]

use libfuzzer_sys::fuzz_target;
use traces::record::Record;
use traces::format::Reader;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut reader) = Reader::new(bytes) else { return };
    let mut record = Record::default();
    while reader.next(&mut record).expect("reading from memory cannot fail") {
        assert!(record.enter <= record.leave);
    }
});
