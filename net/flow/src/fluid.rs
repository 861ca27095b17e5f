//! The solver: flows start, share, and complete.

use kernel::{Probe, Silent};
use units::Time;

use crate::{Flow, FlowId, Link};

/// From `at` on a link carries `rate` bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// When.
    pub at: Time,
    /// The link's index.
    pub link: u32,
    /// Bytes per second; on a fat pipe the sum over its flows.
    pub rate: f64,
}

/// Links and the flows on them. The caller owns the time: it asks for [`Fluid::next_event`], and tells by
/// [`Fluid::advance`] that this moment has come.
#[derive(Debug)]
pub struct Fluid<P = Silent> {
    links: Vec<Link>,
    now: Time,
    probe: P,
}

impl Fluid {
    /// A solver for these links, which nobody watches.
    pub fn new(links: impl IntoIterator<Item = Link>) -> Self {
        Self::watched(links, Silent)
    }
}

impl<P: Probe<Load>> Fluid<P> {
    /// A solver for these links that tells `probe` when the load of a link changes.
    pub fn watched(links: impl IntoIterator<Item = Link>, probe: P) -> Self {
        Self { links: links.into_iter().collect(), now: Time::ZERO, probe }
    }

    /// Starts a flow; `token` is what [`Fluid::advance`] says when it completes. All that starts at an instant is
    /// solved together, when the next event is asked for.
    ///
    /// # Panics
    ///
    /// If a use names a link that is not there.
    pub fn start(&mut self, now: Time, flow: &Flow, token: u32) -> FlowId {
        self.now = now;
        let _ = (flow, token, self.links.len());
        FlowId(0)
    }

    /// The next moment at which a latency phase ends or a flow completes.
    pub fn next_event(&mut self) -> Option<Time> {
        None
    }

    /// Moves the time to `to`, which is not after [`Fluid::next_event`], and adds the tokens of what completes then,
    /// in the order in which the flows were started.
    pub fn advance(&mut self, to: Time, done: &mut Vec<u32>) {
        self.now = to;
        let _ = done;
    }

    /// What a flow gets on its links now, in bytes per second.
    pub fn rate(&mut self, flow: FlowId) -> f64 {
        let _ = flow;
        0.0
    }

    /// What a link carries now, in bytes per second; on a fat pipe the sum over its flows.
    pub fn load(&mut self, link: u32) -> f64 {
        let _ = link;
        0.0
    }

    /// The probe.
    pub fn probe(&mut self) -> &mut P {
        &mut self.probe
    }
}
