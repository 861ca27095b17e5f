//! The table of calls: what each MPI function is, and which of its arguments a trace keeps.
//!
//! It is the file `calls.csv`, read by this library and by the generator of the recorder. The
//! fields of a call stand in the order of its arguments in C, so that one table serves all trace
//! formats.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::{Class, Collective};

/// The table, as text.
pub const CSV: &str = include_str!("../calls.csv");
/// The first number that a trace may give to a function outside the table.
pub const UNLISTED: u32 = 1024;

/// The form in which an argument is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Not kept. A text trace shows it as one field.
    Skip,
    /// An array that is not kept. A text trace shows its address and its contents.
    Displacements,
    /// An address; 0 for none, 1 for `MPI_IN_PLACE`.
    Address,
    /// A number with a sign: a count, rank, tag, index, flag, level.
    Number,
    /// An address in text traces, which do not know the outcome; a number otherwise.
    Outcome,
    /// A number without sign: a communicator, window, operator.
    Id,
    /// The communicator or window that the call makes: an address in text traces.
    NewId,
    /// A communicator: in text traces its handle, the rank in it and its size.
    Communicator,
    /// A request; 0 for `MPI_REQUEST_NULL`.
    Request,
    /// A list of requests.
    Requests,
    /// A message in hand, of `MPI_Mprobe`.
    Message,
    /// A datatype: id, size, extent.
    Datatype,
    /// A list of datatypes.
    Datatypes,
    /// A status: source, tag, bytes.
    Status,
    /// A list of statuses.
    Statuses,
    /// A list of counts.
    Counts,
    /// A list of outcomes: the indices of completed requests, in the order of completion.
    Indices,
    /// A list of ranks of the world.
    Group,
}

/// The moment when a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// At its return.
    Blocking,
    /// It is over when its request, the last field, completes.
    Immediate,
    /// It makes a persistent request, the last field, that is started later.
    Persistent,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number in our format.
    pub id: u32,
    /// Its name in C.
    pub name: &'static str,
    /// The class of the function.
    pub class: Class,
    /// The moment when it is over.
    pub how: How,
    /// Its arguments.
    pub fields: Vec<Field>,
}

/// The table, read.
#[derive(Debug)]
pub struct Table {
    calls: Vec<Call>,
    by_id: Vec<Option<u16>>,
    by_name: FxHashMap<&'static str, u16>,
}

impl Table {
    /// The one table.
    pub fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(Self::read)
    }

    /// Rows that say nothing known are left out; a test sees to it that there are none.
    fn read() -> Self {
        let calls: Vec<_> = CSV.lines().skip(1).filter_map(row).collect();
        let mut by_id = vec![None; UNLISTED as usize];
        let mut by_name = FxHashMap::default();
        for (index, call) in (0..).zip(&calls) {
            if let Some(slot) = by_id.get_mut(call.id as usize) {
                *slot = Some(index);
            }
            by_name.insert(call.name, index);
        }
        Self { calls, by_id, by_name }
    }

    /// All calls.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The call with a number.
    #[inline]
    pub fn by_id(&self, id: u32) -> Option<&Call> {
        let index = (*self.by_id.get(id as usize)?)?;
        self.calls.get(usize::from(index))
    }

    /// The call with a name.
    pub fn by_name(&self, name: &str) -> Option<&Call> {
        self.calls.get(usize::from(*self.by_name.get(name)?))
    }
}

fn row(line: &'static str) -> Option<Call> {
    let mut cells = line.split(',');
    let id = cells.next()?.parse().ok()?;
    let name = cells.next()?;
    let class = Class::named(cells.next()?)?;
    let how = match cells.next()? {
        "b" => How::Blocking,
        "i" => How::Immediate,
        "p" => How::Persistent,
        _ => return None,
    };
    let mut fields: Vec<_> = cells.next()?.split_whitespace().map(field).collect::<Option<_>>()?;
    // In a call that makes one, the last communicator or window is the new one.
    let makes_communicator = matches!(
        class,
        Class::Collective(Collective::Create | Collective::CreateGroup) | Class::IntercommCreate
    );
    if makes_communicator {
        let last = fields.iter_mut().rfind(|field| **field == Field::Communicator)?;
        *last = Field::NewId;
    } else if class == Class::Collective(Collective::WinCreate) {
        *fields.last_mut()? = Field::NewId;
    }
    Some(Call { id, name, class, how, fields })
}

fn field(word: &str) -> Option<Field> {
    Some(match word {
        "skip" => Field::Skip,
        "displs" => Field::Displacements,
        "buf" => Field::Address,
        "count" | "rank" | "tag" | "int" => Field::Number,
        "flag" | "index" => Field::Outcome,
        "op" | "win" => Field::Id,
        "comm" => Field::Communicator,
        "req" => Field::Request,
        "reqs" => Field::Requests,
        "msg" => Field::Message,
        "type" => Field::Datatype,
        "types" => Field::Datatypes,
        "status" => Field::Status,
        "statuses" => Field::Statuses,
        "counts" => Field::Counts,
        "indices" => Field::Indices,
        "group" => Field::Group,
        _ => return None,
    })
}
