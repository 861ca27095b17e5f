//! A model in which a different order of events anywhere changes everything after it.
//!
//! Tokens travel between processes. Where a token goes, when it arrives and what it is by then is
//! drawn from a stream that depends on everything its holder has seen so far, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use kernel::{Event, Model, Next, Outbox, Random, Wire};
use units::Time;

/// The behaviour of a token where it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It goes on after the lookahead or later.
    Plain,
    /// It goes on at once: the message is urgent.
    Reflex,
    /// It stays for the lookahead or longer, and then goes on at once: the process is urgent.
    Alarm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    pub kind: Kind,
    pub name: u32,
    /// The number of moves that it still makes.
    pub hops: u32,
}

impl Wire for Token {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(&self.name.to_le_bytes());
        bytes.extend_from_slice(&self.hops.to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[kind], rest) = bytes.split_first_chunk()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (hops, rest) = rest.split_first_chunk()?;
        *bytes = rest;
        let kind = *[Kind::Plain, Kind::Reflex, Kind::Alarm].get(usize::from(kind))?;
        Some(Self { kind, name: u32::from_le_bytes(*name), hops: u32::from_le_bytes(*hops) })
    }

    fn urgent(&self) -> bool {
        self.kind == Kind::Reflex
    }
}

/// A message or, from a process to itself, the end of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub time: u64,
    pub source: u32,
    pub sequence: u32,
    pub token: Token,
}

/// The sequence number by which the end of an alarm goes.
pub const WAKE: u32 = u32::MAX;

/// A consequence of an event.
pub enum Effect {
    Send { to: u32, delay: u64, token: Token },
    Wake { delay: u64, token: Token },
}

#[derive(Debug, Default)]
pub struct State {
    started: bool,
    draws: u64,
    digest: u64,
    pub sequence: u32,
    pub log: Vec<Seen>,
    alarms: BinaryHeap<Reverse<(u64, Token)>>,
}

#[derive(Debug)]
pub struct Toy {
    pub processes: u32,
    /// In picoseconds.
    pub lookahead: u64,
    pub seed: u64,
    /// The number of moves of each of the first tokens.
    pub hops: u32,
    /// All tokens are plain, and between the lower and the upper half of the numbers they take
    /// three lookaheads or more.
    pub halves: bool,
}

impl Toy {
    fn draw(&self, id: u32, state: &mut State) -> u64 {
        state.draws += 1;
        Random::new(self.seed, 1).number(id, state.digest ^ state.draws)
    }

    /// Returns the effects of the start of a process.
    pub fn start(&self, id: u32, state: &mut State) -> Vec<Effect> {
        let token = Token { kind: Kind::Plain, name: id, hops: self.hops };
        vec![self.forward(id, state, token, true)]
    }

    /// Returns the effects of a token that arrives, or of an alarm that ends.
    pub fn react(&self, id: u32, state: &mut State, seen: Seen) -> Vec<Effect> {
        state.log.push(seen);
        let Seen { time, source, sequence, token } = seen;
        for word in [time, u64::from(source), u64::from(sequence), u64::from(token.name)] {
            state.digest = Random::new(state.digest, 2).number(id, word);
        }
        if sequence != WAKE && token.kind == Kind::Alarm {
            let delay = (self.lookahead + self.draw(id, state) % (2 * self.lookahead + 1)).max(1);
            return vec![Effect::Wake { delay, token }];
        }
        if token.hops == 0 {
            return Vec::new();
        }
        let late = sequence != WAKE && token.kind == Kind::Plain;
        let token = Token { hops: token.hops - 1, ..token };
        let mut effects = vec![self.forward(id, state, token, late)];
        if self.draw(id, state).is_multiple_of(8) {
            let child = Token { name: token.name ^ (token.hops << 20), ..token };
            effects.push(self.forward(id, state, child, late));
        }
        effects
    }

    /// Returns the least time that a token takes.
    fn least(&self, from: u32, to: u32) -> u64 {
        let is_low = |id| id < self.processes / 2;
        if self.halves && is_low(from) != is_low(to) { 3 * self.lookahead } else { self.lookahead }
    }

    /// Sends a token somewhere; `late` if that takes at least the lookahead.
    fn forward(&self, id: u32, state: &mut State, token: Token, late: bool) -> Effect {
        let to = (self.draw(id, state) % u64::from(self.processes)) as u32;
        let kind = match self.draw(id, state) % 8 {
            _ if self.halves => Kind::Plain,
            0..5 => Kind::Plain,
            5 | 6 => Kind::Reflex,
            _ => Kind::Alarm,
        };
        let spread = self.draw(id, state);
        // Many at the same time, some in the next windows, a few far beyond.
        let delay = match self.draw(id, state) % 8 {
            0..3 => 0,
            3..6 => spread % 3 * (self.lookahead / 2),
            6 => spread % (5 * self.lookahead + 3),
            _ => 100 * self.lookahead + spread % 2,
        };
        let delay = if late { self.least(id, to) + delay } else { delay };
        Effect::Send { to, delay, token: Token { kind, ..token } }
    }
}

fn apply(id: u32, state: &mut State, now: u64, effects: Vec<Effect>, out: &mut Outbox<Token>) {
    for effect in effects {
        match effect {
            Effect::Wake { delay, token } => state.alarms.push(Reverse((now + delay, token))),
            Effect::Send { to, delay, token } => {
                let (time, sequence) = (Time::from_ps(now + delay), state.sequence);
                state.sequence += 1;
                out.send(Event { time, source: id, sequence, destination: to, message: token });
            }
        }
    }
}

impl Model for Toy {
    type Process = State;
    type Message = Token;
    type Worker = Vec<(u32, Vec<Seen>)>;

    fn process(&self, _: u32) -> State {
        State::default()
    }

    fn harvest(&self, id: u32, state: &mut State, logs: &mut Self::Worker) {
        logs.push((id, std::mem::take(&mut state.log)));
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(self.lookahead)
    }

    /// Uneven shares, but for the two halves.
    fn weight(&self, id: u32) -> u32 {
        if id % 16 == 15 && !self.halves { 40 } else { 1 }
    }

    fn lookahead_across(&self, worker_of: &dyn Fn(u32) -> usize) -> Option<Time> {
        let all = || 0..self.processes;
        let pairs = all().flat_map(|from| all().map(move |to| (from, to)));
        let apart = pairs.filter(|&(from, to)| worker_of(from) != worker_of(to));
        let least = apart.map(|(from, to)| self.least(from, to)).min();
        least.filter(|_| self.halves).map(Time::from_ps)
    }

    /// Odd seeds: even numbers, then odd ones.
    fn order(&self) -> Option<Vec<u32>> {
        let odd = (1..self.processes).step_by(2);
        (self.seed % 2 == 1).then(|| (0..self.processes).step_by(2).chain(odd).collect())
    }

    fn run(
        &self,
        id: u32,
        state: &mut State,
        until: Time,
        inbox: &[Event<Token>],
        _: &mut Self::Worker,
        out: &mut Outbox<Token>,
    ) -> Next {
        if !state.started {
            state.started = true;
            let effects = self.start(id, state);
            apply(id, state, 0, effects, out);
        }
        let mut inbox = inbox.iter().peekable();
        loop {
            let mail = inbox.peek().map_or(u64::MAX, |event| event.time.ps());
            let alarm = state.alarms.peek().map_or(u64::MAX, |alarm| alarm.0.0);
            assert!(mail == u64::MAX || mail < until.ps(), "mail before its window");
            let seen = if mail <= alarm && mail < u64::MAX {
                let Some(event) = inbox.next() else { break };
                assert_eq!(event.destination, id);
                let (source, sequence, token) = (event.source, event.sequence, event.message);
                Seen { time: mail, source, sequence, token }
            } else if alarm < until.ps() {
                let Some(Reverse((time, token))) = state.alarms.pop() else { break };
                Seen { time, source: id, sequence: WAKE, token }
            } else {
                break;
            };
            let effects = self.react(id, state, seen);
            apply(id, state, seen.time, effects, out);
        }
        let next = state.alarms.peek().map(|alarm| Time::from_ps(alarm.0.0));
        next.map_or(Next::NEVER, |time| Next { time, urgent: true })
    }
}
