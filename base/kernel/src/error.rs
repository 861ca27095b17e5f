//! The errors that end an execution.

use units::Time;

/// The reason why a model cannot be executed any further.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    thiserror::Error,
    serde::Serialize,
    serde::Deserialize,
)]
pub enum Error {
    /// A process sent a message to a time that its receiver may have passed already. The model
    /// breaks its promise of [`crate::Model::lookahead`] or [`crate::Model::lookahead_across`].
    #[error(
        "causality: process {sender} sent a message for {time}, but no message of that window may \
         take effect before {earliest}"
    )]
    Causality {
        /// The process that sent the message.
        sender: u32,
        /// The time at which the message would take effect.
        time: Time,
        /// The earliest time that the window allows.
        earliest: Time,
    },
    /// A message or a process became urgent in a model that has a lookahead across workers.
    #[error("at {at} something is urgent in a model that has a lookahead across workers")]
    Urgent {
        /// Start of the window in which that was noticed.
        at: Time,
    },
    /// A process gave up sending to another one, without which the model cannot go on.
    #[error(
        "at {at}, process {sender} gave up sending to process {receiver}: none of its attempts was \
         answered"
    )]
    Unreachable {
        /// The time at which it gave up.
        at: Time,
        /// The process that gave up.
        sender: u32,
        /// The process that it could not reach.
        receiver: u32,
    },
    /// A run has fewer hosts and switches than it is spread over.
    #[error("{processes} hosts and switches cannot be divided among {peers} processes")]
    Divided {
        /// The hosts and switches.
        processes: u32,
        /// The processes of the system.
        peers: usize,
    },
    /// An event fell outside the range of simulated time. The text names no time: the windows of a
    /// run depend on the number of workers, and what is printed must not.
    #[error("simulated time overflows: an event would lie beyond its range of 213 days")]
    Overflow {
        /// Start of the window in which that happened.
        at: Time,
    },
}
