//! Quantities with units: simulated time, bytes, bandwidth, time per byte; and typed numbers of
//! ranks, hosts, devices, links, operations and messages.
//!
//! Simulated time is an integer number of picoseconds, so that results are exact and do not depend
//! on the order of additions. Arithmetic never wraps: it is either checked or saturates at
//! [`Time::MAX`], which the executors report as an overflow.
//!
//! Every quantity is read from text by [`FromStr`](std::str::FromStr) and printed by
//! [`Display`](std::fmt::Display). The text is a number and a unit, with or without a space between
//! them: `2500ns`, `1.4 us`. Reading is exact decimal arithmetic, and what is printed reads back as
//! the same value. A number without a unit is an error, also when it is 0.
//!
//! | quantity | units |
//! |---|---|
//! | [`Time`] | `ps`, `ns`, `us` (also `µs`), `ms`, `s`, `min`, `h` |
//! | [`Bytes`] | `B`; decimal `kB` to `EB`; binary `KiB` to `EiB` |
//! | [`Bandwidth`] | bits `b/s` and bytes `B/s`, with the same prefixes |
//! | [`TimePerByte`] | a time, `/`, bytes (`6 ns/B`, `1 us/KiB`, `7 ps/3 B`); or a bandwidth |

mod bandwidth;
mod bytes;
mod error;
mod id;
pub mod nearest;
mod quantity;
mod rate;
pub mod text;
mod time;

pub use bandwidth::Bandwidth;
pub use bytes::Bytes;
pub use error::Error;
pub use id::{DeviceId, HostId, LinkId, MessageId, OpId, RankId};
pub use nearest::nearest;
pub use rate::TimePerByte;
pub use time::Time;
