//! Hosts that are on several networks, their rails: the costs of each, and the choice among them.
//!
//! A message takes the rail that the scheduler of its host chooses when the overhead of its send
//! begins. Interfaces belong to the networks here, which are busy with g and G: the CPU goes on
//! when its overhead is over, whatever the interface does.

use ::rails::{Message as Sent, Parameters, Parts, Policy, Scheduler, Stripes};
use kernel::{Event, Probe};
use network::{Network, Transfer, rails::in_parts};
use rustc_hash::FxHashMap;
use units::{HostId, MessageId, Time};

use crate::Record;
use crate::costs::{Costs, HostCosts};
use crate::engine::RankStep;
use crate::message::Message;
use crate::notices::{Notices, Open};
use crate::source::Source;

/// A rail of all hosts.
#[derive(Clone, Debug)]
pub struct Rail {
    /// The costs of its messages at the hosts, without g and G, which its network takes.
    pub costs: Costs,
    /// The parameters that schedulers know of it.
    pub parameters: Parameters,
    /// The times between which it takes no messages; [`Time::MAX`] as the second if it never does
    /// again. What it has taken before arrives.
    pub outage: Option<(Time, Time)>,
    /// The hosts that are on it, by their numbers; `None` if all are.
    pub hosts: Option<Vec<bool>>,
}

/// The rails of all hosts, and how these choose among them.
///
/// At any time there must be a rail that takes messages and that all hosts are on.
#[derive(Clone, Debug)]
pub struct Rails {
    /// The rails, at most [`::rails::MOST_RAILS`].
    pub rails: Vec<Rail>,
    /// The rule by which a host chooses.
    pub policy: Policy,
    /// The way in which large messages are split.
    pub stripes: Stripes,
    /// The size of the largest message that is not split.
    pub whole: u64,
    /// True if hosts notice that a rail has become slower.
    pub notices: bool,
}

/// A host's part in its rails.
#[derive(Debug)]
pub struct HostRails {
    scheduler: Scheduler,
    /// A counter of messages for each destination.
    turns: FxHashMap<HostId, u8>,
    /// Its notices of slower rails; `None` if it takes none.
    notices: Option<Box<Notices>>,
}

/// The ways of a message: its parts, each on a rail, and what they cost the sender's CPU.
pub struct Ways {
    parts: Parts,
    /// The costs of all parts, added up.
    pub costs: HostCosts,
    /// A message whose host notices when it leaves.
    open: Option<Open>,
}

/// Returns a time in the unit of schedulers, 1/1024 ns.
pub fn ticks(time: Time) -> u64 {
    u64::try_from(u128::from(time.ps()) * 1024 / 1000).unwrap_or(u64::MAX)
}

impl Rail {
    fn takes(&self, at: Time, hosts: [HostId; 2]) -> bool {
        let works = self.outage.is_none_or(|(from, until)| at < from || at >= until);
        let on = |all: &Vec<bool>| hosts.iter().all(|host| all.get(host.index()) == Some(&true));
        works && self.hosts.as_ref().is_none_or(on)
    }
}

impl Rails {
    /// The part of one host.
    pub fn of_host(&self) -> HostRails {
        let parameters: Vec<_> = self.rails.iter().map(|rail| rail.parameters).collect();
        let scheduler = Scheduler::new(&parameters, self.policy, self.stripes);
        let notices = self.notices.then(Box::default);
        HostRails { scheduler, turns: FxHashMap::default(), notices }
    }

    /// Chooses the ways of a message whose send begins at `at`.
    pub fn ways(&self, host: &mut HostRails, at: Time, transfer: Transfer) -> Ways {
        let Transfer { source, destination, bytes, .. } = transfer;
        let usable = (0..).zip(&self.rails).fold(0, |bits, (number, rail)| {
            bits | u8::from(rail.takes(at, [source, destination])) << number
        });
        let message = Sent { now: ticks(at), bytes, usable };
        host.learn(&self.rails, at);
        let turn = host.turns.entry(destination).or_default();
        let parts = if bytes > self.whole {
            host.scheduler.split(message, turn)
        } else {
            host.scheduler.take(message, turn)
        };
        let each =
            parts.iter().map(|part| self.costs(part.rail).of(part.bytes).sending(part.bytes));
        let overhead = each.fold(Time::ZERO, Time::saturating_add);
        let open = host.chosen(&self.rails, &parts, at);
        Ways { parts, costs: HostCosts { send_overhead: overhead, ..HostCosts::FREE }, open }
    }

    /// Returns the transfers of a message whose send begins at `at`: when each enters the network,
    /// and by which number it is known there.
    pub fn transfers(
        &self,
        ways: &Ways,
        at: Time,
        transfer: Transfer,
        id: MessageId,
    ) -> impl Iterator<Item = (Time, Transfer, MessageId)> {
        let id = in_parts(id, ways.parts.len() as u8);
        let mut begins = at;
        ways.parts.iter().map(move |part| {
            let costs = self.costs(part.rail);
            let own = costs.of(part.bytes);
            let entry = begins.saturating_add(costs.entry(own));
            begins = begins.saturating_add(own.sending(part.bytes));
            (entry, Transfer { bytes: part.bytes, rail: part.rail, ..transfer }, id)
        })
    }

    /// Returns the costs at the receiver of a message of so many bytes that has taken these rails:
    /// o for each part, and O for the bytes.
    pub fn receiving(&self, taken: u8, bytes: u64) -> HostCosts {
        let mut costs = HostCosts::FREE;
        for (_, rail) in (0..).zip(&self.rails).filter(|(number, _)| taken >> number & 1 == 1) {
            let own = rail.costs.of(bytes);
            costs.receive_overhead = costs.receive_overhead.saturating_add(own.receive_overhead);
            costs.receive_overhead_per_byte = own.receive_overhead_per_byte;
        }
        costs
    }

    fn costs(&self, rail: u8) -> &Costs {
        // Schedulers choose among the rails that there are.
        &self.rails[usize::from(rail)].costs
    }
}

impl HostRails {
    /// Learns from messages that have left by a time.
    fn learn(&mut self, rails: &[Rail], at: Time) {
        let Some(notices) = &mut self.notices else { return };
        notices.learn(rails, at);
        for (number, rail) in rails.iter().enumerate() {
            let finish = self.scheduler.finish(number as u8);
            self.scheduler.set(number as u8, finish, notices.rate(number, rail, at));
        }
    }

    /// Returns a message that takes one rail, if it is to be noticed when it leaves.
    fn chosen(&mut self, rails: &[Rail], parts: &Parts, at: Time) -> Option<Open> {
        let [part] = **parts else { return None };
        let finish = self.scheduler.finish(part.rail);
        Some(self.notices.as_mut()?.chosen(part.rail, &rails[usize::from(part.rail)], at, finish))
    }

    /// Keeps a message until it has left.
    pub fn sent(&mut self, id: (u8, u32), ways: &Ways) {
        if let (Some(notices), Some(open)) = (&mut self.notices, ways.open) {
            notices.sent(id, open);
        }
    }

    /// Notes that a message has left, or will have left at a time that lies ahead.
    pub fn left(&mut self, id: (u8, u32), at: Time) {
        if let Some(notices) = &mut self.notices {
            notices.left(id, at);
        }
    }
}

impl Ways {
    /// The rails that the message takes, with a bit for each.
    pub fn taken(&self) -> u8 {
        self.parts.iter().fold(0, |bits, part| bits | 1 << part.rail)
    }
}

/// The lowest of the rails that a message has taken.
pub const fn first(taken: u8) -> u8 {
    (taken.trailing_zeros() % 8) as u8
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> RankStep<'_, S, N, B> {
    /// Returns what a message costs here that another rank has sent over these rails.
    #[inline(always)]
    pub fn costs_of_arrival(&self, event: &Event<Message>, size: u64) -> HostCosts {
        match self.engine.rails() {
            Some(rails) if !self.is_neighbour(event.source) => {
                rails.receiving(event.message.nic, size)
            }
            _ => *self.costs(event.source, size),
        }
    }

    /// Chooses the ways of a message that leaves its host; `None` if there is but one network.
    #[inline(always)]
    pub fn ways(&mut self, destination: u32, bytes: u64, at: Time) -> Option<Ways> {
        let rails = self.engine.rails()?;
        if self.is_neighbour(destination) {
            return None;
        }
        let transfer = self.transfer(destination, bytes);
        let host = self.common.as_mut()?.rails.get_or_insert_with(|| Box::new(rails.of_host()));
        Some(rails.ways(host, at, transfer))
    }

    /// Returns what a message to a rank costs here that takes these ways.
    #[inline(always)]
    pub fn costs_by(&self, ways: Option<&Ways>, peer: u32, size: u64) -> HostCosts {
        ways.map_or_else(|| *self.costs(peer, size), |ways| ways.costs)
    }
}
