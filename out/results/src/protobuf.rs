//! The part of the protobuf wire format that a trace needs: varints, fixed 64-bit values, and
//! length-delimited fields. Source: the encoding chapter of the Protocol Buffers documentation.

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// An integer field.
pub(crate) fn uint(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | VARINT);
    varint(out, value);
}

/// A field of eight bytes.
pub(crate) fn fixed64(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

/// A string field.
pub(crate) fn string(out: &mut Vec<u8>, field: u64, value: &str) {
    message(out, field, |out| out.extend_from_slice(value.as_bytes()));
}

/// A field that holds what `content` appends.
pub(crate) fn message(out: &mut Vec<u8>, field: u64, content: impl FnOnce(&mut Vec<u8>)) {
    varint(out, field << 3 | LENGTH_DELIMITED);
    let start = out.len();
    content(out);
    let length = out.len() - start;
    varint(out, length as u64);
    // The length belongs in front of the content, which is at most a few hundred bytes.
    let width = out.len() - start - length;
    if let Some(field) = out.get_mut(start..) {
        field.rotate_right(width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding documentation: field 1 = 150 is 08 96 01; field 2 = "testing";
    /// field 3 = a message with field 1 = 150.
    #[test]
    fn encodes_the_documented_examples() {
        let mut out = Vec::new();
        uint(&mut out, 1, 150);
        string(&mut out, 2, "testing");
        message(&mut out, 3, |out| uint(out, 1, 150));
        assert_eq!(out, b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01".as_slice());
    }

    /// 300 = 2 * 128 + 44: ac 02, in front of 300 bytes. Field 47 of type 1: 47 * 8 + 1 = 377 =
    /// 2 * 128 + 121: f9 02.
    #[test]
    fn lengths_and_tags_may_take_two_bytes() {
        let mut out = Vec::new();
        message(&mut out, 1, |out| out.extend([7; 300]));
        assert_eq!(out.len(), 303);
        assert_eq!(out.get(..4), Some([0x0a, 0xac, 0x02, 7].as_slice()));
        out.clear();
        fixed64(&mut out, 47, 1);
        assert_eq!(out, [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0]);
        out.clear();
        uint(&mut out, 1, u64::MAX);
        assert_eq!(out, [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
    }
}
