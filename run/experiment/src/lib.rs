//! The experiment: what runs, on what, and what is written about it.
//!
//! A [`Request`] names a file and what the command line adds; [`Configuration::read`] turns it into
//! settings of known type, [`Plan::new`] checks these against each other, and [`run`] carries the
//! plan out. All mistakes of an experiment are reported at once, as [`Mistakes`].
//!
//! This is the only crate that knows every model by name; the names are in [`registry`].

pub mod compare;
mod computation;
mod configuration;
mod diagnostic;
pub mod document;
mod flow_machine;
mod goal_input;
pub mod keys;
pub mod ladder;
mod live_run;
mod machine;
mod manifest;
mod memory;
mod network_tables;
mod noise;
mod parameters;
mod places;
mod plan;
mod progress;
pub mod registry;
mod run;
mod simgrid_items;
mod toml_file;
mod trace_input;
mod traffic_plan;
mod value;
mod variables;
mod words;

pub use configuration::{Configuration, Origin, Request};
pub use diagnostic::{Diagnostic, Mistakes, reason};
pub use flow_machine::Carried;
pub use goal_input::goal_errors;
pub use live::{Launch, MakeRunner, Printing, Runner};
pub use live_run::{executable, libraries};
pub use machine::Described;
pub use manifest::VERSION;
pub use plan::{Output, Plan, Timeline, is_of_programs};
pub use registry::{Generated, generated};
pub use run::{Ending, Failure, Report, run, run_held};
pub use trace_input::{compiled_traces, rewritten_traces};
pub use traces::source::Form as TraceForm;
pub use traffic_plan::{Measured, TrafficPlan};
pub use value::{Kind, Value, Words, Workload};
pub use variables::variables;
