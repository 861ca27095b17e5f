//! The places of operations in a text: an image does not keep it.

use super::diagnostic::{Mark, Mistakes, line_at};
use super::parse::{Label, Sink, parse};
use crate::{Edge, Op};

/// The line of each operation, given as (rank, index): its number, from 1, and its text. `None` for
/// operations that are not there. Reads the text once more, for the few operations that a message
/// names.
pub fn source_line(text: &[u8], ops: &[(u32, u32)]) -> Vec<Option<(u64, String)>> {
    let mut wanted: Vec<_> = (0..ops.len()).collect();
    wanted.sort_by_key(|which| ops[*which]);
    let mut finder =
        Finder { ops, wanted: &wanted, rest: &[], next: 0, found: vec![None; ops.len()] };
    parse(text, &mut finder);
    let show = |mark: Mark| {
        let line = String::from_utf8_lossy(line_at(text, mark.line_start));
        (mark.line, line.trim().to_owned())
    };
    finder.found.into_iter().map(|mark| mark.map(show)).collect()
}

/// The line of each operation, by rank and index, from 1; 0 for lines from 2^32 on. Ranks behind
/// the last one with a block have no entry.
pub fn operation_lines(text: &[u8]) -> Vec<Vec<u32>> {
    let mut all = All::default();
    parse(text, &mut all);
    all.lines
}

/// Notes the line of every operation.
#[derive(Default)]
struct All {
    lines: Vec<Vec<u32>>,
    /// The rank of the current block, if its number is good.
    rank: Option<usize>,
    /// The number of ranks that the text gives.
    ranks: u32,
}

impl<'a> Sink<'a> for All {
    fn ranks(&mut self, ranks: u32, _: Mark) {
        self.ranks = ranks;
    }

    fn begin(&mut self, rank: Option<u32>, _: Mark, _: &mut Mistakes<'a>) {
        let rank = rank.filter(|rank| *rank < self.ranks).map(|rank| rank as usize);
        let count = self.lines.len().max(rank.map_or(0, |rank| rank + 1));
        self.lines.resize_with(count, Vec::new);
        self.rank = rank;
    }

    #[inline]
    fn op(&mut self, _: Option<Label<'a>>, _: Op, mark: Mark, _: &mut Mistakes<'a>) {
        if let Some(lines) = self.rank.and_then(|rank| self.lines.get_mut(rank)) {
            lines.push(mark.line.try_into().unwrap_or(0));
        }
    }

    fn depend(&mut self, _: Label<'a>, _: Label<'a>, _: Edge, _: &mut Mistakes<'a>) {}

    fn end(&mut self, _: &mut Mistakes<'a>) {}
}

struct Finder<'o> {
    ops: &'o [(u32, u32)],
    /// Indices into `ops`, ascending by rank and operation.
    wanted: &'o [usize],
    /// The lines of the current rank that are still to come.
    rest: &'o [usize],
    /// Index of the next operation.
    next: u32,
    found: Vec<Option<Mark>>,
}

impl<'a> Sink<'a> for Finder<'_> {
    fn ranks(&mut self, _: u32, _: Mark) {}

    fn begin(&mut self, rank: Option<u32>, _: Mark, _: &mut Mistakes<'a>) {
        self.next = 0;
        self.rest = rank.map_or(&[], |rank| {
            let first = self.wanted.partition_point(|which| self.ops[*which].0 < rank);
            let end = self.wanted.partition_point(|which| self.ops[*which].0 <= rank);
            &self.wanted[first..end]
        });
    }

    #[inline]
    fn op(&mut self, _: Option<Label<'a>>, _: Op, mark: Mark, _: &mut Mistakes<'a>) {
        while let Some((which, rest)) = self.rest.split_first()
            && self.ops[*which].1 == self.next
        {
            self.found[*which] = Some(mark);
            self.rest = rest;
        }
        self.next = self.next.saturating_add(1);
    }

    fn depend(&mut self, _: Label<'a>, _: Label<'a>, _: Edge, _: &mut Mistakes<'a>) {}

    fn end(&mut self, _: &mut Mistakes<'a>) {}
}
