//! Operations of a rank and what they wait for, as they become known.
//!
//! Each message makes operations, and between two of its turns a rank's memory leaves the
//! processor's cache. So what changes of an operation fills one cache line, and operations lie in
//! the order in which they became known.

use host::Stamp;
use rustc_hash::FxHashMap;
use schedule::{Edge, Kind, Op};
use smallvec::SmallVec;

/// The number of operations of a rank that are prefetched, as those that are likely to go on next.
const SOON: u32 = 8;
/// The number of operations that a rank often adds when it runs.
const ADDED: u32 = 12;
/// The number of others that wait for an operation, usually.
const FEW: usize = 2;
/// Room for operations at first.
const ROOM: usize = 24;

/// Something that an operation is or has.
pub type Flags = u16;
/// The first of those that it waits for is enough.
pub const ANY: Flags = 1;
/// Of a receive: it takes a message that is there, or none. Of a computation: it is done as soon as
/// it is free, without the processor.
pub const AT_ONCE: Flags = 1 << 1;
/// Of a send: it is a blocking call. Of a receive: it is waited for in the order of posting.
pub const BLOCKING: Flags = 1 << 2;
/// Of a computation: it is done at the moment from which on it may start, without the processor.
pub const ALARM: Flags = BLOCKING;
/// An operation of the program is done only when this one is.
pub const END: Flags = 1 << 3;
/// Of a receive: it has met its message and need not start.
pub const MET: Flags = 1 << 4;
/// Of a receive: the program will not wait for it.
pub const LEFT: Flags = 1 << 14;
/// The program will still speak of it.
pub const PINNED: Flags = 1 << 15;
const THERE: Flags = 1 << 5;
/// It begins with computation, which is not done.
const COMPUTES: Flags = 1 << 6;
const DONE: Flags = 1 << 7;
/// A receive is withdrawn when it starts; more than [`FEW`] wait for it.
const CANCELS: Flags = 1 << 8;
const MORE: Flags = 1 << 9;
/// By place in [`Node::after`]: another waits for it; that one waits for its start.
const AFTER: Flags = 1 << 10;
const FOR_START: Flags = 1 << 12;
/// The flags of all places.
const ALL: Flags = (1 << FEW) - 1;

/// No operation of the program.
const NONE: u32 = u32::MAX;

/// In [`Work::before`]: the time is in [`Rare::long`].
const LONG: u32 = u32::MAX;

/// The part of an operation that changes.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node {
    /// The time from which it may start, as far as is known; once it is done, when that was.
    at: Stamp,
    /// The operations that wait for it.
    after: [u32; FEW],
    /// The number of operations that it still waits for.
    missing: u32,
    kind: Kind,
    flags: Flags,
}

/// The part of an operation that does not change.
#[derive(Clone, Copy, Debug)]
struct Work {
    size: u64,
    /// The computation that it begins with, in picoseconds.
    before: u32,
    peer: u32,
    tag: u32,
    /// The operation of the program that it is part of.
    ticket: u32,
}

/// State that few ranks need.
#[derive(Debug, Default)]
struct Rare {
    /// Operations that became known long before the others.
    old: FxHashMap<u32, (Node, Work)>,
    /// The operations that wait for an operation beside [`Node::after`].
    more: FxHashMap<u32, Vec<(u32, Edge)>>,
    /// The receives that are withdrawn when an operation starts.
    cancels: FxHashMap<u32, u32>,
    /// The computations before operations that last longer than their place can tell.
    long: FxHashMap<u32, u64>,
}

/// Operations by number. Numbers ascend modulo 2^32 in the order in which operations become known,
/// which decides between those that could start at the same time.
#[derive(Debug, Default)]
pub struct Graph {
    /// The oldest operation in the ring, its place, and the next operation.
    first: u32,
    begin: u32,
    next: u32,
    nodes: Vec<Node>,
    works: Vec<Work>,
    /// The number of operations in the ring.
    count: u32,
    /// The oldest that is not complete but for [`Graph::seal`].
    open: u32,
    /// Operations that wait for nothing any more and have not been posted.
    ready: SmallVec<[u32; 4]>,
    rare: Option<Box<Rare>>,
}

impl Node {
    const NONE: Self =
        Self { at: host::START, after: [0; FEW], missing: 0, kind: Kind::Calc, flags: 0 };

    /// [`Stamp::join`] in place: as it is carried out most, nothing is moved that stays the same.
    #[inline]
    fn wait_until(&mut self, other: &Stamp) {
        if other.time > self.at.time {
            (self.at.time, self.at.path) = (other.time, other.path);
        }
        self.at.cause = self.at.cause.max(other.cause);
    }

    fn has(&self, flags: Flags) -> bool {
        self.flags & flags != 0
    }

    /// Flags of those that wait for the start, or with `Done` all, of the first [`FEW`]: by place,
    /// as in [`ALL`].
    fn met(&self, edge: Edge) -> Flags {
        let all = (self.flags / AFTER) & ALL;
        if edge == Edge::Done { all } else { all & (self.flags / FOR_START) }
    }
}

impl Graph {
    fn place(&self, index: u32) -> Option<usize> {
        let here = index.wrapping_sub(self.first) < self.next.wrapping_sub(self.first);
        here.then(|| self.behind(index.wrapping_sub(self.first)))
    }

    /// The place of an operation that became known so many after the oldest.
    #[inline]
    fn behind(&self, offset: u32) -> usize {
        let place = self.begin as usize + offset as usize;
        if place < self.nodes.len() { place } else { place - self.nodes.len() }
    }

    fn node(&self, index: u32) -> Option<&Node> {
        let node = match self.place(index) {
            Some(place) => self.nodes.get(place)?,
            None => &self.rare.as_ref()?.old.get(&index)?.0,
        };
        node.has(THERE).then_some(node)
    }

    #[inline]
    fn node_mut(&mut self, index: u32) -> Option<&mut Node> {
        let node = match self.place(index) {
            Some(place) => self.nodes.get_mut(place)?,
            None => &mut self.rare.as_mut()?.old.get_mut(&index)?.0,
        };
        node.has(THERE).then_some(node)
    }

    fn work(&self, index: u32) -> Option<&Work> {
        match self.place(index) {
            Some(place) => self.works.get(place),
            None => Some(&self.rare.as_ref()?.old.get(&index)?.1),
        }
    }

    fn work_mut(&mut self, index: u32) -> Option<&mut Work> {
        match self.place(index) {
            Some(place) => self.works.get_mut(place),
            None => Some(&mut self.rare.as_mut()?.old.get_mut(&index)?.1),
        }
    }

    /// Returns whether it is there and has not been handed out.
    pub fn is_held(&self, index: u32) -> bool {
        let is_open = index.wrapping_sub(self.open) < self.next.wrapping_sub(self.open);
        self.node(index).is_some_and(|node| {
            node.missing > 0 || node.has(COMPUTES) || is_open || self.ready.contains(&index)
        })
    }

    /// It does nothing, but others wait for it as before.
    pub fn void(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.kind = Kind::Calc;
        }
        if let Some(work) = self.work_mut(index) {
            work.size = 0;
        }
    }

    /// Returns what an operation does now.
    #[inline]
    pub fn op(&self, index: u32) -> Option<Op> {
        let Work { peer, tag, size, before, .. } = *self.work(index)?;
        let node = self.node(index)?;
        if !node.has(COMPUTES) {
            return Some(Op { kind: node.kind, peer, tag, size, cpu: 0, nic: 0 });
        }
        let long = || self.rare.as_ref()?.long.get(&index).copied();
        let size = if before == LONG { long()? } else { before.into() };
        Some(Op { kind: Kind::Calc, peer: 0, tag: 0, size, cpu: 0, nic: 0 })
    }

    /// An operation, which has not been posted, begins with computation.
    pub fn compute_before(&mut self, index: u32, time: u64) {
        self.mark(index, COMPUTES);
        let before = u32::try_from(time).unwrap_or(LONG);
        if before == LONG {
            self.rare.get_or_insert_default().long.insert(index, time);
        }
        if let Some(work) = self.work_mut(index) {
            work.before = before;
        }
    }

    /// The computation that an operation begins with is done, if it is that.
    pub fn computed(&mut self, index: u32, at: &Stamp) -> bool {
        let Some(node) = self.node_mut(index).filter(|node| node.has(COMPUTES)) else {
            return false;
        };
        node.flags &= !COMPUTES;
        node.at = *at;
        self.ready.push(index);
        if self.work(index).is_some_and(|work| work.before == LONG)
            && let Some(rare) = &mut self.rare
        {
            rare.long.remove(&index);
        }
        true
    }

    /// The operation of the program that it is part of.
    pub fn ticket(&self, index: u32) -> Option<u32> {
        Some(self.work(index)?.ticket).filter(|ticket| *ticket != NONE)
    }

    /// Returns whether it is one of these.
    pub fn is(&self, index: u32, flags: Flags) -> bool {
        self.node(index).is_some_and(|node| node.has(flags))
    }

    /// True if it is an alarm.
    pub fn is_alarm(&self, index: u32) -> bool {
        self.node(index).is_some_and(|node| node.kind == Kind::Calc && node.has(ALARM))
    }

    /// Returns whether something may wait for its start.
    pub fn is_waited_to_start(&self, index: u32) -> bool {
        self.is(index, MORE | (ALL * FOR_START))
    }

    /// It is all of these.
    pub fn mark(&mut self, index: u32, flags: Flags) {
        if let Some(node) = self.node_mut(index) {
            node.flags |= flags;
        }
    }

    /// Returns whether it is done and somebody will still speak of it.
    pub fn is_done(&self, index: u32) -> bool {
        self.is(index, DONE)
    }

    /// Prefetches the oldest operations, which are about to be asked for.
    pub fn prefetch(&self) {
        for index in (0..SOON).map(|offset| self.first.wrapping_add(offset)) {
            let Some(place) = self.place(index) else { return };
            self.nodes.get(place).into_iter().for_each(kernel::prefetch);
            self.works.get(place).into_iter().for_each(kernel::prefetch);
        }
    }

    /// Prefetches the room of operations that are about to be added.
    pub fn prefetch_room(&self) {
        let last = self.next.wrapping_sub(self.first);
        for place in (last..last + ADDED).map(|offset| self.behind(offset)) {
            self.nodes.get(place).into_iter().for_each(kernel::prefetch);
            self.works.get(place).into_iter().for_each(kernel::prefetch);
        }
    }

    /// The number of the next operation.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Adds an operation, perhaps of one of the program. It does not start before [`Graph::seal`].
    pub fn add(&mut self, op: Op, ticket: Option<u32>) -> u32 {
        if self.next.wrapping_sub(self.first) as usize == self.nodes.len() {
            self.make_room();
        }
        let index = self.next;
        let place = self.behind(index.wrapping_sub(self.first));
        let Op { kind, peer, tag, size, .. } = op;
        if let (Some(node), Some(work)) = (self.nodes.get_mut(place), self.works.get_mut(place)) {
            *node = Node { kind, flags: THERE, ..Node::NONE };
            *work = Work { size, before: 0, peer, tag, ticket: ticket.unwrap_or(NONE) };
        }
        self.next = index.wrapping_add(1);
        self.count += 1;
        index
    }

    /// Makes room in the ring, which is full. If most of what was in it is gone, the oldest has to
    /// leave, and the room behind it is free.
    #[cold]
    fn make_room(&mut self) {
        let (index, length) = (self.first, self.nodes.len());
        if (self.count as usize) < length / 2
            && let Some(place) = self.place(index)
            && let (Some(node), Some(work)) = (self.nodes.get_mut(place), self.works.get(place))
        {
            let old = (std::mem::replace(node, Node::NONE), *work);
            self.rare.get_or_insert_default().old.insert(index, old);
            self.count -= 1;
            return self.advance();
        }
        let longer = (length + length / 2).max(ROOM);
        let nothing = Work { size: 0, before: 0, peer: 0, tag: 0, ticket: NONE };
        self.nodes.rotate_left(self.begin as usize);
        self.works.rotate_left(self.begin as usize);
        self.begin = 0;
        self.nodes.reserve_exact(longer - length);
        self.works.reserve_exact(longer - length);
        self.nodes.resize(longer, Node::NONE);
        self.works.resize(longer, nothing);
    }

    /// Withdraws a receive when an operation starts.
    pub fn cancel(&mut self, index: u32, receive: u32) {
        self.mark(index, CANCELS);
        self.rare.get_or_insert_default().cancels.insert(index, receive);
    }

    /// The receive that is withdrawn when an operation starts.
    pub fn cancels(&self, index: u32) -> Option<u32> {
        self.node(index).filter(|node| node.has(CANCELS))?;
        self.rare.as_ref()?.cancels.get(&index).copied()
    }

    /// An operation waits for another, or has waited for it.
    pub fn depend(&mut self, index: u32, on: u32, edge: Edge) {
        let Some(before) = self.node(on) else { return };
        if before.has(DONE) {
            let at = before.at;
            return self.since(index, &at);
        }
        self.follow(on, index, edge);
        self.expect(index, 1);
    }

    /// An operation does not start before a moment.
    pub fn since(&mut self, index: u32, at: &Stamp) {
        if let Some(node) = self.node_mut(index) {
            node.wait_until(at);
        }
    }

    /// An operation will be set free by so many others: by [`Graph::follow`].
    pub fn expect(&mut self, index: u32, others: u32) {
        if let Some(node) = self.node_mut(index) {
            node.missing += others;
        }
    }

    /// An operation, which is not done, will set another free.
    pub fn follow(&mut self, index: u32, next: u32, edge: Edge) {
        let Some(node) = self.node_mut(index) else { return };
        let used = (node.flags / AFTER) & ALL;
        let place = used.trailing_ones();
        if let Some(after) = node.after.get_mut(place as usize) {
            *after = next;
            node.flags |= AFTER << place;
            if edge == Edge::Started {
                node.flags |= FOR_START << place;
            } else {
                node.flags &= !(FOR_START << place);
            }
            return;
        }
        node.flags |= MORE;
        self.rare.get_or_insert_default().more.entry(index).or_default().push((next, edge));
    }

    /// Completes the operations that were added: those that wait for nothing are ready.
    pub fn seal(&mut self) {
        while self.open != self.next {
            let is_free = |node: &Node| node.missing == 0 && !node.has(MET);
            if self.node(self.open).is_some_and(is_free) {
                self.ready.push(self.open);
            }
            self.open = self.open.wrapping_add(1);
        }
    }

    /// Hands out what may start now, in the order of numbers.
    pub fn post(&mut self, mut post: impl FnMut(u32, Op, &Stamp)) {
        if self.ready.len() > 1 {
            self.ready.sort_unstable();
        }
        // They stay where they are: to take them out, words would be read as larger ones than they
        // were written in just before.
        for &index in &self.ready {
            if let (Some(node), Some(op)) = (self.node(index), self.op(index)) {
                post(index, op, &node.at);
            }
        }
        if self.ready.spilled() {
            self.ready = SmallVec::new();
        } else {
            self.ready.clear();
        }
    }

    /// An operation has started or is done. If an operation of the program may be done with that:
    /// which.
    pub fn reached(&mut self, index: u32, edge: Edge, at: &Stamp) -> Option<u32> {
        let node = self.node_mut(index)?;
        if edge == Edge::Done {
            (node.at, node.flags) = (*at, node.flags | DONE);
        }
        let (after, met) = (node.after, node.met(edge));
        node.flags &= !(met * AFTER);
        let flags = node.flags;
        for (place, next) in after.into_iter().enumerate() {
            if met >> place & 1 == 1 {
                self.meet(next, at);
            }
        }
        if flags & MORE != 0 {
            self.reached_more(index, edge, at);
        }
        if edge == Edge::Started {
            return None;
        }
        let ticket = if flags & END == 0 { None } else { self.ticket(index) };
        if flags & PINNED == 0 {
            self.remove(index);
        }
        ticket
    }

    /// Sets free what waits for an operation beside the first few.
    #[cold]
    fn reached_more(&mut self, index: u32, edge: Edge, at: &Stamp) {
        let Some(rare) = &mut self.rare else { return };
        let Some(mut more) = rare.more.remove(&index) else { return };
        more.retain(|(next, wanted)| {
            let now = *wanted == edge || edge == Edge::Done;
            if now {
                self.meet(*next, at);
            }
            !now
        });
        if let (false, Some(rare)) = (more.is_empty(), &mut self.rare) {
            rare.more.insert(index, more);
        }
    }

    #[inline]
    fn meet(&mut self, index: u32, at: &Stamp) {
        let Some(node) = self.node_mut(index) else { return };
        if node.missing == 0 {
            // The first was enough.
            return;
        }
        node.wait_until(at);
        node.missing = if node.has(ANY) { 0 } else { node.missing - 1 };
        if node.missing > 0 {
            return;
        }
        if node.kind == Kind::Calc && node.has(AT_ONCE) {
            let at = node.at;
            self.reached(index, Edge::Done, &at);
        } else {
            self.ready.push(index);
        }
    }

    /// The program will still speak of an operation.
    pub fn pin(&mut self, index: u32) {
        self.mark(index, PINNED);
    }

    /// Returns whether it will.
    pub fn is_pinned(&self, index: u32) -> bool {
        self.is(index, PINNED)
    }

    /// It will not.
    pub fn unpin(&mut self, index: u32) {
        let Some(node) = self.node_mut(index) else { return };
        node.flags &= !PINNED;
        if node.has(DONE) {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: u32) {
        let Some(node) = self.node_mut(index) else { return };
        let flags = std::mem::take(&mut node.flags);
        if flags & CANCELS != 0
            && let Some(rare) = &mut self.rare
        {
            rare.cancels.remove(&index);
        }
        if self.place(index).is_some() {
            self.count -= 1;
            self.advance();
        } else if let Some(rare) = &mut self.rare {
            rare.old.remove(&index);
        }
    }

    /// Leaves behind what is gone.
    fn advance(&mut self) {
        while self.first != self.next && !self.is(self.first, THERE) {
            self.first = self.first.wrapping_add(1);
            self.begin = self.behind(1) as u32;
        }
    }

    /// The number of operations that one still waits for.
    pub fn missing(&self, index: u32) -> u32 {
        self.node(index).map_or(0, |node| node.missing)
    }

    /// Returns what waits for the end of an operation.
    pub fn after(&self, index: u32) -> impl Iterator<Item = u32> {
        let more = self.rare.as_ref().and_then(|rare| rare.more.get(&index));
        let few = self.node(index).into_iter().flat_map(|node| {
            let met = node.met(Edge::Done);
            node.after.iter().enumerate().filter(move |(place, _)| met >> place & 1 == 1)
        });
        few.map(|(_, next)| *next).chain(more.into_iter().flatten().map(|(next, _)| *next))
    }
}

#[cfg(test)]
mod tests;
