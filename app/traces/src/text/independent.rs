//! Time-independent traces of SMPI: amounts of computation in place of times.
//!
//! A line is `rank action arguments`; an index lists one file per rank, or one for all. What the
//! public recorder writes and its replayer refuses (`Ssend`, `iallreduce`) is read. The traces do
//! not say which communicator is meant: everything belongs to the world.
//!
//! Source: SimGrid's description of its replay, `docs` of SMPI.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use schedule::goal::Severity;

use super::findings::Findings;
use super::lines::Lines;
use crate::definitions::Definitions;
use crate::record::{ANY, Between, PROC_NULL, Record, WORLD};
use crate::source::OpenError;
use calls::{Field, Table};

/// What a host computes when nothing else is said: operations per second.
pub const SPEED: u64 = 1_000_000_000;

/// Datatypes by number: number in our format and bytes.
const DATATYPES: [(i64, i64); 7] = [(10, 8), (1, 4), (13, 1), (4, 2), (3, 8), (8, 4), (13, 1)];
/// SMPI's `MPI_ANY_SOURCE`, `MPI_ANY_TAG` and `MPI_PROC_NULL`.
const ANY_SOURCE: i64 = -555;
const ANY_TAG: i64 = -444;
const NO_RANK: i64 = -666;
/// What is meant where no datatype is given: bytes.
const BYTE: i64 = 6;

/// The files that an index lists, one per rank.
pub fn index(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let fail = |error| OpenError::Io { path: path.to_owned(), error };
    let text = fs::read_to_string(path).map_err(fail)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let names =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut files: Vec<_> = names.map(|name| folder.join(name)).collect();
    if let [one] = files.as_slice() {
        // All ranks in one file: as many as it names.
        let text =
            fs::read_to_string(one).map_err(|error| OpenError::Io { path: one.clone(), error })?;
        let rank = |line: &str| line.split_whitespace().next()?.parse::<usize>().ok();
        let ranks = text.lines().filter_map(rank).max().map_or(1, |rank| rank + 1);
        files = vec![one.clone(); ranks.min(1 << 20)];
    }
    Ok(files)
}

/// Reads the calls of a rank.
pub struct IndependentReader<R> {
    lines: Lines<R>,
    definitions: Definitions,
    findings: Findings,
    rank: u32,
    ranks: u32,
    /// Operations per second.
    speed: f64,
    /// Time so far, in picoseconds.
    now: f64,
    /// Computation and sleep that no call has told of yet, and those before the last call.
    open_time: Between,
    between: Between,
    /// Requests by (sender, receiver, tag), oldest first, and all in order.
    requests: FxHashMap<[i64; 3], Vec<i64>>,
    open: Vec<i64>,
    last: i64,
}

/// The word and what is wrong with it.
type Fault = (usize, String);

/// The words of a line, and which is next.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl Words<'_> {
    fn more(&self) -> usize {
        self.words.len().saturating_sub(self.at)
    }

    fn real(&mut self, what: &str) -> Result<f64, Fault> {
        let at = self.at;
        let word = self
            .words
            .get(at)
            .ok_or_else(|| (at, format!("the line ends where {what} should follow")))?;
        self.at += 1;
        let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| (at, format!("expected {what}, found `{word}`")))
    }

    fn number(&mut self, what: &str) -> Result<i64, Fault> {
        let at = self.at;
        let value = self.real(what)?;
        if value.fract() != 0.0 || value.abs() > 9e15 {
            return Err((at, format!("expected {what}, a whole number, found `{value}`")));
        }
        Ok(value as i64)
    }

    /// A number that is not negative.
    fn amount(&mut self, what: &str) -> Result<f64, Fault> {
        let at = self.at;
        let value = self.real(what)?;
        if value < 0.0 {
            return Err((at, format!("expected {what}, found `{value}`: it is negative")));
        }
        Ok(value)
    }

    fn count(&mut self) -> Result<i64, Fault> {
        let at = self.at;
        let count = self.number("a count")?;
        if count < 0 { Err((at, format!("a count of {count}: it is negative"))) } else { Ok(count) }
    }

    fn counts(&mut self, count: u32) -> Result<Vec<i64>, Fault> {
        (0..count).map(|_| self.count()).collect()
    }

    fn datatype(&mut self) -> Result<[i64; 3], Fault> {
        let at = self.at;
        let id = if self.more() > 0 { self.number("a datatype")? } else { BYTE };
        let found = usize::try_from(id).ok().and_then(|id| DATATYPES.get(id));
        let (id, size) = found.ok_or_else(|| (at, format!("datatype {id}; they are 0 to 6")))?;
        Ok([*id, *size, *size])
    }

    /// A root, if there is one, and the datatypes behind it.
    fn root(&mut self) -> Result<i64, Fault> {
        if self.more() > 0 { self.number("the root") } else { Ok(0) }
    }
}

impl<R: Read> IndependentReader<R> {
    /// Reads the trace of a rank; lines of other ranks are passed over.
    pub fn new(input: R, rank: u32, ranks: u32) -> Self {
        Self {
            lines: Lines::new(input),
            definitions: Definitions::new(rank, ranks),
            findings: Findings::default(),
            rank,
            ranks,
            speed: SPEED as f64,
            now: 0.0,
            open_time: Between::default(),
            between: Between::default(),
            requests: FxHashMap::default(),
            open: Vec::new(),
            last: 0,
        }
    }

    /// Sets how fast the host computes, in operations per second.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// What is known: the world.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// What is wrong with the file so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The number of the line that was read last.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// What the rank did between the last two calls.
    pub const fn between(&self) -> Between {
        self.between
    }

    /// Fetches the next call; false at the end. Lines that are wrong are passed over and noted.
    pub fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        while self.lines.next()? {
            let line = self.lines.take();
            let text = String::from_utf8_lossy(&line);
            let words: Vec<_> = text.split_whitespace().collect();
            let found = self.action(&mut Words { words, at: 0 }, record);
            let found = found.map_err(|(word, message)| {
                let words = text.split_whitespace().collect::<Vec<_>>();
                let (at, width) = words.get(word).map_or((line.len(), 1), |found| {
                    (found.as_ptr() as usize - text.as_ptr() as usize, found.len())
                });
                let number = self.lines.number();
                self.findings.add(Severity::Error, (number, &line), (at, width), message, None);
            });
            drop(text);
            self.lines.give_back(line);
            if found == Ok(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn compute(&mut self, operations: f64) {
        let time = operations / self.speed * 1e12;
        self.now += time;
        self.open_time.computed += time;
    }

    fn sleep(&mut self, seconds: f64) {
        self.now += seconds * 1e12;
        self.open_time.slept += seconds * 1e12;
    }

    /// Times of a call: whole picoseconds, and what is left of them goes to the next one.
    fn stamp(&mut self, record: &mut Record) {
        #[expect(clippy::cast_sign_loss, reason = "time does not run backwards")]
        let now = self.now.round() as u64;
        (record.enter, record.leave) = (now, now);
        let Between { computed, slept } = self.open_time;
        self.between = Between { computed: computed.round(), slept: slept.round() };
        self.open_time = Between {
            computed: computed - self.between.computed,
            slept: slept - self.between.slept,
        };
    }

    /// Reads a line: whether it is a call of this rank.
    fn action(&mut self, words: &mut Words, record: &mut Record) -> Result<bool, Fault> {
        let Some(first) = words.words.first() else { return Ok(false) };
        if first.starts_with('#') {
            return Ok(false);
        }
        let rank = words.number("the number of a rank")?;
        if !(0..i64::from(self.ranks)).contains(&rank) {
            return Err((0, format!("rank {rank}, but there are {} ranks", self.ranks)));
        }
        if rank != i64::from(self.rank) {
            return Ok(false);
        }
        let Some(action) = words.words.get(1).map(|word| word.to_ascii_lowercase()) else {
            return Err((1, "the line ends where an action should follow".to_owned()));
        };
        words.at = 2;
        record.values.clear();
        let mut after = 0.0;
        match action.as_str() {
            "compute" => {
                let operations = words.amount("a number of operations")?;
                self.compute(operations);
                return Ok(false);
            }
            "sleep" => {
                let seconds = words.amount("a number of seconds")?;
                self.sleep(seconds);
                return Ok(false);
            }
            "location" | "comm_size" => return Ok(false),
            _ => {}
        }
        let name = match action.as_str() {
            "send" | "ssend" | "isend" | "issend" | "recv" | "irecv" => {
                self.message(&action, words, record)?
            }
            "sendrecv" => sendrecv(words, record)?,
            "wait" | "test" | "waitall" => self.completion(&action, words, record)?,
            _ => self.collective(&action, words, record, &mut after)?,
        };
        let known = Table::get().by_name(name);
        record.id = known.map_or(0, |call| call.id);
        record.thread = 0;
        self.stamp(record);
        self.compute(after);
        Ok(true)
    }

    fn message(
        &mut self,
        action: &str,
        words: &mut Words,
        record: &mut Record,
    ) -> Result<&'static str, Fault> {
        let peer = words.number("a rank")?;
        let (place, tag) = (words.at, words.number("a tag")?);
        let count = words.count()?;
        let datatype = words.datatype()?;
        record.values.extend([0, count]);
        record.values.extend(datatype);
        let matched = [known(peer), known(tag)];
        let any_tag = action.ends_with("recv") && matched[1] == ANY;
        if matched[1] < 0 && !any_tag && matched[0] != PROC_NULL {
            return Err((place, format!("a tag of {tag}: it is negative")));
        }
        record.values.extend(matched);
        record.values.push(WORLD);
        let me = i64::from(self.rank);
        let (name, ends) = match action {
            "send" => ("MPI_Send", [me, peer]),
            "ssend" => ("MPI_Ssend", [me, peer]),
            "isend" => ("MPI_Isend", [me, peer]),
            "issend" => ("MPI_Issend", [me, peer]),
            "recv" => ("MPI_Recv", [peer, me]),
            _ => ("MPI_Irecv", [peer, me]),
        };
        if action == "recv" {
            record.values.extend([crate::record::UNKNOWN; 3]);
        }
        if action.starts_with('i') {
            let request = self.request();
            self.requests.entry([ends[0], ends[1], tag]).or_default().push(request);
            record.values.push(request);
        }
        Ok(name)
    }

    fn request(&mut self) -> i64 {
        self.last += 1;
        self.open.push(self.last);
        self.last
    }

    fn completion(
        &mut self,
        action: &str,
        words: &mut Words,
        record: &mut Record,
    ) -> Result<&'static str, Fault> {
        if action == "waitall" {
            record.values.push(self.open.len().cast_signed() as i64);
            record.values.append(&mut self.open);
            record.values.push(0);
            self.requests.clear();
            return Ok("MPI_Waitall");
        }
        let key =
            [words.number("the sender")?, words.number("the receiver")?, words.number("a tag")?];
        let request = match self.requests.get_mut(&key) {
            Some(requests) if !requests.is_empty() => requests.remove(0),
            _ => {
                return Err((
                    2,
                    format!("no open request from {} to {} with tag {}", key[0], key[1], key[2]),
                ));
            }
        };
        self.open.retain(|open| *open != request);
        record.values.push(request);
        // A test that was recorded by SMPI stands for one that succeeds in the end.
        record.values.extend([crate::record::UNKNOWN; 3]);
        Ok("MPI_Wait")
    }

    // Long because it is a list of actions.
    #[expect(clippy::too_many_lines)]
    fn collective(
        &mut self,
        action: &str,
        words: &mut Words,
        record: &mut Record,
        after: &mut f64,
    ) -> Result<&'static str, Fault> {
        let (base, immediate) = match action.strip_prefix('i') {
            Some(base) if base != "nit" => (base, true),
            _ => (action, false),
        };
        let blocks =
            |count: i64, datatype: [i64; 3]| [0, count, datatype[0], datatype[1], datatype[2]];
        let values = &mut record.values;
        let ranks = self.ranks;
        let name = match base {
            "init" => return Ok("MPI_Init"),
            "finalize" => return Ok("MPI_Finalize"),
            "barrier" => {
                values.push(WORLD);
                "barrier"
            }
            "comm_split" | "comm_dup" => {
                values.extend([WORLD, crate::record::NULL]);
                return Ok("MPI_Comm_dup");
            }
            "bcast" => {
                let count = words.count()?;
                let (root, datatype) = (words.root()?, words.datatype()?);
                values.extend(blocks(count, datatype));
                values.extend([root, WORLD]);
                "bcast"
            }
            "reduce" | "allreduce" | "scan" | "exscan" => {
                let count = words.count()?;
                *after = words.amount("a number of operations")?;
                let root = if base == "reduce" { Some(words.root()?) } else { None };
                let datatype = words.datatype()?;
                values.push(0);
                values.extend(blocks(count, datatype));
                values.push(3);
                values.extend(root);
                values.push(WORLD);
                base
            }
            "gather" | "scatter" | "allgather" | "alltoall" => {
                let counts = [words.count()?, words.count()?];
                let rooted = matches!(base, "gather" | "scatter");
                let root = if rooted { Some(words.root()?) } else { None };
                let datatypes = [words.datatype()?, words.datatype()?];
                values.extend(blocks(counts[0], datatypes[0]));
                values.extend(blocks(counts[1], datatypes[1]));
                values.extend(root);
                values.push(WORLD);
                base
            }
            "gatherv" | "allgatherv" => {
                let sent = words.count()?;
                let received = words.counts(ranks)?;
                let root = if base == "gatherv" { Some(words.root()?) } else { None };
                let datatypes = [words.datatype()?, words.datatype()?];
                values.extend(blocks(sent, datatypes[0]));
                values.extend([0, i64::from(ranks)]);
                values.extend(received);
                values.extend(datatypes[1]);
                values.extend(root);
                values.push(WORLD);
                base
            }
            "scatterv" => {
                let sent = words.counts(ranks)?;
                let received = words.count()?;
                let (root, datatypes) = (words.root()?, [words.datatype()?, words.datatype()?]);
                values.extend([0, i64::from(ranks)]);
                values.extend(sent);
                values.extend(datatypes[0]);
                values.extend(blocks(received, datatypes[1]));
                values.extend([root, WORLD]);
                base
            }
            "reducescatter" => {
                let counts = words.counts(ranks)?;
                *after = words.amount("a number of operations")?;
                let datatype = words.datatype()?;
                values.extend([0, 0, i64::from(ranks)]);
                values.extend(counts);
                values.extend(datatype);
                values.extend([3, WORLD]);
                "reduce_scatter"
            }
            "alltoallv" => {
                words.number("the size of a buffer")?;
                let sent = words.counts(ranks)?;
                words.number("the size of a buffer")?;
                let received = words.counts(ranks)?;
                for counts in [sent, received] {
                    values.extend([0, i64::from(ranks)]);
                    values.extend(counts);
                    values.extend(words.datatype()?);
                }
                values.push(WORLD);
                base
            }
            _ => return Err((1, format!("unknown action `{action}`"))),
        };
        if immediate {
            let request = self.request();
            record.values.push(request);
        }
        let prefix = if immediate { "MPI_I" } else { "MPI_" };
        let is = |call: &&calls::Call| {
            call.name.strip_prefix(prefix).is_some_and(|rest| rest.eq_ignore_ascii_case(name))
                && immediate == (call.fields.last() == Some(&Field::Request))
        };
        let call = Table::get().calls().iter().find(is);
        call.map(|call| call.name).ok_or_else(|| (1, format!("unknown action `{action}`")))
    }
}

/// A rank or a tag by our numbers: SMPI's own for any and none differ from them.
const fn known(number: i64) -> i64 {
    match number {
        ANY_SOURCE | ANY_TAG => ANY,
        NO_RANK => PROC_NULL,
        number => number,
    }
}

/// Sends and receives at once; there are no tags.
fn sendrecv(words: &mut Words, record: &mut Record) -> Result<&'static str, Fault> {
    let (sent, to) = (words.count()?, words.number("a rank")?);
    let (received, from) = (words.count()?, words.number("a rank")?);
    for (count, peer) in [(sent, to), (received, from)] {
        record.values.extend([0, count]);
        record.values.extend(words.datatype()?);
        record.values.extend([known(peer), 0]);
    }
    record.values.push(WORLD);
    record.values.extend([crate::record::UNKNOWN; 3]);
    Ok("MPI_Sendrecv")
}
