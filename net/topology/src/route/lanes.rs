//! Virtual lanes along a route.

use crate::{Graph, Shape};

/// The rule by which a packet's lane follows from its input, its output and its lane so far.
#[derive(Clone, Debug)]
pub(super) enum Lanes {
    /// One lane.
    Single,
    /// The number of switch-to-switch links so far: strictly increasing, so there can be no cycle
    /// (Günther, "Prevention of deadlocks in packet-switched data transport systems", 1981).
    Hops { count: u8, classes: Classes },
    /// The number of global links of a dragonfly so far (Kim et al., section 4.1). If packets are
    /// `progressive`, they may cross two local links in the group of the source: those behind the
    /// first are on lane 1, as the first global link, and further ones on lanes higher by one. If
    /// shortest ways are `late`, packets that go by no other group begin on lane 1: those of a
    /// detour, which begin on lane 0, do not wait behind them.
    Globals { count: u8, classes: Classes, progressive: bool, late: bool },
    /// Chosen by switch and destination switch so that no lane has a cycle; with a second half of
    /// the way on as many lanes of its own.
    Layers { of: Vec<u8>, half: u8, count: u8 },
    /// Decided by the grid's formula (datelines).
    Grid { count: u8 },
    /// Of a dragonfly, the part of the way to a switch that packets go by, the part from there to
    /// the last global link, and that link and what follows it.
    Parts { classes: Classes },
}

/// The kind of the far end of each port of each switch.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    first: Vec<u32>,
    classes: Vec<Class>,
}

/// The kind of the far end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Host,
    Switch,
    Global,
}

impl Lanes {
    /// Number of lanes.
    pub const fn count(&self) -> u8 {
        match self {
            Self::Single => 1,
            Self::Hops { count, .. }
            | Self::Globals { count, .. }
            | Self::Layers { count, .. }
            | Self::Grid { count } => *count,
            Self::Parts { .. } => 3,
        }
    }

    /// The lane after a switch. Towards a host it is 0: nothing waits behind a host.
    #[inline]
    pub fn after(&self, switch: u32, input: (u16, u8), out: u16) -> u8 {
        match self {
            Self::Single => 0,
            Self::Grid { .. } | Self::Layers { .. } | Self::Parts { .. } => input.1,
            Self::Hops { classes, .. } => {
                match (classes.of(switch, input.0), classes.of(switch, out)) {
                    (Class::Host, _) | (_, Class::Host) => 0,
                    _ => input.1 + 1,
                }
            }
            Self::Globals { classes, progressive, .. } => {
                match (classes.of(switch, input.0), classes.of(switch, out)) {
                    (_, Class::Host) => 0,
                    (Class::Host, Class::Global) => (*progressive).into(),
                    (Class::Switch, _) if *progressive => input.1.max(1),
                    _ => classes.globals(switch, input),
                }
            }
        }
    }
}

impl Classes {
    pub fn new(graph: &Graph, shape: &Shape) -> Self {
        let mut first = Vec::with_capacity(graph.switches() as usize);
        let mut classes = Vec::new();
        for switch in graph.hosts()..graph.devices() {
            first.push(classes.len() as u32);
            let global_from = match shape {
                Shape::Dragonfly(dragonfly) => (dragonfly.hosts + dragonfly.routers - 1) as usize,
                _ => usize::MAX,
            };
            let class = |(port, end): (usize, &Option<crate::End>)| match end {
                Some(end) if graph.is_host(end.device) => Class::Host,
                _ if port >= global_from => Class::Global,
                _ => Class::Switch,
            };
            classes.extend(graph.ends(switch).iter().enumerate().map(class));
        }
        Self { first, classes }
    }

    #[inline]
    pub fn of(&self, switch: u32, port: u16) -> Class {
        self.classes[self.first[switch as usize] as usize + usize::from(port)]
    }

    /// Global links that a packet has crossed when it comes in.
    #[inline]
    pub fn globals(&self, switch: u32, (port, lane): (u16, u8)) -> u8 {
        match self.of(switch, port) {
            Class::Host => 0,
            Class::Switch => lane,
            Class::Global => lane + 1,
        }
    }
}
