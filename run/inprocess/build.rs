//! The layers of binary interfaces look for the library under them by this name: this one is loaded
//! before, and takes its place. It is initialised before all others, to see their variables as they
//! are before their constructors have run.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libheddle_mpi.so");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,initfirst");
}
