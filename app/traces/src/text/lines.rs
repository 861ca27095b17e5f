//! The lines of a text file, one after the other.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

/// Longest line that is read.
const LONGEST: u64 = 1 << 26;

/// Lines of a file that follow each other and belong to one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The byte of the file where the first of them starts.
    pub start: u64,
    /// The byte behind the last of them.
    pub end: u64,
    /// The number of the first one in the file, from 1.
    pub line: u64,
    /// The number of lines.
    pub count: u64,
}

/// Fetches lines into a buffer of its own.
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    /// The byte of the input behind the line.
    end: u64,
    /// The places of the lines in their file, if the input is only a part of it.
    spans: Option<Arc<[Span]>>,
    /// The span of the next line, and its place in that.
    next: (usize, u64),
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        let input = BufReader::with_capacity(1 << 16, input);
        Self { input, line: Vec::new(), number: 0, end: 0, spans: None, next: (0, 0) }
    }

    /// Sets the places of the input in its file, so that lines are counted as in the file.
    pub fn set_spans(&mut self, spans: Arc<[Span]>) {
        self.spans = Some(spans);
    }

    /// Fetches the next line; false at the end.
    pub fn next(&mut self) -> io::Result<bool> {
        if self.end == 0 {
            self.end = units::text::skip_mark(&mut self.input)?;
        }
        self.line.clear();
        let got = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.line)?;
        if got > 0 {
            self.end += got as u64;
            self.number = self.count();
        }
        while self.line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(got > 0)
    }

    /// Returns the number of the next line.
    fn count(&mut self) -> u64 {
        let Some(spans) = &self.spans else { return self.number + 1 };
        let (index, place) = self.next;
        let Some(span) = spans.get(index) else { return self.number + 1 };
        self.next = if place + 1 < span.count { (index, place + 1) } else { (index + 1, 0) };
        span.line + place
    }

    /// Takes the line without its end, to be given back when it has been looked at.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// Gives the line back, so that its memory is used again.
    pub fn give_back(&mut self, line: Vec<u8>) {
        self.line = line;
    }

    /// Returns the number of the line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the byte of the input behind the line.
    pub fn end(&self) -> u64 {
        self.end
    }
}
