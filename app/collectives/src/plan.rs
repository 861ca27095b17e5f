//! The plan of a rank in a collective: a graph of sends, receives, copies and reductions over
//! regions of its buffers.
//!
//! An algorithm is written as the program of one rank, with [`Plan::isend`], [`Plan::irecv`] and
//! [`Plan::wait`] as in MPI; the plan records it. What was waited for is required by all that
//! follows, and nothing else is. So the same plan becomes a schedule, or is carried out by a live
//! rank that posts each step when the steps it requires are done.
//!
//! The k-th message from one rank to another has tag k. Therefore a plan means the same in whatever
//! order steps that do not require each other are started.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A buffer of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The buffer that the caller contributes.
    Send,
    /// The buffer where the caller gets the result. `bcast` has only this one, on all ranks.
    Recv,
    /// Temporary space, of [`Plan::scratch_len`] elements.
    Scratch,
    /// No data of the caller: notices and permissions. Lengths are bytes, contents are arbitrary.
    Control,
}

/// A range of a buffer, in elements ([`Buffer::Control`]: in bytes).
///
/// Send and receive buffers are meant without gaps, the blocks of v- and w-forms in the order of
/// ranks; who moves data translates by the displacements and datatypes of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The buffer.
    pub buffer: Buffer,
    /// First element.
    pub start: u64,
    /// Number of elements.
    pub len: u64,
}

impl Region {
    /// A message of `bytes` bytes without data.
    pub const fn control(bytes: u64) -> Self {
        Self { buffer: Buffer::Control, start: 0, len: bytes }
    }

    /// `len` elements of the region from its element `start` on.
    #[must_use]
    pub const fn part(self, start: u64, len: u64) -> Self {
        Self { start: self.start + start, len, ..self }
    }
}

/// Names a step of a plan: its index.
pub type Handle = u32;

/// The action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends a region.
    Send {
        /// The receiving rank.
        to: u32,
        /// Number of the message among those of this pair of ranks, from 0.
        tag: u32,
        /// The region that is sent.
        from: Region,
    },
    /// Receives a region.
    Recv {
        /// The sending rank.
        from: u32,
        /// Number of the message among those of this pair of ranks, from 0.
        tag: u32,
        /// The region where it goes.
        into: Region,
    },
    /// Copies a region to another of the same length.
    Copy {
        /// The source.
        from: Region,
        /// The destination.
        into: Region,
    },
    /// Combines two regions of the same length, element by element, into the second.
    Reduce {
        /// The one operand.
        from: Region,
        /// The other operand, and where the result goes.
        into: Region,
        /// True if `from` is the left operand.
        from_left: bool,
    },
}

/// The most steps of a plan, which would take a gigabyte: vectors cut in more segments are errors.
pub const MOST_STEPS: u32 = 1 << 24;

/// The steps of one rank in a collective.
#[derive(Debug, Default)]
pub struct Plan {
    actions: Vec<Action>,
    /// Per step, where the list of what it requires ends in `required`.
    ends: Vec<u32>,
    required: Vec<Handle>,
    /// The steps that a step added now requires, and the first step that was added since this
    /// changed.
    frontier: Vec<Handle>,
    since: Handle,
    /// Sends and receives that were not waited for.
    open: VecDeque<Handle>,
    /// Sends that are blocking calls, and receives that are waited for one after the other.
    blocking: Vec<Handle>,
    sent: FxHashMap<u32, u32>,
    received: FxHashMap<u32, u32>,
    scratch: u64,
    overflows: bool,
}

impl Plan {
    /// An empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Returns whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Returns whether the plan would have more than [`MOST_STEPS`] steps. Those that do not fit
    /// are left out, so that the plan is of no use.
    pub fn overflows(&self) -> bool {
        self.overflows
    }

    /// Marks the plan as one that would have too many steps.
    pub fn overflow(&mut self) {
        self.overflows = true;
    }

    /// Returns all steps in program order, each with the steps that it requires.
    pub fn steps(&self) -> impl Iterator<Item = (Action, &[Handle])> {
        let required = |step| requirements(&self.ends, &self.required, step);
        self.actions.iter().enumerate().map(move |(step, action)| (*action, required(step)))
    }

    /// Waits for all that is under way, one after the other in the order of posting.
    pub fn wait_in_order(&mut self) {
        let receives = self.open.iter().copied();
        let is_receive =
            |step: &Handle| matches!(self.actions.get(*step as usize), Some(Action::Recv { .. }));
        self.blocking.extend(receives.filter(is_receive));
        self.blocking.sort_unstable();
        self.wait_all();
    }

    /// Returns whether a step is a send that the library makes as a blocking call, or a receive
    /// that is waited for in the order of posting.
    pub fn is_blocking(&self, step: Handle) -> bool {
        self.blocking.binary_search(&step).is_ok()
    }

    /// Elements of temporary space.
    pub fn scratch_len(&self) -> u64 {
        self.scratch
    }

    /// Reserves temporary space.
    pub fn scratch(&mut self, len: u64) -> Region {
        let start = self.scratch;
        self.scratch += len;
        Region { buffer: Buffer::Scratch, start, len }
    }

    fn add(&mut self, action: Action) -> Handle {
        let handle = self.actions.len() as Handle;
        if handle >= MOST_STEPS {
            self.overflows = true;
            return handle - 1;
        }
        self.actions.push(action);
        self.required.extend_from_slice(&self.frontier);
        self.ends.push(self.required.len() as u32);
        handle
    }

    /// Starts to send.
    pub fn isend(&mut self, to: u32, from: Region) -> Handle {
        let tag = count(&mut self.sent, to);
        let handle = self.add(Action::Send { to, tag, from });
        self.open.push_back(handle);
        handle
    }

    /// Starts to receive.
    pub fn irecv(&mut self, from: u32, into: Region) -> Handle {
        let tag = count(&mut self.received, from);
        let handle = self.add(Action::Recv { from, tag, into });
        self.open.push_back(handle);
        handle
    }

    /// Waits for some sends and receives: all that follows requires them.
    pub fn wait(&mut self, handles: &[Handle]) {
        if handles.is_empty() {
            return;
        }
        // A step that was added since the last wait requires all that was waited for then.
        if handles.iter().any(|&handle| handle >= self.since) {
            self.frontier.clear();
        } else {
            let Self { frontier, ends, required, .. } = self;
            let requires = |handle: &Handle, step: &Handle| {
                requirements(ends, required, *handle as usize).contains(step)
            };
            frontier.retain(|step| !handles.iter().any(|handle| requires(handle, step)));
        }
        self.frontier.extend_from_slice(handles);
        self.since = self.actions.len() as Handle;
        for handle in handles {
            if let Ok(place) = self.open.binary_search(handle) {
                self.open.remove(place);
            }
        }
    }

    /// Waits for all that is under way.
    pub fn wait_all(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        self.wait(open.make_contiguous());
    }

    /// Sends, and waits until that is done.
    pub fn send(&mut self, to: u32, from: Region) {
        let handle = self.isend(to, from);
        self.blocking.push(handle);
        self.wait(&[handle]);
    }

    /// Receives, and waits until that is done.
    pub fn recv(&mut self, from: u32, into: Region) {
        let handle = self.irecv(from, into);
        self.wait(&[handle]);
    }

    /// Sends and receives at once, and waits for both.
    pub fn exchange(&mut self, to: u32, what: Region, from: u32, into: Region) {
        let send = self.isend(to, what);
        let receive = self.irecv(from, into);
        self.wait(&[receive, send]);
    }

    /// Copies; nothing happens if the two are one, or empty.
    pub fn copy(&mut self, from: Region, into: Region) {
        if from.len > 0 && from != into {
            self.local(Action::Copy { from, into });
        }
    }

    /// Combines `left` and `into` into `into`.
    pub fn reduce_left(&mut self, left: Region, into: Region) {
        if into.len > 0 {
            self.local(Action::Reduce { from: left, into, from_left: true });
        }
    }

    /// Combines `into` and `right` into `into`.
    pub fn reduce_right(&mut self, into: Region, right: Region) {
        if into.len > 0 {
            self.local(Action::Reduce { from: right, into, from_left: false });
        }
    }

    /// Combines what `other` contributed into `into`, in the order of ranks.
    pub fn reduce_by_rank(&mut self, me: u32, other: u32, from: Region, into: Region) {
        if other < me { self.reduce_left(from, into) } else { self.reduce_right(into, from) }
    }

    /// Copies `from` to the start of a longer region, and fills the rest with more of it: what is
    /// combined there must be something, and is thrown away.
    pub fn fill(&mut self, from: Region, into: Region) {
        let mut start = 0;
        while start < into.len && from.len > 0 {
            let len = from.len.min(into.len - start);
            self.copy(from.part(0, len), into.part(start, len));
            start += len;
        }
    }

    /// Adds the steps of another plan, whose send and receive buffers are these regions. They begin
    /// when what was waited for is done, and all that follows waits for them.
    pub fn append(&mut self, other: &Self, send: Region, receive: Region) {
        self.overflows |= other.overflows;
        let scratch = self.scratch(other.scratch);
        let place = |region: Region| match region.buffer {
            Buffer::Send => send.part(region.start, region.len),
            Buffer::Recv => receive.part(region.start, region.len),
            Buffer::Scratch => scratch.part(region.start, region.len),
            Buffer::Control => region,
        };
        let first = self.actions.len() as Handle;
        let before = std::mem::take(&mut self.frontier);
        let mut is_last = vec![true; other.len()];
        self.blocking.extend(other.blocking.iter().map(|step| first + step));
        for (action, required) in other.steps() {
            if required.is_empty() {
                self.frontier.extend_from_slice(&before);
            }
            for &step in required {
                self.frontier.push(first + step);
                if let Some(last) = is_last.get_mut(step as usize) {
                    *last = false;
                }
            }
            let action = match action {
                Action::Send { to, from, .. } => {
                    let tag = count(&mut self.sent, to);
                    Action::Send { to, tag, from: place(from) }
                }
                Action::Recv { from, into, .. } => {
                    let tag = count(&mut self.received, from);
                    Action::Recv { from, tag, into: place(into) }
                }
                Action::Copy { from, into } => {
                    Action::Copy { from: place(from), into: place(into) }
                }
                Action::Reduce { from, into, from_left } => {
                    Action::Reduce { from: place(from), into: place(into), from_left }
                }
            };
            self.add(action);
            self.frontier.clear();
        }
        self.frontier = before;
        let last = (first..).zip(is_last).filter(|(_, is_last)| *is_last);
        self.wait(&last.map(|(step, _)| step).collect::<Vec<_>>());
    }

    /// A step that the rank itself carries out: the next one waits for it.
    fn local(&mut self, action: Action) {
        let handle = self.add(action);
        self.frontier.clear();
        self.frontier.push(handle);
        self.since = self.actions.len() as Handle;
    }
}

/// Returns what a step requires.
fn requirements<'a>(ends: &[u32], required: &'a [Handle], step: usize) -> &'a [Handle] {
    let start = step.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(step).copied().unwrap_or(start);
    required.get(start as usize..end as usize).unwrap_or_default()
}

fn count(messages: &mut FxHashMap<u32, u32>, peer: u32) -> u32 {
    let next = messages.entry(peer).or_default();
    *next += 1;
    *next - 1
}
