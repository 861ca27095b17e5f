//! Bubble flow control: a packet enters a ring only where room for another one is left, so that one
//! packet in the ring can always go on.
//!
//! Room is counted in places of a full packet each. In flits, short packets could leave it in
//! pieces, of which none holds a long packet. Credits count flits, but packets leave a buffer in
//! the order in which they came: at most n packets are in it as soon as its flits are no more than
//! those of the n packets that came last.
//!
//! Under the local rule a place stays free in each buffer that a packet enters. Under the global
//! one it is the critical place of the ring, of which there is one. The router before a buffer
//! knows whether it is there, as it counts that buffer's credits. Packets of the ring may take it:
//! then the place that the packet leaves behind is critical, and the router before learns so with
//! the credit of its tail.
//!
//! A critical place that no packet of the ring takes would keep others from entering there, for
//! ever in buffers of one place. So a router whose own buffer of the ring is empty asks the router
//! before to move the critical place back to that buffer. The router before agrees if a place is
//! free. If it does not, a packet is on its way, and the router asks again until that has come, and
//! when it has gone elsewhere. No packet takes the critical place until the answer comes.
//!
//! Sources: Carrion et al., "A flow control mechanism to avoid message deadlock in k-ary n-cube
//! networks", 1997; for adaptive routing Puente et al., "The adaptive bubble router", 2001; for the
//! critical place Chen, Wang and Pinkston, "Critical bubble scheme: an efficient implementation of
//! globally aware network flow control", IPDPS 2011. That a router asks for an idle critical place
//! to move is our own rule.

use std::collections::VecDeque;

use topology::Bubble;
use units::{DeviceId, Time};

use super::{NONE, Output, Router};
use crate::{
    fabric::{Fabric, NOBODY},
    model::Out,
    signal::Signal,
};

/// The packets that took an output channel last: one fewer than the next buffer has places.
#[derive(Clone, Debug, Default)]
struct Recent {
    flits: VecDeque<u16>,
    /// The sum of these.
    all: u32,
}

impl Recent {
    fn push(&mut self, flits: u16, most: usize) {
        self.flits.push_back(flits);
        self.all += u32::from(flits);
        if self.flits.len() > most {
            self.all -= self.flits.pop_front().map_or(0, u32::from);
        }
    }

    /// The flits of so many of the packets that came last, which are all or all but one.
    fn last(&self, packets: usize) -> u32 {
        let oldest = self.flits.front().filter(|_| self.flits.len() > packets);
        self.all - oldest.map_or(0, |&flits| u32::from(flits))
    }
}

/// The place in the buffer behind an output channel that packets leave free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// None.
    No,
    /// One where a packet enters the ring: the local rule.
    Always,
    /// The critical place of the ring.
    Critical,
    /// The critical place, which moves back as soon as that may succeed.
    Unwanted,
    /// The critical place, of which the router before has been asked. No packet may take it.
    Asked,
}

/// A channel of a port, as an output and as an input of the router.
#[derive(Clone, Debug)]
struct Ring {
    /// The input channel by which the packets come that go on in the ring of the output channel;
    /// [`NONE`] if that is not of a ring.
    before: u32,
    /// The output channel by which the packets of the input channel go on in their ring; or
    /// [`NONE`].
    ahead: u32,
    recent: Recent,
    kept: Kept,
    /// True if the first packet of the input channel has taken the critical place, so that its own
    /// becomes critical.
    moves: bool,
}

/// The channels of a router, by port and channel.
#[derive(Clone, Debug)]
pub(super) struct Rings {
    channels: Box<[Ring]>,
    /// Packets of input channels that only the critical place keeps from an output channel.
    kept_out: Vec<(u32, u32)>,
}

impl Rings {
    pub fn new(net: &Fabric, router: DeviceId) -> Self {
        let ports = net.ports(router);
        let global = net.routes().bubble() == Some(Bubble::Global);
        let ring = |(port, channel): (usize, usize)| {
            let link = ports[port];
            let is_of_ring = link.peer != NOBODY
                && !net.is_host(link.peer)
                && net.lane(&link, channel as u8) == 0;
            let before = usize::from(link.plug) * net.channels + channel;
            let kept = match global {
                false => Kept::Always,
                true if is_of_ring && net.routes().begins_ring(router.0, port as u16) => {
                    Kept::Critical
                }
                true => Kept::No,
            };
            let before = if is_of_ring { before as u32 } else { NONE };
            Ring { before, ahead: NONE, recent: Recent::default(), kept, moves: false }
        };
        let places = (0..ports.len()).flat_map(|port| (0..net.channels).map(move |c| (port, c)));
        let mut channels: Box<[Ring]> = places.map(ring).collect();
        for number in 0..channels.len() {
            let before = channels[number].before;
            if let Some(input) = channels.get_mut(before as usize) {
                input.ahead = number as u32;
            }
        }
        Self { channels, kept_out: Vec::new() }
    }

    /// The credits that tell that so many places besides are free in the buffer behind an output
    /// channel. No number does if there are not so many.
    #[inline]
    fn credits(&self, net: &Fabric, output: u32, besides: usize) -> u32 {
        let recent = &self.channels[output as usize].recent;
        let stay = (net.places - 1).checked_sub(besides);
        stay.map_or(u32::MAX, |stay| net.buffer - recent.last(stay))
    }
}

impl Router {
    /// The credits with which the first packet of an input channel, which needs so many itself, may
    /// take an output channel. Within a ring a place must be free, and two where it enters one that
    /// keeps a place. It is within the ring if it came in by the same channel of the port by which
    /// it enters the next router.
    #[inline(never)]
    pub(super) fn credits_for(&self, net: &Fabric, input: u32, output: u32, needed: u32) -> u32 {
        let Some(rings) = &self.rings else { return needed };
        let Ring { before, kept, .. } = rings.channels[output as usize];
        if before == NONE {
            return needed;
        }
        let keeps = match kept {
            Kept::No => false,
            Kept::Always | Kept::Critical | Kept::Unwanted => before != input,
            Kept::Asked => true,
        };
        needed.max(rings.credits(net, output, keeps.into()))
    }

    /// Notes that the first packet of an input channel takes an output channel at `now`.
    #[inline(never)]
    pub(super) fn note_place<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        (input, output): (u32, u32),
        out: &mut O,
    ) {
        let flits = self.head(input).map_or(0, |head| head.packet.flits);
        let Some(rings) = &mut self.rings else { return };
        let Ring { before, kept, .. } = rings.channels[output as usize];
        let other = rings.credits(net, output, 1);
        rings.channels[output as usize].recent.push(flits, net.places - 1);
        if before != input || !matches!(kept, Kept::Critical | Kept::Unwanted) {
            return;
        }
        self.take_credits(net, output, now + 1, out);
        let takes = self.outputs[output as usize].credits < other;
        if let Some(rings) = self.rings.as_mut().filter(|_| takes) {
            rings.channels[output as usize].kept = Kept::No;
            rings.channels[input as usize].moves = true;
        }
    }

    /// Notes that the first packet of an input channel cannot take an output channel, if that is
    /// because of the critical place. Otherwise lets it ask again when credits come for one place.
    #[inline(never)]
    pub(super) fn want_mark_away(&mut self, net: &Fabric, input: u32, output: u32) {
        let Some(rings) = &mut self.rings else { return };
        let Ring { before, kept, .. } = rings.channels[output as usize];
        if before == NONE || before == input || kept != Kept::Critical {
            return;
        }
        let needed = rings.credits(net, output, 0);
        let Output { credits, returning, .. } = self.outputs[output as usize];
        if credits >= needed {
            rings.kept_out.push((input, output));
        } else {
            self.grantable_at = self.grantable_at.min(returning.time_of(needed - credits));
        }
    }

    /// Lets critical places move that kept packets from entering a ring in this cycle.
    #[inline(never)]
    pub(super) fn displace_marks<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        while let Some((input, output)) = self.rings.as_mut().and_then(|rings| rings.kept_out.pop())
        {
            let waits = self.asking.has(input) && self.outputs[output as usize].owner == NONE;
            let Some(rings) = &mut self.rings else { return };
            let ring = &mut rings.channels[output as usize];
            if waits && ring.kept == Kept::Critical {
                ring.kept = Kept::Unwanted;
                self.ask_displace(net, now, output, out);
            }
        }
    }

    /// Asks the router before to take an unwanted critical place, if the buffer behind that router
    /// is empty as far as it is known here.
    fn ask_displace<O: Out>(&mut self, net: &Fabric, now: u64, output: u32, out: &mut O) {
        let (of, channel) = self.place(output);
        let Some(ring) =
            self.rings.as_mut().and_then(|rings| rings.channels.get_mut(output as usize))
        else {
            return;
        };
        let is_empty =
            self.inputs.get(ring.before as usize).is_some_and(|input| input.head == NONE);
        if ring.kept != Kept::Unwanted || !is_empty {
            return;
        }
        ring.kept = Kept::Asked;
        let link = self.outputs[ring.before as usize].link;
        let at = Time::from_ps(now + net.way_of_credit(&link));
        out.send(link.peer, at, Signal::Displace { port: link.plug, channel, of });
    }

    /// The tail of a packet of an input channel has been granted the switch: its place is critical
    /// if it took the critical one ahead. If it did not, that one may be asked to move.
    #[inline(never)]
    pub(super) fn pass_mark<O: Out>(&mut self, net: &Fabric, now: u64, input: u32, out: &mut O) {
        let Some(rings) = &mut self.rings else { return };
        let ring = &mut rings.channels[input as usize];
        let ahead = ring.ahead;
        if std::mem::take(&mut ring.moves) {
            let Output { link, channel, .. } = self.outputs[input as usize];
            let at = Time::from_ps(now + net.way_of_credit(&link));
            out.send(link.peer, at, Signal::Critical { port: link.plug, channel });
        } else if ahead != NONE {
            self.ask_displace(net, now, ahead, out);
        }
    }

    /// The number of the output channel of a ring, and its state.
    fn ring(&mut self, (port, channel): (u16, u8)) -> Option<(u32, &mut Ring)> {
        let number = self.number(port, channel);
        let ring = self.rings.as_mut()?.channels.get_mut(number as usize)?;
        (ring.before != NONE).then_some((number, ring))
    }

    /// A place in the buffer behind an output channel is the critical one.
    pub(super) fn take_mark(&mut self, place: (u16, u8)) {
        if let Some((_, ring)) = self.ring(place) {
            ring.kept = Kept::Critical;
        }
    }

    /// The router behind an output channel asks for the critical place to move to the buffer there.
    /// It does so only when that buffer is empty, so that all credits that were foretold are back.
    pub(super) fn answer_displace<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        place: (u16, u8),
        port: u16,
        out: &mut O,
    ) {
        let Some((number, _)) = self.ring(place) else { return };
        if self.outputs[number as usize].owner == NONE {
            self.take_credits(net, number, now + 1, out);
        }
        let Output { owner, credits, link, channel, .. } = self.outputs[number as usize];
        let Some(rings) = &mut self.rings else { return };
        let moved = owner == NONE && credits >= rings.credits(net, number, 0);
        if moved {
            rings.channels[number as usize].kept = Kept::Critical;
        }
        let at = Time::from_ps(now + net.way_of_credit(&link));
        out.send(link.peer, at, Signal::Displaced { port, channel, moved });
    }

    /// The router before has answered whether the critical place has moved.
    pub(super) fn displaced<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        place: (u16, u8),
        moved: bool,
        out: &mut O,
    ) {
        let Some((number, ring)) = self.ring(place) else { return };
        ring.kept = if moved { Kept::No } else { Kept::Unwanted };
        self.ask_displace(net, now, number, out);
        if !self.asking.is_empty() {
            self.grantable = true;
            self.wake(net, now);
        }
    }

    /// Returns true if no critical place is on its way.
    pub(super) fn marks_at_rest(&self) -> bool {
        let mut rings = self.rings.iter().flat_map(|rings| &rings.channels);
        rings.all(|ring| !ring.moves && ring.kept != Kept::Asked)
    }

    /// The output channels behind which is the critical place of their ring, by port and channel.
    pub fn critical_places(&self) -> impl Iterator<Item = (u16, u8)> + '_ {
        let rings = self.rings.iter().flat_map(|rings| (0..).zip(&rings.channels));
        let critical = rings
            .filter(|(_, ring)| matches!(ring.kept, Kept::Critical | Kept::Unwanted | Kept::Asked));
        critical.map(|(number, _)| self.place(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of four places: of packets of 4, 1, 4, 1 and 2 flits the last three have 7 flits,
    /// and the last two 3.
    #[test]
    fn the_last_packets() {
        let mut recent = Recent::default();
        assert_eq!((recent.last(3), recent.last(2)), (0, 0));
        recent.push(4, 3);
        recent.push(1, 3);
        assert_eq!((recent.last(3), recent.last(2)), (5, 5));
        for flits in [4, 1, 2] {
            recent.push(flits, 3);
        }
        assert_eq!((recent.last(3), recent.last(2)), (7, 3));
    }
}
