//! Routes and bypasses, resolved to points and links.

use topology::{
    Fault,
    import::xml::{Attribute, Element, Place},
};

use super::{Node, Reader, zone::Rule};
use crate::zone::{Kind, Leg, NONE};

/// The number of unknown names that are told the nearest known one; each costs a look at all of
/// them.
const GUESSES: usize = 20;

/// A link of a stated route: there, and on the way back.
type Step = (u32, u32);

impl Reader<'_> {
    /// A stated route of a zone.
    pub(super) fn state(&mut self, zone: u32, node: &Node) {
        let element = &node.element;
        let name = element.name.as_str();
        let steps = self.steps(node);
        let ends =
            ["src", "dst"].map(|key| element.attribute(key).and_then(|end| self.point_named(end)));
        let zonal = name.ends_with("oneRoute") || name.ends_with("ASroute");
        let gateways = if zonal {
            let keys = ["gw_src", "gw_dst"];
            let found =
                keys.map(|key| element.attribute(key).and_then(|end| self.point_named(end)));
            let [Some(from), Some(to)] = found else { return };
            Some([from, to])
        } else {
            None
        };
        let back = self.word(element, "symmetrical", &["YES", "NO", "yes", "no"]);
        let ([Some(from), Some(to)], Some(steps)) = (ends, steps) else { return };
        if !self.fit(element, [from, to], gateways) {
            return;
        }
        if name.starts_with("bypass") {
            return self.bypass(zone, element, [from, to], gateways, &steps);
        }
        if !self.takes(zone, element, [from, to]) {
            return;
        }
        let links = steps.iter().map(|step| step.0).collect();
        let leg = Leg { gateways, links };
        self.add(zone, element.place, [from, to], leg);
        if from != to && matches!(back, Some("YES" | "yes")) {
            let links = steps.iter().rev().map(|step| step.1).collect();
            let leg = Leg { gateways: gateways.map(|[a, b]| [b, a]), links };
            self.add(zone, element.place, [to, from], leg);
        }
    }

    fn add(&mut self, zone: u32, place: Place, ends: [u32; 2], leg: Leg) {
        let [from, to] = ends.map(|point| self.points[point as usize].seat);
        let draft = &mut self.drafts[zone as usize];
        if matches!(draft.routing, Rule::Star | Rule::Vivaldi) {
            let seat = &mut draft.seats[from as usize];
            seat.own = Some(leg.links.iter().copied().collect());
            return;
        }
        draft.order.push((from, to));
        if draft.legs.insert((from, to), leg).is_some() {
            let [from, to] = ends.map(|point| self.name_of(point));
            let (line, column) = place;
            let message = format!("there are two routes from `{from}` to `{to}`");
            let help = "routes lead both ways unless they say symmetrical=\"NO\"".to_owned();
            self.faults.push(Fault::at(line, column, message).help(Some(help)));
        }
    }

    /// Returns whether a zone takes a route between two of its points.
    fn takes(&mut self, zone: u32, element: &Element, ends: [u32; 2]) -> bool {
        let rule = self.drafts[zone as usize].routing;
        let place = element.place;
        let zone_of = |point: u32| self.points[point as usize].zone;
        if let Some(stranger) = ends.into_iter().find(|&point| zone_of(point) != zone) {
            let name = self.name_of(stranger);
            let [here, there] =
                [zone, zone_of(stranger)].map(|zone| match self.zones.get(zone as usize) {
                    Some(zone) => format!("zone `{}`", zone.name),
                    None => "no zone".to_owned(),
                });
            let message = format!(
                "`{name}` lies in {there}; a route of {here} connects what lies directly in it"
            );
            self.fault(place, message);
            return false;
        }
        match rule {
            Rule::Full | Rule::Floyd | Rule::Dijkstra => true,
            Rule::Star | Rule::Vivaldi if ends[0] == ends[1] && element.name == "route" => true,
            Rule::Star | Rule::Vivaldi => {
                self.fault(
                    place,
                    "a Cluster or Vivaldi zone takes routes of a host to itself only, and \
                                   <host_link>",
                );
                false
            }
            Rule::Empty | Rule::Set => {
                self.fault(place, "a zone with routing=\"None\" takes no routes");
                false
            }
        }
    }

    /// Returns whether the ends of a route are of the right kind, and its gateways within them.
    fn fit(&mut self, element: &Element, ends: [u32; 2], gateways: Option<[u32; 2]>) -> bool {
        let (name, place) = (element.name.as_str(), element.place);
        let zone = |reader: &Self, point: u32| match reader.points[point as usize].kind {
            Kind::Zone(zone) => Some(zone),
            _ => None,
        };
        let before = self.faults.0.len();
        for (index, point) in ends.into_iter().enumerate() {
            let text = self.name_of(point);
            let Some(gateway) = gateways.map(|gateways| gateways[index]) else {
                if zone(self, point).is_some() {
                    self.fault(
                        place,
                        format!(
                            "`{text}` is a zone: routes of zones are <zoneRoute>, with gateways"
                        ),
                    );
                }
                continue;
            };
            let door = self.name_of(gateway);
            match zone(self, point) {
                None => {
                    self.fault(place, format!("`{text}` is not a zone; <{name}> connects zones"));
                }
                Some(_) if zone(self, gateway).is_some() => {
                    self.fault(
                        place,
                        format!("`{door}` is a zone; a gateway is a host or a router"),
                    );
                }
                Some(zone) if !self.lies_in(gateway, zone) => {
                    self.fault(
                        place,
                        format!("the gateway `{door}` does not lie in zone `{text}`"),
                    );
                }
                Some(_) => {}
            }
        }
        if let Some([a, b]) = gateways
            && a == b
        {
            self.fault(place, "the gateways of a route between zones are two");
        }
        self.faults.0.len() == before
    }

    fn bypass(
        &mut self,
        zone: u32,
        element: &Element,
        ends: [u32; 2],
        gateways: Option<[u32; 2]>,
        steps: &[Step],
    ) {
        let (line, column) = element.place;
        if gateways.is_none() && ends.iter().any(|&point| self.points[point as usize].zone != zone)
        {
            let message = "SimGrid looks for this bypass only if both ends lie directly in the \
                           zone: it has no effect";
            self.remarks.push(Fault::at(line, column, message));
        }
        let leg = Leg { gateways, links: steps.iter().map(|step| step.0).collect() };
        if self.drafts[zone as usize].bypass.insert((ends[0], ends[1]), leg).is_some() {
            let [from, to] = ends.map(|point| self.name_of(point));
            self.fault(element.place, format!("there are two bypasses from `{from}` to `{to}`"));
        }
    }

    /// The links of a route, or nothing if one of them is wrong or there are none.
    fn steps(&mut self, node: &Node) -> Option<Vec<Step>> {
        let contents = node.children.iter().filter(|node| node.element.name == "link_ctn");
        let steps: Vec<Option<Step>> = contents.map(|node| self.step(&node.element)).collect();
        if steps.is_empty() {
            self.fault(node.element.place, format!("<{}> needs a <link_ctn>", node.element.name));
            return None;
        }
        steps.into_iter().collect()
    }

    fn step(&mut self, element: &Element) -> Option<Step> {
        let id = element.attribute("id")?;
        let direction = self.word(element, "direction", &["NONE", "UP", "DOWN"])?;
        let both = self.duplex.get(&id.value).copied();
        match (direction, both) {
            ("NONE", Some(_)) if !self.links_by_name.contains_key(&id.value) => {
                let message =
                    format!("`{}` has two directions: say direction=\"UP\" or \"DOWN\"", id.value);
                self.fault(id.place, message);
                None
            }
            ("UP", Some(up)) => Some((up, up + 1)),
            ("DOWN", Some(up)) => Some((up + 1, up)),
            ("UP" | "DOWN", None) if self.links_by_name.contains_key(&id.value) => {
                let message = format!("`{}` has no directions: it is not SPLITDUPLEX", id.value);
                self.fault(id.place, message);
                None
            }
            _ => self.link_named(&id.value, id.place).map(|link| (link, link)),
        }
    }

    /// The link of a name.
    pub(super) fn link_named(&mut self, name: &str, place: Place) -> Option<u32> {
        let link = self.links_by_name.get(name).copied();
        if link.is_none() && !self.incomplete {
            let known = || {
                self.links_by_name.keys().chain(self.duplex.keys()).map(String::as_str).collect()
            };
            let fault = self.unknown("link", name, place, known);
            self.faults.push(fault);
        }
        link
    }

    /// The host, router or zone of a name.
    pub(super) fn point_named(&mut self, attribute: &Attribute) -> Option<u32> {
        let name = attribute.value.as_str();
        let point = self.names.get(name).copied();
        if point.is_none() && !self.incomplete {
            let known = || self.names.keys().map(String::as_str).collect();
            let fault = self.unknown("host, router or zone", name, attribute.place, known);
            self.faults.push(fault);
        }
        point
    }

    fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        (line, column): Place,
        known: impl FnOnce() -> Vec<&'n str>,
    ) -> Fault {
        let fault = Fault::at(line, column, format!("there is no {what} `{name}`"));
        if self.faults.0.len() > GUESSES {
            return fault;
        }
        // The map has no order that a message may depend on.
        let mut known = known();
        known.sort_unstable();
        fault.near(name, &known)
    }

    fn name_of(&self, point: u32) -> String {
        match self.points[point as usize].kind {
            Kind::Host(host) => self.hosts[host as usize].name.clone(),
            Kind::Router(router) => self.routers[router as usize].to_string(),
            Kind::Zone(zone) => self.zones[zone as usize].name.to_string(),
        }
    }

    fn lies_in(&self, point: u32, zone: u32) -> bool {
        let mut at = self.points[point as usize].zone;
        while at != zone && at != NONE {
            at = self.zones.get(at as usize).and_then(|zone| zone.parent).unwrap_or(NONE);
        }
        at == zone
    }
}
