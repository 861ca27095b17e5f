//! Writing time-independent text, as SMPI replays it: amounts of computation, and messages among
//! all ranks.
//!
//! All sizes are in bytes. What completes several requests is written as one `wait` for each, what
//! probes is left out. What the text has no words for (communicators smaller than the world,
//! immediate collectives, one-sided operations) is an error.

use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::allprof_writer::single;
use crate::definitions::{Communicator, Definitions, Group};
use crate::record::{ANY, Arguments, Between, PROC_NULL, Record, Status, UNKNOWN, WORLD};
use calls::{Call, Class, Collective, How, Table};

/// Bytes, among the datatypes of the text.
const BYTE: i64 = 6;

/// A request: sender, receiver and tag; `None` for one that does nothing.
#[derive(Clone, Debug)]
enum Request {
    Open([i64; 3]),
    Nothing,
    /// Name and arguments of the call that each start makes.
    Persistent(&'static str, Vec<i64>),
}

/// Writes the calls of a rank.
pub struct IndependentWriter<W> {
    out: W,
    rank: u32,
    ranks: u32,
    /// Operations per second, and the time at which the last call returned.
    speed: u64,
    last: u64,
    requests: FxHashMap<i64, Request>,
    /// Persistent requests that were started.
    started: FxHashMap<i64, [i64; 3]>,
    lines: String,
}

impl<W: Write> IndependentWriter<W> {
    /// Begins the trace of a rank whose host does `speed` operations per second.
    pub fn new(out: W, rank: u32, ranks: u32, speed: u64) -> Self {
        let (requests, started) = (FxHashMap::default(), FxHashMap::default());
        Self { out, rank, ranks, speed, last: 0, requests, started, lines: String::new() }
    }

    /// Writes a call, and before it the computation since the last one: the time `between` them, if
    /// nothing else is said. Calls that this format cannot tell are an error, with the reason.
    pub fn call(
        &mut self,
        record: &Record,
        between: Option<Between>,
        definitions: &Definitions,
    ) -> io::Result<Result<(), String>> {
        let Some(call) =
            record.call().filter(|call| !matches!(call.class, Class::Local | Class::WinSync))
        else {
            return Ok(Ok(()));
        };
        self.lines.clear();
        if let Err(reason) = self.action(call, record, definitions) {
            return Ok(Err(reason));
        }
        if self.lines.is_empty() {
            // It counts as computation.
            return Ok(Ok(()));
        }
        let computed = record.enter.saturating_sub(self.last) as f64;
        let Between { computed, slept } = between.unwrap_or(Between { computed, slept: 0.0 });
        if computed > 0.0 && call.class != Class::Init {
            let operations = computed * self.speed as f64 / 1e12;
            writeln!(self.out, "{} compute {operations}", self.rank)?;
        }
        if slept > 0.0 && call.class != Class::Init {
            writeln!(self.out, "{} sleep {}", self.rank, slept * 1e-12)?;
        }
        self.last = record.leave;
        self.out.write_all(self.lines.as_bytes())?;
        Ok(Ok(()))
    }

    fn say(&mut self, words: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.lines, "{} {words}", self.rank);
    }

    fn action(
        &mut self,
        call: &Call,
        record: &Record,
        definitions: &Definitions,
    ) -> Result<(), String> {
        if let Some((_, requests)) = single(call, record) {
            let starts = matches!(call.class, Class::Startall);
            if starts {
                return requests.into_iter().try_for_each(|id| self.start(id, definitions));
            }
            for id in requests {
                self.wait(id);
            }
            return Ok(());
        }
        let mut arguments = record.arguments();
        match (call.class, call.how) {
            (Class::Init, _) => self.say(format_args!("init")),
            (Class::Finalize, _) => self.say(format_args!("finalize")),
            (Class::Start, _) => return self.start(arguments.number(), definitions),
            (Class::Send | Class::Ssend | Class::Bsend | Class::Recv, How::Persistent) => {
                let (id, values) = record.values.split_last().ok_or("it has no arguments")?;
                let request = Request::Persistent(call.name, values.to_vec());
                self.requests.insert(*id, request);
            }
            (Class::Send | Class::Ssend | Class::Bsend | Class::Recv, how) => {
                let immediate = how == How::Immediate;
                let name = match call.class {
                    Class::Send | Class::Bsend => "send",
                    Class::Ssend => "Ssend",
                    _ => "recv",
                };
                let request = self.message(name, arguments, definitions, immediate)?;
                if immediate {
                    self.requests.insert(record.values.last().copied().unwrap_or(0), request);
                }
            }
            (Class::Sendrecv, How::Blocking) => self.sendrecv(record, definitions)?,
            // A probe's message is received later; the rest is computation.
            (
                Class::Probe
                | Class::Iprobe
                | Class::Region
                | Class::RequestFree
                | Class::BufferDetach,
                _,
            ) => {}
            (Class::Collective(collective), How::Blocking) => {
                self.collective(collective, arguments, definitions)?;
            }
            _ => return Err("time-independent text has no such call".to_owned()),
        }
        Ok(())
    }

    /// Returns the rank of the world of a rank of a communicator.
    fn world(communicator: &Communicator, rank: i64) -> i64 {
        let found = u32::try_from(rank).ok().and_then(|rank| communicator.peers().rank(rank));
        found.map_or(rank, i64::from)
    }

    fn message(
        &mut self,
        name: &str,
        mut arguments: Arguments,
        definitions: &Definitions,
        immediate: bool,
    ) -> Result<Request, String> {
        let (_, count, datatype) = (arguments.number(), arguments.number(), arguments.datatype());
        let (mut peer, mut tag, id) = (arguments.number(), arguments.number(), arguments.number());
        if name == "recv" && !immediate {
            let status = arguments.status();
            let known = |said: i64, matched: i64| {
                if said == ANY && matched != UNKNOWN { matched } else { said }
            };
            (peer, tag) = (known(peer, status.source), known(tag, status.tag));
            let Status { bytes, .. } = status;
            if bytes >= 0 {
                return self.put(name, (peer, tag, bytes), id, definitions, immediate);
            }
        }
        let bytes = count.max(0).saturating_mul(datatype.size.max(0));
        self.put(name, (peer, tag, bytes), id, definitions, immediate)
    }

    fn put(
        &mut self,
        name: &str,
        (peer, tag, bytes): (i64, i64, i64),
        id: i64,
        definitions: &Definitions,
        immediate: bool,
    ) -> Result<Request, String> {
        if peer == PROC_NULL {
            return Ok(Request::Nothing);
        }
        let known = definitions.communicators.get(&id);
        let known = known.ok_or_else(|| format!("communicator {id} was not defined before"))?;
        let peer = Self::world(known, peer);
        let name = match (immediate, name) {
            (true, "send") => "isend",
            (true, "Ssend") => "issend",
            (true, _) => "irecv",
            (false, name) => name,
        };
        self.say(format_args!("{name} {peer} {tag} {bytes} {BYTE}"));
        let me = i64::from(self.rank);
        let ends = if name.ends_with("recv") { [peer, me, tag] } else { [me, peer, tag] };
        Ok(Request::Open(ends))
    }

    fn start(&mut self, id: i64, definitions: &Definitions) -> Result<(), String> {
        let Some(Request::Persistent(name, values)) = self.requests.get(&id).cloned() else {
            return Err("the request was made by no call that this text has a word for".to_owned());
        };
        let class = Table::get().by_name(name).map(|call| call.class);
        let name = match class {
            Some(Class::Recv) => "recv",
            Some(Class::Ssend) => "Ssend",
            _ => "send",
        };
        let record = Record { values, ..Record::default() };
        if let Request::Open(ends) = self.message(name, record.arguments(), definitions, true)? {
            self.started.insert(id, ends);
        }
        Ok(())
    }

    fn wait(&mut self, id: i64) {
        let ends = match self.requests.get(&id) {
            Some(Request::Persistent(..)) => self.started.remove(&id),
            Some(Request::Open(ends)) => Some(*ends),
            Some(Request::Nothing) | None => None,
        };
        if !matches!(self.requests.get(&id), Some(Request::Persistent(..))) {
            self.requests.remove(&id);
        }
        if let Some([from, to, tag]) = ends {
            self.say(format_args!("wait {from} {to} {tag}"));
        }
    }

    /// Writes its two halves: the receive blocks while the send is under way.
    fn sendrecv(&mut self, record: &Record, definitions: &Definitions) -> Result<(), String> {
        let mut arguments = record.arguments();
        let mut half = || {
            let (_, count, datatype) =
                (arguments.number(), arguments.number(), arguments.datatype());
            let bytes = count.max(0).saturating_mul(datatype.size.max(0));
            (arguments.number(), arguments.number(), bytes)
        };
        let (sent, (from, tag, bytes)) = (half(), half());
        let (id, status) = (arguments.number(), arguments.status());
        let known = |said: i64, matched: i64| {
            if said == ANY && matched != UNKNOWN { matched } else { said }
        };
        let received = (known(from, status.source), known(tag, status.tag), bytes);
        let request = self.put("send", sent, id, definitions, true)?;
        self.put("recv", received, id, definitions, false)?;
        if let Request::Open([from, to, tag]) = request {
            self.say(format_args!("wait {from} {to} {tag}"));
        }
        Ok(())
    }

    // Long because it lists the collectives.
    fn collective(
        &mut self,
        collective: Collective,
        mut arguments: Arguments,
        definitions: &Definitions,
    ) -> Result<(), String> {
        let bytes = |arguments: &mut Arguments| {
            let (_, count, datatype) =
                (arguments.number(), arguments.number(), arguments.datatype());
            count.max(0).saturating_mul(datatype.size.max(0))
        };
        let ranks = self.ranks as usize;
        // Where a list means nothing, its place must be filled.
        let list = |arguments: &mut Arguments| {
            arguments.number();
            let (counts, datatype) = (arguments.list(), arguments.datatype());
            let each = |rank| counts.get(rank).map_or(0, |count| count * datatype.size);
            let words: Vec<_> = (0..ranks).map(|rank| each(rank).to_string()).collect();
            words.join(" ")
        };
        let a = &mut arguments;
        let words = match collective {
            Collective::Barrier | Collective::Create => "barrier".to_owned(),
            Collective::Bcast => format!("bcast {} {} {BYTE}", bytes(a), a.number()),
            Collective::Reduce | Collective::Allreduce | Collective::Scan | Collective::Exscan => {
                a.number();
                let bytes = bytes(a);
                a.number();
                match collective {
                    Collective::Reduce => format!("reduce {bytes} 0 {} {BYTE}", a.number()),
                    Collective::Allreduce => format!("allreduce {bytes} 0 {BYTE}"),
                    Collective::Scan => format!("scan {bytes} 0 {BYTE}"),
                    _ => format!("exscan {bytes} 0 {BYTE}"),
                }
            }
            Collective::Gather | Collective::Scatter => {
                let name = if collective == Collective::Gather { "gather" } else { "scatter" };
                format!("{name} {} {} {} {BYTE} {BYTE}", bytes(a), bytes(a), a.number())
            }
            Collective::Allgather => format!("allgather {} {} {BYTE} {BYTE}", bytes(a), bytes(a)),
            Collective::Alltoall => format!("alltoall {} {} {BYTE} {BYTE}", bytes(a), bytes(a)),
            Collective::Gatherv => {
                format!("gatherv {} {} {} {BYTE} {BYTE}", bytes(a), list(a), a.number())
            }
            Collective::Scatterv => {
                format!("scatterv {} {} {} {BYTE} {BYTE}", list(a), bytes(a), a.number())
            }
            Collective::Allgatherv => format!("allgatherv {} {} {BYTE} {BYTE}", bytes(a), list(a)),
            Collective::Alltoallv => format!("alltoallv 0 {} 0 {} {BYTE} {BYTE}", list(a), list(a)),
            Collective::ReduceScatter => {
                a.number();
                let counts = list(a);
                a.number();
                format!("reducescatter {counts} 0 {BYTE}")
            }
            _ => return Err("time-independent text has no such call".to_owned()),
        };
        let id = a.number();
        let whole = definitions.communicators.get(&id).is_some_and(|known| {
            known.remote.is_none()
                && matches!(known.local, Group::All(count) if count == self.ranks)
        });
        if !whole && id != WORLD {
            return Err("time-independent text has no communicators but the world".to_owned());
        }
        self.say(format_args!("{words}"));
        Ok(())
    }

    /// Closes the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
