//! The executor: windows of one lookahead, worked off block by block.
//!
//! A window reaches from the earliest event T of all processes to T plus the lookahead. Whatever
//! happens inside cannot be influenced by anything else inside, so the processes may run one after
//! the other or at the same time. Two things make a window shorter: a lookahead of zero makes it one
//! instant, repeated until nothing happens at that instant; and an event that may cause an urgent
//! message ends the window before it, and then has a window of one instant for itself. As long as some
//! process may answer mail by an urgent message, so does the earliest mail.
//!
//! One worker runs the same program as several: there is no other executor.

use units::Time;

use crate::block::{Block, Desk, MOST_SHIFT};
use crate::exchange::{Exchange, Notice, Parcel, Transport};
use crate::{Model, Outbox, with_room};

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

/// An event fell outside the range of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Start of the window in which that happened.
    pub at: Time,
}

/// Runs `count` processes until nothing happens any more or a worker has failed. `worker` makes
/// what each worker keeps for itself.
pub fn execute<M: Model>(
    model: &M,
    count: u32,
    config: Config,
    worker: impl Fn() -> M::Worker,
) -> Result<Finished<M>, Overflow> {
    let workers = config.workers.max(1).min(count.max(1) as usize);
    let shift = block_shift(model, count, workers);
    let blocks = (count as usize).div_ceil(1 << shift);
    // No worker is without a block, so that none waits for nothing.
    let workers = workers.min(blocks.max(1));
    let exchange = Exchange::new(workers);
    let starts = starts(model, count, shift, workers);
    let layout = Layout { count, shift, blocks, workers, starts, transport: config.transport };
    let crews: Vec<M::Worker> = (0..workers).map(|_| worker()).collect();
    let shares = if workers == 1 {
        crews.into_iter().map(|crew| work(model, &layout, &exchange, 0, crew)).collect()
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = crews
                .into_iter()
                .enumerate()
                .map(|(me, crew)| {
                    let (layout, exchange) = (&layout, &exchange);
                    scope.spawn(move || work(model, layout, exchange, me, crew))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
                .collect::<Vec<_>>()
        })
    };
    finish(shares)
}

fn finish<M: Model>(shares: Vec<Share<M>>) -> Result<Finished<M>, Overflow> {
    let mut finished = Finished {
        parts: Vec::new(),
        workers: Vec::new(),
        last: Time::ZERO,
        windows: 0,
        instants: 0,
    };
    for share in shares {
        if share.overflow {
            return Err(Overflow { at: share.last });
        }
        if !share.processes.is_empty() {
            finished.parts.push(share.processes);
        }
        finished.workers.push(share.worker);
        finished.last = share.last;
        finished.windows = share.windows;
        finished.instants = share.instants;
    }
    Ok(finished)
}

/// Processes per block: as many as stay in a cache, but of those that have anything to do several blocks per worker.
fn block_shift<M: Model>(model: &M, count: u32, workers: usize) -> u32 {
    if workers == 1 {
        return MOST_SHIFT;
    }
    let busy = (0..count).filter(|id| model.weight(*id) > 0).count();
    let wanted = (busy / (workers * 8)).max(1);
    wanted.ilog2().min(MOST_SHIFT)
}

/// The first block of each worker, and the number of blocks: contiguous shares of nearly equal weight, none
/// of them empty.
fn starts<M: Model>(model: &M, count: u32, shift: u32, workers: usize) -> Vec<usize> {
    let blocks = (count as usize).div_ceil(1 << shift);
    if workers == 1 {
        return vec![0, blocks];
    }
    // The weight up to the end of each block.
    let mut sums = Vec::with_capacity(blocks);
    let mut sum = 0_u64;
    for id in 0..count {
        sum += u64::from(model.weight(id));
        if (id + 1).is_multiple_of(1 << shift) || id + 1 == count {
            sums.push(sum);
        }
    }
    let mut starts = vec![0];
    for worker in 1..workers {
        // The boundary nearest to the worker's part of the whole; u128 as weights may be large.
        let wanted = (u128::from(sum) * worker as u128 / workers as u128) as u64;
        let after = sums.partition_point(|&sum| sum <= wanted);
        let before = after.checked_sub(1).and_then(|before| sums.get(before)).map_or(0, |&sum| sum);
        let beyond = sums.get(after).map_or(u64::MAX, |&sum| sum);
        let nearest = after + usize::from(beyond - wanted < wanted - before);
        let least = starts.last().map_or(0, |&start| start + 1);
        starts.push(nearest.clamp(least, blocks - (workers - worker)));
    }
    starts.push(blocks);
    starts
}

/// Who has which block.
struct Layout {
    count: u32,
    shift: u32,
    blocks: usize,
    workers: usize,
    starts: Vec<usize>,
    transport: Transport,
}

impl Layout {
    fn share(&self, worker: usize) -> std::ops::Range<usize> {
        self.starts[worker]..self.starts[worker + 1]
    }

    /// A block of a worker whose processes start at `base`.
    fn block<M: crate::Wire>(&self, block: usize, base: u32) -> Block<M> {
        let first = (block as u32) << self.shift;
        let end = first.saturating_add(1 << self.shift).min(self.count);
        Block::new(first, (first - base) as usize, (end - first) as usize)
    }

    fn owner(&self, block: usize) -> usize {
        // The inverse of `share`: the last worker whose share starts at or before the block.
        self.starts.partition_point(|&start| start <= block) - 1
    }
}

/// What one worker brings home.
struct Share<M: Model> {
    processes: Vec<M::Process>,
    worker: M::Worker,
    last: Time,
    windows: u64,
    instants: u64,
    overflow: bool,
}

fn work<M: Model>(
    model: &M,
    layout: &Layout,
    exchange: &Exchange<M::Message>,
    me: usize,
    mut worker: M::Worker,
) -> Share<M> {
    let mine = layout.share(me);
    let base = (mine.start as u32) << layout.shift;
    let mut blocks: Vec<_> = mine.clone().map(|block| layout.block(block, base)).collect();
    let end = ((mine.end as u64) << layout.shift).min(layout.count.into());
    let mut processes = with_room((end as u32).saturating_sub(base) as usize);
    let mut agenda = Agenda::new(blocks.len());
    let mut out = Outbox::new(layout.blocks, layout.shift);
    let mut desk = Desk::new();
    let (mut last, mut windows, mut instants) = (Time::ZERO, 0, 0);
    let lookahead = model.lookahead();
    for turn in 0.. {
        let sent = deliver(layout, exchange, turn, me, &mut out, |block, mail| {
            agenda.mail(block - mine.start, mail.earliest, mail.urgent);
            mail.move_to(&mut blocks[block - mine.start].mail);
        });
        let stop = out.overflow || model.failed(&worker);
        let notice = Notice { stop, ..agenda.notice() }.join(sent);
        let all = exchange.agree(turn, me, notice);
        if all.stop || all.earliest == Time::MAX {
            break;
        }
        exchange.collect(turn, me, |parcel| {
            let local = parcel.block() as usize - mine.start;
            let block = &mut blocks[local];
            parcel.unpack(&mut block.mail, &mut out.spare);
            agenda.mail(local, block.mail.earliest, block.mail.urgent);
        });
        last = all.earliest;
        let instant = last.saturating_add(Time::from_ps(1));
        let answer = if all.answers { all.mail } else { Time::MAX };
        let until = last.saturating_add(lookahead).min(all.urgent).min(answer).max(instant);
        windows += 1;
        instants += u64::from(until == instant);
        for (local, block) in blocks.iter_mut().enumerate() {
            if agenda.earliest[local] < until {
                block.run(model, until, &mut processes, &mut worker, &mut desk, &mut out);
                agenda.ran(local, block);
            }
        }
        model.window_done(&mut worker, until);
    }
    Share { processes, worker, last, windows, instants, overflow: out.overflow }
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

    fn notice(&self) -> Notice {
        let least = |times: &[Time]| times.iter().copied().min().unwrap_or(Time::MAX);
        Notice {
            earliest: least(&self.earliest),
            urgent: least(&self.urgent),
            mail: least(&self.mail),
            answers: self.answering > 0,
            stop: false,
        }
    }
}

/// Hands over what has been sent: to `keep` for the worker's own blocks, else to the exchange.
/// Returns the earliest of what has left.
fn deliver<M: crate::Wire>(
    layout: &Layout,
    exchange: &Exchange<M>,
    turn: usize,
    me: usize,
    out: &mut Outbox<M>,
    mut keep: impl FnMut(usize, &mut crate::mail::Mail<M>),
) -> Notice {
    let mut sent = Notice::NONE;
    if out.addressed.is_empty() {
        return sent;
    }
    let mut parcels: Vec<Vec<Parcel<M>>> = (0..layout.workers).map(|_| Vec::new()).collect();
    for block in std::mem::take(&mut out.addressed) {
        let mail = &mut out.mail[block as usize];
        let owner = layout.owner(block as usize);
        if owner == me && layout.transport == Transport::Shared {
            keep(block as usize, mail);
            continue;
        }
        sent.earliest = sent.earliest.min(mail.earliest);
        sent.urgent = sent.urgent.min(mail.urgent);
        sent.mail = sent.earliest;
        parcels[owner].push(Parcel::pack(block, mail, layout.transport));
        mail.recycle(&mut out.spare);
    }
    for (to, parcels) in parcels.into_iter().enumerate() {
        if !parcels.is_empty() {
            exchange.post(turn, me, to, parcels);
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Next, Wire};

    #[derive(Clone, Copy)]
    struct Nothing;

    impl Wire for Nothing {
        fn encode(&self, _: &mut Vec<u8>) {}

        fn decode(_: &mut &[u8]) -> Option<Self> {
            Some(Self)
        }
    }

    /// The weights of processes.
    struct Weights(Vec<u32>);

    impl Model for Weights {
        type Process = ();
        type Message = Nothing;
        type Worker = ();

        fn process(&self, _: u32) {}

        fn lookahead(&self) -> Time {
            Time::ZERO
        }

        fn weight(&self, id: u32) -> u32 {
            self.0[id as usize]
        }

        fn run(
            &self,
            _: u32,
            (): &mut (),
            _: Time,
            _: &[Event<Nothing>],
            (): &mut (),
            _: &mut Outbox<Nothing>,
        ) -> Next {
            Next::NEVER
        }
    }

    /// Of 1000 processes that wait and two that do not, each worker has one of the two.
    #[test]
    fn those_without_weight_count_for_nothing() {
        let mut weights = vec![0; 1002];
        (weights[0], weights[1]) = (1, 1);
        let model = Weights(weights);
        let shift = block_shift(&model, 1002, 2);
        assert_eq!((shift, starts(&model, 1002, shift, 2)), (0, vec![0, 1, 1002]));
    }

    /// By hand. Blocks of two processes, two workers: equal weights 8 split 2 | 2; weights 1 1 1 1 1 1 1 9 of 16 in all: half
    /// is 8, the boundary at 6 (three blocks) is nearer than that at 16; with all weight at the front, 9
    /// first, the first block alone has 10 of 16. Three workers of four blocks 100 1 1 1: none is empty.
    #[test]
    fn shares_of_equal_weight() {
        let shares = |weights: &[u32], shift, workers| {
            starts(&Weights(weights.to_vec()), weights.len() as u32, shift, workers)
        };
        assert_eq!(shares(&[1; 8], 1, 2), [0, 2, 4]);
        assert_eq!(shares(&[1, 1, 1, 1, 1, 1, 1, 9], 1, 2), [0, 3, 4]);
        assert_eq!(shares(&[9, 1, 1, 1, 1, 1, 1, 1], 1, 2), [0, 1, 4]);
        assert_eq!(shares(&[100, 1, 1, 1], 0, 3), [0, 1, 2, 4]);
        assert_eq!(shares(&[1, 1, 1, 100], 0, 3), [0, 2, 3, 4]);
        assert_eq!(shares(&[1; 5], 0, 1), [0, 5]);
    }
}
