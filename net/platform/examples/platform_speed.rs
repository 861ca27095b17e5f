//! Time per route over pairs drawn at random: `cargo run --release -p heddle-platform --example
//! platform_speed -- PLATFORM.xml`.

use std::{process::ExitCode, time::Instant};

use platform::Platform;

const ROUTES: u32 = 2_000_000;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: speed PLATFORM.xml");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let platform = match Platform::read(&text) {
        Ok(platform) => platform,
        Err(faults) => {
            eprint!("{}", faults.render(&file));
            return ExitCode::FAILURE;
        }
    };
    let read = begin.elapsed();
    let hosts = platform.hosts.len() as u64;
    let (mut links, mut total, mut state) = (Vec::new(), 0, 1_u64);
    // Numerical Recipes' generator; its upper bits are good enough to pick hosts.
    let mut pick = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 32) * hosts) >> 32) as u32
    };
    let begin = Instant::now();
    for _ in 0..ROUTES {
        let _ = platform.route(pick(), pick(), &mut links);
        total += links.len();
    }
    let each = begin.elapsed() / ROUTES;
    let links = total as f64 / f64::from(ROUTES);
    println!(
        "{hosts} hosts, {} links, read in {read:.1?}; {links:.1} links and {each:.0?} per route",
        platform.links().len()
    );
    ExitCode::SUCCESS
}
