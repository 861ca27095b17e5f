//! Reading a file, block by block.

use std::fmt;
use std::io::{self, BufReader, Read};

use super::definition::{CALLS, Effect, apply};
use super::header::{Header, fill};
use super::{BLOCK, BLOCK_HEADER, Error, INDEX, LARGEST_BLOCK, varint};
use crate::definitions::{Definitions, Moment};
use crate::record::Record;
use calls::{Field, Table, UNLISTED};

/// The calls of a file that was not closed, or damaged later, end early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The byte of the file where the damaged block starts, or the file ends.
    pub at: u64,
    /// The number of calls that were read before.
    pub calls: u64,
    /// The damage.
    pub what: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "byte {}: {}; the trace ends after {} calls", self.at, self.what, self.calls)
    }
}

/// Reads the calls of a file in order. Memory for one block is all that it needs.
pub struct Reader<R> {
    input: BufReader<R>,
    header: Header,
    definitions: Definitions,
    /// The block, unpacked.
    block: Vec<u8>,
    packed: Vec<u8>,
    /// The place in the block of the next record.
    at: usize,
    /// The time at which the last call of the block returned, in the file's unit, and the thread of
    /// the next call.
    last: u64,
    thread: u32,
    /// The moment of the next call, as [`Definitions::moment`].
    moment: Option<Moment>,
    /// The bytes of the file at which the block and the next one start.
    block_start: u64,
    next_block: u64,
    /// The reason why the block is not whole.
    torn: Option<&'static str>,
    calls: u64,
    ended: bool,
    warning: Option<Warning>,
}

/// The part of a file that follows.
enum Next {
    Block,
    /// The index.
    End,
    /// Nothing, or no block.
    Broken(&'static str),
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Self, Error> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let (header, length) = Header::read(&mut input)?;
        Ok(Self {
            input,
            definitions: Definitions::new(header.rank, header.ranks),
            header,
            block: Vec::new(),
            packed: Vec::new(),
            at: 0,
            last: 0,
            thread: 0,
            moment: None,
            block_start: 0,
            next_block: length as u64,
            torn: None,
            calls: 0,
            ended: false,
            warning: None,
        })
    }

    /// Returns a reader of the rest. Its input is the same file from the place of the next block.
    #[must_use]
    pub fn ahead(&self, input: R) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 16, input),
            header: self.header.clone(),
            definitions: self.definitions.clone(),
            block: self.block.clone(),
            packed: Vec::new(),
            warning: self.warning.clone(),
            ..*self
        }
    }

    /// Returns the byte of the file at which the next block starts.
    pub const fn next_block(&self) -> u64 {
        self.next_block
    }

    /// Returns the header of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns what the file has defined so far.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns the number of calls that were fetched.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns the warning that the file ended early, once it has.
    pub fn warning(&self) -> Option<&Warning> {
        self.warning.as_ref()
    }

    /// Fetches the next call; false at the end. Fails only if the file cannot be read.
    pub fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        while !self.ended {
            if self.at < self.block.len() {
                match self.record(record) {
                    Some(true) => {
                        self.calls += 1;
                        return Ok(true);
                    }
                    Some(false) => {}
                    None => {
                        let what = self.torn.unwrap_or("a record makes no sense");
                        self.end(Some(what), self.block_start);
                    }
                }
            } else if let Some(what) = self.torn {
                self.end(Some(what), self.block_start);
            } else {
                match self.load()? {
                    Next::Block => {}
                    Next::End => self.end(None, 0),
                    Next::Broken(what) => self.end(Some(what), self.next_block),
                }
            }
        }
        Ok(false)
    }

    fn end(&mut self, what: Option<&'static str>, at: u64) {
        self.ended = true;
        self.warning = what.map(|what| Warning { at, calls: self.calls, what });
    }

    /// Fetches the next block.
    fn load(&mut self) -> io::Result<Next> {
        let mut head = [0; BLOCK_HEADER];
        let got = fill(&mut self.input, &mut head)?;
        if got >= 4 && head.starts_with(&INDEX) {
            return Ok(Next::End);
        }
        if got < BLOCK_HEADER {
            return Ok(Next::Broken("the file was not closed"));
        }
        if !head.starts_with(&BLOCK) {
            return Ok(Next::Broken("here should be a block"));
        }
        let word = |at: usize| head.get(at..).and_then(|b| b.first_chunk()).copied();
        let word = |at| u32::from_le_bytes(word(at).unwrap_or_default());
        let (stored, raw) = (word(4) as usize, word(8) as usize);
        if stored > LARGEST_BLOCK || raw > LARGEST_BLOCK {
            return Ok(Next::Broken("the block has an impossible length"));
        }
        self.block_start = self.next_block;
        self.next_block += (BLOCK_HEADER + stored) as u64;
        self.packed.clear();
        let got = self.input.by_ref().take(stored as u64).read_to_end(&mut self.packed)?;
        self.unpack(raw);
        if got < stored {
            self.torn = Some("the file ends within a block");
        }
        self.at = 0;
        self.thread = 0;
        self.last = u64::from(word(16)) | u64::from(word(20)) << 32;
        Ok(Next::Block)
    }

    /// Unpacks a block, or as much of it as there is.
    fn unpack(&mut self, raw: usize) {
        self.block.clear();
        let Ok(decoder) = zstd::stream::read::Decoder::with_buffer(self.packed.as_slice()) else {
            self.torn = Some("the block cannot be unpacked");
            return;
        };
        let read = decoder.single_frame().take(raw as u64 + 1).read_to_end(&mut self.block);
        if read.is_err() || self.block.len() != raw {
            self.torn = Some("the block is damaged");
        }
    }

    /// Reads a record and returns whether it was a call; `None` if it is not whole or makes no
    /// sense.
    fn record(&mut self, record: &mut Record) -> Option<bool> {
        let start = self.block.get(self.at..)?;
        let mut bytes = start;
        let id = u32::try_from(varint::take(&mut bytes)?).ok()?;
        if id < CALLS {
            let length = usize::try_from(varint::take(&mut bytes)?).ok()?;
            let (body, rest) = bytes.split_at_checked(length)?;
            let (rank, unit) = ((self.header.rank, self.header.ranks), self.header.unit.ps());
            match apply(id, body, rank, unit, &mut self.definitions)? {
                Effect::Nothing => {}
                Effect::Thread(thread) => self.thread = thread,
                Effect::Moment(moment) => self.moment = Some(moment),
            }
            self.at = self.block.len() - rest.len();
            return Some(false);
        }
        let enter = self.last.checked_add_signed(varint::take_signed(&mut bytes)?)?;
        let leave = enter.checked_add(varint::take(&mut bytes)?)?;
        record.id = id;
        record.thread = self.thread;
        record.enter = enter.checked_mul(self.header.unit.ps())?;
        record.leave = leave.checked_mul(self.header.unit.ps())?;
        record.values.clear();
        match Table::get().by_id(id) {
            Some(call) => {
                for field in &call.fields {
                    take_field(*field, &mut bytes, &mut record.values)?;
                }
            }
            None if id < UNLISTED => return None,
            None => {}
        }
        self.definitions.moment = self.moment.take();
        self.last = leave;
        self.at += start.len() - bytes.len();
        Some(true)
    }
}

/// Takes the value of a field.
#[inline]
fn take_field(field: Field, bytes: &mut &[u8], values: &mut Vec<i64>) -> Option<()> {
    match field {
        Field::Skip | Field::Displacements => {}
        Field::Number | Field::Outcome => values.push(varint::take_signed(bytes)?),
        Field::Address
        | Field::Id
        | Field::NewId
        | Field::Communicator
        | Field::Request
        | Field::Message => values.push(varint::take(bytes)?.cast_signed()),
        Field::Datatype => take_datatype(bytes, values)?,
        Field::Status => take_status(bytes, values)?,
        Field::Requests | Field::Group => take_list(bytes, values, |bytes, values| {
            values.push(varint::take(bytes)?.cast_signed());
            Some(())
        })?,
        Field::Counts | Field::Indices => take_list(bytes, values, |bytes, values| {
            values.push(varint::take_signed(bytes)?);
            Some(())
        })?,
        Field::Datatypes => take_list(bytes, values, take_datatype)?,
        Field::Statuses => take_list(bytes, values, take_status)?,
    }
    Some(())
}

#[inline]
fn take_datatype(bytes: &mut &[u8], values: &mut Vec<i64>) -> Option<()> {
    values.push(varint::take(bytes)?.cast_signed());
    values.push(varint::take(bytes)?.cast_signed());
    values.push(varint::take_signed(bytes)?);
    Some(())
}

#[inline]
fn take_status(bytes: &mut &[u8], values: &mut Vec<i64>) -> Option<()> {
    for _ in 0..3 {
        values.push(varint::take_signed(bytes)?);
    }
    Some(())
}

fn take_list(
    bytes: &mut &[u8],
    values: &mut Vec<i64>,
    each: impl Fn(&mut &[u8], &mut Vec<i64>) -> Option<()>,
) -> Option<()> {
    let count = varint::take(bytes)?;
    // Each item takes at least a byte.
    if count > bytes.len() as u64 {
        return None;
    }
    values.push(count.cast_signed());
    (0..count).try_for_each(|_| each(bytes, values))
}
