//! The engine as what sits at the hosts of a network: each host hears of its mail and deliveries,
//! and works on its ranks.

use kernel::{Event, Next, Probe};
use network::{Delivery, Endpoint, Harness, Network, Nic, Site, Windowed, Worked};
use units::{DeviceId, HostId, MessageId, Time};

use crate::engine::{Engine, RankStep, Ranks, WorkerState};
use crate::message::Message;
use crate::nic::{Alone, Common, announced, arrival, of_number};
use crate::rank::{Rank, Waiting};
use crate::shared::{Host, HostStep};
use crate::source::Source;
use crate::{Record, Rendezvous};

/// Ties the engine to the type of its probe.
pub struct Watched<'a, S, N, B> {
    pub engine: Engine<'a, S, N>,
    pub probe: std::marker::PhantomData<fn() -> B>,
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> Endpoint<N> for Watched<'_, S, N, B> {
    type Host = Ranks<S>;
    type Payload = Message;
    type Worker = WorkerState<B>;

    const LISTENS: bool = B::LISTENS;
    const WANTS_LEFT: bool = N::TELLS_LEFT;

    #[inline(always)]
    fn host(&self, host: HostId) -> Ranks<S> {
        let engine = &self.engine;
        match engine.ranks_of(host) {
            None if N::DIRECT => Ranks::Direct(engine.new_rank(host.0)),
            None => Ranks::Alone(Box::new(Alone::new(engine, host.0))),
            Some(&[rank]) => Ranks::Alone(Box::new(Alone::new(engine, rank))),
            Some(ranks) => Ranks::Several(Box::new(Host::new(engine, ranks))),
        }
    }

    fn is_idle(&self, host: HostId) -> bool {
        self.engine.ranks_of(host).is_some_and(<[u32]>::is_empty)
    }

    fn weight(&self, host: HostId) -> u32 {
        let own = self.engine.ranks_of(host).unwrap_or(std::slice::from_ref(&host.0));
        own.iter().map(|rank| self.engine.source.weight(*rank)).max().unwrap_or(1)
    }

    fn keeps_order(&self) -> bool {
        self.engine.source.keeps_order()
    }

    /// The network's; and where messages alone travel, the overhead before one enters.
    fn lookahead(&self, network: &N) -> Time {
        if !N::DIRECT {
            return network.lookahead();
        }
        network.lookahead().saturating_add(self.engine.least_entry())
    }

    /// Static programs have one over networks with devices, unless the abstract rendezvous makes
    /// messages urgent. Live ranks have none: windows order what they share.
    fn mail_delay(&self, network: &N) -> Option<Time> {
        let Engine { source, settings, .. } = &self.engine;
        let urgent = settings.rendezvous == Rendezvous::Abstract || source.keeps_order();
        // Announcements pass between any two hosts.
        (!N::DIRECT && !urgent).then(|| network.lookahead())
    }

    #[inline]
    fn run_direct(
        harness: &Harness<'_, N, Self>,
        state: &mut Ranks<S>,
        site: Site<'_, N, Self>,
        window: Windowed<'_, N, Self>,
    ) -> Next {
        let Ranks::Direct(rank) = state else { return Next::NEVER };
        let engine = &harness.endpoint.engine;
        let Site { worker, out, host, nic, .. } = site;
        let (id, common, queues) = (host.0, None, None);
        let step = RankStep { engine, id, rank, nic, common, queues, worker, out };
        step.run(window.until, window.inbox)
    }

    fn work(&self, state: &mut Ranks<S>, site: &mut Site<'_, N, Self>, until: Time) -> Worked {
        let engine = &self.engine;
        let (next, common) = match state {
            // Such a rank runs by itself.
            Ranks::Direct(_) => return Worked { next: Time::MAX, held: false },
            Ranks::Alone(alone) => (alone.work(engine, site, until), &mut alone.common),
            Ranks::Several(host) => {
                let Site { worker, nic, out, .. } = site;
                let next = HostStep { engine, host, worker, nic, out }.work(until);
                (next, &mut host.common)
            }
        };
        Worked { next, held: std::mem::take(&mut common.held) }
    }

    /// A release.
    fn hear(&self, state: &mut Ranks<S>, site: &mut Site<'_, N, Self>, event: &Event<Message>) {
        match state {
            Ranks::Direct(_) => {}
            Ranks::Alone(alone) => alone.arrives(*event),
            Ranks::Several(host) => {
                let Site { worker, nic, out, .. } = site;
                HostStep { engine: &self.engine, host, worker, nic, out }.arrives(event);
            }
        }
    }

    fn announced(&self, state: &mut Ranks<S>, event: &Event<Message>) -> (HostId, MessageId) {
        let mut none = Common::default();
        let common = match state {
            Ranks::Direct(_) => &mut none,
            Ranks::Alone(alone) => &mut alone.common,
            Ranks::Several(host) => &mut host.common,
        };
        announced(&self.engine, common, event)
    }

    fn delivered(
        &self,
        state: &mut Ranks<S>,
        site: &mut Site<'_, N, Self>,
        delivery: Delivery<Message>,
    ) -> Time {
        let at = delivery.at;
        if let Some(event) = arrival(&self.engine, site.host, delivery) {
            self.hear(state, site, &event);
        }
        at
    }

    fn left(&self, state: &mut Ranks<S>, site: &mut Site<'_, N, Self>, at: Time, id: MessageId) {
        let (slot, sequence) = of_number(id);
        if self.engine.rails().is_some_and(|rails| rails.notices) {
            match state {
                Ranks::Direct(_) => {}
                Ranks::Alone(alone) => alone.common.left((slot, sequence), at),
                Ranks::Several(host) => host.common.left((slot, sequence), at),
            }
        }
        if self.engine.buffered == u64::MAX {
            return;
        }
        let release = match state {
            Ranks::Direct(_) => None,
            Ranks::Alone(alone) => alone.rank.left(alone.id, (0, sequence), at),
            Ranks::Several(host) => host.left((slot, sequence), at),
        };
        if let Some(release) = release {
            self.hear(state, site, &release);
        }
    }

    fn urgent(&self, state: &Ranks<S>) -> bool {
        match state {
            Ranks::Direct(rank) => rank.urgent(),
            Ranks::Alone(alone) => alone.common.urgent > 0,
            Ranks::Several(host) => host.common.urgent > 0,
        }
    }

    fn record(
        worker: &mut WorkerState<B>,
        device: DeviceId,
        at: Time,
        record: network::Record<N::Detail>,
    ) {
        worker.probe.record(Record::Network { device: device.0, at, record });
    }

    /// With devices, most windows are the network's: there it costs more than it brings.
    #[inline]
    fn prefetch(&self, host: HostId, state: &Ranks<S>, stage: usize) {
        let Ranks::Direct(rank) = state else { return };
        self.engine.source.prefetch(&rank.source, host.0, stage);
        match &rank.waiting {
            // A program that is known in advance keeps so little for a rank that this would cost
            // more than it brings.
            Waiting::One(only) if stage == 0 && self.engine.source.grows() => {
                kernel::prefetch(&**only);
            }
            Waiting::Nothing | Waiting::One(_) => {}
            Waiting::Many(queues) => queues.prefetch(stage),
        }
        if let Some(matching) = &rank.matching {
            if stage == 0 {
                kernel::prefetch(&**matching);
            } else {
                matching.posted.prefetch(kernel::prefetch);
            }
        }
    }

    fn harvest(
        &self,
        host: HostId,
        state: &mut Ranks<S>,
        _: &mut Nic<N, Message>,
        worker: &mut WorkerState<B>,
    ) {
        let Engine { source, ranks, .. } = &self.engine;
        let mut add = |id, rank: &Rank<S::State>| worker.harvest.add(source, id, rank, *ranks);
        match state {
            Ranks::Direct(rank) => add(host.0, rank),
            Ranks::Alone(alone) => add(alone.id, &alone.rank),
            Ranks::Several(host) => host.ranks().for_each(|(id, rank)| add(id, rank)),
        }
    }

    /// An error ends the run at once.
    fn end(&self, worker: &WorkerState<B>) -> Time {
        if worker.error.is_some() { Time::ZERO } else { Time::MAX }
    }

    fn window_done(&self, worker: &mut WorkerState<B>, signals: u64, until: Time) {
        if let Some(progress) = &self.engine.settings.progress {
            let (events, known) = worker.reported;
            progress.advance(worker.events - events, signals - known, until);
            worker.reported = (worker.events, signals);
            if let (None, Err(stopped)) = (&worker.error, progress.goes_on()) {
                worker.error = Some((until, 0, stopped));
            }
        }
    }
}
