//! Finds the messages and receives that can meet.
//!
//! A channel is a source, a destination and a tag. The k-th message of a channel is taken to meet
//! its k-th receive, both in the order of the program; operations that are not ordered by
//! dependencies may in fact be posted otherwise.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{Findings, Rule};
use crate::{ANY, Kind, Program};

#[cfg(test)]
mod tests;

/// An end of a message, as the destination sees it.
#[derive(Clone, Copy, Debug)]
struct End {
    source: u32,
    tag: u32,
    index: u32,
    size: u64,
}

impl End {
    const fn channel(&self) -> (u32, u32) {
        (self.source, self.tag)
    }
}

/// Checks all messages.
pub fn check(program: &impl Program, findings: &mut Findings) {
    let (starts, mut sends) = by_destination(program);
    let mut receives = Vec::new();
    for rank in 0..program.ranks() {
        let range = starts[rank as usize]..starts[rank as usize + 1];
        let sends = &mut sends[range];
        sends.sort_by_key(End::channel);
        receives.clear();
        for index in 0..program.ops(rank) {
            let op = program.op(rank, index);
            if op.kind == Kind::Recv {
                receives.push(End { source: op.peer, tag: op.tag, index, size: op.size });
            }
        }
        receives.sort_by_key(End::channel);
        let mut destination = Destination::new(rank, sends, &receives, findings);
        destination.check();
    }
}

/// All messages to ranks that exist, by destination, and where each destination's messages start.
fn by_destination(program: &impl Program) -> (Vec<usize>, Vec<End>) {
    let ranks = program.ranks();
    let each_send = |each: &mut dyn FnMut(u32, End)| {
        for source in 0..ranks {
            for index in 0..program.ops(source) {
                let op = program.op(source, index);
                if op.kind == Kind::Send && op.peer < ranks {
                    each(op.peer, End { source, tag: op.tag, index, size: op.size });
                }
            }
        }
    };
    let mut starts = vec![0; ranks as usize + 1];
    let mut count = 0;
    each_send(&mut |destination, _| {
        starts[destination as usize] += 1;
        count += 1;
    });
    let mut sum = 0;
    for start in &mut starts {
        (*start, sum) = (sum, sum + *start);
    }
    let mut next = starts.clone();
    let nobody = End { source: 0, tag: 0, index: 0, size: 0 };
    let mut sends = vec![nobody; count];
    each_send(&mut |destination, send| {
        let slot = &mut next[destination as usize];
        sends[*slot] = send;
        *slot += 1;
    });
    (starts, sends)
}

/// The messages to one rank and its receives.
struct Destination<'e> {
    rank: u32,
    sends: &'e [End],
    receives: &'e [End],
    findings: &'e mut Findings,
    /// The number of receives with each wildcard pattern of (source, tag).
    wild: BTreeMap<(u32, u32), Pattern>,
    /// The number of messages with the tag -1 from each source.
    loose: FxHashMap<u32, u64>,
    /// Messages and receives reported as unmatched.
    unmatched: (u64, u64),
}

#[derive(Default)]
struct Pattern {
    receives: u64,
    first: u32,
}

impl<'e> Destination<'e> {
    fn new(rank: u32, sends: &'e [End], receives: &'e [End], findings: &'e mut Findings) -> Self {
        let mut wild = BTreeMap::new();
        for receive in receives.iter().filter(|receive| receive.source == ANY || receive.tag == ANY)
        {
            let first = receive.index;
            wild.entry(receive.channel()).or_insert(Pattern { receives: 0, first }).receives += 1;
        }
        let mut loose = FxHashMap::default();
        for send in sends.iter().filter(|send| send.tag == ANY) {
            *loose.entry(send.source).or_insert(0) += 1;
        }
        Self { rank, sends, receives, findings, wild, loose, unmatched: (0, 0) }
    }

    fn check(&mut self) {
        self.channels();
        if !self.wild.is_empty() || !self.loose.is_empty() {
            self.loose_sends();
            self.wild_receives();
            self.balance();
            self.races();
        }
    }

    /// Returns how many receives with wildcards could take a message of a channel.
    fn takers(&self, (source, tag): (u32, u32)) -> u64 {
        let patterns = [(source, ANY), (ANY, tag), (ANY, ANY)];
        patterns.iter().filter_map(|pattern| self.wild.get(pattern)).map(|wild| wild.receives).sum()
    }

    /// Compares messages and receives that name the same source and tag.
    fn channels(&mut self) {
        let (mut sends, mut receives) = (self.sends, self.receives);
        loop {
            let channel =
                [sends.first(), receives.first()].into_iter().flatten().map(End::channel).min();
            let Some(channel) = channel else { return };
            let sent = split(&mut sends, channel);
            let received = split(&mut receives, channel);
            if channel.0 != ANY && channel.1 != ANY {
                self.channel(channel, sent, received);
            }
        }
    }

    fn channel(&mut self, channel: (u32, u32), sent: &[End], received: &[End]) {
        let (source, tag) = channel;
        let loose = self.loose.get(&source).copied().unwrap_or(0);
        let takers = self.takers(channel);
        let (sends, receives) = (sent.len() as u64, received.len() as u64);
        if sends > receives + takers {
            self.unmatched_sends(sent, receives + takers, &format!("with tag {tag}"));
        }
        if receives > sends + loose {
            let what = format!("from rank {source} with tag {tag}");
            self.unmatched_receives(received, sends + loose, &what);
        }
        if takers == 0 && loose == 0 {
            self.sizes(channel, sent, received);
        }
    }

    /// Reports those messages of one source and tag for which there is no receive.
    fn unmatched_sends(&mut self, sent: &[End], takers: u64, what: &str) {
        let Some(first) = sent.get(takers as usize) else {
            return;
        };
        let (sends, rank) = (sent.len() as u64, self.rank);
        self.unmatched.0 += sends - takers;
        let message = format!(
            "{sends} {} to rank {rank} {what}, {takers} {} can take them",
            plural(sends, "message"),
            plural(takers, "receive")
        );
        self.findings.add(Rule::UnmatchedSend, first.source, first.index, message);
    }

    /// Reports those receives of one source and tag for which there is no message.
    fn unmatched_receives(&mut self, received: &[End], sends: u64, what: &str) {
        let Some(first) = received.get(sends as usize) else {
            return;
        };
        let receives = received.len() as u64;
        self.unmatched.1 += receives - sends;
        let message = format!(
            "{receives} {} {what}, {sends} {} can reach them",
            plural(receives, "receive"),
            plural(sends, "message")
        );
        self.findings.add(Rule::UnmatchedReceive, self.rank, first.index, message);
    }

    fn sizes(&mut self, (source, _): (u32, u32), sent: &[End], received: &[End]) {
        let smaller = |(send, receive): &(&End, &End)| receive.size < send.size;
        let larger = |(send, receive): &(&End, &End)| receive.size > send.size;
        let mut report = |rule, differs: &dyn Fn(&(&End, &End)) -> bool| {
            let mut pairs = sent.iter().zip(received).filter(differs);
            if let Some((send, receive)) = pairs.next() {
                let others = match pairs.count() {
                    0 => String::new(),
                    count => format!("; {count} more likewise"),
                };
                let message = format!(
                    "receives {} B, but the message from rank {source}, operation {}, has {} \
                     B{others}",
                    receive.size, send.index, send.size
                );
                self.findings.add(rule, self.rank, receive.index, message);
            }
        };
        report(Rule::Truncation, &smaller);
        report(Rule::LargerReceive, &larger);
    }

    /// Messages with the tag -1: any receive that names their source or none can take them.
    fn loose_sends(&mut self) {
        let open = self.receives.iter().filter(|receive| receive.source == ANY).count() as u64;
        let mut sends = self.sends;
        while let Some(channel) = sends.first().map(End::channel) {
            let sent = split(&mut sends, channel);
            if channel.1 == ANY {
                let first = self.receives.partition_point(|receive| receive.source < channel.0);
                let end = self.receives.partition_point(|receive| receive.source <= channel.0);
                self.unmatched_sends(sent, open + (end - first) as u64, "with tag -1");
            }
        }
    }

    /// Receives with wildcards, against all messages that they could take.
    fn wild_receives(&mut self) {
        let (mut by_source, mut by_tag) = (FxHashMap::default(), FxHashMap::default());
        for send in self.sends {
            *by_source.entry(send.source).or_insert(0_u64) += 1;
            *by_tag.entry(send.tag).or_insert(0_u64) += 1;
        }
        let count = |map: &FxHashMap<u32, u64>, key| map.get(&key).copied().unwrap_or(0);
        let mut receives = self.receives;
        while let Some(channel) = receives.first().map(End::channel) {
            let received = split(&mut receives, channel);
            let (sends, what) = match channel {
                (ANY, ANY) => (self.sends.len() as u64, "from any rank with any tag".to_owned()),
                (ANY, tag) => (
                    count(&by_tag, tag) + count(&by_tag, ANY),
                    format!("from any rank with tag {tag}"),
                ),
                (source, ANY) => {
                    (count(&by_source, source), format!("from rank {source} with any tag"))
                }
                _ => continue,
            };
            self.unmatched_receives(received, sends, &what);
        }
    }

    /// Reports the messages to the rank and its receives that cannot meet by number alone, as far
    /// as they are not reported yet: as many of one sort as of the other can meet.
    fn balance(&mut self) {
        let (sends, receives) = (self.sends.len() as u64, self.receives.len() as u64);
        let totals = format!(
            "{sends} {} to this rank and {receives} {}",
            plural(sends, "message"),
            plural(receives, "receive")
        );
        let (unsent, unreceived) = self.unmatched;
        let lost = (sends + unreceived).saturating_sub(receives + unsent);
        let starving = (receives + unsent).saturating_sub(sends + unreceived);
        self.unmatched = (unsent + lost, unreceived + starving);
        let reports = [
            (Rule::UnmatchedSend, lost, "message", unsent),
            (Rule::UnmatchedReceive, starving, "receive", unreceived),
        ];
        for (rule, count, what, reported) in reports {
            let also = if reported > 0 { ", besides those reported" } else { "" };
            if count > 0 {
                let what = plural(count, what);
                let message = format!("{totals}: at least {count} {what} cannot be matched{also}");
                let (rank, index, line) = (self.rank, None, None);
                self.findings.push(super::Finding { rule, rank, index, line, message });
            }
        }
    }

    /// Receives from any rank that messages of several senders could reach.
    fn races(&mut self) {
        let mut senders: FxHashMap<u32, Senders> = FxHashMap::default();
        let mut all = Senders::default();
        for send in self.sends {
            senders.entry(send.tag).or_default().add(send.source);
            all.add(send.source);
        }
        let of = |tag: u32| senders.get(&tag).copied().unwrap_or_default();
        let tags: BTreeSet<u32> =
            self.wild.keys().filter(|(source, _)| *source == ANY).map(|(_, tag)| *tag).collect();
        for tag in tags {
            let (senders, what) = match tag {
                ANY => (all, "with any tag".to_owned()),
                tag => (of(tag).and(of(ANY)), format!("with tag {tag}")),
            };
            let Some(pattern) = self.wild.get(&(ANY, tag)).filter(|_| senders.several) else {
                continue;
            };
            let receives = pattern.receives;
            let message = format!(
                "{receives} {} from any rank {what} may take messages of several senders, \
                 whichever comes first",
                plural(receives, "receive")
            );
            self.findings.add(Rule::WildcardRace, self.rank, pattern.first, message);
        }
    }
}

/// The sources of messages: one, or several.
#[derive(Clone, Copy, Default)]
struct Senders {
    first: Option<u32>,
    several: bool,
}

impl Senders {
    fn add(&mut self, source: u32) {
        self.several |= *self.first.get_or_insert(source) != source;
    }

    fn and(mut self, other: Self) -> Self {
        self.several |= other.several;
        other.first.into_iter().for_each(|source| self.add(source));
        self
    }
}

/// Takes the ends of a channel off the front of a sorted list.
fn split<'e>(ends: &mut &'e [End], channel: (u32, u32)) -> &'e [End] {
    let length = ends.iter().take_while(|end| end.channel() == channel).count();
    let (front, rest) = ends.split_at(length);
    *ends = rest;
    front
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}
