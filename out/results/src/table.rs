//! Tables as CSV: one header line, then integers separated by commas, lines ended by `\n`.

use std::io::{self, Write};

use host::RankTotals;
use units::Time;

use crate::Message;
use crate::format::or_any;

/// Rows are handed on in pieces of at least this many bytes.
const PIECE: usize = 1 << 16;

/// Writes `ranks.csv`: one row per rank, times in picoseconds.
///
/// `waiting_ps` is what remains of the finish time when busy and blocked time are taken off; it is
/// 0 where they exceed it, as on a rank with several CPUs, whose busy times are summed.
pub fn write_ranks(out: &mut impl Write, ranks: &[RankTotals]) -> io::Result<()> {
    let mut rows = Rows::new(
        out,
        "rank,finish_ps,cpu_busy_ps,waiting_ps,blocked_ps,sent_messages,sent_bytes,\
         received_messages,received_bytes\n",
    );
    for (rank, totals) in (0_u64..).zip(ranks) {
        let waiting = totals.finish.saturating_sub(totals.busy).saturating_sub(totals.blocked);
        rows.number(rank);
        rows.number(totals.finish.ps());
        rows.number(totals.busy.ps());
        rows.number(waiting.ps());
        rows.number(totals.blocked.ps());
        rows.number(totals.sent_messages);
        rows.number(totals.sent_bytes);
        rows.number(totals.received_messages);
        rows.number(totals.received_bytes);
        rows.end()?;
    }
    rows.flush()
}

/// Writes `messages.csv`: one row per message, times in picoseconds, size in bytes.
///
/// The id is the row's number. A time that never came (in a deadlock) is left empty; the wildcard
/// tag is -1, as in GOAL.
pub fn write_messages(out: &mut impl Write, messages: &[Message]) -> io::Result<()> {
    let mut rows = Rows::new(
        out,
        "id,source,destination,tag,size,posted_ps,injected_ps,delivered_ps,matched_ps\n",
    );
    for (id, message) in (0_u64..).zip(messages) {
        rows.number(id);
        rows.number(message.source);
        rows.number(message.destination);
        rows.number(or_any(message.tag));
        rows.number(message.size);
        rows.time(message.posted);
        rows.time(message.injected);
        rows.time(message.delivered);
        rows.time(message.matched);
        rows.end()?;
    }
    rows.flush()
}

/// An MPI call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<N = &'static str> {
    /// The rank that made it.
    pub rank: u32,
    /// The thread that made it.
    pub thread: u32,
    /// Its name in C.
    pub name: N,
    /// From when.
    pub enter: Time,
    /// Until when.
    pub leave: Time,
}

/// First line of `calls.csv`.
pub const CALLS_HEADER: &str = "rank,thread,call,enter_ps,return_ps";

/// Writes `calls.csv`: one row per call that the schedule has messages or waits of, times in
/// picoseconds. A time that never came is left empty.
pub fn write_calls(out: &mut impl Write, calls: impl Iterator<Item = Call>) -> io::Result<()> {
    let mut rows = Rows::new(out, CALLS_HEADER);
    rows.text.push(b'\n');
    for call in calls {
        rows.number(call.rank);
        rows.number(call.thread);
        rows.text.extend_from_slice(call.name.as_bytes());
        rows.text.push(b',');
        rows.time(call.enter);
        rows.time(call.leave);
        rows.end()?;
    }
    rows.flush()
}

/// Header of `computation.csv`.
pub const COMPUTATION_HEADER: &str = "rank,cpu_ns";

/// Writes `computation.csv`: one row per region of computation, in nanoseconds of the rank's
/// processor, in the order of ranks and, within a rank, of time. `lists` has the regions of each
/// rank.
pub fn write_computation(out: &mut impl Write, lists: &[Vec<u64>]) -> io::Result<()> {
    let mut rows = Rows::new(out, COMPUTATION_HEADER);
    rows.text.push(b'\n');
    for (rank, list) in lists.iter().enumerate() {
        for time in list {
            rows.number(rank);
            rows.number(*time);
            rows.end()?;
        }
    }
    rows.flush()
}

/// Rows under construction. Each field is followed by a comma, which the row's end replaces.
struct Rows<'a, W> {
    out: &'a mut W,
    text: Vec<u8>,
    digits: itoa::Buffer,
}

impl<'a, W: Write> Rows<'a, W> {
    fn new(out: &'a mut W, header: &str) -> Self {
        let mut text = Vec::with_capacity(2 * PIECE);
        text.extend_from_slice(header.as_bytes());
        Self { out, text, digits: itoa::Buffer::new() }
    }

    fn number(&mut self, number: impl itoa::Integer) {
        self.text.extend_from_slice(self.digits.format(number).as_bytes());
        self.text.push(b',');
    }

    fn time(&mut self, time: Time) {
        if time == Time::MAX {
            self.text.push(b',');
        } else {
            self.number(time.ps());
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(comma) = self.text.last_mut() {
            *comma = b'\n';
        }
        if self.text.len() >= PIECE {
            self.out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    fn flush(self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.out.flush()
    }
}
