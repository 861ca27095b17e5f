//! Samples of a measurement: single times of operations, as they were taken.

use std::fmt;

/// An operation that was timed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A parametrised round trip: n messages with a busy wait of d between them, and one answer.
    RoundTrip,
    /// A blocking send with a partner that is ready.
    Send,
    /// The start of a non-blocking send.
    Isend,
    /// A blocking receive.
    Receive,
    /// A receive by a process that computes until the message is there.
    ReceiveBusy,
    /// A message and its answer, both ways.
    PingPong,
    /// A simultaneous send and receive.
    Exchange,
    /// The first use of a buffer.
    Touch,
    /// The first message of a pair of processes.
    First,
    /// A message of a stream of messages of its size. No operation of `samples.csv` is one: it is
    /// the inverse of a message rate.
    Stream,
    /// A collective operation of this name.
    Collective(String),
}

/// The operations that have no parameter, with their names in files.
const NAMES: [(&str, Operation); 9] = [
    ("prtt", Operation::RoundTrip),
    ("send", Operation::Send),
    ("isend", Operation::Isend),
    ("recv", Operation::Receive),
    ("recv-busy", Operation::ReceiveBusy),
    ("pingpong", Operation::PingPong),
    ("exchange", Operation::Exchange),
    ("touch", Operation::Touch),
    ("first", Operation::First),
];

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

impl Operation {
    /// Returns the operation of this name.
    pub fn named(name: &str) -> Option<Self> {
        let simple = NAMES.iter().find(|(known, _)| *known == name);
        let collective = || name.strip_prefix("collective:").filter(|rest| !rest.is_empty());
        simple
            .map(|(_, operation)| operation.clone())
            .or_else(|| Some(Self::Collective(collective()?.to_owned())))
    }

    /// Returns the names of all operations, for messages.
    pub fn names() -> Vec<&'static str> {
        NAMES.iter().map(|(name, _)| *name).chain(["collective:NAME"]).collect()
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Stream => f.write_str("stream"),
            Self::Collective(name) => write!(f, "collective:{name}"),
            simple => {
                let found = NAMES.iter().find(|(_, operation)| operation == simple);
                f.write_str(found.map_or("", |(name, _)| name))
            }
        }
    }
}

impl Sample {
    /// Returns a sample of one message without a wait.
    pub fn simple(operation: Operation, bytes: u64, repetition: u32, time: f64) -> Self {
        let (messages, delay, run, at, pair) = (1, 0.0, 0, None, None);
        Self { operation, messages, delay, bytes, run, repetition, time, at, pair }
    }
}
