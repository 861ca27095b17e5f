//! A time-independent trace runs on a platform, or an error says why not. An input is the platform
//! and the trace of all ranks, parted by a form feed.

#![no_main]

use experiment::{Configuration, Observers, Plan};
use heddle_fuzz::folder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Large numbers build large machines and long runs; their texts are short.
    let digits = |c: u8| c.is_ascii_digit();
    if text.as_bytes().windows(8).any(|run| run.iter().copied().all(digits)) {
        return;
    }
    let Some((platform, trace)) = text.split_once('\x0c') else { return };
    let large = platform.as_bytes().windows(4).any(|run| run.iter().copied().all(digits));
    if large && (platform.contains("radical") || platform.contains("topo_parameters")) {
        return;
    }
    let files = [("p.xml", platform), ("t.ti", trace), ("t.index", "t.ti\n")];
    let folder = folder(&files.map(|(name, text)| (name, text.as_bytes())));
    let path = |name: &str| folder.join(name).display().to_string();
    let experiment = format!(
        "[workload]\nsource = {:?}\n[network]\nmodel = \"flow\"\ntopology = {:?}\n",
        path("t.index"),
        path("p.xml")
    );
    let configuration = Configuration::from_text("fuzz.toml", &experiment).expect("it is right");
    match Plan::new(configuration) {
        Ok(plan) => {
            if let Err(failure) = plan.run(Observers::default()) {
                assert!(!failure.to_string().is_empty());
            }
        }
        Err(mistakes) => assert!(mistakes.to_string().starts_with("error: ")),
    }
});
