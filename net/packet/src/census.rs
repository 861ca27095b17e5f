//! The tree along which routers count the flits in the buffers of the whole network.
//!
//! With a global threshold no packet of a host enters the network while more than a share of all
//! buffers is full. No router sees all of them. At the multiples of a period each one tells the
//! next router towards a root how many flits are in its own buffers and in those behind it, if that
//! has changed, and the root's sum goes back along the tree. A word takes as long as a credit, and
//! no room on the link. So what a router knows is old by at most a period and such a time for each
//! link up from the farthest router and down to it, on any number of threads.
//!
//! Source: the simulator FSIN of INSEE, whose parameter `global_cc` this is; there what routers
//! know is as old as an update period times the diameter.

use units::{DeviceId, Time};

use crate::fabric::{Fabric, Port};

/// No port.
pub(crate) const NONE: u16 = u16::MAX;

/// The tree, and what the routers count with it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// By router, the port towards the root; [`NONE`] at a root.
    up: Box<[u16]>,
    /// Number of hosts: that of the first router.
    hosts: u32,
    /// The time between two words.
    pub period: u64,
    /// The most flits in all buffers with which packets of hosts may enter the network.
    pub limit: u64,
}

impl Tree {
    /// A tree of shortest ways from the first router (in each part of the network that is joined);
    /// `None` without a threshold.
    pub fn new(net: &Fabric) -> Option<Self> {
        let share = net.parameters().threshold?;
        let routers = net.devices() - net.hosts();
        let mut up = vec![NONE; routers as usize];
        let mut seen = vec![false; routers as usize];
        let (mut links, mut longest) = (0, net.delays.cycle);
        for root in 0..routers {
            if std::mem::replace(&mut seen[root as usize], true) {
                continue;
            }
            let mut queue = std::collections::VecDeque::from([root]);
            while let Some(here) = queue.pop_front() {
                for (_, link) in between(net, DeviceId(net.hosts() + here)) {
                    links += 1;
                    longest = longest.max(net.way_of_credit(link));
                    let there = link.peer.0 - net.hosts();
                    if !std::mem::replace(&mut seen[there as usize], true) {
                        up[there as usize] = link.plug;
                        queue.push_back(there);
                    }
                }
            }
        }
        let buffers = links * net.channels as u64 * u64::from(net.buffer);
        let period = net.parameters().threshold_update.map_or(longest, Time::ps);
        #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
        let limit = (share * buffers as f64) as u64;
        Some(Self { up: up.into(), hosts: net.hosts(), period, limit })
    }

    /// The port of a router towards the root, if it is none.
    pub fn up(&self, router: DeviceId) -> Option<u16> {
        let port = self.up.get((router.0 - self.hosts) as usize).copied();
        port.filter(|&port| port != NONE)
    }

    /// The ports of a router behind which others are farther from the root.
    pub fn down(&self, net: &Fabric, router: DeviceId) -> Vec<u16> {
        let leads_here = |link: &Port| self.up(link.peer) == Some(link.plug);
        let all = between(net, router).filter(|(_, link)| leads_here(link));
        all.map(|(port, _)| port).collect()
    }
}

/// The ports of a router to other routers.
fn between(net: &Fabric, router: DeviceId) -> impl Iterator<Item = (u16, &Port)> {
    let ports = (0..net.ports(router).len() as u16).filter_map(move |port| {
        let link = net.port(router, port)?;
        Some((port, link))
    });
    ports.filter(|(_, link)| !net.is_host(link.peer))
}
