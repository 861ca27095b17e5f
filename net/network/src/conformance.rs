//! The suite that every model of a network passes.
