//! The executor: windows of one lookahead, run block by block.
//!
//! A window reaches from the earliest event T of all processes to T plus the lookahead. Whatever
//! happens inside cannot be influenced by anything else inside, so the processes may run one after
//! the other or at the same time. Two things make a window shorter: a lookahead of zero makes it
//! one instant, repeated until nothing happens at that instant; and an event that may cause an
//! urgent message ends the window before it, and then has a window of one instant for itself. As
//! long as some process may answer mail by an urgent message, so does the earliest mail.
//!
//! Small windows leave workers waiting for each other most of the time. Where nothing is ever
//! urgent and messages between workers take a [`Model::lookahead_across`], a worker waits for the
//! bounds that the others published one window earlier: if none of their events, mail included, was
//! before E then, nothing they have done since reaches it before E + that lookahead. In return
//! windows are half as long; a worker that is late in one may make up for it in the next.
//!
//! One worker runs the same program as several: there is no other executor.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use units::Time;

use crate::shares::Shares;
use crate::transport::{Bytes, Threads, Transport};
use crate::worker::{Layout, Share, Worker};
use crate::{Error, Model};

/// The number of workers and their transport.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Number of worker threads; 0 counts as 1.
    pub workers: usize,
    /// The way in which messages travel.
    pub transport: TransportKind,
}

/// The transports of one process's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransportKind {
    /// [`Threads`]: by reference, in shared memory.
    #[default]
    Shared,
    /// [`Bytes`]: encoded, also to the worker itself.
    Serialised,
}

/// The result of a run: what its workers have harvested from their processes.
#[derive(Debug)]
pub struct Finished<W> {
    /// The private states of the workers of this process, after [`Model::harvest`].
    pub workers: Vec<W>,
    /// Start of the last window.
    pub last: Time,
    /// The number of windows.
    pub windows: u64,
    /// The number of windows that were a single instant.
    pub instants: u64,
}

/// Runs `count` processes until nothing happens any more or a worker has ended the run. `worker`
/// makes the private state of each worker.
///
/// # Errors
/// The least of the errors of the window in which the first one happened.
pub fn execute<M: Model>(
    model: &M,
    count: u32,
    config: Config,
    worker: impl Fn() -> M::Worker,
) -> Result<Finished<M::Worker>, Error> {
    let workers = config.workers.max(1).min(count.max(1) as usize);
    let transport: Arc<dyn Transport<M::Message>> = match config.transport {
        TransportKind::Shared => Arc::new(Threads::new(workers)),
        TransportKind::Serialised => Arc::new(Bytes::new(workers)),
    };
    match execute_over(model, count, &transport, 0..workers, &worker) {
        Some(finished) => finished,
        // The system has no room for so many threads: one does the same.
        None => execute(model, count, Config { workers: 1, ..config }, worker),
    }
}

/// Runs the workers `mine` of a run whose workers share a transport, for example those of one
/// process of several. All processes must call it with an equal model and count, and with parts of
/// the workers that do not overlap; nobody may have no processes, so there are at most `count`
/// workers. Returns `None`, before any has begun, if the system refuses a thread.
///
/// # Errors
/// The least of the errors of these workers. An error elsewhere ends the run as if it were over:
/// its process has to tell.
pub fn execute_over<M: Model>(
    model: &M,
    count: u32,
    transport: &Arc<dyn Transport<M::Message>>,
    mine: Range<usize>,
    worker: impl Fn() -> M::Worker,
) -> Option<Result<Finished<M::Worker>, Error>> {
    let layout = Layout::new(model, Shares::of(model, count as usize, transport.workers()));
    let privates = mine.clone().map(|me| (me, worker()));
    let work = |(me, private)| Worker::new(model, &layout, transport, me, private).work();
    let done = if mine.len() == 1 {
        privates.map(work).collect()
    } else {
        in_threads(privates.collect::<Vec<_>>().into_iter(), work)?
    };
    Some(finish(done))
}

/// Does each work in a thread of its own. Returns `None`, before any has begun, if one of them
/// cannot be started: they wait for each other.
fn in_threads<T: Send, R: Send>(
    all: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Option<Vec<R>> {
    let gate = Mutex::new(true);
    std::thread::scope(|scope| {
        let mut go = gate.lock().ok()?;
        let mut threads = Vec::new();
        for one in all {
            let (gate, work) = (&gate, &work);
            let begin = move || gate.lock().is_ok_and(|go| *go).then(|| work(one));
            match std::thread::Builder::new().spawn_scoped(scope, begin) {
                Ok(thread) => threads.push(thread),
                Err(_) => *go = false,
            }
        }
        drop(go);
        let ended = threads.into_iter();
        ended.map(|thread| thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
    })
}

fn finish<W>(done: Vec<Share<W>>) -> Result<Finished<W>, Error> {
    if let Some(error) = done.iter().filter_map(|share| share.error).min() {
        return Err(error);
    }
    let mut finished = Finished { workers: Vec::new(), last: Time::ZERO, windows: 0, instants: 0 };
    for share in done {
        finished.workers.push(share.worker);
        finished.last = share.last;
        finished.windows = share.windows;
        finished.instants = share.instants;
    }
    Ok(finished)
}
