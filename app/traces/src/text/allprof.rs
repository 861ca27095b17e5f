//! The text traces of liballprof: one file per rank, a call per line.
//!
//! `MPI_Name:START:argument:…:END`, times in microseconds, arguments in the order of C; a datatype
//! is `id,size,extent`, a communicator `handle,rank,size`, a list of counts
//! `address:count,count,…`. What a call gave back stands there as an address, so that matched
//! sources, flags and indices are not known. Requests are known by the addresses of their handles;
//! those of an array follow each other at a distance of 8 bytes (Open MPI) or 4 (MPICH).
//!
//! Source: the tracer's output as `LogGOPSim`'s Schedgen reads it.

use std::io::{self, Read};

use rustc_hash::{FxHashMap, FxHashSet};
use schedule::goal::Severity;

pub use super::findings::Findings;
use super::lines::Lines;
use crate::definitions::{Communicator, Definitions, Group, Offset};
use crate::record::{ANY, NULL, PROC_NULL, Record, SELF, UNKNOWN, WORLD};
use calls::{Call, Class, Field, How, Table, UNLISTED};

/// Reads the calls of a rank.
pub struct AllprofReader<R> {
    lines: Lines<R>,
    definitions: Definitions,
    findings: Findings,
    rank: u32,
    ranks: u32,
    /// The numbers of communicators by (handle, size), and how many of them are as large as the
    /// world.
    communicators: FxHashMap<(i64, i64), i64>,
    worlds: i64,
    numbers: FxHashMap<String, u32>,
    /// Handles that a call filled. They stay, because calls that complete requests do not say
    /// which.
    requests: FxHashSet<i64>,
    /// Distance of handles in an array.
    stride: i64,
    /// The first time in the file, in microseconds: where times count from.
    origin: Option<u64>,
    /// The return of the last call.
    last: u64,
    finalized: bool,
    ended: bool,
}

/// A mistake on a line: its place and width, a message, and advice.
struct Fault {
    at: usize,
    width: usize,
    message: String,
    help: Option<String>,
}

/// The part of a line that is still to be read.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Returns the next part up to a colon; `None` at the end of the line.
    #[inline]
    fn part(&mut self) -> Option<(usize, &'a [u8])> {
        let start = self.at;
        let rest = self.line.get(start..)?;
        let length = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
        self.at = start + length + 1;
        rest.get(..length).map(|part| (start, part))
    }

    fn need(&mut self, what: &str) -> Result<(usize, &'a [u8]), Fault> {
        self.part().ok_or_else(|| Fault {
            at: self.line.len(),
            width: 1,
            message: format!("the line ends where {what} should follow"),
            help: Some("lines must not be wrapped or cut".to_owned()),
        })
    }
}

#[inline]
fn integer(text: &[u8]) -> Option<i64> {
    let (digits, negative) = match text.split_first()? {
        (b'-', rest) => (rest, true),
        _ => (text, false),
    };
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let mut number = 0_u64;
    for digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(value))?;
    }
    // Addresses use all 64 bits.
    Some(if negative { number.cast_signed().checked_neg()? } else { number.cast_signed() })
}

fn number((at, text): (usize, &[u8]), what: &str) -> Result<i64, Fault> {
    integer(text).ok_or_else(|| {
        let shown = String::from_utf8_lossy(text);
        let message = format!("expected {what}, found `{shown}`");
        Fault { at, width: text.len(), message, help: None }
    })
}

/// Reads numbers between commas.
fn numbers<const N: usize>((at, text): (usize, &[u8]), what: &str) -> Result<[i64; N], Fault> {
    let mut all = [0; N];
    let mut parts = text.split(|byte| *byte == b',');
    let fault = || {
        let shown = String::from_utf8_lossy(text);
        let message = format!("expected {what}, found `{shown}`");
        Fault { at, width: text.len(), message, help: None }
    };
    for number in &mut all {
        *number = parts.next().and_then(integer).ok_or_else(fault)?;
    }
    if parts.next().is_some() { Err(fault()) } else { Ok(all) }
}

impl<R: Read> AllprofReader<R> {
    /// Reads the trace of a rank.
    pub fn new(input: R, rank: u32, ranks: u32) -> Self {
        Self {
            lines: Lines::new(input),
            definitions: Definitions::new(rank, ranks),
            findings: Findings::default(),
            rank,
            ranks,
            communicators: FxHashMap::default(),
            worlds: 0,
            numbers: FxHashMap::default(),
            requests: FxHashSet::default(),
            stride: 8,
            origin: None,
            last: 0,
            finalized: false,
            ended: false,
        }
    }

    /// Returns what the file has defined so far.
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

    /// Returns the first time in the file, in nanoseconds.
    pub fn start(&self) -> u64 {
        self.origin.unwrap_or(0).saturating_mul(1000)
    }

    /// Fetches the next call; false at the end. Lines that are wrong are passed over and noted.
    pub fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        while !self.ended && self.lines.next()? {
            // The line is lent to the parser while the rest of the reader changes.
            let line = self.lines.take();
            let parsed = self.line_of(&line, record);
            let number = self.lines.number();
            let call = match parsed {
                Ok(call) => call,
                Err(fault) => {
                    let place = (fault.at, fault.width);
                    let line = (number, line.as_slice());
                    self.findings.add(Severity::Error, line, place, fault.message, fault.help);
                    false
                }
            };
            self.lines.give_back(line);
            if call {
                return Ok(true);
            }
        }
        if !self.ended {
            self.ended = true;
            if !self.finalized {
                let line = (self.lines.number().max(1), [].as_slice());
                let message = "the trace ends without MPI_Finalize";
                self.findings.add(Severity::Warning, line, (0, 1), message, None);
            }
        }
        Ok(false)
    }

    /// Reads a line and returns whether it is a call.
    fn line_of(&mut self, line: &[u8], record: &mut Record) -> Result<bool, Fault> {
        let whole = |message: String| Fault { at: 0, width: line.len(), message, help: None };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(false);
        }
        if line.starts_with(b"#") {
            self.comment(line);
            return Ok(false);
        }
        if !line.starts_with(b"MPI_") {
            let fault = whole("expected a call, such as `MPI_Send:…`, or a comment".to_owned());
            let help = "is the line before it wrapped?".to_owned();
            return Err(Fault { help: Some(help), ..fault });
        }
        let mut cursor = Cursor { line, at: 0 };
        let (_, name) = cursor.need("a name")?;
        let name = str::from_utf8(name).map_err(|_| whole("the name is no text".to_owned()))?;
        let Some(call) = Table::get().by_name(name) else {
            return self.unlisted(name, cursor, record);
        };
        record.id = call.id;
        record.thread = 0;
        record.values.clear();
        let start = cursor.need("the time of the call")?;
        self.arguments(call, &mut cursor, &mut record.values)?;
        let end = cursor.need("the time of the return")?;
        if let Some((at, _)) = cursor.part() {
            let width = line.len() - at;
            let message = format!("{name} has fewer arguments");
            let help = "is the next line joined to this one?".to_owned();
            return Err(Fault { at, width, message, help: Some(help) });
        }
        self.times(start, end, record)?;
        self.finalized |= call.class == Class::Finalize;
        Ok(true)
    }

    /// Reads a function outside the table, of which only the times matter.
    fn unlisted(
        &mut self,
        name: &str,
        mut cursor: Cursor,
        record: &mut Record,
    ) -> Result<bool, Fault> {
        let start = cursor.need("the time of the call")?;
        let mut end = cursor.need("the time of the return")?;
        while let Some(part) = cursor.part() {
            end = part;
        }
        let next = UNLISTED + self.numbers.len() as u32;
        let id = *self.numbers.entry(name.to_owned()).or_insert(next);
        if id == next {
            self.definitions.names.insert(id, name.to_owned());
        }
        (record.id, record.thread) = (id, 0);
        record.values.clear();
        self.times(start, end, record)?;
        Ok(true)
    }

    /// Returns a time in picoseconds since the file's first. `-` stands for the time of the last
    /// call.
    fn time(&mut self, part: (usize, &[u8])) -> Result<u64, Fault> {
        let (at, text) = part;
        if text == b"-" {
            return Ok(self.last);
        }
        let fault = || {
            let shown = String::from_utf8_lossy(text);
            let message = format!("expected a time in microseconds, found `{shown}`");
            Fault { at, width: text.len(), message, help: None }
        };
        let dot = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
        let (whole, fraction) = text.split_at(dot);
        let whole =
            integer(whole).and_then(|number| u64::try_from(number).ok()).ok_or_else(fault)?;
        let mut picoseconds = 0;
        let mut weight = 100_000;
        for digit in fraction.iter().skip(1) {
            if !digit.is_ascii_digit() {
                return Err(fault());
            }
            picoseconds += u64::from(digit - b'0') * weight;
            weight /= 10;
        }
        let origin = *self.origin.get_or_insert(whole);
        let since = whole.checked_sub(origin).and_then(|since| since.checked_mul(1_000_000));
        since.and_then(|since| since.checked_add(picoseconds)).ok_or_else(|| {
            let message =
                format!("this time lies before the first of the file, or far behind it: {whole}");
            Fault { at, width: text.len(), message, help: None }
        })
    }

    fn times(
        &mut self,
        start: (usize, &[u8]),
        end: (usize, &[u8]),
        record: &mut Record,
    ) -> Result<(), Fault> {
        record.enter = self.time(start)?;
        // Behind MPI_Finalize's time of call stands no other.
        record.leave = if end.1 == b"-" { record.enter } else { self.time(end)? };
        if record.leave < record.enter {
            let message = "the call returns before it was made".to_owned();
            return Err(Fault { at: end.0, width: end.1.len(), message, help: None });
        }
        if record.id == 16 || record.id == 17 {
            record.enter = 0;
        }
        self.last = record.leave;
        Ok(())
    }

    fn comment(&mut self, line: &[u8]) {
        // `# clockdiff: x s` and `# Init clockdiff: x` before the calls, `# Finalize clockdiff: x`
        // behind them. Whatever the unit says, they are microseconds: so the clocks of the seed's
        // traces agree.
        let text = String::from_utf8_lossy(line);
        let Some((_, value)) = text.split_once("clockdiff:") else { return };
        let value = value.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        if let Some(microseconds) = value.filter(|value| value.abs() < 9e15) {
            let nanoseconds = (microseconds * 1000.0).round() as i64;
            self.definitions.offsets.push(Offset { at: self.last, nanoseconds });
        }
    }

    /// Reads the arguments of a call.
    // Long because it lists the kinds of fields.
    fn arguments(
        &mut self,
        call: &Call,
        cursor: &mut Cursor,
        values: &mut Vec<i64>,
    ) -> Result<(), Fault> {
        // The length of the array of requests that follows.
        let mut count = 0;
        let fills = matches!(call.how, How::Immediate | How::Persistent);
        for field in &call.fields {
            match field {
                Field::Skip => {
                    let (_, text) = cursor.need("an argument")?;
                    count = integer(text).unwrap_or(0);
                }
                Field::Displacements => {
                    cursor.need("the address of an array")?;
                    cursor.need("its elements")?;
                }
                Field::Number => {
                    let value = number(cursor.need("a number")?, "a number")?;
                    values.push(value);
                }
                Field::Address | Field::Id => {
                    values.push(number(cursor.need("an argument")?, "a number")?);
                }
                Field::Outcome | Field::Message | Field::NewId => {
                    cursor.need("an address")?;
                    values.push(if *field == Field::NewId { NULL } else { UNKNOWN });
                }
                Field::Status => {
                    cursor.need("the address of a status")?;
                    values.extend([UNKNOWN; 3]);
                }
                Field::Statuses | Field::Indices => {
                    cursor.need("the address of an array")?;
                    values.push(UNKNOWN);
                }
                Field::Communicator => {
                    let part = cursor.need("a communicator")?;
                    let id = self.communicator(part)?;
                    values.push(id);
                }
                Field::Datatype => {
                    let part = cursor.need("a datatype")?;
                    let [id, size, extent] =
                        numbers(part, "a datatype as id, size and extent between commas")?;
                    values.extend([if (1..=22).contains(&id) { id } else { 0 }, size, extent]);
                }
                Field::Request => {
                    let request = number(cursor.need("a request")?, "the address of a request")?;
                    values.push(request);
                    if fills {
                        self.requests.insert(request);
                    }
                }
                Field::Requests => {
                    let base = number(cursor.need("an array of requests")?, "its address")?;
                    self.array(base, count, values);
                }
                Field::Datatypes => {
                    let (at, text) = cursor.need("an array")?;
                    let message = format!(
                        "{} cannot be read: this format does not say how large its datatypes are",
                        call.name
                    );
                    return Err(Fault { at, width: text.len(), message, help: None });
                }
                Field::Counts | Field::Group => {
                    cursor.need("the address of an array")?;
                    let (at, text) = cursor.need("its elements")?;
                    let place = values.len();
                    values.push(0);
                    for part in text.split(|byte| *byte == b',').filter(|part| !part.is_empty()) {
                        values.push(number((at, part), "a number")?);
                    }
                    let length = (values.len() - place - 1).cast_signed() as i64;
                    if let Some(slot) = values.get_mut(place) {
                        *slot = length;
                    }
                }
            }
        }
        normalise(call, values);
        Ok(())
    }

    /// Adds the requests of an array by the addresses of its elements.
    fn array(&mut self, base: i64, count: i64, values: &mut Vec<i64>) {
        let known = |offset: i64| self.requests.contains(&base.wrapping_add(offset));
        if count > 1 && known(8) != known(4) {
            self.stride = if known(8) { 8 } else { 4 };
        }
        let count = count.clamp(0, 1 << 24);
        values.push(count);
        for index in 0..count {
            let request = base.wrapping_add(index * self.stride);
            values.push(if self.requests.contains(&request) { request } else { 0 });
        }
    }

    fn communicator(&mut self, part: (usize, &[u8])) -> Result<i64, Fault> {
        let [handle, me, size] =
            numbers(part, "a communicator as handle, rank and size between commas")?;
        if let Some(id) = self.communicators.get(&(handle, size)) {
            return Ok(*id);
        }
        let ranks = i64::from(self.ranks);
        let fault = |message, help: &str| {
            let help = Some(help.to_owned());
            Fault { at: part.0, width: part.1.len(), message, help }
        };
        let id = if size == ranks && (me == i64::from(self.rank) || self.worlds == 0) {
            // Those as large as the world are told apart by the order of their first use.
            self.worlds += 1;
            if self.worlds == 1 { WORLD } else { 2 + (self.worlds - 1) }
        } else if size == 1 && me == 0 {
            SELF
        } else if size > ranks {
            let message = format!("a communicator of {size} ranks, but there are {ranks} traces");
            return Err(fault(message, "are all files of the run there?"));
        } else {
            let message = format!("nothing says who the {size} members of this communicator are");
            return Err(fault(
                message,
                "this format does not name members; record the program with `heddle record`",
            ));
        };
        if id > NULL {
            let local = Group::All(self.ranks);
            let world = Communicator { local, remote: None, me: self.rank };
            self.definitions.communicators.insert(id, world);
        }
        self.communicators.insert((handle, size), id);
        Ok(id)
    }
}

/// Source -2 is `MPI_ANY_SOURCE` of MPICH where a source stands, and so `MPI_PROC_NULL` of Open
/// MPI. Those who trace receive from anyone much more often than from no one.
fn normalise(call: &Call, values: &mut [i64]) {
    // Where the source stands among the values: behind address, count and datatype.
    let source = match call.class {
        Class::Recv => 5,
        Class::Sendrecv => 12,
        Class::SendrecvReplace => 7,
        Class::Probe | Class::Iprobe | Class::Mprobe | Class::Improbe => 0,
        _ => return,
    };
    if let Some(value) = values.get_mut(source).filter(|value| **value == PROC_NULL) {
        *value = ANY;
    }
}
