//! GOAL schedules: the files in which `LogGOPSim` and its tools keep parallel programs.
//!
//! A schedule has two forms, a text and a binary one. In memory there is only the binary one, an
//! [`Image`]: the bytes of the file, mapped or owned, which answers as a [`crate::Program`] without
//! being unpacked. Text is compiled to it.
//!
//! Text is read more liberally than by `LogGOPSim`: indentation, comments behind statements,
//! several statements on a line, references to labels that follow, ranks in any order, and lists of
//! labels behind `requires`. Numbers out of range are errors, where `LogGOPSim` truncates them.
//! `LogGOPSim` reads what is written here, text or binary.
//!
//! Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language – A Flexible
//! Way to Express Collective Communication", ICPP 2009, and the files that `LogGOPSim`'s `txt2bin`
//! writes.

mod assembly;
mod bytes;
mod check;
mod compile;
mod diagnostic;
mod draft;
mod format;
mod image;
mod labels;
mod lines;
mod parse;
mod rank;
mod read;
mod roots;
mod scan;
mod spill;
mod validate;
mod write;

pub use assembly::assemble;
pub use bytes::Bytes;
pub use check::{Cycle, Finding, Report, Rule, check, check_text, cycles};
pub use diagnostic::{Diagnostic, Severity};
pub use draft::{Draft, RankSchedule};
pub use image::Image;
pub use lines::{operation_lines, source_line};
pub use read::{Form, ReadError, Reading, read, read_bytes};
pub use spill::Spill;
pub use validate::{BinaryError, Problem};
pub use write::{write_binary, write_text};
