//! The experiment: what runs, on what, and what is written about it.

mod configuration;
mod diagnostic;
pub mod document;
pub mod keys;
mod manifest;
mod noise;
mod toml_file;
mod value;

pub use configuration::{Configuration, Origin, Request};
pub use diagnostic::{Diagnostic, Mistakes};
pub use manifest::VERSION;
pub use value::{Kind, Value, Words, Workload};
