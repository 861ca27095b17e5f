//! The lines of a text file, one after the other.

use std::io::{self, BufRead, BufReader, Read};

/// Longest line that is read.
const LONGEST: u64 = 1 << 26;

/// Fetches lines into a buffer of its own.
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(1 << 16, input), line: Vec::new(), number: 0 }
    }

    /// Fetches the next line; false at the end.
    pub fn next(&mut self) -> io::Result<bool> {
        self.line.clear();
        let got = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.line)?;
        self.number += u64::from(got > 0);
        while self.line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(got > 0)
    }

    /// The line, without its end, to be given back when it has been looked at.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// Gives the line back, so that its memory is used again.
    pub fn give_back(&mut self, line: Vec<u8>) {
        self.line = line;
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}
