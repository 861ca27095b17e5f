//! The rules of LogGOPS at the hosts, as a model for the executor.
//!
//! Every rank is a process. Within a window a rank works off what happens to it in the order of
//! [`crate::queues::Order`]; whatever needs a CPU or an interface starts when that is free.
//!
//! Single eager message of s bytes between idle hosts: the sender's CPU is free at o + (s-1)O, the
//! receive ends at o + L + o + max((s-1)O, (s-1)G). Seed 000 section 3.1 computes one case by hand.

use kernel::{Event, Model, Next, Outbox, Probe};
use loggops::{Inject, Parameters};
use network::Network;
use schedule::{ANY, Edge, Kind as Operation, Op, Run};
use topology::Complete;
use units::Time;

use crate::message::Message;
use crate::path::Stamp;
use crate::queues::Rank as Place;
use crate::queues::{Arrived, Class, Clocks, Queues, Shape, Task, Work};
use crate::rank::Rank;
use crate::source::{START, Source};
use crate::{Error, Record, Settings};

/// The model.
pub struct Engine<'a, S, N> {
    pub source: S,
    pub network: &'a N,
    pub settings: &'a Settings,
    pub ranks: u32,
    pub shape: Shape,
}

/// What a worker keeps.
pub struct Crew<B> {
    pub probe: B,
    /// Queues for a rank that has none of its own.
    desk: Option<Box<Queues>>,
    pub events: u64,
    reported: u64,
    /// The first error, by time and rank.
    pub error: Option<(Time, u32, Error)>,
}

impl<B> Crew<B> {
    pub const fn new(probe: B) -> Self {
        Self { probe, desk: None, events: 0, reported: 0, error: None }
    }
}

/// One rank at work in one window.
pub struct Turn<'t, S: Source, N: Network, B> {
    pub engine: &'t Engine<'t, S, N>,
    pub id: u32,
    pub rank: &'t mut Rank<S::State, N::Interface>,
    pub queues: &'t mut Queues,
    pub crew: &'t mut Crew<B>,
    pub out: &'t mut Outbox<Message>,
}

/// Ties a model to the type of its probe.
pub struct Watched<'a, S, N, B> {
    pub engine: Engine<'a, S, N>,
    pub probe: std::marker::PhantomData<fn() -> B>,
}

impl<S: Source, N: Network, B: Probe<Record>> Model for Watched<'_, S, N, B> {
    type Process = Rank<S::State, N::Interface>;
    type Message = Message;
    type Worker = Crew<B>;

    fn process(&self, id: u32) -> Self::Process {
        let engine = &self.engine;
        let interface = engine.network.interface(Complete::new(engine.ranks), id);
        Rank::new(engine.source.state(id), interface, Clocks::new(engine.shape))
    }

    /// The network's, and the overhead before a message enters it.
    fn lookahead(&self) -> Time {
        let Parameters { small, large, inject, .. } = &self.engine.settings.parameters;
        let overhead = match inject {
            Inject::Start => Time::ZERO,
            Inject::End => small.send_overhead.min(large.send_overhead),
        };
        self.engine.network.lookahead().saturating_add(overhead)
    }

    fn run(
        &self,
        id: u32,
        rank: &mut Self::Process,
        until: Time,
        inbox: &[Event<Message>],
        crew: &mut Crew<B>,
        out: &mut Outbox<Message>,
    ) -> Next {
        let engine = &self.engine;
        let shape = engine.shape;
        let own = rank.heavy.take();
        let mut queues =
            own.or_else(|| crew.desk.take()).unwrap_or_else(|| Box::new(Queues::new(shape)));
        if let Some((class, task)) = rank.light.take() {
            queues.push_task(class, task);
        }
        let mut turn = Turn { engine, id, rank, queues: &mut queues, crew, out };
        if turn.rank.batches == 0 {
            turn.start();
        }
        for event in inbox {
            turn.arrive(event);
        }
        let next = turn.work(until);
        let urgent = rank.urgent > 0;
        if let Some(light) = queues.take_only() {
            rank.light = Some(light);
        } else if !queues.is_empty() {
            rank.heavy = Some(queues);
            return Next { time: next, urgent };
        }
        crew.desk = Some(queues);
        Next { time: next, urgent }
    }

    fn failed(&self, crew: &Crew<B>) -> bool {
        crew.error.is_some()
    }

    fn window_done(&self, crew: &mut Crew<B>, until: Time) {
        if let Some(progress) = &self.engine.settings.progress {
            progress.advance(crew.events - crew.reported, until);
            crew.reported = crew.events;
        }
    }
}

impl<S: Source, N: Network, B: Probe<Record>> Turn<'_, S, N, B> {
    fn start(&mut self) {
        let (engine, id) = (self.engine, self.id);
        self.rank.batches = 1;
        let Rank { source, .. } = &mut *self.rank;
        let mut runs = smallvec::SmallVec::<[Run; 4]>::new();
        engine.source.start(source, id, |run| runs.push(run));
        for run in runs {
            self.post(run, &START);
        }
    }

    /// A message reaches the interface.
    fn arrive(&mut self, event: &Event<Message>) {
        let shape = self.engine.shape;
        let message = &event.message;
        self.rank.urgent += u32::from(kernel::Wire::urgent(message));
        // A release costs nothing; and which CPU and interface a message is charged to may depend
        // on a receive that is posted before it arrives. Both are decided when its time has come.
        let released = message.kind == crate::message::Kind::Release;
        let class = if released || shape.several() {
            Class::Arrivals
        } else {
            Class::Messages { cpu: 0, nic: 0 }
        };
        self.queues.push_message(shape.number(class), Arrived(*event));
    }

    /// Handles everything before `until`; returns when the next thing happens.
    fn work(&mut self, until: Time) -> Time {
        let shape = self.engine.shape;
        loop {
            let Some((at, number)) = self.queues.next(shape, &self.rank.clocks) else {
                return Time::MAX;
            };
            if at >= until {
                return at;
            }
            let class = shape.class(number);
            let free = self.rank.clocks.free(shape, class);
            match class {
                Class::Messages { cpu, nic } => {
                    if let Some(Arrived(event)) = self.queues.pop_message(number, free) {
                        self.receive(&event, at, cpu, nic);
                    }
                }
                Class::Arrivals => {
                    if let Some(Arrived(event)) = self.queues.pop_message(number, free) {
                        self.classify(event, at);
                    }
                }
                _ => {
                    if let Some(task) = self.queues.pop_task(number, free) {
                        self.perform(&task, at, class);
                    }
                }
            }
        }
    }

    fn perform(&mut self, task: &Task, at: Time, class: Class) {
        match (task.work, class) {
            (Work::Ops(run), Class::Compute { cpu }) => self.compute(run.first, task, at, cpu),
            (Work::Ops(run), Class::Receives) => self.post_receive(run.first, task),
            (Work::Ops(run), Class::Sends { cpu, nic }) => {
                self.send(run.first, task, at, cpu, nic);
            }
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

    /// Puts operations that may start at a moment into their class.
    pub fn post(&mut self, run: Run, at: &Stamp) {
        let (engine, id) = (self.engine, self.id);
        let op = engine.source.op(&self.rank.source, id, run.first);
        let batch = self.rank.batches;
        post(engine, self.queues, batch, op, run, at);
    }

    /// An operation has started or will be done at a moment: posts what waited for that.
    pub fn reached(&mut self, index: u32, edge: Edge, at: &Stamp) {
        let (engine, id) = (self.engine, self.id);
        if edge == Edge::Done && at.time == Time::MAX {
            self.out.overflow();
        }
        self.rank.batches = self.rank.batches.wrapping_add(1).max(1);
        let batch = self.rank.batches;
        // The source's state is lent to it while its answers are posted.
        let queues = &mut *self.queues;
        let mut posted = smallvec::SmallVec::<[(u32, Stamp); 2]>::new();
        engine.source.reached(&mut self.rank.source, id, index, edge, at, |dependent, at| {
            posted.push((dependent, *at));
        });
        for (dependent, at) in posted {
            let op = engine.source.op(&self.rank.source, id, dependent);
            post(engine, queues, batch, op, Run::one(dependent), &at);
        }
    }

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
            self.crew.error.as_ref().is_some_and(|(t, rank, _)| (*t, *rank) <= (at, self.id));
        if !earlier {
            self.crew.error = Some((at, self.id, error));
        }
    }
}

fn post<S: Source, N>(
    engine: &Engine<'_, S, N>,
    queues: &mut Queues,
    batch: u32,
    op: Op,
    run: Run,
    at: &Stamp,
) {
    let (class, kind) = match op.kind {
        Operation::Send => (Class::Sends { cpu: op.cpu.into(), nic: op.nic.into() }, Place::Send),
        Operation::Recv => {
            if engine.source.claims() && op.peer != ANY {
                return;
            }
            (Class::Receives, Place::Receive)
        }
        Operation::Calc => (Class::Compute { cpu: op.cpu.into() }, Place::Compute),
    };
    let task = Task { at: *at, batch, kind, work: Work::Ops(run) };
    queues.push_task(engine.shape.number(class), task);
}
