//! Local completion: the moment at which a send is done, if that is not the end of its overhead.
//!
//! A send by rendezvous waits for its receive. Under [`SendDone::Left`], a send whose message is
//! not copied into a buffer of the host is done when the message has left the host. A network that
//! tells when messages have left ([`Network::TELLS_LEFT`]) decides that moment. Otherwise it
//! follows from the costs of the host: the last byte leaves (s-1)G after the message entered.
//!
//! A rank hears of either by a release, which costs nothing.

use kernel::{Event, Probe};
use network::Network;
use schedule::Edge;
use units::Time;

use crate::Record;
use crate::engine::RankStep;
use crate::message::{Kind, Message};
use crate::path::{Clock, Path, Stamp};
use crate::rank::{Rank, Unreleased};
use crate::source::Source;

/// The moment at which a send is done whose message has entered the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendDone {
    /// The end of its overhead, whatever its size.
    #[default]
    Overhead,
    /// The end of its overhead for an eager message of at most `buffer` bytes, which the host
    /// copies; for any other, the moment at which its last byte has left the host.
    Left {
        /// The size of the largest message that is copied.
        buffer: u64,
    },
}

impl SendDone {
    /// Returns the size up to which a send is done at the end of its overhead, where messages of
    /// up to `eager_limit` bytes are eager.
    pub fn buffered(self, eager_limit: u64) -> u64 {
        match self {
            Self::Overhead => u64::MAX,
            Self::Left { buffer } => buffer.min(eager_limit),
        }
    }
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> RankStep<'_, S, N, B> {
    /// Keeps a send that waits for its receive.
    pub fn await_receive(&mut self, waiting: Unreleased) {
        self.rank.matching().rare().unreleased.push(waiting);
    }

    /// Keeps a send whose message is on its way until that has left the host.
    pub fn await_departure(&mut self, waiting: Unreleased) {
        self.rank.matching().rare().departing.push(waiting);
        if !N::TELLS_LEFT || self.is_neighbour(waiting.destination) {
            let release = waiting.release(self.id, 0, waiting.earliest);
            if release.time == Time::MAX {
                self.out.overflow();
            }
            self.arrive(&release);
        }
    }

    /// A send is released: its receive has been found, or its message has left the host.
    pub fn released(&mut self, event: &Event<Message>, at: Time) {
        let send = event.message.send;
        let cpu = self.op(send).cpu;
        let Some(waiting) = self.take_unreleased(send) else { return };
        let (done, path) = if at > waiting.earliest {
            (at, event.message.path)
        } else {
            (waiting.earliest, waiting.path_until(waiting.earliest))
        };
        let free = self.rank.clocks.cpu(cpu).free;
        if done > at && done > free {
            // The CPU is free until then.
            let again = waiting.release(self.id, 0, done);
            self.await_receive(waiting);
            return self.arrive(&again);
        }
        let rare = self.rank.matching().rare();
        rare.blocked = rare.blocked.saturating_add(done.saturating_sub(waiting.since));
        if done > free {
            self.rank.clocks.set_cpu(cpu, Clock { free: done, path });
        }
        let done = Stamp { time: done, cause: event.message.cause, path };
        self.reached_rarely(send, Edge::Done, &done);
    }

    /// Takes a send out of those that wait to be released.
    pub fn take_unreleased(&mut self, send: u32) -> Option<Unreleased> {
        let rare = self.rank.matching.as_mut()?.rare();
        [&mut rare.departing, &mut rare.unreleased].into_iter().find_map(|list| {
            let position = list.iter().position(|waiting| waiting.send == send)?;
            Some(list.swap_remove(position))
        })
    }
}

impl Unreleased {
    /// Returns the chain of causes up to a moment after the end of its overhead, until which the
    /// interface has been sending.
    fn path_until(&self, at: Time) -> Path {
        self.path.bandwidth(at.saturating_sub(self.since))
    }

    /// Makes the message that releases a send of `rank` at a time. In the order of what happens at
    /// one moment, it comes behind messages of ranks.
    fn release(&self, rank: u32, slot: u8, time: Time) -> Event<Message> {
        let (kind, send, path) = (Kind::Release, self.send, self.path_until(time));
        let (cpu, nic, tag, size, cause) = (0, 0, 0, 0, self.cause);
        let message = Message { kind, cpu, nic, slot, send, tag, size, cause, path };
        let (source, sequence) = (u32::MAX, self.sequence);
        Event { time, source, sequence, destination: rank, message }
    }
}

impl<S> Rank<S> {
    /// Returns the message that releases a send whose message of this number has left the host at a
    /// time, or will have; `None` if no send waits for that.
    pub fn left(&self, id: u32, (slot, sequence): (u8, u32), at: Time) -> Option<Event<Message>> {
        let mut departing = self.rare()?.departing.iter();
        let waiting = departing.find(|waiting| waiting.sequence == sequence)?;
        Some(waiting.release(id, slot, at))
    }
}
