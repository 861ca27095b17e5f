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

use serde::{Serialize, de::DeserializeOwned};
use units::Time;

use crate::shares::Shares;
use crate::transport::{Bytes, Peers, Processes, Threads, Transport, exchange};
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

/// The ways from one worker to another.
#[derive(Clone, Copy, Debug, Default)]
pub enum TransportKind {
    /// [`Threads`]: by reference, in shared memory.
    #[default]
    Shared,
    /// [`Bytes`]: encoded, also to the worker itself.
    Serialised,
    /// [`Processes`]: every process of these runs a part of the workers. All of them execute the
    /// same model.
    Spread(&'static dyn Peers),
}

impl TransportKind {
    /// Returns the processes that a run is spread over, if there are several.
    pub const fn peers(self) -> Option<&'static dyn Peers> {
        match self {
            Self::Spread(peers) => Some(peers),
            Self::Shared | Self::Serialised => None,
        }
    }

    /// Returns the values of all processes that a run is spread over, by their numbers. All of them
    /// call it at the same place, after [`execute`] for example, to join what each has harvested.
    ///
    /// # Panics
    /// If another process sends something else, which one of the same version does not.
    pub fn exchange<T: Serialize + DeserializeOwned>(self, mine: T) -> Vec<T> {
        let Some(peers) = self.peers() else { return vec![mine] };
        let bytes = postcard::to_allocvec(&mine).expect("values of memory can be encoded");
        let decode = |bytes: Vec<u8>| postcard::from_bytes(&bytes).expect("an equal version");
        exchange(peers, bytes).into_iter().map(decode).collect()
    }

    /// Returns the values of all processes that a run is spread over to the first of them, and no
    /// value to the others. All of them call it at the same place. It is for what may be large: the
    /// parts that `next` returns pass one at a time, and `take` gets those of others.
    ///
    /// # Errors
    /// Those of `next`; then its process hands over nothing more.
    ///
    /// # Panics
    /// If another process sends something else, which one of the same version does not.
    pub fn gather<T: Serialize + DeserializeOwned, E>(
        self,
        mut next: impl FnMut() -> Result<Option<T>, E>,
        mut take: impl FnMut(T),
    ) -> Result<(), E> {
        let Some(peers) = self.peers() else { return Ok(()) };
        if peers.me() == 0 {
            for from in 1..peers.count() {
                loop {
                    peers.send(from, Vec::new());
                    let bytes = peers.receive(from);
                    match postcard::from_bytes(&bytes).expect("an equal version") {
                        Some(part) => take(part),
                        None => break,
                    }
                }
            }
            return Ok(());
        }
        loop {
            let found = next();
            let part = found.as_ref().ok().and_then(Option::as_ref);
            let bytes = postcard::to_allocvec(&part).expect("values of memory can be encoded");
            peers.receive(0);
            peers.send(0, bytes);
            if !matches!(found, Ok(Some(_))) {
                return found.map(|_| ());
            }
        }
    }
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
/// makes the private state of each worker. Where a run is spread over several processes of the
/// system, each gets the states of its own workers, and all get the same error.
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
        TransportKind::Spread(peers) => return execute_among(model, count, config, peers, worker),
    };
    match execute_over(model, count, &transport, 0..workers, &worker) {
        Some(finished) => finished,
        // The system has no room for so many threads: one does the same.
        None => execute(model, count, Config { workers: 1, ..config }, worker),
    }
}

/// Runs this process's part of a run that is spread over several processes of the system.
fn execute_among<M: Model>(
    model: &M,
    count: u32,
    config: Config,
    peers: &'static dyn Peers,
    worker: impl Fn() -> M::Worker,
) -> Result<Finished<M::Worker>, Error> {
    let here = Arc::new(Processes::new(peers, divided(count, config)?));
    let transport: Arc<dyn Transport<M::Message>> = Arc::clone(&here) as _;
    let found = execute_over(model, count, &transport, here.workers_here(), &worker);
    let Some(found) = found else {
        peers.abandon();
        panic!("the system has no room for so many threads");
    };
    here.drain();
    let errors = config.transport.exchange(found.as_ref().err().copied());
    errors.into_iter().flatten().min().map_or(found, Err)
}

/// Returns the first worker of each process of the system, and the number of workers.
fn divided(count: u32, config: Config) -> Result<Vec<usize>, Error> {
    let wanted = config.transport.exchange(config.workers.max(1));
    if (count as usize) < wanted.len() {
        return Err(Error::Divided { processes: count, peers: wanted.len() });
    }
    // Nobody may have no processes.
    let all = wanted.iter().fold(0_usize, |all, workers| all.saturating_add(*workers));
    let each = |workers: usize| if all > count as usize { 1 } else { workers };
    let ends = wanted.into_iter().scan(0, |end, workers| {
        *end += each(workers);
        Some(*end)
    });
    Ok([0].into_iter().chain(ends).collect())
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
        in_threads(privates.collect(), work)?
    };
    Some(finish(done))
}

/// Does each work in a thread of its own. Returns `None`, before any has begun, if one of them
/// cannot be started: they wait for each other.
fn in_threads<T: Send, R: Send>(all: Vec<T>, work: impl Fn(T) -> R + Sync) -> Option<Vec<R>> {
    let waiting: Vec<_> = all.into_iter().map(|one| Mutex::new(Some(one))).collect();
    let done: Vec<_> = waiting.iter().map(|_| Mutex::new(None)).collect();
    let take = |index: usize| waiting[index].lock().ok()?.take();
    let each = |index: usize| {
        let result = take(index).map(&work);
        if let Ok(mut done) = done[index].lock() {
            *done = result;
        }
    };
    if !at_once(waiting.len(), &each) {
        return None;
    }
    done.into_iter().map(|done| done.into_inner().ok().flatten()).collect()
}

/// Calls `each` with all numbers below `count`, each in a thread of its own. Returns false, before
/// any has begun, if one of them cannot be started. It is compiled once for all models.
fn at_once(count: usize, each: &(dyn Fn(usize) + Sync)) -> bool {
    let gate = Mutex::new(true);
    std::thread::scope(|scope| {
        let Ok(mut go) = gate.lock() else { return false };
        let mut threads = Vec::new();
        for index in 0..count {
            let gate = &gate;
            let begin = move || {
                // The gate is open again before the work begins.
                let goes = gate.lock().is_ok_and(|go| *go);
                if goes {
                    each(index);
                }
            };
            match std::thread::Builder::new().spawn_scoped(scope, begin) {
                Ok(thread) => threads.push(thread),
                Err(_) => *go = false,
            }
        }
        let all = *go;
        drop(go);
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        all
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
