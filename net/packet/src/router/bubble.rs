//! Bubble flow control: a packet enters a ring only where the next buffer keeps room for another
//! one, so that one packet in the ring can always go on.
//!
//! Room is counted in places of a full packet each. In flits, short packets could leave it in
//! pieces, of which none holds a long packet. Credits count flits, but packets leave a buffer in
//! the order in which they came: at most n packets are in it as soon as its flits are no more than
//! those of the n packets that came last.
//!
//! Source: Carrion et al., "A flow control mechanism to avoid message deadlock in k-ary n-cube
//! networks", 1997, and for adaptive routing Puente et al., "The adaptive bubble router", 2001.

use std::collections::VecDeque;

use super::Router;
use crate::fabric::Fabric;

/// The packets that took an output channel last: one fewer than the next buffer has places.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
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

impl Router {
    /// The credits with which the first packet of an input channel, which needs so many itself, may
    /// take an output channel. Within a ring a place must be free, and two where it enters one. It
    /// is within the ring if it came in by the same channel of the port by which it enters the next
    /// router.
    #[inline]
    pub(super) fn credits_for(&self, net: &Fabric, input: u32, output: u32, needed: u32) -> u32 {
        let Some(recent) = self.recent.get(output as usize) else { return needed };
        let (port, channel) = self.place(output);
        let link = self.port(port).filter(|link| !net.is_host(link.peer));
        let Some(link) = link.filter(|link| net.lane(link, channel) == 0) else { return needed };
        let enters = self.place(input) != (link.plug, channel);
        let stay = net.places - 1 - usize::from(enters);
        needed.max(net.buffer - recent.last(stay))
    }

    /// Notes that the first packet of an input channel takes an output channel.
    pub(super) fn note_place(&mut self, net: &Fabric, input: u32, output: u32) {
        let flits = self.head(input).map_or(0, |head| head.packet.flits);
        if let Some(recent) = self.recent.get_mut(output as usize) {
            recent.push(flits, net.places - 1);
        }
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
