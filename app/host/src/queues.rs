//! The queues of what waits at a rank for a CPU or a network interface.
//!
//! Everything that needs the same resources forms one class with a queue of its own. The next thing
//! to happen at the rank is found by comparing the heads of the classes that are not empty:
//! (time, cause, kind, source, sequence).

use kernel::{Event, Ready, ReadyQueue};
use schedule::{Op, Run};
use smallvec::SmallVec;
use units::Time;

use crate::clocks::{Class, Clocks, Shape};
use crate::message::Message;
use crate::path::Stamp;

/// Decides between what could start at the same time at one rank: what was caused first; then
/// sends, receives, computation, messages; then in order of posting, or by source and sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    pub cause: Time,
    pub kind: Priority,
    pub major: u32,
    pub minor: u32,
}

/// The priority of a kind of activity in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
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
    pub kind: Priority,
    pub work: Work,
}

#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// An operation of the program.
    One(u32, Op),
    /// Several operations of the program.
    Ops(Run),
    /// Tell rank `to` that its send `send` may go on, for our receive.
    Clear { to: u32, send: u32, receive: u32 },
    /// Send the data of `send` to the receive that waits for it.
    Data { send: u32, receive: u32 },
}

impl Task {
    /// Notes that this many of its operations have started; returns false if that was all.
    fn go_on(&mut self, operations: u32) -> bool {
        match &mut self.work {
            Work::Ops(run) if run.count > operations => {
                run.first += run.stride * operations;
                run.count -= operations;
                true
            }
            _ => false,
        }
    }
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
            Work::One(index, _) => index,
            Work::Ops(run) => run.first,
            Work::Clear { send, .. } | Work::Data { send, .. } => send,
        };
        Order { cause: self.at.cause, kind: self.kind, major: self.batch, minor }
    }

    #[inline]
    fn split(&mut self) -> Option<Self> {
        let Work::Ops(run) = self.work else { return None };
        let first = Self { work: Work::Ops(Run::one(run.first)), ..*self };
        self.go_on(1).then_some(first)
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
            kind: Priority::Message,
            major: self.0.source,
            minor: self.0.sequence,
        }
    }
}

/// Something that waits.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    Task(Task),
    Message(Arrived),
}

impl Entry {
    #[inline]
    pub fn ready(&self) -> Time {
        match self {
            Self::Task(task) => task.ready(),
            Self::Message(message) => message.ready(),
        }
    }

    pub fn order(&self) -> Order {
        match self {
            Self::Task(task) => task.order(),
            Self::Message(message) => message.order(),
        }
    }
}

/// A single thing that waits.
pub type Only = (Class, Entry);

/// The queues of a rank.
#[derive(Debug)]
pub struct Queues {
    shape: Shape,
    /// The only thing that waits: then the queues are empty. Most ranks of most programs never
    /// have more.
    only: Option<Only>,
    // As many as one CPU and one interface need stand here, so that a rank's queues are together.
    tasks: SmallVec<[ReadyQueue<Task>; 3]>,
    messages: SmallVec<[ReadyQueue<Arrived>; 2]>,
    /// The classes whose queues are not empty.
    active: SmallVec<[Head; 3]>,
    /// The index in `active` of the queue that the next thing belongs to.
    best: u32,
}

/// Several like operations that may start one after the other.
pub struct Burst {
    /// The resources that each of them needs.
    pub class: Class,
    /// The time from which they may start.
    pub since: Stamp,
    pub run: Run,
    /// The only other class that waits: from when on its first entry may start, and whether the
    /// operations come before it if both can start at once.
    pub other: Option<(Class, Time, bool)>,
}

/// A queue that is not empty, and its first entry.
#[derive(Clone, Copy, Debug)]
struct Head {
    class: Class,
    number: u32,
    ready: Time,
    order: Order,
    /// True if which entry is first depends on when the class's resources are free.
    strays: bool,
}

impl Head {
    /// Returns when the first entry would start, and its order.
    #[inline]
    fn start(
        &self,
        clocks: &Clocks,
        tasks: &mut [ReadyQueue<Task>],
        messages: &mut [ReadyQueue<Arrived>],
    ) -> (Time, Order) {
        let free = clocks.free(self.class);
        let strayed = match self.strays {
            false => None,
            true if self.class.of_messages() => messages[self.number as usize].head(free),
            true => tasks[self.number as usize].head(free),
        };
        strayed.unwrap_or((self.ready.max(free), self.order))
    }

    /// Looks at the queue again; `false` if it is empty.
    #[inline]
    fn renew<T: Ready<Order = Order>>(&mut self, queue: &ReadyQueue<T>) -> bool {
        self.strays = queue.has_strays();
        if let Some((ready, order)) = queue.front() {
            (self.ready, self.order) = (ready, order);
        }
        !queue.is_empty()
    }
}

impl Queues {
    pub fn new(shape: Shape) -> Self {
        let (cpus, nics) = (u32::from(shape.cpus), u32::from(shape.nics));
        let pairs = cpus * nics;
        Self {
            shape,
            only: None,
            tasks: (0..1 + cpus + pairs).map(|_| ReadyQueue::default()).collect(),
            messages: (0..=pairs).map(|_| ReadyQueue::default()).collect(),
            active: SmallVec::new(),
            best: 0,
        }
    }

    /// Adds what `entry` makes. That is made where it stays: a copy of what was just written in
    /// parts would wait for them.
    #[inline(always)]
    pub fn push(&mut self, class: Class, entry: impl Fn() -> Entry) {
        if self.only.is_none() && self.active.is_empty() {
            self.only = Some((class, entry()));
            return;
        }
        self.queue_only();
        self.enqueue(class, &entry());
    }

    /// Moves the only thing that waits into its queue.
    #[inline]
    fn queue_only(&mut self) {
        if let Some((class, entry)) = self.only {
            self.enqueue(class, &entry);
            self.only = None;
        }
    }

    #[inline(never)]
    fn enqueue(&mut self, class: Class, entry: &Entry) {
        let number = self.shape.number(class);
        let (ready, order) = (entry.ready(), entry.order());
        let (first, strays) = match entry {
            Entry::Task(task) => {
                let queue = &mut self.tasks[number];
                let first = queue.is_empty();
                queue.push(*task);
                (first, queue.has_strays())
            }
            Entry::Message(message) => {
                let queue = &mut self.messages[number];
                let first = queue.is_empty();
                queue.push(*message);
                (first, queue.has_strays())
            }
        };
        if first {
            self.active.push(Head { class, number: number as u32, ready, order, strays });
        } else if strays {
            // Rare, and then it does not matter that the place is searched.
            let head = self.active.iter_mut().find(|head| head.class == class);
            if let Some(head) = head {
                head.strays = true;
            }
        }
    }

    /// Returns when the next thing happens, and of which class it is.
    #[inline]
    pub fn next(&mut self, clocks: &Clocks) -> Option<(Time, Class)> {
        if let Some((class, entry)) = &self.only {
            return Some((entry.ready().max(clocks.free(*class)), *class));
        }
        match self.active.as_slice() {
            [] => None,
            [head] if !head.strays => {
                self.best = 0;
                Some((head.ready.max(clocks.free(head.class)), head.class))
            }
            _ => {
                let (time, _) = self.compare(clocks)?;
                self.active.get(self.best as usize).map(|head| (time, head.class))
            }
        }
    }

    /// Returns the operations that come next, if [`Queues::next`] has just told of the first of
    /// several like ones and at most one other class is waiting.
    #[inline(always)]
    pub fn burst(&self) -> Option<Burst> {
        if let Some((class, Entry::Task(Task { at, work: Work::Ops(run), .. }))) = self.only {
            return Some(Burst { class, since: at, run, other: None });
        }
        let head = self.active.get(self.best as usize)?;
        let others = self.active.len() - 1;
        let other = if others == 1 { self.active.get(1 - self.best as usize) } else { None };
        if self.only.is_some() || others > 1 || head.strays || head.class.of_messages() {
            return None;
        }
        let Task { at: since, work: Work::Ops(run), .. } =
            self.tasks[head.number as usize].peek()?
        else {
            return None;
        };
        let other = match other {
            Some(other) if other.strays => return None,
            Some(other) => Some((other.class, other.ready, head.order < other.order)),
            None => None,
        };
        Some(Burst { class: head.class, since: *since, run: *run, other })
    }

    /// Notes that this many operations of the last [`Queues::burst`] have started.
    #[inline]
    pub fn started(&mut self, operations: u32) {
        if let Some((_, Entry::Task(task))) = &mut self.only {
            if !task.go_on(operations) {
                self.only = None;
            }
            return;
        }
        let Some(head) = self.active.get_mut(self.best as usize) else { return };
        let queue = &mut self.tasks[head.number as usize];
        if !queue.peek_mut().is_some_and(|task| task.go_on(operations)) {
            queue.remove_first();
        }
        if !head.renew(queue) {
            self.remove_best();
        }
    }

    /// Removes what [`Queues::next`] has just told of, if that is a message to be received, alone
    /// or of a queue in order.
    #[inline]
    pub fn pop_message(&mut self) -> Option<Arrived> {
        if let Some((Class::Messages { .. }, Entry::Message(message))) = self.only {
            self.only = None;
            return Some(message);
        }
        let head = self.active.get_mut(self.best as usize)?;
        let plain = matches!(head.class, Class::Messages { .. });
        if self.only.is_some() || head.strays || !plain {
            return None;
        }
        let queue = &mut self.messages[head.number as usize];
        let message = queue.remove_first();
        if !head.renew(queue) {
            self.remove_best();
        }
        message
    }

    /// The task that is all that waits, if there is one.
    pub fn only_task(&self) -> Option<Task> {
        match self.only {
            Some((_, Entry::Task(task))) => Some(task),
            _ => None,
        }
    }

    /// Returns when the next thing happens, with its order.
    pub fn next_in_order(&mut self, clocks: &Clocks) -> Option<(Time, Order)> {
        if let Some((class, entry)) = &self.only {
            return Some((entry.ready().max(clocks.free(*class)), entry.order()));
        }
        self.compare(clocks)
    }

    /// Finds the next of several queues.
    #[inline]
    fn compare(&mut self, clocks: &Clocks) -> Option<(Time, Order)> {
        let (first, rest) = self.active.split_first()?;
        let mut best_at = first.start(clocks, &mut self.tasks, &mut self.messages);
        self.best = 0;
        for (place, head) in (1..).zip(rest) {
            let at = head.start(clocks, &mut self.tasks, &mut self.messages);
            if at.0 < best_at.0 || at.0 == best_at.0 && at.1 < best_at.1 {
                best_at = at;
                self.best = place;
            }
        }
        Some(best_at)
    }

    /// Removes what [`Queues::next`] has just told of.
    pub fn pop(&mut self, clocks: &Clocks) -> Option<Entry> {
        let class = match &self.only {
            Some((class, _)) => *class,
            None => self.active.get(self.best as usize)?.class,
        };
        if class.of_messages() {
            self.pop_arrived(clocks).map(Entry::Message)
        } else {
            self.pop_task(clocks).map(Entry::Task)
        }
    }

    /// Removes the task that [`Queues::next`] has just told of.
    #[inline]
    pub fn pop_task(&mut self, clocks: &Clocks) -> Option<Task> {
        if let Some((_, Entry::Task(task))) = &mut self.only {
            let first = task.split();
            if first.is_some() {
                return first;
            }
            let task = *task;
            self.only = None;
            return Some(task);
        }
        let head = self.active.get_mut(self.best as usize)?;
        let free = if head.strays { clocks.free(head.class) } else { Time::ZERO };
        let queue = &mut self.tasks[head.number as usize];
        let task = queue.pop(free);
        if !head.renew(queue) {
            self.remove_best();
        }
        task
    }

    /// Removes the message that [`Queues::next`] has just told of.
    #[inline]
    pub fn pop_arrived(&mut self, clocks: &Clocks) -> Option<Arrived> {
        if let Some((_, Entry::Message(message))) = self.only {
            self.only = None;
            return Some(message);
        }
        let head = self.active.get_mut(self.best as usize)?;
        let free = if head.strays { clocks.free(head.class) } else { Time::ZERO };
        let queue = &mut self.messages[head.number as usize];
        let message = queue.pop(free);
        if !head.renew(queue) {
            self.remove_best();
        }
        message
    }

    /// The queue that the next thing belonged to is empty.
    #[inline]
    fn remove_best(&mut self) {
        let last = self.active.pop();
        if let (Some(last), Some(place)) = (last, self.active.get_mut(self.best as usize)) {
            *place = last;
        }
    }

    /// Prefetches what will be looked at first.
    #[inline]
    pub fn prefetch(&self, stage: usize) {
        if stage == 0 {
            kernel::prefetch(&self.tasks);
            kernel::prefetch(&self.messages);
            kernel::prefetch(&self.active);
        } else {
            for head in &self.active {
                if head.class.of_messages() {
                    self.messages[head.number as usize].prefetch();
                } else {
                    self.tasks[head.number as usize].prefetch();
                }
            }
        }
    }

    /// Returns whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.only.is_none() && self.active.is_empty()
    }

    /// Takes out the only thing that waits, if there is just one.
    pub fn take_only(&mut self) -> Option<Only> {
        self.only.take()
    }

    /// Puts a single thing back into empty queues.
    pub fn put_only(&mut self, only: Only) {
        self.only = Some(only);
    }
}
