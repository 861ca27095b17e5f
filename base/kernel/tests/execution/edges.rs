//! The ends of the range of time, errors of models, and the numbers of windows.

use kernel::{Config, Error, Event, Finished, Model, Next, Outbox, TransportKind, Wire, execute};
use units::Time;

/// A message without content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ping;

impl Wire for Ping {
    fn encode(&self, _: &mut Vec<u8>) {}
    fn decode(_: &mut &[u8]) -> Option<Self> {
        Some(Self)
    }
}

/// Process 0 sends one message at time zero; each receiver sends one on to its neighbour, `delay`
/// later, until the last process has it.
#[derive(Debug)]
struct Chain {
    processes: u32,
    lookahead: u64,
    delay: u64,
    /// The process that notes an error when the message reaches it.
    fails: Option<u32>,
}

/// Set once a process has failed; and the times at which each process was reached.
#[derive(Debug, Default)]
struct Harvest {
    failed: bool,
    times: Vec<(u32, Vec<u64>)>,
}

impl Model for Chain {
    type Process = Vec<u64>;
    type Message = Ping;
    type Worker = Harvest;

    fn process(&self, _: u32) -> Vec<u64> {
        Vec::new()
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(self.lookahead)
    }

    fn run(
        &self,
        id: u32,
        times: &mut Vec<u64>,
        until: Time,
        inbox: &[Event<Ping>],
        harvest: &mut Harvest,
        out: &mut Outbox<Ping>,
    ) -> Next {
        let now = match inbox {
            [] if id == 0 && times.is_empty() => Time::ZERO,
            [] => return Next::NEVER,
            [event, ..] => event.time,
        };
        assert!(now < until);
        times.push(now.ps());
        harvest.failed |= self.fails == Some(id);
        if id + 1 < self.processes {
            let time = now.saturating_add(Time::from_ps(self.delay));
            let (source, destination) = (id, id + 1);
            out.send(Event { time, source, sequence: 0, destination, message: Ping });
        }
        Next::NEVER
    }

    fn harvest(&self, id: u32, times: &mut Vec<u64>, harvest: &mut Harvest) {
        harvest.times.push((id, std::mem::take(times)));
    }

    fn end(&self, harvest: &Harvest) -> Time {
        if harvest.failed { Time::ZERO } else { Time::MAX }
    }
}

fn run(chain: &Chain, workers: usize) -> Result<Finished<Harvest>, Error> {
    let config = Config { workers, transport: TransportKind::Shared };
    execute(chain, chain.processes, config, Harvest::default)
}

fn times(finished: Finished<Harvest>) -> Vec<u64> {
    let times = finished.workers.into_iter().map(|harvest| harvest.times).collect();
    crate::by_number(times).concat()
}

/// A window starts at the next event, however far away: one for the start, one per message.
#[test]
fn quiet_time_costs_nothing() {
    let delay = 1_000_000_000_000;
    for workers in [1, 2, 7] {
        let chain = Chain { processes: 4, lookahead: 1, delay, fails: None };
        let finished = run(&chain, workers).expect("no overflow");
        assert_eq!((finished.windows, finished.last.ps()), (4, 3 * delay));
        assert_eq!(times(finished), [0, delay, 2 * delay, 3 * delay]);
    }
}

/// Three delays of 2^62 ps fit the range (3/4 of it); a fourth ends at 2^64.
#[test]
fn overflow_says_when() {
    let delay = 1 << 62;
    for workers in [1, 2, 7] {
        for lookahead in [0, 1 << 62] {
            let chain = Chain { processes: 4, lookahead, delay, fails: None };
            let finished = run(&chain, workers).expect("within the range");
            assert_eq!(times(finished), [0, delay, 2 * delay, 3 * delay]);
            let chain = Chain { processes: 5, ..chain };
            let overflow = run(&chain, workers).expect_err("past the range");
            assert_eq!(overflow, Error::Overflow { at: Time::from_ps(3 * delay) });
        }
    }
}

/// The last moment before "never" is an ordinary one.
#[test]
fn last_moment_of_the_range() {
    let last = u64::MAX - 1;
    let chain = Chain { processes: 2, lookahead: 1000, delay: last, fails: None };
    assert_eq!(times(run(&chain, 2).expect("within the range")), [0, last]);
}

/// A process may say itself that its clock has left the range.
#[test]
fn overflow_of_a_clock() {
    #[derive(Debug)]
    struct Late;
    impl Model for Late {
        type Process = ();
        type Message = Ping;
        type Worker = ();
        fn process(&self, _: u32) {}
        fn lookahead(&self) -> Time {
            Time::from_ps(10)
        }
        fn run(
            &self,
            id: u32,
            (): &mut (),
            until: Time,
            _: &[Event<Ping>],
            (): &mut (),
            out: &mut Outbox<Ping>,
        ) -> Next {
            if id == 2 && until > Time::from_ps(70) {
                out.overflow();
            }
            Next { time: Time::from_ps(70), urgent: false }
        }
    }
    for workers in [1, 3] {
        let config = Config { workers, transport: TransportKind::Serialised };
        let overflow = execute(&Late, 3, config, || ()).expect_err("it says so");
        assert_eq!(overflow, Error::Overflow { at: Time::from_ps(70) });
    }
}

/// Of several processes that give up in a window, the one that does so first is reported, whatever
/// the number of workers.
#[test]
fn the_first_that_gives_up() {
    #[derive(Debug)]
    struct Helpless;
    impl Model for Helpless {
        type Process = ();
        type Message = Ping;
        type Worker = ();
        fn process(&self, _: u32) {}
        fn lookahead(&self) -> Time {
            Time::from_ps(10)
        }
        fn run(
            &self,
            id: u32,
            (): &mut (),
            until: Time,
            _: &[Event<Ping>],
            (): &mut (),
            out: &mut Outbox<Ping>,
        ) -> Next {
            if until > Time::from_ps(70) {
                out.give_up(Time::from_ps([75, 72, 70, 71][id as usize]), id, 0);
            }
            Next { time: Time::from_ps(70), urgent: false }
        }
    }
    for workers in [1, 2, 3, 7] {
        let config = Config { workers, transport: TransportKind::Shared };
        let error = execute(&Helpless, 4, config, || ()).expect_err("it says so");
        let expected = Error::Unreachable { at: Time::from_ps(70), sender: 2, receiver: 0 };
        assert_eq!(error, expected);
    }
}

/// After an error the window is finished and nothing else happens.
#[test]
fn a_failed_worker_ends_the_run() {
    for workers in [1, 2, 7] {
        let chain = Chain { processes: 9, lookahead: 5, delay: 5, fails: Some(3) };
        let finished = run(&chain, workers).expect("no overflow");
        assert_eq!(finished.last.ps(), 15);
        assert_eq!(finished.workers.iter().filter(|harvest| harvest.failed).count(), 1);
        assert_eq!(times(finished), [0, 5, 10, 15]);
    }
}

#[test]
fn nobody_and_more_workers_than_processes() {
    let none = Chain { processes: 0, lookahead: 5, delay: 5, fails: None };
    for workers in [0, 1, 3] {
        let finished = run(&none, workers).expect("no overflow");
        assert_eq!((finished.windows, times(finished).len()), (0, 0));
        let two = Chain { processes: 2, ..none };
        assert_eq!(times(run(&two, workers).expect("no overflow")), [0, 5]);
    }
}

/// A worker that panics takes the others with it: nobody waits for it for ever.
#[test]
fn a_panic_ends_the_run() {
    #[derive(Debug)]
    struct Panics;
    impl Model for Panics {
        type Process = ();
        type Message = Ping;
        type Worker = ();
        fn process(&self, _: u32) {}
        fn lookahead(&self) -> Time {
            Time::from_ps(10)
        }
        fn run(
            &self,
            id: u32,
            (): &mut (),
            until: Time,
            _: &[Event<Ping>],
            (): &mut (),
            _: &mut Outbox<Ping>,
        ) -> Next {
            assert!(id != 2 || until < Time::from_ps(70), "on purpose");
            Next { time: until, urgent: false }
        }
    }
    for workers in [1, 3] {
        let config = Config { workers, transport: TransportKind::Shared };
        let run = std::panic::catch_unwind(|| execute(&Panics, 3, config, || ()));
        assert!(run.is_err(), "{workers}");
    }
}
