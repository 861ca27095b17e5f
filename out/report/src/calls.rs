//! MPI calls: time by function, and the call that a rank is in at some time.

use std::{collections::BTreeMap, path::Path};

use results::{Artifact, CallRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::{Error, random::Random, ranks::Scale};

/// Most functions that are told apart; MPI has fewer.
const FUNCTIONS: usize = 1000;

/// The calls of a function.
#[derive(Default)]
struct Function {
    calls: u64,
    total: u64,
    longest: u64,
    /// The rank and time of the longest.
    at: (u32, u64),
}

/// Sums up calls by function; null if the folder does not have them.
pub fn read(folder: &Path, scale: &Scale) -> Result<Value, Error> {
    let path = Artifact::Calls.path(folder);
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let mut functions = BTreeMap::<String, Function>::new();
    for row in Reader::<CallRow>::open(&path)? {
        let row = row?;
        scale.check(row.rank, folder, Artifact::Calls)?;
        let full = functions.len() >= FUNCTIONS && !functions.contains_key(&*row.call);
        let name = if full { "others".to_owned() } else { row.call.into_owned() };
        let function = functions.entry(name).or_default();
        function.calls += 1;
        let (Some(enter), Some(leave)) = (row.enter, row.leave) else { continue };
        let length = leave.saturating_sub(enter).ps();
        function.total = function.total.saturating_add(length);
        if length > function.longest {
            function.longest = length;
            function.at = (row.rank, enter.ps());
        }
    }
    let rows = functions.iter().map(|(name, function)| {
        json!({
            "name": name,
            "calls": function.calls,
            "total_ps": function.total,
            "longest_ps": function.longest,
            "longest_rank": function.at.0,
            "longest_at_ps": function.at.1,
        })
    });
    Ok(Value::Array(rows.collect()))
}

/// Finds the function that a rank is in.
pub struct Calls(Option<Random<CallRow>>);

impl Calls {
    /// Opens the table of calls, if there is one.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Random::open(folder).map(Self)
    }

    /// The function that a rank is in from `start` to `end`.
    pub fn during(&self, rank: u32, start: Time, end: Time) -> Result<Option<String>, Error> {
        let Some(table) = &self.0 else { return Ok(None) };
        let entered = |row: &CallRow| {
            let enter = row.enter.unwrap_or(Time::MAX);
            row.rank < rank || row.rank == rank && enter <= start
        };
        let placed = table.last(entered)?;
        let around = placed.filter(|placed| {
            placed.row.rank == rank && placed.row.leave.unwrap_or(Time::MAX) >= end
        });
        Ok(around.map(|placed| placed.row.call.into_owned()))
    }
}
