//! Columns of numbers, compressed: what the page decodes when it shows it.
//!
//! A column is a row of variable-length integers (seven bits a byte, the least significant first),
//! deflated without a header, in base64. Numbers with a sign are folded: 0, -1, 1 and -2 are 0, 1,
//! 2 and 3.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::DeflateEncoder};
use serde_json::{Value, json};

/// The columns of a page, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Blobs(Vec<String>);

impl Blobs {
    /// Adds a column, and returns the number by which the document names it.
    pub fn add(&mut self, column: Column) -> Value {
        // Writing to memory cannot fail.
        let bytes = column.0.finish().unwrap_or_default();
        self.0.push(STANDARD.encode(bytes));
        json!(self.0.len() - 1)
    }

    /// All columns.
    pub fn texts(&self) -> &[String] {
        &self.0
    }
}

/// A column that is being filled. It holds what is compressed so far.
#[derive(Debug)]
pub struct Column(DeflateEncoder<Vec<u8>>);

impl Column {
    /// An empty column.
    pub fn new() -> Self {
        Self(DeflateEncoder::new(Vec::new(), Compression::new(7)))
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // Writing to memory cannot fail.
        let _ = self.0.write_all(bytes);
    }

    /// Appends a number.
    pub fn push(&mut self, mut number: u64) {
        let mut bytes = [0; 10];
        let mut length = 0;
        loop {
            bytes[length] = (number & 0x7f) as u8;
            length += 1;
            number >>= 7;
            if number == 0 {
                break;
            }
            bytes[length - 1] |= 0x80;
        }
        self.bytes(&bytes[..length]);
    }

    /// Appends how much a number is more, or less, than another.
    pub fn difference(&mut self, number: u64, other: u64) {
        self.push(folded(number, other));
    }
}

/// Returns the difference of two numbers, folded.
pub fn folded(number: u64, other: u64) -> u64 {
    let step = number.wrapping_sub(other).cast_signed();
    (step << 1 ^ step >> 63).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::DeflateDecoder;

    use super::*;

    /// Decodes a column as the page does.
    fn decoded(text: &str) -> Vec<u64> {
        let bytes = STANDARD.decode(text).expect("base64");
        let mut plain = Vec::new();
        DeflateDecoder::new(&bytes[..]).read_to_end(&mut plain).expect("deflated");
        let mut numbers = Vec::new();
        let (mut number, mut shift) = (0_u64, 0);
        for byte in plain {
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                numbers.push(number);
                (number, shift) = (0, 0);
            }
        }
        numbers
    }

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 40, u64::MAX];
        let mut column = Column::new();
        for number in numbers {
            column.push(number);
        }
        // 5 - 7 = -2, which is folded to 3; 7 - 5 = 2 to 4.
        column.difference(5, 7);
        column.difference(7, 5);
        let mut blobs = Blobs::default();
        assert_eq!(blobs.add(column), json!(0));
        assert_eq!(decoded(&blobs.texts()[0]), [&numbers[..], &[3, 4]].concat());
    }
}
