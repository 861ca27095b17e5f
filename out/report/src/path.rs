//! The critical path, walked from the end of a run to its start.
//!
//! The walk begins on the rank that finishes last. A busy period is a step of its own. Before the
//! receipt of a message it goes on in the network and then at the sender, if the message arrived
//! after the rank had last been busy, and on the rank otherwise. What lies between is waiting: for
//! a gap of the interface, for a rendezvous, for memory of the network. Steps follow each other
//! without holes, so that their lengths add up to the time of the run.
//!
//! The walk is made of recorded times and finds one chain of causes. The simulator keeps the parts
//! of its own chain while it runs (`critical_path` in `summary.json`); where several causes meet at
//! one instant the two may differ in the parts that they assign, never in the sum.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use host::Activity;
use results::{ActivityRow, MessageRow};
use serde_json::{Value, json};
use units::Time;

use crate::{
    Error,
    activity::Chosen,
    blob::{Blobs, Column},
    calls::Calls,
    random::{Placed, Random},
    ranks::Scale,
};

/// Most steps of a path that are shown: the last ones.
const STEPS: usize = 20_000;

/// The kind of a step, after those of [`Activity`].
const NETWORK: u8 = 3;
/// Neither the rank nor a message moves.
const WAITING: u8 = 4;

/// A step of the path.
#[derive(Debug)]
struct Step {
    kind: u8,
    rank: u32,
    start: Time,
    end: Time,
    message: Option<u64>,
    /// The line that a busy period comes from.
    line: Option<u32>,
}

struct Walk<'a> {
    activity: &'a Random<ActivityRow>,
    messages: Option<&'a Random<MessageRow>>,
    chosen: &'a mut Chosen,
    steps: Vec<Step>,
    /// Messages that the path has crossed; it crosses each once.
    crossed: BTreeSet<u64>,
}

impl Walk<'_> {
    fn step(&mut self, kind: u8, rank: u32, span: (Time, Time), message: Option<u64>) {
        let (start, end) = span;
        if start < end || kind == NETWORK {
            self.steps.push(Step { kind, rank, start, end, message, line: None });
        }
    }

    /// Adds a busy period.
    fn busy(&mut self, row: &ActivityRow) {
        let ActivityRow { rank, start, end, line, .. } = *row;
        let message = row.message.map(u64::from);
        if start < end {
            let kind = row.activity as u8;
            self.steps.push(Step { kind, rank, start, end, message, line });
        }
        if let Some(line) = line {
            let sum = self.chosen.lines.entry(line).or_default();
            *sum = sum.saturating_add(end.saturating_sub(start).ps());
        }
        self.chosen.slices.insert((rank, row.cpu, start.ps()));
        self.chosen.messages.extend(message);
    }

    /// The last busy period of a rank that ends by `time`.
    fn busy_until(&self, rank: u32, time: Time) -> Result<Option<Placed<ActivityRow>>, Error> {
        let last = self.activity.last(|row| row.rank <= rank)?;
        let cpus = last.filter(|last| last.row.rank == rank).map_or(0, |last| last.row.cpu);
        let mut best = None::<Placed<ActivityRow>>;
        for cpu in 0..=cpus {
            // Rows are in the order of time on each CPU of a rank.
            let found =
                self.activity.last(|row| (row.rank, row.cpu, row.end) <= (rank, cpu, time))?;
            let found = found.filter(|found| (found.row.rank, found.row.cpu) == (rank, cpu));
            let later = |found: &Placed<ActivityRow>| {
                best.as_ref().is_none_or(|best| found.row.end > best.row.end)
            };
            if found.as_ref().is_some_and(later) {
                best = found;
            }
        }
        Ok(best)
    }

    /// The busy period before one: on its CPU, or on whichever CPU of the rank was busy last.
    fn busy_before(
        &self,
        placed: &Placed<ActivityRow>,
    ) -> Result<Option<Placed<ActivityRow>>, Error> {
        let ActivityRow { rank, cpu, .. } = placed.row;
        let before = self.activity.before(placed)?.filter(|before| before.row.rank == rank);
        match before {
            Some(before) if before.row.cpu == cpu => Ok(Some(before)),
            _ if cpu > 0 => self.busy_until(rank, placed.row.start),
            _ => Ok(None),
        }
    }

    fn message(&self, id: u64) -> Result<Option<MessageRow>, Error> {
        let Some(messages) = self.messages else { return Ok(None) };
        let placed = messages.last(|row| row.id <= id)?;
        Ok(placed.map(|placed| placed.row).filter(|row| row.id == id))
    }

    /// Walks until the start of the run, or until there are enough steps.
    fn walk(&mut self, mut rank: u32, mut time: Time) -> Result<(), Error> {
        let mut next = self.busy_until(rank, time)?;
        // Busy periods without a length are no steps, and yet take time to walk.
        for _ in 0..10 * STEPS {
            if self.steps.len() >= STEPS {
                break;
            }
            let Some(placed) = next else {
                self.step(WAITING, rank, (Time::ZERO, time), None);
                return Ok(());
            };
            let row = &placed.row;
            self.step(WAITING, rank, (row.end, time), None);
            self.busy(row);
            time = row.start;
            let before = self.busy_before(&placed)?;
            let free = before.as_ref().map_or(Time::ZERO, |before| before.row.end);
            let arrived = self.cause(row, free)?;
            next = match arrived {
                Some((source, injected)) => {
                    rank = source;
                    time = injected;
                    self.busy_until(rank, time)?
                }
                None => before,
            };
        }
        Ok(())
    }

    /// The sender of the message that a rank received, and when the message left it, if the rank
    /// had nothing to do since before it arrived. The steps in between are added.
    fn cause(&mut self, row: &ActivityRow, free: Time) -> Result<Option<(u32, Time)>, Error> {
        let (Activity::Receive, Some(id)) = (row.activity, row.message.map(u64::from)) else {
            return Ok(None);
        };
        let Some(message) = self.message(id)? else { return Ok(None) };
        let (Some(injected), Some(delivered)) = (message.injected, message.delivered) else {
            return Ok(None);
        };
        let is_cause = message.destination == row.rank
            && delivered <= row.start
            && delivered >= free
            && injected <= delivered;
        if !is_cause || !self.crossed.insert(id) {
            return Ok(None);
        }
        self.step(WAITING, row.rank, (delivered, row.start), None);
        self.step(NETWORK, row.rank, (injected, delivered), Some(id));
        Ok(Some((message.source, injected)))
    }
}

/// The names that steps have, by numbers from 1 on; 0 is none.
struct Named {
    names: Vec<String>,
    numbers: BTreeMap<String, u64>,
    column: Column,
}

impl Named {
    fn new() -> Self {
        Self { names: Vec::new(), numbers: BTreeMap::new(), column: Column::new() }
    }

    fn push(&mut self, name: Option<String>) {
        let next = self.names.len() as u64 + 1;
        let number = name.map_or(0, |name| {
            *self.numbers.entry(name).or_insert_with_key(|name| {
                self.names.push(name.clone());
                next
            })
        });
        self.column.push(number);
    }
}

/// Walks the critical path of a run, which ends on `rank`, and adds its events to those chosen;
/// null if the folder does not tell enough. An `anonymous` path has no places of the program.
pub fn read(
    folder: &Path,
    scale: &Scale,
    (rank, anonymous): (u32, bool),
    chosen: &mut Chosen,
    blobs: &mut Blobs,
) -> Result<Value, Error> {
    let Some(activity) = Random::<ActivityRow>::open(folder)? else { return Ok(Value::Null) };
    let messages = Random::<MessageRow>::open(folder)?;
    let calls = Calls::open(folder)?;
    let messages = messages.as_ref();
    let mut walk =
        Walk { activity: &activity, messages, chosen, steps: Vec::new(), crossed: BTreeSet::new() };
    walk.walk(rank, scale.horizon)?;
    let mut steps = walk.steps;
    steps.reverse();
    let [mut kinds, mut ranks, mut lengths, mut on_message, mut lines] =
        [(); 5].map(|()| Column::new());
    let (mut functions, mut places) = (Named::new(), Named::new());
    for step in &steps {
        kinds.push(u64::from(step.kind));
        ranks.push(u64::from(step.rank));
        lengths.push(step.end.saturating_sub(step.start).ps());
        on_message.push(step.message.map_or(0, |id| id + 1));
        lines.push(step.line.map_or(0, u64::from));
        let call = calls.during(step.rank, step.start, step.end)?;
        let (function, place) = call.map(|call| (call.call, call.place)).unzip();
        functions.push(function.map(Cow::into_owned));
        places.push(place.flatten().filter(|_| !anonymous).map(Cow::into_owned));
    }
    Ok(json!({
        "count": steps.len(),
        "start_ps": steps.first().map_or(0, |step| step.start.ps()),
        "kinds": blobs.add(kinds),
        "ranks": blobs.add(ranks),
        "lengths": blobs.add(lengths),
        "messages": blobs.add(on_message),
        "calls": blobs.add(functions.column),
        "names": functions.names,
        "lines": blobs.add(lines),
        "places": blobs.add(places.column),
        "place_names": places.names,
    }))
}
