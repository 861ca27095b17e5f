//! Writing the text of liballprof.
//!
//! Its arrays of requests follow each other in memory, which other traces do not say: what
//! completes several requests is written as one `MPI_Wait` for each of them, and so are successful
//! tests; what starts several as one `MPI_Start` each. A source that was left open is the one that
//! matched where the call itself says so. Lost are what other calls gave back, threads, and who is
//! in a communicator.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::definitions::Definitions;
use crate::record::{ANY, Record, UNKNOWN};
use calls::{Call, Class, Field};

/// Writes the calls of a rank.
pub struct AllprofWriter<W> {
    out: W,
    /// The rank's clock at the beginning, in picoseconds.
    start: u128,
    offsets: usize,
    line: String,
}

impl<W: Write> AllprofWriter<W> {
    /// Starts a trace.
    pub fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "# liballprof text, written by heddle")?;
        Ok(Self { out, start: 0, offsets: 0, line: String::new() })
    }

    /// Says what the rank's clock showed when its trace began, in nanoseconds.
    pub fn set_start(&mut self, start: u64) {
        self.start = u128::from(start) * 1000;
    }

    /// Writes a call, and before it what was defined since the last one. Calls that this format
    /// cannot tell are an error, with the reason.
    pub fn call(
        &mut self,
        record: &Record,
        name: &str,
        definitions: &Definitions,
    ) -> io::Result<Result<(), String>> {
        for offset in definitions.offsets.get(self.offsets..).unwrap_or_default() {
            let microseconds = offset.nanoseconds as f64 / 1000.0;
            writeln!(self.out, "# clockdiff: {microseconds:.3} s (microseconds)")?;
        }
        self.offsets = definitions.offsets.len();
        let (enter, leave) = (record.enter, record.leave);
        let Some(call) = record.call() else {
            self.open(name, enter);
            return self.close(leave).map(Ok);
        };
        if let Some((name, requests)) = single(call, record) {
            for (index, request) in requests.into_iter().enumerate() {
                self.open(name, if index == 0 { enter } else { leave });
                self.add(request.cast_unsigned());
                if name == "MPI_Wait" {
                    self.add(0);
                }
                self.close(leave)?;
            }
            return Ok(Ok(()));
        }
        match call.class {
            Class::Init => self.line = format!("{name}:-"),
            _ => self.open(name, enter),
        }
        if let Err(reason) = self.fields(call, record, definitions) {
            return Ok(Err(reason));
        }
        if call.class == Class::Finalize {
            self.line.push_str(":-");
            return self.end().map(Ok);
        }
        self.close(leave).map(Ok)
    }

    fn time(&mut self, at: u64) {
        let at = self.start + u128::from(at);
        let (whole, rest) = (at / 1_000_000, at % 1_000_000);
        self.add(whole);
        if rest > 0 {
            self.line.push_str(format!(".{rest:06}").trim_end_matches('0'));
        }
    }

    fn open(&mut self, name: &str, enter: u64) {
        self.line.clear();
        self.line.push_str(name);
        self.time(enter);
    }

    fn add(&mut self, number: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.line, ":{number}");
    }

    fn close(&mut self, leave: u64) -> io::Result<()> {
        self.time(leave);
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "{}", self.line)
    }

    // Long because it lists the kinds of fields.
    fn fields(
        &mut self,
        call: &Call,
        record: &Record,
        definitions: &Definitions,
    ) -> Result<(), String> {
        let mut values = resolved(call, record);
        let mut values = values.drain(..);
        let mut next = || values.next().unwrap_or(0);
        for field in &call.fields {
            match field {
                Field::Skip => self.add(0),
                Field::Displacements => self.add("0:"),
                Field::Number => self.add(next()),
                Field::Address | Field::Id | Field::Request => self.add(next().cast_unsigned()),
                Field::Outcome | Field::Message | Field::NewId => {
                    next();
                    self.add(0);
                }
                Field::Status => {
                    for _ in 0..3 {
                        next();
                    }
                    self.add(0);
                }
                Field::Communicator => {
                    let id = next();
                    let known = definitions.communicators.get(&id);
                    let known =
                        known.ok_or_else(|| format!("communicator {id} was not defined before"))?;
                    if known.remote.is_some() {
                        return Err("the text has no place for intercommunicators".to_owned());
                    }
                    self.add(format_args!("{},{},{}", id + 1, known.me, known.local.len()));
                }
                Field::Datatype => self.add(format_args!("{},{},{}", next(), next(), next())),
                Field::Counts | Field::Group => {
                    let items: Vec<_> = (0..next()).map(|_| next().to_string()).collect();
                    self.add(format_args!("0:{}", items.join(",")));
                }
                Field::Datatypes => {
                    return Err("the text has no place for lists of datatypes".to_owned());
                }
                // These are in calls that are written as others.
                Field::Requests | Field::Statuses | Field::Indices => {
                    return Err("the text has no place for this call".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Closes the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The arguments, with the source and tag that a blocking receive has matched.
fn resolved(call: &Call, record: &Record) -> Vec<i64> {
    let mut values = record.values.clone();
    let status = values.len().checked_sub(3).and_then(|at| values.get(at..)).map(<[i64]>::to_vec);
    let source = match call.class {
        Class::Recv => 5,
        Class::Sendrecv => 12,
        Class::SendrecvReplace => 7,
        Class::Probe => 0,
        _ => return values,
    };
    if call.fields.last() == Some(&Field::Status)
        && let Some([from, tag, _]) = status.as_deref()
    {
        for (at, matched) in [(source, *from), (source + 1, *tag)] {
            if let Some(value) = values.get_mut(at).filter(|value| **value == ANY)
                && matched != UNKNOWN
            {
                *value = matched;
            }
        }
    }
    values
}

/// Calls on several requests, or that may succeed: as which simpler call, and on which requests.
pub(super) fn single(call: &Call, record: &Record) -> Option<(&'static str, Vec<i64>)> {
    let mut arguments = record.arguments();
    let mut list = |several: bool| {
        if several { arguments.list().to_vec() } else { vec![arguments.number()] }
    };
    let chosen = |requests: &[i64], indices: &[i64]| {
        let at = |index: &i64| requests.get(usize::try_from(*index).ok()?).copied();
        indices.iter().filter_map(at).collect::<Vec<_>>()
    };
    let requests = match call.class {
        Class::Startall => return Some(("MPI_Start", list(true))),
        Class::Wait => list(false),
        Class::Waitall => list(true),
        Class::Test | Class::Testall => {
            let requests = list(call.class == Class::Testall);
            if arguments.number() == 1 { requests } else { Vec::new() }
        }
        Class::Waitany | Class::Testany => {
            let requests = list(true);
            let index = arguments.number();
            let done = call.class == Class::Waitany || arguments.number() == 1;
            if done { chosen(&requests, &[index]) } else { Vec::new() }
        }
        Class::Waitsome | Class::Testsome => {
            let requests = list(true);
            let indices = arguments.list();
            chosen(&requests, indices)
        }
        _ => return None,
    };
    Some(("MPI_Wait", requests.into_iter().filter(|request| *request != 0).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use calls::Table;

    /// The second of three requests is completed; an unsuccessful test completes none.
    #[test]
    fn completions_are_waits() {
        let named = |name: &str| Table::get().by_name(name).unwrap();
        let record = |values: &[i64]| Record { values: values.to_vec(), ..Record::default() };
        let any = record(&[3, 7, 8, 9, 1, 0, 5, 4]);
        assert_eq!(single(named("MPI_Waitany"), &any), Some(("MPI_Wait", vec![8])));
        let test = record(&[7, 0, -4, -4, -4]);
        assert_eq!(single(named("MPI_Test"), &test), Some(("MPI_Wait", vec![])));
        let some = record(&[3, 7, 8, 9, 2, 2, 0, 0]);
        assert_eq!(single(named("MPI_Waitsome"), &some), Some(("MPI_Wait", vec![9, 7])));
    }
}
