//! Operations of a rank and what they wait for, as they become known.

use std::collections::VecDeque;

use host::Stamp;
use port::Ticket;
use schedule::{Edge, Op};
use smallvec::SmallVec;

/// An operation.
#[derive(Debug)]
pub struct Node {
    pub op: Op,
    /// For how many it still waits.
    missing: u32,
    /// Whether the first of them is enough.
    any: bool,
    /// From when on it may start, as far as is known.
    at: Stamp,
    started: Option<Stamp>,
    pub done: Option<Stamp>,
    /// What waits for it.
    after: SmallVec<[(u32, Edge); 2]>,
    /// Who will still speak of it.
    pins: u32,
    /// The operation of the program that it is part of.
    pub ticket: Option<Ticket>,
    /// Of a receive: it takes a message that is there, or none.
    pub at_once: bool,
    /// Of a send: it is done when its receive has begun.
    pub synchronous: bool,
    /// Of a send: it is a blocking call. Of a receive: it is waited for in the order of posting.
    pub blocking: bool,
    /// A receive that is withdrawn when this one starts.
    pub cancels: Option<u32>,
}

/// Operations by number. Numbers ascend in the order in which operations become known, which decides between
/// those that could start at the same time.
#[derive(Debug, Default)]
pub struct Graph {
    first: u32,
    nodes: VecDeque<Option<Box<Node>>>,
    /// Those that wait for nothing any more and have not been posted.
    ready: Vec<u32>,
    /// Those that are complete but for [`Graph::seal`].
    open: Vec<u32>,
}

impl Graph {
    pub fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index.checked_sub(self.first)? as usize)?.as_deref()
    }

    pub fn node_mut(&mut self, index: u32) -> Option<&mut Node> {
        self.nodes.get_mut(index.checked_sub(self.first)? as usize)?.as_deref_mut()
    }

    /// Adds an operation. It does not start before [`Graph::seal`].
    pub fn add(&mut self, op: Op, ticket: Option<Ticket>) -> u32 {
        let index = self.first + self.nodes.len() as u32;
        let node = Node {
            op,
            missing: 0,
            any: false,
            at: host::START,
            started: None,
            done: None,
            after: SmallVec::new(),
            pins: 0,
            ticket,
            at_once: false,
            synchronous: false,
            blocking: false,
            cancels: None,
        };
        self.nodes.push_back(Some(Box::new(node)));
        self.open.push(index);
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

    /// See [`Node::synchronous`].
    pub fn synchronous(&mut self, index: u32) {
        if let Some(node) = self.node_mut(index) {
            node.synchronous = true;
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
        let node = self.node(index)?;
        match edge {
            Edge::Started => node.started.or(node.done),
            Edge::Done => node.done,
        }
    }

    /// An operation waits for another.
    pub fn depend(&mut self, index: u32, on: u32, edge: Edge) {
        let Some(before) = self.node_mut(on) else { return };
        let known = match edge {
            Edge::Started => before.started.or(before.done),
            Edge::Done => before.done,
        };
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
        let open = std::mem::take(&mut self.open);
        let free = |index: &u32| self.node(*index).is_some_and(|node| node.missing == 0);
        let free: Vec<_> = open.into_iter().filter(free).collect();
        self.ready.extend(free);
    }

    /// Hands out what may start now, in the order of numbers.
    pub fn post(&mut self, mut post: impl FnMut(u32, Op, &Stamp)) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_unstable();
        for index in ready.drain(..) {
            if let Some(node) = self.node(index) {
                post(index, node.op, &node.at);
            }
        }
        self.ready = ready;
    }

    /// An operation has started or is done.
    pub fn reached(&mut self, index: u32, edge: Edge, at: &Stamp) {
        let Some(node) = self.node_mut(index) else { return };
        match edge {
            Edge::Started => node.started = Some(*at),
            Edge::Done => node.done = Some(*at),
        }
        let mut after = std::mem::take(&mut node.after);
        after.retain(|(next, wanted)| {
            let now = *wanted == edge || edge == Edge::Done;
            if now {
                self.meet(*next, at);
            }
            !now
        });
        if let Some(node) = self.node_mut(index) {
            node.after.append(&mut after);
        }
        self.clear(index);
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
        let over = |node: &Node| node.done.is_some() && node.pins == 0 && node.after.is_empty();
        if !self.node(index).is_some_and(over) {
            return;
        }
        let place = index.wrapping_sub(self.first) as usize;
        if let Some(slot) = self.nodes.get_mut(place) {
            *slot = None;
        }
        while let Some(None) = self.nodes.front() {
            self.nodes.pop_front();
            self.first = self.first.wrapping_add(1);
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
