//! The network of a configuration: topology, routing and the parameters of routers.
//!
//! A cycle is 1 ns, and a flit 8 bytes. A channel of L cycles is a flit's time on the link and
//! L - 1 cycles of cable.

use packet::{Allocation, Arbitration, Choice, Delay, Fabric, Parameters, preset};
use topology::{Algorithm, Bias, Dateline, Routes, Routing, Size, Topology, Weights};
use units::Time;

use super::{anynet, values::Values};
use crate::{
    models::wiring::{Needs, wire_for},
    settings::diagnostic::Diagnostic,
};

type Mistakes = Vec<Diagnostic>;

/// A cycle, in picoseconds.
pub(super) const CYCLE: u64 = 1000;
/// Bytes of a flit.
pub(super) const FLIT: u32 = 8;

/// A network before it has parameters.
#[derive(Debug)]
pub(super) struct Described {
    pub topology: Topology,
    pub routes: Routes,
    /// The host of each of BookSim's nodes.
    pub places: Vec<u32>,
}

/// The topologies of BookSim that Heddle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Torus,
    Mesh,
    ConcentratedMesh,
    Butterfly,
    FatTree,
    FlattenedButterfly,
    Dragonfly,
    Any,
}

const KINDS: &[(&str, Kind)] = &[
    ("torus", Kind::Torus),
    ("mesh", Kind::Mesh),
    ("cmesh", Kind::ConcentratedMesh),
    ("fly", Kind::Butterfly),
    ("fattree", Kind::FatTree),
    ("flatfly", Kind::FlattenedButterfly),
    ("dragonflynew", Kind::Dragonfly),
    ("anynet", Kind::Any),
];

/// Returns the network that the values describe.
pub(super) fn describe(values: &Values) -> Result<Described, Mistakes> {
    let kind = values.word("topology", KINDS).map_err(|wrong| vec![wrong])?;
    match kind {
        Kind::Torus => cube(values, "torus", torus_routing(values)),
        Kind::Mesh => cube(values, "mesh", mesh_routing(values)),
        Kind::ConcentratedMesh => concentrated_mesh(values),
        Kind::Butterfly => {
            let words = [("dest_tag", Algorithm::DestinationTag.into())];
            powers(values, "butterfly", &words)
        }
        Kind::FatTree => {
            let words =
                [("nca", Algorithm::RandomUp.into()), ("anca", Algorithm::AdaptiveUp.into())];
            powers(values, "k-ary-n-tree", &words)
        }
        Kind::FlattenedButterfly => flattened_butterfly(values),
        Kind::Dragonfly => dragonfly(values),
        Kind::Any => {
            anynet::describe(values, routing(values, &[("min", Algorithm::MinHop.into())]))
        }
    }
}

/// A butterfly or a fat tree of n levels with k^n nodes. All channels are a cycle long.
fn powers(values: &Values, name: &str, words: &[(&str, Routing)]) -> Result<Described, Mistakes> {
    let mut wrong = Vec::new();
    let mut number = |name: &str, least: u32, most: u32| {
        values.number(name, least, most).map_err(|found| wrong.push(found)).unwrap_or(least)
    };
    let (radix, levels) = (number("k", 2, 1 << 14), number("n", 1, 24));
    let routing = routing(values, words).map_err(|found| wrong.push(found)).ok();
    let Some(routing) = routing.filter(|_| wrong.is_empty()) else { return Err(wrong) };
    let topology = build(values, &format!("{name}:k={radix},n={levels}"))?;
    finish(values, topology, routing)
}

/// The numbers of a grid of k^n routers with c nodes each, in squares of xr times yr.
struct Squares {
    radix: u32,
    dimensions: u32,
    nodes: u32,
    /// Routers in a row, and nodes of a router in a row.
    across: u32,
    wide: u32,
}

impl Squares {
    fn read(values: &Values) -> Result<Self, Mistakes> {
        let mut wrong = Vec::new();
        let mut number = |name: &str| {
            values.number(name, 1, 1 << 12).map_err(|found| wrong.push(found)).unwrap_or(1)
        };
        let [radix, dimensions, nodes] = ["k", "n", "c"].map(&mut number);
        let [across, down, wide, high] = ["x", "y", "xr", "yr"].map(&mut number);
        let routers = u64::from(radix).checked_pow(dimensions);
        if across != down || routers != Some(u64::from(across) * u64::from(down)) {
            let message = format!("x and y must be alike, and x y = k^n, found {across} x {down}");
            wrong.push(values.wrong("x", message));
        }
        if wide != high || nodes != wide * high {
            let message = format!("xr and yr must be alike, and xr yr = c, found {wide} x {high}");
            wrong.push(values.wrong("xr", message));
        }
        let squares = Self { radix, dimensions, nodes, across, wide };
        if wrong.is_empty() { Ok(squares) } else { Err(wrong) }
    }

    fn extents(&self) -> String {
        vec![self.radix.to_string(); self.dimensions as usize].join("x")
    }

    /// The host of each node: nodes are numbered row by row over all routers.
    fn places(&self) -> Vec<u32> {
        let row = self.across * self.wide;
        let place = |node: u32| {
            let (x, y) = (node % row, node / row);
            let router = y / self.wide * self.across + x / self.wide;
            router * self.nodes + y % self.wide * self.wide + x % self.wide
        };
        (0..row * row).map(place).collect()
    }
}

/// A concentrated mesh without its express channels.
fn concentrated_mesh(values: &Values) -> Result<Described, Mistakes> {
    let squares = Squares::read(values)?;
    if squares.dimensions != 2 {
        return Err(vec![values.wrong("n", "a cmesh has two dimensions")]);
    }
    let words = [
        ("dor_no_express", Algorithm::DimensionOrder.into()),
        ("xy_yx_no_express", Algorithm::O1Turn.into()),
    ];
    let routing = routing(values, &words).map_err(|found| vec![found])?;
    let spec = format!("mesh:dims={},hosts={}", squares.extents(), squares.nodes);
    let long = noc_latency(values).map_err(|found| vec![found])?;
    let cable = if long { u64::from(squares.wide) - 1 } else { 0 };
    let topology = build(values, &spec)?.with_delays(|_| Some(Time::from_ps(cable * CYCLE)));
    Ok(Described { places: squares.places(), ..finish(values, topology, routing)? })
}

/// A flattened butterfly: a `HyperX` of equal extents.
fn flattened_butterfly(values: &Values) -> Result<Described, Mistakes> {
    let squares = Squares::read(values)?;
    let valiant = Routing { halves_in_order: true, ..Algorithm::Valiant.into() };
    let bias = Bias { weights: Weights::Hops, offset: 2 };
    let words = [
        ("ran_min", Algorithm::DimensionOrder.into()),
        ("xyyx", Algorithm::O1Turn.into()),
        ("valiant", valiant),
        ("ugal", Routing { bias, ..Algorithm::UgalL.into() }),
    ];
    let routing = routing(values, &words).map_err(|found| vec![found])?;
    let long = noc_latency(values).map_err(|found| vec![found])?;
    if long && squares.wide > 3 {
        let message = "with more than 3 x 3 nodes at a router their channels differ in length: \
                       Heddle has them for 0 only";
        return Err(vec![values.wrong("use_noc_latency", message)]);
    }
    let spec = format!("hyperx:dims={},hosts={}", squares.extents(), squares.nodes);
    let cable = |[a, b]: [u32; 2]| {
        let far = |a: u32, b: u32| u64::from(squares.wide * a.abs_diff(b));
        let length = far(a % squares.across, b % squares.across)
            + far(a / squares.across, b / squares.across);
        Some(Time::from_ps(if long { (length - 1) * CYCLE } else { 0 }))
    };
    let topology = build(values, &spec)?.with_delays(cable);
    Ok(Described { places: squares.places(), ..finish(values, topology, routing)? })
}

/// A balanced dragonfly of p = k. Its channels are 10 cycles long within a group and 100 between
/// groups, whatever the file says.
fn dragonfly(values: &Values) -> Result<Described, Mistakes> {
    let mut wrong = Vec::new();
    let hosts = values.number("k", 1, 64).map_err(|found| wrong.push(found)).unwrap_or(1);
    if values.text("n") != "1" {
        wrong.push(values.wrong("n", "a dragonflynew has one dimension in a group: n = 1"));
    }
    let bias = Bias { weights: Weights::Factor(2), offset: 30 };
    let ugal = Routing { bias, by_switch: true, ..Algorithm::UgalL.into() };
    let words = [("min", Algorithm::Minimal.into()), ("ugal", ugal)];
    let routing = routing(values, &words).map_err(|found| wrong.push(found)).ok();
    let Some(routing) = routing.filter(|_| wrong.is_empty()) else { return Err(wrong) };
    if routing.algorithm == Algorithm::UgalL && values.text("num_vcs") != "3" {
        return Err(vec![values.wrong("num_vcs", "ugal on a dragonflynew has 3 channels")]);
    }
    let topology = build(values, &format!("dragonfly:p={hosts},local=9ns,global=99ns"))?;
    finish(values, topology, routing)
}

/// A k-ary n-cube or mesh. BookSim's tori are folded: with `use_noc_latency` their channels are two
/// cycles long.
fn cube(
    values: &Values,
    name: &str,
    routing: Result<Routing, Diagnostic>,
) -> Result<Described, Mistakes> {
    let mut wrong = Vec::new();
    let least = if name == "torus" { 3 } else { 2 };
    let radix: Option<u32> =
        values.number("k", least, 1 << 16).map_err(|found| wrong.push(found)).ok();
    let dimensions: Option<u32> = values.number("n", 1, 16).map_err(|f| wrong.push(f)).ok();
    if values.text("c") != "1" {
        wrong.push(values.wrong("c", format!("a {name} has one node at each router")));
    }
    let folded =
        name == "torus" && noc_latency(values).map_err(|found| wrong.push(found)) == Ok(true);
    let routing = routing.map_err(|found| wrong.push(found)).ok();
    let (Some(radix), Some(dimensions), Some(routing), true) =
        (radix, dimensions, routing, wrong.is_empty())
    else {
        return Err(wrong);
    };
    let extents = vec![radix.to_string(); dimensions as usize].join("x");
    let built = build(values, &format!("{name}:dims={extents}"))?;
    let cable = Time::from_ps(if folded { CYCLE } else { 0 });
    let topology = built.with_delays(|_| Some(cable));
    finish(values, topology, routing)
}

pub(super) fn noc_latency(values: &Values) -> Result<bool, Diagnostic> {
    values.word("use_noc_latency", &[("0", false), ("1", true)])
}

fn build(values: &Values, spec: &str) -> Result<Topology, Mistakes> {
    // The memory of routers does not depend on the length of packets, nor on seeds.
    let parameters = parameters(values, 1, 0).ok();
    let least =
        |size: &Size| parameters.as_ref().map_or(0, |known| Fabric::least_memory(size, known));
    wire_for(spec, &Needs { what: "the channels of its routers", bytes: &least }).map_err(
        |faults| {
            faults.0.into_iter().map(|fault| values.wrong("topology", fault.message)).collect()
        },
    )
}

/// A network whose nodes are hosts of the same numbers.
fn finish(values: &Values, topology: Topology, routing: Routing) -> Result<Described, Mistakes> {
    let places = (0..topology.graph.hosts()).collect();
    let routes = Routes::build(&topology, Some(routing))
        .map_err(|fault| vec![values.wrong("routing_function", fault.message)])?;
    Ok(Described { topology, routes, places })
}

fn torus_routing(values: &Values) -> Result<Routing, Diagnostic> {
    let whole = |algorithm: Algorithm| Routing { dateline: Dateline::Whole, ..algorithm.into() };
    let halves = Routing { halves_in_order: true, ..whole(Algorithm::Valiant) };
    let words = [
        ("dim_order", whole(Algorithm::DimensionOrder)),
        ("valiant", halves),
        ("min_adapt", Algorithm::Adaptive.into()),
    ];
    escape(values, routing(values, &words)?, 4)
}

fn mesh_routing(values: &Values) -> Result<Routing, Diagnostic> {
    let valiant = Routing { halves_in_order: true, ..Algorithm::Valiant.into() };
    let words = [
        ("dim_order", Algorithm::DimensionOrder.into()),
        ("dor", Algorithm::DimensionOrder.into()),
        ("xy_yx", Algorithm::O1Turn.into()),
        ("romm", Algorithm::Romm.into()),
        ("valiant", valiant),
        ("min_adapt", Algorithm::Adaptive.into()),
    ];
    escape(values, routing(values, &words)?, 3)
}

/// Refuses channels that Heddle would share out otherwise: BookSim's escape has one channel a lane,
/// and all others are adaptive; here lanes have equal shares.
fn escape(values: &Values, routing: Routing, most: u32) -> Result<Routing, Diagnostic> {
    let adaptive = routing.algorithm == Algorithm::Adaptive;
    if adaptive && values.number("num_vcs", 1, 64)? > most {
        let message = format!(
            "Heddle shares channels out equally to lanes, so that min_adapt is BookSim's with at \
             most {most} channels"
        );
        return Err(values.wrong("num_vcs", message));
    }
    Ok(routing)
}

fn routing(values: &Values, words: &[(&str, Routing)]) -> Result<Routing, Diagnostic> {
    if values.text("routing_function") == "none" {
        let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("no routing_function is given (known: {})", names.join(", "));
        return Err(values.wrong("routing_function", message));
    }
    values.word("routing_function", words)
}

const ALLOCATORS: &[(&str, Allocation)] = &[
    ("islip", Allocation::Islip),
    ("separable_input_first", Allocation::InputFirst),
    ("separable_output_first", Allocation::OutputFirst),
];

const ARBITERS: &[(&str, Arbitration)] =
    &[("round_robin", Arbitration::RoundRobin), ("matrix", Arbitration::Matrix)];

/// Returns the parameters of the routers for packets of up to so many flits.
pub(super) fn parameters(values: &Values, flits: u32, seed: u64) -> Result<Parameters, Mistakes> {
    let Some(mut set) = preset("packet-booksim") else { return Err(Vec::new()) };
    let mut wrong = Vec::new();
    let mut count = |name: &str, least: u32, most: u32| {
        values.number(name, least, most).map_err(|found| wrong.push(found)).unwrap_or(least)
    };
    set.mtu = flits * FLIT;
    set.channels = Some(count("num_vcs", 1, 64));
    set.buffer = Some(count("vc_buf_size", 1, 1 << 24));
    set.iterations = count("alloc_iters", 1, 64);
    set.route = Delay::Cycles(count("routing_delay", 0, 1 << 16));
    set.vc_allocation = Delay::Cycles(count("vc_alloc_delay", 1, 1 << 16));
    set.switch_allocation = Delay::Cycles(count("sw_alloc_delay", 1, 1 << 16));
    let traversal = count("st_prepare_delay", 0, 1 << 15) + count("st_final_delay", 0, 1 << 15);
    set.traversal = Delay::Cycles(traversal);
    // The cycle of the credit's channel comes on top.
    let credit = u64::from(count("credit_delay", 0, 1 << 16)) + 1;
    set.credit = Delay::Time(Time::from_ps(credit * CYCLE));
    for (name, place) in
        [("vc_allocator", &mut set.vc_allocator), ("sw_allocator", &mut set.switch_allocator)]
    {
        match values.word(name, ALLOCATORS) {
            Ok(found) => *place = found,
            Err(found) => wrong.push(found),
        }
    }
    match values.word("arb_type", ARBITERS) {
        Ok(found) => set.arbiter = found,
        Err(found) => wrong.push(found),
    }
    match speed_up(values) {
        Ok(found) => set.speed_up = found,
        Err(found) => wrong.push(found),
    }
    (set.choice, set.seed) = (Choice::Message, seed);
    if wrong.is_empty() { Ok(set) } else { Err(wrong) }
}

fn speed_up(values: &Values) -> Result<u32, Diagnostic> {
    let speed_up: f64 = values.number("internal_speedup", 1.0, 64.0)?;
    let whole = (1..=64).find(|&whole| (f64::from(whole) - speed_up).abs() < 1e-9);
    let message = || format!("Heddle's routers have a whole number of cycles, found {speed_up}");
    whole.ok_or_else(|| values.wrong("internal_speedup", message()))
}
