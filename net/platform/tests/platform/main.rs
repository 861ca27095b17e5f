//! Platforms: against SimGrid's answers, against rules, and with mistakes.

mod errors;
mod machines;
mod properties;
mod simgrid;
