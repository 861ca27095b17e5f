//! Opening and closing (MPI 4.1, sections 14.2.1 to 14.2.3).

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::representation::Representation;
use super::view::View;
use super::{File, failed};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::comm::Comm;
use crate::control::{self, Word};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::{check, mpi, mpi_functions};

/// The hints that the standard defines for files (MPI 4.1, section 14.2.8), which are kept, and
/// those of MPICH that programs set.
const HINTS: [&[u8]; 16] = [
    b"access_style",
    b"collective_buffering",
    b"cb_block_size",
    b"cb_buffer_size",
    b"cb_nodes",
    b"chunked",
    b"chunked_item",
    b"chunked_size",
    b"filename",
    b"file_perm",
    b"io_node_list",
    b"nb_proc",
    b"num_io_nodes",
    b"striping_factor",
    b"striping_unit",
    b"romio_cb_write",
];

/// The hints about files among what a program gives.
pub fn hints(info: Handle) -> Result<Info> {
    let given = mpi().info_or_none(info)?;
    let mut kept = Info::default();
    for key in given.keys().filter(|key| HINTS.contains(key)) {
        kept.set(key, given.get(key).unwrap_or_default());
    }
    Ok(kept)
}

fn check_mode(mode: c_int) -> Result {
    let has = |bit: c_int| mode & bit != 0;
    let ways = [abi::MODE_RDONLY, abi::MODE_WRONLY, abi::MODE_RDWR];
    let ways = ways.into_iter().filter(|way| has(*way)).count();
    check!(ways == 1, ERR_AMODE, "a file is opened to be read, to be written, or for both");
    check!(
        !(has(abi::MODE_RDONLY) && (has(abi::MODE_CREATE) || has(abi::MODE_EXCL))),
        ERR_AMODE,
        "a file that is only read cannot be created"
    );
    check!(
        !(has(abi::MODE_RDWR) && has(abi::MODE_SEQUENTIAL)),
        ERR_AMODE,
        "a file for sequential access is either read or written"
    );
    Ok(())
}

fn path(name: In<c_char>) -> Result<PathBuf> {
    let name = name.bytes().unwrap_or_default();
    check!(!name.is_empty(), ERR_BAD_FILE, "a file has no name");
    Ok(PathBuf::from(std::ffi::OsString::from_vec(name)))
}

/// Opens it here; one rank creates it.
fn on_disk(path: &Path, mode: c_int, creates: bool, hints: &Info) -> Result<fs::File> {
    let has = |bit: c_int| mode & bit != 0;
    let mut options = fs::OpenOptions::new();
    options.read(!has(abi::MODE_WRONLY)).write(!has(abi::MODE_RDONLY));
    if creates {
        options.create(has(abi::MODE_CREATE));
        options.create_new(has(abi::MODE_CREATE) && has(abi::MODE_EXCL));
        let rights = hints.get(b"file_perm").and_then(|text| std::str::from_utf8(text).ok());
        if let Some(rights) = rights.and_then(|text| u32::from_str_radix(text, 8).ok()) {
            options.mode(rights);
        }
    }
    let told = || format!("opening {}", path.display());
    let disk = options.open(path).map_err(|error| failed(&told(), &error))?;
    let about = disk.metadata().map_err(|error| failed(&told(), &error))?;
    check!(!about.is_dir(), ERR_BAD_FILE, "{} is a folder", path.display());
    Ok(disk)
}

/// Shares the outcome of every rank's attempt with all: the first failure is everybody's.
fn all_agree<T>(comm: &Comm, mine: Result<T>) -> Result<T> {
    let code = mine.as_ref().err().map_or(abi::SUCCESS, |error| error.code);
    let codes = control::exchange(comm, &code.to_le_bytes())?;
    let codes = codes
        .iter()
        .map(|bytes| bytes.as_slice().try_into().map_or(abi::ERR_INTERN, c_int::from_le_bytes));
    let made = mine?;
    for (rank, code) in codes.enumerate() {
        if code != abi::SUCCESS {
            return Err(Error::new(code, format!("rank {rank} could not open the file")));
        }
    }
    Ok(made)
}

/// Checks that all ranks say the same.
pub fn check_same(comm: &Comm, mine: &[u8], what: &str) -> Result {
    let all = control::exchange(comm, mine)?;
    check!(all.iter().all(|other| other == mine), ERR_NOT_SAME, "the ranks give different {what}");
    Ok(())
}

fn open(comm: &Comm, name: In<c_char>, mode: c_int, info: Handle) -> Result<File> {
    let own = comm.own_copy()?;
    let path = all_agree(&own, check_mode(mode).and_then(|()| path(name)))?;
    check_same(&own, &mode.to_le_bytes(), "modes")?;
    let hints = all_agree(&own, hints(info))?;
    let first = own.rank() == 0;
    let created = if first { on_disk(&path, mode, true, &hints).map(Some) } else { Ok(None) };
    let created = all_agree(&own, created)?;
    let disk = created.map_or_else(|| on_disk(&path, mode, false, &hints), Ok);
    let disk = all_agree(&own, disk)?;
    let bytes = mpi().datatype(abi::BYTE)?;
    let view = View::new(0, Rc::clone(&bytes), bytes, Representation::Native)?;
    let shared = Word::new(&own)?;
    let position = Cell::new(0);
    if mode & abi::MODE_APPEND != 0 {
        let size = disk.metadata().map_err(|error| failed("opening", &error))?.len();
        position.set(size);
        shared.set(size)?;
    }
    // Nobody writes before all know where the end was.
    control::meet(&own)?;
    Ok(File {
        comm: own,
        disk,
        path,
        mode,
        view: RefCell::new(Rc::new(view)),
        position,
        shared,
        atomic: Cell::new(false),
        info: RefCell::new(hints),
        errhandler: RefCell::new(mpi().errhandlers.of_new_files()),
        split: RefCell::default(),
    })
}

mpi_functions! {
    fn File_open(
        comm: Handle, filename: In<c_char>, amode: c_int, info: Handle, file: Out<Handle>
    ) about File(abi::FILE_NULL) {
        let comm = mpi().intracomm(comm)?;
        file.check()?;
        file.set(abi::FILE_NULL)?;
        file.set(mpi().files.open.add(Rc::new(open(&comm, filename, amode, info)?)))
    }

    fn File_close(file: Out<Handle>) about File(file.get().unwrap_or(abi::FILE_NULL)) {
        let handle = file.get()?;
        let open = mpi().file(handle)?;
        check!(open.split.borrow().is_none(), ERR_IO, "a split collective access is under way");
        control::meet(&open.comm)?;
        open.shared.end();
        mpi().files.open.remove(handle);
        file.set(abi::FILE_NULL)?;
        if open.has(abi::MODE_DELETE_ON_CLOSE) {
            let outcome = if open.comm.rank() == 0 { fs::remove_file(&open.path) } else { Ok(()) };
            control::meet(&open.comm)?;
            outcome.map_err(|error| failed("deleting the file", &error))?;
        }
        Ok(())
    }

    fn File_delete(filename: In<c_char>, info: Handle) about File(abi::FILE_NULL) {
        let path = path(filename)?;
        hints(info)?;
        control::settle();
        let what = || format!("deleting {}", path.display());
        fs::remove_file(&path).map_err(|error| failed(&what(), &error))
    }
}
