//! Workers that share no memory: a transport over pipes of bytes, as processes on several machines
//! would have. It shows that the kernel's seam carries nothing that is not bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::ScopedJoinHandle;

use kernel::{Bounds, Model, Parcel, Route, Spare, Transport, Wire, execute_over};

use crate::order::{Notes, Nothing};
use crate::toy::Toy;
use crate::{by_number, oracle};

/// The kinds of frames, the first byte of each. The turn follows, and then mail or bounds.
const MAIL: u8 = 0;
const BOUNDS: u8 = 1;
const ABANDON: u8 = 2;

/// The end of one worker: a pipe to each other, and the frames that have come from them.
struct Pipes {
    to: Vec<Sender<(usize, Vec<u8>)>>,
    inbox: Mutex<Inbox>,
}

struct Inbox {
    from: Receiver<(usize, Vec<u8>)>,
    /// By turn and worker. A worker's mail of a turn comes before its bounds.
    bounds: HashMap<(u64, usize), Bounds>,
    mail: BTreeMap<u64, Vec<Vec<u8>>>,
}

impl Inbox {
    /// Receives until the bounds of a worker are there.
    fn bounds_of(&mut self, turn: usize, worker: usize) -> Bounds {
        let key = (turn as u64, worker);
        while !self.bounds.contains_key(&key) {
            let (from, frame) = self.from.recv().expect("a worker that is there");
            let (kind, rest) = frame.split_first().expect("a kind");
            assert_ne!(*kind, ABANDON, "worker {from} has panicked");
            let (turn, content) = rest.split_first_chunk().expect("a turn");
            let turn = u64::from_le_bytes(*turn);
            if *kind == MAIL {
                self.mail.entry(turn).or_default().push(content.to_vec());
                continue;
            }
            let (words, _) = content.as_chunks::<8>();
            let words = std::array::from_fn(|word| u64::from_le_bytes(words[word]));
            self.bounds.insert((turn, from), Bounds::from_words(words));
        }
        self.bounds[&key]
    }
}

impl Pipes {
    /// Returns the ends of so many workers.
    fn connect(workers: usize) -> Vec<Self> {
        let (to, from): (Vec<_>, Vec<_>) = (0..workers).map(|_| channel()).unzip();
        let inbox = |from| Inbox { from, bounds: HashMap::new(), mail: BTreeMap::new() };
        let ends = from.into_iter().map(|from| Self { to: to.clone(), inbox: inbox(from).into() });
        ends.collect()
    }

    fn frame(kind: u8, turn: usize) -> Vec<u8> {
        let mut frame = vec![kind];
        frame.extend_from_slice(&(turn as u64).to_le_bytes());
        frame
    }

    fn tell_all(&self, me: usize, frame: &[u8]) {
        // Who has ended the run needs no more frames.
        self.to.iter().for_each(|to| drop(to.send((me, frame.to_vec()))));
    }
}

impl<M: Wire> Transport<M> for Pipes {
    fn workers(&self) -> usize {
        self.to.len()
    }

    fn post(&self, turn: usize, route: Route, parcels: &mut Vec<Parcel<M>>, _: &mut Spare<M>) {
        let mut frame = Self::frame(MAIL, turn);
        parcels.drain(..).for_each(|parcel| parcel.encode(&mut frame));
        self.to[route.to].send((route.from, frame)).expect("a worker that is there");
    }

    fn agree(&self, turn: usize, lag: usize, me: usize, mine: Bounds) -> Bounds {
        let mut frame = Self::frame(BOUNDS, turn);
        mine.words().iter().for_each(|word| frame.extend_from_slice(&word.to_le_bytes()));
        self.tell_all(me, &frame);
        let Some(turn) = turn.checked_sub(lag) else { return Bounds::START };
        let mut inbox = self.inbox.lock().unwrap();
        let words = (0..self.to.len()).map(|worker| inbox.bounds_of(turn, worker).words());
        let least = |a: [u64; Bounds::WORDS], b: [u64; Bounds::WORDS]| {
            std::array::from_fn(|word| a[word].min(b[word]))
        };
        Bounds::from_words(words.reduce(least).expect("a worker"))
    }

    fn collect(
        &self,
        turn: usize,
        _: usize,
        spare: &mut Spare<M>,
        each: &mut dyn FnMut(Parcel<M>, &mut Spare<M>),
    ) {
        let mail = self.inbox.lock().unwrap().mail.remove(&(turn as u64));
        for frame in mail.into_iter().flatten() {
            let mut rest = frame.as_slice();
            while !rest.is_empty() {
                each(Parcel::decode(&mut rest, spare).expect("a parcel"), spare);
            }
        }
    }

    fn in_order(&self, turn: usize, me: usize) {
        let mut inbox = self.inbox.lock().unwrap();
        for worker in (0..self.to.len()).filter(|worker| *worker != me) {
            inbox.bounds_of(turn + usize::from(worker < me), worker);
        }
    }

    fn abandon(&self) {
        self.tell_all(usize::MAX, &[ABANDON]);
    }
}

/// Runs a model on workers that are connected by pipes; each is a process of its own to the kernel.
fn run<M: Model>(model: &M, count: u32, workers: usize) -> Vec<std::thread::Result<M::Worker>>
where
    M::Worker: Default,
{
    std::thread::scope(|scope| {
        let work = |(me, end): (usize, Pipes)| {
            scope.spawn(move || {
                let transport: Arc<dyn Transport<M::Message>> = Arc::new(end);
                let worker = M::Worker::default;
                let finished = execute_over(model, count, &transport, me..me + 1, worker);
                let finished = finished.expect("a thread").expect("no error");
                finished.workers.into_iter().next().expect("a worker")
            })
        };
        let threads: Vec<_> = Pipes::connect(workers).into_iter().enumerate().map(work).collect();
        threads.into_iter().map(ScopedJoinHandle::join).collect()
    })
}

#[test]
fn equals_a_heap_over_pipes() {
    for workers in [1, 2, 3, 7] {
        for (lookahead, halves) in [(0, false), (20, false), (300, true)] {
            let toy = Toy { processes: 65, lookahead, seed: 4, hops: 8, halves };
            let logs = run(&toy, 65, workers).into_iter().map(|logs| logs.expect("no panic"));
            assert!(by_number(logs.collect()) == oracle::logs(&toy), "{workers}: {toy:?}");
        }
    }
}

/// The notes are kept in shared memory here, so that their order can be seen.
#[test]
fn those_before_run_before_over_pipes() {
    let notes = Notes::default();
    for worker in run(&notes, 13, 3) {
        worker.expect("no panic");
    }
    assert!(notes.0.into_inner().unwrap().is_sorted());
}

/// Whoever waits for a worker that has abandoned the others panics instead.
#[test]
fn nobody_waits_for_a_pipe_that_is_abandoned() {
    let mut ends = Pipes::connect(2);
    let (second, first) = (ends.pop().expect("two ends"), ends.pop().expect("two ends"));
    Transport::<Nothing>::abandon(&first);
    let agree = || Transport::<Nothing>::agree(&second, 0, 0, 1, Bounds::NONE);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(agree)).is_err());
}
