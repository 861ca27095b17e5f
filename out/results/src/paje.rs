//! Timelines in the Paje format: one container per rank, states for busy periods, links for
//! messages; a container per link of the network with its use from 0 to 1, where the network tells
//! of it.
//!
//! Times are seconds with twelve decimals, so that they are exact. Where a rank uses several CPUs,
//! each is a container within the rank. A link runs from a message's injection to its delivery; a
//! message that never arrived has none.
//!
//! Source: Schnorr, "Paje trace file format", version 1.2.

use std::io::{self, Write};

use host::Activity;
use units::Time;

use crate::format::or_any;
use crate::{Recorded, Slice};

/// Text is handed on in pieces of at least this many bytes.
const PIECE: usize = 1 << 16;

/// Definitions of the events used below, and the types of containers, states and links: P program,
/// R rank, C CPU, S and T what a rank or CPU does, L message.
const HEADER: &str = "\
%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 3
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 4
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 5
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 6
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 7
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeStartLink 8
% Time date
% Type string
% Container string
% StartContainer string
% Value string
% Key string
% Tag string
% Bytes string
%EndEventDef
%EventDef PajeEndLink 9
% Time date
% Type string
% Container string
% EndContainer string
% Value string
% Key string
%EndEventDef
%EventDef PajeDefineVariableType 10
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeSetVariable 11
% Time date
% Type string
% Container string
% Value double
%EndEventDef
0 P 0 Program
0 R P Rank
0 C R CPU
0 K P Link
10 U K Use \"0.2 0.4 0.8\"
1 S R Activity
1 T C \"CPU activity\"
2 L P R R Message
3 Sc S compute \"0.3 0.6 0.3\"
3 Ss S send \"0.9 0.5 0.1\"
3 Sr S receive \"0.2 0.4 0.8\"
3 Tc T compute \"0.3 0.6 0.3\"
3 Ts T send \"0.9 0.5 0.1\"
3 Tr T receive \"0.2 0.4 0.8\"
4 0.000000000000 p P 0 heddle
";

/// Writes a timeline of `ranks` ranks in the Paje format. Needs 16 bytes of memory for each start
/// and end of a slice or a message, because the format wants events in the order of time.
pub fn write_paje(out: &mut impl Write, ranks: u32, recorded: &Recorded) -> io::Result<()> {
    let mut text = Text { out, buffer: Vec::with_capacity(2 * PIECE) };
    let states = if recorded.slices.iter().any(|slice| slice.cpu > 0) {
        States::OfCpus
    } else {
        States::OfRanks
    };
    text.put(HEADER)?;
    containers(&mut text, ranks, recorded, states)?;
    let mut last = Time::ZERO;
    for (time, event) in events(recorded) {
        last = time;
        text.event(time, event, recorded, states)?;
    }
    let at = seconds(last);
    if states == States::OfCpus {
        for slice in one_per_cpu(recorded) {
            text.put(&format!("5 {at} C r{}c{}\n", slice.rank, slice.cpu))?;
        }
    }
    for rank in 0..ranks {
        text.put(&format!("5 {at} R r{rank}\n"))?;
    }
    for number in 0..recorded.links.len() {
        text.put(&format!("5 {at} K k{number}\n"))?;
    }
    text.put(&format!("5 {at} P p\n"))?;
    text.finish()
}

/// The containers that have states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum States {
    OfRanks,
    OfCpus,
}

/// An event by the index of its slice or message. The order is that of events at the same time: the
/// end of one slice comes before the start of the next on its CPU, since the slices are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Slice { index: u32, end: bool },
    Link { message: u32, end: bool },
    Use { link: u32, index: u32 },
}

/// Starts and ends of all slices and links, in the order of time.
fn events(recorded: &Recorded) -> Vec<(Time, Event)> {
    let mut events = Vec::with_capacity(2 * (recorded.slices.len() + recorded.messages.len()));
    for (index, slice) in (0..=u32::MAX).zip(&recorded.slices) {
        events.push((slice.start, Event::Slice { index, end: false }));
        events.push((slice.end, Event::Slice { index, end: true }));
    }
    for (message, row) in (0..=u32::MAX).zip(&recorded.messages) {
        if row.delivered != Time::MAX {
            let end = |end| Event::Link { message, end };
            events.push((row.injected, end(false)));
            events.push((row.delivered, end(true)));
        }
    }
    for (link, row) in (0..).zip(&recorded.links) {
        let uses = (0..).zip(&row.loads).map(|(index, (at, _))| (*at, Event::Use { link, index }));
        events.extend(uses);
    }
    events.sort_unstable();
    events
}

fn containers(
    text: &mut Text<impl Write>,
    ranks: u32,
    recorded: &Recorded,
    states: States,
) -> io::Result<()> {
    for rank in 0..ranks {
        text.put(&format!("4 0.000000000000 r{rank} R p \"rank {rank}\"\n"))?;
    }
    for (number, link) in recorded.links.iter().enumerate() {
        text.put(&format!("4 0.000000000000 k{number} K p \"{}\"\n", link.name))?;
    }
    if states == States::OfCpus {
        for slice in one_per_cpu(recorded) {
            let (rank, cpu) = (slice.rank, slice.cpu);
            let name = format!("\"rank {rank} cpu {cpu}\"");
            text.put(&format!("4 0.000000000000 r{rank}c{cpu} C r{rank} {name}\n"))?;
        }
    }
    Ok(())
}

/// The first slice of each CPU.
fn one_per_cpu(recorded: &Recorded) -> impl Iterator<Item = &Slice> {
    let same = |a: &Slice, b: &Slice| (a.rank, a.cpu) == (b.rank, b.cpu);
    let cpus = recorded.slices.chunk_by(same);
    cpus.filter_map(|slices| slices.first())
}

struct Text<'a, W> {
    out: &'a mut W,
    buffer: Vec<u8>,
}

impl<W: Write> Text<'_, W> {
    fn event(
        &mut self,
        time: Time,
        event: Event,
        recorded: &Recorded,
        states: States,
    ) -> io::Result<()> {
        let at = seconds(time);
        match event {
            Event::Slice { index, end } => {
                let Some(slice) = recorded.slices.get(index as usize) else {
                    return Ok(());
                };
                let (kind, container) = match states {
                    States::OfRanks => ('S', format!("r{}", slice.rank)),
                    States::OfCpus => ('T', format!("r{}c{}", slice.rank, slice.cpu)),
                };
                let value = match slice.activity {
                    Activity::Compute => 'c',
                    Activity::Send => 's',
                    Activity::Receive => 'r',
                };
                if end {
                    self.put(&format!("7 {at} {kind} {container}\n"))
                } else {
                    self.put(&format!("6 {at} {kind} {container} {kind}{value}\n"))
                }
            }
            Event::Use { link, index } => {
                let found = recorded.links.get(link as usize);
                let load =
                    found.and_then(|link| Some(link.share(link.loads.get(index as usize)?.1)));
                self.put(&format!("11 {at} U k{link} {:.6}\n", load.unwrap_or_default()))
            }
            Event::Link { message, end } => {
                let Some(row) = recorded.messages.get(message as usize) else {
                    return Ok(());
                };
                if end {
                    let to = row.destination;
                    self.put(&format!("9 {at} L p r{to} message {message}\n"))
                } else {
                    let (from, tag, size) = (row.source, or_any(row.tag), row.size);
                    self.put(&format!("8 {at} L p r{from} message {message} {tag} {size}\n"))
                }
            }
        }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= PIECE {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.out.flush()
    }
}

/// Seconds with twelve decimals.
fn seconds(time: Time) -> String {
    const PER_SECOND: u64 = 1_000_000_000_000;
    format!("{}.{:012}", time.ps() / PER_SECOND, time.ps() % PER_SECOND)
}
