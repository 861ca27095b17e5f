//! Hosts that inject what a script says, and answer what they receive.

use kernel::{Config, Event, Model, Next, Outbox, Random, Transport, Wire, execute};
use topology::Complete;
use units::Time;

use crate::{Network, Parcel};

/// A message of the script or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    pub at: Time,
    pub parcel: Parcel,
    /// Its number among those of its source.
    pub sequence: u32,
}

/// What a host injected, and what reached it when.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub injected: Vec<Injection>,
    pub delivered: Vec<(Time, Injection)>,
}

/// What each host injects of itself, in order of time.
pub struct Script(Vec<Vec<(Time, Parcel)>>);

impl Script {
    /// Twenty messages per host, many at the same time, every fourth one to host 0.
    pub fn random(hosts: u32, seed: u64) -> Self {
        let random = Random::new(seed, 0);
        let list = |source| {
            let mut at = 0;
            let mut list = Vec::new();
            for number in 0..20u64 {
                let draw = |index, bound| random.below(source, 4 * number + index, bound);
                // In ps: nothing most of the time, else up to 2 us in steps of 0.1 us.
                at += if draw(0, 3) == 0 { draw(1, 20) * 100_000 } else { 0 };
                let any = draw(2, u64::from(hosts)) as u32;
                let destination = if number % 4 == 0 { 0 } else { any };
                let bytes = draw(3, 1 << (number % 20));
                list.push((Time::from_ps(at), Parcel { source, destination, bytes }));
            }
            list
        };
        Self((0..hosts).map(list).collect())
    }

    /// What happens, by host.
    pub fn play<N: Network>(&self, network: &N, workers: usize, transport: Transport) -> Vec<Log> {
        let driver = Driver { network, script: self };
        let config = Config { workers, transport };
        let finished = execute(&driver, self.0.len() as u32, config, || ());
        let Ok(finished) = finished else { panic!("a delivery past the range of time") };
        finished.parts.into_iter().flatten().map(|host| host.log).collect()
    }
}

struct Driver<'a, N> {
    network: &'a N,
    script: &'a Script,
}

struct Host<I> {
    interface: I,
    /// How much of the script is done.
    done: usize,
    log: Log,
}

/// A message on its way; its source and destination travel with it.
#[derive(Clone, Copy)]
struct Traveller {
    at: Time,
    bytes: u64,
    /// Whether it is answered.
    asks: bool,
}

impl Wire for Traveller {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.at.ps().to_le_bytes());
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.push(u8::from(self.asks));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (at, rest) = bytes.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (&[asks], rest) = rest.split_first_chunk()?;
        *bytes = rest;
        let at = Time::from_ps(u64::from_le_bytes(*at));
        Some(Self { at, bytes: u64::from_le_bytes(*size), asks: asks != 0 })
    }
}

impl<N: Network> Driver<'_, N> {
    fn inject(
        &self,
        host: &mut Host<N::Interface>,
        at: Time,
        parcel: Parcel,
        asks: bool,
        out: &mut Outbox<Traveller>,
    ) {
        let sequence = host.log.injected.len() as u32;
        host.log.injected.push(Injection { at, parcel, sequence });
        let time = self.network.inject(&mut host.interface, at, parcel);
        let Parcel { source, destination, bytes } = parcel;
        let message = Traveller { at, bytes, asks };
        out.send(Event { time, source, sequence, destination, message });
    }
}

impl<N: Network> Model for Driver<'_, N> {
    type Process = Host<N::Interface>;
    type Message = Traveller;
    type Worker = ();

    fn process(&self, id: u32) -> Self::Process {
        let topology = Complete::new(self.script.0.len() as u32);
        let interface = self.network.interface(topology, id);
        Host { interface, done: 0, log: Log::default() }
    }

    fn lookahead(&self) -> Time {
        self.network.lookahead()
    }

    fn run(
        &self,
        id: u32,
        host: &mut Self::Process,
        until: Time,
        inbox: &[Event<Traveller>],
        (): &mut (),
        out: &mut Outbox<Traveller>,
    ) -> Next {
        let script = &self.script.0[id as usize];
        let mut inbox = inbox.iter().peekable();
        loop {
            let own = script.get(host.done).filter(|(at, _)| *at < until);
            let mail = inbox.next_if(|event| own.is_none_or(|(at, _)| event.time < *at));
            if let Some(event) = mail {
                let Traveller { at, bytes, asks } = event.message;
                let parcel = Parcel { source: event.source, destination: id, bytes };
                let injection = Injection { at, parcel, sequence: event.sequence };
                host.log.delivered.push((event.time, injection));
                if asks {
                    let parcel = Parcel { source: id, destination: event.source, bytes };
                    self.inject(host, event.time, parcel, false, out);
                }
            } else if let Some(&(at, parcel)) = own {
                host.done += 1;
                self.inject(host, at, parcel, true, out);
            } else {
                break;
            }
        }
        let next = script.get(host.done).map_or(Time::MAX, |(at, _)| *at);
        Next { time: next, urgent: false }
    }
}
