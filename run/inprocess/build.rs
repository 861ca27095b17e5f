//! The layers of binary interfaces look for the library under them by this name: this one is loaded before, and takes its place.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libheddle_mpi.so");
}
