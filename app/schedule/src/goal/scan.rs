//! Words, numbers and places in the bytes of a text.

use super::diagnostic::{Mark, Mistake, shown};

pub type Result<T> = std::result::Result<T, Mistake>;

/// Reads a text from front to back and knows the line it is in.
pub struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
    line_start: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        // A byte order mark, which some editors put first.
        let at = if text.starts_with(units::text::MARK) { units::text::MARK.len() } else { 0 };
        Self { text, at, line: 1, line_start: at }
    }

    /// The next byte; 0 at the end.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    pub const fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    #[inline]
    pub const fn mark(&self) -> Mark {
        Mark { at: self.at, line: self.line, line_start: self.line_start }
    }

    /// Goes back to a place.
    pub const fn rewind(&mut self, mark: Mark) {
        self.at = mark.at;
        self.line = mark.line;
        self.line_start = mark.line_start;
    }

    /// Passes the next byte, which is not the end of a line.
    #[inline]
    pub const fn bump(&mut self) {
        self.at += 1;
    }

    /// Passes what separates words within a line.
    #[inline]
    pub fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    /// Passes ends of lines, comments, and spaces. An error is a comment that does not end; it is
    /// passed.
    #[inline]
    pub fn blank(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => self.newline(),
                b'/' => match self.text.get(self.at + 1) {
                    Some(b'/') => self.skip_while(|byte| byte != b'\n'),
                    Some(b'*') => self.block_comment()?,
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    #[inline]
    const fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = self.at;
    }

    fn block_comment(&mut self) -> Result<()> {
        let start = self.mark();
        self.at += 2;
        while !self.at_end() {
            match (self.peek(), self.text.get(self.at + 1)) {
                (b'*', Some(b'/')) => {
                    self.at += 2;
                    return Ok(());
                }
                (b'\n', _) => self.newline(),
                _ => self.at += 1,
            }
        }
        Err(Mistake::new(start, 2, "the comment does not end; expected `*/`".into()))
    }

    /// Passes bytes of one line.
    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while !self.at_end() && wanted(self.peek()) {
            self.at += 1;
        }
    }

    /// Passes what is left of a broken statement: up to the end of the line, `}` or a comment.
    pub fn skip_statement(&mut self) {
        while !self.at_end() && !matches!(self.peek(), b'\n' | b'}') {
            if self.peek() == b'/' && matches!(self.text.get(self.at + 1), Some(b'/' | b'*')) {
                return;
            }
            self.at += 1;
        }
    }

    /// The next letters, digits and underscores.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    /// The next letters.
    #[inline]
    pub fn letters(&mut self) -> &'a [u8] {
        self.take(|byte| byte.is_ascii_alphabetic())
    }

    #[inline]
    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !wanted(*byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// A number from 0 to `highest`, after spaces.
    #[inline]
    pub fn number(&mut self, what: &str, highest: u64) -> Result<u64> {
        self.space();
        let start = self.mark();
        let digits = self.take(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        let value = digits.iter().try_fold(0_u64, |value, digit| {
            value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        match value {
            Some(value) if value <= highest && self.peek() != b'.' => Ok(value),
            _ => Err(self.bad_number(start, what, highest)),
        }
    }

    #[cold]
    fn bad_number(&mut self, start: Mark, what: &str, highest: u64) -> Mistake {
        if self.peek() == b'.' {
            self.skip_while(|byte| byte == b'.' || byte.is_ascii_digit());
            let found = shown(self.since(start));
            let message = format!("expected {what}, a whole number, found {found}");
            return Mistake::new(start, self.at - start.at, message);
        }
        let found = shown(self.since(start));
        let message = format!("{found} is out of range for {what}: at most {highest}");
        Mistake::new(start, self.at - start.at, message)
    }

    /// The text from a place up to here.
    pub fn since(&self, start: Mark) -> &'a [u8] {
        self.text.get(start.at..self.at).unwrap_or_default()
    }

    /// The error that something else stands here.
    #[cold]
    pub fn expected(&self, what: &str) -> Mistake {
        let (found, width) = self.found();
        Mistake::new(self.mark(), width, format!("expected {what}, found {found}"))
    }

    /// The error that another word than these stands here.
    #[cold]
    pub fn expected_word(&self, what: &str, known: &[&'static [u8]]) -> Mistake {
        let (_, width) = self.found();
        let word = self.text.get(self.at..self.at + width).unwrap_or_default();
        let help = super::diagnostic::nearest(word, known.iter().copied());
        self.expected(what).help(help)
    }

    /// Returns what stands here, and how many bytes it is long.
    fn found(&self) -> (String, usize) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(first) = rest.first() else {
            return ("the end of the file".into(), 0);
        };
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = match first {
            b'\n' | b'\r' => return ("the end of the line".into(), 0),
            b'-' => 1 + rest.iter().skip(1).take_while(|byte| part(byte)).count(),
            byte if part(byte) => rest.iter().take_while(|byte| part(byte)).count(),
            // One character, which may be of several bytes.
            _ => 1 + rest.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).take(3).count(),
        };
        (shown(rest.get(..length).unwrap_or_default()), length)
    }
}
