//! What waits at a rank for a CPU or a network interface.
//!
//! Everything that needs the same resources forms one class with a queue of its own. The next thing
//! to happen at the rank is found by comparing the heads of the classes that are not empty:
//! (time, cause, kind, source, sequence).

use kernel::{Event, Ready, ReadyQueue};
use schedule::Run;
use smallvec::SmallVec;
use units::Time;

use crate::message::Message;
use crate::path::{Clock, Stamp};

/// Decides between what could start at the same time at one rank: what was caused first; then sends,
/// receives, computation, messages; then in order of posting, or by source and sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    pub cause: Time,
    pub kind: Rank,
    pub major: u32,
    pub minor: u32,
}

/// The place of a kind of activity in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Send,
    Receive,
    Compute,
    Message,
}

/// An operation, or several, or a step of a protocol, that may start.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub at: Stamp,
    /// Number of the posting that brought it.
    pub batch: u32,
    pub kind: Rank,
    pub work: Work,
}

#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Operations of the program.
    Ops(Run),
    /// Tell rank `to` that its send `send` may go on, for our receive.
    Clear { to: u32, send: u32, receive: u32 },
    /// Send the data of `send` to the receive that waits for it.
    Data { send: u32, receive: u32 },
}

impl Ready for Task {
    type Order = Order;

    #[inline]
    fn ready(&self) -> Time {
        self.at.time
    }

    #[inline]
    fn order(&self) -> Order {
        let minor = match self.work {
            Work::Ops(run) => run.first,
            Work::Clear { send, .. } | Work::Data { send, .. } => send,
        };
        Order { cause: self.at.cause, kind: self.kind, major: self.batch, minor }
    }

    #[inline]
    fn split(&mut self) -> Option<Self> {
        match &mut self.work {
            Work::Ops(run) if run.count > 1 => {
                let first = Work::Ops(Run::one(run.first));
                run.first += run.stride;
                run.count -= 1;
                Some(Self { work: first, ..*self })
            }
            _ => None,
        }
    }
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived(pub Event<Message>);

impl Ready for Arrived {
    type Order = Order;

    #[inline]
    fn ready(&self) -> Time {
        self.0.time
    }

    #[inline]
    fn order(&self) -> Order {
        Order {
            cause: self.0.message.cause,
            kind: Rank::Message,
            major: self.0.source,
            minor: self.0.sequence,
        }
    }
}

/// The numbers of CPUs and interfaces, and the classes that follow from them: receives; computation
/// by CPU; sends by (CPU, interface); messages by (CPU, interface); arrivals, which need nothing.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub cpus: u32,
    pub nics: u32,
}

/// A class, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Receives,
    Compute { cpu: u32 },
    Sends { cpu: u32, nic: u32 },
    Messages { cpu: u32, nic: u32 },
    Arrivals,
}

impl Shape {
    const fn pairs(self) -> u32 {
        self.cpus * self.nics
    }

    #[inline]
    pub const fn number(self, class: Class) -> u32 {
        match class {
            Class::Receives => 0,
            Class::Compute { cpu } => 1 + cpu,
            Class::Sends { cpu, nic } => 1 + self.cpus + cpu * self.nics + nic,
            Class::Messages { cpu, nic } => 1 + self.cpus + self.pairs() + cpu * self.nics + nic,
            Class::Arrivals => 1 + self.cpus + 2 * self.pairs(),
        }
    }

    #[inline]
    pub const fn class(self, number: u32) -> Class {
        if number == 0 {
            return Class::Receives;
        }
        let mut rest = number - 1;
        if rest < self.cpus {
            return Class::Compute { cpu: rest };
        }
        rest -= self.cpus;
        if rest < self.pairs() {
            return Class::Sends { cpu: rest / self.nics, nic: rest % self.nics };
        }
        rest -= self.pairs();
        if rest < self.pairs() {
            return Class::Messages { cpu: rest / self.nics, nic: rest % self.nics };
        }
        Class::Arrivals
    }

    /// Number of classes of tasks; those of messages follow.
    const fn task_classes(self) -> u32 {
        1 + self.cpus + self.pairs()
    }

    /// Whether which CPU and interface a message is charged to depends on its receive.
    pub const fn several(self) -> bool {
        self.cpus > 1 || self.nics > 1
    }
}

/// The clocks of a rank: CPUs, then the sending and the receiving side of each interface.
#[derive(Debug)]
pub struct Clocks(SmallVec<[Clock; 3]>);

impl Clocks {
    pub fn new(shape: Shape) -> Self {
        let count = shape.cpus + 2 * shape.nics;
        Self(SmallVec::from_elem(Clock::default(), count as usize))
    }

    /// The clock of a CPU. Indices were checked when the program was read.
    #[inline]
    pub fn cpu(&mut self, cpu: u32) -> &mut Clock {
        &mut self.0[cpu as usize]
    }

    #[inline]
    pub fn sending(&mut self, shape: Shape, nic: u32) -> &mut Clock {
        &mut self.0[(shape.cpus + 2 * nic) as usize]
    }

    #[inline]
    pub fn receiving(&mut self, shape: Shape, nic: u32) -> &mut Clock {
        &mut self.0[(shape.cpus + 2 * nic + 1) as usize]
    }

    /// The CPU that is busy longest, the lowest of several.
    pub fn last_cpu(&self, shape: Shape) -> Clock {
        let mut last = Clock::default();
        for clock in &self.0[..shape.cpus as usize] {
            if clock.free > last.free {
                last = *clock;
            }
        }
        last
    }

    /// When everything that a class needs is free.
    #[inline]
    pub fn free(&self, shape: Shape, class: Class) -> Time {
        let clock = |index: u32| self.0[index as usize].free;
        match class {
            Class::Receives | Class::Arrivals => Time::ZERO,
            Class::Compute { cpu } => clock(cpu),
            Class::Sends { cpu, nic } => clock(cpu).max(clock(shape.cpus + 2 * nic)),
            Class::Messages { cpu, nic } => clock(cpu).max(clock(shape.cpus + 2 * nic + 1)),
        }
    }
}

/// The queues of a rank.
#[derive(Debug)]
pub struct Queues {
    tasks: Vec<ReadyQueue<Task>>,
    messages: Vec<ReadyQueue<Arrived>>,
    /// Classes that are not empty.
    active: Vec<u32>,
}

impl Queues {
    pub fn new(shape: Shape) -> Self {
        let classes = shape.number(Class::Arrivals) + 1;
        let tasks = shape.task_classes();
        Self {
            tasks: (0..tasks).map(|_| ReadyQueue::default()).collect(),
            messages: (tasks..classes).map(|_| ReadyQueue::default()).collect(),
            active: Vec::with_capacity(4),
        }
    }

    #[inline]
    pub fn push_task(&mut self, class: u32, task: Task) {
        let queue = &mut self.tasks[class as usize];
        if queue.is_empty() {
            self.active.push(class);
        }
        queue.push(task);
    }

    #[inline]
    pub fn push_message(&mut self, class: u32, message: Arrived) {
        let queue = &mut self.messages[class as usize - self.tasks.len()];
        if queue.is_empty() {
            self.active.push(class);
        }
        queue.push(message);
    }

    /// When the next thing happens, and of which class it is.
    #[inline]
    pub fn next(&mut self, shape: Shape, clocks: &Clocks) -> Option<(Time, u32)> {
        let mut best: Option<(Time, Order, u32)> = None;
        for &class in &self.active {
            let free = clocks.free(shape, shape.class(class));
            let head = match self.tasks.get_mut(class as usize) {
                Some(queue) => queue.head(free),
                None => self.messages[class as usize - self.tasks.len()].head(free),
            };
            if let Some((time, order)) = head
                && best.is_none_or(|(t, o, _)| (time, order) < (t, o))
            {
                best = Some((time, order, class));
            }
        }
        best.map(|(time, _, class)| (time, class))
    }

    #[inline]
    pub fn pop_task(&mut self, class: u32, free: Time) -> Option<Task> {
        let queue = &mut self.tasks[class as usize];
        let task = queue.pop(free);
        if queue.is_empty() {
            self.active.retain(|&active| active != class);
        }
        task
    }

    #[inline]
    pub fn pop_message(&mut self, class: u32, free: Time) -> Option<Arrived> {
        let queue = &mut self.messages[class as usize - self.tasks.len()];
        let message = queue.pop(free);
        if queue.is_empty() {
            self.active.retain(|&active| active != class);
        }
        message
    }

    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// If all that waits is a single task: takes it out.
    pub fn take_only(&mut self) -> Option<(u32, Task)> {
        let &[class] = self.active.as_slice() else { return None };
        let queue = self.tasks.get_mut(class as usize)?;
        let mut entries = queue.iter();
        if entries.next().is_none() || entries.next().is_some() {
            return None;
        }
        // One entry may stand for several operations; it must come out whole.
        drop(entries);
        let task = queue.take_whole()?;
        self.active.clear();
        Some((class, task))
    }
}
