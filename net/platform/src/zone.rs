//! Zones within zones, and how a route is put together from the routes within them.
//!
//! Two hosts of one zone are connected by its routing. Otherwise the zone that holds both knows a
//! route between the zones below it, from a gateway to a gateway, and what lies between the hosts
//! and the gateways is found in the same way.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{Platform, routing::Routing};

/// A point of a zone: a host, a router, or a zone within it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// The zone it lies in; `NONE` for the outermost.
    pub zone: u32,
    /// Its number there.
    pub seat: u32,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Host(u32),
    Router(u32),
    Zone(u32),
}

pub(crate) const NONE: u32 = u32::MAX;

/// An autonomous part of the machine.
#[derive(Debug)]
pub(crate) struct Zone {
    pub name: Box<str>,
    pub parent: Option<u32>,
    /// Its point in the parent.
    pub point: u32,
    pub routing: Routing,
    /// Routes that take precedence, by the points of both ends: hosts of this zone, or zones
    /// anywhere below it.
    pub bypass: FxHashMap<(u32, u32), Leg>,
}

/// A stated route.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leg {
    /// The points it leads from and to, between zones.
    pub gateways: Option<[u32; 2]>,
    pub links: Box<[u32]>,
}

/// The place where a route breaks off: the zone, and the points that it does not connect.
pub(crate) struct Gap {
    pub zone: u32,
    pub ends: [u32; 2],
    pub why: &'static str,
}

/// Zones from a point's own to the outermost.
type Path = SmallVec<[u32; 8]>;

/// A route as it grows.
pub(crate) struct Walk<'a> {
    pub links: &'a mut Vec<u32>,
    /// Seconds of latency that belong to no link.
    pub distance: f64,
    /// The number of routes that this one lies within.
    pub depth: usize,
}

impl Platform {
    /// Appends the links between two points, hosts or routers.
    pub(crate) fn connect(&self, from: u32, to: u32, walk: &mut Walk) -> Result<(), Gap> {
        let [a, b] = [from, to].map(|point| self.points[point as usize].zone);
        if a == b {
            let zone = &self.zones[a as usize];
            if !zone.bypass.is_empty()
                && let Some(leg) = zone.bypass.get(&(from, to))
            {
                walk.links.extend_from_slice(&leg.links);
                return Ok(());
            }
            return zone.routing.local(self, a, [from, to], walk).map(|_| ());
        }
        // A function of its own, so that the route within a zone needs no room for paths.
        self.across([from, to], [a, b], walk)
    }

    fn across(&self, ends: [u32; 2], zones: [u32; 2], walk: &mut Walk) -> Result<(), Gap> {
        let (above, below) = self.paths(zones);
        // Both paths end with what differs, unless one zone holds the other.
        let [left, right] = [&above, &below].map(|path| path.last().copied().unwrap_or(NONE));
        let common = self.zones[left as usize].parent.unwrap_or(left);
        let gap = |why| Gap { zone: common, ends, why };
        if left == right {
            return Err(gap("one of them lies in a zone within the zone of the other"));
        }
        // Bypasses may name gateways so that a route needs itself.
        if walk.depth > 2 * self.zones.len() {
            return Err(gap("the routes between its zones lead in a circle"));
        }
        walk.depth += 1;
        let zone = &self.zones[common as usize];
        if let Some(([enter, leave], leg)) = zone.detour(&above, &below, &self.zones) {
            self.connect(ends[0], enter, walk)?;
            walk.links.extend_from_slice(&leg.links);
            self.connect(leave, ends[1], walk)?;
        } else {
            let mut between = Vec::new();
            let mut middle = Walk { links: &mut between, distance: 0.0, depth: walk.depth };
            let sides = [left, right].map(|zone| self.zones[zone as usize].point);
            let Some([enter, leave]) = zone.routing.local(self, common, sides, &mut middle)? else {
                let why = "it has no route with gateways between them";
                return Err(Gap { ends: sides, ..gap(why) });
            };
            walk.distance += middle.distance;
            if enter != ends[0] {
                self.connect(ends[0], enter, walk)?;
            }
            walk.links.extend_from_slice(&between);
            if leave != ends[1] {
                self.connect(leave, ends[1], walk)?;
            }
        }
        walk.depth -= 1;
        Ok(())
    }

    /// The zones above two zones up to where they meet, which is left out unless one holds the
    /// other.
    fn paths(&self, [a, b]: [u32; 2]) -> (Path, Path) {
        let path = |zone: u32| -> Path {
            std::iter::successors(Some(zone), |&zone| self.zones[zone as usize].parent).collect()
        };
        let (mut above, mut below) = (path(a), path(b));
        while above.len() > 1 && below.len() > 1 && above.last() == below.last() {
            above.pop();
            below.pop();
        }
        (above, below)
    }

    /// A gap in words.
    pub(crate) fn explain(&self, gap: &Gap) -> String {
        let zone = &self.zones[gap.zone as usize];
        let [from, to] = gap.ends.map(|point| self.point_name(point));
        let routing = zone.routing.name();
        format!("zone `{}` (routing {routing}), `{from}` to `{to}`: {}", zone.name, gap.why)
    }

    pub(crate) fn point_name(&self, point: u32) -> &str {
        match self.points[point as usize].kind {
            Kind::Host(host) => &self.hosts[host as usize].name,
            Kind::Router(router) => &self.routers[router as usize],
            Kind::Zone(zone) => &self.zones[zone as usize].name,
        }
    }
}

impl Zone {
    /// The bypass that spares the most, and its gateways. SimGrid's order: nearest zones first.
    fn detour(&self, above: &Path, below: &Path, zones: &[Self]) -> Option<([u32; 2], &Leg)> {
        if self.bypass.is_empty() {
            return None;
        }
        let look = |i: usize, j: usize| {
            let [a, b] = [above.get(i)?, below.get(j)?].map(|&zone| zones[zone as usize].point);
            let leg = self.bypass.get(&(a, b))?;
            Some((leg.gateways?, leg))
        };
        (0..above.len().max(below.len())).find_map(|far| {
            let sides = (0..far).find_map(|near| look(near, far).or_else(|| look(far, near)));
            sides.or_else(|| look(far, far))
        })
    }
}
