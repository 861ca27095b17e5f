//! The matching of messages and receives by the rules of MPI, without a clock.
//!
//! A message matches a receive if context, source and tag are equal; a wildcard source or tag on
//! either side counts as equal. Of several candidates the one that came first wins; that is MPI's
//! rule that messages do not overtake each other (MPI 4.1, section 3.5). (A message with a wildcard
//! tag is not MPI's but GOAL's.)

mod index;
mod store;

pub use store::{ANY, Store, Tag};
