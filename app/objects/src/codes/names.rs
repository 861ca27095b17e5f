//! The error classes of the standard, their names and meanings.

use std::ffi::c_int;

use crate::abi;

/// Class, its name in C, what it means.
const CLASSES: &[(c_int, &str, &str)] = &[
    (abi::SUCCESS, "", "no error"),
    (abi::ERR_BUFFER, "MPI_ERR_BUFFER", "invalid buffer"),
    (abi::ERR_COUNT, "MPI_ERR_COUNT", "invalid count"),
    (abi::ERR_TYPE, "MPI_ERR_TYPE", "invalid datatype"),
    (abi::ERR_TAG, "MPI_ERR_TAG", "invalid tag"),
    (abi::ERR_COMM, "MPI_ERR_COMM", "invalid communicator"),
    (abi::ERR_RANK, "MPI_ERR_RANK", "invalid rank"),
    (abi::ERR_REQUEST, "MPI_ERR_REQUEST", "invalid request"),
    (abi::ERR_ROOT, "MPI_ERR_ROOT", "invalid root"),
    (abi::ERR_GROUP, "MPI_ERR_GROUP", "invalid group"),
    (abi::ERR_OP, "MPI_ERR_OP", "invalid reduction operation"),
    (abi::ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY", "invalid topology"),
    (abi::ERR_DIMS, "MPI_ERR_DIMS", "invalid dimensions"),
    (abi::ERR_ARG, "MPI_ERR_ARG", "invalid argument"),
    (abi::ERR_UNKNOWN, "MPI_ERR_UNKNOWN", "unknown error"),
    (abi::ERR_TRUNCATE, "MPI_ERR_TRUNCATE", "message longer than the buffer of its receive"),
    (abi::ERR_OTHER, "MPI_ERR_OTHER", "an error of no other class"),
    (abi::ERR_INTERN, "MPI_ERR_INTERN", "error within the library"),
    (abi::ERR_PENDING, "MPI_ERR_PENDING", "operation not complete"),
    (abi::ERR_IN_STATUS, "MPI_ERR_IN_STATUS", "errors are in the statuses"),
    (abi::ERR_ACCESS, "MPI_ERR_ACCESS", "permission denied"),
    (abi::ERR_AMODE, "MPI_ERR_AMODE", "invalid mode to open a file"),
    (abi::ERR_ASSERT, "MPI_ERR_ASSERT", "invalid assertion"),
    (abi::ERR_BAD_FILE, "MPI_ERR_BAD_FILE", "invalid file name"),
    (abi::ERR_BASE, "MPI_ERR_BASE", "invalid base of memory"),
    (abi::ERR_CONVERSION, "MPI_ERR_CONVERSION", "a conversion function of the program failed"),
    (abi::ERR_DISP, "MPI_ERR_DISP", "invalid displacement"),
    (abi::ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP", "data representation already defined"),
    (abi::ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS", "file exists"),
    (abi::ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE", "file in use"),
    (abi::ERR_FILE, "MPI_ERR_FILE", "invalid file"),
    (abi::ERR_INFO_KEY, "MPI_ERR_INFO_KEY", "invalid info key"),
    (abi::ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY", "no such info key"),
    (abi::ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE", "invalid info value"),
    (abi::ERR_INFO, "MPI_ERR_INFO", "invalid info object"),
    (abi::ERR_IO, "MPI_ERR_IO", "input or output failed"),
    (abi::ERR_KEYVAL, "MPI_ERR_KEYVAL", "invalid keyval"),
    (abi::ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE", "invalid kind of lock"),
    (abi::ERR_NAME, "MPI_ERR_NAME", "name not published"),
    (abi::ERR_NO_MEM, "MPI_ERR_NO_MEM", "out of memory"),
    (abi::ERR_NOT_SAME, "MPI_ERR_NOT_SAME", "ranks of a collective call disagree"),
    (abi::ERR_NO_SPACE, "MPI_ERR_NO_SPACE", "no space left"),
    (abi::ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE", "no such file"),
    (abi::ERR_PORT, "MPI_ERR_PORT", "invalid port"),
    (abi::ERR_QUOTA, "MPI_ERR_QUOTA", "quota exceeded"),
    (abi::ERR_READ_ONLY, "MPI_ERR_READ_ONLY", "file or file system is read-only"),
    (abi::ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"),
    (abi::ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"),
    (abi::ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE", "access outside of a window"),
    (abi::ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED", "memory cannot be shared"),
    (abi::ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC", "synchronisation of a window out of order"),
    (abi::ERR_SERVICE, "MPI_ERR_SERVICE", "invalid service"),
    (abi::ERR_SIZE, "MPI_ERR_SIZE", "invalid size"),
    (abi::ERR_SPAWN, "MPI_ERR_SPAWN", "processes cannot be started"),
    (
        abi::ERR_UNSUPPORTED_DATAREP,
        "MPI_ERR_UNSUPPORTED_DATAREP",
        "data representation not supported",
    ),
    (abi::ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION", "operation not supported"),
    (abi::ERR_WIN, "MPI_ERR_WIN", "invalid window"),
    (abi::ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR", "wrong flavour of window"),
    (abi::ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED", "a process has ended"),
    (abi::ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE", "value too large for its variable"),
    (abi::ERR_SESSION, "MPI_ERR_SESSION", "invalid session"),
    (abi::ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER", "invalid error handler"),
    (abi::ERR_ABI, "MPI_ERR_ABI", "error of the binary interface"),
    (abi::T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT", "the tools interface cannot be initialised"),
    (abi::T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE", "not accessible"),
    (
        abi::T_ERR_NOT_INITIALIZED,
        "MPI_T_ERR_NOT_INITIALIZED",
        "the tools interface is not initialised",
    ),
    (abi::T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED", "not supported"),
    (abi::T_ERR_MEMORY, "MPI_T_ERR_MEMORY", "out of memory"),
    (abi::T_ERR_INVALID, "MPI_T_ERR_INVALID", "invalid use of the tools interface"),
    (
        abi::T_ERR_INVALID_INDEX,
        "MPI_T_ERR_INVALID_INDEX",
        "no variable, category or event of this number",
    ),
    (abi::T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM", "no item of this number"),
    (
        abi::T_ERR_INVALID_SESSION,
        "MPI_T_ERR_INVALID_SESSION",
        "invalid session of the tools interface",
    ),
    (
        abi::T_ERR_INVALID_HANDLE,
        "MPI_T_ERR_INVALID_HANDLE",
        "invalid handle of the tools interface",
    ),
    (
        abi::T_ERR_INVALID_NAME,
        "MPI_T_ERR_INVALID_NAME",
        "no variable, category or event of this name",
    ),
    (abi::T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES", "no handles left"),
    (abi::T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS", "no sessions left"),
    (abi::T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW", "the variable cannot be set now"),
    (abi::T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER", "the variable cannot be set"),
    (abi::T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE", "the variable cannot be written"),
    (
        abi::T_ERR_PVAR_NO_STARTSTOP,
        "MPI_T_ERR_PVAR_NO_STARTSTOP",
        "the variable cannot be started or stopped",
    ),
    (
        abi::T_ERR_PVAR_NO_ATOMIC,
        "MPI_T_ERR_PVAR_NO_ATOMIC",
        "the variable cannot be read and reset at once",
    ),
    (abi::ERR_LASTCODE, "MPI_ERR_LASTCODE", "the last error code of the library"),
];

/// Name and meaning of a class of the standard.
pub(super) fn known(code: c_int) -> Option<(&'static str, &'static str)> {
    CLASSES.iter().find(|(class, ..)| *class == code).map(|&(_, name, meaning)| (name, meaning))
}

/// The name of an error class, for messages.
pub fn class_name(class: c_int) -> String {
    match known(class) {
        Some((name, _)) => name.into(),
        None => format!("error class {class} of the program"),
    }
}
