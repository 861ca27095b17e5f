//! A call as all readers give it and all writers take it.

use calls::{Call, Table};

/// Any source, any tag.
pub const ANY: i64 = -1;
/// No process: a send or receive that does nothing.
pub const PROC_NULL: i64 = -2;
/// The process itself is the root of a collective of an intercommunicator.
pub const ROOT: i64 = -3;
/// Stands for a value that a trace does not say: an outcome in a text trace, the bytes of an
/// ignored status.
pub const UNKNOWN: i64 = -4;
/// The index in an array that means: none was active.
pub const UNDEFINED: i64 = -1;

/// The communicator of all ranks.
pub const WORLD: i64 = 0;
/// The communicator of the rank alone.
pub const SELF: i64 = 1;
/// No communicator.
pub const NULL: i64 = 2;

/// One call of a rank: a buffer, filled by a reader for one call after the other.
///
/// `values` are those of the call's fields, in order: one number for most, three for a datatype
/// (id, size in bytes, extent in bytes) and for a status (source, tag, bytes); for a list, its
/// length and its items; nothing for fields that are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The call's number in the table, or one from [`calls::UNLISTED`] on.
    pub id: u32,
    /// The thread that made it, 0 for the first.
    pub thread: u32,
    /// The time when it was entered, in picoseconds since the rank's trace started.
    pub enter: u64,
    /// The time when it returned, likewise.
    pub leave: u64,
    /// The arguments.
    pub values: Vec<i64>,
}

impl Record {
    /// The entry of the call in the table; `None` for a function outside it.
    #[inline]
    pub fn call(&self) -> Option<&'static Call> {
        Table::get().by_id(self.id)
    }

    /// The arguments, one after the other.
    #[inline]
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments(&self.values)
    }
}

/// The amounts of a rank between two calls, if a trace tells these in place of times. In
/// picoseconds, which may lie beyond the range of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Between {
    /// Computation, on the host that the trace was opened for.
    pub computed: f64,
    /// Sleep, which takes as long on any host and uses none of its cores.
    pub slept: f64,
}

/// A datatype of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datatype {
    /// Its number in liballprof's list; 0 for a derived one.
    pub id: i64,
    /// Bytes of data in one.
    pub size: i64,
    /// Distance of one to the next, in bytes.
    pub extent: i64,
}

/// The outcome of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i64,
    /// Tag of the message.
    pub tag: i64,
    /// Bytes of the message.
    pub bytes: i64,
}

impl Status {
    /// A status of which nothing is known.
    pub const NOTHING: Self = Self { source: UNKNOWN, tag: UNKNOWN, bytes: UNKNOWN };
}

/// The arguments of a call that are still to be looked at. What is missing reads as 0 or empty; a
/// reader delivers only whole calls.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a>(&'a [i64]);

impl<'a> Arguments<'a> {
    /// The next number.
    #[inline]
    pub fn number(&mut self) -> i64 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// The next datatype.
    #[inline]
    pub fn datatype(&mut self) -> Datatype {
        Datatype { id: self.number(), size: self.number(), extent: self.number() }
    }

    /// The next status.
    #[inline]
    pub fn status(&mut self) -> Status {
        Status { source: self.number(), tag: self.number(), bytes: self.number() }
    }

    /// The next list of plain numbers.
    #[inline]
    pub fn list(&mut self) -> &'a [i64] {
        self.items(1)
    }

    /// The next list of datatypes or statuses, three numbers each.
    #[inline]
    pub fn triples(&mut self) -> &'a [[i64; 3]] {
        self.items(3).as_chunks().0
    }

    /// All that is left.
    pub const fn rest(&self) -> &'a [i64] {
        self.0
    }

    fn items(&mut self, width: usize) -> &'a [i64] {
        let count = usize::try_from(self.number()).unwrap_or(0).saturating_mul(width);
        let (list, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        list
    }
}
