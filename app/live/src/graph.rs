//! Operations of a rank and what they wait for, as they become known.

use host::Stamp;
use port::Numbered;
use schedule::{Edge, Op};
use smallvec::SmallVec;

/// So many operations of a rank are those that are likely to go on next.
const FEW: usize = 4;

/// An operation.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct Node {
    pub op: Op,
    /// From when on it may start, as far as is known; once it has started, when that was.
    at: Stamp,
    done: Stamp,
    /// What waits for it.
    after: SmallVec<[(u32, Edge); 2]>,
    /// For how many it still waits.
    missing: u32,
    /// Who will still speak of it.
    pins: u32,
    /// The operation of the program that it is part of.
    pub ticket: Option<u32>,
    /// A receive that is withdrawn when this one starts.
    pub cancels: Option<u32>,
    /// Whether the first of those that it waits for is enough.
    any: bool,
    has_started: bool,
    pub is_done: bool,
    /// Whether the operation of the program is done only when this one is.
    pub is_end: bool,
    /// Of a receive: it takes a message that is there, or none.
    pub at_once: bool,
    /// Of a send: it is a blocking call. Of a receive: it is waited for in the order of posting.
    pub blocking: bool,
}

impl Node {
    /// When it started or was done.
    fn stamp(&self, edge: Edge) -> Option<Stamp> {
        if edge == Edge::Started && self.has_started {
            return Some(self.at);
        }
        self.is_done.then_some(self.done)
    }
}

/// Operations by number. Numbers ascend in the order in which operations become known, which decides between
/// those that could start at the same time.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Numbered<Node>,
    /// Those that wait for nothing any more and have not been posted.
    ready: Vec<u32>,
    /// Those that are complete but for [`Graph::seal`].
    open: Vec<u32>,
}

impl Graph {
    pub fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index)
    }

    pub fn node_mut(&mut self, index: u32) -> Option<&mut Node> {
        self.nodes.get_mut(index)
    }

    /// The oldest operations will be asked for soon.
    pub fn soon(&self) {
        self.nodes.oldest(FEW).for_each(kernel::prefetch);
    }

    /// The number of the next operation.
    pub fn next(&self) -> u32 {
        self.nodes.next()
    }

    /// Adds an operation. It does not start before [`Graph::seal`].
    pub fn add(&mut self, op: Op, ticket: Option<u32>) -> u32 {
        let index = self.nodes.push(Node {
            op,
            at: host::START,
            done: host::START,
            after: SmallVec::new(),
            missing: 0,
            pins: 0,
            ticket,
            cancels: None,
            any: false,
            has_started: false,
            is_done: false,
            is_end: false,
            at_once: false,
            blocking: false,
        });
        self.open.push(index);
        index
    }

    /// Adds a receive that has met its message: it need not start.
    pub fn add_met(&mut self, op: Op) -> u32 {
        let index = self.add(op, None);
        self.open.retain(|open| *open != index);
        index
    }

    /// The first of what an operation waits for is enough.
    pub fn any(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.any = true;
        }
    }

    /// A receive takes a message that is there, or none.
    pub fn at_once(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.at_once = true;
        }
    }

    /// See [`Node::blocking`].
    pub fn blocking(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.blocking = true;
        }
    }

    /// When an operation starts, a receive is withdrawn.
    pub fn cancels(&mut self, index: u32, receive: u32) {
        if let Some(node) = self.node_mut(index) {
            node.cancels = Some(receive);
        }
    }

    /// When an operation started or was done.
    pub fn stamp(&self, index: u32, edge: Edge) -> Option<Stamp> {
        self.node(index)?.stamp(edge)
    }

    /// An operation waits for another.
    pub fn depend(&mut self, index: u32, on: u32, edge: Edge) {
        let Some(before) = self.node_mut(on) else { return };
        let known = before.stamp(edge);
        if known.is_none() {
            before.after.push((index, edge));
        }
        let Some(node) = self.node_mut(index) else { return };
        match known {
            Some(stamp) => node.at = node.at.join(stamp),
            None => node.missing += 1,
        }
    }

    /// Of one that waits for the first of several: one of them is done already.
    pub fn met(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.missing = 0;
        }
    }

    /// What was added is complete.
    pub fn seal(&mut self) {
        let Self { nodes, ready, open } = self;
        let free = |index: &u32| nodes.get(*index).is_some_and(|node| node.missing == 0);
        ready.extend(open.drain(..).filter(free));
    }

    /// Hands out what may start now, in the order of numbers.
    pub fn post(&mut self, mut post: impl FnMut(u32, Op, &Stamp)) {
        self.ready.sort_unstable();
        for index in self.ready.drain(..) {
            if let Some(node) = self.nodes.get(index) {
                post(index, node.op, &node.at);
            }
        }
    }

    /// An operation has started or is done. If an operation of the program may be done with that: which.
    pub fn reached(&mut self, index: u32, edge: Edge, at: &Stamp) -> Option<u32> {
        let node = self.nodes.get_mut(index)?;
        match edge {
            Edge::Started => (node.at, node.has_started) = (*at, true),
            Edge::Done => (node.done, node.is_done) = (*at, true),
        }
        let ticket = node.ticket.filter(|_| node.is_end && edge == Edge::Done);
        let met = |wanted: Edge| wanted == edge || edge == Edge::Done;
        if node.after.iter().any(|(_, wanted)| met(*wanted)) {
            let mut after = std::mem::take(&mut node.after);
            after.retain(|(next, wanted)| {
                let now = met(*wanted);
                if now {
                    self.meet(*next, at);
                }
                !now
            });
            if !after.is_empty()
                && let Some(node) = self.nodes.get_mut(index)
            {
                node.after = after;
            }
        }
        if edge == Edge::Done {
            self.clear(index);
        }
        ticket
    }

    fn meet(&mut self, index: u32, at: &Stamp) {
        let Some(node) = self.node_mut(index) else { return };
        if node.missing == 0 {
            // The first was enough.
            return;
        }
        node.at = node.at.join(*at);
        node.missing = if node.any { 0 } else { node.missing - 1 };
        if node.missing == 0 {
            self.ready.push(index);
        }
    }

    /// Somebody will still speak of an operation.
    pub fn pin(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.pins += 1;
        }
    }

    /// Nobody will, as far as this one is concerned.
    pub fn unpin(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.pins = node.pins.saturating_sub(1);
        }
        self.clear(index);
    }

    fn clear(&mut self, index: u32) {
        let over = |node: &Node| node.is_done && node.pins == 0 && node.after.is_empty();
        if self.node(index).is_some_and(over) {
            self.nodes.remove(index);
        }
    }

    /// For how many operations one still waits.
    pub fn missing(&self, index: u32) -> u32 {
        self.node(index).map_or(0, |node| node.missing)
    }

    /// What waits for the end of an operation.
    pub fn after(&self, index: u32) -> impl Iterator<Item = u32> {
        self.node(index).into_iter().flat_map(|node| node.after.iter().map(|(next, _)| *next))
    }
}
