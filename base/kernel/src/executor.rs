//! The executor: windows of one lookahead, worked off block by block.
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

use std::sync::{Arc, Mutex};

use units::Time;

use crate::block::{Block, Desk, Window};
use crate::exchange::{Bounds, Exchange, Parcel, Transport};
use crate::shares::Shares;
use crate::{Error, Model, Outbox, with_room};

/// How to execute a model.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Number of worker threads; 0 counts as 1.
    pub workers: usize,
    /// How messages travel.
    pub transport: Transport,
}

/// What is left when nothing happens any more.
#[derive(Debug)]
pub struct Finished<M: Model> {
    /// The processes, by number, in consecutive parts.
    pub parts: Vec<Vec<M::Process>>,
    /// The workers.
    pub workers: Vec<M::Worker>,
    /// Start of the last window.
    pub last: Time,
    /// How many windows there were.
    pub windows: u64,
    /// How many of them were a single instant.
    pub instants: u64,
}

/// Runs `count` processes until nothing happens any more or a worker has failed. `worker` makes
/// the private state of each worker.
pub fn execute<M: Model>(
    model: &M,
    count: u32,
    config: Config,
    worker: impl Fn() -> M::Worker,
) -> Result<Finished<M>, Error> {
    let workers = config.workers.max(1).min(count.max(1) as usize);
    let shares = Arc::new(Shares::of(model, count as usize, workers));
    let exchange = Exchange::new(workers);
    let across = across(model, &shares, workers, config.transport);
    let layout = Layout { workers, shares, transport: config.transport, across };
    let crews: Vec<M::Worker> = (0..workers).map(|_| worker()).collect();
    if workers == 1 {
        let done = crews.into_iter().map(|crew| work(model, &layout, &exchange, 0, crew)).collect();
        return finish(done, &layout.shares);
    }
    let work = |(me, crew)| work(model, &layout, &exchange, me, crew);
    match in_threads(crews.into_iter().enumerate(), work) {
        Some(done) => finish(done, &layout.shares),
        // The system has no room for so many threads: one does the same.
        None => execute(model, count, Config { workers: 1, ..config }, worker),
    }
}

/// Does each work in a thread of its own. Nothing, before any has begun, if one of them cannot be
/// started: they wait for each other.
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

fn finish<M: Model>(done: Vec<Share<M>>, shares: &Shares) -> Result<Finished<M>, Error> {
    let mut finished = Finished {
        parts: Vec::new(),
        workers: Vec::new(),
        last: Time::ZERO,
        windows: 0,
        instants: 0,
    };
    if let Some(error) = done.iter().filter_map(|share| share.error).min() {
        return Err(error);
    }
    for share in done {
        finished.parts.push(share.processes);
        finished.workers.push(share.worker);
        finished.last = share.last;
        finished.windows = share.windows;
        finished.instants = share.instants;
    }
    finished.parts = shares.by_number(finished.parts);
    finished.parts.retain(|part| !part.is_empty());
    Ok(finished)
}

/// Who has what, and how it travels.
struct Layout {
    workers: usize,
    shares: Arc<Shares>,
    transport: Transport,
    /// The value of [`Model::lookahead_across`]; `None` if workers wait for each other at every
    /// window.
    across: Option<Time>,
}

/// Returns the lookahead across workers if they need not wait for each other at every window. They
/// always do where messages travel as bytes: those that a worker sends to itself would be late.
fn across<M: Model>(
    model: &M,
    shares: &Shares,
    workers: usize,
    transport: Transport,
) -> Option<Time> {
    let some = |time: &Time| *time > Time::ZERO;
    let wanted = workers > 1 && transport == Transport::Shared && some(&model.lookahead());
    let worker_of = |process| shares.owner(shares.block_of(process));
    wanted.then(|| model.lookahead_across(&worker_of)).flatten().filter(some)
}

/// What one worker brings home.
struct Share<M: Model> {
    processes: Vec<M::Process>,
    worker: M::Worker,
    last: Time,
    windows: u64,
    instants: u64,
    error: Option<Error>,
}

/// Runs the processes of one worker, window by window.
// Long because each window is a sequence of steps that share the worker's state.
fn work<M: Model>(
    model: &M,
    layout: &Layout,
    exchange: &Exchange<M::Message>,
    me: usize,
    mut worker: M::Worker,
) -> Share<M> {
    let (shares, lookahead) = (&*layout.shares, model.lookahead());
    let mine = shares.starts[me]..shares.starts[me + 1];
    let mut blocks: Vec<_> = mine.clone().map(|block| shares.block(me, block, lookahead)).collect();
    let mut processes = with_room(shares.sizes[me]);
    let mut agenda = Agenda::new(blocks.len());
    let mut out = Outbox::new(layout.shares.clone());
    let mut desk = Desk::new();
    let mut parcels: Vec<_> = (0..layout.workers).map(|_| Vec::new()).collect();
    let (mut window, mut windows, mut instants) = (Window::START, 0, 0);
    let mut sent_before = Bounds::NONE;
    let lag = usize::from(layout.across.is_some());
    for turn in 0.. {
        let sent = deliver(layout, exchange, turn, me, &mut out, &mut parcels, |block, mail| {
            agenda.mail(block - mine.start, mail.earliest, mail.urgent);
            mail.move_to(&mut blocks[block - mine.start].mail);
        });
        let end = if out.error.is_some() { Time::ZERO } else { model.end(&worker) };
        let mut bounds = Bounds { end, ..agenda.bounds() }.join(sent);
        if lag == 1 {
            // What was sent in the window before is not known yet to whom it is for.
            bounds = bounds.join(std::mem::replace(&mut sent_before, sent));
        }
        let all = exchange.agree(turn, lag, me, bounds);
        if all.earliest >= all.end {
            break;
        }
        let mut out_of_order = None;
        exchange.collect(turn.wrapping_sub(lag), me, &mut out.spare, |parcel, spare| {
            let local = parcel.block as usize - mine.start;
            let block = &mut blocks[local];
            let late = parcel.unpack(&mut block.mail, spare, window.end);
            // Without a lag, every sender has checked that its mail is not late.
            if let Some((sender, time)) = late.filter(|_| lag == 1) {
                out_of_order.get_or_insert(Error::Causality { sender, time, earliest: window.end });
            }
            agenda.mail(local, block.mail.earliest, block.mail.urgent);
        });
        if let Some(error) = out_of_order {
            out.fail(error);
        }
        if lag == 1 && (all.answers || all.urgent < Time::MAX) {
            out.fail(Error::Urgent { at: window.end });
        }
        let start = if lag == 1 { all.earliest.max(window.end) } else { all.earliest };
        window = Window { start, end: window_end(start, &all, lookahead, layout.across) };
        out.open(window.start, window.end);
        windows += 1;
        instants += u64::from(window.is_instant());
        for (local, block) in blocks.iter_mut().enumerate() {
            if agenda.earliest[local] < window.end {
                block.run(model, window, &mut processes, &mut worker, &mut desk, &mut out);
                agenda.ran(local, block);
            }
        }
        model.window_done(&mut worker, window.end);
    }
    let last = window.start;
    Share { processes, worker, last, windows, instants, error: out.error }
}

/// Returns when a window ends that begins at `start`.
fn window_end(start: Time, all: &Bounds, lookahead: Time, across: Option<Time>) -> Time {
    let most = start.saturating_add(lookahead).min(all.end);
    if let Some(across) = across {
        return all.earliest.saturating_add(across).min(most).max(start);
    }
    let answer = if all.answers { all.mail } else { Time::MAX };
    most.min(all.urgent).min(answer).max(start.saturating_add(Window::INSTANT))
}

/// What a worker knows of its blocks without looking at them.
struct Agenda {
    /// Earliest event of each block, mail included.
    earliest: Vec<Time>,
    /// Earliest mail.
    mail: Vec<Time>,
    /// See [`Block::urgent`].
    urgent: Vec<Time>,
    /// See [`Block::is_urgent`], and how many are.
    answers: Vec<bool>,
    answering: usize,
}

impl Agenda {
    fn new(blocks: usize) -> Self {
        Self {
            earliest: vec![Time::ZERO; blocks],
            mail: vec![Time::MAX; blocks],
            urgent: vec![Time::MAX; blocks],
            answers: vec![false; blocks],
            answering: 0,
        }
    }

    fn mail(&mut self, block: usize, earliest: Time, urgent: Time) {
        self.earliest[block] = self.earliest[block].min(earliest);
        self.mail[block] = self.mail[block].min(earliest);
        self.urgent[block] = self.urgent[block].min(urgent);
    }

    fn ran<M: crate::Wire>(&mut self, block: usize, state: &Block<M>) {
        self.earliest[block] = state.earliest();
        self.mail[block] = state.mail();
        self.urgent[block] = state.urgent();
        let answers = state.is_urgent();
        self.answering += usize::from(answers);
        self.answering -= usize::from(std::mem::replace(&mut self.answers[block], answers));
    }

    fn bounds(&self) -> Bounds {
        let least = |times: &[Time]| times.iter().copied().min().unwrap_or(Time::MAX);
        Bounds {
            earliest: least(&self.earliest),
            urgent: least(&self.urgent),
            mail: least(&self.mail),
            answers: self.answering > 0,
            end: Time::MAX,
        }
    }
}

/// Hands over what has been sent: to `keep` for the worker's own blocks, else to the exchange.
/// `parcels` is room for those of each worker. Returns the earliest of what has left.
fn deliver<M: crate::Wire>(
    layout: &Layout,
    exchange: &Exchange<M>,
    turn: usize,
    me: usize,
    out: &mut Outbox<M>,
    parcels: &mut [Vec<Parcel<M>>],
    mut keep: impl FnMut(usize, &mut crate::mail::Mail<M>),
) -> Bounds {
    let mut sent = Bounds::NONE;
    let mut addressed = std::mem::take(&mut out.addressed);
    for block in addressed.drain(..) {
        let mail = &mut out.mail[block as usize];
        let owner = layout.shares.owner(block);
        if owner == me && layout.transport == Transport::Shared {
            keep(block as usize, mail);
            continue;
        }
        sent.earliest = sent.earliest.min(mail.earliest);
        sent.urgent = sent.urgent.min(mail.urgent);
        sent.mail = sent.earliest;
        Parcel::pack(block, mail, layout.transport, &mut parcels[owner]);
        mail.recycle(&mut out.spare);
    }
    out.addressed = addressed;
    for (to, parcels) in parcels.iter_mut().enumerate() {
        if !parcels.is_empty() {
            exchange.post(turn, (me, to), parcels, &mut out.spare);
        }
    }
    sent
}
