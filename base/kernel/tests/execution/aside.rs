//! Messages that are only to be known.

use kernel::{Config, Event, Model, Next, Outbox, Wire, execute};
use units::Time;

/// Something aside, or not.
#[derive(Clone, Copy, Debug)]
struct Word {
    aside: bool,
}

impl Wire for Word {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.aside));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[aside], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(Self { aside: aside != 0 })
    }

    fn aside(&self) -> bool {
        self.aside
    }
}

/// At times 0, 10, 20, … a process tells the one after it something aside for ten later, and those
/// that are divisible by 3 send it a message for the same time too.
struct Whisper {
    processes: u32,
    rounds: u64,
}

/// How often it has run, and what it has been told and sent, by time.
#[derive(Debug, Default)]
struct Heard {
    runs: u64,
    told: Vec<Time>,
    inbox: Vec<(Time, usize)>,
}

impl Model for Whisper {
    type Process = Heard;
    type Message = Word;
    type Worker = ();

    fn process(&self, _: u32) -> Heard {
        Heard::default()
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(10)
    }

    fn told(&self, heard: &mut Heard, event: &Event<Word>) {
        heard.told.push(event.time);
    }

    fn run(
        &self,
        id: u32,
        heard: &mut Heard,
        until: Time,
        inbox: &[Event<Word>],
        (): &mut (),
        out: &mut Outbox<Word>,
    ) -> Next {
        heard.runs += 1;
        for event in inbox {
            assert!(!event.message.aside, "in the inbox");
            let known = heard.told.iter().filter(|told| **told <= event.time).count();
            heard.inbox.push((event.time, known));
        }
        // Whoever is last only listens.
        let rounds = if id + 1 == self.processes { 0 } else { self.rounds };
        let round = until.ps().div_ceil(10) - 1;
        if round < rounds {
            let time = Time::from_ps((round + 1) * 10);
            let (source, destination, sequence) = (id, id + 1, round as u32 * 2);
            out.send(Event { time, source, sequence, destination, message: Word { aside: true } });
            if id.is_multiple_of(3) {
                let (sequence, message) = (sequence + 1, Word { aside: false });
                out.send(Event { time, source, sequence, destination, message });
            }
        }
        let next = round + 1;
        let time = if next < rounds { Time::from_ps(next * 10) } else { Time::MAX };
        Next { time, urgent: false }
    }
}

/// What is said aside is known when its time comes, and nobody runs for it: the last of 6 processes
/// runs at time zero only, that of 5 for its messages too.
#[test]
fn words_aside_wake_nobody() {
    for processes in [6, 5] {
        for (workers, transport) in crate::CONFIGS {
            let model = Whisper { processes, rounds: 8 };
            let finished = execute(&model, processes, Config { workers, transport }, || ());
            let parts = finished.expect("no overflow").parts;
            for (id, heard) in parts.into_iter().flatten().enumerate().skip(1) {
                let expected: Vec<Time> = (1..=8).map(|round| Time::from_ps(round * 10)).collect();
                let last = id as u32 + 1 == processes;
                let listens = id % 3 == 1;
                // What is told in the window after the last event is not handed over any more.
                let known = if last && !listens { 0 } else { 7 };
                assert!(heard.told.len() >= known, "{id}: {heard:?}");
                assert_eq!(heard.told, expected[..heard.told.len()], "{id}");
                let sent = expected.iter().map(|time| (*time, time.ps() as usize / 10));
                let sent: Vec<(Time, usize)> = if listens { sent.collect() } else { Vec::new() };
                assert_eq!(heard.inbox, sent, "{id}");
                if last {
                    assert_eq!(heard.runs, if listens { 9 } else { 1 });
                }
            }
        }
    }
}
