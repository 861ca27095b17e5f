//! Time-independent traces of SMPI: amounts of computation in place of times.
//!
//! A line is `rank action arguments`; an index lists one file per rank, or one for all. Everything
//! that SMPI's recorder writes is read, also actions that its replayer does not know, such as
//! `Ssend`, `iallreduce` and `waitAny`. The exception is `Startall`, which names no request. The
//! traces do not say which communicator is meant: everything belongs to the world.
//!
//! A test is a look: it costs what `smpi/test` says and completes nothing, so that the rank waits
//! where the trace waits. Creating communicators takes no time, as in SMPI's replay.
//!
//! Sources: SimGrid's description of its replay in the manual of SMPI; traces that SimGrid 3.32
//! writes, and how long its replayer takes for them (`validation/simgrid`).

mod collective;
mod datatype;
mod index;
mod request;
mod words;

use std::io::{self, Read};
use std::sync::Arc;

use calls::Table;
use schedule::goal::Severity;

use super::findings::Findings;
use super::lines::{Lines, Span};
use crate::definitions::Definitions;
use crate::record::{ANY, Between, PROC_NULL, Record, UNKNOWN, WORLD};
pub use index::{Spans, read as index};
use request::Requests;
use words::{Fault, Words};

/// The speed of a host if nothing else is said, in operations per second.
pub const SPEED: u64 = 1_000_000_000;

/// SMPI's `MPI_ANY_SOURCE`, `MPI_ANY_TAG` and `MPI_PROC_NULL`.
const ANY_SOURCE: i64 = -555;
const ANY_TAG: i64 = -444;
const NO_RANK: i64 = -666;
/// The number that SMPI's recorder writes for a rank that it does not know: any source in a
/// receive, no process in a send.
const UNKNOWN_RANK: i64 = -333;

/// Reads the calls of a rank.
pub struct IndependentReader<R> {
    lines: Lines<R>,
    definitions: Definitions,
    findings: Findings,
    rank: u32,
    ranks: u32,
    /// Operations per second.
    speed: f64,
    /// The datatype where a line names none.
    default_type: i64,
    /// Time so far, in picoseconds.
    now: f64,
    /// Computation and sleep that no call has told of yet, and those before the last call.
    open_time: Between,
    between: Between,
    requests: Requests,
    finalized: bool,
}

impl<R: Read> IndependentReader<R> {
    /// Reads the trace of a rank.
    pub fn new(input: R, rank: u32, ranks: u32) -> Self {
        Self {
            lines: Lines::new(input),
            definitions: Definitions::new(rank, ranks),
            findings: Findings::default(),
            rank,
            ranks,
            speed: SPEED as f64,
            default_type: datatype::BYTE,
            now: 0.0,
            open_time: Between::default(),
            between: Between::default(),
            requests: Requests::default(),
            finalized: false,
        }
    }

    /// Sets how fast the host computes, in operations per second.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// Says where the input stands in a file that all ranks share.
    pub fn set_spans(&mut self, spans: Arc<[Span]>) {
        self.lines.set_spans(spans);
    }

    /// Returns what is known of communicators: the world.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns the mistakes found so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns the number of the line that was read last.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Returns what the rank did between the last two calls.
    pub const fn between(&self) -> Between {
        self.between
    }

    /// Fetches the next call; false at the end. Lines that are wrong are passed over and noted.
    pub fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        while self.lines.next()? {
            let line = self.lines.take();
            let text = String::from_utf8_lossy(&line);
            let found = self.line_of(&text, record);
            drop(text);
            self.lines.give_back(line);
            if found {
                return Ok(true);
            }
        }
        if !self.finalized {
            self.finalized = true;
            let line = (self.lines.number().max(1), [].as_slice());
            let message = "the trace ends without `finalize`";
            self.findings.add(Severity::Warning, line, (0, 1), message, None);
        }
        Ok(false)
    }

    /// Reads a line and returns whether it is a call. Notes what is wrong with it or not used.
    fn line_of(&mut self, text: &str, record: &mut Record) -> bool {
        let mut words = Words::new(text, self.default_type);
        let found = self.action(&mut words, record);
        let finding = match (&found, words.rest()) {
            (Err((word, message)), _) => Some((Severity::Error, *word, message.clone())),
            (Ok(Some(_)), Some(word)) => {
                let message = "this and what follows it on the line is not used".to_owned();
                Some((Severity::Warning, word, message))
            }
            _ => None,
        };
        if let Some((severity, word, message)) = finding {
            let (at, width) = words.get(word).map_or((text.len(), 1), |found| {
                (found.as_ptr() as usize - text.as_ptr() as usize, found.len())
            });
            let line = (self.lines.number(), text.as_bytes());
            self.findings.add(severity, line, (at, width), message, None);
        }
        found == Ok(Some(true))
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

    /// Gives a call its times in whole picoseconds; the rest goes to the next call.
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

    /// Reads the action of a line and returns whether it is a call; `None` for a line without any.
    // Long because it is a table of actions.
    fn action(&mut self, words: &mut Words, record: &mut Record) -> Result<Option<bool>, Fault> {
        if words.get(0).is_none_or(|first| first.starts_with('#')) {
            return Ok(None);
        }
        let rank = words.number("the number of a rank")?;
        if !(0..i64::from(self.ranks)).contains(&rank) {
            return Err((0, format!("rank {rank}, but there are {} ranks", self.ranks)));
        }
        if rank != i64::from(self.rank) {
            let own = self.rank;
            return Err((
                0,
                format!(
                    "rank {rank} in the trace of rank {own}; an index lists the files in the order \
                     of ranks"
                ),
            ));
        }
        let place = words.place();
        let action = words.word("an action")?.to_ascii_lowercase();
        if self.finalized {
            return Err((place, format!("`{action}` behind `finalize`")));
        }
        record.values.clear();
        record.thread = 0;
        let mut after = 0.0;
        let name = match action.as_str() {
            "compute" => {
                let operations = words.amount("a number of operations")?;
                self.compute(operations);
                None
            }
            "sleep" => {
                let seconds = words.amount("a number of seconds")?;
                self.sleep(seconds);
                None
            }
            // SMPI's replay does nothing for communicators either.
            "location" | "comm_size" | "comm_split" | "comm_dup" => {
                words.skip_rest();
                None
            }
            "init" => {
                // With any argument, the default is that of the tracer MPE.
                self.default_type =
                    if words.more() > 0 { datatype::DOUBLE } else { datatype::BYTE };
                words.skip_rest();
                Some("MPI_Init")
            }
            "finalize" => {
                self.finalized = true;
                Some("MPI_Finalize")
            }
            "send" | "ssend" | "isend" | "issend" | "recv" | "irecv" | "start" => {
                Some(self.message(&action, words, record)?)
            }
            "sendrecv" => Some(sendrecv(words, record)?),
            "wait" | "test" | "waitall" | "waitany" | "testall" | "testany" | "testsome" => {
                self.completion(&action, words, record)?
            }
            _ => Some(self.collective(&action, words, record, &mut after)?),
        };
        let Some(name) = name else { return Ok(Some(false)) };
        record.id = Table::get().by_name(name).map_or(0, |call| call.id);
        self.stamp(record);
        self.compute(after);
        Ok(Some(true))
    }

    /// A message; `Start` is one of a persistent request, whose length is in bytes.
    fn message(
        &mut self,
        action: &str,
        words: &mut Words,
        record: &mut Record,
    ) -> Result<&'static str, Fault> {
        let mut peer = words.number("a rank")?;
        let (place, tag) = (words.place(), words.number("a tag")?);
        let mut count = words.count()?;
        let datatype = words.datatype()?;
        let me = i64::from(self.rank);
        let action = match action {
            "start" => {
                count /= datatype[1].max(1);
                // It names the receiver. Where that is the rank itself, the sender is not known.
                if peer == me {
                    peer = UNKNOWN_RANK;
                    "irecv"
                } else {
                    "isend"
                }
            }
            other => other,
        };
        let (name, receives) = match action {
            "send" => ("MPI_Send", false),
            "ssend" => ("MPI_Ssend", false),
            "isend" => ("MPI_Isend", false),
            "issend" => ("MPI_Issend", false),
            "recv" => ("MPI_Recv", true),
            _ => ("MPI_Irecv", true),
        };
        record.values.extend([0, count]);
        record.values.extend(datatype);
        let matched = [known(peer, receives), if tag == ANY_TAG { ANY } else { tag }];
        let any_tag = receives && matched[1] == ANY;
        if matched[1] < 0 && !any_tag && matched[0] != PROC_NULL {
            return Err((place, format!("a tag of {tag}: it is negative")));
        }
        record.values.extend(matched);
        record.values.push(WORLD);
        if action == "recv" {
            record.values.extend([UNKNOWN; 3]);
        }
        if action.starts_with('i') {
            let ends = if receives { [peer, me, tag] } else { [me, peer, tag] };
            record.values.push(self.requests.add(ends));
        }
        Ok(name)
    }

    /// A call that completes requests, or looks at them. `None` for one that has nothing to do,
    /// because a call before it may have completed its request.
    fn completion(
        &mut self,
        action: &str,
        words: &mut Words,
        record: &mut Record,
    ) -> Result<Option<&'static str>, Fault> {
        let all = |record: &mut Record, open: &[i64]| {
            record.values.push(open.len().cast_signed() as i64);
            record.values.extend(open);
        };
        match action {
            "waitall" => {
                words.skip_rest();
                all(record, &self.requests.take_all());
                record.values.push(0);
                return Ok(Some("MPI_Waitall"));
            }
            "waitany" => {
                words.skip_rest();
                all(record, &self.requests.one_of_all());
                record.values.extend([UNKNOWN; 4]);
                return Ok(Some("MPI_Waitany"));
            }
            "testall" | "testany" | "testsome" => {
                words.skip_rest();
                all(record, &self.requests.open());
                record.values.extend([0, 0]);
                return Ok(Some("MPI_Testall"));
            }
            _ => {}
        }
        let key =
            [words.number("the sender")?, words.number("the receiver")?, words.number("a tag")?];
        let found =
            if action == "test" { self.requests.look(key) } else { self.requests.take(key) };
        let found = found.map_err(|message| (2, message))?;
        let Some(request) = found else { return Ok(None) };
        record.values.push(request);
        if action == "test" {
            record.values.push(0);
        }
        record.values.extend([UNKNOWN; 3]);
        Ok(Some(if action == "test" { "MPI_Test" } else { "MPI_Wait" }))
    }
}

/// A rank by our numbers: SMPI's own for any and none differ from them.
const fn known(rank: i64, receives: bool) -> i64 {
    match rank {
        ANY_SOURCE => ANY,
        UNKNOWN_RANK if receives => ANY,
        NO_RANK | UNKNOWN_RANK => PROC_NULL,
        rank => rank,
    }
}

/// Sends and receives at once; there are no tags.
fn sendrecv(words: &mut Words, record: &mut Record) -> Result<&'static str, Fault> {
    let (sent, to) = (words.count()?, words.number("a rank")?);
    let (received, from) = (words.count()?, words.number("a rank")?);
    for (count, peer, receives) in [(sent, to, false), (received, from, true)] {
        record.values.extend([0, count]);
        record.values.extend(words.datatype()?);
        record.values.extend([known(peer, receives), 0]);
    }
    record.values.push(WORLD);
    record.values.extend([UNKNOWN; 3]);
    Ok("MPI_Sendrecv")
}
