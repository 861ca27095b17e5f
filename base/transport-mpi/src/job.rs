//! The other processes of a job, over an MPI library that is loaded.

#![allow(unsafe_code, reason = "functions of a library that is loaded")]
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "MPI counts processes, and bytes of pieces of 2^30, as integers of C"
)]

use std::{
    collections::VecDeque,
    ffi::{c_int, c_void},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use kernel::Peers;
use libloading::os::unix::{Library as Loaded, RTLD_GLOBAL, RTLD_NOW};

use crate::Launch;

/// Why a process cannot take part in a job.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The small library cannot be loaded.
    #[error("{}: {error}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The reason.
        error: libloading::Error,
    },
    /// The MPI library allows no calls from several threads.
    #[error("this MPI library was built without threads (MPI_THREAD_SERIALIZED)")]
    Threads,
    /// The launcher and the library do not belong together.
    #[error(
        "the launcher has started {started} processes, but {library} knows of {known}: they do not \
         belong together"
    )]
    Other {
        /// The number that the launcher told.
        started: usize,
        /// The number that the library tells.
        known: usize,
        /// The name of the library.
        library: &'static str,
    },
}

/// The most bytes of one message of MPI, whose counts are of 32 bits.
const PIECE: usize = 1 << 30;

/// The time within which processes that fail for the same reason do so.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time for which a process looks for a message whenever it has the core. After that it sleeps
/// in between: the system soon wakes who has slept, even where much else runs.
const EAGER: Duration = Duration::from_micros(200);
const NAP: Duration = Duration::from_micros(20);

/// The functions of the small library.
#[derive(Debug)]
struct Functions {
    send: unsafe extern "C" fn(c_int, *const c_void, c_int) -> *mut c_void,
    sent: unsafe extern "C" fn(*mut c_void) -> c_int,
    probe: unsafe extern "C" fn(c_int) -> c_int,
    receive: unsafe extern "C" fn(c_int, *mut c_void, c_int),
    fail: unsafe extern "C" fn(),
    failed: unsafe extern "C" fn() -> c_int,
    end: unsafe extern "C" fn(),
    abort: unsafe extern "C" fn(c_int),
}

/// Something that is being sent.
#[derive(Debug)]
struct Sending {
    request: *mut c_void,
    /// The bytes, which the library reads until they have left.
    _bytes: Vec<u8>,
}

// SAFETY: the library may be called from any thread, one at a time, which the mutex sees to.
unsafe impl Send for Sending {}

/// A job, as one of its processes sees it. It lasts as long as the process.
#[derive(Debug)]
pub struct Job {
    me: usize,
    count: usize,
    functions: Functions,
    /// Held while the library is called.
    sending: Mutex<VecDeque<Sending>>,
}

impl Launch {
    /// Joins the job over the small library `path`. A process does so once.
    ///
    /// # Errors
    /// If the library cannot be loaded, or is that of another launcher.
    pub fn join(self, path: &Path) -> Result<&'static Job, Error> {
        let load = |error| Error::Load { path: path.to_owned(), error };
        // SAFETY: the library is ours. Plug-ins of Open MPI look for its symbols among the global
        // ones.
        let library = unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map_err(load)?;
        // SAFETY: the types are those of the library's source. It is never unloaded.
        let (start, functions) = unsafe {
            let start: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int =
                *library.get(b"heddle_processes_start").map_err(load)?;
            let functions = Functions {
                send: *library.get(b"heddle_processes_send").map_err(load)?,
                sent: *library.get(b"heddle_processes_sent").map_err(load)?,
                probe: *library.get(b"heddle_processes_probe").map_err(load)?,
                receive: *library.get(b"heddle_processes_receive").map_err(load)?,
                fail: *library.get(b"heddle_processes_fail").map_err(load)?,
                failed: *library.get(b"heddle_processes_failed").map_err(load)?,
                end: *library.get(b"heddle_processes_end").map_err(load)?,
                abort: *library.get(b"heddle_processes_abort").map_err(load)?,
            };
            (start, functions)
        };
        std::mem::forget(library);
        let (mut me, mut count) = (0, 0);
        // SAFETY: both are places for one number.
        if unsafe { start(&raw mut me, &raw mut count) } != 0 {
            return Err(Error::Threads);
        }
        let (me, count) = (me as usize, count as usize);
        if (me, count) != (self.me, self.count) {
            let library = self.library.name();
            return Err(Error::Other { started: self.count, known: count, library });
        }
        Ok(Box::leak(Box::new(Job { me, count, functions, sending: Mutex::default() })))
    }
}

impl Job {
    /// Leaves the job when all that was sent has left, and waits until the others leave it, too.
    /// The process may do nothing with it any more.
    pub fn leave(&self) {
        while !self.with(|sending| sending.is_empty()) {
            thread::yield_now();
        }
        // SAFETY: nothing is under way.
        self.with(|_| unsafe { (self.functions.end)() });
    }

    /// Tells the others that this process has failed, and returns true if all have, which is so
    /// when an input is wrong. Then they may leave; otherwise somebody waits for one that has
    /// failed.
    pub fn fails_together(&self) -> bool {
        // SAFETY: the library is there.
        self.with(|_| unsafe { (self.functions.fail)() });
        let mut left = self.count - 1;
        let begin = Instant::now();
        while left > 0 && begin.elapsed() < PATIENCE {
            // SAFETY: as above.
            let failed = self.with(|_| unsafe { (self.functions.failed)() }) != 0;
            left -= usize::from(failed);
            if !failed {
                thread::sleep(Duration::from_millis(1));
            }
        }
        left == 0
    }

    /// Calls the library, after what has left its buffers was let go.
    fn with<T>(&self, call: impl FnOnce(&mut VecDeque<Sending>) -> T) -> T {
        let mut sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a request that was sent and is still known.
        let left = |first: &mut Sending| unsafe { (self.functions.sent)(first.request) } != 0;
        while sending.front_mut().is_some_and(left) {
            sending.pop_front();
        }
        call(&mut sending)
    }

    fn send_piece(&self, to: usize, bytes: Vec<u8>) {
        self.with(|sending| {
            let start = bytes.as_ptr().cast();
            // SAFETY: the bytes stay where they are until the request is done.
            let request =
                unsafe { (self.functions.send)(to as c_int, start, bytes.len() as c_int) };
            sending.push_back(Sending { request, _bytes: bytes });
        });
    }

    /// Adds the next message of a process to the bytes, and returns its length.
    fn receive_piece(&self, from: usize, bytes: &mut Vec<u8>) -> usize {
        let begin = Instant::now();
        loop {
            let found = self.with(|_| {
                // SAFETY: a process of the job.
                let length = unsafe { (self.functions.probe)(from as c_int) };
                let length = usize::try_from(length).ok()?;
                let start = bytes.len();
                bytes.resize(start + length, 0);
                let place = bytes[start..].as_mut_ptr().cast();
                // SAFETY: the place has room for the message that was found.
                unsafe { (self.functions.receive)(from as c_int, place, length as c_int) };
                Some(length)
            });
            if let Some(length) = found {
                return length;
            }
            if begin.elapsed() < EAGER {
                thread::yield_now();
            } else {
                thread::sleep(NAP);
            }
        }
    }
}

impl Peers for Job {
    fn me(&self) -> usize {
        self.me
    }

    fn count(&self) -> usize {
        self.count
    }

    fn send(&self, to: usize, mut bytes: Vec<u8>) {
        // A message that is not full ends what belongs together.
        while bytes.len() >= PIECE {
            let rest = bytes.split_off(PIECE);
            self.send_piece(to, std::mem::replace(&mut bytes, rest));
        }
        self.send_piece(to, bytes);
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.receive_piece(from, &mut bytes) == PIECE {}
        bytes
    }

    fn abandon(&self) {
        // SAFETY: it does not return.
        self.with(|_| unsafe { (self.functions.abort)(1) });
    }
}
