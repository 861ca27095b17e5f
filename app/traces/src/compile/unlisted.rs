//! Functions outside the table of calls: which of them a schedule may leave out.

use super::rank::Compiler;
use crate::record::Record;
use crate::source::Stream;
use calls::{Class, Table};

/// The treatment of a function outside the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It sends nothing and waits for no one, so it is computation.
    Local,
    /// It is a look at the clock.
    Clock,
    /// It is a turn within a call of MPI-IO, before which what is earlier in simulated time
    /// happens.
    Turn,
    /// MPI-IO: how its ranks agree, only simulated runs tell.
    Io,
    /// It is taken for computation; the text says what is lost.
    Lossy(&'static str),
    /// It communicates, and the trace does not say how.
    Refused(&'static str),
}

impl Compiler<'_> {
    /// A function outside the table of calls.
    pub fn follow_unlisted(&mut self, record: &Record, stream: &Stream) -> Result<(), String> {
        let known = self.unlisted.entry(record.id);
        let found = known.or_insert_with(|| verdict(stream.name(record.id)));
        match *found {
            Verdict::Local => {}
            Verdict::Clock if !stream.is_simulated() => {}
            Verdict::Clock => {
                self.begin(record);
                self.look_at_clock();
            }
            Verdict::Turn => {
                self.begin(record);
                self.turn_alone();
            }
            Verdict::Io if stream.is_simulated() => {}
            Verdict::Io => self.count("calls of MPI-IO count as computation"),
            Verdict::Refused(reason) => return Err(reason.to_owned()),
            Verdict::Lossy(what) => self.count(what),
        }
        Ok(())
    }
}

/// Looks at a function's name. What recorders append to the names of calls that failed counts too.
pub fn verdict(name: &str) -> Verdict {
    if name.ends_with(" (failed)") {
        return Verdict::Lossy("calls failed; they are taken to have done nothing");
    }
    let name = name.strip_prefix("MPIX_").or_else(|| name.strip_prefix("MPI_")).unwrap_or(name);
    let plain = name.strip_suffix("_c").unwrap_or(name);
    if ["Psend_init", "Precv_init", "Parrived"].contains(&plain) || plain.starts_with("Pready") {
        return Verdict::Refused("partitioned communication has no place in a schedule");
    }
    if ["Comm_create_from_group", "Intercomm_create_from_groups"].contains(&plain) {
        return Verdict::Refused("the trace does not say who is in the communicator that it makes");
    }
    if plain == "File_turn" {
        return Verdict::Turn;
    }
    if plain.starts_with("File_") {
        return Verdict::Io;
    }
    if plain == "Wtime" {
        return Verdict::Clock;
    }
    match Table::get().by_name(&format!("MPI_{plain}")) {
        Some(call)
            if !matches!(call.class, Class::Local | Class::WinSync | Class::BufferDetach) =>
        {
            Verdict::Refused("the trace does not have the arguments of this form of the call")
        }
        _ => Verdict::Local,
    }
}
