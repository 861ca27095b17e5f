//! Whatever a trace holds, its reader comes to an end without a crash.

#![no_main]

use libfuzzer_sys::fuzz_target;
use traces::record::Record;
use traces::text::allprof::AllprofReader;

fuzz_target!(|bytes: &[u8]| {
    let mut reader = AllprofReader::new(bytes, 0, 4);
    let mut record = Record::default();
    while reader.next(&mut record).expect("reading from memory cannot fail") {
        assert!(record.enter <= record.leave);
    }
});
