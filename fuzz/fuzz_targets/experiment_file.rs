//! Any text is an experiment file or has mistakes that can be shown; what is read prints as a file
//! that says the same of all that its run uses; the rest is printed as a comment.

#![no_main]

use experiment::{Configuration, keys::KEYS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let configuration = match Configuration::from_text("fuzz.toml", text) {
        Ok(configuration) => configuration,
        Err(mistakes) => {
            assert!(mistakes.iter().next().is_some());
            assert!(mistakes.to_string().starts_with("error: "));
            return;
        }
    };
    let printed = configuration.to_string();
    let again = Configuration::from_text("fuzz.toml", &printed).expect("what is printed is read");
    for key in KEYS.iter().filter(|key| configuration.is_used(key.name)) {
        let value = |from: &Configuration| from.get(key.name).map(|(value, _)| value);
        assert_eq!(value(&configuration), value(&again), "{}", key.name);
    }
});
