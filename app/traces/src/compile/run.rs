//! A rank's trace on its way into a schedule.

use super::rank::{Compiler, Ranked, Shared};
use super::{Clock, Error};
use crate::record::Record;
use crate::source::{Stream, Traces};

/// A rank, compiled as far as it was read.
pub struct Run<'a> {
    compiler: Compiler<'a>,
    /// The rest of the trace.
    stream: Option<Stream>,
    record: Record,
}

impl<'a> Run<'a> {
    /// Opens the trace of a rank, for one of the copies of all ranks.
    pub fn new(
        traces: &Traces,
        shared: Shared<'a>,
        (rank, copy): (u32, u32),
        clock: Clock,
    ) -> Result<Self, Error> {
        let compiler = Compiler::new(shared, rank, copy, clock);
        Ok(Self { compiler, stream: Some(traces.open(rank)?), record: Record::default() })
    }

    /// Returns whether there may be more calls.
    pub const fn goes_on(&self) -> bool {
        self.stream.is_some()
    }

    /// Compiles so many calls, if there are as many.
    pub fn advance(&mut self, calls: u64) -> Result<(), Error> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        for _ in 0..calls {
            if !stream.next(&mut self.record)? {
                self.compiler.end(stream);
                self.stream = None;
                return Ok(());
            }
            self.compiler.next(&mut self.record, stream)?;
        }
        self.compiler.decide();
        Ok(())
    }

    /// Returns what was made of it so far.
    pub const fn made(&mut self) -> &mut Ranked {
        &mut self.compiler.out
    }

    /// Returns what was made of it.
    pub fn end(self) -> Ranked {
        self.compiler.out
    }
}
