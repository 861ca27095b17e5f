//! Parameters of an interconnect from measured times, with intervals.
//!
//! [`read::read`] reads samples, [`fit`] estimates, and a [`Calibration`] writes itself as a
//! machine file or as JSON. Nothing here does I/O: the library knows texts and numbers only.
//!
//! Valid for two hosts at a time ([`pairs`] are of more), and for networks that a few messages do
//! not saturate. Intervals are of 95 %, for noise whose median is zero. What samples do not
//! determine is refused with a reason. Sources: chapter 3 of "Analysis and optimization of the
//! packet scheduler in Open MPI" (the parametrised round trip), section IV.A of SMPI's description
//! (segments), and the literature that the modules name.

mod cells;
mod diagnose;
mod estimate;
mod large;
mod limits;
mod model_error;
mod models;
mod noise;
mod output;
mod overheads;
pub mod pairs;
mod plan;
pub mod plogp;
mod protocols;
pub mod read;
mod refuse;
mod resample;
mod roundtrip;
mod samples;
mod segments;
mod statistics;

pub use self::samples::{Operation, Sample};
pub use diagnose::Diagnosis;
pub use estimate::{Calibration, Estimate, Options, PARAMETERS, fit};
pub use large::Large;
pub use model_error::{ModelError, common_deviate};
pub use output::{Provenance, replicates_table, sha256};
pub use segments::{Point, Segment};
