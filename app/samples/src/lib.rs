//! The operations that are timed between two hosts, as those who measure and those who estimate
//! name them, and the columns of `samples.csv`.

use std::{borrow::Cow, fmt};

/// The columns that `samples.csv` has.
pub const NEEDED: [&str; 7] = ["operation", "n", "d_ns", "bytes", "run", "repetition", "time_ns"];
/// The columns that it may have behind them.
pub const OPTIONAL: [&str; 4] = ["at_ns", "source", "destination", "note"];

/// An operation that is timed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A parametrised round trip: n messages with a busy wait of d between them, and one answer.
    RoundTrip,
    /// A blocking send with a partner that is ready.
    Send,
    /// The start of a non-blocking send.
    Isend,
    /// A blocking receive of a message that is there.
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
    Collective(Cow<'static, str>),
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

impl Operation {
    /// A reduction to all.
    pub const ALLREDUCE: Self = Self::Collective(Cow::Borrowed("allreduce"));

    /// Returns the operation of this name.
    pub fn named(name: &str) -> Option<Self> {
        let simple = NAMES.iter().find(|(known, _)| *known == name);
        let collective = || name.strip_prefix("collective:").filter(|rest| !rest.is_empty());
        simple
            .map(|(_, operation)| operation.clone())
            .or_else(|| Some(Self::Collective(collective()?.to_owned().into())))
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

#[cfg(test)]
mod tests {
    use super::Operation;

    #[test]
    fn names_are_read_and_written() {
        for name in ["prtt", "recv-busy", "first", "collective:allreduce"] {
            let found = Operation::named(name).map(|operation| operation.to_string());
            assert_eq!(found.as_deref(), Some(name));
        }
        assert_eq!(Operation::named("collective:allreduce"), Some(Operation::ALLREDUCE));
        assert_eq!((Operation::named("collective:"), Operation::named("stream")), (None, None));
    }
}
