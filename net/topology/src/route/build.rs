//! Route sets by name.

use super::{
    Routes, butterfly, dragonfly,
    grid::{self, Dateline},
    hyper_x,
    lanes::{Classes, Lanes},
    layers::layers,
    load::{Bias, Shared, Weights},
    next::{Among, Ends, Homes, Manner, Next, Switches, Via, Ways},
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
    /// Grids: upwards in one dimension after the other, then downwards, with two lanes in rings.
    DirectionOrder,
    /// Shortest ways on lanes that are free of deadlock.
    Minimal,
    /// By way of a random group (dragonfly) or switch.
    Valiant,
    /// Grids: any shortest way, by load, with dimension order as the escape.
    Adaptive,
    /// Trees: at each switch one of two random ways up, by load.
    AdaptiveUp,
    /// Grids: dimensions in ascending or descending order, at random (Seo et al., ISCA 2005).
    O1Turn,
    /// Grids: by way of a random switch between source and destination (Nesson and Johnsson, SPAA
    /// 1995).
    Romm,
    /// The shortest way or Valiant's, by the queues at the source's switch.
    UgalL,
    /// The shortest way or Valiant's, by the queues on both ways as far as switches tell each other
    /// of them.
    UgalG,
    /// The shortest way or Valiant's, by the queues at each switch until the packet has left the
    /// shortest way or, in a dragonfly, the source's group.
    Par,
    /// HyperX: any dimension next, and one deroute in each, by load (Ahn et al., SC 2009).
    Dal,
    /// HyperX: dimensions in order, with one deroute in each, by load (McDonald et al., SC 2019).
    DimensionAdaptive,
    /// Butterflies: the digits of the destination.
    DestinationTag,
}

/// Names of the algorithms.
pub const ALGORITHMS: [(&str, Algorithm); 19] = [
    ("min-hop", Algorithm::MinHop),
    ("up-down", Algorithm::UpDown),
    ("d-mod-k", Algorithm::DModK),
    ("s-mod-k", Algorithm::SModK),
    ("random-up", Algorithm::RandomUp),
    ("dimension-order", Algorithm::DimensionOrder),
    ("direction-order", Algorithm::DirectionOrder),
    ("minimal", Algorithm::Minimal),
    ("valiant", Algorithm::Valiant),
    ("adaptive", Algorithm::Adaptive),
    ("adaptive-up", Algorithm::AdaptiveUp),
    ("o1turn", Algorithm::O1Turn),
    ("romm", Algorithm::Romm),
    ("ugal-l", Algorithm::UgalL),
    ("ugal-g", Algorithm::UgalG),
    ("par", Algorithm::Par),
    ("dal", Algorithm::Dal),
    ("dimension-adaptive", Algorithm::DimensionAdaptive),
    ("destination-tag", Algorithm::DestinationTag),
];

/// The routing of packets, written `NAME`, `NAME:lanes=1`, `dimension-order:dateline=whole`,
/// `dimension-order:bubble`, `adaptive:bubble=global` or `valiant:halves=dimension-order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routing {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Packets stay on one lane, even if that can deadlock.
    pub single_lane: bool,
    /// The rule against deadlock in rings, for [`Algorithm::DimensionOrder`] and
    /// [`Algorithm::DirectionOrder`]; of that of [`Algorithm::Adaptive`] only whether it is
    /// [`Dateline::Bubble`].
    pub dateline: Dateline,
    /// Both halves of a way go in dimension order, for [`Algorithm::Valiant`] on grids.
    pub halves_in_order: bool,
    /// The comparison of queues, where load decides about detours.
    pub bias: Bias,
    /// Packets in dragonflies go by way of a switch instead of a group, on lanes by the parts of
    /// the way, for [`Algorithm::UgalL`]. These can deadlock.
    pub by_switch: bool,
}

/// The usual comparison: a detour is about twice as long.
const BIAS: Bias = Bias { weights: Weights::Factor(2), offset: 0 };

impl From<Algorithm> for Routing {
    fn from(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            single_lane: false,
            dateline: Dateline::Crossing,
            halves_in_order: false,
            bias: BIAS,
            by_switch: false,
        }
    }
}

impl Algorithm {
    /// The name.
    pub fn name(self) -> &'static str {
        ALGORITHMS.iter().find(|entry| entry.1 == self).map_or("", |entry| entry.0)
    }

    /// True if queues decide between the shortest way and a detour.
    pub(super) const fn compares_queues(self) -> bool {
        matches!(self, Self::UgalL | Self::UgalG | Self::Par)
    }

    /// The number of parts of a way that have lanes of their own: a detour has two, and one that
    /// may begin at any switch has a third before it.
    const fn parts(self) -> u8 {
        match self {
            Self::Valiant | Self::UgalL | Self::UgalG => 2,
            Self::Par => 3,
            _ => 1,
        }
    }

    /// The algorithm that suits a topology: free of deadlock, and along shortest ways where all
    /// links work.
    pub fn usual(topology: &Topology) -> Self {
        match &topology.shape {
            Shape::Tree(_) => Self::DModK,
            Shape::Grid(_) if topology.is_intact() => Self::DimensionOrder,
            Shape::Grid(_) | Shape::Dragonfly(_) | Shape::SlimFly(_) => Self::Minimal,
            Shape::Butterfly(_) if topology.is_intact() => Self::DestinationTag,
            Shape::Butterfly(_) | Shape::Rails(_) | Shape::Irregular => Self::UpDown,
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
            Algorithm::DModK | Algorithm::SModK | Algorithm::RandomUp | Algorithm::AdaptiveUp => {
                (in_tree(topology, routing.algorithm)?, Lanes::Single)
            }
            Algorithm::DimensionOrder | Algorithm::DirectionOrder => {
                dimension_order(topology, routing)?
            }
            Algorithm::Adaptive if matches!(routing.dateline, Dateline::Bubble(_)) => {
                dimension_order(topology, routing)?
            }
            Algorithm::Adaptive => {
                dimension_order(topology, Routing { dateline: Dateline::Ahead, ..routing })?
            }
            Algorithm::Minimal | Algorithm::Valiant => minimal(topology, routing)?,
            Algorithm::O1Turn | Algorithm::Romm => on_grid(topology, routing)?,
            Algorithm::UgalL | Algorithm::UgalG | Algorithm::Par => by_load(topology, routing)?,
            Algorithm::Dal | Algorithm::DimensionAdaptive => in_hyper_x(topology, routing)?,
            Algorithm::DestinationTag => match &topology.shape {
                Shape::Butterfly(family) if topology.is_intact() => {
                    (Next::Butterfly(butterfly::Formula::new(*family)), Lanes::Single)
                }
                _ => return Err(misfit(routing.algorithm, "a butterfly without broken links")),
            },
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
        let routes =
            Self::new(graph, next, if routing.single_lane { Lanes::Single } else { lanes });
        let bias = routing.algorithm.compares_queues().then_some(routing.bias);
        let shared = if routing.algorithm == Algorithm::UgalG { shared(topology) } else { None };
        Ok(Self { bias, shared, ..routes })
    }
}

/// The routes by the formulas that take the place of tables where these would be large.
#[cfg(test)]
pub(crate) fn by_formula_alone(topology: &Topology, routing: Routing) -> Option<Routes> {
    let (next, lanes) = formulas(&topology.graph, &topology.shape, routing)?;
    Some(Routes::new(&topology.graph, next, lanes))
}

fn misfit(algorithm: Algorithm, needs: &str) -> Fault {
    Fault::new(format!("routing {} needs {needs}", algorithm.name())).help(
        "min-hop, up-down and minimal fit every topology; load chooses in `adaptive` on grids, \
             `adaptive-up` on trees, and `ugal-l`, `ugal-g` and `par` on dragonfly, HyperX and \
             slim fly"
            .to_owned(),
    )
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
        Algorithm::AdaptiveUp => tree::Key::Either,
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

/// Dimension or direction order on an intact grid, with an adaptive lane beside it if that is asked
/// for.
fn dimension_order(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let Shape::Grid(grid) = &topology.shape else {
        return Err(misfit(routing.algorithm, "a grid"));
    };
    if !topology.is_intact() {
        return Err(misfit(routing.algorithm, "a grid without broken links"));
    }
    let dateline = (rings(grid) && !routing.single_lane).then_some(routing.dateline);
    let formula = grid::Formula::new(grid, dateline);
    let count = 1 + u8::from(dateline.is_some_and(|rule| !matches!(rule, Dateline::Bubble(_))));
    if routing.algorithm == Algorithm::Adaptive {
        return Ok((Next::Grid(formula.with_adaptive(count)), Lanes::Grid { count: count + 1 }));
    }
    let upwards_first = routing.algorithm == Algorithm::DirectionOrder;
    let formula = if upwards_first { formula.upwards_first() } else { formula };
    Ok((Next::Grid(formula), Lanes::Grid { count }))
}

/// Adaptive routes with deroutes in a `HyperX`.
fn in_hyper_x(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let in_order = routing.algorithm == Algorithm::DimensionAdaptive;
    let formula = match &topology.shape {
        Shape::Grid(grid) if topology.is_intact() => hyper_x::Formula::new(grid, in_order),
        _ => None,
    };
    let formula = formula.ok_or_else(|| {
        misfit(routing.algorithm, "a HyperX or a complete graph without broken links")
    })?;
    if !in_order && formula.dimensions() > hyper_x::MOST_DIMENSIONS {
        let message = format!(
            "routing dal is for a HyperX of at most {} dimensions, and this one has {}",
            hyper_x::MOST_DIMENSIONS,
            formula.dimensions()
        );
        let help = "dimension-adaptive is for any number of dimensions".to_owned();
        return Err(Fault::new(message).help(help));
    }
    let count = formula.lanes();
    Ok((Next::HyperX(formula), Lanes::Grid { count }))
}

fn rings(grid: &Grid) -> bool {
    grid.kind == Kind::Torus && (0..grid.extents.len()).any(|dimension| grid.wraps(dimension))
}

/// InfiniBand has so many lanes for data; a lane per link may take as many.
const LANES_OF_INFINIBAND: u32 = 15;

/// Links that the searches for a table by pairs of switches may look at, where a formula can take
/// its place.
const EFFORT: u64 = 1 << 31;

/// Ways in dimension order on an intact grid, on twice the lanes: in either order of dimensions, or
/// by way of a switch between source and destination.
fn on_grid(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let fits = matches!(&topology.shape, Shape::Grid(_)) && topology.is_intact();
    let halves = Routing { halves_in_order: true, algorithm: Algorithm::Valiant, ..routing };
    let found = formulas(&topology.graph, &topology.shape, halves).filter(|_| fits);
    let Some((Next::Switches(mut table), lanes)) = found else {
        return Err(misfit(routing.algorithm, "a grid without broken links"));
    };
    let phase = lanes.count() / 2;
    table.via = match routing.algorithm {
        Algorithm::O1Turn => Via::Order { phase },
        _ => Via::Switch {
            phases: [0, phase],
            among: Among::Between,
            manner: Manner { any: true, ..Manner::default() },
        },
    };
    Ok((Next::Switches(table), lanes))
}

/// Shortest ways and Valiant's, between which load decides. In a `HyperX` packets go by way of a
/// switch in the dimensions that they have to cross.
fn by_load(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let (graph, shape) = (&topology.graph, &topology.shape);
    if routing.algorithm == Algorithm::UgalG && shared(topology).is_none() {
        let needs = "a dragonfly or a HyperX of one dimension, without broken links";
        return Err(misfit(routing.algorithm, needs));
    }
    if routing.bias.weights == Weights::Hops
        && !matches!(shape, Shape::Grid(family) if family.kind == Kind::HyperX)
    {
        return Err(misfit(routing.algorithm, "for factor=hops a HyperX"));
    }
    let is_dragonfly = matches!(shape, Shape::Dragonfly(_)) && topology.is_intact();
    if routing.by_switch && !is_dragonfly {
        return Err(misfit(routing.algorithm, "for via=switch a dragonfly without broken links"));
    }
    match shape {
        Shape::Dragonfly(family) if routing.by_switch => {
            let formula = dragonfly::Formula::new(family);
            let (count, homes) = (graph.switches(), Homes::Even(family.hosts));
            let via = Via::Router(formula.clone());
            let table = Switches { ways: Ways::Dragonfly(formula), count, homes, via };
            Ok((Next::Switches(table), Lanes::Parts { classes: Classes::new(graph, shape) }))
        }
        Shape::Grid(family) if topology.is_intact() => {
            let (mut next, lanes) =
                minimal(topology, Routing { halves_in_order: true, ..routing })?;
            if let Next::Switches(Switches { via: Via::Switch { among, manner, .. }, .. }) =
                &mut next
            {
                let late = routing.algorithm != Algorithm::Par;
                *manner = Manner { late, ..Manner::default() };
                if family.kind == Kind::HyperX {
                    *among = Among::Between;
                }
            }
            Ok((next, lanes))
        }
        Shape::Tree(_) | Shape::Butterfly(_) => {
            Err(misfit(routing.algorithm, "ways that are longer than others"))
        }
        _ => minimal(topology, routing),
    }
}

/// Shortest ways with a lane per link; where that takes too many, each on the lowest lane that
/// stays free of cycles.
fn minimal(topology: &Topology, routing: Routing) -> Result<(Next, Lanes), Fault> {
    let graph = &topology.graph;
    let parts = routing.algorithm.parts();
    let via = parts > 1;
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
    let layered = half * u32::from(parts) > LANES_OF_INFINIBAND;
    let lanes = if layered && parts > 2 {
        return Err(misfit(routing.algorithm, "ways of at most 5 links between switches"));
    } else if layered {
        (table, _) = table::by_switch(graph, Ties::LowestPort)?;
        let (of, half) =
            layers(graph, &table, LANES_OF_INFINIBAND as u8 / parts).ok_or_else(|| {
                let message =
                    format!("{} ways need more than 15 lanes here", routing.algorithm.name());
                Fault::new(message).help("up-down needs one lane".to_owned())
            })?;
        Lanes::Layers { of, half, count: half * parts }
    } else {
        let classes = Classes::new(graph, &topology.shape);
        Lanes::Hops { count: half as u8 * parts, classes }
    };
    if via {
        let among = Among::Listed(table.joined());
        let phases = phases(&lanes, parts);
        table.via = Via::Switch { phases, among, manner: Manner::default() };
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
    let parts = routing.algorithm.parts();
    let via = parts > 1;
    let hops =
        |count: u8| Lanes::Hops { count: count * parts, classes: Classes::new(graph, shape) };
    let (ways, hosts, lanes) = match shape {
        Shape::Dragonfly(family) => {
            let classes = Classes::new(graph, shape);
            let progressive = routing.algorithm == Algorithm::Par;
            let late = routing.algorithm.compares_queues() && !progressive;
            let lanes = Lanes::Globals { count: 1 + parts, classes, progressive, late };
            (Ways::Dragonfly(dragonfly::Formula::new(family)), family.hosts, lanes)
        }
        Shape::SlimFly(family) => {
            (Ways::SlimFly(Box::new(slim_fly::Formula::new(family)?)), family.hosts, hops(2))
        }
        Shape::Grid(family) if family.kind == Kind::HyperX && !routing.halves_in_order => {
            let crossed = family.extents.iter().filter(|&&extent| extent > 1).count();
            let lanes = hops(u8::try_from(crossed.max(1)).ok()?);
            (Ways::Grid(grid::Formula::new(family, None)), family.hosts, lanes)
        }
        Shape::Grid(family) => {
            let dateline = (rings(family) && !routing.single_lane).then_some(routing.dateline);
            let lanes = Lanes::Grid { count: (1 + u8::from(dateline.is_some())) * parts };
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
        _ => {
            let complete = matches!(shape, Shape::Grid(family) if family.kind == Kind::HyperX);
            let manner = Manner { ends: complete && routing.halves_in_order, ..Manner::default() };
            let among = Among::Listed(next.joined());
            Via::Switch { phases: phases(&lanes, parts), among, manner }
        }
    };
    Some((Next::Switches(next), lanes))
}

/// The first lanes of a detour and of its second half, where ways have so many parts.
const fn phases(lanes: &Lanes, parts: u8) -> [u8; 2] {
    let each = lanes.count() / parts;
    [each * (parts - 2), each * (parts - 1)]
}

/// The ports whose queues switches tell each other of: in a dragonfly those to other groups, to the
/// switches of the group; in a `HyperX` of one dimension all, to all.
fn shared(topology: &Topology) -> Option<Shared> {
    match &topology.shape {
        _ if !topology.is_intact() => None,
        Shape::Dragonfly(family) => {
            let globals = dragonfly::Formula::new(family).globals();
            let of = globals..globals + family.global as u16;
            Some(Shared { of, with: family.hosts as u16..globals })
        }
        Shape::Grid(family) if family.kind == Kind::HyperX => {
            let mut extents = family.extents.iter().filter(|&&extent| extent > 1);
            let (extent, None) = (extents.next()?, extents.next()) else { return None };
            let first = family.hosts as u16;
            let ports = first..first + *extent as u16 - 1;
            Some(Shared { of: ports.clone(), with: ports })
        }
        _ => None,
    }
}
