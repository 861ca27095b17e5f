//! The simulator's knowledge across ranks.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rank_ipc::arena::{Arena, Full};
use rank_ipc::hosts::Hosts;
use rank_ipc::start::Started;
use rank_ipc::{Collective, Memory, Offset, Rule, Samples};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Ended;
use crate::envelope::{Envelope, Envelopes};
use crate::expansion::Plan;
use crate::tags::Tags;

/// The costs of actions besides computation and messages, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// A call of the family of `MPI_Test`. Of several in a row the n-th costs n times as much, so
    /// that a program that polls does not stop the clock.
    pub test: u64,
    /// `MPI_Iprobe` and its kin, likewise.
    pub probe: u64,
    /// A look at the clock; after a hundred in a row each costs more than the one before, so that a
    /// program that waits for a time comes to it.
    pub clock: u64,
    /// The beginning of a process that a rank has started.
    pub start: u64,
}

/// The world is context 0, each rank alone is context 1: their slots are the same.
pub const FIRST_CONTEXT: u64 = 2;
/// The number of plans of collectives that are kept in any case.
const FEW_PLANS: usize = 64;
#[derive(Debug)]
pub struct Shared {
    /// By sending rank and operation.
    envelopes: Box<[Mutex<Envelopes>]>,
    boards: Mutex<Boards>,
    contexts: Mutex<Contexts>,
    pub tags: Tags,
    plans: Mutex<Plans>,
    /// The times that blocks of the program took, in all ranks.
    samples: Mutex<FxHashMap<u64, Samples>>,
    ended: Mutex<Option<Ended>>,
}

/// A member's part in a collective.
#[derive(Clone, Copy, Debug)]
pub struct MemberCall {
    pub collective: Collective,
    /// The root, where it has the same number for all.
    pub root: Option<u32>,
    /// Its number among the members.
    pub me: u32,
    pub contents: Offset,
}

impl MemberCall {
    /// The members of a communicator must call the same collective (MPI 4.1, section 6.14).
    fn check(&self, first: &Self) -> Result<(), String> {
        let said = |part: &Self| {
            let root = part.root.map(|root| format!(" with root {root}")).unwrap_or_default();
            format!("{:?}{root}", part.collective)
        };
        if self.collective == first.collective && self.root == first.root {
            return Ok(());
        }
        let (mine, theirs, other) = (said(self), said(first), first.me);
        Err(format!(
            "it calls the collective {mine} where rank {other} of the communicator called {theirs}"
        ))
    }
}

/// Lists of what the members of a communicator contribute to a collective.
#[derive(Debug)]
struct Boards {
    arena: Arena,
    open: FxHashMap<(u64, u64), Board>,
    /// The number of members that are not done with a collective, by the number that tells its
    /// messages from those of others.
    under_way: Vec<u32>,
    /// The numbers that are nobody's.
    free: Vec<u32>,
}

#[derive(Debug)]
struct Board {
    /// The place of its board; none if it is a collective without contents.
    place: Offset,
    /// The call of the first member who came.
    first: MemberCall,
    /// The number of members that have yet to contribute.
    missing: u32,
    /// A place in [`Boards::under_way`].
    number: u32,
}

/// Plans of collectives.
#[derive(Debug, Default)]
struct Plans {
    known: FxHashSet<Arc<Plan>>,
    /// If there are so many, those are forgotten that nobody has any more.
    most: usize,
}

/// The slots of contexts: small numbers that stand for them in the tags of messages.
#[derive(Debug, Default)]
struct Contexts {
    /// By context, its slot, and how many of its members have yet to release it.
    slots: FxHashMap<u64, (u32, u32)>,
    /// By context without a slot, how many of its members have released it.
    released: FxHashMap<u64, u32>,
    free: BTreeSet<u32>,
    next: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Boards {
    /// The number that tells a collective of `members` members from all others that are under way.
    fn number(&mut self, members: u32) -> u32 {
        if let Some(number) = self.free.pop() {
            if let Some(left) = self.under_way.get_mut(number as usize) {
                *left = members;
            }
            return number;
        }
        self.under_way.push(members);
        self.under_way.len() as u32 - 1
    }

    /// An empty list, if the collective has contents.
    fn list(
        &mut self,
        collective: Collective,
        members: u32,
        memory: &Memory,
    ) -> Result<Offset, Full> {
        if !collective.has_contents() {
            return Ok(0);
        }
        let words = 2 + u64::from(members);
        let place = self.arena.allocate(8 * words)?;
        for word in 0..words {
            memory.word(place + 8 * word).store(0, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(place)
    }
}

impl Shared {
    pub fn new(memory: Memory, ranks: u32) -> Self {
        let arena = Arena::new(memory, ranks);
        Self {
            envelopes: (0..ranks).map(|_| Mutex::default()).collect(),
            boards: Mutex::new(Boards {
                arena,
                open: FxHashMap::default(),
                under_way: Vec::new(),
                free: Vec::new(),
            }),
            contexts: Mutex::new(Contexts { next: FIRST_CONTEXT as u32, ..Contexts::default() }),
            tags: Tags::default(),
            plans: Mutex::default(),
            samples: Mutex::default(),
            ended: Mutex::default(),
        }
    }

    /// Tells ranks which hosts they are on.
    pub fn publish(&self, hosts: &Hosts, memory: &Memory) -> Result<(), Full> {
        hosts.publish(memory, &mut lock(&self.boards).arena)
    }

    /// Prefetches the envelopes of a rank's messages, which their receivers will ask for soon.
    pub fn prefetch_envelopes(&self, rank: u32) {
        self.envelopes.get(rank as usize).into_iter().for_each(kernel::prefetch);
    }

    pub fn send(&self, rank: u32, index: u32, envelope: Envelope) {
        if let Some(envelopes) = self.envelopes.get(rank as usize) {
            lock(envelopes).put(index, envelope);
        }
    }

    pub fn receive(&self, rank: u32, index: u32) -> Option<Envelope> {
        lock(self.envelopes.get(rank as usize)?).take(index)
    }

    /// A plan of a collective, shared with all who have the same one.
    pub fn plan(&self, plan: Plan) -> Arc<Plan> {
        let mut plans = lock(&self.plans);
        if let Some(known) = plans.known.get(&plan) {
            return Arc::clone(known);
        }
        if plans.known.len() >= plans.most {
            plans.known.retain(|plan| Arc::strong_count(plan) > 1);
            plans.most = (2 * plans.known.len()).max(FEW_PLANS);
        }
        let plan = Arc::new(plan);
        plans.known.insert(Arc::clone(&plan));
        plan
    }

    /// A member contributes to a collective; gives the list, and what tells its messages from
    /// others until all members are done with it.
    pub fn contribute(
        &self,
        key: (u64, u64),
        members: u32,
        part: MemberCall,
        memory: &Memory,
    ) -> Result<(Offset, u32), String> {
        let boards = &mut *lock(&self.boards);
        if !boards.open.contains_key(&key) {
            let place =
                boards.list(part.collective, members, memory).map_err(|full| full.to_string())?;
            let number = boards.number(members);
            boards.open.insert(key, Board { place, first: part, missing: members, number });
        }
        let Some(board) = boards.open.get_mut(&key) else { return Ok((0, 0)) };
        part.check(&board.first)?;
        let (place, number) = (board.place, board.number);
        if place != 0 {
            let slot = place + 8 * (2 + u64::from(part.me));
            memory.word(slot).store(part.contents, std::sync::atomic::Ordering::Release);
        }
        board.missing -= 1;
        if board.missing == 0 {
            boards.open.remove(&key);
        }
        Ok((place, number))
    }

    /// A member is done with a collective: all its messages have come.
    pub fn over(&self, number: u32) {
        let boards = &mut *lock(&self.boards);
        let Some(left) = boards.under_way.get_mut(number as usize) else { return };
        *left = left.saturating_sub(1);
        if *left == 0 {
            boards.free.push(number);
        }
    }

    /// The place of an answer to a rank that has processes started; 0 if there is no room.
    pub fn answer(&self, started: &Started, memory: &Memory) -> Offset {
        let place = lock(&self.boards).arena.allocate(rank_ipc::start::room(started)).unwrap_or(0);
        if place != 0 {
            rank_ipc::start::write(memory, place, started);
        }
        place
    }

    /// A block of the program took so many nanoseconds.
    pub fn sampled(&self, block: u64, nanoseconds: u64) {
        lock(&self.samples).entry(block).or_default().add(nanoseconds);
    }

    /// The mean of a block, or `u64::MAX` if there are not enough.
    pub fn enough(&self, block: u64, rule: Rule) -> u64 {
        let samples = lock(&self.samples).get(&block).copied().unwrap_or_default();
        samples.enough(rule).unwrap_or(u64::MAX)
    }

    /// Returns the slot of a context that has so many members.
    pub fn slot(&self, context: u64, members: u32) -> u32 {
        if context < FIRST_CONTEXT {
            return context as u32;
        }
        let contexts = &mut *lock(&self.contexts);
        if let Some((slot, _)) = contexts.slots.get(&context) {
            return *slot;
        }
        let slot = contexts.free.pop_first().unwrap_or_else(|| {
            contexts.next += 1;
            contexts.next - 1
        });
        let released = contexts.released.remove(&context).unwrap_or(0);
        contexts.slots.insert(context, (slot, members.saturating_sub(released)));
        slot
    }

    /// One of so many members no longer uses a context. Others may use it for the first time later.
    pub fn release(&self, context: u64, members: u32) {
        let contexts = &mut *lock(&self.contexts);
        let Some((slot, members)) = contexts.slots.get_mut(&context) else {
            let released = contexts.released.entry(context).or_insert(0);
            *released += 1;
            if *released == members {
                contexts.released.remove(&context);
            }
            return;
        };
        *members = members.saturating_sub(1);
        if *members == 0 {
            let slot = *slot;
            contexts.slots.remove(&context);
            contexts.free.insert(slot);
        }
    }

    /// The program ends early; the first to say so counts.
    pub fn end(&self, ended: Ended) {
        lock(&self.ended).get_or_insert(ended);
    }

    pub fn ended(&self) -> Option<Ended> {
        lock(&self.ended).clone()
    }
}
