//! Ranks over a network of flows: the hybrid point-to-point model of SMPI (seed 002, section IV).
//!
//! One clock, one thread: a flow that starts or ends anywhere can change the rate of any other, so
//! there is no lookahead to work with. What a rank does is decided here, how fast messages travel
//! in [`flow`].
//!
//! Each CPU of a rank works off its operations as a program of MPI calls would: computation and the
//! overheads of sends occupy it, receives are posted at once. A send is a blocking one if all that
//! follows waits for it and for nothing else. The overhead of a receive is due when the rank has
//! come to where it waits for it; of several that are waited for together and are there, that of
//! the one posted first comes first.

mod engine;
mod finish;
mod looks;
mod mailbox;
mod order;
mod protocol;
mod rank;

pub use engine::simulate_flow;
pub use protocol::{Piece, Pieces, Protocol, Protocols, seconds};
