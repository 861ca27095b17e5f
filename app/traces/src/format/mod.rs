//! Our own trace format. `docs/src/trace-format.md` describes it for those who write it in another
//! language.

mod definition;
mod header;
pub(crate) use header::fill;
mod read;
pub mod varint;
mod write;

pub use header::{Header, Unit};
pub use read::{Reader, Warning};
pub use write::Writer;

/// First bytes of a file.
pub const MAGIC: [u8; 8] = *b"HEDDLETR";
/// Last bytes of a file that was closed.
pub const END: [u8; 8] = *b"HEDDLEIX";
/// First bytes of a block.
pub const BLOCK: [u8; 4] = *b"HBLK";
/// First bytes of the index.
pub const INDEX: [u8; 4] = *b"HIDX";
/// The version that is written, and the only one that is read.
pub const VERSION: u16 = 1;
/// Bytes of a block before its data.
pub const BLOCK_HEADER: usize = 24;
/// Most bytes of a block when unpacked: what a reader is ready to hold.
pub const LARGEST_BLOCK: usize = 1 << 26;

/// The reason why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system says so.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It is something else.
    #[error("not a trace of ours: it does not start with `HEDDLETR`")]
    Magic,
    /// It is newer than this program.
    #[error("version {0} of the format; this program reads version {VERSION}")]
    Version(u16),
    /// The header ends too early or contradicts itself.
    #[error("byte {at}: the header {what}")]
    Header {
        /// The byte of the file.
        at: usize,
        /// The mistake.
        what: &'static str,
    },
}
