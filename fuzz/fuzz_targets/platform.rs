//! No text makes the reader of platforms panic; what is read has routes of existing links, or an
//! error says why not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use platform::Platform;
use topology::Faults;

fuzz_target!(|text: &str| {
    // Large numbers build large machines; their texts are short.
    let digits = |c: u8| c.is_ascii_digit();
    if text.as_bytes().windows(5).any(|run| run.iter().copied().all(digits)) {
        return;
    }
    check(Platform::read(text));
    check(Platform::read_toml(text));
    let _ = Platform::graph_of_toml(text);
});

fn check(read: Result<Platform, Faults>) {
    let platform = match read {
        Ok(platform) => platform,
        Err(faults) => return assert!(!faults.0.is_empty()),
    };
    let hosts = platform.hosts.len() as u32;
    let mut links = Vec::new();
    for (from, to) in (0..hosts.min(12)).flat_map(|a| (0..hosts.min(12)).map(move |b| (a, b))) {
        if let Ok(latency) = platform.route(from, hosts - 1 - to, &mut links) {
            assert!(latency >= 0.0);
            assert!(links.iter().all(|&link| (link as usize) < platform.links().len()));
        }
    }
}
