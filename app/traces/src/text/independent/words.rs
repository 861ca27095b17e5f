//! The words of a line.

use super::datatype;

/// The word that is wrong, by its place in the line, and what is wrong with it.
pub type Fault = (usize, String);

/// Reads the words of a line one after the other.
pub struct Words<'a> {
    list: Vec<&'a str>,
    at: usize,
    /// The datatype where none is given.
    default: i64,
}

impl<'a> Words<'a> {
    pub fn new(line: &'a str, default: i64) -> Self {
        Self { list: line.split_whitespace().collect(), at: 0, default }
    }

    /// Returns the word at a place.
    pub fn get(&self, at: usize) -> Option<&'a str> {
        self.list.get(at).copied()
    }

    /// Returns the place of the next word, if there is one.
    pub fn rest(&self) -> Option<usize> {
        (self.at < self.list.len()).then_some(self.at)
    }

    /// Returns the place of the next word.
    pub const fn place(&self) -> usize {
        self.at
    }

    /// Returns how many words follow.
    pub fn more(&self) -> usize {
        self.list.len().saturating_sub(self.at)
    }

    /// Passes over all that follows.
    pub fn skip_rest(&mut self) {
        self.at = self.list.len();
    }

    /// Returns the next word as it is.
    pub fn word(&mut self, what: &str) -> Result<&'a str, Fault> {
        let at = self.at;
        let word = self
            .get(at)
            .ok_or_else(|| (at, format!("the line ends where {what} should follow")))?;
        self.at += 1;
        Ok(word)
    }

    fn real(&mut self, what: &str) -> Result<f64, Fault> {
        let at = self.at;
        let word = self.word(what)?;
        let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| (at, format!("expected {what}, found `{word}`")))
    }

    pub fn number(&mut self, what: &str) -> Result<i64, Fault> {
        let at = self.at;
        let value = self.real(what)?;
        if value.fract() != 0.0 || value.abs() > 9e15 {
            return Err((at, format!("expected {what}, a whole number, found `{value}`")));
        }
        Ok(value as i64)
    }

    /// Reads a number that is not negative.
    pub fn amount(&mut self, what: &str) -> Result<f64, Fault> {
        let at = self.at;
        let value = self.real(what)?;
        if value < 0.0 {
            return Err((at, format!("expected {what}, found `{value}`: it is negative")));
        }
        Ok(value)
    }

    pub fn count(&mut self) -> Result<i64, Fault> {
        let at = self.at;
        let count = self.number("a count")?;
        if count < 0 { Err((at, format!("a count of {count}: it is negative"))) } else { Ok(count) }
    }

    pub fn counts(&mut self, count: u32) -> Result<Vec<i64>, Fault> {
        (0..count).map(|_| self.count()).collect()
    }

    /// Returns number, size and extent of the datatype that follows, or of the default.
    pub fn datatype(&mut self) -> Result<[i64; 3], Fault> {
        let at = self.at;
        let id = if self.more() > 0 { self.number("a datatype")? } else { self.default };
        datatype::find(id).map_err(|message| (at, message))
    }

    /// Returns the root that follows, or rank 0.
    pub fn root(&mut self) -> Result<i64, Fault> {
        if self.more() > 0 { self.number("the root") } else { Ok(0) }
    }
}
