//! Models that break their promises: each is an error that names the culprit, never a wrong order.

use kernel::{Config, Error, Event, Model, Next, Outbox, TransportKind, Wire, execute};
use units::Time;

/// A message that is one of three kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Urgent,
    Passive,
}

impl Wire for Kind {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self as u8);
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let kind = usize::from(*bytes.split_off_first()?);
        [Self::Plain, Self::Urgent, Self::Passive].get(kind).copied()
    }

    fn urgent(&self) -> bool {
        *self == Self::Urgent
    }

    fn passive(&self) -> bool {
        *self == Self::Passive
    }
}

/// A message that a process sends at a time of its own.
#[derive(Clone, Copy, Debug)]
struct Send {
    sender: u32,
    at: u64,
    to: u32,
    time: u64,
    kind: Kind,
}

/// Processes that each send the messages of a script at its times. A process counts those it sent.
#[derive(Debug)]
struct Script {
    lookahead: u64,
    across: Option<u64>,
    sends: Vec<Send>,
}

const PROCESSES: u32 = 6;

impl Model for Script {
    type Process = usize;
    type Message = Kind;
    type Worker = ();

    fn process(&self, _: u32) -> usize {
        0
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(self.lookahead)
    }

    fn lookahead_across(&self, _: &dyn Fn(u32) -> usize) -> Option<Time> {
        self.across.map(Time::from_ps)
    }

    fn run(
        &self,
        id: u32,
        sent: &mut usize,
        until: Time,
        _: &[Event<Kind>],
        (): &mut (),
        out: &mut Outbox<Kind>,
    ) -> Next {
        let mut own = self.sends.iter().filter(|send| send.sender == id).skip(*sent).peekable();
        while let Some(send) = own.next_if(|send| send.at < until.ps()) {
            let (time, sequence) = (Time::from_ps(send.time), *sent as u32);
            let (destination, message) = (send.to, send.kind);
            out.send(Event { time, source: id, sequence, destination, message });
            *sent += 1;
        }
        Next { time: own.peek().map_or(Time::MAX, |send| Time::from_ps(send.at)), urgent: false }
    }
}

/// Runs a script with every number of workers and either transport; all answer alike.
fn outcome(script: &Script) -> Option<Error> {
    let run = |(workers, transport)| {
        execute(script, PROCESSES, Config { workers, transport }, || ()).err()
    };
    let outcomes: Vec<_> = crate::CONFIGS.into_iter().map(run).collect();
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{script:?}: {outcomes:?}");
    outcomes[0]
}

fn causality(sender: u32, time: u64, earliest: u64) -> Error {
    Error::Causality { sender, time: Time::from_ps(time), earliest: Time::from_ps(earliest) }
}

/// Processes 1 and 2 have events at 50 and 80. Everybody runs at time zero, and a lookahead of 100
/// is promised, so both events lie in the window from 0 to 100. The message of process 1 for 51
/// would reach process 2 after its event at 80 has run.
#[test]
fn a_message_into_the_window_is_an_error() {
    for kind in [Kind::Plain, Kind::Urgent, Kind::Passive] {
        let early = Send { sender: 1, at: 50, to: 2, time: 51, kind };
        let other = Send { sender: 2, at: 80, to: 5, time: 180, kind: Kind::Plain };
        let script = Script { lookahead: 100, across: None, sends: vec![early, other] };
        let error = outcome(&script).expect("too early");
        assert_eq!(error, causality(1, 51, 100));
        assert_eq!(
            error.to_string(),
            "causality: process 1 sent a message for 51 ps, but no message of that window may take \
             effect before 100 ps"
        );
        // At the end of the window it is in time.
        let script = Script { sends: vec![Send { time: 100, ..early }, other], ..script };
        assert_eq!(outcome(&script), None);
    }
}

/// Of several errors in one window the least is reported, whoever runs first.
#[test]
fn the_least_of_several_errors() {
    let sends = [(4, 70), (3, 60), (3, 20)].map(|(sender, time)| {
        let kind = Kind::Plain;
        Send { sender, at: 10, to: 0, time, kind }
    });
    let script = Script { lookahead: 100, across: None, sends: sends.to_vec() };
    assert_eq!(outcome(&script), Some(causality(3, 20, 100)));
}

/// An urgent message makes a window of one instant. Its receiver may react in that instant; another
/// process that happens to run then may not.
#[test]
fn only_the_urgent_react_at_once() {
    let urgent = Send { sender: 0, at: 0, to: 1, time: 100, kind: Kind::Urgent };
    let answer = |sender| Send { sender, at: 100, to: 2, time: 100, kind: Kind::Plain };
    let script = |sender| {
        let sends = vec![urgent, answer(sender)];
        Script { lookahead: 100, across: None, sends }
    };
    assert_eq!(outcome(&script(1)), None);
    assert_eq!(outcome(&script(3)), Some(causality(3, 100, 101)));
}

/// With a lookahead of zero a message may take effect at once, but not before.
#[test]
fn no_message_goes_back_in_time() {
    let send = |time| Send { sender: 1, at: 50, to: 2, time, kind: Kind::Plain };
    let script = |time| Script { lookahead: 0, across: None, sends: vec![send(time)] };
    assert_eq!(outcome(&script(50)), None);
    assert_eq!(outcome(&script(49)), Some(causality(1, 49, 50)));
}

/// Workers that do not wait for each other at every window notice late mail when they get it. With
/// a lookahead across workers of 200, promised falsely, both halves run windows of 100 from 0 on,
/// and a message for 110 that is sent at 0 arrives when the window up to 200 has been run.
#[test]
fn a_false_lookahead_across_workers() {
    let wakes = (0..PROCESSES).flat_map(|sender| {
        let wake = move |at| Send { sender, at, to: sender, time: 10_000, kind: Kind::Passive };
        (0..40).map(move |step| wake(25 * step))
    });
    for kind in [Kind::Plain, Kind::Passive] {
        let late = Send { sender: 1, at: 0, to: 5, time: 110, kind };
        let sends = [late].into_iter().chain(wakes.clone()).collect();
        let script = Script { lookahead: 100, across: Some(200), sends };
        for workers in [2, 3, 6] {
            let config = Config { workers, transport: TransportKind::Shared };
            let error = execute(&script, PROCESSES, config, || ()).map(|_| ());
            let Err(Error::Causality { sender, time, earliest }) = error else {
                panic!("{workers} workers, {kind:?}: {error:?}");
            };
            assert_eq!((sender, time), (1, Time::from_ps(110)));
            assert!(earliest > time && earliest <= Time::from_ps(200), "{earliest}");
        }
        // One worker keeps no lookahead across workers, and its windows allow the message.
        let config = Config { workers: 1, transport: TransportKind::Shared };
        assert!(execute(&script, PROCESSES, config, || ()).is_ok());
    }
}

/// A model that has a lookahead across workers must not become urgent.
#[test]
fn urgent_across_workers() {
    let send = Send { sender: 1, at: 0, to: 5, time: 300, kind: Kind::Urgent };
    let script = Script { lookahead: 100, across: Some(100), sends: vec![send] };
    let config = Config { workers: 2, transport: TransportKind::Shared };
    let error = execute(&script, PROCESSES, config, || ()).map(|_| ());
    assert!(matches!(error, Err(Error::Urgent { .. })), "{error:?}");
}
