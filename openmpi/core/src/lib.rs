//! The part of the component for Open MPI that needs nothing of Open MPI: the scheduler of a host's
//! rails, which its processes share, the parameters of rails from a file or from measured times,
//! and their cache.
//!
//! The component itself is in C, because it is built with Open MPI's headers. It calls this crate
//! through [`c`], whose functions `c/heddle_rails.h` declares. The policies are those of the
//! simulation, the crate `rails`.

pub mod c;
pub mod cache;
pub mod estimate;
pub mod host;
pub mod machine;
pub mod rail;
pub mod segment;

/// An error, with what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
