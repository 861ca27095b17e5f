//! Mail that lies beyond the window.
//!
//! Events are sorted when their window is run; until then only the span of time matters that an
//! event falls into. So there is a ring of spans, each a part of a window long
//! (R. Brown, "Calendar queues", CACM 31(10), 1988), and a heap for what lies beyond the ring.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use crate::mail::Mail;
use crate::{Event, Wire};

/// Spans in the ring: 64 windows or more.
const RING: u64 = 256;
const WORDS: usize = RING as usize / 64;

/// The events of one block that lie beyond the window.
pub struct CalendarQueue<M> {
    /// The binary logarithm of the length of a span in picoseconds.
    shift: u32,
    /// The number of the first span of the ring.
    first: u64,
    /// The spans of the ring, by number modulo [`RING`]; empty until it is needed.
    ring: Vec<Mail<M>>,
    /// The spans that have events, as a set of bits.
    occupied: [u64; WORDS],
    /// The events beyond the ring.
    far: BinaryHeap<Reverse<Far<M>>>,
    /// The time of the earliest event.
    pub earliest: Time,
    /// The times of urgent messages.
    urgent: BinaryHeap<Reverse<Time>>,
}

/// An event ordered by when it is due.
struct Far<M>(Event<M>);

impl<M> PartialEq for Far<M> {
    fn eq(&self, other: &Self) -> bool {
        self.0.time == other.0.time
    }
}
impl<M> Eq for Far<M> {}
impl<M> PartialOrd for Far<M> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<M> Ord for Far<M> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.time.cmp(&other.0.time)
    }
}

impl<M: Wire> CalendarQueue<M> {
    /// Returns an empty queue for windows as long as the lookahead.
    pub const fn new(lookahead: Time) -> Self {
        let half = lookahead.ps() / 2;
        Self {
            shift: if half == 0 { 0 } else { half.ilog2() },
            first: 0,
            ring: Vec::new(),
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            earliest: Time::MAX,
            urgent: BinaryHeap::new(),
        }
    }

    /// Returns the time of the earliest urgent message.
    pub fn urgent(&self) -> Time {
        self.urgent.peek().map_or(Time::MAX, |time| time.0)
    }

    /// Keeps an event that is not due before what was last taken.
    pub fn push(&mut self, event: Event<M>, spare: &mut Vec<Vec<Event<M>>>) {
        self.earliest = self.earliest.min(event.time);
        if event.message.urgent() {
            self.urgent.push(Reverse(event.time));
        }
        let span = event.time.ps() >> self.shift;
        if span.wrapping_sub(self.first) >= RING {
            return self.far.push(Reverse(Far(event)));
        }
        if self.ring.is_empty() {
            self.ring.resize_with(RING as usize, Mail::new);
        }
        let place = (span % RING) as usize;
        self.occupied[place / 64] |= 1 << (place % 64);
        self.ring[place].push(event, spare);
    }

    /// Moves the events that are due before `until` into `mail`.
    pub fn take(&mut self, until: Time, mail: &mut Mail<M>, spare: &mut Vec<Vec<Event<M>>>) {
        let last = until.ps() >> self.shift;
        if self.earliest >= until {
            self.first = last;
            return;
        }
        while let Some(span) = self.next_span().filter(|span| *span <= last) {
            let place = (span % RING) as usize;
            if self.ring[place].earliest >= until {
                break;
            }
            self.occupied[place / 64] &= !(1 << (place % 64));
            let mut events = std::mem::replace(&mut self.ring[place], Mail::new());
            if span < last {
                events.chunks().for_each(|chunk| mail.append(chunk, spare));
                continue;
            }
            for event in events.iter() {
                if event.time < until {
                    mail.push(*event, spare);
                } else {
                    self.occupied[place / 64] |= 1 << (place % 64);
                    self.ring[place].push(*event, spare);
                }
            }
            events.recycle(spare);
            break;
        }
        self.first = last;
        while self.far.peek().is_some_and(|event| event.0.0.time < until)
            && let Some(Reverse(Far(event))) = self.far.pop()
        {
            mail.push(event, spare);
        }
        while self.urgent.peek().is_some_and(|time| time.0 < until) {
            self.urgent.pop();
        }
        let near =
            self.next_span().map_or(Time::MAX, |span| self.ring[(span % RING) as usize].earliest);
        let far = self.far.peek().map_or(Time::MAX, |event| event.0.0.time);
        self.earliest = near.min(far);
    }

    /// Returns the number of the first span of the ring that has events.
    fn next_span(&self) -> Option<u64> {
        let start = (self.first % RING) as usize;
        // The first word comes twice: its upper part at the start, its lower part at the end.
        (0..=WORDS).find_map(|step| {
            let index = (start / 64 + step) % WORDS;
            let upper = u64::MAX << (start % 64);
            let mask = match step {
                0 => upper,
                WORDS => !upper,
                _ => u64::MAX,
            };
            let word = self.occupied[index] & mask;
            let place = (index * 64) as u64 + u64::from(word.trailing_zeros());
            let ahead = (place + RING - self.first % RING) % RING;
            (word != 0).then(|| self.first + ahead)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A message that is urgent or not.
    impl Wire for bool {
        fn encode(&self, bytes: &mut Vec<u8>) {
            bytes.push(u8::from(*self));
        }

        fn decode(bytes: &mut &[u8]) -> Option<Self> {
            bytes.split_off_first().map(|byte| *byte != 0)
        }

        fn urgent(&self) -> bool {
            *self
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        /// An event so long after the last window.
        Push { after: u64, urgent: bool },
        /// A window that ends so long after the last one.
        Take { after: u64 },
    }

    /// Times from within a window to far beyond the ring, which reaches 64 windows or more.
    fn step(lookahead: u64) -> impl Strategy<Value = Step> {
        let span = lookahead.max(1);
        let near = 0..4 * span;
        let after = prop_oneof![near.clone(), 0..100 * span, 0..1000 * span];
        let push = (after.clone(), any::<bool>());
        prop_oneof![
            3 => push.prop_map(|(after, urgent)| Step::Push { after, urgent }),
            2 => near.prop_map(|after| Step::Take { after }),
            1 => after.prop_map(|after| Step::Take { after }),
        ]
    }

    proptest! {
        #[test]
        fn as_a_list_that_is_searched(
            (lookahead, steps) in (0..100_u64)
                .prop_flat_map(|time| (Just(time), prop::collection::vec(step(time), 1..300))),
        ) {
            let mut queue = CalendarQueue::new(Time::from_ps(lookahead));
            let (mut list, mut spare, mut now) = (Vec::new(), Vec::new(), 0);
            for (sequence, step) in (0..).zip(steps) {
                match step {
                    Step::Push { after, urgent: message } => {
                        let time = Time::from_ps(now + after);
                        let event = Event { time, source: 0, sequence, destination: 0, message };
                        list.push(event);
                        queue.push(event, &mut spare);
                    }
                    Step::Take { after } => {
                        now += after;
                        let mut mail = Mail::new();
                        queue.take(Time::from_ps(now), &mut mail, &mut spare);
                        let mut taken: Vec<_> = mail.iter().copied().collect();
                        taken.sort_by_key(|event| event.sequence);
                        let due = list.extract_if(.., |event| event.time.ps() < now);
                        prop_assert_eq!(taken, due.collect::<Vec<_>>());
                    }
                }
                let times = list.iter().map(|event| event.time);
                prop_assert_eq!(queue.earliest, times.min().unwrap_or(Time::MAX));
                let urgent = list.iter().filter(|event| event.message).map(|event| event.time);
                prop_assert_eq!(queue.urgent(), urgent.min().unwrap_or(Time::MAX));
            }
        }
    }
}
