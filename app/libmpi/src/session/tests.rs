// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::ffi::{CStr, c_char, c_int};

use crate::abi::{self, Handle};
use crate::control::ranks;

unsafe extern "C" {
    fn heddle_Initialized(flag: *mut c_int) -> c_int;
    fn heddle_Session_init(info: Handle, handler: Handle, session: *mut Handle) -> c_int;
    fn heddle_Session_finalize(session: *mut Handle) -> c_int;
    fn heddle_Session_get_num_psets(session: Handle, info: Handle, number: *mut c_int) -> c_int;
    fn heddle_Session_get_nth_pset(
        session: Handle,
        info: Handle,
        n: c_int,
        length: *mut c_int,
        name: *mut c_char,
    ) -> c_int;
    fn heddle_Group_from_session_pset(
        session: Handle,
        name: *const c_char,
        group: *mut Handle,
    ) -> c_int;
    fn heddle_Group_size(group: Handle, size: *mut c_int) -> c_int;
    fn heddle_Comm_create_from_group(
        group: Handle,
        tag: *const c_char,
        info: Handle,
        handler: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Comm_size(comm: Handle, size: *mut c_int) -> c_int;
    fn heddle_Comm_rank(comm: Handle, rank: *mut c_int) -> c_int;
}

/// From a session to a communicator of all, without `MPI_Init`.
#[test]
fn a_communicator_by_way_of_a_session() {
    ranks(3, |rank| unsafe {
        let (mut session, mut group, mut comm, mut found) = (0, 0, 0, -1);
        let code = heddle_Session_init(abi::INFO_NULL, abi::ERRORS_RETURN, &raw mut session);
        assert_eq!(code, abi::SUCCESS);
        heddle_Initialized(&raw mut found);
        assert_eq!(found, 0);
        heddle_Session_get_num_psets(session, abi::INFO_NULL, &raw mut found);
        assert_eq!(found, 2);
        let (mut name, mut length) = ([0; 32], 32);
        let place = name.as_mut_ptr();
        let code = heddle_Session_get_nth_pset(session, abi::INFO_NULL, 0, &raw mut length, place);
        assert_eq!((code, length), (abi::SUCCESS, 12));
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"mpi://WORLD");
        let unknown = heddle_Group_from_session_pset(session, c"rack".as_ptr(), &raw mut group);
        assert_eq!(unknown, abi::ERR_ARG);
        let code = heddle_Group_from_session_pset(session, name.as_ptr(), &raw mut group);
        assert_eq!(code, abi::SUCCESS);
        heddle_Group_size(group, &raw mut found);
        assert_eq!(found, 3);
        let (tag, handler) = (c"test".as_ptr(), abi::ERRORS_RETURN);
        let code =
            heddle_Comm_create_from_group(group, tag, abi::INFO_NULL, handler, &raw mut comm);
        assert_eq!(code, abi::SUCCESS);
        heddle_Comm_size(comm, &raw mut found);
        assert_eq!(found, 3);
        heddle_Comm_rank(comm, &raw mut found);
        assert_eq!(found, rank as c_int);
        // There is no communicator of the world.
        assert_eq!(heddle_Comm_size(abi::COMM_WORLD, &raw mut found), abi::ERR_COMM);
        assert_eq!(heddle_Session_finalize(&raw mut session), abi::SUCCESS);
        assert_eq!(session, abi::SESSION_NULL);
    });
}
