//! Queues behind output ports, as routings compare them, and what routers tell each other of them.
//!
//! UGAL-L counts the flits of a port whose credits are not back. UGAL-G and progressive routing
//! also count the flits of packets at the heads of input channels that go on by the port: where the
//! next buffer drains as fast as the link fills it, only these show that the link is too slow.
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
    /// The flits that have been granted a port and whose credits are not back.
    pub(super) fn used(&self, net: &Fabric, port: u16) -> u64 {
        let first = self.number(port, 0) as usize;
        let outputs = &self.outputs[first..first + self.channels];
        outputs.iter().map(|output| u64::from(net.buffer - output.credits)).sum()
    }

    /// The flits that have been granted a port and whose credits are not back at `now`, and those
    /// of the packets at the heads of input channels that go on by the port.
    pub(super) fn queue(&self, net: &Fabric, now: u64, port: u16) -> u64 {
        let first = self.number(port, 0) as usize;
        let outputs = &self.outputs[first..first + self.channels];
        let back: u32 =
            outputs.iter().map(|output| u32::from({ output.returning }.take(now))).sum();
        let waiting = self.waiting.get(usize::from(port)).copied().unwrap_or(0);
        (self.used(net, port) + u64::from(waiting)).saturating_sub(back.into())
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
        let (Some(mut queues), Some(sharing)) = (self.queues.take(), &net.sharing) else { return };
        let mut empty = self.stored == 0;
        for (of, told) in sharing.of.clone().zip(&mut queues.told) {
            if net.port(self.device, of).is_none() {
                continue;
            }
            let flits = u32::try_from(self.queue(net, now, of)).unwrap_or(u32::MAX);
            empty &= flits == 0;
            if std::mem::replace(told, flits) == flits {
                continue;
            }
            let around = sharing.with.clone().filter_map(|port| net.port(self.device, port));
            for link in around {
                let at = Time::from_ps(now + net.way_of_credit(link));
                out.send(link.peer, at, Signal::Queue { port: link.plug, of, flits });
            }
        }
        self.queues = Some(queues);
        if !empty {
            self.tell_at = now + sharing.period;
        }
    }
}
