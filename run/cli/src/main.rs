//! The heddle command.

use std::process::ExitCode;

/// The allocator of the command. The state of many ranks is many blocks of like sizes; this
/// allocator handles them faster, and touches fewer fresh pages, than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The option `mi_option_purge_delay` of the allocator, which its crate does not name.
const PURGE_DELAY: i32 = 15;

fn main() -> ExitCode {
    // Mailboxes and packets come and go. What they leave is given back to the system after a
    // second, because fresh pages take time: of a large network a tenth of all.
    #[allow(unsafe_code, reason = "the allocator has no other way to set an option")]
    // SAFETY: no other thread runs yet.
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, 1000);
    }
    cli::main()
}
