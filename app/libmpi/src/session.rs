//! Sessions (MPI 4.1, section 11.3): a way into MPI without a communicator of the world. The
//! process sets that one finds are the world and the process itself.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::errhandler::{Errhandler, Handled};
use crate::error::{About, Error, Result};
use crate::info::Info;
use crate::state::{Mpi, mpi};
use crate::{check, environment, mpi_functions};

#[cfg(test)]
mod tests;

/// The process sets' names.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// A session.
#[derive(Debug)]
pub struct Session {
    errhandler: RefCell<Errhandler>,
    info: Info,
    handle: Cell<Handle>,
}

impl Session {
    /// The handle by which the program knows it.
    pub fn handle(&self) -> Handle {
        self.handle.get()
    }
}

impl Handled for Session {
    fn errhandler(&self) -> &RefCell<Errhandler> {
        &self.errhandler
    }
}

impl Mpi {
    /// The session of a handle.
    pub fn session(&self, handle: Handle) -> Result<Rc<Session>> {
        self.sessions.get(handle).ok_or_else(|| Error::new(abi::ERR_SESSION, "no such session"))
    }
}

/// The name of a process set.
fn set_name(number: c_int) -> Result<&'static str> {
    let name = usize::try_from(number).ok().and_then(|number| SETS.get(number).copied());
    name.ok_or_else(|| Error::new(abi::ERR_ARG, format!("process set {number} of {}", SETS.len())))
}

/// `MPI_Session_init`. Threads are seen to when the call is over.
#[unsafe(export_name = "heddle_Session_init")]
unsafe extern "C-unwind" fn init(info: Handle, errhandler: Handle, session: Out<Handle>) -> c_int {
    let code = begin(info, errhandler, session);
    environment::settle_threads();
    code
}

#[inline(never)]
fn begin(info: Handle, errhandler: Handle, session: Out<Handle>) -> c_int {
    crate::call::run("MPI_Session_init", About::NewSession(errhandler), &mut || {
        session.check()?;
        let mut used = mpi().info_or_none(info)?;
        let handler = mpi().errhandler(errhandler)?;
        environment::open_session(used.get(b"thread_level"))?;
        used.set(b"thread_level", environment::thread_level_name().as_bytes());
        let made = Rc::new(Session {
            errhandler: RefCell::new(handler),
            info: used,
            handle: Cell::new(abi::SESSION_NULL),
        });
        made.handle.set(mpi().sessions.add(Rc::clone(&made)));
        session.set(made.handle())
    })
}

mpi_functions! {
    fn Session_finalize(
        session: Out<Handle>
    ) about Session(session.get().unwrap_or(abi::SESSION_NULL)) {
        let handle = session.get()?;
        mpi().session(handle)?;
        crate::memory::leave_session(handle)?;
        mpi().sessions.remove(handle);
        session.set(abi::SESSION_NULL)?;
        environment::close()
    }

    fn Session_get_num_psets(
        session: Handle, info: Handle, npset_names: Out<c_int>
    ) about Session(session) {
        mpi().session(session)?;
        mpi().info_or_none(info)?;
        npset_names.set(SETS.len() as c_int)
    }

    fn Session_get_nth_pset(
        session: Handle, info: Handle, n: c_int, pset_len: Out<c_int>, pset_name: Out<c_char>,
    ) about Session(session) {
        mpi().session(session)?;
        mpi().info_or_none(info)?;
        let name = set_name(n)?;
        let room = pset_len.get()?;
        check!(room >= 0, ERR_ARG, "a buffer of {room} characters");
        if room > 0 {
            pset_name.set_bytes(name.as_bytes(), room as usize)?;
        }
        // The room that it would take, with the final zero.
        pset_len.set(name.len() as c_int + 1)
    }

    fn Session_get_pset_info(
        session: Handle, pset_name: In<c_char>, info: Out<Handle>
    ) about Session(session) {
        mpi().session(session)?;
        info.check()?;
        let name = pset_name.bytes().unwrap_or_default();
        let Some(group) = mpi().comms.process_set(&name) else {
            return Err(Error::new(
                abi::ERR_ARG,
                format!("no process set {}", String::from_utf8_lossy(&name)),
            ));
        };
        let mut told = Info::default();
        told.set(b"mpi_size", group.size().to_string().as_bytes());
        info.set(mpi().add_info(told))
    }

    fn Session_get_info(session: Handle, info_used: Out<Handle>) about Session(session) {
        let session = mpi().session(session)?;
        info_used.check()?;
        info_used.set(mpi().add_used_info(session.info.clone()))
    }
}
