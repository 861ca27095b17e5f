//! Info about the way in which the program was started.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::{Info, MEMORY_KINDS};
use crate::abi;
use crate::state::mpi;

/// `MPI_INFO_ENV`: what the program was started with.
pub(super) fn of_start() -> Info {
    let arguments: Vec<Vec<u8>> =
        std::env::args_os().map(|argument| argument.as_bytes().to_vec()).collect();
    of(&arguments)
}

/// Builds the info from the arguments of a program.
pub(super) fn of(arguments: &[Vec<u8>]) -> Info {
    let mut info = Info::default();
    let mut set = |key: &str, value: &[u8]| {
        let room = abi::MAX_INFO_VAL as usize - 1;
        info.set(key.as_bytes(), value.get(..room).unwrap_or(value));
    };
    if let Some((command, rest)) = arguments.split_first() {
        set("command", command);
        set("argv", &rest.join(&b' '));
    }
    set("maxprocs", &ranks());
    set("arch", std::env::consts::ARCH.as_bytes());
    set("host", crate::environment::processor_name().as_bytes());
    if let Ok(folder) = std::env::current_dir() {
        set("wdir", folder.as_os_str().as_bytes());
    }
    set("thread_level", crate::environment::thread_level_name().as_bytes());
    info.set(MEMORY_KINDS.0, MEMORY_KINDS.1);
    info
}

/// The number of ranks; before `MPI_Init`, the one that `heddle mpirun` says.
fn ranks() -> Vec<u8> {
    let held = mpi().port.get().map(rank_ipc::Client::ranks);
    let known = Some(mpi().comms.world_size()).filter(|ranks| *ranks > 0).or(held);
    let said =
        || std::env::var_os("PMI_SIZE").map_or_else(|| b"1".to_vec(), OsString::into_encoded_bytes);
    known.map_or_else(said, |ranks| ranks.to_string().into_bytes())
}
