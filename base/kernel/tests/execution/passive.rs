//! Passive messages: their receivers have to know of them, and do not run for them.

use kernel::{Config, Event, Model, Next, Outbox, Wire, execute};
use units::Time;

/// A message that is passive or not.
#[derive(Clone, Copy, Debug)]
struct Word {
    passive: bool,
}

impl Wire for Word {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.passive));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[passive], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(Self { passive: passive != 0 })
    }

    fn passive(&self) -> bool {
        self.passive
    }
}

/// At times 0, 10, 20, … a process sends its successor a passive message that takes effect ten
/// later. A process whose number is divisible by 3 also sends an ordinary one for the same time.
struct Whisper {
    processes: u32,
    rounds: u64,
}

/// The number of runs of a process, the times of its passive messages, and for each ordinary
/// message its time and the number of passive ones known by then.
#[derive(Debug, Default)]
struct Heard {
    runs: u64,
    passive: Vec<Time>,
    inbox: Vec<(Time, usize)>,
}

impl Model for Whisper {
    type Process = Heard;
    type Message = Word;
    type Worker = Vec<(u32, Heard)>;

    fn process(&self, _: u32) -> Heard {
        Heard::default()
    }

    fn harvest(&self, id: u32, heard: &mut Heard, all: &mut Self::Worker) {
        all.push((id, std::mem::take(heard)));
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(10)
    }

    fn on_passive(&self, heard: &mut Heard, event: &Event<Word>) {
        heard.passive.push(event.time);
    }

    fn run(
        &self,
        id: u32,
        heard: &mut Heard,
        until: Time,
        inbox: &[Event<Word>],
        _: &mut Self::Worker,
        out: &mut Outbox<Word>,
    ) -> Next {
        heard.runs += 1;
        for event in inbox {
            assert!(!event.message.passive, "in the inbox");
            let known = heard.passive.iter().filter(|time| **time <= event.time).count();
            heard.inbox.push((event.time, known));
        }
        // Whoever is last only listens.
        let rounds = if id + 1 == self.processes { 0 } else { self.rounds };
        let round = until.ps().div_ceil(10) - 1;
        if round < rounds {
            let time = Time::from_ps((round + 1) * 10);
            let (source, destination, sequence) = (id, id + 1, round as u32 * 2);
            out.send(Event {
                time,
                source,
                sequence,
                destination,
                message: Word { passive: true },
            });
            if id.is_multiple_of(3) {
                let (sequence, message) = (sequence + 1, Word { passive: false });
                out.send(Event { time, source, sequence, destination, message });
            }
        }
        let next = round + 1;
        let time = if next < rounds { Time::from_ps(next * 10) } else { Time::MAX };
        Next { time, urgent: false }
    }
}

/// A passive message is known when its time comes, and nobody runs for it: the last of 6 processes
/// runs at time zero only, the last of 5 for its ordinary messages too.
#[test]
fn passive_messages_wake_nobody() {
    for processes in [6, 5] {
        for (workers, transport) in crate::CONFIGS {
            let model = Whisper { processes, rounds: 8 };
            let finished = execute(&model, processes, Config { workers, transport }, Vec::new);
            let all = crate::by_number(finished.expect("no overflow").workers);
            for (id, heard) in all.into_iter().enumerate().skip(1) {
                let expected: Vec<Time> = (1..=8).map(|round| Time::from_ps(round * 10)).collect();
                let last = id as u32 + 1 == processes;
                let listens = id % 3 == 1;
                // Passive messages of the window after the last event are not handed over.
                let known = if last && !listens { 0 } else { 7 };
                assert!(heard.passive.len() >= known, "{id}: {heard:?}");
                assert_eq!(heard.passive, expected[..heard.passive.len()], "{id}");
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
