//! Runs of more calls than are compiled at once.

use crate::support::{Call, buffer, finish, program, run};
use traces::compile;
use traces::options::{Mode, Options, Recorded};

/// A network on which every message takes a microsecond.
struct Microsecond;

impl Recorded for Microsecond {
    fn leaving(&self, _: u64) -> u64 {
        0
    }

    fn draining(&self, _: u64) -> u64 {
        1_000_000
    }
}

/// The number of messages: their schedule is of several pieces.
const MESSAGES: u64 = 20_000;

/// Rank 0 sends message k at 10 k + 5. Rank 1 posts a receive first that is only decided at its
/// end, and then waits for message k from 10 k on, has it at 10 k + 6 and returns at 10 k + 8.
fn decided_late(name: &str, posted: Call, decided: Vec<Call>, first: u64) {
    let message = |peer, more: &[i64]| buffer(2, &[&[peer, 3, 0], more].concat());
    let send = |k| ("MPI_Send", 10 * k + 5, 10 * k + 5, message(1, &[]));
    let receive = |k| ("MPI_Recv", 10 * k, 10 * k + 8, message(0, &[0, 3, 8]));
    let mut receives = vec![posted];
    receives.extend((1..MESSAGES).map(receive));
    receives.extend(decided);
    let end = 10 * MESSAGES;
    let sends = (first..MESSAGES).map(send).collect();
    let traces = run(name, &[program(sends, end), program(receives, end)], &[]);
    let options = Options { mode: Mode::Aligned, recorded_on: &Microsecond, ..Options::default() };
    assert_eq!(compile(&traces, &options).expect("a schedule").warnings, [""; 0], "{name}");
    assert_eq!(finish(&traces, &options), [end, end], "{name}");
}

/// The receive that was posted first gets the first message, whatever source it was posted with.
#[test]
fn a_receive_from_anyone_has_its_message() {
    for (name, source) in [("long-from-anyone", -1), ("long-from-one", 0)] {
        let posted = ("MPI_Irecv", 1, 1, buffer(2, &[source, 3, 0, 9]));
        let end = 10 * MESSAGES - 1;
        decided_late(name, posted, vec![("MPI_Wait", end, end, vec![9, 0, 3, 8])], 0);
    }
}

/// A receive that is cancelled in the end never had a message.
#[test]
fn a_cancelled_receive_has_none() {
    let posted = ("MPI_Irecv", 1, 1, buffer(2, &[0, 3, 0, 9]));
    let end = 10 * MESSAGES - 1;
    let wait = ("MPI_Wait", end, end, vec![9, -4, -4, -4]);
    decided_late("long-cancelled", posted, vec![("MPI_Cancel", end, end, vec![9]), wait], 1);
}
