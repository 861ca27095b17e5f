//! Text to binary.

use std::collections::BTreeSet;

use super::diagnostic::{Diagnostic, Mark, Mistake, Mistakes, nearest, shown};
use super::format::{BASE, BLOB_HEADER, HEADER, MAGIC, SPAN};
use super::image::Image;
use super::labels::Labels;
use super::parse::{Label, Sink, parse};
use super::rank::{Line, Rank};
use crate::{Edge, Op};

/// The most ranks without a block that a text may have: a number of ranks that is off by more is a
/// mistake, and would cost memory without end.
const MISSING: usize = 1 << 16;
/// Bytes of the shortest block, `rank 0{}`.
const BLOCK: usize = 8;
/// The most unused labels that are listed.
const UNUSED: usize = 10;
/// The most labels that are compared with an unknown label to find the nearest one.
const CANDIDATES: usize = 10_000;

/// A text that was read without errors.
pub struct Compiled {
    pub image: Image,
    pub warnings: Vec<Diagnostic>,
    pub unused: Unused,
}

/// Labels that no dependency uses.
#[derive(Default)]
pub struct Unused {
    /// The first: rank, operation, label.
    pub first: Vec<(u32, u32, String)>,
    /// The number of them in all.
    pub count: u64,
}

/// Compiles a text. Unused labels are looked for if `lint` is set.
pub fn compile(text: &[u8], lint: bool) -> Result<Compiled, Vec<Diagnostic>> {
    let mut compiler =
        Compiler { limit: MISSING + text.len() / BLOCK, lint, ..Compiler::default() };
    let mut mistakes = parse(text, &mut compiler);
    compiler.find_missing(&mut mistakes);
    let failed = mistakes.failed();
    let warnings = mistakes.finish();
    if failed {
        return Err(warnings);
    }
    let unused = std::mem::take(&mut compiler.unused);
    Ok(Compiled { image: Image::written(compiler.assemble()), warnings, unused })
}

/// Stands for a label that is not defined yet.
const UNKNOWN: u32 = u32::MAX;

/// A label that was not defined when it was used.
struct Forward<'a> {
    label: Label<'a>,
    line: usize,
}

/// The location of a rank's part of the binary form, and the line on which its block starts.
#[derive(Clone, Copy, Default)]
struct RankBlock {
    start: usize,
    end: usize,
    line: u64,
}

#[derive(Default)]
struct Compiler<'a> {
    /// The highest number of ranks that the text can hold, with the missing ones.
    limit: usize,
    lint: bool,
    ranks: u32,
    header: Option<Mark>,
    /// The parts of the ranks, in the order of the text; before them room for header and table if
    /// the number of ranks was known in time.
    out: Vec<u8>,
    parts: Vec<RankBlock>,
    /// Ranks with a block whose numbers are too high to be kept.
    beyond: BTreeSet<u32>,
    highest_cpu: u8,
    highest_nic: u8,
    unused: Unused,
    rank: Option<u32>,
    graph: Rank,
    lines: Vec<Line>,
    forward: Vec<Forward<'a>>,
    labels: Labels<'a>,
    /// Per operation and sort of edge, where in the appendix the next dependent goes.
    slots: Vec<[u32; 2]>,
}

impl<'a> Sink<'a> for Compiler<'a> {
    fn ranks(&mut self, ranks: u32, mark: Mark) {
        self.ranks = ranks;
        self.header = Some(mark);
        if self.parts.is_empty() && ranks as usize <= self.limit {
            self.out.resize(HEADER + SPAN * ranks as usize, 0);
        }
    }

    fn begin(&mut self, rank: Option<u32>, mark: Mark, mistakes: &mut Mistakes<'a>) {
        self.graph.clear();
        self.lines.clear();
        self.forward.clear();
        self.labels.clear();
        self.rank = rank.filter(|rank| (*rank as usize) < self.limit);
        self.beyond.extend(rank.filter(|_| self.rank.is_none()));
        let Some(rank) = self.rank else { return };
        let count = self.parts.len().max(rank as usize + 1);
        self.parts.resize(count, RankBlock::default());
        let Some(part) = self.parts.get_mut(rank as usize) else {
            return;
        };
        if part.line == 0 {
            part.line = mark.line;
        } else {
            let message = format!("rank {rank} has a block already, on line {}", part.line);
            mistakes.error(&Mistake::new(mark, 4, message));
        }
    }

    #[inline]
    fn op(&mut self, label: Option<Label<'a>>, op: Op, _: Mark, mistakes: &mut Mistakes<'a>) {
        let name = label.map(|label| label.name);
        if let (Err(first), Some(label)) = (self.labels.push(name), label) {
            let name = shown(label.name);
            let message =
                format!("label {name} is defined already, by operation {first} of the rank");
            mistakes.error(&label.mistake(message));
        }
        self.highest_cpu = self.highest_cpu.max(op.cpu);
        self.highest_nic = self.highest_nic.max(op.nic);
        self.graph.ops.push(op);
    }

    #[inline]
    fn depend(&mut self, after: Label<'a>, before: Label<'a>, edge: Edge, _: &mut Mistakes<'a>) {
        let line = Line { after: self.resolve(after), before: self.resolve(before), edge };
        self.lines.push(line);
    }

    fn end(&mut self, mistakes: &mut Mistakes<'a>) {
        self.resolve_forward(mistakes);
        if self.graph.ops.len().max(self.lines.len()) >= UNKNOWN as usize
            && let Some(mark) = self.header
        {
            let message = format!("a rank has more than {UNKNOWN} operations or dependencies");
            mistakes.error(&Mistake::new(mark, 0, message));
        }
        let Some(rank) = self.rank.filter(|_| !mistakes.failed()) else {
            return;
        };
        self.graph.link(&self.lines, &mut self.slots);
        let start = self.out.len();
        self.graph.encode(&mut self.out);
        if let Some(part) = self.parts.get_mut(rank as usize) {
            (part.start, part.end) = (start, self.out.len());
        }
        if self.lint {
            self.find_unused(rank);
        }
    }
}

impl<'a> Compiler<'a> {
    #[inline]
    fn resolve(&mut self, label: Label<'a>) -> u32 {
        let Some(op) = self.labels.find(label.name) else {
            self.forward.push(Forward { label, line: self.lines.len() });
            return UNKNOWN;
        };
        self.labels.touch(op);
        op
    }

    /// Resolves labels that are defined behind their use.
    fn resolve_forward(&mut self, mistakes: &mut Mistakes<'a>) {
        for Forward { label, line } in self.forward.drain(..) {
            let Some(op) = self.labels.find(label.name) else {
                let message = format!("label {} is not defined in this rank", shown(label.name));
                let room = mistakes.has_room();
                let known = || {
                    self.labels.all().take(CANDIDATES).map(|(label, _)| label).collect::<Vec<_>>()
                };
                let help = room
                    .then(known)
                    .and_then(|known| nearest(label.name, known.iter().map(Vec::as_slice)));
                mistakes.error(&label.mistake(message).help(help));
                continue;
            };
            self.labels.touch(op);
            if let Some(line) = self.lines.get_mut(line) {
                // The label in front of `requires` is resolved first.
                let place = if line.after == UNKNOWN { &mut line.after } else { &mut line.before };
                *place = op;
            }
        }
    }

    fn find_unused(&mut self, rank: u32) {
        let unused = self.labels.unused();
        self.unused.count += unused.len() as u64;
        let room = UNUSED.saturating_sub(self.unused.first.len());
        let name = |label: &[u8]| String::from_utf8_lossy(label).into_owned();
        let first = unused.iter().take(room).map(|(op, label)| (rank, *op, name(label)));
        self.unused.first.extend(first);
    }

    /// Complains about ranks without a block.
    fn find_missing(&mut self, mistakes: &mut Mistakes<'a>) {
        let Some(mark) = self.header else { return };
        let ranks = self.ranks as usize;
        let present = self.parts.iter().filter(|part| part.line != 0).count() + self.beyond.len();
        let missing = ranks.saturating_sub(present);
        let first = self.parts.iter().position(|part| part.line == 0).unwrap_or(self.parts.len());
        if missing > MISSING {
            let message = format!("num_ranks is {ranks}, but {missing} ranks have no block");
            let help = format!("at most {MISSING} ranks may have no block");
            mistakes.error(&Mistake::new(mark, 9, message).help(Some(help)));
        } else if missing > 0 && !mistakes.failed() {
            let message = match missing {
                1 => format!("rank {first} has no block and does nothing"),
                _ => format!("{missing} ranks have no block and do nothing, rank {first} first"),
            };
            mistakes.warning(&Mistake::new(mark, 9, message));
        }
    }

    /// The whole binary form.
    fn assemble(mut self) -> Vec<u8> {
        self.parts.resize(self.ranks as usize, RankBlock::default());
        let table = HEADER + SPAN * self.parts.len();
        let mut end = table;
        let in_place = self.parts.iter().all(|part| {
            let follows = part.start == end;
            end = part.end;
            follows
        });
        let mut out = if in_place { std::mem::take(&mut self.out) } else { self.in_order(table) };
        let mut header = Vec::with_capacity(table);
        header.extend_from_slice(&MAGIC.to_le_bytes());
        header.extend_from_slice(&self.ranks.to_le_bytes());
        header.extend_from_slice(&[self.highest_cpu, self.highest_nic]);
        for part in &self.parts {
            header.extend_from_slice(&((part.start - BASE) as u64).to_le_bytes());
            header.extend_from_slice(&((part.end - BASE) as u64).to_le_bytes());
        }
        if let Some(start) = out.get_mut(..table) {
            start.copy_from_slice(&header);
        }
        out
    }

    /// The parts in the order of the ranks behind room for header and table, with empty parts where
    /// ranks are missing.
    fn in_order(&mut self, table: usize) -> Vec<u8> {
        let mut out = vec![0; table];
        out.reserve(self.out.len());
        for part in &mut self.parts {
            let bytes = self.out.get(part.start..part.end).filter(|_| part.line != 0);
            part.start = out.len();
            out.extend_from_slice(bytes.unwrap_or(&[0; BLOB_HEADER]));
            part.end = out.len();
        }
        out
    }
}
