//! The tools interface (MPI 4.1, section 15.3): what a rank sent and received, simulated time, and
//! how the library is set up.
//!
//! There are no events, and nothing can be set: how a run is simulated is said before it starts.
//! These functions only return codes; they call no error handler.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};
use std::ops::Deref;
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::check;
use crate::error::{Error, Result};
use crate::state::{Guard, mpi};
use crate::table::Table;

mod categories;
mod control;
mod events;
mod performance;
#[cfg(test)]
mod tests;

use control::Control;
use performance::{Meter, Session};

/// The state of the interface for tools.
#[derive(Debug, Default)]
pub struct Tools {
    /// The counts of the performance variables.
    pub counters: Counters,
    collectives: RefCell<String>,
    /// Uses of the interface that began and have not ended.
    open: Cell<u32>,
    controls: Table<Control>,
    sessions: Table<Session>,
    meters: Table<Meter>,
}

/// Messages and bytes of a rank's calls from point to point.
#[derive(Debug, Default)]
pub struct Counters {
    messages_sent: Cell<u64>,
    bytes_sent: Cell<u64>,
    messages_received: Cell<u64>,
    bytes_received: Cell<u64>,
}

impl Counters {
    /// A message leaves.
    pub fn sent(&self, bytes: u64) {
        self.messages_sent.set(self.messages_sent.get() + 1);
        self.bytes_sent.set(self.bytes_sent.get() + bytes);
    }

    /// A message has come.
    pub fn received(&self, bytes: u64) {
        self.messages_received.set(self.messages_received.get() + 1);
        self.bytes_received.set(self.bytes_received.get() + bytes);
    }
}

impl Tools {
    /// Says by which table collective operations choose their algorithms.
    pub fn set_collectives(&self, table: &str) {
        self.collectives.replace(table.into());
    }
}

/// A guard of the tools of the calling rank, whose interface is in use.
struct OpenTools(Guard);

impl Deref for OpenTools {
    type Target = Tools;

    fn deref(&self) -> &Tools {
        &self.0.tools
    }
}

/// The tools of the calling rank, if the interface is in use.
fn tools() -> Result<OpenTools> {
    let mpi = mpi();
    check!(
        mpi.tools.open.get() > 0,
        T_ERR_NOT_INITIALIZED,
        "the tools interface is not initialised"
    );
    Ok(OpenTools(mpi))
}

/// The entry of a table for a number of the program.
fn entry<T>(table: &[T], number: c_int) -> Result<&T> {
    let found = usize::try_from(number).ok().and_then(|number| table.get(number));
    found.ok_or_else(|| {
        Error::new(abi::T_ERR_INVALID_INDEX, format!("number {number} of {}", table.len()))
    })
}

/// The number of the first entry for which something holds.
fn number_of<T>(table: &[T], is_it: impl Fn(&T) -> bool) -> Result<c_int> {
    match table.iter().position(is_it) {
        Some(number) => Ok(number as c_int),
        None => Err(Error::new(abi::T_ERR_INVALID_NAME, "nothing of this name")),
    }
}

/// The name that a program passes.
fn name(text: crate::argument::In<c_char>) -> Result<Vec<u8>> {
    text.bytes().ok_or_else(|| Error::new(abi::T_ERR_INVALID, "the name is a null pointer"))
}

/// Writes a result, if the program wants it.
fn give<T: Copy>(place: Out<T>, value: T) -> Result {
    if place.is_null() { Ok(()) } else { place.set(value) }
}

/// Writes a text as the tools interface does: as much as fits the length that stands at `length`,
/// which becomes what the whole needs with its final 0.
fn give_text(place: Out<c_char>, length: Out<c_int>, text: &str) -> Result {
    if length.is_null() {
        return Ok(());
    }
    let room = usize::try_from(length.get()?).unwrap_or(0);
    if room > 0 && !place.is_null() {
        place.set_string(text, room)?;
    }
    length.set(text.len() as c_int + 1)
}

/// The object of a handle of the tools interface.
fn found<T>(table: &Table<T>, handle: Handle, class: c_int) -> Result<Rc<T>> {
    table.get(handle).ok_or_else(|| Error::new(class, "no such handle (freed?)"))
}

crate::mpi_functions! {
    fn T_init_thread(required: c_int, provided: Out<c_int>) {
        let tools = &mpi().tools;
        tools.open.set(tools.open.get() + 1);
        give(provided, required)
    }

    fn T_finalize() {
        let tools = tools()?;
        let open = &tools.open;
        open.set(open.get() - 1);
        Ok(())
    }
}
