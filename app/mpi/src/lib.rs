//! What MPI says about messages and receives, without a clock: which belongs to which.
//!
//! A message matches a receive if source and tag are equal, a wildcard on either side counting as
//! equal. Of several candidates the one that came first wins; that is MPI's rule that messages do
//! not overtake each other (MPI 4.1, section 3.5). (A message with a wildcard tag is not MPI's but
//! GOAL's.)

mod index;
mod store;

pub use store::{ANY, Store, Tags};
