//! Topologies by kind and keys: `fat-tree:levels=2,radix=36`.

use std::str::FromStr;

use units::Time;

use super::{Arrangement, Butterfly, Dragonfly, Grid, Kind, Rails, Shape, SlimFly, Topology, Tree};
use crate::{Fault, Faults};

/// A kind of topology with its keys and a line about it.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [&'static str],
    /// A description of the family.
    pub about: &'static str,
    shape: Read,
}

/// All kinds, in the order of the book.
pub const KINDS: &[Entry] = &[
    entry("star", &["hosts"], "hosts around one switch", |k| {
        Some(Shape::Tree(Tree::extended(vec![k.number("hosts")?], vec![1])))
    }),
    entry("chain", &["switches", "hosts"], "switches in a row, `hosts` on each", |k| {
        line(k, Kind::Mesh)
    }),
    entry("ring", &["switches", "hosts"], "switches in a circle, `hosts` on each", |k| {
        line(k, Kind::Torus)
    }),
    entry("mesh", &["dims", "hosts"], "a grid of switches, such as dims=8x8", |k| {
        grid(k, Kind::Mesh)
    }),
    entry("torus", &["dims", "hosts"], "a grid with wrap-around links", |k| grid(k, Kind::Torus)),
    entry("hypercube", &["dimensions", "hosts"], "2^dimensions switches", |k| {
        let (dimensions, hosts) = (k.number("dimensions"), k.number_or("hosts", 1));
        let extents = vec![2; dimensions?.min(64) as usize];
        Some(Shape::Grid(Grid { kind: Kind::HyperX, extents, hosts: hosts? }))
    }),
    entry("hyperx", &["dims", "hosts"], "a grid whose lines are complete graphs", |k| {
        grid(k, Kind::HyperX)
    }),
    entry("complete", &["switches", "hosts"], "switches that are all joined", |k| {
        line(k, Kind::HyperX)
    }),
    entry("fat-tree", &["levels", "radix"], "the largest full tree of such switches", |k| {
        let (levels, radix) = (k.number_or("levels", 2), k.number("radix"));
        let (levels, radix) = (levels?, radix?);
        if radix == 0 || radix % 2 != 0 {
            return k.fault("radix", "a full fat tree needs an even radix from 2 on");
        }
        if !(1..=16).contains(&levels) {
            return k.fault("levels", "a full fat tree has 1 to 16 levels");
        }
        Some(Shape::Tree(Tree::full(levels as usize, radix)))
    }),
    entry("k-ary-n-tree", &["k", "n"], "n levels of k^(n-1) switches", |k| {
        let (arity, levels) = (k.number("k"), k.number("n"));
        let (arity, levels) = (arity?, levels?.min(64) as usize);
        let parents = (0..levels).map(|level| if level == 0 { 1 } else { arity }).collect();
        Some(Shape::Tree(Tree::extended(vec![arity; levels], parents)))
    }),
    entry(
        "xgft",
        &["children", "parents", "cables"],
        "children and parents per level, lowest first, such as \
         children=18x18,parents=1x9,cables=1x2",
        |k| {
            let (children, parents) = (k.list("children"), k.list("parents"));
            let cables = k.list_or_empty("cables");
            let mut tree = Tree::extended(children?, parents?);
            let cables = cables?;
            if !cables.is_empty() {
                tree.cables = cables;
            }
            Some(Shape::Tree(tree))
        },
    ),
    entry("butterfly", &["k", "n"], "n stages of k^(n-1) switches, passed one way", |k| {
        let (radix, stages) = (k.number("k"), k.number("n"));
        Some(Shape::Butterfly(Butterfly { radix: radix?, stages: stages? }))
    }),
    entry(
        "dragonfly",
        &["p", "a", "h", "g", "arrangement", "local", "global"],
        "p hosts and h global links per switch, a switches per group, g groups; p=n alone is \
         balanced; local and global are the times of cables in and between groups, such as 10ns",
        dragonfly,
    ),
    entry("slim-fly", &["q", "hosts"], "2q^2 switches for a prime power q", |k| {
        let q = k.number("q")?;
        let hosts = k.number_or("hosts", SlimFly::radix(q.min(1000)).div_ceil(2))?;
        Some(Shape::SlimFly(SlimFly { q, hosts }))
    }),
    entry(
        "rails",
        &["rails", "hosts", "units", "spines"],
        "a switch per rail and unit of `hosts` hosts, joined by spines",
        |k| {
            let (rails, hosts) = (k.number("rails"), k.number("hosts"));
            let (units, spines) = (k.number_or("units", 1), k.number_or("spines", 0));
            let (rails, hosts, units, spines) = (rails?, hosts?, units?, spines?);
            Some(Shape::Rails(Rails { rails, hosts, units, spines }))
        },
    ),
    entry("H8_S1", &[], "8 hosts on one switch", |_| {
        Some(Shape::Tree(Tree::extended(vec![8], vec![1])))
    }),
    entry("H8_S2", &[], "2 joined switches with 4 hosts each", |_| Some(named(Kind::Mesh, 2, 4))),
    entry("H8_S4", &[], "4 switches, all joined, with 2 hosts each", |_| {
        Some(named(Kind::HyperX, 4, 2))
    }),
    entry("H8_S6", &[], "a fat tree of 4-port switches, 2 above 4", |_| Some(full(4))),
    entry("H128_S24", &[], "a fat tree of 16-port switches, 8 above 16", |_| Some(full(16))),
    entry("H242_S33", &[], "a fat tree of 22-port switches, 11 above 22", |_| Some(full(22))),
    entry("H392_S42", &[], "a fat tree of 28-port switches, 14 above 28", |_| Some(full(28))),
    entry("H512_S48", &[], "a fat tree of 32-port switches, 16 above 32", |_| Some(full(32))),
    entry("M9", &[], "a fat tree of 36-port switches, 18 above 36, 648 hosts", |_| Some(full(36))),
];

type Read = fn(&mut Keys) -> Option<Shape>;

const fn entry(
    name: &'static str,
    keys: &'static [&'static str],
    about: &'static str,
    shape: Read,
) -> Entry {
    Entry { name, keys, about, shape }
}

fn full(radix: u32) -> Shape {
    Shape::Tree(Tree::full(2, radix))
}

fn named(kind: Kind, switches: u32, hosts: u32) -> Shape {
    Shape::Grid(Grid { kind, extents: vec![switches], hosts })
}

fn line(keys: &mut Keys, kind: Kind) -> Option<Shape> {
    let (switches, hosts) = (keys.number("switches"), keys.number_or("hosts", 1));
    Some(named(kind, switches?, hosts?))
}

fn grid(keys: &mut Keys, kind: Kind) -> Option<Shape> {
    let (extents, hosts) = (keys.list("dims"), keys.number_or("hosts", 1));
    Some(Shape::Grid(Grid { kind, extents: extents?, hosts: hosts? }))
}

/// Balanced, a = 2p = 2h and g = a h + 1, unless said otherwise (Kim et al., section 3.1).
fn dragonfly(keys: &mut Keys) -> Option<Shape> {
    let hosts = keys.number("p")?;
    let routers = keys.number_or("a", hosts.saturating_mul(2));
    let global = keys.number_or("h", hosts);
    let (routers, global) = (routers?, global?);
    let most = routers.saturating_mul(global).saturating_add(1);
    let groups = keys.number_or("g", most);
    let arrangement = match keys.take("arrangement") {
        None | Some("absolute") => Arrangement::Absolute,
        Some("relative") => Arrangement::Relative,
        Some("circulant") => Arrangement::Circulant,
        Some(other) => {
            let known = ["absolute", "relative", "circulant"];
            let message = format!("unknown arrangement `{other}`; expected {}", known.join(", "));
            keys.faults.push(Fault::new(message).near(other, &known));
            return None;
        }
    };
    let delays = [keys.time("local"), keys.time("global")];
    let groups = groups?;
    Some(Shape::Dragonfly(Dragonfly { hosts, routers, global, groups, arrangement, delays }))
}

/// The keys that were given, and what is wrong with them.
struct Keys<'a> {
    given: &'a [(&'a str, &'a str)],
    kind: &'static str,
    faults: Faults,
}

impl<'a> Keys<'a> {
    fn take(&self, name: &str) -> Option<&'a str> {
        self.given.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn fault<T>(&mut self, name: &str, message: &str) -> Option<T> {
        let value = self.take(name).unwrap_or_default();
        self.faults.push(Fault::new(format!("{name} = {value}: {message}")));
        None
    }

    fn missing<T>(&mut self, name: &str) -> Option<T> {
        let message = format!("topology `{}` needs the key `{name}`", self.kind);
        self.faults.push(Fault::new(message));
        None
    }

    fn number(&mut self, name: &str) -> Option<u32> {
        match self.take(name) {
            Some(text) => self.read(name, text),
            None => self.missing(name),
        }
    }

    fn number_or(&mut self, name: &str, default: u32) -> Option<u32> {
        self.take(name).map_or(Some(default), |text| self.read(name, text))
    }

    /// A time, if one is given.
    fn time(&mut self, name: &str) -> Option<Time> {
        let text = self.take(name)?;
        let time = text.parse().ok();
        if time.is_none() {
            self.faults.push(Fault::new(format!("{name} = {text}: expected a time such as 10ns")));
        }
        time
    }

    fn list(&mut self, name: &str) -> Option<Vec<u32>> {
        if self.take(name).is_none() { self.missing(name) } else { self.list_or_empty(name) }
    }

    fn list_or_empty(&mut self, name: &str) -> Option<Vec<u32>> {
        let text = self.take(name).unwrap_or_default();
        let parts = text.split('x').filter(|_| !text.is_empty());
        let numbers: Option<Vec<_>> = parts.map(|part| part.trim().parse().ok()).collect();
        if numbers.is_none() {
            let expected = "expected whole numbers with x between them, such as 4x8";
            self.faults.push(Fault::new(format!("{name} = {text}: {expected}")));
        }
        numbers
    }

    fn read<T: FromStr>(&mut self, name: &str, text: &str) -> Option<T> {
        let number = text.trim().parse().ok();
        if number.is_none() {
            self.faults
                .push(Fault::new(format!("{name} = {text}: expected a whole number from 0")));
        }
        number
    }
}

/// The topology of a kind and keys. All mistakes are reported at once.
pub fn build(kind: &str, given: &[(&str, &str)]) -> Result<Topology, Faults> {
    shape(kind, given)?.build()
}

/// The shape of a kind and keys.
fn shape(kind: &str, given: &[(&str, &str)]) -> Result<Shape, Faults> {
    let Some(entry) = KINDS.iter().find(|entry| entry.name == kind) else {
        let names: Vec<_> = KINDS.iter().map(|entry| entry.name).collect();
        let message = format!("unknown topology `{kind}` (known: {})", names.join(", "));
        return Err(Fault::new(message).near(kind, &names).into());
    };
    let mut keys = Keys { given, kind: entry.name, faults: Faults::default() };
    for (index, (key, _)) in given.iter().enumerate() {
        if !entry.keys.contains(key) {
            let known = match entry.keys {
                [] => "it has none".to_owned(),
                keys => format!("it has {}", keys.join(", ")),
            };
            let message = format!("topology `{kind}` has no key `{key}` ({known})");
            keys.faults.push(Fault::new(message).near(key, entry.keys));
        } else if given[..index].iter().any(|(other, _)| other == key) {
            keys.faults.push(Fault::new(format!("the key `{key}` is given twice")));
        }
    }
    let shape = (entry.shape)(&mut keys);
    keys.faults.or(())?;
    shape.ok_or_else(|| Fault::new("this topology cannot be built").into())
}

/// Advice for extents that stand without `dims=`, or behind a comma.
fn extents(kind: &str, given: &[(&str, &str)], found: &str) -> Option<String> {
    let entry = KINDS.iter().find(|entry| entry.name == kind)?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !entry.keys.contains(&"dims") || !found.split('x').all(is_number) {
        return None;
    }
    Some(match given.last() {
        Some(("dims", first)) => format!("an x joins extents: dims={first}x{found}"),
        _ => format!("did you mean `dims={found}`?"),
    })
}

/// The topology of a text such as `torus:dims=8x8,hosts=2`.
pub fn parse(text: &str) -> Result<Topology, Faults> {
    Shape::parse(text)?.build()
}

/// The shape of such a text.
pub(super) fn parse_shape(text: &str) -> Result<Shape, Faults> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut given = Vec::new();
    let mut faults = Faults::default();
    for pair in rest.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        if let Some((key, value)) = pair.split_once('=') {
            given.push((key.trim(), value.trim()));
        } else {
            let fault = Fault::new(format!("expected KEY=VALUE, found `{pair}`"));
            faults.push(fault.help(extents(kind.trim(), &given, pair)));
        }
    }
    faults.or(())?;
    shape(kind.trim(), &given)
}
