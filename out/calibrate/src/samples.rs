//! Samples of a measurement: single times of operations, as they were taken.

pub use ::samples::Operation;

/// One time of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The operation.
    pub operation: Operation,
    /// n: the number of messages; at least one.
    pub messages: u32,
    /// d: the busy wait between two messages, in nanoseconds.
    pub delay: f64,
    /// The size of each message.
    pub bytes: u64,
    /// The number of the run: of the fresh start of the job.
    pub run: u32,
    /// The number of the repetition in its run.
    pub repetition: u32,
    /// The time of the whole operation at the sender, in nanoseconds.
    pub time: f64,
    /// The moment at which the operation began, in nanoseconds since some start.
    pub at: Option<f64>,
    /// The names of the two hosts, where they are known.
    pub pair: Option<(String, String)>,
}

impl Sample {
    /// Returns a sample of one message without a wait.
    pub fn simple(operation: Operation, bytes: u64, repetition: u32, time: f64) -> Self {
        let (messages, delay, run, at, pair) = (1, 0.0, 0, None, None);
        Self { operation, messages, delay, bytes, run, repetition, time, at, pair }
    }
}
