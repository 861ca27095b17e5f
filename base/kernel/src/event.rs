//! The contract between a model and the executor.

use units::Time;

use crate::Outbox;

/// A message on its way to a process. Those that reach a process in the same window are handed over
/// in the order (time, source, sequence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<M> {
    /// The time at which it takes effect.
    pub time: Time,
    /// The process that sent it.
    pub source: u32,
    /// Its number among the messages of its source.
    pub sequence: u32,
    /// The process that receives it.
    pub destination: u32,
    /// Its content.
    pub message: M,
}

impl<M> Event<M> {
    /// The order in which messages are handed over: by time, source and sequence.
    pub(crate) fn order(&self) -> u128 {
        u128::from(self.time.ps()) << 64 | u128::from(self.source) << 32 | u128::from(self.sequence)
    }
}

/// A message between processes: plain data that may cross threads and machines.
///
/// The executor calls [`Wire::encode`] and [`Wire::decode`] only where messages travel as bytes.
/// `decode` must give back what `encode` wrote and consume exactly those bytes. [`Wire::urgent`]
/// and [`Wire::passive`] are asked several times on a message's way and must always answer alike; a
/// message is one of them at most.
pub trait Wire: Copy + Send + 'static {
    /// False for a type that stands for "no messages at all" and has no values.
    const EXISTS: bool = true;

    /// Appends the message to `bytes`.
    fn encode(&self, bytes: &mut Vec<u8>);

    /// Reads a message from the front of `bytes` and advances it. Returns `None` if the bytes are
    /// not a message.
    fn decode(bytes: &mut &[u8]) -> Option<Self>;

    /// True if the receiver may react to the message without delay. No window reaches beyond the
    /// time at which such a message takes effect.
    fn urgent(&self) -> bool {
        false
    }

    /// True if the receiver only has to know of the message by the time at which it takes effect.
    /// A passive message goes to [`Model::on_passive`], possibly before that time, and does not
    /// make the receiver run.
    fn passive(&self) -> bool {
        false
    }
}

/// The answer of a process that has run: when it wants to run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The time of its next event; [`Time::MAX`] if it waits for messages only.
    pub time: Time,
    /// True if the process may then send messages that take effect without delay.
    pub urgent: bool,
}

impl Next {
    /// The process waits for messages only.
    pub const NEVER: Self = Self { time: Time::MAX, urgent: false };
}

/// The simulated system that the executor runs: a number of like processes, numbered from 0.
///
/// The executor creates every process with [`Model::process`] and runs each of them once at time
/// zero. After that it calls [`Model::run`] for a process in every window in which the process has
/// a message or an event of its own. It calls from several threads at once, but never two of them
/// for one process, and one worker's state is only ever used by one thread.
///
/// A model promises that whatever it does depends only on the process, its inbox and its own
/// immutable data, never on the worker or on real time, and that its messages respect the window:
/// see [`Outbox::send`]. In return the executor promises the same order of events at every process
/// for any number of workers.
pub trait Model: Sync {
    /// The state of one process.
    type Process: Send;
    /// The messages that processes exchange.
    type Message: Wire;
    /// The private state of a worker, for example scratch space, a probe or an error.
    type Worker: Send;

    /// True if [`Model::prefetch_for`] does anything.
    const READS_AHEAD: bool = false;

    /// Returns the state of a process at the start.
    fn process(&self, id: u32) -> Self::Process;

    /// Returns the least time between an event and any message that it causes, urgent messages
    /// excepted. Zero is allowed; then every window is one instant. The answer must not change.
    fn lookahead(&self) -> Time;

    /// Handles everything that happens at process `id` before `until`: its own events and those of
    /// the inbox, which all lie before `until` and come in order. Messages go to `out`.
    fn run(
        &self,
        id: u32,
        process: &mut Self::Process,
        until: Time,
        inbox: &[Event<Self::Message>],
        worker: &mut Self::Worker,
        out: &mut Outbox<Self::Message>,
    ) -> Next;

    /// Takes a message that is [`Wire::passive`]. Such messages come in any order, each before the
    /// process runs the window in which the message takes effect.
    fn on_passive(&self, process: &mut Self::Process, event: &Event<Self::Message>) {
        let _ = (process, event);
    }

    /// Returns how much work a process causes, compared with others: workers get shares of equal
    /// weight. The weight of a process that is likely to do nothing is 0. Results do not depend on
    /// it.
    fn weight(&self, id: u32) -> u32 {
        let _ = id;
        1
    }

    /// Returns the numbers of all processes in an order in which those that exchange many messages
    /// are near each other, or `None` if the numbers themselves are such an order. The shares of
    /// workers are contiguous parts of it. Results do not depend on it.
    fn order(&self) -> Option<Vec<u32>> {
        None
    }

    /// Prefetches the state of a process that is about to run, with [`crate::prefetch`]. The
    /// executor calls it when [`AHEAD`] other processes run first (stage 0), and again when half as
    /// many do (stage 1).
    fn prefetch(&self, id: u32, process: &Self::Process, stage: usize) {
        let _ = (id, process, stage);
    }

    /// Prefetches what a process that is about to run reads for a message, when half of [`AHEAD`]
    /// other processes run first. Messages come in any order.
    fn prefetch_for(&self, process: &Self::Process, event: &Event<Self::Message>) {
        let _ = (process, event);
    }

    /// Returns the lookahead across workers: the least time between an event and any message that
    /// it causes at a process of another worker, where `worker_of` gives the worker of each
    /// process. Only a model in which nothing is ever urgent may have one. Workers of shared memory
    /// then wait for the bounds that the others published one window earlier, not for the latest.
    /// `None` if that is not wanted.
    fn lookahead_across(&self, worker_of: &dyn Fn(u32) -> usize) -> Option<Time> {
        let _ = worker_of;
        None
    }

    /// Returns when the run ends, as far as this worker knows: events at that time or later are not
    /// run. A time that is not past, but nearer than the lookahead across workers, ends the run
    /// somewhere after the current window.
    fn end(&self, worker: &Self::Worker) -> Time {
        let _ = worker;
        Time::MAX
    }

    /// Adds the results of a process to those of the worker when the run is over; nothing happens
    /// to the process after that. Each worker harvests its own processes, in no particular order,
    /// unless the run ends with an error. No process ever leaves its worker, so that workers need
    /// not share memory; whoever called the executor merges the results of several workers.
    fn harvest(&self, id: u32, process: &mut Self::Process, worker: &mut Self::Worker) {
        let _ = (id, process, worker);
    }

    /// Called by each worker after a window, for progress reports.
    fn window_done(&self, worker: &mut Self::Worker, until: Time) {
        let _ = (worker, until);
    }
}

/// The number of processes that run between [`Model::prefetch`] in stage 0 and the process itself.
pub const AHEAD: usize = 8;
