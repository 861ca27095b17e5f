//! The contract between a model and the executor.

use units::Time;

use crate::Outbox;

/// A message on its way to a process. Those that reach a process in the same window are handed over
/// in the order (time, source, sequence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<M> {
    /// When it takes effect.
    pub time: Time,
    /// The process that sent it.
    pub source: u32,
    /// Its number among the source's messages.
    pub sequence: u32,
    /// The process that it is for.
    pub destination: u32,
    /// What it says.
    pub message: M,
}

impl<M> Event<M> {
    /// The order in which messages are handed over: by time, source and sequence.
    pub(crate) fn order(&self) -> u128 {
        u128::from(self.time.ps()) << 64 | u128::from(self.source) << 32 | u128::from(self.sequence)
    }
}

/// Plain data that may cross threads and machines.
pub trait Wire: Copy + Send + 'static {
    /// Whether there are any.
    const EXISTS: bool = true;

    /// Appends the message to `bytes`.
    fn encode(&self, bytes: &mut Vec<u8>);

    /// Reads a message from the front of `bytes` and advances it; `None` if it is not one.
    fn decode(bytes: &mut &[u8]) -> Option<Self>;

    /// Whether its receiver may react to it without delay, so that no window may reach beyond the
    /// time at which it takes effect.
    fn urgent(&self) -> bool {
        false
    }

    /// Whether its receiver is only to know of it by the time at which it takes effect: it is
    /// handed to [`Model::told`], maybe before that time, and is no reason to run the receiver.
    fn aside(&self) -> bool {
        false
    }
}

/// When a process wants to run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The time of its next event; [`Time::MAX`] if it waits for messages only.
    pub time: Time,
    /// Whether it may then send messages that take effect without delay.
    pub urgent: bool,
}

impl Next {
    /// It waits for messages.
    pub const NEVER: Self = Self { time: Time::MAX, urgent: false };
}

/// What the executor runs: a number of like processes, known by dense numbers from 0.
pub trait Model: Sync {
    /// The state of one process.
    type Process: Send;
    /// What processes say to each other.
    type Message: Wire;
    /// What a worker keeps for itself: scratch space, a probe, an error.
    type Worker: Send;

    /// The state of a process at the start. Every process runs once at time zero.
    fn process(&self, id: u32) -> Self::Process;

    /// The least time between an event and any message that it causes, urgent ones excepted. Zero
    /// is allowed; then every window is one instant.
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

    /// Takes a message that is [`Wire::aside`]; such messages come in any order.
    fn told(&self, process: &mut Self::Process, event: &Event<Self::Message>) {
        let _ = (process, event);
    }

    /// How much there is to do at a process, compared with others: workers get shares of equal
    /// weight. 0 of one that is likely to do nothing. Results do not depend on it.
    fn weight(&self, id: u32) -> u32 {
        let _ = id;
        1
    }

    /// The numbers of all processes in an order in which those that say much to each other are
    /// near, if theirs is not such an order: the shares of workers are parts of it. Results do not
    /// depend on it.
    fn order(&self) -> Option<Vec<u32>> {
        None
    }

    /// A process will run in the same window, after [`AHEAD`] others in stage 0, half as many in
    /// stage 1: a chance to [`crate::prefetch`] what it will read.
    fn soon(&self, id: u32, process: &Self::Process, stage: usize) {
        let _ = (id, process, stage);
    }

    /// For a model in which nothing is ever urgent: the least time between an event and any message
    /// that it causes at a process of another worker, `worker_of` being the worker of each process.
    /// Workers of shared memory then wait for what the others said a window earlier, not for what
    /// they have just said. `None` if that is not wanted.
    fn apart(&self, worker_of: &dyn Fn(u32) -> usize) -> Option<Time> {
        let _ = worker_of;
        None
    }

    /// When the run ends, as far as this worker knows: nothing that happens then or later is run. A
    /// time that is not past, but by less than a message to another worker takes, ends it somewhere
    /// after the current window.
    fn end(&self, worker: &Self::Worker) -> Time {
        let _ = worker;
        Time::MAX
    }

    /// Called by each worker after a window, for progress reports.
    fn window_done(&self, worker: &mut Self::Worker, until: Time) {
        let _ = (worker, until);
    }
}

/// How many processes ahead [`Model::soon`] is told first.
pub const AHEAD: usize = 8;
