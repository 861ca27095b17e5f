//! Hands on where zstd was built, for the libraries that [`main`](src/main.rs) builds with it.

fn main() {
    for (variable, name) in [("DEP_ZSTD_ROOT", "ZSTD_ROOT"), ("DEP_ZSTD_INCLUDE", "ZSTD_INCLUDE")] {
        println!("cargo::rerun-if-env-changed={variable}");
        let value = std::env::var(variable).unwrap_or_default();
        println!("cargo::rustc-env={name}={value}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
