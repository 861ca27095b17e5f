//! Chooses how many simulators there are.
//!
//! One for each type of program and network is what the optimised command has, and what tests try;
//! it takes most of the time of compiling. Where the command is to be quick to build (`make build`,
//! `cargo install`: the profile `release` as it stands), one serves programs of all types.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(one_simulator)");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Both `dist` and `dev` are "debug" here.
    if is("PROFILE", "release") && !is("OPT_LEVEL", "3") {
        println!("cargo::rustc-cfg=one_simulator");
    }
}
