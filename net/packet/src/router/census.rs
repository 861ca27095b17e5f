//! The count of the flits in all buffers, as far as a router knows it; see [`crate::census`].

use units::{DeviceId, Time};

use super::Router;
use crate::{census::Tree, fabric::Fabric, model::Out, signal::Signal, stream::NEVER};

/// The counts that a router knows and has told.
#[derive(Clone, Debug)]
pub(super) struct Census {
    /// The port towards the root; `None` at the root.
    up: Option<u16>,
    /// The ports to the routers below, and what they have told.
    below: Box<[(u16, u64)]>,
    /// The flits that it has told the router above.
    told: u64,
    /// The flits in all buffers.
    all: u64,
    /// Those that it has told the routers below.
    passed: u64,
    /// The time at which it tells next.
    at: u64,
}

impl Census {
    /// An empty network.
    pub fn new(net: &Fabric, tree: &Tree, router: DeviceId) -> Self {
        let below = tree.down(net, router).into_iter().map(|port| (port, 0)).collect();
        Self { up: tree.up(router), below, told: 0, all: 0, passed: 0, at: NEVER }
    }
}

impl Router {
    /// The time at which the router tells others of the flits in buffers.
    #[inline]
    pub(super) fn report_at(&self) -> u64 {
        self.census.as_ref().map_or(NEVER, |census| census.at)
    }

    /// Lets the router tell of them at the next multiple of the period.
    #[inline]
    pub(super) fn report_from(&mut self, net: &Fabric, now: u64) {
        if let (Some(census), Some(tree)) = (&mut self.census, &net.census)
            && census.at == NEVER
        {
            census.at = now.div_ceil(tree.period) * tree.period;
        }
    }

    /// A router of the tree tells: one below of its part, that above of all.
    pub(super) fn count_in(&mut self, net: &Fabric, now: u64, from: u16, flits: u64) {
        let Some(census) = &mut self.census else { return };
        if census.up == Some(from) {
            census.all = flits;
            self.resume(net, now);
        } else if let Some(below) = census.below.iter_mut().find(|(port, _)| *port == from) {
            below.1 = flits;
        }
    }

    /// Tells the routers above and below what has changed, and goes on with it until the router is
    /// empty.
    pub(super) fn report<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        let (Some(mut census), Some(tree)) = (self.census.take(), &net.census) else { return };
        self.settle_all(net, now);
        let own = self.in_transit(net, now);
        let part = own + census.below.iter().map(|(_, flits)| flits).sum::<u64>();
        let mut tell = |port: u16, flits: u64| {
            let Some(link) = net.port(self.device, port) else { return };
            let at = Time::from_ps(now + net.way_of_credit(link));
            out.send(link.peer, at, Signal::census(link.plug, flits));
        };
        match census.up {
            None => census.all = part,
            Some(port) if census.told != part => tell(port, part),
            Some(_) => {}
        }
        census.told = part;
        if std::mem::replace(&mut census.passed, census.all) != census.all {
            for &(port, _) in &census.below {
                tell(port, census.all);
            }
        }
        census.at = if self.stored > 0 { now + tree.period } else { NEVER };
        self.census = Some(census);
        self.resume(net, now);
    }

    /// Flits in the buffers behind links between routers.
    fn in_transit(&self, net: &Fabric, now: u64) -> u64 {
        let inputs = (0..self.inputs.len() as u32)
            .filter(|&input| !net.is_of_host(self.device, self.place(input).0));
        inputs.map(|input| u64::from(self.occupied(input, now))).sum()
    }

    /// True if the network is too full for packets of hosts, as far as is known here.
    #[inline]
    pub(super) fn is_full(&self, net: &Fabric) -> bool {
        match (&self.census, &net.census) {
            (Some(census), Some(tree)) => census.all > tree.limit,
            _ => false,
        }
    }

    /// Packets of hosts may ask again if the network is not too full.
    fn resume(&mut self, net: &Fabric, now: u64) {
        if !self.is_full(net) && !self.asking.is_empty() {
            self.grantable = true;
            self.wake(net, now);
        }
    }
}
