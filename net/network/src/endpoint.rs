//! Endpoints: the makers and takers of transfers at the hosts of a network.

use kernel::{Event, Outbox, Wire};
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Harness, Mail, Network, Nic, Nowhere, Record, Transfer, Windowed};

/// The maker and taker of transfers at the hosts of a network: the ranks of a program, a source of
/// synthetic traffic, a script of a test, or a guest machine.
///
/// One value serves all hosts of a run and is shared by all workers; what it keeps of a host is
/// [`Endpoint::Host`], what it keeps of a worker is [`Endpoint::Worker`].
///
/// **Who calls when.** The [`Harness`] calls, always from the worker that owns the host. At one
/// instant it hands over mail first ([`Endpoint::hear`], [`Endpoint::announced`]), then lets
/// transfers enter that were posted for this instant, then lets the interface act, and then asks
/// the endpoint to do what is due at this instant ([`Endpoint::work`]). Deliveries of the network
/// ([`Endpoint::delivered`]) come in between, as soon as they are known, which may be before their
/// time. On a direct network a whole window is one call of [`Endpoint::run_direct`].
///
/// **What may be assumed.** Calls for one host come in order of time. Everything that another host
/// or device causes at this host before the end of the window is in the mail.
///
/// **What is promised.** The endpoint sends mail that takes at least [`Endpoint::lookahead`],
/// except for payloads that are [`Wire::urgent`]; it posts transfers at the present time or later;
/// and what it does depends on its own state and on what it was told, never on the number of
/// workers.
pub trait Endpoint<N: Network>: Sync + Sized {
    /// The state of one host.
    type Host: Send;
    /// The message type that endpoints exchange beside the network, about the transfers in it.
    type Payload: Wire;
    /// The state of a worker.
    type Worker: Send;

    /// True if the receiver of a transfer has to know its payload. If not, payloads of transfers
    /// travel over direct networks only, and the number of a transfer says all that is needed.
    const ANNOUNCES: bool = true;
    /// True if records of the network are wanted.
    const LISTENS: bool = false;
    /// True if it is to be told when transfers have left their host ([`Endpoint::left`]), where the
    /// network tells ([`Network::TELLS_LEFT`]).
    const WANTS_LEFT: bool = false;
    /// True if the clocks of devices may go ahead of those of hosts ([`Network::lead`]): nobody
    /// records what devices do, and mail between hosts takes twice the network's lookahead or more.
    const LEADS: bool = false;

    /// The state of a host at the start.
    fn host(&self, host: HostId) -> Self::Host;

    /// Returns true if nothing happens at a host unless mail reaches it. The state and the
    /// interface of such a host are made only then.
    fn is_idle(&self, host: HostId) -> bool {
        let _ = host;
        false
    }

    /// The least time from an event at a host to any mail that it causes, urgent mail excepted.
    fn lookahead(&self, network: &N) -> Time {
        network.lookahead()
    }

    /// The least time that mail between endpoints takes, for an endpoint of which nothing is ever
    /// urgent: workers need not wait for each other at every window then. `None` if something may
    /// be urgent.
    fn mail_delay(&self, network: &N) -> Option<Time> {
        let _ = network;
        None
    }

    /// The amount of work at a host, compared with others: for shares of equal work.
    fn weight(&self, host: HostId) -> u32 {
        let _ = host;
        1
    }

    /// Returns true if workers must have the hosts in the order of their numbers: each host's
    /// number is above those of the hosts of all workers before its own.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Does everything that is due at a host before `until`, or up to an event for which the host
    /// has to wait. The first call is due at time zero.
    fn work(&self, state: &mut Self::Host, site: &mut Site<'_, N, Self>, until: Time) -> Worked;

    /// Takes mail of another endpoint at its time. On a direct network that is also how a transfer
    /// is delivered.
    fn hear(
        &self,
        state: &mut Self::Host,
        site: &mut Site<'_, N, Self>,
        event: &Event<Self::Payload>,
    );

    /// Names the transfer that another host announces: its source and its number there. It comes
    /// between the announcement's entry and the delivery of the transfer, at no particular time.
    fn announced(
        &self,
        state: &mut Self::Host,
        event: &Event<Self::Payload>,
    ) -> (HostId, MessageId) {
        let _ = state;
        (HostId(event.source), MessageId(event.sequence.into()))
    }

    /// Takes a transfer that the network delivers, now or later. Returns the time at which the
    /// endpoint has to work because of it, as a rule that of the delivery; [`Time::MAX`] if nothing
    /// is left to do.
    fn delivered(
        &self,
        state: &mut Self::Host,
        site: &mut Site<'_, N, Self>,
        delivery: Delivery<Self::Payload>,
    ) -> Time;

    /// Learns when a transfer of this host has left it, or will have left it at a time that may lie
    /// ahead. Called once for each transfer: before its delivery at the receiver is due, unless the
    /// network waits for answers ([`Network::waits_for_answers`]).
    fn left(&self, state: &mut Self::Host, site: &mut Site<'_, N, Self>, at: Time, id: MessageId) {
        let _ = (state, site, at, id);
    }

    /// Learns that the network has told the host's interface something.
    fn signalled(&self, state: &mut Self::Host) {
        let _ = state;
    }

    /// Handles a whole window at a host of a direct network. An endpoint that needs no loop over
    /// instants there may handle the mail at once.
    #[inline]
    fn run_direct(
        harness: &Harness<'_, N, Self>,
        state: &mut Self::Host,
        site: Site<'_, N, Self>,
        window: Windowed<'_, N, Self>,
    ) -> kernel::Next {
        harness.run_instants(state, site, window)
    }

    /// Returns true if the next thing that happens at a host may cause urgent mail.
    fn urgent(&self, state: &Self::Host) -> bool {
        let _ = state;
        false
    }

    /// Takes a record of the network; called only if the endpoint listens.
    fn record(worker: &mut Self::Worker, device: DeviceId, at: Time, record: Record<N::Detail>) {
        let _ = (worker, device, at, record);
    }

    /// Prefetches what the next window of a host will read; see [`kernel::Model::prefetch`].
    #[inline]
    fn prefetch(&self, host: HostId, state: &Self::Host, stage: usize) {
        let _ = (host, state, stage);
    }

    /// Adds the results of a host and its network adapter to those of the worker when the run is
    /// over; see [`kernel::Model::harvest`]. Hosts at which nothing ever happened are left out.
    fn harvest(
        &self,
        host: HostId,
        state: &mut Self::Host,
        nic: &mut Nic<N, Self::Payload>,
        worker: &mut Self::Worker,
    ) {
        let _ = (host, state, nic, worker);
    }

    /// Adds the results of a device behind the hosts to those of the worker when the run is over.
    fn harvest_device(&self, device: DeviceId, state: &mut N::Device, worker: &mut Self::Worker) {
        let _ = (device, state, worker);
    }

    /// Returns the end of the run, as far as a worker knows; see [`kernel::Model::end`].
    fn end(&self, worker: &Self::Worker) -> Time {
        let _ = worker;
        Time::MAX
    }

    /// Called by each worker after a window that ended at `until`, with the number of signals that
    /// the worker's interfaces and devices have heard so far: for progress reports.
    fn window_done(&self, worker: &mut Self::Worker, signals: u64, until: Time) {
        let _ = (worker, signals, until);
    }
}

/// The answer of an endpoint that has worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// The time at which it has something to do next if it hears nothing before, or an earlier one.
    pub next: Time,
    /// True if it has to wait, at `next`, until everything before that time has happened at all
    /// hosts. What has come for the host is kept until then.
    pub held: bool,
}

/// A transfer that the network delivers to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<P> {
    /// The time of its delivery, which may lie ahead.
    pub at: Time,
    /// The host that it comes from.
    pub source: HostId,
    /// Its number there.
    pub id: MessageId,
    /// The time at which it entered the network, and its payload, if that was announced.
    pub announced: Option<(Time, P)>,
}

/// A host while its endpoint works: what the endpoint can use there.
///
/// References that follow one another here are not those that follow one another where a value of
/// this type is made; otherwise they would be copied in pairs, and the processor would wait for the
/// stores of both.
pub struct Site<'t, N: Network, E: Endpoint<N>> {
    /// The state of the worker.
    pub worker: &'t mut E::Worker,
    /// The network.
    pub network: &'t N,
    /// The destination of mail.
    pub out: &'t mut Outbox<Mail<E::Payload, N::Signal>>,
    /// The host.
    pub host: HostId,
    /// Its network adapter.
    pub nic: &'t mut Nic<N, E::Payload>,
}

impl<N: Network, E: Endpoint<N>> Site<'_, N, E> {
    /// Lets a transfer enter the network at a time that may lie ahead. `event` identifies the mail
    /// that brings its payload to the receiver: the sender, and its number among that sender's
    /// mail.
    pub fn inject(
        &mut self,
        at: Time,
        (transfer, id): (Transfer, MessageId),
        event: (u32, u32),
        payload: E::Payload,
    ) {
        if N::DIRECT {
            let interface = &mut self.nic.interface;
            let answer = self.network.inject(interface, at, transfer, id, &mut Nowhere);
            let time = answer.unwrap_or(Time::MAX);
            return self.mail(time, transfer.destination, event, Mail::Host(payload));
        }
        self.nic.post(at, transfer, id);
        if !E::ANNOUNCES {
            return;
        }
        if transfer.source == transfer.destination {
            return self.nic.announce((transfer.source, id), at, payload);
        }
        let time = at.saturating_add(self.network.lookahead());
        self.mail(time, transfer.destination, event, Mail::Announcement(payload));
    }

    /// Sends mail to the endpoint of another host, beside the network.
    pub fn send(&mut self, time: Time, to: HostId, event: (u32, u32), payload: E::Payload) {
        self.mail(time, to, event, Mail::Host(payload));
    }

    fn mail(
        &mut self,
        time: Time,
        to: HostId,
        (source, sequence): (u32, u32),
        message: Mail<E::Payload, N::Signal>,
    ) {
        self.out.send(Event { time, source, sequence, destination: to.0, message });
    }
}
