//! Route sets by name.

use std::str::FromStr;

use super::{
    Routes, dragonfly,
    grid::{self, Dateline},
    lanes::{Classes, Lanes},
    layers::layers,
    next::{Ends, Homes, Next, Switches, Via, Ways},
    search::Search,
    slim_fly,
    table::{self, Ties},
    tree,
};
use crate::{Fault, Graph, Grid, Shape, Topology, shape::Kind};

/// A way of routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Shortest ways whose links carry similar numbers of routes; one lane.
    MinHop,
    /// Shortest ways that never go up again after going down; one lane, free of deadlock.
    UpDown,
    /// Trees: the destination's digits decide the way up.
    DModK,
    /// Trees: the source's digits decide the way up.
    SModK,
    /// Trees: a random choice of the source decides the way up.
    RandomUp,
    /// Grids: one dimension after the other, with two lanes in rings.
    DimensionOrder,
    /// Shortest ways on lanes that are free of deadlock.
    Minimal,
    /// By way of a random group (dragonfly) or switch.
    Valiant,
    /// Grids: any shortest way, by load, with dimension order as the escape.
    Adaptive,
}

/// Names of the algorithms.
pub const ALGORITHMS: [(&str, Algorithm); 9] = [
    ("min-hop", Algorithm::MinHop),
    ("up-down", Algorithm::UpDown),
    ("d-mod-k", Algorithm::DModK),
    ("s-mod-k", Algorithm::SModK),
    ("random-up", Algorithm::RandomUp),
    ("dimension-order", Algorithm::DimensionOrder),
    ("minimal", Algorithm::Minimal),
    ("valiant", Algorithm::Valiant),
    ("adaptive", Algorithm::Adaptive),
];

/// The routing of packets, written `NAME`, `NAME:lanes=1`, `dimension-order:dateline=whole` or
/// `valiant:halves=dimension-order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routing {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Packets stay on one lane, even if that can deadlock.
    pub single_lane: bool,
    /// The use of the two lanes in rings, for [`Algorithm::DimensionOrder`].
    pub dateline: Dateline,
    /// Both halves of a way go in dimension order, for [`Algorithm::Valiant`] on grids.
    pub halves_in_order: bool,
}

impl From<Algorithm> for Routing {
    fn from(algorithm: Algorithm) -> Self {
        Self { algorithm, single_lane: false, dateline: Dateline::Crossing, halves_in_order: false }
    }
}

impl FromStr for Routing {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let (name, option) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let names = ALGORITHMS.map(|entry| entry.0);
        let known = ALGORITHMS.iter().find(|entry| entry.0 == name).ok_or_else(|| {
            let message = format!("unknown routing `{name}` (known: {})", names.join(", "));
            Fault::new(message).near(name, &names)
        })?;
        match option {
            None => Ok(known.1.into()),
            Some("lanes=1") if known.1 == Algorithm::Adaptive => Err(Fault::new(
                "routing adaptive needs lanes for its escape: on one lane packets could wait for \
                 each other for ever"
                    .to_owned(),
            )),
            Some("lanes=1") => Ok(Self { single_lane: true, ..known.1.into() }),
            Some("dateline=whole") if known.1 == Algorithm::DimensionOrder => {
                Ok(Self { dateline: Dateline::Whole, ..known.1.into() })
            }
            Some("halves=dimension-order") if known.1 == Algorithm::Valiant => {
                Ok(Self { halves_in_order: true, ..known.1.into() })
            }
            Some("halves=dimension-order") => {
                Err(Fault::new("the option `halves=dimension-order` belongs to valiant".to_owned()))
            }
            Some("dateline=whole") => {
                Err(Fault::new("the option `dateline=whole` belongs to dimension-order".to_owned()))
            }
            Some(other) => Err(Fault::new(format!(
                "unknown option `{other}` of a routing; there are lanes=1, for dimension-order \
                 dateline=whole, and for valiant halves=dimension-order"
            ))),
        }
    }
}

impl Algorithm {
    /// The name.
    pub fn name(self) -> &'static str {
        ALGORITHMS.iter().find(|entry| entry.1 == self).map_or("", |entry| entry.0)
    }

    /// The algorithm that suits a topology: free of deadlock, and along shortest ways where all
    /// links work.
    pub fn usual(topology: &Topology) -> Self {
        match &topology.shape {
            Shape::Tree(_) => Self::DModK,
            Shape::Grid(_) if topology.is_intact() => Self::DimensionOrder,
            Shape::Grid(_) | Shape::Dragonfly(_) | Shape::SlimFly(_) => Self::Minimal,
            Shape::Rails(_) | Shape::Irregular => Self::UpDown,
        }
    }
}

impl Routes {
    /// The routes of a topology, by the usual algorithm unless another one is asked for. An
    /// algorithm that does not fit the topology and a pair of hosts without a way are errors.
    pub fn build(topology: &Topology, routing: Option<Routing>) -> Result<Self, Fault> {
        let routing = routing.unwrap_or_else(|| Algorithm::usual(topology).into());
        let graph = &topology.graph;
        let (next, lanes) = match routing.algorithm {
            Algorithm::MinHop => {
                (table::by_host(graph, Search::minimal(graph), |_, _| None)?, Lanes::Single)
            }
            Algorithm::UpDown => (up_down(topology, None)?, Lanes::Single),
            Algorithm::DModK | Algorithm::SModK | Algorithm::RandomUp => {
                (in_tree(topology, routing.algorithm)?, Lanes::Single)
            }
            Algorithm::DimensionOrder => dimension_order(topology, routing)?,
            Algorithm::Adaptive => {
                dimension_order(topology, Routing { dateline: Dateline::Ahead, ..routing })?
            }
            Algorithm::Minimal | Algorithm::Valiant => minimal(topology, routing)?,
        };
        if let Some((source, destination)) = table::unreachable(graph, &next) {
            let message = format!(
                "there is no way from `{}` to `{}` by routing {}",
                graph.name(source),
                graph.name(destination),
                routing.algorithm.name()
            );
            return Err(Fault::new(message));
        }
        Ok(Self::new(graph, next, if routing.single_lane { Lanes::Single } else { lanes }))
    }
}

/// The routes by the formulas that take the place of tables where these would be large.
#[cfg(test)]
pub(crate) fn by_formula_alone(topology: &Topology, routing: Routing) -> Option<Routes> {
    let (next, lanes) = formulas(&topology.graph, &topology.shape, routing)?;
    Some(Routes::new(&topology.graph, next, lanes))
}

fn misfit(algorithm: Algorithm, needs: &str) -> Fault {
    Fault::new(format!("routing {} needs {needs}", algorithm.name()))
        .help("min-hop, up-down and minimal fit every topology".to_owned())
}

fn up_down(topology: &Topology, prefer: Option<&tree::Formula>) -> Result<Next, Fault> {
    let search = Search::up_down(&topology.graph, &topology.shape);
    table::by_host(&topology.graph, search, |switch, destination| {
        let header = super::Header { destination, ..Default::default() };
        prefer.map(|formula| formula.port(switch, &header))
    })
}

/// The formula of an intact tree; d-mod-k around broken links by up*/down* tables that keep to the
/// formula where they can.
fn in_tree(topology: &Topology, algorithm: Algorithm) -> Result<Next, Fault> {
    let Shape::Tree(tree) = &topology.shape else {
        return Err(misfit(algorithm, "a fat tree"));
    };
    let key = match algorithm {
        Algorithm::SModK => tree::Key::Source,
        Algorithm::RandomUp => tree::Key::Choice,
        _ => tree::Key::Destination,
    };
    let formula = tree::Formula::new(tree, key);
    match (topology.is_intact(), key) {
        (true, _) => Ok(Next::Tree(formula)),
        (false, tree::Key::Destination) => up_down(topology, Some(&formula)),
        (false, _) => {
            Err(misfit(algorithm, "a tree without broken links; d-mod-k goes round them"))
        }
    }
}

/// Dimension order on an intact grid, with an adaptive lane beside it if that is asked for.
fn dimension_order(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let Shape::Grid(grid) = &topology.shape else {
        return Err(misfit(routing.algorithm, "a grid"));
    };
    if !topology.is_intact() {
        return Err(misfit(routing.algorithm, "a grid without broken links"));
    }
    let dateline = (rings(grid) && !routing.single_lane).then_some(routing.dateline);
    let formula = grid::Formula::new(grid, dateline);
    let count = 1 + u8::from(dateline.is_some());
    if routing.algorithm == Algorithm::Adaptive {
        return Ok((Next::Grid(formula.with_adaptive(count)), Lanes::Grid { count: count + 1 }));
    }
    Ok((Next::Grid(formula), Lanes::Grid { count }))
}

fn rings(grid: &Grid) -> bool {
    grid.kind == Kind::Torus && (0..grid.extents.len()).any(|dimension| grid.wraps(dimension))
}

/// InfiniBand has so many lanes for data; a lane per link may take as many.
const LANES_OF_INFINIBAND: u32 = 15;

/// Links that the searches for a table by pairs of switches may look at, where a formula can take
/// its place.
const EFFORT: u64 = 1 << 31;

/// Shortest ways with a lane per link; where that takes too many, each on the lowest lane that
/// stays free of cycles.
fn minimal(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let graph = &topology.graph;
    let via = routing.algorithm == Algorithm::Valiant;
    if routing.halves_in_order {
        let fits = matches!(&topology.shape, Shape::Grid(_)) && topology.is_intact();
        let found = formulas(graph, &topology.shape, routing).filter(|_| fits);
        return found.ok_or_else(|| {
            misfit(routing.algorithm, "for halves=dimension-order a grid without broken links")
        });
    }
    if let Some(formulas) = by_formula(topology, routing) {
        return Ok(formulas);
    }
    let (mut table, longest) = table::by_switch(graph, Ties::Balanced)?;
    if routing.single_lane {
        if via {
            table.via = Via::Meeting { among: table.joined(), ends: Ends::new(graph) };
        }
        return Ok((Next::Switches(table), Lanes::Single));
    }
    let half = longest.max(1);
    let phases = 1 + u8::from(via);
    let layered = half * u32::from(phases) > LANES_OF_INFINIBAND;
    let lanes = if layered {
        (table, _) = table::by_switch(graph, Ties::LowestPort)?;
        let (of, half) =
            layers(graph, &table, LANES_OF_INFINIBAND as u8 / phases).ok_or_else(|| {
                let message =
                    format!("{} ways need more than 15 lanes here", routing.algorithm.name());
                Fault::new(message).help("up-down needs one lane".to_owned())
            })?;
        Lanes::Layers { of, half, count: half * phases }
    } else {
        let classes = Classes::new(graph, &topology.shape);
        Lanes::Hops { count: half as u8 * phases, classes }
    };
    if via {
        table.via = Via::Switch { phase: lanes.count() / 2, among: table.joined() };
    }
    Ok((Next::Switches(table), lanes))
}

/// Shortest ways by the formula of an intact topology: always in dragonflies; in slim flies and
/// grids where tables by pairs of switches, whose links carry similar numbers of routes, would take
/// too long.
fn by_formula(topology: &Topology, routing: Routing) -> Option<(Next, Lanes)> {
    let (graph, shape) = (&topology.graph, &topology.shape);
    if !topology.is_intact() {
        return None;
    }
    let ports = graph.all_ports() - 2 * graph.hosts();
    let huge = u64::from(graph.switches()) * u64::from(ports) > EFFORT;
    if huge || matches!(shape, Shape::Dragonfly(_)) {
        formulas(graph, shape, routing)
    } else {
        None
    }
}

/// Shortest ways and their lanes by the formula of a family, if it has one.
fn formulas(graph: &Graph, shape: &Shape, routing: Routing) -> Option<(Next, Lanes)> {
    let via = routing.algorithm == Algorithm::Valiant;
    let phases = 1 + u8::from(via);
    let hops =
        |count: u8| Lanes::Hops { count: count * phases, classes: Classes::new(graph, shape) };
    let (ways, hosts, lanes) = match shape {
        Shape::Dragonfly(family) => {
            let classes = Classes::new(graph, shape);
            let lanes = Lanes::Globals { count: 1 + phases, classes };
            (Ways::Dragonfly(dragonfly::Formula::new(family)), family.hosts, lanes)
        }
        Shape::SlimFly(family) => {
            (Ways::SlimFly(Box::new(slim_fly::Formula::new(family)?)), family.hosts, hops(2))
        }
        Shape::Grid(family) if family.kind == Kind::HyperX => {
            let crossed = family.extents.iter().filter(|&&extent| extent > 1).count();
            let lanes = hops(u8::try_from(crossed.max(1)).ok()?);
            (Ways::Grid(grid::Formula::new(family, None)), family.hosts, lanes)
        }
        Shape::Grid(family) => {
            let dateline = (rings(family) && !routing.single_lane).then_some(routing.dateline);
            let lanes = Lanes::Grid { count: (1 + u8::from(dateline.is_some())) * phases };
            (Ways::Grid(grid::Formula::new(family, dateline)), family.hosts, lanes)
        }
        _ => return None,
    };
    let (count, homes) = (graph.switches(), Homes::Even(hosts));
    let mut next = Switches { ways, count, homes, via: Via::None };
    next.via = match &next.ways {
        _ if !via => Via::None,
        Ways::Dragonfly(formula) => Via::Group(formula.clone()),
        _ if routing.single_lane => Via::Meeting { among: next.joined(), ends: Ends::new(graph) },
        _ => Via::Switch { phase: lanes.count() / 2, among: next.joined() },
    };
    Some((Next::Switches(next), lanes))
}
