//! The settings of an experiment: their keys, their readers and writers, and the check that they
//! are used. Nothing here knows how a model or a workload works.

pub(crate) mod configuration;
pub(crate) mod diagnostic;
pub mod document;
mod files;
pub mod keys;
pub(crate) mod launch;
pub(crate) mod manifest;
pub(crate) mod named_table;
pub(crate) mod near_file;
pub(crate) mod probability;
mod reader;
pub mod scope;
pub(crate) mod study;
pub mod synonyms;
pub(crate) mod toml_file;
pub(crate) mod usage;
pub(crate) mod value;
mod words;
