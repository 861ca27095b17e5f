//! A host's network adapter: its interface, and what waits there for its time.

use std::collections::VecDeque;

use kernel::{Event, Wire};
use rustc_hash::FxHashMap;
use units::{HostId, MessageId, Time};

use crate::{Mail, Network, Transfer};

/// The network adapter of a host.
///
/// On a direct network it is the interface alone. On others, transfers wait here until they enter
/// the network, and what the senders announce about transfers waits until the network delivers
/// these.
pub struct Nic<N: Network, P> {
    /// The host's half of the network.
    pub interface: N::Interface,
    pub(crate) queues: Option<Box<NicQueues<N, P>>>,
}

/// The queues of a network adapter, on a network that is not direct.
pub(crate) struct NicQueues<N: Network, P> {
    /// Transfers that are to enter, in order of time.
    posted: VecDeque<Posted>,
    /// The time at which each announced transfer enters, and its payload.
    announced: FxHashMap<(HostId, MessageId), (Time, P)>,
    /// Signals that the interface has sent.
    pub signals: u32,
    /// The time at which the endpoint has something to do next, or earlier.
    pub due: Time,
    /// Mail behind an event for which the endpoint has to wait, in order of time.
    pub held: Vec<Event<Mail<P, N::Signal>>>,
}

#[derive(Clone, Copy, Debug)]
struct Posted {
    at: Time,
    transfer: Transfer,
    id: MessageId,
}

/// The kind of event that comes first at a network adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A transfer enters.
    Injection,
    /// The interface acts of its own accord.
    Interface,
}

/// Inserts an item behind all those that are not later. In most cases, that is the end.
#[inline]
pub fn insert_by_time<T>(queue: &mut VecDeque<T>, item: T, time: impl Fn(&T) -> Time) {
    let at = time(&item);
    if queue.back().is_none_or(|last| time(last) <= at) {
        return queue.push_back(item);
    }
    let place = queue.partition_point(|other| time(other) <= at);
    queue.insert(place, item);
}

impl<N: Network, P: Wire> Nic<N, P> {
    pub(crate) fn new(network: &N, host: HostId) -> Self {
        let queues = || NicQueues {
            posted: VecDeque::new(),
            announced: FxHashMap::default(),
            signals: 0,
            due: Time::ZERO,
            held: Vec::new(),
        };
        let queues = (!N::DIRECT).then(|| Box::new(queues()));
        Self { interface: network.interface(host), queues }
    }

    /// Prefetches what the next window of the host will read.
    #[inline]
    pub(crate) fn prefetch(&self, network: &N) {
        if let Some(queues) = &self.queues {
            kernel::prefetch(&**queues);
            network.prefetch_interface(&self.interface);
        }
    }

    /// Keeps a transfer that is to enter a network that is not direct, now or later. Transfers of
    /// one time enter in the order in which they are posted.
    #[inline]
    pub fn post(&mut self, at: Time, transfer: Transfer, id: MessageId) {
        if let Some(queues) = &mut self.queues {
            insert_by_time(&mut queues.posted, Posted { at, transfer, id }, |posted| posted.at);
        }
    }

    /// Returns the time at which a posted transfer enters or the interface acts of its own accord,
    /// whichever comes first; at equal times, the transfer.
    #[inline]
    pub(crate) fn next(&self, network: &N) -> (Time, Due) {
        let Some(queues) = &self.queues else { return (Time::MAX, Due::Interface) };
        let own = network.next(&self.interface);
        match queues.posted.front() {
            Some(first) if first.at <= own => (first.at, Due::Injection),
            _ => (own, Due::Interface),
        }
    }

    /// Takes out the first posted transfer.
    #[inline]
    pub(crate) fn take_posted(&mut self) -> Option<(Transfer, MessageId)> {
        let posted = self.queues.as_mut()?.posted.pop_front()?;
        Some((posted.transfer, posted.id))
    }

    /// Keeps what is announced about a transfer that enters, or has entered, at a time.
    pub(crate) fn announce(&mut self, key: (HostId, MessageId), entry: Time, payload: P) {
        if let Some(queues) = &mut self.queues {
            queues.announced.insert(key, (entry, payload));
        }
    }

    /// Takes out what was announced about a transfer: when it entered, and the rest.
    #[inline]
    pub(crate) fn announced(&mut self, key: (HostId, MessageId)) -> Option<(Time, P)> {
        self.queues.as_mut()?.announced.remove(&key)
    }

    /// The time at which the endpoint has something to do next, or earlier.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.queues.as_ref().map_or(Time::ZERO, |queues| queues.due)
    }

    #[inline]
    pub(crate) fn set_due(&mut self, due: Time) {
        if let Some(queues) = &mut self.queues {
            queues.due = due;
        }
    }
}
