//! The heddle command.

use std::process::ExitCode;

/// The allocator of the command. The state of many ranks is many blocks of like sizes; this
/// allocator handles them faster, and touches fewer fresh pages, than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
