//! Writing a file.

use std::io::{self, Write};

use super::definition::{CLOCK, COMMUNICATOR, NAME, NEIGHBOURS, THREAD, put_group};
use super::header::{Header, Unit};
use super::{BLOCK, END, INDEX, varint};
use crate::definitions::{Communicator, Offset};
use crate::record::Record;
use calls::{Field, Neighbours, Table};

/// A block is closed when it has this many bytes.
const BLOCK_BYTES: usize = 1 << 18;

/// Writes the calls of a rank, block by block.
pub struct Writer<W> {
    out: W,
    unit: Unit,
    block: Vec<u8>,
    thread: u32,
    /// The time at which the last call of the block returned; the block's base before there is one.
    last: u64,
    base: u64,
    /// Calls and definitions of the block.
    counts: [u32; 2],
    calls: u64,
    written: u64,
    index: Vec<[u64; 4]>,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let written = header.write(&mut out)? as u64;
        let block = Vec::with_capacity(BLOCK_BYTES + 4096);
        Ok(Self {
            out,
            unit: header.unit,
            block,
            thread: 0,
            last: 0,
            base: 0,
            counts: [0; 2],
            calls: 0,
            written,
            index: Vec::new(),
        })
    }

    /// Writes a call. Values that are missing are written as 0.
    pub fn call(&mut self, record: &Record) -> io::Result<()> {
        if record.thread != self.thread {
            self.thread = record.thread;
            self.define(THREAD, |out| varint::put(out, u64::from(record.thread)));
        }
        let enter = record.enter / self.unit.ps();
        let leave = record.leave / self.unit.ps();
        varint::put(&mut self.block, u64::from(record.id));
        varint::put_signed(&mut self.block, enter.wrapping_sub(self.last).cast_signed());
        varint::put(&mut self.block, leave.saturating_sub(enter));
        self.last = leave.max(enter);
        if let Some(call) = Table::get().by_id(record.id) {
            let mut values = record.values.iter().copied();
            for field in &call.fields {
                put_field(*field, &mut values, &mut self.block);
            }
        }
        self.counts[0] += 1;
        if self.block.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Defines a communicator before its first use.
    pub fn communicator(&mut self, id: i64, communicator: &Communicator) {
        self.define(COMMUNICATOR, |out| {
            varint::put(out, id.cast_unsigned());
            put_group(out, Some(&communicator.local));
            put_group(out, communicator.remote.as_ref());
        });
    }

    /// Defines the neighbours of this rank in a communicator.
    pub fn neighbours(&mut self, id: i64, neighbours: &Neighbours) {
        self.define(NEIGHBOURS, |out| {
            varint::put(out, id.cast_unsigned());
            for list in [&neighbours.sources, &neighbours.destinations] {
                varint::put(out, list.len() as u64);
                for rank in list {
                    varint::put_signed(out, *rank);
                }
            }
        });
    }

    /// Names a function outside the table before its first call.
    pub fn name(&mut self, id: u32, name: &str) {
        self.define(NAME, |out| {
            varint::put(out, u64::from(id));
            varint::put(out, name.len() as u64);
            out.extend_from_slice(name.as_bytes());
        });
    }

    /// Notes a measurement of the clock.
    pub fn clock(&mut self, offset: Offset) {
        let at = offset.at / self.unit.ps();
        self.define(CLOCK, |out| {
            varint::put(out, at);
            varint::put_signed(out, offset.nanoseconds);
        });
    }

    fn define(&mut self, kind: u32, body: impl Fn(&mut Vec<u8>)) {
        let mut bytes = Vec::new();
        body(&mut bytes);
        varint::put(&mut self.block, u64::from(kind));
        varint::put(&mut self.block, bytes.len() as u64);
        self.block.extend_from_slice(&bytes);
        self.counts[1] += 1;
    }

    /// Closes the block: all calls so far can be read even if nothing more is written.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 1)?;
        packer.include_checksum(true)?;
        packer.write_all(&self.block)?;
        let packed = packer.finish()?;
        self.out.write_all(&BLOCK)?;
        for number in [packed.len() as u32, self.block.len() as u32, self.counts[0]] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.write_all(&self.base.to_le_bytes())?;
        self.out.write_all(&packed)?;
        self.index.push([self.written, self.base, self.calls, u64::from(self.counts[1])]);
        self.written += (super::BLOCK_HEADER + packed.len()) as u64;
        self.calls += u64::from(self.counts[0]);
        self.counts = [0; 2];
        self.base = self.last;
        self.block.clear();
        self.thread = 0;
        self.out.flush()
    }

    /// Writes what is left and the index.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.write_all(&INDEX)?;
        self.out.write_all(&(self.index.len() as u32).to_le_bytes())?;
        for number in self.index.iter().flatten().chain([&self.written]) {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.write_all(&END)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn put_field(field: Field, values: &mut impl Iterator<Item = i64>, out: &mut Vec<u8>) {
    let mut next = || values.next().unwrap_or(0);
    match field {
        Field::Skip | Field::Displacements => {}
        Field::Number | Field::Outcome => varint::put_signed(out, next()),
        Field::Address
        | Field::Id
        | Field::NewId
        | Field::Communicator
        | Field::Request
        | Field::Message => varint::put(out, next().cast_unsigned()),
        Field::Datatype => put_datatype(out, &mut next),
        Field::Status => put_status(out, &mut next),
        Field::Requests | Field::Group => {
            put_list(out, &mut next, |out, next| varint::put(out, next().cast_unsigned()));
        }
        Field::Counts | Field::Indices => {
            put_list(out, &mut next, |out, next| varint::put_signed(out, next()));
        }
        Field::Datatypes => put_list(out, &mut next, put_datatype),
        Field::Statuses => put_list(out, &mut next, put_status),
    }
}

fn put_datatype<N: FnMut() -> i64>(out: &mut Vec<u8>, next: &mut N) {
    varint::put(out, next().cast_unsigned());
    varint::put(out, next().cast_unsigned());
    varint::put_signed(out, next());
}

fn put_status<N: FnMut() -> i64>(out: &mut Vec<u8>, next: &mut N) {
    (0..3).for_each(|_| varint::put_signed(out, next()));
}

fn put_list<N: FnMut() -> i64>(
    out: &mut Vec<u8>,
    next: &mut N,
    each: impl Fn(&mut Vec<u8>, &mut N),
) {
    let count = next().max(0);
    varint::put(out, count.cast_unsigned());
    (0..count).for_each(|_| each(out, next));
}
