//! Lines and columns of the bytes of a text.

use super::xml::Place;

/// Bytes between two places whose characters are counted.
const STEP: usize = 1 << 10;

/// Finds the line and column of any byte of a text in logarithmic time, so that readers which ask
/// for the place of every word stay linear, whatever the length of a line.
#[derive(Debug)]
pub struct Lines<'a> {
    text: &'a str,
    /// The bytes at which lines begin.
    starts: Vec<usize>,
    /// Characters before each multiple of [`STEP`] bytes.
    counts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Counts the lines and characters of a text.
    pub fn new(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut counts = vec![0];
        for bytes in text.as_bytes().chunks(STEP) {
            counts.push(counts.last().unwrap_or(&0) + characters(bytes));
        }
        Self { text, starts: std::iter::once(0).chain(starts).collect(), counts }
    }

    /// The line and column, from 1, of a byte.
    pub fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line, self.before(offset).saturating_sub(self.before(start)) + 1)
    }

    /// Characters that begin before a byte.
    fn before(&self, offset: usize) -> usize {
        let checkpoint = offset / STEP;
        let rest = self.text.as_bytes().get(checkpoint * STEP..offset).unwrap_or_default();
        self.counts.get(checkpoint).unwrap_or(&0) + characters(rest)
    }
}

/// Characters that begin in some bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}
