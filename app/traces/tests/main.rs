//! Tests of traces.

mod calls;
mod format;
mod forms;
mod long;
mod published;
mod round_trips;
mod support;
mod text;
