// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::abi::{self, Handle};
use crate::control::ranks;
use crate::state::alongside;

unsafe extern "C" {
    fn heddle_T_init_thread(required: c_int, provided: *mut c_int) -> c_int;
    fn heddle_T_finalize() -> c_int;
    fn heddle_T_pvar_get_index(name: *const c_char, class: c_int, index: *mut c_int) -> c_int;
    fn heddle_T_pvar_session_create(session: *mut Handle) -> c_int;
    fn heddle_T_pvar_session_free(session: *mut Handle) -> c_int;
    fn heddle_T_pvar_handle_alloc(
        session: Handle,
        index: c_int,
        object: *mut c_void,
        handle: *mut Handle,
        count: *mut c_int,
    ) -> c_int;
    fn heddle_T_pvar_start(session: Handle, handle: Handle) -> c_int;
    fn heddle_T_pvar_stop(session: Handle, handle: Handle) -> c_int;
    fn heddle_T_pvar_read(session: Handle, handle: Handle, place: *mut u64) -> c_int;
    fn heddle_T_pvar_readreset(session: Handle, handle: Handle, place: *mut u64) -> c_int;
    fn heddle_T_pvar_write(session: Handle, handle: Handle, from: *const u64) -> c_int;
    fn heddle_T_cvar_get_num(number: *mut c_int) -> c_int;
    fn heddle_T_cvar_get_info(
        index: c_int,
        name: *mut c_char,
        name_len: *mut c_int,
        verbosity: *mut c_int,
        datatype: *mut Handle,
        enumtype: *mut Handle,
        desc: *mut c_char,
        desc_len: *mut c_int,
        bind: *mut c_int,
        scope: *mut c_int,
    ) -> c_int;
    fn heddle_T_cvar_handle_alloc(
        index: c_int,
        object: *mut c_void,
        handle: *mut Handle,
        count: *mut c_int,
    ) -> c_int;
    fn heddle_T_cvar_read(handle: Handle, place: *mut c_void) -> c_int;
    fn heddle_T_cvar_write(handle: Handle, from: *const c_void) -> c_int;
    fn heddle_T_category_get_pvars(index: c_int, length: c_int, indices: *mut c_int) -> c_int;
}

fn program(body: impl Fn() + Sync) {
    ranks(1, |_| {
        let mut provided = 0;
        let code = unsafe { heddle_T_init_thread(abi::THREAD_SINGLE, &raw mut provided) };
        assert_eq!((code, provided), (abi::SUCCESS, abi::THREAD_SINGLE));
        body();
        assert_eq!(unsafe { heddle_T_finalize() }, abi::SUCCESS);
        let mut number = 0;
        let code = unsafe { heddle_T_cvar_get_num(&raw mut number) };
        assert_eq!(code, abi::T_ERR_NOT_INITIALIZED);
    });
}

/// Counts are those of the time between start and stop: 5 bytes of 3 + 5 + 7, then 100 written, and
/// 9 more.
#[test]
fn a_meter_counts_while_it_runs() {
    program(|| unsafe {
        let (mut session, mut handle, mut index, mut count) = (0, 0, 0, 0);
        let class = abi::T_PVAR_CLASS_AGGREGATE;
        assert_eq!(heddle_T_pvar_get_index(c"bytes_sent".as_ptr(), class, &raw mut index), 0);
        let other = abi::T_PVAR_CLASS_TIMER;
        let code = heddle_T_pvar_get_index(c"bytes_sent".as_ptr(), other, &raw mut index);
        assert_eq!(code, abi::T_ERR_INVALID_NAME);
        assert_eq!(heddle_T_pvar_session_create(&raw mut session), 0);
        let code =
            heddle_T_pvar_handle_alloc(session, index, null_mut(), &raw mut handle, &raw mut count);
        assert_eq!((code, count), (0, 1));
        let sent = |bytes| alongside(|mpi| mpi.tools.counters.sent(bytes));
        let mut bytes = 0;
        sent(3);
        assert_eq!(heddle_T_pvar_start(session, handle), 0);
        sent(5);
        assert_eq!(heddle_T_pvar_stop(session, handle), 0);
        sent(7);
        assert_eq!((heddle_T_pvar_read(session, handle, &raw mut bytes), bytes), (0, 5));
        bytes = 100;
        assert_eq!(heddle_T_pvar_write(session, handle, &raw const bytes), 0);
        // All of the session.
        assert_eq!(heddle_T_pvar_start(session, 1), 0);
        sent(9);
        assert_eq!((heddle_T_pvar_readreset(session, handle, &raw mut bytes), bytes), (0, 109));
        assert_eq!((heddle_T_pvar_read(session, handle, &raw mut bytes), bytes), (0, 0));
        let wrong = heddle_T_pvar_read(session + 1, handle, &raw mut bytes);
        assert_eq!(wrong, abi::T_ERR_INVALID_SESSION);
        let ended = session;
        assert_eq!(heddle_T_pvar_session_free(&raw mut session), 0);
        assert_eq!(session, 0);
        let code = heddle_T_pvar_read(ended, handle, &raw mut bytes);
        assert_eq!(code, abi::T_ERR_INVALID_SESSION);
    });
}

#[test]
fn control_variables_tell_and_refuse() {
    program(|| unsafe {
        alongside(|mpi| mpi.tools.set_collectives("openmpi-4.1"));
        let (mut name, mut length, mut datatype, mut handle, mut count) = ([0; 5], 5, 0, 0, 0);
        let code = heddle_T_cvar_get_info(
            0,
            name.as_mut_ptr(),
            &raw mut length,
            null_mut(),
            &raw mut datatype,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        );
        // Four characters of "collectives" and a zero; 12 bytes would hold it all.
        assert_eq!((code, length, datatype), (0, 12, abi::CHAR));
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"coll");
        let code = heddle_T_cvar_handle_alloc(0, null_mut(), &raw mut handle, &raw mut count);
        assert_eq!((code, count), (0, 256));
        let mut text = [1; 256];
        assert_eq!(heddle_T_cvar_read(handle, text.as_mut_ptr().cast()), 0);
        assert_eq!(CStr::from_ptr(text.as_ptr()), c"openmpi-4.1");
        assert_eq!(heddle_T_cvar_write(handle, text.as_ptr().cast()), abi::T_ERR_CVAR_SET_NEVER);
        let mut found = [-1; 4];
        assert_eq!(heddle_T_category_get_pvars(0, 2, found.as_mut_ptr()), 0);
        assert_eq!(found, [0, 1, -1, -1]);
        assert_eq!(heddle_T_category_get_pvars(2, 2, found.as_mut_ptr()), abi::T_ERR_INVALID_INDEX);
    });
}
