//! Runs that are spread over several processes of the system.

use kernel::{Error, Event, Model, Next, Outbox, Wire};
use units::Time;

use crate::spread;

#[derive(Clone, Copy)]
struct Nothing;

impl Wire for Nothing {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &mut &[u8]) -> Option<Self> {
        Some(Self)
    }
}

/// Each process sends a message to the next one, `early` ps before it may: the last one that does
/// is the only one with a mistake.
struct Early(u64);

impl Model for Early {
    type Process = bool;
    type Message = Nothing;
    type Worker = ();

    fn process(&self, _: u32) -> bool {
        false
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(100)
    }

    fn run(
        &self,
        id: u32,
        sent: &mut bool,
        until: Time,
        _: &[Event<Nothing>],
        (): &mut (),
        out: &mut Outbox<Nothing>,
    ) -> Next {
        if !std::mem::replace(sent, true) {
            let early = if id == 3 { self.0 } else { 0 };
            out.send(Event {
                time: Time::from_ps(until.ps() - early),
                source: id,
                sequence: 0,
                destination: (id + 1) % 4,
                message: Nothing,
            });
        }
        Next::NEVER
    }
}

/// One process has the mistake, and all tell of it.
#[test]
fn an_error_is_everybodys() {
    let found = spread(&Early(1), 4, &[1, 2, 1], || ());
    let expected =
        Error::Causality { sender: 3, time: Time::from_ps(99), earliest: Time::from_ps(100) };
    for one in found {
        assert_eq!(one.expect_err("a message that is early"), expected);
    }
    assert!(spread(&Early(0), 4, &[1, 2, 1], || ()).iter().all(Result::is_ok));
}

/// Threads are as many as can have something to do; processes are not.
#[test]
fn more_workers_than_processes() {
    assert!(spread(&Early(0), 4, &[3, 3], || ()).iter().all(Result::is_ok));
    for one in spread(&Early(0), 4, &[1; 5], || ()) {
        assert_eq!(one.expect_err("too many"), Error::Divided { processes: 4, peers: 5 });
    }
}
