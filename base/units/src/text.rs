//! Text files as input: UTF-8, with or without a byte order mark at the start.

use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The byte order mark that some editors put at the start of a text in UTF-8.
pub const MARK: &[u8] = "\u{feff}".as_bytes();

/// The number of the device `/dev/null`, which is an empty file for those who read it.
const NULL: u64 = 1 << 8 | 3;

/// Opens a file for reading. Devices such as `/dev/zero` have no end, and are refused.
///
/// # Errors
///
/// Fails if the file cannot be opened, or is a device other than a terminal or `/dev/null`.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if found.file_type().is_char_device() && found.rdev() != NULL && !file.is_terminal() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, not a file"));
    }
    Ok(file)
}

/// Returns the system's message about a file without its error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns the contents of a file.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the text of a file without a byte order mark.
///
/// # Errors
///
/// Fails if the file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    if text.as_bytes().starts_with(MARK) {
        text.drain(..MARK.len());
    }
    Ok(text)
}

/// Returns the text of a file without a byte order mark; bytes that are not UTF-8 become
/// replacement characters.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_lossy(path: &Path) -> io::Result<String> {
    let bytes = bytes(path)?;
    Ok(String::from_utf8_lossy(bytes.strip_prefix(MARK).unwrap_or(&bytes)).into_owned())
}

/// Moves a reader at the start of a text past a byte order mark, if there is one, and returns how
/// many bytes that were.
///
/// # Errors
///
/// Fails if the text cannot be read.
pub fn skip_mark(input: &mut impl BufRead) -> io::Result<u64> {
    if !input.fill_buf()?.starts_with(MARK) {
        return Ok(0);
    }
    input.consume(MARK.len());
    Ok(MARK.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    #[test]
    fn a_device_without_an_end_is_no_file() {
        let error = super::bytes("/dev/zero".as_ref()).expect_err("it has no end");
        assert_eq!(error.to_string(), "it is a device, not a file");
        assert_eq!(super::bytes("/dev/null".as_ref()).expect("empty"), []);
    }

    #[test]
    fn a_mark_is_passed_over_only_at_the_start() {
        let file = std::env::temp_dir().join(format!("heddle-units-mark-{}", std::process::id()));
        std::fs::write(&file, "\u{feff}a\u{feff}b").expect("written");
        let (read, lossy) = (super::read(&file), super::read_lossy(&file));
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(read.expect("read"), "a\u{feff}b");
        assert_eq!(lossy.expect("read"), "a\u{feff}b");
        let mut input = "\u{feff}x".as_bytes();
        assert_eq!(super::skip_mark(&mut input).expect("read"), 3);
        assert_eq!(super::skip_mark(&mut input).expect("read"), 0);
        let mut rest = String::new();
        input.read_to_string(&mut rest).expect("read");
        assert_eq!(rest, "x");
    }
}
