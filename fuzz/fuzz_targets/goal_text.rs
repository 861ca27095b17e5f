//! A GOAL text that is read comes back from its written form as the same program.

#![no_main]

use libfuzzer_sys::fuzz_target;
use schedule::goal::{Image, check_text, write_text};

fuzz_target!(|text: &[u8]| {
    let report = check_text(text);
    let image = match Image::from_text(text) {
        Ok((image, _)) => image,
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            diagnostics.iter().for_each(|diagnostic| drop(diagnostic.render("fuzz.goal")));
            return;
        }
    };
    assert!(
        report.findings.iter().all(|finding| finding.index.is_some() == finding.line.is_some())
    );
    let valid = Image::from_binary(image.bytes().to_vec()).expect("what is compiled is valid");
    let mut written = Vec::new();
    write_text(&valid, &mut written).expect("writing to memory cannot fail");
    let (again, warnings) = Image::from_text(&written).expect("what is written is read");
    assert_eq!(warnings, []);
    assert!(again.bytes() == image.bytes());
});
