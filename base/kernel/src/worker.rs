//! A worker: a thread that runs a share of the processes, window by window.

use std::sync::Arc;

use units::Time;

use crate::agenda::Agenda;
use crate::block::{BLOCK, Block, Scratch, Window};
use crate::mail::Mail;
use crate::shares::Shares;
use crate::transport::{AtWork, Bounds, Parcel, Route, Transport};
use crate::{Error, Model, Outbox, with_room};

/// The facts that all workers of a run share.
pub struct Layout {
    shares: Arc<Shares>,
    /// The value of [`Model::lookahead_across`]; `None` if workers wait for each other at every
    /// window.
    across: Option<Time>,
}

impl Layout {
    pub fn new<M: Model>(model: &M, shares: Shares) -> Self {
        let some = |time: &Time| *time > Time::ZERO;
        let worker_of = |process| shares.owner(shares.block_of(process));
        let wanted = shares.workers() > 1 && some(&model.lookahead());
        let across = wanted.then(|| model.lookahead_across(&worker_of)).flatten().filter(some);
        Self { across, shares: Arc::new(shares) }
    }
}

/// The result of one worker.
pub struct Share<W> {
    pub worker: W,
    pub last: Time,
    pub windows: u64,
    pub instants: u64,
    pub error: Option<Error>,
}

pub struct Worker<'a, M: Model> {
    model: &'a M,
    layout: &'a Layout,
    transport: &'a Arc<dyn Transport<M::Message>>,
    me: usize,
    /// The state that the model keeps for the worker.
    private: M::Worker,
    lookahead: Time,
    /// The turns by which bounds and mail of others are used later than they are published: 1 with
    /// a lookahead across workers, else 0.
    lag: usize,
    /// The number of the first block of the worker, and its blocks.
    first: usize,
    blocks: Vec<Block<M::Message>>,
    processes: Vec<M::Process>,
    agenda: Agenda,
    scratch: Scratch<M::Message>,
    out: Outbox<M::Message>,
    /// Parcels to be posted, by worker.
    parcels: Vec<Vec<Parcel<M::Message>>>,
    /// The bounds of the mail that was posted a turn ago.
    sent_before: Bounds,
    window: Window,
    windows: u64,
    instants: u64,
}

impl<'a, M: Model> Worker<'a, M> {
    pub fn new(
        model: &'a M,
        layout: &'a Layout,
        transport: &'a Arc<dyn Transport<M::Message>>,
        me: usize,
        private: M::Worker,
    ) -> Self {
        let (shares, lookahead) = (&layout.shares, model.lookahead());
        let blocks = shares.starts[me]..shares.starts[me + 1];
        let block = |block| shares.block(me, block, lookahead);
        Self {
            model,
            layout,
            transport,
            me,
            private,
            lookahead,
            lag: usize::from(layout.across.is_some()),
            first: blocks.start,
            agenda: Agenda::new(blocks.len()),
            blocks: blocks.map(block).collect(),
            processes: with_room(shares.sizes[me]),
            scratch: Scratch::new(),
            out: Outbox::new(shares.clone()),
            parcels: (0..shares.workers()).map(|_| Vec::new()).collect(),
            sent_before: Bounds::NONE,
            window: Window::START,
            windows: 0,
            instants: 0,
        }
    }

    /// Runs all windows and harvests the processes.
    pub fn work(mut self) -> Share<M::Worker> {
        let at_work = AtWork::begin(self.transport, self.me);
        for turn in 0.. {
            at_work.turn(turn);
            let sent = self.deliver(turn);
            let all = self.transport.agree(turn, self.lag, self.me, self.bounds(sent));
            if all.earliest >= all.end {
                break;
            }
            if let Some(turn) = turn.checked_sub(self.lag) {
                self.collect(turn);
            }
            self.begin_window(&all);
            self.run_window();
        }
        if self.out.error.is_none() {
            self.harvest();
        }
        Share {
            worker: self.private,
            last: self.window.start,
            windows: self.windows,
            instants: self.instants,
            error: self.out.error,
        }
    }

    /// Hands over what has been sent: to the worker's own blocks, or to the transport. Returns the
    /// bounds of what has left the worker.
    fn deliver(&mut self, turn: usize) -> Bounds {
        let mut sent = Bounds::NONE;
        let mut addressed = std::mem::take(&mut self.out.addressed);
        for block in addressed.drain(..) {
            let mail = &mut self.out.mail[block as usize];
            let owner = self.layout.shares.owner(block);
            if owner == self.me {
                let local = block as usize - self.first;
                mail.chunks_mut().for_each(|chunk| self.transport.loop_back(chunk));
                self.agenda.mail(local, mail.earliest, mail.urgent);
                mail.move_to(&mut self.blocks[local].mail);
            } else {
                sent.earliest = sent.earliest.min(mail.earliest);
                sent.urgent = sent.urgent.min(mail.urgent);
                let parcel = |events| Parcel { block, events };
                self.parcels[owner].extend(mail.chunks().map(parcel));
            }
        }
        self.out.addressed = addressed;
        sent.mail = sent.earliest;
        for (to, parcels) in self.parcels.iter_mut().enumerate() {
            if !parcels.is_empty() {
                let route = Route { from: self.me, to };
                self.transport.post(turn, route, parcels, &mut self.out.spare);
            }
        }
        sent
    }

    /// Returns the bounds of this worker, whose mail to others has the bounds `sent`.
    fn bounds(&mut self, sent: Bounds) -> Bounds {
        let has_failed = self.out.error.is_some();
        let end = if has_failed { Time::ZERO } else { self.model.end(&self.private) };
        let mut bounds = Bounds { end, ..self.agenda.bounds() }.join(sent);
        if self.lag == 1 {
            // Nobody has collected the mail of the turn before yet.
            bounds = bounds.join(std::mem::replace(&mut self.sent_before, sent));
        }
        bounds
    }

    /// Takes the mail that others have posted in a turn.
    fn collect(&mut self, turn: usize) {
        let (mut late, end) = (None, self.window.end);
        let Self { blocks, agenda, first, lag, .. } = self;
        self.transport.collect(turn, self.me, &mut self.out.spare, &mut |parcel, spare| {
            // Without a lag, every sender has checked that its mail is not late.
            if *lag == 1 && late.is_none() {
                late = parcel.events.iter().find(|event| event.time < end).map(|event| {
                    Error::Causality { sender: event.source, time: event.time, earliest: end }
                });
            }
            let local = parcel.block as usize - *first;
            let mail: &mut Mail<_> = &mut blocks[local].mail;
            mail.append(parcel.events, spare);
            agenda.mail(local, mail.earliest, mail.urgent);
        });
        if let Some(error) = late {
            self.out.fail(error);
        }
    }

    /// Begins the window that follows from the bounds of all workers.
    fn begin_window(&mut self, all: &Bounds) {
        if self.lag == 1 && (all.answers || all.urgent < Time::MAX) {
            self.out.fail(Error::Urgent { at: self.window.end });
        }
        let last_end = if self.lag == 1 { self.window.end } else { Time::ZERO };
        let start = all.earliest.max(last_end);
        let end = window_end(start, all, self.lookahead, self.layout.across);
        self.window = Window { start, end };
        self.out.open(start, end);
        self.windows += 1;
        self.instants += u64::from(self.window.is_instant());
    }

    fn run_window(&mut self) {
        let Self { model, window, processes, private, scratch, out, .. } = self;
        for (local, block) in self.blocks.iter_mut().enumerate() {
            if self.agenda.earliest[local] < window.end {
                block.run(*model, *window, processes, private, scratch, out);
                self.agenda.ran(local, block);
            }
        }
        self.model.window_done(&mut self.private, self.window.end);
    }

    /// Shows every process to the model, and drops it.
    fn harvest(&mut self) {
        let places = (self.first * BLOCK) as u32..;
        let mut processes = std::mem::take(&mut self.processes);
        for (place, process) in places.zip(&mut processes) {
            self.model.harvest(self.layout.shares.number(place), process, &mut self.private);
        }
    }
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
