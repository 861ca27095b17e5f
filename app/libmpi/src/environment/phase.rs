//! The phases of a program, and the calls that each allows.

use std::io::Write;

use crate::state::Mpi;

/// The progress of a program with `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Before `MPI_Init`.
    #[default]
    Before,
    /// Between the two.
    Initialised,
    /// After `MPI_Finalize`.
    Finalised,
}

/// Functions that may be called at any time (MPI 4.1, section 11.4.1); a name that ends with `_`
/// stands for all that begin so.
const ANY_TIME: [&str; 23] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Get_version",
    "MPI_Get_library_version",
    "MPI_Abi_",
    "MPI_Info_",
    "MPI_Session_init",
    "MPI_Session_create_errhandler",
    "MPI_Comm_create_errhandler",
    "MPI_Win_create_errhandler",
    "MPI_File_create_errhandler",
    "MPI_Errhandler_create",
    "MPI_Errhandler_free",
    "MPI_Error_class",
    "MPI_Error_string",
    "MPI_Add_error_",
    "MPI_Remove_error_",
    "MPI_Get_hw_resource_info",
    "MPI_Pcontrol",
    "MPI_T_",
    "MPI_Get_processor_name",
];

/// Ends the program if it calls a function before it may, or when it may no more: there is nobody
/// yet to return an error through, and real libraries end it, too.
pub fn check_phase(mpi: &Mpi, name: &str) {
    let environment = &mpi.environment;
    if environment.open.get() > 0 {
        return;
    }
    let allowed = |entry: &str| {
        if entry.ends_with('_') { name.starts_with(entry) } else { name == entry }
    };
    if ANY_TIME.iter().any(|entry| allowed(entry)) {
        return;
    }
    let when = match environment.phase.get() {
        Phase::Finalised => "after MPI_Finalize",
        Phase::Before | Phase::Initialised => "before MPI_Init",
    };
    // In one piece: several ranks may say it at once.
    let text = format!("heddle: rank {}: {name} was called {when}\n", mpi.comms.me());
    let _ = std::io::stderr().write_all(text.as_bytes());
    super::abort(1)
}
