//! Workers in several processes of the system, each of which may have several of them.
//!
//! In each turn every process sends one message to each other: the bounds of its workers, joined,
//! and their mail. The last worker of a process that publishes its bounds sends; the first that
//! needs what the others have sent receives. Within a process mail passes as between threads.

use std::fmt::Debug;
use std::ops::Range;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use super::meeting::SETS;
use super::{Bounds, Parcel, Route, Spare, Threads, Transport};
use crate::Wire;
use crate::sync::{Mutex, PoisonError};

/// The processes of a run, as one of them sees the others.
///
/// **Who calls when.** A process calls from any of its threads, also from several at a time; for
/// two processes, one thread at a time sends from one to the other, and one receives.
///
/// **What is promised.** Between two processes, what is received comes in the order in which it was
/// sent, whole. [`Peers::send`] does not wait for the receiver; [`Peers::receive`] waits for the
/// sender, and leaves the core to others meanwhile. If a process ends without a word, or calls
/// [`Peers::abandon`], all are ended.
pub trait Peers: Debug + Send + Sync + RefUnwindSafe {
    /// Returns the number of this process, from 0.
    fn me(&self) -> usize;

    /// Returns the number of processes.
    fn count(&self) -> usize;

    /// Sends bytes to another process.
    fn send(&self, to: usize, bytes: Vec<u8>);

    /// Returns the next bytes from another process.
    fn receive(&self, from: usize) -> Vec<u8>;

    /// Ends all processes, this one included.
    fn abandon(&self);
}

/// Hands bytes to all processes, and returns those of all, this one included, by their numbers. All
/// processes call it at the same place.
pub fn exchange(peers: &dyn Peers, mut mine: Vec<u8>) -> Vec<Vec<u8>> {
    let (me, all) = (peers.me(), 0..peers.count());
    all.clone().filter(|to| *to != me).for_each(|to| peers.send(to, mine.clone()));
    let bytes = |from| if from == me { std::mem::take(&mut mine) } else { peers.receive(from) };
    all.map(bytes).collect()
}

/// Bounds and mail of a turn that wait for the last worker of the process.
struct Leaving {
    /// The number of workers that have published their bounds.
    published: usize,
    bounds: Bounds,
    /// Sections of mail for each process: the worker, the number of bytes, the parcels.
    mail: Vec<Vec<u8>>,
}

/// The messages that this process has sent.
struct Sent {
    /// The number of turns.
    turns: usize,
    /// The bounds of this process, by turn.
    bounds: [Bounds; SETS],
}

/// A section of a message that has arrived.
type Section = (Arc<Vec<u8>>, Range<usize>);

/// The messages of others.
struct Arriving {
    /// The turn whose messages come next.
    turn: usize,
    /// The bounds of all other processes, by turn.
    bounds: [Bounds; SETS],
    /// The mail of each worker of this process, by turn.
    inbox: [Vec<Vec<Section>>; SETS],
}

/// Passes mail to the workers of other processes as bytes, and by reference within the process.
pub struct Processes<M> {
    peers: &'static dyn Peers,
    /// The first worker of each process, and the number of workers.
    starts: Vec<usize>,
    local: Threads<M>,
    /// The mail and bounds to be sent. With a lag of one, workers may post for the next turn before
    /// the last one has published its bounds for this one.
    leaving: [Mutex<Leaving>; 2],
    ours: Mutex<Sent>,
    arriving: Mutex<Arriving>,
}

impl<M: Wire> Processes<M> {
    /// Returns the transport of a process of a run; `starts` are the numbers of the first worker of
    /// each process, and the number of workers. Each process has one worker or more.
    pub fn new(peers: &'static dyn Peers, starts: Vec<usize>) -> Self {
        let (me, count) = (peers.me(), peers.count());
        let workers = starts[me + 1] - starts[me];
        let leaving = |_| {
            let mail = vec![Vec::new(); count];
            Mutex::new(Leaving { published: 0, bounds: Bounds::NONE, mail })
        };
        let arriving = Arriving {
            turn: 0,
            bounds: [Bounds::NONE; SETS],
            inbox: std::array::from_fn(|_| vec![Vec::new(); workers]),
        };
        Self {
            peers,
            starts,
            local: Threads::new(workers),
            leaving: std::array::from_fn(leaving),
            ours: Mutex::new(Sent { turns: 0, bounds: [Bounds::NONE; SETS] }),
            arriving: Mutex::new(arriving),
        }
    }

    /// Returns the workers of this process.
    pub fn workers_here(&self) -> Range<usize> {
        let me = self.peers.me();
        self.starts[me]..self.starts[me + 1]
    }

    /// Takes what the others have sent and no worker needed to know. A process calls it when its
    /// workers are done, so that what is received next was sent after the run.
    pub fn drain(&self) {
        let turns = lock(&self.ours).turns;
        if let Some(last) = turns.checked_sub(1) {
            self.arrived(last);
        }
    }

    /// Notes the bounds of a worker, and sends those of the process and its mail if it is the last.
    fn publish(&self, turn: usize, mine: Bounds) {
        let mut leaving = lock(&self.leaving[turn % 2]);
        leaving.published += 1;
        leaving.bounds = leaving.bounds.join(mine);
        if leaving.published < self.workers_here().len() {
            return;
        }
        let bounds = std::mem::replace(&mut leaving.bounds, Bounds::NONE);
        leaving.published = 0;
        let words: Vec<u8> = bounds.words().into_iter().flat_map(u64::to_le_bytes).collect();
        for (to, mail) in leaving.mail.iter_mut().enumerate() {
            if to != self.peers.me() {
                let mut bytes = Vec::with_capacity(words.len() + mail.len());
                bytes.extend_from_slice(&words);
                bytes.append(mail);
                self.peers.send(to, bytes);
            }
        }
        let mut ours = lock(&self.ours);
        ours.bounds[turn % SETS] = bounds;
        ours.turns = turn + 1;
    }

    /// Waits for the messages of others of a turn, and returns their bounds.
    fn arrived(&self, turn: usize) -> Bounds {
        let mut arriving = lock(&self.arriving);
        while arriving.turn <= turn {
            let set = arriving.turn % SETS;
            let mut all = Bounds::NONE;
            for from in (0..self.peers.count()).filter(|from| *from != self.peers.me()) {
                let message = Arc::new(self.peers.receive(from));
                let bounds = take(&message, self.workers_here().start, &mut arriving.inbox[set]);
                debug_assert!(bounds.is_some(), "a message that does not decode");
                all = all.join(bounds.unwrap_or(Bounds::NONE));
            }
            arriving.bounds[set] = all;
            arriving.turn += 1;
        }
        arriving.bounds[turn % SETS]
    }
}

/// Puts the sections of a message into the inboxes of the workers, of which `first` is the first,
/// and returns its bounds; `None` if it is not such a message.
fn take(message: &Arc<Vec<u8>>, first: usize, inbox: &mut [Vec<Section>]) -> Option<Bounds> {
    let mut rest = message.as_slice();
    let word = |rest: &mut &[u8]| {
        let (word, behind) = rest.split_first_chunk()?;
        *rest = behind;
        Some(u64::from_le_bytes(*word))
    };
    let mut words = [0; Bounds::WORDS];
    for slot in &mut words {
        *slot = word(&mut rest)?;
    }
    while !rest.is_empty() {
        let (worker, bytes) = (word(&mut rest)? as usize, word(&mut rest)? as usize);
        let start = message.len() - rest.len();
        rest = rest.get(bytes..)?;
        let inbox = inbox.get_mut(worker.checked_sub(first)?)?;
        inbox.push((Arc::clone(message), start..start + bytes));
    }
    Some(Bounds::from_words(words))
}

fn lock<T>(mutex: &Mutex<T>) -> impl std::ops::DerefMut<Target = T> + '_ {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Wire> Transport<M> for Processes<M> {
    fn workers(&self) -> usize {
        self.starts.last().map_or(0, |workers| *workers)
    }

    fn post(&self, turn: usize, route: Route, parcels: &mut Vec<Parcel<M>>, spare: &mut Spare<M>) {
        let here = self.workers_here();
        if here.contains(&route.to) {
            let route = Route { from: route.from - here.start, to: route.to - here.start };
            self.local.post(turn, route, parcels, spare);
            return;
        }
        let process = self.starts.partition_point(|start| *start <= route.to) - 1;
        let mut leaving = lock(&self.leaving[turn % 2]);
        let mail = &mut leaving.mail[process];
        mail.extend_from_slice(&(route.to as u64).to_le_bytes());
        let length = mail.len();
        mail.extend_from_slice(&[0; 8]);
        for mut parcel in parcels.drain(..) {
            parcel.encode(mail);
            parcel.events.clear();
            spare.push(parcel.events);
        }
        let bytes = (mail.len() - length - 8) as u64;
        mail[length..length + 8].copy_from_slice(&bytes.to_le_bytes());
    }

    fn agree(&self, turn: usize, lag: usize, me: usize, mine: Bounds) -> Bounds {
        self.publish(turn, mine);
        // Returns when all workers of this process have published theirs for the turn in question.
        self.local.agree(turn, lag, me - self.workers_here().start, mine);
        let Some(turn) = turn.checked_sub(lag) else { return Bounds::START };
        let others = self.arrived(turn);
        others.join(lock(&self.ours).bounds[turn % SETS])
    }

    fn collect(
        &self,
        turn: usize,
        me: usize,
        spare: &mut Spare<M>,
        each: &mut dyn FnMut(Parcel<M>, &mut Spare<M>),
    ) {
        let me = me - self.workers_here().start;
        self.local.collect(turn, me, spare, each);
        let sections = std::mem::take(&mut lock(&self.arriving).inbox[turn % SETS][me]);
        for (message, section) in sections {
            let mut rest = &message[section];
            while let Some(parcel) = Parcel::decode(&mut rest, spare) {
                each(parcel, spare);
            }
            debug_assert!(rest.is_empty(), "a parcel that does not decode");
        }
    }

    fn in_order(&self, _: usize, _: usize) {
        panic!("processes of the system cannot take turns within a window");
    }

    fn abandon(&self) {
        self.local.abandon();
        self.peers.abandon();
    }
}
