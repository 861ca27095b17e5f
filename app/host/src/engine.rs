//! The rules of LogGOPS at the hosts of a network.
//!
//! Every rank is a process, or every host that has several ([`crate::shared`]). Within a window a
//! rank works off what happens to it in the order of [`crate::queues::Order`]; whatever needs a CPU
//! or an interface starts when that is free.
//!
//! Single eager message of s bytes between idle hosts: the sender's CPU is free at o + (s-1)O, the
//! receive ends at o + L + o + max((s-1)O, (s-1)G). Seed 000 section 3.1 computes one case by hand.

use kernel::{Event, Next, Outbox, Probe, Wire};
use loggops::Receive;
use network::{Letter, Mail, Network, Nic, opened};
use schedule::{Edge, Kind as Operation, Op, Run};
use units::{HostId, Time};

use crate::clocks::{Class, Clocks, Shape};
use crate::costs::{ClassCosts, Costs};
use crate::endpoint::Watched;
use crate::fast_path::Charges;
use crate::harvest::Harvest;
use crate::message::{Kind, Message};
use crate::nic::{Alone, Common};
use crate::path::Stamp;
use crate::places::{Location, Places};
use crate::queues::{Arrived, Entry, Only, Priority, Queues, Task, Work};
use crate::rails::Rails;
use crate::rank::{Rank, Waiting};
use crate::shared::Host;
use crate::source::{START, Source, Starts};
use crate::{Error, Record, Settings};

/// The ranks of a program at the hosts of a network: what all of them share.
pub struct Engine<'a, S, N> {
    pub source: S,
    pub network: &'a N,
    pub settings: &'a Settings,
    /// The costs of messages over the network at the hosts.
    pub costs: Costs,
    /// Those of pairs of hosts that belong to a class; on a direct network only.
    pub classes: Option<ClassCosts>,
    pub ranks: u32,
    /// The size up to which a send is done at the end of its overhead ([`crate::SendDone`]).
    pub buffered: u64,
    /// The size up to which a send is eager and done at the end of its overhead.
    pub plain_limit: u64,
    /// Number of hosts.
    pub hosts: u32,
    /// The locations of ranks; `None` if rank r is alone on host r, as always on a direct network.
    pub places: Option<Places>,
    pub shape: Shape,
    /// True if messages may be received on the fast path ([`crate::fast_path`]): each rank has one
    /// CPU and one interface, without noise, nobody watches, and the CPU receives.
    pub straight: bool,
    /// True if they may be sent on it, too: starts, and ends of sends, need not be told.
    pub plain: bool,
}

/// The state of a worker.
pub struct WorkerState<B> {
    pub probe: B,
    /// Spare queues, for ranks that have none of their own.
    #[expect(clippy::vec_box, reason = "ranks keep them in boxes")]
    spare_queues: Vec<Box<Queues>>,
    /// Spare boxes for the only thing that waits at a rank.
    #[expect(clippy::vec_box, reason = "ranks keep them in boxes")]
    spare_boxes: Vec<Box<Only>>,
    /// A buffer for receives that are posted at the start.
    receives: Vec<u32>,
    /// Messages on their way to the ranks of a host.
    pub arrived: Vec<Event<Message>>,
    /// The charges of the message size that was seen last.
    pub charges: Option<Charges>,
    /// Number of operations and messages.
    pub events: u64,
    /// True if a rank has waited for its turn ([`crate::Probing::is_exclusive`]).
    pub turns: bool,
    /// The numbers of these and of the network's signals that the meter knows.
    pub reported: (u64, u64),
    /// The first error, by time and rank.
    pub error: Option<(Time, u32, Error)>,
    /// The results of its ranks, when the run is over.
    pub harvest: Harvest,
}

impl<B> WorkerState<B> {
    pub fn new(probe: B) -> Self {
        Self {
            probe,
            spare_queues: Vec::new(),
            spare_boxes: Vec::new(),
            receives: Vec::new(),
            arrived: Vec::new(),
            charges: None,
            events: 0,
            turns: false,
            reported: (0, 0),
            error: None,
            harvest: Harvest::default(),
        }
    }
}

/// The most spare queues and boxes that are kept: a rank may need one from each window to the next.
const SPARE_QUEUES: usize = 1024;
const SPARE_BOXES: usize = 1 << 16;

/// A step of a rank: the rank at work in one window.
pub struct RankStep<'t, S: Source, N: Network, B> {
    pub engine: &'t Engine<'t, S, N>,
    pub id: u32,
    pub rank: &'t mut Rank<S::State>,
    pub nic: &'t mut Nic<N, Message>,
    /// The state that it shares with other ranks of its host, on a network that is not direct.
    pub common: Option<&'t mut Common>,
    /// The queues of what waits; `None` if nothing does.
    pub queues: Option<Box<Queues>>,
    pub worker: &'t mut WorkerState<B>,
    pub out: &'t mut Outbox<Mail<Message, N::Signal>>,
}

/// The ranks of a host.
pub enum Ranks<S: Source> {
    /// The only rank, over a direct network.
    Direct(Rank<S::State>),
    /// The only rank, over another network.
    Alone(Box<Alone<S>>),
    /// Several ranks.
    Several(Box<Host<S>>),
}

impl<S: Source, N: Network> Engine<'_, S, N> {
    /// Returns the location of a rank.
    #[inline]
    pub fn place(&self, rank: u32) -> Location {
        self.places.as_ref().map_or(Location::alone(rank), |places| places.place(rank))
    }

    /// Returns the rails of the hosts, if they are on several networks.
    #[inline(always)]
    pub fn rails(&self) -> Option<&Rails> {
        if N::DIRECT { None } else { self.settings.rails.as_deref() }
    }

    /// Returns the least time from the start of any send until its message enters the network.
    pub fn least_entry(&self) -> Time {
        let least = self.costs.least_entry();
        let of_classes = self.classes.iter().flat_map(ClassCosts::all);
        of_classes.fold(least, |least, costs| least.min(self.costs.entry(costs)))
    }

    /// Returns the rank in a slot of a host.
    #[inline]
    pub fn rank(&self, host: u32, slot: u8) -> u32 {
        let Some(places) = &self.places else { return host };
        places.ranks(host).get(usize::from(slot)).copied().unwrap_or(host)
    }

    /// Returns the ranks of a host, if they are placed; `None` if the rank of its own number is
    /// there.
    #[inline]
    pub fn ranks_of(&self, host: HostId) -> Option<&[u32]> {
        let places = if N::DIRECT { None } else { self.places.as_ref() };
        places.map(|places| places.ranks(host.0))
    }

    /// The state of a rank at the start.
    #[inline(always)]
    pub fn new_rank(&self, id: u32) -> Rank<S::State> {
        Rank::new(self.source.state(id), Clocks::new(self.shape))
    }
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> RankStep<'_, S, N, B> {
    /// Handles everything that happens in a window over a direct network.
    #[inline(always)]
    pub fn run(mut self, until: Time, inbox: &[Letter<N, Watched<'_, S, N, B>>]) -> Next {
        let handled = match (&self.rank.waiting, inbox) {
            // One message, and nothing else that could come before it.
            (Waiting::Nothing, [event]) if self.rank.batches > 0 => {
                opened(event).is_some_and(|event| self.fast_path(&event, until))
            }
            _ => {
                self.resume();
                false
            }
        };
        if handled && self.queues.is_none() {
            return Next { time: Time::MAX, urgent: self.rank.urgent() };
        }
        if !handled {
            for event in inbox {
                if let Some(event) = opened(event) {
                    self.engine.source.prefetch_sender(event.source, event.message.tag);
                    self.arrive(&event);
                }
            }
        }
        let time = self.work(until);
        let next = Next { time, urgent: self.rank.urgent() };
        self.leave();
        next
    }

    /// Returns the rank's queues: spare ones of the worker if it has none of its own.
    pub fn queues(&mut self) -> &mut Queues {
        queues_or_spare(&mut self.queues, self.worker, self.engine.shape)
    }

    /// Takes up what the last turn has left.
    #[inline(never)]
    pub fn resume(&mut self) {
        match std::mem::replace(&mut self.rank.waiting, Waiting::Nothing) {
            Waiting::Nothing => {}
            Waiting::One(only) => {
                self.queues().put_only(*only);
                if self.worker.spare_boxes.len() < SPARE_BOXES {
                    self.worker.spare_boxes.push(only);
                }
            }
            Waiting::Many(queues) => self.queues = Some(queues),
        }
        if self.rank.batches == 0 {
            self.start();
        }
    }

    /// Puts away what is left.
    pub fn leave(self) {
        let Some(mut queues) = self.queues else { return };
        if let Some(only) = queues.take_only() {
            let mut place = self.worker.spare_boxes.pop().unwrap_or_else(|| Box::new(only));
            *place = only;
            self.rank.waiting = Waiting::One(place);
        } else if !queues.is_empty() {
            self.rank.waiting = Waiting::Many(queues);
            return;
        }
        if self.worker.spare_queues.len() < SPARE_QUEUES {
            self.worker.spare_queues.push(queues);
        }
    }

    /// Queues what waits for nothing.
    pub fn start(&mut self) {
        let Self { engine, id, rank, queues, worker, .. } = self;
        rank.batches = 1;
        // With several CPUs or interfaces, runs are by these; receives are posted in the order of
        // the program.
        let mut receives = std::mem::take(&mut worker.receives);
        engine.source.start(&mut rank.source, *id, |run, op| {
            if op.kind != Operation::Recv {
                queue(engine, queues_or_spare(queues, worker, engine.shape), 1, op, run, &START);
            } else if !engine.source.claims() {
                receives.extend((0..run.count).map(|k| run.first + k * run.stride));
            }
        });
        if engine.shape.several() {
            receives.sort_unstable();
        }
        self.post_first(&receives);
        receives.clear();
        self.worker.receives = receives;
    }

    /// Posts the receives that wait for nothing.
    fn post_first(&mut self, receives: &[u32]) {
        if receives.is_empty() {
            return;
        }
        self.rank.matching().posted.reserve(receives.len());
        for &index in receives {
            let op = self.op(index);
            let work = Work::One(index, op);
            let task = Task { at: START, batch: 1, kind: Priority::Receive, work };
            if self.engine.source.starts() == Starts::Nothing {
                // What could come before it at time zero does not change what it meets.
                self.post_receive((index, &op), &task);
            } else {
                self.queues().push(Class::Receives, || Entry::Task(task));
            }
        }
    }

    /// A message reaches the interface.
    pub fn arrive(&mut self, event: &Event<Message>) {
        let message = &event.message;
        if N::DIRECT && message.urgent() {
            self.rank.matching().urgent += 1;
        }
        // A release costs nothing; which CPU and interface a message is charged to may depend on a
        // receive that is posted before it arrives; and an interface receives messages in order of
        // time. All that is decided when its time has come.
        let late = self.engine.shape.several() || self.engine.costs.receive == Receive::Nic;
        let class = if message.kind == Kind::Release || late {
            Class::Arrivals
        } else {
            Class::Messages { cpu: 0, nic: 0 }
        };
        self.queues().push(class, || Entry::Message(Arrived(*event)));
    }

    /// Handles everything before `until`; returns when the next thing happens.
    pub fn work(&mut self, until: Time) -> Time {
        while let Some(queues) = &mut self.queues
            && let Some((at, class)) = queues.next(&self.rank.clocks)
        {
            if at >= until {
                return at;
            }
            if self.engine.straight {
                if self.engine.plain
                    && let Some(burst) = queues.burst()
                {
                    match self.send_all(&burst, until) {
                        Some(next) if next >= until => return next,
                        Some(_) => continue,
                        None => {}
                    }
                } else if let Some(Arrived(event)) = &queues.pop_message() {
                    self.receive_plain(event, at);
                    continue;
                } else if self.engine.plain
                    && let Some(task) = &queues.only_task()
                    && self.send_one(task, at)
                {
                    continue;
                }
            }
            let Some(queues) = &mut self.queues else { break };
            // It stays where it was written, here and above: a copy would wait for that.
            if !class.of_messages() {
                let Some(task) = &queues.pop_task(&self.rank.clocks) else { return Time::MAX };
                if self.awaits_turn(task, class) {
                    return at;
                }
                if !self.engine.plain || !self.send_taken(task, at) {
                    self.perform(task, at, class);
                }
                continue;
            }
            let Some(Arrived(event)) = &queues.pop_arrived(&self.rank.clocks) else {
                return Time::MAX;
            };
            match class {
                Class::Messages { cpu, nic } => self.receive_queued(event, at, (cpu, nic)),
                _ => self.classify(*event, at),
            }
        }
        Time::MAX
    }

    /// Puts back what has to come in the order of all ranks, once: when it is next, it has a window
    /// of its own.
    fn awaits_turn(&mut self, task: &Task, class: Class) -> bool {
        let (Class::Compute { .. }, Work::One(index, _)) = (class, task.work) else { return false };
        if !self.engine.source.is_exclusive(&self.rank.source, index) {
            return false;
        }
        self.rank.turn = !self.rank.turn;
        if let Some(common) = &mut self.common {
            common.turn(self.rank.turn);
        }
        self.worker.turns = true;
        if self.rank.turn {
            self.queues().push(class, || Entry::Task(*task));
        }
        self.rank.turn
    }

    fn perform(&mut self, task: &Task, at: Time, class: Class) {
        let (index, op) = match task.work {
            Work::One(index, op) => (index, op),
            Work::Ops(run) => (run.first, self.op(run.first)),
            Work::Clear { .. } | Work::Data { .. } => return self.protocol_step(task, at, class),
        };
        match class {
            Class::Compute { cpu } => self.compute((index, &op), task, at, cpu),
            Class::Sends { cpu, nic } => self.send((index, &op), task, at, (cpu, nic)),
            _ => self.post_receive((index, &op), task),
        }
    }

    fn protocol_step(&mut self, task: &Task, at: Time, class: Class) {
        match (task.work, class) {
            (Work::Clear { to, send, receive }, Class::Sends { cpu, nic }) => {
                self.send_clear(to, (send, receive), task, at, (cpu, nic));
            }
            (Work::Data { send, receive }, Class::Sends { cpu, nic }) => {
                self.send_data(send, receive, task, at, (cpu, nic));
            }
            // Protocol steps are only ever put into classes of sends.
            (_, _) => {}
        }
    }

    /// Does the same as [`RankStep::reached`], for all but the place where most operations are set
    /// free.
    #[inline(never)]
    pub fn reached_rarely(&mut self, index: u32, edge: Edge, at: &Stamp) {
        self.reached(index, edge, at);
    }

    /// An operation has started or will be done at a moment: queues what waited for that.
    #[inline(always)]
    pub fn reached(&mut self, index: u32, edge: Edge, at: &Stamp) {
        if edge == Edge::Done && at.time == Time::MAX {
            self.out.overflow();
        }
        let Self { engine, id, rank, queues, worker, .. } = self;
        rank.batches = rank.batches.wrapping_add(1).max(1);
        let batch = rank.batches;
        engine.source.reached(&mut rank.source, *id, (index, edge), at, |next, op, at| {
            let queues = queues_or_spare(queues, worker, engine.shape);
            queue(engine, queues, batch, op, Run::one(next), at);
        });
    }

    #[inline]
    pub fn op(&self, index: u32) -> Op {
        self.engine.source.op(&self.rank.source, self.id, index)
    }

    pub fn noise(&self, from: Time, to: Time) -> Time {
        let settings = self.engine.settings;
        settings.noise.between(settings.seed, self.id, from, to)
    }

    /// Notes an error; the earliest of the run is reported.
    pub fn fail(&mut self, at: Time, error: Error) {
        let earlier =
            self.worker.error.as_ref().is_some_and(|(t, rank, _)| (*t, *rank) <= (at, self.id));
        if !earlier {
            self.worker.error = Some((at, self.id, error));
        }
    }
}

/// Returns the queues of the rank at work: spare ones of the worker if it has none of its own.
#[inline]
fn queues_or_spare<'q, B>(
    queues: &'q mut Option<Box<Queues>>,
    worker: &mut WorkerState<B>,
    shape: Shape,
) -> &'q mut Queues {
    let spare = || worker.spare_queues.pop().unwrap_or_else(|| Box::new(Queues::new(shape)));
    queues.get_or_insert_with(spare)
}

/// Puts operations that may start at a moment into the queue of their class.
#[inline]
fn queue<S: Source, N>(
    engine: &Engine<'_, S, N>,
    queues: &mut Queues,
    batch: u32,
    op: Op,
    run: Run,
    at: &Stamp,
) {
    let (class, kind) = match op.kind {
        Operation::Send => (Class::Sends { cpu: op.cpu, nic: op.nic }, Priority::Send),
        // A receive that will be claimed is not posted.
        Operation::Recv if engine.source.claims() => return,
        Operation::Recv => (Class::Receives, Priority::Receive),
        Operation::Calc => (Class::Compute { cpu: op.cpu }, Priority::Compute),
    };
    let work = if run.count == 1 { Work::One(run.first, op) } else { Work::Ops(run) };
    queues.push(class, || Entry::Task(Task { at: *at, batch, kind, work }));
}
