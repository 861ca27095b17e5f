//! Files (MPI 4.1, chapter 14): MPI-IO on the real files of this machine.
//!
//! A file is read and written for real, at once; what a call returns is what a real one would. Each
//! access takes place at its rank's simulated time, so that ranks see each other's data in the
//! order of simulated time. Collective calls meet: those that read before they do so, those that
//! write afterwards, so that whoever reads collectively finds what others wrote before.
//!
//! Not modelled: the time that storage takes. Only the meetings of collective calls take simulated
//! time.
//!
//! Error classes are those that MPICH gives for the same mistakes.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::comm::Comm;
use crate::control::Word;
use crate::errhandler::{Errhandler, Handled};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::state::Mpi;
use crate::table::Table;

use self::access::Split;
use self::representation::Registered;
use self::view::View;

mod access;
mod functions;
mod open;
mod representation;
#[cfg(test)]
mod tests;
mod transfers;
mod view;

/// An open file.
#[derive(Debug)]
pub struct File {
    /// The ranks that opened it, in a communicator of the file's own.
    comm: Comm,
    disk: fs::File,
    path: PathBuf,
    mode: c_int,
    view: RefCell<Rc<View>>,
    /// The rank's own file pointer, in etypes.
    position: Cell<u64>,
    /// The file pointer that all ranks share.
    shared: Word,
    atomic: Cell<bool>,
    info: RefCell<Info>,
    errhandler: RefCell<Errhandler>,
    split: RefCell<Option<Split>>,
}

/// The files of a rank, and what it knows of representations.
#[derive(Debug, Default)]
pub struct Files {
    open: Table<File>,
    registered: RefCell<Vec<Rc<Registered>>>,
}

impl Handled for File {
    fn errhandler(&self) -> &RefCell<Errhandler> {
        &self.errhandler
    }

    fn title(&self) -> Option<String> {
        Some(format!("file {}", self.path.display()))
    }
}

impl File {
    fn view(&self) -> Rc<View> {
        Rc::clone(&self.view.borrow())
    }

    fn has(&self, mode: c_int) -> bool {
        self.mode & mode != 0
    }
}

impl Mpi {
    /// The file of a handle.
    pub fn file(&self, handle: Handle) -> Result<Rc<File>> {
        let found = self.files.open.get(handle);
        found.ok_or_else(|| Error::new(abi::ERR_FILE, "no such file (closed?)"))
    }
}

/// Converts an error of the system to one of MPI.
fn failed(what: &str, error: &io::Error) -> Error {
    use rustix::io::Errno;
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    let class = match number {
        Some(Errno::ACCESS | Errno::PERM) => abi::ERR_ACCESS,
        Some(Errno::NAMETOOLONG | Errno::ISDIR | Errno::NOTDIR) => abi::ERR_BAD_FILE,
        Some(Errno::NOENT) => abi::ERR_NO_SUCH_FILE,
        Some(Errno::ROFS) => abi::ERR_READ_ONLY,
        Some(Errno::EXIST) => abi::ERR_FILE_EXISTS,
        Some(Errno::NOSPC) => abi::ERR_NO_SPACE,
        Some(Errno::DQUOT) => abi::ERR_QUOTA,
        Some(Errno::TXTBSY | Errno::BUSY) => abi::ERR_FILE_IN_USE,
        _ => abi::ERR_IO,
    };
    Error::new(class, format!("{what}: {error}"))
}
