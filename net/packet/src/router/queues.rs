//! Queues behind output ports, as routings compare them, and what routers tell each other of them.
//!
//! The flits of a port whose credits are not back are those in the next buffer and those on their
//! way there, or whose credits are on their way back. On a link that is busy for half of the time
//! the latter alone are half of a buffer of one round trip, though nothing waits. So a router notes
//! when it granted which flits, and takes those off whose credits could not be back yet. It adds
//! the flits of packets at the heads of input channels that go on by the port: where the next
//! buffer drains as fast as the link fills it, only these show that the link is too slow.
//!
//! UGAL-L by way of a switch counts all flits whose credits are not back, as BookSim 2 does.
//!
//! Under UGAL-G routers tell each other such queues (`topology::Shared`) at the multiples of a
//! period, if they have changed. The word takes the time of a credit, but no room on the link. So
//! what a router knows is at least the time of a credit old and at most a period more, on any
//! number of threads.

use units::Time;

use super::Router;
use crate::{
    fabric::{Fabric, Sharing},
    model::Out,
    signal::Signal,
    stream::NEVER,
};

/// The queues that routers tell each other of.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    /// By port to a router that tells, and its port, the flits queued there.
    known: Box<[u32]>,
    /// By port that the router tells of, the flits that it told of last.
    told: Box<[u32]>,
}

impl Queues {
    /// Empty queues.
    pub fn new(Sharing { of, with, .. }: &Sharing) -> Self {
        let known = of.len() * with.len();
        Self { known: vec![0; known].into(), told: vec![0; of.len()].into() }
    }
}

impl Router {
    /// The flits that have been granted a port, on the channels of a lane or on all, and whose
    /// credits are not back at `now`.
    pub(super) fn used(&self, net: &Fabric, now: u64, port: u16, lane: Option<u8>) -> u64 {
        let channels = match (lane, self.port(port)) {
            (Some(lane), Some(link)) => net.channels_of(lane, &link),
            _ => 0..self.channels as u32,
        };
        let first = self.number(port, 0);
        let outputs = channels.map(|channel| &self.outputs[(first + channel) as usize]);
        outputs
            .map(|output| {
                let credits = output.credits + u32::from({ output.returning }.take(now));
                u64::from(net.buffer.saturating_sub(credits))
            })
            .sum()
    }

    /// The flits that have been granted a port and whose credits are late at `now`, and those of
    /// the packets at the heads of input channels that go on by the port; with a lane, only the
    /// former and only those on its channels.
    pub(super) fn queue(&self, net: &Fabric, now: u64, port: u16, lane: Option<u8>) -> u64 {
        let out = self.used(net, now, port, lane);
        let Some(waiting) = self.waiting.get(usize::from(port)) else { return out };
        let Some(link) = self.port(port) else { return out };
        let way = net.way_around(&link);
        let granted = &self.granted[usize::from(port)];
        let on_time = granted.iter().rev().take_while(|(at, _)| at + way > now);
        let channels = lane.map(|lane| net.channels_of(lane, &link));
        let of_lane = |&&(_, channel): &&(u64, u8)| {
            channels.as_ref().is_none_or(|channels| channels.contains(&channel.into()))
        };
        let late = out.saturating_sub(on_time.filter(of_lane).count() as u64);
        if lane.is_some() { late } else { late + u64::from(*waiting) }
    }

    /// Notes that a flit has been granted a port, if its credit is waited for.
    #[inline]
    pub(super) fn note_granted(&mut self, net: &Fabric, now: u64, (port, channel): (u16, u8)) {
        if self.granted.is_empty() {
            return;
        }
        let Some(link) = self.port(port) else { return };
        let way = net.way_around(&link);
        let granted = &mut self.granted[usize::from(port)];
        while granted.front().is_some_and(|(at, _)| at + way <= now) {
            granted.pop_front();
        }
        granted.push_back((now, channel));
    }

    /// The flits queued at a port of the router behind another port, as that router has told.
    pub(super) fn known(&self, net: &Fabric, port: u16, next: u16) -> u64 {
        let (Some(queues), Some(sharing)) = (&self.queues, &net.sharing) else { return 0 };
        let known = sharing.place(port, next).and_then(|place| queues.known.get(place));
        known.copied().unwrap_or(0).into()
    }

    /// Another router tells of its queue.
    pub(super) fn learn(&mut self, net: &Fabric, port: u16, of: u16, flits: u32) {
        let (Some(queues), Some(sharing)) = (&mut self.queues, &net.sharing) else { return };
        let place = sharing.place(port, of);
        if let Some(known) = place.and_then(|place| queues.known.get_mut(place)) {
            *known = flits;
        }
    }

    /// Lets the router tell of its queues at the next multiple of the period.
    #[inline]
    pub(super) fn tell_from(&mut self, net: &Fabric, now: u64) {
        if let Some(sharing) = &net.sharing
            && self.tell_at == NEVER
        {
            self.tell_at = now.div_ceil(sharing.period) * sharing.period;
        }
    }

    /// Tells the routers around of the queues that have changed, and goes on with it until the
    /// router is empty.
    pub(super) fn tell<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        self.tell_at = NEVER;
        self.settle_all(net, now);
        let (Some(mut queues), Some(sharing)) = (self.queues.take(), &net.sharing) else { return };
        let mut empty = self.stored == 0;
        for (of, told) in sharing.of.clone().zip(&mut queues.told) {
            if self.port(of).is_none() {
                continue;
            }
            let flits = u32::try_from(self.queue(net, now, of, None)).unwrap_or(u32::MAX);
            empty &= self.used(net, now, of, None) == 0;
            if std::mem::replace(told, flits) == flits {
                continue;
            }
            let around = sharing.with.clone().filter_map(|port| self.port(port));
            for link in around {
                let at = Time::from_ps(now + net.way_of_credit(&link));
                out.send(link.peer, at, Signal::Queue { port: link.plug, of, flits });
            }
        }
        self.queues = Some(queues);
        if !empty {
            self.tell_at = now + sharing.period;
        }
    }
}
