//! Quantities with units: simulated time, bytes, bandwidth, time per byte.
//!
//! Simulated time is an integer number of picoseconds, so that results are exact and do not depend
//! on the order of additions. Arithmetic never wraps: it is either checked or saturates at
//! [`Time::MAX`], which the executors report as an overflow.

mod rate;
mod time;

pub use rate::TimePerByte;
pub use time::Time;
