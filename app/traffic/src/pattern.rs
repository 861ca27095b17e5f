//! Who sends to whom.
//!
//! The permutations are those of Dally and Towles, "Principles and Practices of Interconnection
//! Networks", 2004, table 3.1. A host that a permutation maps to itself sends nothing.

mod chances;

use kernel::Random;
use topology::{Graph, Shape, Topology};
use units::{HostId, nearest};

/// The names of all patterns but [`Pattern::Flows`] and [`Pattern::Weighted`], and what they do.
pub const PATTERNS: [(&str, &str); 18] = [
    ("uniform", "every other host alike"),
    ("uniform-with-self", "every host alike, the sender included"),
    ("hot-spot", "a share of the messages to one host, the rest uniform; share, host"),
    ("transpose", "(x, y) to (y, x) of the hosts as a square"),
    ("bit-reversal", "the bits of the host's number in reverse"),
    ("bit-complement", "the last host to the first, and so on"),
    ("shuffle", "the bits of the host's number rotated to the left by one"),
    ("tornado", "half way round less one, in every dimension of a grid"),
    ("neighbour", "one further, in every dimension of a grid"),
    ("sphere", "a share of the messages within a radius in links, the rest beyond; share, radius"),
    ("incast", "the hosts after one host, so many of them, to it; ways, host"),
    ("ring", "the next host"),
    ("random-permutation", "every host to one host, by a permutation that the seed decides"),
    ("diagonal", "a third of the messages to the next host, the rest to the sender"),
    ("asymmetric", "one of the two hosts of the same number in either half of all"),
    ("taper64", "64 hosts, 8 in a row: half to the host or its neighbours, half uniform"),
    ("next-group", "every host of the next group of a dragonfly, or else of the next switch"),
    ("columns", "every host of the column that has the number of the sender's row, in a square"),
];

/// A pattern with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Every other host alike.
    Uniform,
    /// Every host alike, the sender included.
    UniformWithSelf,
    /// One host gets this share of all messages on top of its uniform part.
    HotSpot {
        /// The host.
        host: u32,
        /// 0 to 1.
        share: f64,
    },
    /// (x, y) to (y, x); the number of hosts is a square.
    Transpose,
    /// Bits in reverse; the number of hosts is a power of two.
    BitReversal,
    /// Host s to N - 1 - s: for powers of two the complement of all bits.
    BitComplement,
    /// Bits rotated to the left; the number of hosts is a power of two.
    Shuffle,
    /// In each dimension of k switches ceil(k/2) - 1 further; of a ring of all hosts if there is no
    /// grid.
    Tornado,
    /// In each dimension one further; the next host if there is no grid.
    Neighbour,
    /// A share of the messages to hosts at most so many links away, uniform, and the rest to those
    /// beyond (Reed and Fujimoto, "Multicomputer networks", 1987).
    Sphere {
        /// Links between two hosts in the sphere, those of the hosts included; if `None`, the
        /// fewest with which every host has another in its sphere.
        radius: Option<u32>,
        /// 0 to 1.
        share: f64,
    },
    /// The `ways` hosts that follow a host, by number, send to it.
    Incast {
        /// The host.
        host: u32,
        /// The number of hosts that send.
        ways: u32,
    },
    /// The next host by number.
    Ring,
    /// Every host to one host, which may be itself.
    RandomPermutation {
        /// The seed of the permutation.
        seed: u64,
    },
    /// A third of the messages to the next host by number, the rest to the sender.
    Diagonal,
    /// To a host of the same number modulo half of all, in either half alike; an even number of
    /// hosts.
    Asymmetric,
    /// With 64 hosts, 8 in a row: half of the messages to the host or one of the eight around it,
    /// rows and columns closed to rings, half uniform with the sender.
    Taper64,
    /// To every host of the next group of a dragonfly, or else of the next switch, alike.
    NextGroup,
    /// With the hosts as a square, to every host of the column whose number is that of the sender's
    /// row, alike.
    Columns,
    /// To these hosts in proportion to their weights, whoever sends.
    Weighted(Vec<(u32, u32)>),
    /// Sources and their destinations.
    Flows(Vec<(u32, u32)>),
}

/// Why a pattern does not fit a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// No such name.
    #[error("there is no traffic `{name}`{} (known: uniform, uniform-with-self, \
             hot-spot, transpose, bit-reversal, bit-complement, shuffle, tornado, neighbour, \
             sphere, incast, ring, random-permutation, diagonal, asymmetric, taper64, next-group, \
             columns)", meant(*.near))]
    Unknown {
        /// The text that was given.
        name: String,
        /// The nearest name.
        near: Option<&'static str>,
    },
    /// The number of hosts has another form.
    #[error("{pattern} needs {form} of hosts, and there are {hosts}")]
    Hosts {
        /// The pattern.
        pattern: &'static str,
        /// The form.
        form: &'static str,
        /// The number that there are.
        hosts: u32,
    },
    /// A topology without groups of equal size.
    #[error("next-group needs a topology with equally many hosts on each switch")]
    Groups,
    /// No destination with a weight.
    #[error("there is no destination with a weight above 0")]
    Weightless,
    /// A host that is not there.
    #[error("there is no host {host}: there are {hosts}")]
    NoHost {
        /// Its number.
        host: u32,
        /// The number that there are.
        hosts: u32,
    },
    /// More senders than other hosts.
    #[error("{ways} hosts cannot send to one of {hosts}")]
    Ways {
        /// The number that should.
        ways: u32,
        /// The number of hosts.
        hosts: u32,
    },
    /// A share that is none.
    #[error("a share of {0} is not between 0 and 1")]
    Share(String),
    /// A sphere without a host.
    #[error(
        "no host lies within {radius} links of host {host}; a radius of {enough} holds one for \
         every host"
    )]
    Sphere {
        /// Whose, by its number.
        host: u32,
        /// Its radius.
        radius: u32,
        /// The least radius for all hosts.
        enough: u32,
    },
    /// A source with two destinations, or a flow to its own source.
    #[error("the flows from host {0} must be one, to another host")]
    Flow(u32),
    /// Nobody sends.
    #[error("no host has anybody to send to")]
    Silent,
}

fn meant(near: Option<&'static str>) -> String {
    near.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

impl Pattern {
    /// The pattern of a name, with the usual options: a share of 0.2 for the hot spot and 0.8 in a
    /// sphere of the nearest hosts, an incast of all hosts.
    pub fn named(name: &str) -> Result<Self, Misfit> {
        Ok(match name {
            "uniform" => Self::Uniform,
            "uniform-with-self" => Self::UniformWithSelf,
            "hot-spot" => Self::HotSpot { host: 0, share: 0.2 },
            "transpose" => Self::Transpose,
            "bit-reversal" => Self::BitReversal,
            "bit-complement" => Self::BitComplement,
            "shuffle" => Self::Shuffle,
            "tornado" => Self::Tornado,
            "neighbour" => Self::Neighbour,
            "sphere" => Self::Sphere { radius: None, share: 0.8 },
            "incast" => Self::Incast { host: 0, ways: u32::MAX },
            "ring" => Self::Ring,
            "random-permutation" => Self::RandomPermutation { seed: 1 },
            "diagonal" => Self::Diagonal,
            "asymmetric" => Self::Asymmetric,
            "taper64" => Self::Taper64,
            "next-group" => Self::NextGroup,
            "columns" => Self::Columns,
            _ => {
                let near = nearest(name, &PATTERNS.map(|pattern| pattern.0));
                return Err(Misfit::Unknown { name: name.to_owned(), near });
            }
        })
    }

    /// The pattern on all hosts of a topology.
    pub fn on(&self, topology: &Topology) -> Result<Destinations, Misfit> {
        let places: Vec<u32> = (0..topology.graph.hosts()).collect();
        self.placed(topology, &places)
    }

    /// The pattern on some hosts of a topology: host `places[n]`, each once, has the number n.
    /// Permutations go by these numbers, spheres by the distance of the places.
    pub fn placed(&self, topology: &Topology, places: &[u32]) -> Result<Destinations, Misfit> {
        self.destinations(topology, places, false)
    }

    /// The pattern on some hosts, as [`Pattern::placed`] makes it, but hosts that a permutation
    /// maps to themselves send to themselves.
    pub fn placed_with_senders(
        &self,
        topology: &Topology,
        places: &[u32],
    ) -> Result<Destinations, Misfit> {
        self.destinations(topology, places, true)
    }

    fn destinations(
        &self,
        topology: &Topology,
        places: &[u32],
        with_self: bool,
    ) -> Result<Destinations, Misfit> {
        let rule = self.rule(topology, places)?;
        let hosts = places.len() as u32;
        let places = places.iter().copied().map(HostId).collect();
        let destinations = Destinations { places, rule, with_self };
        if (0..hosts).any(|host| destinations.sends(host)) {
            Ok(destinations)
        } else {
            Err(Misfit::Silent)
        }
    }

    fn rule(&self, topology: &Topology, places: &[u32]) -> Result<Rule, Misfit> {
        let hosts = places.len() as u32;
        let all = |to: &dyn Fn(u32) -> u32| Rule::Fixed((0..hosts).map(to).collect());
        Ok(match self {
            Self::Uniform => Rule::Uniform,
            Self::UniformWithSelf => Rule::All,
            Self::HotSpot { host, share } => {
                known(*host, hosts)?;
                Rule::HotSpot { host: *host, share: fraction(*share)? }
            }
            Self::Transpose => {
                let side = side("transpose", hosts)?;
                all(&|host| host % side * side + host / side)
            }
            Self::BitReversal => {
                let bits = power_of_two("bit-reversal", hosts)?;
                all(&|host| host.reverse_bits().checked_shr(32 - bits).unwrap_or(0))
            }
            Self::Shuffle => {
                let bits = power_of_two("shuffle", hosts)?.max(1);
                all(&|host| (host << 1 | host >> (bits - 1)) & (hosts - 1))
            }
            Self::BitComplement => all(&|host| hosts - 1 - host),
            Self::Tornado => Rule::Fixed(shifted(topology, hosts, |extent| extent.div_ceil(2) - 1)),
            Self::Neighbour => Rule::Fixed(shifted(topology, hosts, |_| 1)),
            Self::Ring => all(&|host| (host + 1) % hosts),
            Self::Sphere { radius, share } => {
                let near = spheres(&topology.graph, places, *radius)?;
                Rule::Sphere { near, share: fraction(*share)? }
            }
            Self::Incast { host, ways } => {
                known(*host, hosts)?;
                let ways = if *ways == u32::MAX { hosts.saturating_sub(1) } else { *ways };
                if ways >= hosts {
                    return Err(Misfit::Ways { ways, hosts });
                }
                let distance = |from: u32| (from + hosts - host) % hosts;
                all(&|from| if (1..=ways).contains(&distance(from)) { *host } else { from })
            }
            Self::RandomPermutation { seed } => Rule::Fixed(permutation(*seed, hosts)),
            Self::Diagonal => Rule::Drawn(Drawn::Diagonal),
            Self::Asymmetric if !hosts.is_multiple_of(2) => {
                return Err(Misfit::Hosts { pattern: "asymmetric", form: "an even number", hosts });
            }
            Self::Asymmetric => Rule::Drawn(Drawn::Asymmetric),
            Self::Taper64 if hosts != 64 => {
                return Err(Misfit::Hosts { pattern: "taper64", form: "64", hosts });
            }
            Self::Taper64 => Rule::Drawn(Drawn::Taper64),
            Self::NextGroup => Rule::Drawn(Drawn::Next(group(topology, hosts)?)),
            Self::Columns => Rule::Drawn(Drawn::Column(side("columns", hosts)?)),
            Self::Weighted(weights) => Rule::Weighted(weighted(weights, hosts)?),
            Self::Flows(flows) => Rule::Fixed(pairs(flows, hosts)?),
        })
    }
}

fn known(host: u32, hosts: u32) -> Result<(), Misfit> {
    if host < hosts { Ok(()) } else { Err(Misfit::NoHost { host, hosts }) }
}

fn fraction(share: f64) -> Result<f64, Misfit> {
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(Misfit::Share(share.to_string())) }
}

fn side(pattern: &'static str, hosts: u32) -> Result<u32, Misfit> {
    let side = hosts.isqrt();
    if side * side == hosts {
        return Ok(side);
    }
    Err(Misfit::Hosts { pattern, form: "a square", hosts })
}

/// The hosts of a group of a dragonfly, or of a switch.
fn group(topology: &Topology, hosts: u32) -> Result<u32, Misfit> {
    let size = match &topology.shape {
        Shape::Dragonfly(family) => family.hosts * family.routers,
        Shape::Grid(family) => family.hosts,
        Shape::SlimFly(family) => family.hosts,
        _ => 0,
    };
    if size > 0 && hosts.is_multiple_of(size) { Ok(size) } else { Err(Misfit::Groups) }
}

/// A permutation in which each order has the same chance (Durstenfeld, 1964).
fn permutation(seed: u64, hosts: u32) -> Box<[u32]> {
    let random = Random::new(seed, PERMUTATION);
    let mut to: Box<[u32]> = (0..hosts).collect();
    for host in (1..hosts).rev() {
        to.swap(host as usize, random.below(host, 0, u64::from(host) + 1) as usize);
    }
    to
}

/// The purpose of the random numbers of a permutation.
const PERMUTATION: u32 = 0x5452_0004;

/// Destinations with the sums of weights up to each.
fn weighted(weights: &[(u32, u32)], hosts: u32) -> Result<Box<[(u32, u64)]>, Misfit> {
    let mut sum = 0;
    let mut sums = Vec::new();
    for &(host, weight) in weights {
        known(host, hosts)?;
        sum += u64::from(weight);
        sums.push((host, sum));
    }
    if sum == 0 { Err(Misfit::Weightless) } else { Ok(sums.into()) }
}

fn power_of_two(pattern: &'static str, hosts: u32) -> Result<u32, Misfit> {
    if hosts.is_power_of_two() {
        return Ok(hosts.ilog2());
    }
    Err(Misfit::Hosts { pattern, form: "a power of two", hosts })
}

/// Destinations that lie a shift further in every dimension, at the same place of the switch. A
/// part of a grid's hosts is none.
fn shifted(topology: &Topology, hosts: u32, shift: impl Fn(u32) -> u32) -> Box<[u32]> {
    let (extents, per_switch) = match &topology.shape {
        Shape::Grid(grid) if hosts == topology.graph.hosts() => {
            (grid.extents.clone(), grid.hosts.max(1))
        }
        _ => (vec![hosts], 1),
    };
    let place = |host: u32| {
        let (mut rest, mut stride, mut to) = (host / per_switch, 1, 0);
        for &extent in &extents {
            to += (rest % extent + shift(extent)) % extent * stride;
            (rest, stride) = (rest / extent, stride * extent);
        }
        to * per_switch + host % per_switch
    };
    (0..hosts).map(place).collect()
}

/// For each place the numbers of the others at most `radius` links away.
fn spheres(
    graph: &Graph,
    places: &[u32],
    radius: Option<u32>,
) -> Result<Box<[Box<[u32]>]>, Misfit> {
    let mut numbers = vec![None; graph.devices() as usize];
    for (number, &place) in (0..).zip(places) {
        numbers[place as usize] = Some(number);
    }
    let found = |ring: &[u32]| ring.iter().any(|&device| numbers[device as usize].is_some());
    let nearest = |&place: &u32| (1..).zip(rings(graph, place)).find(|(_, ring)| found(ring));
    let enough = || places.iter().filter_map(nearest).map(|(distance, _)| distance).max();
    let wanted = radius.or_else(enough).unwrap_or(0);
    let sphere = |(host, &place): (u32, &u32)| {
        let devices = rings(graph, place).take(wanted as usize).flatten();
        let mut near: Vec<u32> = devices.filter_map(|device| numbers[device as usize]).collect();
        near.sort_unstable();
        let empty = || Misfit::Sphere { host, radius: wanted, enough: enough().unwrap_or(0) };
        if near.is_empty() { Err(empty()) } else { Ok(near.into()) }
    };
    (0..).zip(places).map(sphere).collect()
}

/// The devices that are 1, 2, … links away from a host.
fn rings(graph: &Graph, host: u32) -> impl Iterator<Item = Vec<u32>> {
    let mut seen = vec![false; graph.devices() as usize];
    seen[host as usize] = true;
    let next = move |ring: &Vec<u32>| {
        let ends = ring.iter().flat_map(|&device| graph.neighbours(device));
        let ring: Vec<u32> = ends
            .map(|(_, end)| end.device)
            .filter(|&device| !std::mem::replace(&mut seen[device as usize], true))
            .collect();
        (!ring.is_empty()).then_some(ring)
    };
    std::iter::successors(Some(vec![host]), next).skip(1)
}

fn pairs(flows: &[(u32, u32)], hosts: u32) -> Result<Box<[u32]>, Misfit> {
    let mut to: Box<[u32]> = (0..hosts).collect();
    for &(source, destination) in flows {
        known(source, hosts)?;
        known(destination, hosts)?;
        if to[source as usize] != source || source == destination {
            return Err(Misfit::Flow(source));
        }
        to[source as usize] = destination;
    }
    Ok(to)
}

/// A pattern on a number of hosts, which it knows by numbers of its own.
#[derive(Clone, Debug)]
pub struct Destinations {
    /// The host of each number.
    places: Box<[HostId]>,
    rule: Rule,
    /// True if a host whose destination is fixed may send to itself.
    with_self: bool,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Every other host.
    Uniform,
    /// Every host.
    All,
    HotSpot {
        host: u32,
        share: f64,
    },
    /// A host that is its own destination sends nothing, unless hosts may send to themselves.
    Fixed(Box<[u32]>),
    /// By a formula of the sender and a draw.
    Drawn(Drawn),
    /// The destinations and the sums of weights up to each.
    Weighted(Box<[(u32, u64)]>),
    /// The hosts in each host's sphere, ascending.
    Sphere {
        near: Box<[Box<[u32]>]>,
        share: f64,
    },
}

/// A formula for a destination.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    Diagonal,
    Asymmetric,
    Taper64,
    /// The next group of so many hosts.
    Next(u32),
    /// A column of a square with this side.
    Column(u32),
}

impl Drawn {
    /// The number of draws, each with the same chance.
    const fn draws(self) -> u32 {
        match self {
            Self::Diagonal => 3,
            Self::Asymmetric => 2,
            Self::Taper64 => 128 * 9,
            Self::Next(count) | Self::Column(count) => count,
        }
    }

    /// The destination of a host among `hosts`; `draw` returns a number below a bound.
    fn to(self, host: u32, hosts: u32, draw: impl Fn(u32) -> u32) -> u32 {
        match self {
            Self::Diagonal if draw(3) == 0 => (host + 1) % hosts,
            Self::Diagonal => host,
            Self::Asymmetric => host % (hosts / 2) + draw(2) * (hosts / 2),
            Self::Taper64 => {
                // 64 of 128 to any host, and the others to 9 places of the same chance.
                let near = draw(128);
                let around = draw(9);
                let place = (64 + host + 8 * (around / 3) + around % 3 - 9) % 64;
                if near < 64 { near } else { place }
            }
            Self::Next(group) => (draw(group) + (host / group + 1) * group) % hosts,
            Self::Column(side) => draw(side) * side + host / side,
        }
    }
}

impl Destinations {
    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.places.len() as u32
    }

    /// The host of a number.
    #[inline]
    pub fn place(&self, number: u32) -> HostId {
        self.places[number as usize]
    }

    /// The hosts, by number.
    pub fn places(&self) -> &[HostId] {
        &self.places
    }

    /// Returns true if a host sends anything.
    pub fn sends(&self, host: u32) -> bool {
        match &self.rule {
            Rule::Fixed(to) => {
                to.get(host as usize).is_some_and(|&to| self.with_self || to != host)
            }
            Rule::Drawn(_) | Rule::Weighted(_) => true,
            _ => self.hosts() > 1,
        }
    }

    /// Returns the destination of a host's message of this number, if the host sends any.
    #[inline]
    pub fn draw(&self, random: Random, host: u32, number: u64) -> u32 {
        let first = || random.unit(host, 2 * number);
        match &self.rule {
            Rule::HotSpot { host: hot, share } if *hot != host && first() <= *share => *hot,
            Rule::Uniform | Rule::HotSpot { .. } => self.other(random, host, number),
            Rule::All => random.below(host, 2 * number + 1, self.hosts().into()) as u32,
            Rule::Fixed(to) => to[host as usize],
            Rule::Drawn(drawn) => drawn.to(host, self.hosts(), |bound| {
                random.below(host, 2 * number + u64::from(bound != 9), bound.into()) as u32
            }),
            Rule::Weighted(sums) => {
                let all = sums.last().map_or(0, |last| last.1);
                let at = random.below(host, 2 * number + 1, all);
                sums[sums.partition_point(|&(_, sum)| sum <= at)].0
            }
            Rule::Sphere { near, share } => {
                let near = &near[host as usize];
                let far = self.places.len() - 1 - near.len();
                if far == 0 || first() <= *share {
                    let index = random.below(host, 2 * number + 1, near.len() as u64);
                    return near[index as usize];
                }
                beyond(near, host, random.below(host, 2 * number + 1, far as u64) as u32)
            }
        }
    }

    /// Any other host.
    fn other(&self, random: Random, host: u32, number: u64) -> u32 {
        let step = random.below(host, 2 * number + 1, u64::from(self.hosts()) - 1);
        let to = host + 1 + step as u32;
        if to >= self.hosts() { to - self.hosts() } else { to }
    }
}

/// Number `index` of the hosts that are neither `host` nor in its sphere.
fn beyond(near: &[u32], host: u32, index: u32) -> u32 {
    let at = near.partition_point(|&other| other < host);
    let mut to = index;
    let taken = near[..at].iter().chain([&host]).chain(&near[at..]);
    for &taken in taken {
        if taken > to {
            break;
        }
        to += 1;
    }
    to
}
