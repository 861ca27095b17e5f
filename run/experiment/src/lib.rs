//! The experiment: what runs, on what, and what is written about it.
//!
//! A [`Request`] names a file and what the command line adds; [`Configuration::read`] turns it into
//! settings of known type, [`Plan::new`] checks these against each other and makes a workload and a
//! machine of them, and [`Plan::run`] carries out the [`Job`] that joins these. All mistakes of an
//! experiment are reported at once, as [`Mistakes`].
//!
//! Settings know no model and no workload; `models` and `workloads` hold a file for each. This is
//! the only crate that knows every model by name.

mod booksim;
mod calibration;
pub mod compare;
mod estimate;
mod folder;
mod job;
pub mod ladder;
mod memory;
mod models;
mod plan;
mod remarks;
mod settings;
pub mod study;
mod uncertainty;
mod workloads;

pub use booksim::{BookSim, BookSimPoint, BookSimPoints};
pub use folder::{Output, Timeline};
pub use host::Meter;
pub use job::{Ending, Failure, Job, Observer, Observers, Records, Report, Runs, unreadable};
pub use kernel::{Peers, TransportKind};
pub use live::{Launch, MakeRunner, Printing, Runner};
pub use models::{
    Calls, Carried, Loaded, Machine, Model, NetworkFacts, Run, Seen, Signals, Simulated, Stock,
    Switches, topologies::Described, wiring::wire,
};
pub use plan::Plan;
pub use results::Work;
pub use settings::{
    configuration::{Configuration, Origin, Request},
    diagnostic::{Diagnostic, Mistakes, reason, unread},
    document, keys,
    manifest::VERSION,
    scope,
    synonyms::key_of as key_of_synonym,
    value::{Kind, Value, Words, Workload as Source},
};
pub use traces::source::Form as TraceForm;
pub use uncertainty::{Sensitivity, Uncertainty};
pub use workloads::{
    Workload,
    collective::taken,
    goal::goal_errors,
    live::{executable, libraries, variables},
    pattern::{Generated, generated, patterns},
    traces::{are_traces, compiled_traces, rewritten_traces},
    traffic::{Measured, TrafficPlan},
};
