//! A block of neighbouring processes that is run by one worker at a time.
//!
//! A block is small enough for its processes to stay in a core's cache while a window is worked
//! off. Times of next events are kept in groups of 64 and parts of 8, so that a window in which
//! little happens costs little.

use std::slice;

use units::Time;

use crate::calendar::CalendarQueue;
use crate::mail::Mail;
use crate::{AHEAD, Event, Model, Next, Outbox, prefetch};

/// Processes per group, and most groups per block: a set of groups fits a word.
const GROUP: usize = 64;

/// Processes per part of a group, and parts per group.
const PART: usize = 8;

/// Most processes per block: as many as stay in a cache.
pub const BLOCK: usize = 2048;

/// Nothing is prefetched for up to this many processes, which are in the cache anyway.
const CACHED: usize = 256;

/// No slot.
const NONE: u32 = u32::MAX;

pub struct Block<M> {
    first: u32,
    /// The place of its first process among those of its worker.
    place: usize,
    /// The number of its processes.
    count: usize,
    /// Time of the next event, by process; [`Time::MAX`] behind the last one.
    next: Vec<[Time; PART]>,
    /// The earliest of each part, by group, and of each group.
    parts: Vec<[Time; GROUP / PART]>,
    groups: Vec<Time>,
    /// The processes whose next event is urgent, by group, and the groups that have any.
    urgent: Vec<u64>,
    urgent_groups: u64,
    /// The earliest event of any process, mail excepted.
    earliest: Time,
    /// Mail that has arrived and may be due in the next window.
    pub mail: Mail<M>,
    /// Mail that is known to lie beyond the next window.
    later: CalendarQueue<M>,
}

/// The processes that run in a window, by group, and the groups that have any.
struct Active {
    groups: u64,
    processes: [u64; BLOCK / GROUP],
}

/// Returns the members of a set in ascending order.
fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then_some(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

fn least(times: &[Time; PART]) -> Time {
    times.iter().fold(Time::MAX, |least, time| least.min(*time))
}

/// The time span of a window: everything from `start` on and before `end` is run in it.
#[derive(Clone, Copy)]
pub struct Window {
    pub start: Time,
    pub end: Time,
}

impl Window {
    /// The shortest window of workers that wait for each other.
    pub const INSTANT: Time = Time::from_ps(1);

    /// The empty window before the first one.
    pub const START: Self = Self { start: Time::ZERO, end: Time::ZERO };

    pub fn is_instant(&self) -> bool {
        self.end.saturating_sub(self.start) == Self::INSTANT
    }
}

/// The buffers that a worker needs to run any of its blocks.
pub struct Scratch<M> {
    /// First slot of each process's mail, and the next slot of the same process.
    heads: Vec<u32>,
    links: Vec<u32>,
    /// The order of a process's mail, and its slots.
    keys: Vec<(u128, u32)>,
    inbox: Vec<Event<M>>,
    due: Mail<M>,
    /// Processes to run, ascending.
    order: Vec<u32>,
}

impl<M: crate::Wire> Scratch<M> {
    /// Takes the mail of a process, in order: the next call finds none.
    #[inline(always)]
    fn open(&mut self, local: u32) -> &[Event<M>] {
        match std::mem::replace(&mut self.heads[local as usize], NONE) {
            NONE => &[],
            slot if self.links[slot as usize] == NONE => {
                self.due.get(slot).map_or(&[][..], slice::from_ref)
            }
            slot => self.sorted(slot),
        }
    }

    /// The mail of a process that has several, in order; the last that came is at `slot`.
    #[inline(never)]
    fn sorted(&mut self, mut slot: u32) -> &[Event<M>] {
        let Self { links, keys, inbox, due, .. } = self;
        keys.clear();
        while slot != NONE {
            keys.extend(due.get(slot).map(|event| (event.order(), slot)));
            slot = links[slot as usize];
        }
        // The chain ends with what came first, which is often the earliest.
        keys.reverse();
        keys.sort_unstable();
        inbox.clear();
        // One by one: on the way through an iterator, each is copied twice.
        for event in keys.iter().filter_map(|(_, slot)| due.get(*slot)) {
            inbox.push(*event);
        }
        inbox
    }

    /// Prefetches what the processes that run next read: the first of `order` runs now.
    #[inline]
    fn read_ahead<Mo: Model<Message = M>>(
        &self,
        model: &Mo,
        processes: &[Mo::Process],
        order: &[u32],
        number: impl Fn(u32) -> u32,
    ) {
        if let Some(&soon) = order.get(2 * AHEAD) {
            prefetch(&processes[soon as usize]);
        }
        for stage in 0..2 {
            let Some(&soon) = order.get(AHEAD >> stage) else { continue };
            let process = &processes[soon as usize];
            model.prefetch(number(soon), process, stage);
            if !Mo::READS_AHEAD {
                continue;
            }
            for event in self.mail_of(soon) {
                if stage == 0 { prefetch(event) } else { model.prefetch_for(process, event) }
            }
        }
    }

    /// The mail of a process that runs soon, in no particular order.
    #[inline]
    fn mail_of(&self, local: u32) -> impl Iterator<Item = &Event<M>> {
        let mut slot = self.heads[local as usize];
        std::iter::from_fn(move || {
            let event = self.due.get(slot)?;
            slot = self.links[slot as usize];
            Some(event)
        })
    }

    pub fn new() -> Self {
        Self {
            heads: vec![NONE; BLOCK],
            links: Vec::new(),
            keys: Vec::new(),
            inbox: Vec::new(),
            due: Mail::new(),
            order: Vec::new(),
        }
    }
}

impl<M: crate::Wire> Block<M> {
    pub fn new(first: u32, place: usize, count: usize, lookahead: Time) -> Self {
        let groups = count.div_ceil(GROUP);
        let mut next = vec![[Time::MAX; PART]; groups * (GROUP / PART)];
        next.iter_mut().flatten().take(count).for_each(|time| *time = Time::ZERO);
        let part = |place: usize| next.get(place).map_or(Time::MAX, least);
        let parts =
            (0..groups).map(|group| std::array::from_fn(|at| part(group * (GROUP / PART) + at)));
        let parts = parts.collect();
        Self {
            first,
            place,
            count,
            next,
            parts,
            groups: vec![Time::ZERO; groups],
            urgent: vec![0; groups],
            urgent_groups: 0,
            earliest: Time::ZERO,
            mail: Mail::new(),
            later: CalendarQueue::new(lookahead),
        }
    }

    /// Returns the time of the earliest event of a process or in the mail.
    pub fn earliest(&self) -> Time {
        self.earliest.min(self.mail())
    }

    /// Returns the earliest time at which an urgent message takes effect or an urgent process has
    /// an event: then a message may be caused that takes effect without delay.
    pub fn urgent(&self) -> Time {
        let mut earliest = self.mail.urgent.min(self.later.urgent());
        for group in members(self.urgent_groups) {
            for bit in members(self.urgent[group]) {
                let local = group * GROUP + bit;
                earliest = earliest.min(self.next[local / PART][local % PART]);
            }
        }
        earliest
    }

    /// Returns true if a process is urgent: mail may make it cause an urgent message, too.
    pub fn is_urgent(&self) -> bool {
        self.urgent_groups != 0
    }

    fn is_urgent_at(&self, local: usize) -> bool {
        self.urgent[local / GROUP] & 1 << (local % GROUP) != 0
    }

    /// Returns the time of the earliest event in the mail.
    pub fn mail(&self) -> Time {
        self.mail.earliest.min(self.later.earliest)
    }

    /// Runs everything before `until`. `processes` are those of the worker; a block that has not
    /// run adds its own, so that a fresh process is run while it is in the cache. Blocks first run
    /// in their order.
    pub fn run<Mo>(
        &mut self,
        model: &Mo,
        window: Window,
        processes: &mut Vec<Mo::Process>,
        worker: &mut Mo::Worker,
        scratch: &mut Scratch<M>,
        out: &mut Outbox<M>,
    ) where
        Mo: Model<Message = M>,
    {
        if processes.len() == self.place {
            let places = (self.first..).take(self.count);
            processes.extend(places.map(|place| model.process(out.shares.number(place))));
        }
        let processes = &mut processes[self.place..self.place + self.count];
        let (until, instant) = (window.end, window.is_instant());
        let is_free = instant && model.lookahead() == Time::ZERO;
        self.later.take(until, &mut self.mail, &mut out.spare);
        std::mem::swap(&mut scratch.due, &mut self.mail);
        let mut active = Active { groups: 0, processes: [0; BLOCK / GROUP] };
        self.sort_mail(model, until, processes, scratch, &mut active, out);
        self.own_events(until, &mut active);
        let mut order = std::mem::take(&mut scratch.order);
        order.clear();
        for group in members(active.groups) {
            order.extend(members(active.processes[group]).map(|bit| (group * GROUP + bit) as u32));
        }
        for (position, &local) in order.iter().enumerate() {
            if self.count > CACHED {
                let number = |local| out.shares.number(self.first + local);
                scratch.read_ahead(model, processes, &order[position..], number);
            }
            let mail = scratch.open(local);
            if instant {
                let answers = self.is_urgent_at(local as usize)
                    || mail.iter().any(|event| event.message.urgent());
                out.open(window.start, if is_free || answers { window.start } else { until });
            }
            let process = &mut processes[local as usize];
            let id = out.shares.number(self.first + local);
            let next = model.run(id, process, until, mail, worker, out);
            self.note(local as usize, next);
        }
        scratch.order = order;
        self.look_ahead(&active);
        scratch.due.recycle(&mut out.spare);
    }

    /// Marks the processes with events of their own before `until`.
    #[inline]
    fn own_events(&self, until: Time, active: &mut Active) {
        for (group, &earliest) in self.groups.iter().enumerate() {
            if earliest < until {
                active.groups |= 1 << group;
                for (part, &earliest) in self.parts[group].iter().enumerate() {
                    if earliest < until {
                        let times = &self.next[group * (GROUP / PART) + part];
                        for (bit, time) in times.iter().enumerate() {
                            active.processes[group] |=
                                u64::from(*time < until) << (part * PART + bit);
                        }
                    }
                }
            }
        }
    }

    /// Notes when something is next where processes have run.
    #[inline]
    fn look_ahead(&mut self, active: &Active) {
        for group in members(active.groups) {
            for (part, earliest) in self.parts[group].iter_mut().enumerate() {
                if active.processes[group] >> (part * PART) & ((1 << PART) - 1) != 0 {
                    *earliest = least(&self.next[group * (GROUP / PART) + part]);
                }
            }
            self.groups[group] = least(&self.parts[group]);
        }
        self.earliest = self.groups.iter().copied().min().unwrap_or(Time::MAX);
    }

    /// Remembers when a process wants to run again.
    #[inline]
    fn note(&mut self, local: usize, Next { time, urgent }: Next) {
        self.next[local / PART][local % PART] = time;
        let (group, bit) = (local / GROUP, 1 << (local % GROUP));
        if urgent {
            self.urgent[group] |= bit;
            self.urgent_groups |= 1 << group;
        } else if self.urgent[group] & bit != 0 {
            self.urgent[group] &= !bit;
            if self.urgent[group] == 0 {
                self.urgent_groups &= !(1 << group);
            }
        }
    }

    /// Distributes the due mail over its processes; what is not due is kept for later.
    fn sort_mail<Mo: Model<Message = M>>(
        &mut self,
        model: &Mo,
        until: Time,
        processes: &mut [Mo::Process],
        scratch: &mut Scratch<M>,
        active: &mut Active,
        out: &mut Outbox<M>,
    ) {
        if scratch.links.len() < scratch.due.slot_count() {
            scratch.links.resize(scratch.due.slot_count(), NONE);
        }
        let Scratch { heads, links, due, .. } = scratch;
        due.slots(|slot, event| {
            let local = || (out.shares.place(event.destination) - self.first) as usize;
            if event.message.passive() {
                model.on_passive(&mut processes[local()], event);
            } else if event.time < until {
                let local = local();
                links[slot as usize] = std::mem::replace(&mut heads[local], slot);
                active.groups |= 1 << (local / GROUP);
                active.processes[local / GROUP] |= 1 << (local % GROUP);
            } else {
                self.later.push(*event, &mut out.spare);
            }
        });
    }
}
