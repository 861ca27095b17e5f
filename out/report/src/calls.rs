//! MPI calls: time by function and by place in the program, and the call that a rank is in at some
//! time.

use std::{cmp::Reverse, collections::BTreeMap, path::Path};

use results::{Artifact, CallRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::{Error, random::Random, ranks::Scale};

/// Most functions that are told apart; MPI has fewer.
const FUNCTIONS: usize = 1000;

/// Most places that are told apart.
const PLACES: usize = 10_000;
/// Most places that are shown: those with most time.
const SHOWN: usize = 200;

/// The calls of a function, or of a function from a place in the program.
#[derive(Default)]
struct Sum {
    calls: u64,
    total: u64,
    longest: u64,
    /// The rank and time of the longest.
    at: (u32, u64),
}

impl Sum {
    /// Adds a call.
    fn add(&mut self, row: &CallRow) {
        self.calls += 1;
        let (Some(enter), Some(leave)) = (row.enter, row.leave) else { return };
        let length = leave.saturating_sub(enter).ps();
        self.total = self.total.saturating_add(length);
        if length > self.longest {
            self.longest = length;
            self.at = (row.rank, enter.ps());
        }
    }

    /// The sum as the page has it.
    fn shown(&self, name: &str, place: Option<&str>) -> Value {
        json!({
            "name": name,
            "place": place,
            "calls": self.calls,
            "total_ps": self.total,
            "longest_ps": self.longest,
            "longest_rank": self.at.0,
            "longest_at_ps": self.at.1,
        })
    }
}

/// Sums up calls by function and, unless that would tell names, by place in the program; null if
/// the folder does not have them.
pub fn read(folder: &Path, scale: &Scale, anonymous: bool) -> Result<(Value, Value), Error> {
    let path = Artifact::Calls.path(folder);
    if !path.is_file() {
        return Ok((Value::Null, Value::Null));
    }
    let mut functions = BTreeMap::<String, Sum>::new();
    let mut places = BTreeMap::<(String, String), Sum>::new();
    for row in Reader::<CallRow>::open(&path)? {
        let row = row?;
        scale.check(row.rank, folder, Artifact::Calls)?;
        let full = functions.len() >= FUNCTIONS && !functions.contains_key(&*row.call);
        let name = if full { "others" } else { &*row.call };
        functions.entry(name.to_owned()).or_default().add(&row);
        let Some(place) = row.place.as_deref().filter(|_| !anonymous) else { continue };
        let mut key = (place.to_owned(), name.to_owned());
        if places.len() >= PLACES && !places.contains_key(&key) {
            key = ("others".to_owned(), String::new());
        }
        places.entry(key).or_default().add(&row);
    }
    let rows = functions.iter().map(|(name, sum)| sum.shown(name, None));
    let mut most: Vec<_> = places.iter().collect();
    most.sort_by_key(|(_, sum)| Reverse(sum.total));
    let most = most.into_iter().take(SHOWN);
    let most = most.map(|((place, name), sum)| sum.shown(name, Some(place)));
    let most = json!({ "total": places.len(), "rows": most.collect::<Vec<_>>() });
    Ok((rows.collect(), if places.is_empty() { Value::Null } else { most }))
}

/// Finds the call that a rank is in.
pub struct Calls(Option<Random<CallRow>>);

impl Calls {
    /// Opens the table of calls, if there is one.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Random::open(folder).map(Self)
    }

    /// The call that a rank is in from `start` to `end`.
    pub fn during(&self, rank: u32, start: Time, end: Time) -> Result<Option<CallRow>, Error> {
        let Some(table) = &self.0 else { return Ok(None) };
        let entered = |row: &CallRow| {
            let enter = row.enter.unwrap_or(Time::MAX);
            row.rank < rank || row.rank == rank && enter <= start
        };
        let placed = table.last(entered)?;
        let around = placed.filter(|placed| {
            placed.row.rank == rank && placed.row.leave.unwrap_or(Time::MAX) >= end
        });
        Ok(around.map(|placed| placed.row))
    }
}
