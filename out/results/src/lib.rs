//! The results of a run: tables, summaries, timelines, and the folder that holds them.
//!
//! - [`Collector`] is the probe that keeps the events of each message and each CPU;
//!   [`Collector::merge`] joins the records of all workers into [`Tables`], which may be larger
//!   than memory; [`Recorded`] is what timelines need in memory.
//! - A [`Row`] is a row of one of the [`TABLES`]; a [`Writer`] writes a table as CSV or as
//!   Parquet, and a [`Reader`] reads it. [`Columns`] is a table by columns, in memory.
//! - [`write_perfetto`], [`write_paje`] and [`write_chrome`] write timelines; a [`CallTimeline`]
//!   shows the calls of several runs.
//! - [`Summary`] holds the reproducible figures of a run, [`Performance`] those that differ from
//!   one run to the next; [`write_json`] and [`write_terminal`] show both; [`write_gantt`] draws a
//!   timeline below.
//! - [`RunDirectory`] puts files in their place all at once; a [`Temporary`] file or folder does
//!   not outlive a run that fails, nor, by [`hold`], one that is stopped; [`Progress`] reports
//!   while a run lasts.
//!
//! Everything but [`Performance`] and [`Progress`] is a function of the outcome and the records
//! alone: the same data gives the same bytes, whatever the number of workers.

mod call_timeline;
mod chrome;
mod collector;
mod directory;
mod format;
mod gantt;
mod json;
mod lines;
mod paje;
mod perfetto;
mod performance;
mod progress;
mod protobuf;
mod records;
mod screen;
mod sort;
mod summary;
mod table;
mod temporary;
mod terminal;
mod traffic_tables;

pub use call_timeline::CallTimeline;
pub use chrome::write_chrome;
pub use collector::{Collector, Computation, LinkLoad, Message, Recorded, Slice, Tables, Wanted};
pub use directory::{Artifact, Error, OutputFile, RunDirectory, study_table};
pub use format::{Column as TimeColumn, plural, printable, time};
pub use gantt::{GANTT_RANKS, write_gantt};
pub use json::{write_json, write_pretty};
pub use lines::Lines;
pub use paje::write_paje;
pub use perfetto::write_perfetto;
pub use performance::{Performance, Usage, Used};
pub use progress::{Progress, Snapshot, Work, end_status, show_status};
pub use records::{MessageTable, SliceTable};
pub use screen::{Screen, shows_unicode};
pub use summary::{CriticalPathSummary, DeadlockSummary, OwnCycle, Pending, Summary};
pub use table::{
    ActivityRow, Call, CallRow, Cell, Column, Columns, ComputationRow, ConnectionRow, DeviceRow,
    Fixed, FlowRow, HopRow, Kind, LaneRow, LineRow, LoadRow, LossRow, MessageRow, NamedColumn,
    PointRow, RankRow, ReadError, Reader, Row, TABLES, Table, TableForm, TableOutput, TableText,
    Text, Value, Values, Writer, open_table, table_file, write_activity, write_calls,
    write_computation, write_loads, write_messages, write_ranks,
};
pub use temporary::{Held, Temporary, hold};
pub use terminal::{describe_deadlock, write_terminal};
pub use traffic_tables::{write_flows, write_hops, write_lanes, write_losses, write_points};
