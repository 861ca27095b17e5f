//! Routes within one zone: one kind of routing per file.

mod dragonfly;
mod fat_tree;
mod flat;
mod forwarding;
mod search;
mod star;
mod table;

mod torus;

pub(crate) use dragonfly::Dragonfly;
pub(crate) use fat_tree::FatTree;
pub(crate) use flat::Flat;
pub(crate) use forwarding::Forwarding;
pub(crate) use search::{Dijkstra, Floyd};
pub(crate) use star::{Seat, Star};
pub(crate) use table::Table;
pub(crate) use torus::Torus;

use crate::{
    Platform,
    zone::{Gap, Walk},
};

/// The rule by which a zone connects its points.
#[derive(Debug)]
pub(crate) enum Routing {
    /// Not at all.
    Empty,
    Full(Table),
    Floyd(Floyd),
    Dijkstra(Dijkstra),
    /// `Cluster`.
    Star(Star),
    Flat(Flat),
    /// A star whose points lie somewhere: east, north and height in milliseconds.
    Vivaldi(Star, Vec<[f64; 3]>),
    FatTree(FatTree),
    Torus(Torus),
    Dragonfly(Dragonfly),
    Forwarding(Box<Forwarding>),
}

impl Routing {
    /// The name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Empty => "None",
            Self::Full(_) => "Full",
            Self::Floyd(_) => "Floyd",
            Self::Dijkstra(_) => "Dijkstra",
            Self::Star(_) => "Cluster",
            Self::Flat(_) => "FLAT",
            Self::Vivaldi(..) => "Vivaldi",
            Self::FatTree(_) => "FAT_TREE",
            Self::Torus(_) => "TORUS",
            Self::Dragonfly(_) => "DRAGONFLY",
            Self::Forwarding(_) => "forwarding tables",
        }
    }

    /// Appends the links between two points of the zone, and returns the gateways, between zones.
    /// Where no route is stated, nothing is appended, as in SimGrid: what other zones contribute
    /// may be enough.
    #[inline]
    pub fn local(
        &self,
        platform: &Platform,
        zone: u32,
        ends: [u32; 2],
        walk: &mut Walk,
    ) -> Result<Option<[u32; 2]>, Gap> {
        let [from, to] = ends.map(|point| platform.points[point as usize].seat);
        let gap = |why| Gap { zone, ends, why };
        match self {
            Self::Empty => {}
            Self::Full(table) => return Ok(table.local(platform, from, to, walk)),
            Self::Floyd(floyd) => return floyd.local(platform, [from, to], walk, gap),
            Self::Dijkstra(dijkstra) => return dijkstra.local(platform, [from, to], walk, gap),
            Self::Star(star) => star.local(from, to, walk.links).map_err(gap)?,
            Self::Vivaldi(star, places) => {
                star.local(from, to, walk.links).map_err(gap)?;
                walk.distance += distance(places, from, to);
            }
            Self::Flat(flat) => flat.local(from, to, walk.links),
            Self::FatTree(tree) => tree.local(from, to, walk.links),
            Self::Torus(torus) => torus.local(from, to, walk.links),
            Self::Dragonfly(dragonfly) => dragonfly.local(from, to, walk.links),
            Self::Forwarding(_) if from == to => walk.links.push(platform.loopback()),
            Self::Forwarding(tables) => tables.local(from, to, walk.links).map_err(gap)?,
        }
        Ok(None)
    }
}

/// Seconds between two points: the straight way in the plane, and both heights (Dabek et al.,
/// Vivaldi: a decentralized network coordinate system, SIGCOMM 2004, section 5.4).
fn distance(places: &[[f64; 3]], from: u32, to: u32) -> f64 {
    let [a, b] = [from, to].map(|seat| places.get(seat as usize).copied().unwrap_or_default());
    let plane = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
    (plane + a[2].abs() + b[2].abs()) / 1000.0
}

/// Cables of a generated machine, numbered from 0: one link each, or two where the directions are
/// apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cables {
    /// The first link.
    pub first: u32,
    /// True if a cable is two links, `_UP` and `_DOWN`.
    pub split: bool,
}

impl Cables {
    /// The link that leads away from the end that the cable is named for first.
    pub const fn up(self, cable: u32) -> u32 {
        self.first + (cable << self.split as u32)
    }

    /// The link that leads back.
    pub const fn down(self, cable: u32) -> u32 {
        self.up(cable) + self.split as u32
    }
}

/// The links that each host of a generated machine has besides its cable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaves {
    /// The loopback link of the first host.
    pub loopback: Option<u32>,
    /// The limiter of the first host; those of the switches are after those of the hosts.
    pub limiter: Option<u32>,
}

impl Leaves {
    fn limit(self, number: u32, links: &mut Vec<u32>) {
        links.extend(self.limiter.map(|first| first + number));
    }
}
