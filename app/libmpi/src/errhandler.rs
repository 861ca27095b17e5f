//! Error handlers (MPI 4.1, section 9.3): what happens when a call fails.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::check;
use crate::codes::class_name;
use crate::error::{About, Error, Result};
use crate::layer::{Callback, Kind};
use crate::state::{Mpi, alongside, mpi};
use crate::table::Table;

mod functions;
#[cfg(test)]
mod tests;

/// An error handler.
#[derive(Clone, Debug)]
pub enum Errhandler {
    /// Ends the program.
    Fatal,
    /// Ends the ranks of the communicator; here, as the standard allows, the program.
    Abort,
    /// Gives the code to the caller.
    Return,
    /// Calls a function of the program.
    User(Rc<UserHandler>),
}

/// A function of the program that handles errors. A program frees its handle as often as it was
/// given one: by making it, and by asking for an object's handler.
#[derive(Debug)]
pub struct UserHandler {
    kind: Kind,
    function: Callback,
    handle: Cell<Handle>,
    given: Cell<u32>,
}

/// An object that has an error handler. Communicators, windows, files and sessions implement it;
/// the library calls it when a call about the object fails.
pub trait Handled {
    /// Its error handler.
    fn errhandler(&self) -> &RefCell<Errhandler>;

    /// The name of the object in messages.
    fn title(&self) -> Option<String> {
        None
    }
}

/// Stands for files where there is no file.
#[derive(Debug)]
struct NoFile(RefCell<Errhandler>);

impl Handled for NoFile {
    fn errhandler(&self) -> &RefCell<Errhandler> {
        &self.0
    }
}

/// The error handlers of a rank.
#[derive(Debug)]
pub struct Errhandlers {
    made: Table<UserHandler>,
    no_file: Rc<NoFile>,
}

impl Default for Errhandlers {
    fn default() -> Self {
        let no_file = NoFile(RefCell::new(Errhandler::Return));
        Self { made: Table::default(), no_file: Rc::new(no_file) }
    }
}

impl Errhandlers {
    /// The error handler that a file gets when it is opened.
    pub fn of_new_files(&self) -> Errhandler {
        self.no_file.0.borrow().clone()
    }

    /// A handle for a handler, which the program frees.
    fn give(&self, handler: &Errhandler) -> Handle {
        let user = match handler {
            Errhandler::Fatal => return abi::ERRORS_ARE_FATAL,
            Errhandler::Abort => return abi::ERRORS_ABORT,
            Errhandler::Return => return abi::ERRORS_RETURN,
            Errhandler::User(user) => user,
        };
        if user.given.get() == 0 {
            user.handle.set(self.made.add(Rc::clone(user)));
        }
        user.given.set(user.given.get() + 1);
        user.handle.get()
    }

    /// Takes a handle back.
    fn take(&self, handle: Handle) {
        let Some(user) = self.made.get(handle) else { return };
        user.given.set(user.given.get() - 1);
        if user.given.get() == 0 {
            self.made.remove(handle);
        }
    }
}

impl Mpi {
    /// The error handler of a handle. A wrong one is a wrong argument, since the class
    /// `ERR_ERRHANDLER` is younger than most programs.
    pub fn errhandler(&self, handle: Handle) -> Result<Errhandler> {
        match handle {
            abi::ERRORS_ARE_FATAL => Ok(Errhandler::Fatal),
            abi::ERRORS_ABORT => Ok(Errhandler::Abort),
            abi::ERRORS_RETURN => Ok(Errhandler::Return),
            abi::ERRHANDLER_NULL => {
                Err(Error::new(abi::ERR_ARG, "the error handler is MPI_ERRHANDLER_NULL"))
            }
            _ => match self.errhandlers.made.get(handle) {
                Some(user) => Ok(Errhandler::User(user)),
                None => Err(Error::new(abi::ERR_ARG, "no such error handler (freed?)")),
            },
        }
    }

    /// The error handler of a handle, which must be for objects of a kind.
    fn errhandler_for(&self, kind: Kind, handle: Handle) -> Result<Errhandler> {
        let handler = self.errhandler(handle)?;
        if let Errhandler::User(user) = &handler {
            check!(user.kind == kind, ERR_ARG, "the error handler is for another kind of object");
        }
        Ok(handler)
    }

    /// The object that something is about, for its error handler.
    fn handled(&self, about: About) -> Result<Rc<dyn Handled>> {
        match about {
            About::Comm(handle) => Ok(self.comm(handle)?),
            About::Session(handle) => Ok(self.session(handle)?),
            About::File(abi::FILE_NULL) => Ok(Rc::clone(&self.errhandlers.no_file) as Rc<_>),
            About::File(handle) => Ok(self.file(handle)?),
            About::Win(handle) => Ok(self.window(handle)?),
            About::Nothing | About::NewComm(_) | About::NewSession(_) => {
                Err(Error::new(abi::ERR_ARG, "nothing has no error handler"))
            }
        }
    }

    /// The object whose error handler hears of an error.
    fn hearer(&self, about: About) -> Hearer {
        let (kind, handle) = match about {
            About::Comm(handle) => (Kind::Comm, handle),
            About::Session(handle) => (Kind::Session, handle),
            About::File(handle) => (Kind::File, handle),
            About::Win(handle) => (Kind::Win, handle),
            About::NewComm(handler) => {
                return self.hearer_given(Kind::Comm, abi::COMM_NULL, handler);
            }
            About::NewSession(handler) => {
                return self.hearer_given(Kind::Session, abi::SESSION_NULL, handler);
            }
            About::Nothing => return self.hearer_of_all(),
        };
        match self.handled(about) {
            Ok(object) => Hearer::of(&*object, kind, handle),
            Err(_) if kind == Kind::File => {
                let handler = self.errhandlers.of_new_files();
                Hearer { kind, handle: abi::FILE_NULL, title: None, handler }
            }
            Err(_) => self.hearer_of_all(),
        }
    }

    /// Returns the hearer of errors in a call that was given the handler of what it makes, for
    /// which the null handle stands.
    fn hearer_given(&self, kind: Kind, handle: Handle, handler: Handle) -> Hearer {
        match self.errhandler_for(kind, handler) {
            Ok(handler) => Hearer { kind, handle, title: None, handler },
            Err(_) => self.hearer_of_all(),
        }
    }

    /// The hearer of errors about nothing in particular. The standard names `MPI_COMM_SELF` since
    /// version 4, `MPI_COMM_WORLD` before; so that programs of either age are heard, it is the
    /// first of the two that the program gave a handler. Where there is neither, it is the first
    /// session.
    fn hearer_of_all(&self) -> Hearer {
        let comms = [abi::COMM_SELF, abi::COMM_WORLD].into_iter().filter_map(|handle| {
            let handler = self.comm(handle).ok()?.errhandler().borrow().clone();
            Some(Hearer { kind: Kind::Comm, handle, title: None, handler })
        });
        let mut fatal = None;
        for hearer in comms {
            match hearer.handler {
                Errhandler::Fatal => fatal = Some(hearer),
                _ => return hearer,
            }
        }
        let session = self.sessions.all().first().map(|session| Hearer {
            kind: Kind::Session,
            handle: session.handle(),
            title: None,
            handler: session.errhandler().borrow().clone(),
        });
        fatal.or(session).unwrap_or(Hearer {
            kind: Kind::Comm,
            handle: abi::COMM_NULL,
            title: None,
            handler: Errhandler::Fatal,
        })
    }
}

/// The object whose error handler is called for an error.
struct Hearer {
    kind: Kind,
    handle: Handle,
    title: Option<String>,
    handler: Errhandler,
}

impl Hearer {
    fn of(object: &dyn Handled, kind: Kind, handle: Handle) -> Self {
        let handler = object.errhandler().borrow().clone();
        Self { kind, handle, title: object.title(), handler }
    }
}

/// The program's handler of an error, and of what. It may leave with an exception, so that no lock
/// is held when it is called, and nothing is held that would be given back behind it.
fn handler(name: &str, about: About, error: &mut Error) -> Option<(Callback, Kind, Handle)> {
    alongside(|mpi| {
        let hearer = match error.received.take() {
            Some(received) => Hearer::of(&*received.comm, Kind::Comm, received.comm.handle()),
            None => mpi.hearer(about),
        };
        match hearer.handler {
            Errhandler::Return => None,
            Errhandler::Fatal | Errhandler::Abort => {
                let on = hearer.title.map(|title| format!(" on {title}")).unwrap_or_default();
                end(name, &on, error)
            }
            Errhandler::User(user) => Some((user.function, hearer.kind, hearer.handle)),
        }
    })
}

/// Handles an error that a call ended with; gives the code that the call returns.
pub fn raise(name: &'static str, about: About, mut error: Error) -> c_int {
    // Tools are told by the code alone.
    if name.starts_with("MPI_T_") {
        return error.code;
    }
    let mut code = error.code;
    if let Some((function, kind, handle)) = handler(name, about, &mut error) {
        // SAFETY: the program handed it in as a handler for this kind of object; the code lives
        // until it returns.
        unsafe { function.handle_error(kind, handle, &mut code) };
    }
    code
}

/// Says what went wrong and ends the program.
fn end(name: &str, on: &str, error: &Error) -> ! {
    let rank = mpi().comms.me();
    let class = class_name(crate::codes::class(error.code).unwrap_or(abi::ERR_UNKNOWN));
    eprintln!("heddle: rank {rank}: {name}{on}: {} ({class})", error.text);
    crate::environment::abort(error.code)
}
