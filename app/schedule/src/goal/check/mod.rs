//! Finds mistakes and suspicious places in a program without running it.
//!
//! The check judges by number if messages and receives meet, without wildcards exactly. With
//! wildcards (a receive from any source or of any tag, a message of any tag) only that is reported
//! which remains unmatched in every order of events, because more messages carry a source and tag
//! than there are receives that could take them, or the other way round. What may remain unmatched
//! if messages race in an unlucky order is not reported; that they race is.
//!
//! A deadlock between ranks is not looked for: running the program finds it. [`cycles`] tells the
//! report of such a run which ranks wait for themselves.

mod cycles;
mod messages;

use std::fmt::{self, Display};

use super::compile::{Unused, compile};
use super::diagnostic::{Diagnostic, Severity};
use super::lines::source_line;
use super::rank::Rank;
use crate::{ANY, Kind, Op, Program};
pub use cycles::{Cycle, cycles};

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The peer of an operation does not exist.
    Peer,
    /// A message is sent to no rank in particular.
    SendToAny,
    /// Operations wait for each other.
    Cycle,
    /// A message that no receive can take.
    UnmatchedSend,
    /// A receive that no message can reach.
    UnmatchedReceive,
    /// A receive is smaller than its message, which in MPI is the error "message truncated".
    Truncation,
    /// A receive is larger than its message.
    LargerReceive,
    /// A receive of any source may take messages of several senders, whichever comes first.
    WildcardRace,
    /// A rank sends to itself.
    SelfSend,
    /// A message carries the tag -1, which every receive takes.
    SendAnyTag,
    /// A label that no dependency uses.
    UnusedLabel,
    /// A message of 0 bytes.
    ZeroBytes,
    /// A rank without operations.
    EmptyRank,
}

impl Rule {
    /// Returns how bad it is.
    pub const fn severity(self) -> Severity {
        match self {
            Self::Peer
            | Self::SendToAny
            | Self::Cycle
            | Self::UnmatchedSend
            | Self::UnmatchedReceive
            | Self::Truncation => Severity::Error,
            Self::WildcardRace | Self::SelfSend | Self::SendAnyTag | Self::UnusedLabel => {
                Severity::Warning
            }
            Self::LargerReceive | Self::ZeroBytes | Self::EmptyRank => Severity::Note,
        }
    }
}

/// Something wrong or suspicious in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its subject.
    pub rule: Rule,
    /// The rank.
    pub rank: u32,
    /// The operation, or the first of several.
    pub index: Option<u32>,
    /// The line of that operation in a text.
    pub line: Option<u64>,
    /// The finding in words.
    pub message: String,
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: rank {}", self.rule.severity(), self.rank)?;
        if let Some(index) = self.index {
            write!(f, ", operation {index}")?;
        }
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Everything there is to say about a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings of the reader.
    pub diagnostics: Vec<Diagnostic>,
    /// The findings about the program, if it could be read.
    pub findings: Vec<Finding>,
}

/// The most findings of one rule that are kept; of the others only the number.
const KEPT: u64 = 100;

/// Checks a program. The findings are sorted by rank and operation; of each rule there are at most
/// a hundred, and one that counts the others.
pub fn check(program: &impl Program) -> Vec<Finding> {
    let mut findings = Findings::default();
    let mut graph = Rank::default();
    let mut finder = cycles::Finder::default();
    for rank in 0..program.ranks() {
        graph.load(program, rank);
        check_ops(program.ranks(), rank, &graph.ops, &mut findings);
        if let Some((operations, stuck)) = finder.find(&graph) {
            let first = operations.first().copied().unwrap_or(0);
            let message = Cycle { rank, operations, stuck }.to_string();
            findings.add(Rule::Cycle, rank, first, message);
        }
    }
    messages::check(program, &mut findings);
    findings.finish()
}

/// Reads and checks a text. The findings name lines; labels that are never used are among them.
pub fn check_text(text: &[u8]) -> Report {
    let compiled = match compile(text, true) {
        Ok(compiled) => compiled,
        Err(diagnostics) => {
            return Report { diagnostics, findings: Vec::new() };
        }
    };
    let mut findings = check(&compiled.image);
    findings.extend(unused(compiled.unused));
    findings.sort_by_key(|finding| (finding.rank, finding.index, finding.rule));
    let place = |finding: &Finding| finding.index.map(|index| (finding.rank, index));
    let places: Vec<_> = findings.iter().filter_map(place).collect();
    let lines = source_line(text, &places);
    let placed = findings.iter_mut().filter(|finding| finding.index.is_some());
    for (finding, line) in placed.zip(lines) {
        finding.line = line.map(|(number, _)| number);
    }
    Report { diagnostics: compiled.warnings, findings }
}

fn unused(unused: Unused) -> Vec<Finding> {
    let rule = Rule::UnusedLabel;
    let more = unused.count - unused.first.len() as u64;
    let last = unused.first.last().map_or(0, |(rank, _, _)| *rank);
    let one = |(rank, op, label)| {
        let message = format!("label `{label}` is never used");
        Finding { rule, rank, index: Some(op), line: None, message }
    };
    let mut findings: Vec<_> = unused.first.into_iter().map(one).collect();
    if more > 0 {
        let message = format!("{more} more labels are never used, from here on");
        findings.push(Finding { rule, rank: last, index: None, line: None, message });
    }
    findings
}

/// Collects findings.
#[derive(Default)]
struct Findings {
    kept: Vec<Finding>,
    /// Per rule: how many, and the rank of the first that was not kept.
    counts: std::collections::BTreeMap<Rule, (u64, u32)>,
}

impl Findings {
    fn add(&mut self, rule: Rule, rank: u32, index: u32, message: String) {
        self.push(Finding { rule, rank, index: Some(index), line: None, message });
    }

    fn push(&mut self, finding: Finding) {
        let (count, first) = self.counts.entry(finding.rule).or_default();
        *count += 1;
        match *count {
            ..=KEPT => self.kept.push(finding),
            count if count == KEPT + 1 => *first = finding.rank,
            _ => {}
        }
    }

    fn finish(self) -> Vec<Finding> {
        let mut all = self.kept;
        for (rule, (count, rank)) in self.counts {
            if count > KEPT {
                let message = format!("and {} more findings of this kind", count - KEPT);
                all.push(Finding { rule, rank, index: None, line: None, message });
            }
        }
        all.sort_by_key(|finding| (finding.rank, finding.index, finding.rule));
        all
    }
}

/// Checks the operations of a rank by themselves.
fn check_ops(ranks: u32, rank: u32, ops: &[Op], findings: &mut Findings) {
    if ops.is_empty() {
        let (rule, message) = (Rule::EmptyRank, "the rank does nothing".to_owned());
        findings.push(Finding { rule, rank, index: None, line: None, message });
    }
    let is_send = |op: &Op| op.kind == Kind::Send;
    for (index, op) in (0..).zip(ops) {
        if op.kind != Kind::Calc && op.peer != ANY && op.peer >= ranks {
            let message = format!("rank {} does not exist; the highest is {}", op.peer, ranks - 1);
            findings.add(Rule::Peer, rank, index, message);
        }
        if is_send(op) && op.peer == ANY {
            let message = "a message needs one destination".to_owned();
            findings.add(Rule::SendToAny, rank, index, message);
        }
    }
    let mut count = |rule, what: &str, hit: &dyn Fn(&Op) -> bool| {
        let mut hits = (0..).zip(ops).filter(|(_, op)| is_send(op) && hit(op));
        if let Some((index, _)) = hits.next() {
            let message = match 1 + hits.count() {
                1 => format!("a message {what}"),
                count => format!("{count} messages {what}, this one first"),
            };
            findings.add(rule, rank, index, message);
        }
    };
    count(Rule::SelfSend, "to the rank itself", &|op| op.peer == rank);
    count(Rule::SendAnyTag, "with tag -1, which every receive takes", &|op| op.tag == ANY);
    count(Rule::ZeroBytes, "of 0 bytes", &|op| op.size == 0);
}
