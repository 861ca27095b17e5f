//! Hosts that inject what a list says, and may answer what they receive.
//!
//! The conformance suite, tests of models and measurements of their speed use it: a [`Script`] says
//! which transfers enter when, [`Script::play`] carries them over a network.

use std::{marker::PhantomData, mem};

use kernel::{Config, Error, Event, Probe, Random, Silent, TransportKind, Wire, execute};
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Delivery, Endpoint, Harness, Network, Nic, Record, Site, Transfer, Worked, Worker};

/// A transfer that has entered the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The time at which it entered.
    pub at: Time,
    /// The transfer.
    pub transfer: Transfer,
    /// Its number among those of its source.
    pub sequence: u32,
    /// True if it answers another, and is not in the script itself.
    pub answers: bool,
}

/// The transfers that a host injected and those that were delivered to it, both in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The transfers that it injected.
    pub injected: Vec<Injection>,
    /// The transfers that were delivered to it, and when; those of one instant by source and
    /// number.
    pub delivered: Vec<(Time, Injection)>,
    /// The times at which its transfers left it, with their numbers, if the network tells.
    pub left: Vec<(Time, u32)>,
}

/// Makes answers to a delivered transfer, the last one of the log. They enter at the instant of the
/// delivery.
pub type Reaction<'a> = &'a (dyn Fn(HostId, &Log) -> Vec<Transfer> + Sync);

/// A list of transfers and the times at which they enter.
#[derive(Clone)]
pub struct Script<'a> {
    lists: Vec<Vec<(Time, Transfer)>>,
    reaction: Option<Reaction<'a>>,
}

/// A played script.
pub struct Played<N: Network> {
    /// The logs of the hosts, by number.
    pub logs: Vec<Log>,
    /// The interfaces of the hosts as they are left.
    pub interfaces: Vec<N::Interface>,
    /// The devices as they are left.
    pub devices: Vec<N::Device>,
    /// Signals that interfaces and devices heard.
    pub signals: u64,
}

impl<N: Network> Played<N> {
    /// All deliveries, in order of time, host, source and number.
    pub fn deliveries(&self) -> Vec<(Time, Injection)> {
        let mut all: Vec<_> = self.logs.iter().flat_map(|log| log.delivered.clone()).collect();
        all.sort_by_key(|(at, injection)| {
            let Transfer { source, destination, .. } = injection.transfer;
            (*at, destination, source, injection.sequence)
        });
        all
    }
}

/// Answers a transfer of the script by one of equal size to its source.
fn answer(host: HostId, log: &Log) -> Vec<Transfer> {
    match log.delivered.last() {
        Some((_, Injection { transfer, answers: false, .. })) => {
            vec![Transfer { source: host, destination: transfer.source, ..*transfer }]
        }
        _ => Vec::new(),
    }
}

impl<'a> Script<'a> {
    /// Twenty transfers per host, many at equal times, every fourth of them to host 0. All are
    /// answered.
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
                let transfer = Transfer::new(HostId(source), HostId(destination), bytes);
                list.push((Time::from_ps(at), transfer));
            }
            list
        };
        Self { lists: (0..hosts).map(list).collect(), reaction: Some(&answer) }
    }

    /// These transfers and no others. Those of one host and time enter in the order of the list.
    ///
    /// # Panics
    ///
    /// If a source is not a host.
    pub fn of(hosts: u32, transfers: &[(Time, Transfer)]) -> Self {
        let mut lists: Vec<Vec<(Time, Transfer)>> = vec![Vec::new(); hosts as usize];
        for &(at, transfer) in transfers {
            lists[transfer.source.index()].push((at, transfer));
        }
        for list in &mut lists {
            list.sort_by_key(|(at, _)| *at);
        }
        Self { lists, reaction: None }
    }

    /// Adds answers to the deliveries of the script.
    #[must_use]
    pub fn answered(self, reaction: Reaction<'a>) -> Self {
        Self { reaction: Some(reaction), ..self }
    }

    /// Plays the script with this many workers.
    ///
    /// # Errors
    ///
    /// A time is past the range.
    pub fn play<N: Network>(
        &self,
        network: &N,
        workers: usize,
        transport: TransportKind,
    ) -> Result<Played<N>, Error> {
        Ok(self.watch(network, Config { workers, transport }, || Silent)?.0)
    }

    /// Plays the script and records what the network tells; `probe` makes the probe of each worker.
    ///
    /// # Errors
    ///
    /// A time is past the range.
    pub fn watch<N: Network, B: Probe<(Time, DeviceId, Record<N::Detail>)>>(
        &self,
        network: &N,
        config: Config,
        probe: impl Fn() -> B,
    ) -> Result<(Played<N>, Vec<B>), Error> {
        let hosts = self.lists.len() as u32;
        let endpoint = Actor { script: self, network, probe: PhantomData::<fn() -> B> };
        let harness = Harness { network, endpoint, hosts };
        let count = hosts + network.devices();
        let worker =
            || Worker::new(Stage { probe: probe(), hosts: Vec::new(), devices: Vec::new() });
        let (mut signals, mut probes) = (0, Vec::new());
        let (mut hosts, mut devices) = (Vec::new(), Vec::new());
        for worker in execute(&harness, count, config, worker)?.workers {
            signals += worker.signals;
            probes.push(worker.own.probe);
            hosts.extend(worker.own.hosts);
            devices.extend(worker.own.devices);
        }
        hosts.sort_by_key(|(host, ..)| *host);
        devices.sort_by_key(|(device, _)| *device);
        let (logs, interfaces) = hosts.into_iter().map(|(_, log, left)| (log, left)).unzip();
        let devices = devices.into_iter().map(|(_, device)| device).collect();
        Ok((Played { logs, interfaces, devices, signals }, probes))
    }
}

/// Plays a script at all hosts.
struct Actor<'s, 'a, N, B> {
    script: &'s Script<'a>,
    network: &'s N,
    probe: PhantomData<fn() -> B>,
}

/// The state of a worker: its probe, and the hosts and devices of a run that is over.
struct Stage<N: Network, B> {
    probe: B,
    hosts: Vec<(HostId, Log, N::Interface)>,
    devices: Vec<(DeviceId, N::Device)>,
}

/// The part of one host.
#[derive(Default)]
struct Part {
    /// The number of transfers of the script that it has posted.
    posted: usize,
    /// Transfers that are delivered at a time that has not come yet.
    arriving: Vec<(Time, Injection)>,
    log: Log,
}

/// The payload that is announced about a transfer; its number travels with it.
#[derive(Clone, Copy)]
struct Announced {
    at: Time,
    transfer: Transfer,
    answers: bool,
}

impl Wire for Announced {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Transfer { source, destination, bytes: size, class, rail } = self.transfer;
        bytes.extend_from_slice(&self.at.ps().to_le_bytes());
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.extend_from_slice(&source.0.to_le_bytes());
        bytes.extend_from_slice(&destination.0.to_le_bytes());
        bytes.extend_from_slice(&[class, rail, u8::from(self.answers)]);
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (at, rest) = bytes.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (source, rest) = rest.split_first_chunk()?;
        let (destination, rest) = rest.split_first_chunk()?;
        let (&[class, rail, answers], rest) = rest.split_first_chunk()?;
        *bytes = rest;
        let [source, destination] =
            [source, destination].map(|number| HostId(u32::from_le_bytes(*number)));
        let bytes = u64::from_le_bytes(*size);
        Some(Self {
            at: Time::from_ps(u64::from_le_bytes(*at)),
            transfer: Transfer { source, destination, bytes, class, rail },
            answers: answers != 0,
        })
    }
}

impl Announced {
    fn injection(self, sequence: u32) -> Injection {
        let Self { at, transfer, answers } = self;
        Injection { at, transfer, sequence, answers }
    }
}

impl Part {
    /// Posts a transfer that enters at a time.
    fn inject<N: Network, E: Endpoint<N, Payload = Announced>>(
        &mut self,
        at: Time,
        transfer: Transfer,
        answers: bool,
        site: &mut Site<'_, N, E>,
    ) {
        let sequence = self.log.injected.len() as u32;
        self.log.injected.push(Injection { at, transfer, sequence, answers });
        let id = MessageId(sequence.into());
        let payload = Announced { at, transfer, answers };
        site.inject(at, (transfer, id), (transfer.source.0, sequence), payload);
    }
}

impl<N: Network, B: Probe<(Time, DeviceId, Record<N::Detail>)>> Endpoint<N>
    for Actor<'_, '_, N, B>
{
    type Host = Part;
    type Payload = Announced;
    type Worker = Stage<N, B>;

    const LISTENS: bool = B::LISTENS;
    const WANTS_LEFT: bool = true;

    fn host(&self, _: HostId) -> Part {
        Part::default()
    }

    /// Before `until`, takes what arrives in the order of time, source and number, and answers it.
    /// Transfers of the script are posted in advance where the network lets them wait for their
    /// time, so that they enter before the interface acts at that time.
    fn work(&self, part: &mut Part, site: &mut Site<'_, N, Self>, until: Time) -> Worked {
        let list = &self.script.lists[site.host.index()];
        loop {
            let arrival = part.arriving.iter().map(|(at, _)| *at).min().unwrap_or(Time::MAX);
            let limit = if N::DIRECT { arrival.min(until) } else { Time::MAX };
            while let Some(&(at, transfer)) =
                list.get(part.posted).filter(|(at, _)| *at < limit || !N::DIRECT)
            {
                part.posted += 1;
                part.inject(at, transfer, false, site);
            }
            if arrival >= until {
                let listed = list.get(part.posted).map_or(Time::MAX, |(at, _)| *at);
                return Worked { next: arrival.min(listed), held: false };
            }
            let order = |(at, injection): &(Time, Injection)| {
                (*at, injection.transfer.source, injection.sequence)
            };
            let first = (0..part.arriving.len()).min_by_key(|&index| order(&part.arriving[index]));
            let Some(first) = first else { continue };
            let arrived = part.arriving.swap_remove(first);
            part.log.delivered.push(arrived);
            let answers = self.script.reaction.map(|reaction| reaction(site.host, &part.log));
            for transfer in answers.into_iter().flatten() {
                part.inject(arrived.0, transfer, true, site);
            }
        }
    }

    fn hear(&self, part: &mut Part, _: &mut Site<'_, N, Self>, event: &Event<Announced>) {
        part.arriving.push((event.time, event.message.injection(event.sequence)));
    }

    fn delivered(
        &self,
        part: &mut Part,
        site: &mut Site<'_, N, Self>,
        delivery: Delivery<Announced>,
    ) -> Time {
        let Delivery { at, source, id, announced } = delivery;
        let Some((_, announced)) = announced else {
            panic!("transfer {id} of host {source} is delivered to {} but not for it", site.host);
        };
        part.arriving.push((at, announced.injection(id.0 as u32)));
        at
    }

    fn left(&self, part: &mut Part, _: &mut Site<'_, N, Self>, at: Time, id: MessageId) {
        part.log.left.push((at, id.0 as u32));
    }

    fn record(stage: &mut Stage<N, B>, device: DeviceId, at: Time, record: Record<N::Detail>) {
        stage.probe.record((at, device, record));
    }

    fn harvest(
        &self,
        host: HostId,
        part: &mut Part,
        nic: &mut Nic<N, Announced>,
        stage: &mut Stage<N, B>,
    ) {
        let mut log = mem::take(&mut part.log);
        log.left.sort_unstable();
        // A fresh one takes its place.
        let left = mem::replace(&mut nic.interface, self.network.interface(host));
        stage.hosts.push((host, log, left));
    }

    fn harvest_device(&self, device: DeviceId, state: &mut N::Device, stage: &mut Stage<N, B>) {
        let left = mem::replace(state, self.network.device(device));
        stage.devices.push((device, left));
    }
}
