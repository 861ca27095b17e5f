//! Every setting of an experiment, declared once, with the models and workloads that use it.
//!
//! From these tables come the reader of experiment files and of `--set`, the flags of the command
//! line, the JSON schema, the reference chapter of the book, `--print-config` and the check that
//! every setting that was given is used. Code reads a setting by its constant, which has the type
//! of its values: a misspelt one does not compile, and one that nobody reads is a warning.

#![allow(clippy::wildcard_imports, reason = "the files of the table are one table")]

use std::{marker::PhantomData, path::Path};

use super::{
    scope::{self, Scope},
    synonyms,
    value::{self, Kind},
    words,
};

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name: the table, a dot, and the key in it.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// Its value if nothing is said.
    pub fallback: Fallback,
    /// Its meaning, in Markdown.
    pub doc: &'static str,
    /// The flag of the command line that sets it, besides `--set`.
    pub flag: Option<Flag>,
    /// The models and workloads that use it.
    pub scope: Scope,
}

/// The value of a setting about which nothing is said.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// This one, written as on a command line.
    Value(&'static str),
    /// The first of these where messages meet a wire alone, the second where the network has a
    /// preset, which spaces messages itself.
    Hosts(&'static str, &'static str),
    /// The value of the first of these keys that is set, or else of the last.
    Same(&'static [&'static str]),
    /// None; the text says what that means.
    Unset(&'static str),
}

/// A flag of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without the dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// The name of its value in a help text; empty for a switch.
    pub value: &'static str,
}

/// A key as code names it, with the type of its values.
#[derive(Debug)]
pub struct Setting<T> {
    id: Id,
    values: PhantomData<fn() -> T>,
}

/// The place of a key in [`KEYS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(usize);

impl<T> Clone for Setting<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Setting<T> {}

impl<T> Setting<T> {
    /// The setting of this name; a constant of a name that is not in the tables does not compile.
    const fn of(name: &str) -> Self {
        let mut place = 0;
        while !same(KEYS[place].name, name) {
            place += 1;
        }
        Self { id: Id(place), values: PhantomData }
    }

    /// The key, whatever the type of its values.
    pub(crate) const fn id(self) -> Id {
        self.id
    }

    /// Its full name.
    pub const fn name(self) -> &'static str {
        KEYS[self.id.0].name
    }
}

impl<T> From<Setting<T>> for Id {
    fn from(setting: Setting<T>) -> Self {
        setting.id
    }
}

impl Id {
    /// The key of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        KEYS.iter().position(|key| key.name == name).map(Self)
    }

    /// The only key that a long flag sets, if there is one.
    pub fn of_flag(long: &str) -> Option<Self> {
        let mut all = Self::all().filter(|id| id.key().flag.is_some_and(|flag| flag.long == long));
        all.next().filter(|_| all.next().is_none())
    }

    /// All keys.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..KEYS.len()).map(Self)
    }

    /// Returns the declaration of the key.
    pub const fn key(self) -> &'static Key {
        &KEYS[self.0]
    }

    /// Returns whether each rail has the key for itself.
    pub fn is_of_rail(self) -> bool {
        let key = self.key();
        let table = key.table();
        match table {
            "loggops" => !COMMON.contains(&key.name),
            "rail" | "loggops.large" | "network" => true,
            _ => table.starts_with("network."),
        }
    }

    /// Its name in the table of a rail.
    pub fn name_in_rail(self) -> &'static str {
        let name = self.key().name;
        let own = name.strip_prefix("rail.").or_else(|| name.strip_prefix("network."));
        own.unwrap_or(name)
    }

    /// Returns whether each class of pairs of hosts has the key for itself, and nothing else does.
    pub fn is_of_class(self) -> bool {
        self.key().name.starts_with("loggops.class.")
    }

    /// Its name in the table of a class.
    pub fn name_in_class(self) -> &'static str {
        let name = self.key().name;
        name.strip_prefix("loggops.class.").unwrap_or(name)
    }

    /// Returns whether the key is the end of an interval that each class of pairs of hosts has for
    /// itself. All pairs have S in common.
    pub fn is_of_interval(self) -> bool {
        let name = self.key().name;
        name.starts_with("calibration.loggops.") && !name.starts_with("calibration.loggops.S.")
    }

    /// Its name in the table of the intervals of a class.
    pub fn name_in_intervals(self) -> &'static str {
        let name = self.key().name;
        name.strip_prefix("calibration.loggops.").unwrap_or(name)
    }

    /// Its place in [`KEYS`].
    pub const fn place(self) -> usize {
        self.0
    }
}

/// Returns whether two texts are equal; usable in constants.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// Declares the keys of a table, in the order of the book: for each the name of its constant, its
/// kind, its full name, its default, its flag, its scope and its meaning.
macro_rules! table {
    ($($(#[$attribute:meta])* $constant:ident: $kind:ident $(($($argument:expr),*))? =
        $name:literal, $fallback:expr, $flag:expr, $scope:expr, $doc:literal;)*) => {
        pub(in crate::settings::keys) const DECLARED: &[Key] = &[$(Key {
            name: $name,
            kind: Kind::$kind $(($($argument),*))?,
            fallback: $fallback,
            doc: $doc,
            flag: $flag,
            scope: $scope,
        }),*];
        $(
            $(#[$attribute])*
            #[doc = $doc]
            pub(crate) const $constant: Setting<value::types::$kind> = Setting::of($name);
        )*
    };
}

pub(crate) mod calibration;
pub(crate) mod flow;
pub(crate) mod live;
pub(crate) mod loggops;
pub(crate) mod network;
pub(crate) mod noise;
pub(crate) mod placement;
pub(crate) mod protocol;
pub(crate) mod rails;
pub(crate) mod run;
pub(crate) mod traces;
pub(crate) mod traffic;
pub(crate) mod workload;

/// The tables of settings, each with its description.
pub const TABLES: &[(&str, &str)] = &[
    (
        "workload",
        "What runs: a schedule in a file, a pattern, a collective operation, or the traces of a \
         run.",
    ),
    (
        "traces",
        "How the traces of a run become a schedule, if the workload is traces. Chapter \"Traces\" \
         explains the ways.",
    ),
    (
        "traces.algorithms",
        "Algorithms of single collectives of traces, by the names of the chapter \"Collective \
         operations\"; what is not set is as `workload.collectives` says. Non-blocking and \
         persistent forms follow the blocking one, `alltoallw` follows `alltoallv`.",
    ),
    (
        "live",
        "How a program runs whose ranks are simulated (`heddle mpirun`). Chapter \"Live programs\" \
         explains it.",
    ),
    (
        "traffic",
        "Synthetic traffic at the hosts of a network with switches, if the workload is \
         `traffic:NAME`. Chapter \"Synthetic traffic\" explains it.",
    ),
    (
        "loggops",
        "What a message costs its sender, the network and its receiver: the parameters of the \
         LogGOPS model. The defaults are LogGOPSim's, and o and g the preset's where the network \
         has one; setting some leaves the others as they are.",
    ),
    (
        "loggops.large",
        "Other costs for messages of more than S bytes. What is not set here is as in `[loggops]`.",
    ),
    (
        "loggops.local",
        "Costs of messages of any size between ranks of one host, which do not enter the network. \
         For networks with switches; there o, g and O are as in `[loggops]` unless they are set \
         here.",
    ),
    (
        "loggops.class",
        "Costs of messages between the pairs of hosts that the file `loggops.pairs` puts into a \
         class, in a table `[loggops.class.NAME]`, and those of large messages in \
         `[loggops.class.NAME.large]`. What is not set is as in `[loggops]`.",
    ),
    (
        "loggops.class.large",
        "Costs of messages of more than S bytes in a class of pairs, in a table \
         `[loggops.class.NAME.large]`. What is not set is as in `[loggops.class.NAME]`, and what \
         is not set there either as in `[loggops.large]`.",
    ),
    (
        "calibration",
        "The origin of parameters that were measured, as `heddle fit` writes it. A run checks it \
         and says it in its summary. Intervals of the parameters of a class of pairs stand in \
         `[calibration.loggops.class.NAME.L]` and its like, all but that of S. Chapter \
         \"Measuring\" explains it.",
    ),
    ("calibration.loggops.L", "Interval of 95 % of `loggops.L`."),
    ("calibration.loggops.o", "Interval of 95 % of `loggops.o`."),
    ("calibration.loggops.o-send", "Interval of 95 % of `loggops.o-send`."),
    ("calibration.loggops.o-recv", "Interval of 95 % of `loggops.o-recv`."),
    ("calibration.loggops.g", "Interval of 95 % of `loggops.g`."),
    ("calibration.loggops.G", "Interval of 95 % of `loggops.G`."),
    ("calibration.loggops.O", "Interval of 95 % of `loggops.O`."),
    ("calibration.loggops.S", "Interval of 95 % of `loggops.S`."),
    ("calibration.loggops.large.L", "Interval of 95 % of `loggops.large.L`."),
    ("calibration.loggops.large.G", "Interval of 95 % of `loggops.large.G`."),
    ("protocol", "How hosts agree on a message."),
    (
        "network",
        "What lies between the hosts: the wire of LogGOPS, or a topology with switches, lanes and \
         credits. The keys from `preset` on belong to the model `infiniband`; what is not set is \
         as in the preset.",
    ),
    (
        "network.arbiter",
        "Weights of the virtual lanes, by the arbiters of chapter 7.6.9 of the InfiniBand \
         Architecture. Without them all lanes have equal shares in the low table.",
    ),
    (
        "network.congestion",
        "Congestion control of the InfiniBand Architecture, annex A10. What is not set is as in \
         the preset; a preset without congestion control takes that of `infiniband-ddr-simula-cc`.",
    ),
    (
        "rails",
        "The choice among several networks of each host, for a machine with tables `[rail.NAME]`. \
         Chapter \"Rails\" explains it.",
    ),
    (
        "rail",
        "One of several networks, in a table `[rail.NAME]`; a table `[network]` beside such tables \
         is a rail of the name `network`. Beside the keys here it has those of `[network]`, such \
         as `model` and `topology`, and the costs of its messages in `[rail.NAME.loggops]`: all \
         keys of `[loggops]` and `[loggops.large]` but S, `inject`, `receive` and `compat`. What \
         is not set is as if the rail were the only network.",
    ),
    (
        "flow",
        "The model `flow`: what a message costs its hosts, and how it shares links. `[loggops]` \
         and `protocol.rendezvous` do not apply to it. Pieces and factors by size are lists \
         separated by `;`; each holds for messages larger than its size, up to the next.",
    ),
    ("host", "The speed of hosts, for the model `flow`."),
    ("placement", "Which host each rank runs on, where the network has a topology."),
    (
        "noise",
        "Interruptions by the operating system, from a recorded trace (`trace`) or at random \
         (`interval` and `duration`). Without either there are none.",
    ),
    ("run", "How the simulation is carried out. Only `seed` can change its results."),
    (
        "output",
        "The folder of results, and what is drawn. Without a folder, a run prints its summary and \
         writes nothing.",
    ),
];

/// The keys of each table, in their order.
const PARTS: &[&[Key]] = &[
    workload::DECLARED,
    live::DECLARED,
    traces::DECLARED,
    traces::algorithms::DECLARED,
    traffic::DECLARED,
    loggops::DECLARED,
    loggops::large::DECLARED,
    loggops::local::DECLARED,
    loggops::class::DECLARED,
    loggops::class::large::DECLARED,
    calibration::DECLARED,
    calibration::latency::DECLARED,
    calibration::overhead::DECLARED,
    calibration::send_overhead::DECLARED,
    calibration::receive_overhead::DECLARED,
    calibration::gap::DECLARED,
    calibration::gap_per_byte::DECLARED,
    calibration::overhead_per_byte::DECLARED,
    calibration::eager_limit::DECLARED,
    calibration::large_latency::DECLARED,
    calibration::large_gap_per_byte::DECLARED,
    protocol::DECLARED,
    network::DECLARED,
    network::arbiter::DECLARED,
    network::congestion::DECLARED,
    rails::DECLARED,
    rails::rail::DECLARED,
    flow::DECLARED,
    flow::host::DECLARED,
    placement::DECLARED,
    noise::DECLARED,
    run::DECLARED,
    run::output::DECLARED,
];

const COUNT: usize = {
    let (mut count, mut part) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
};

/// All settings, in the order of their tables.
pub static KEYS: &[Key] = &joined();

#[allow(clippy::large_stack_arrays, reason = "it is evaluated when the crate is compiled")]
const fn joined() -> [Key; COUNT] {
    let mut keys = [PARTS[0][0]; COUNT];
    let (mut next, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut place = 0;
        while place < PARTS[part].len() {
            keys[next] = PARTS[part][place];
            (next, place) = (next + 1, place + 1);
        }
        part += 1;
    }
    keys
}

// The tables want an option.
#[allow(clippy::unnecessary_wraps)]
const fn flag(long: &'static str, value: &'static str) -> Option<Flag> {
    Some(Flag { long, short: None, value })
}

const U16: u64 = u16::MAX as u64;
const U32: u64 = u32::MAX as u64;

use Fallback::{Hosts, Same, Unset, Value};

impl Key {
    /// Its default, if that is a value of its own.
    pub fn default_value(&self) -> Option<value::Value> {
        match self.fallback {
            Value(text) | Hosts(text, _) => self.parsed(text),
            Same(_) | Unset(_) => None,
        }
    }

    /// Its default over networks that have presets, if that is a value of its own.
    pub fn default_with_preset(&self) -> Option<value::Value> {
        match self.fallback {
            Hosts(_, text) => self.parsed(text),
            _ => self.default_value(),
        }
    }

    fn parsed(&self, text: &str) -> Option<value::Value> {
        self.kind.parse(text, Path::new("")).ok()
    }

    /// The table it stands in.
    pub fn table(&self) -> &'static str {
        self.name.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// Its name in its table.
    pub fn short(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(_, key)| key)
    }
}

/// The key that a flag means which several keys share: that of traces and live programs, if the
/// workload is such, or else the first. `name` is the name of one of them.
pub(crate) fn of_flag(name: &str, calls: bool) -> Option<Id> {
    let own = Id::named(name)?;
    let long = |id: &Id| id.key().flag.map(|flag| flag.long);
    let mut sharing = Id::all().filter(|id| long(&own).is_some() && long(id) == long(&own));
    let meant = if calls { sharing.last() } else { sharing.next() };
    Some(meant.unwrap_or(own))
}

/// The keys of `[loggops]` that all rails have in common.
const COMMON: [&str; 4] = ["loggops.S", "loggops.inject", "loggops.receive", "loggops.compat"];

/// Returns the key that a name means in the table of a rail.
pub(crate) fn of_rail(name: &str) -> Option<Id> {
    let own = ["rail", "network"].iter().find_map(|table| Id::named(&format!("{table}.{name}")));
    own.or_else(|| Id::named(name).filter(|id| id.is_of_rail()))
}

/// Returns the key that a name means in the table of a class of pairs.
pub(crate) fn of_class(name: &str) -> Option<Id> {
    Id::named(&format!("loggops.class.{name}"))
}

/// Returns the key that a name means in the table of the intervals of a class.
pub(crate) fn of_interval(name: &str) -> Option<Id> {
    Id::named(&format!("calibration.loggops.{name}")).filter(|id| id.is_of_interval())
}

/// Returns advice on a name that no end of an interval of a class has.
pub(crate) fn suggestion_of_interval(name: &str) -> String {
    let known: Vec<&'static str> =
        Id::all().filter(|id| id.is_of_interval()).map(Id::name_in_intervals).collect();
    units::nearest(name, &known).map_or_else(
        || format!("known: {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    )
}

/// Returns advice on a name that no key of a class has.
pub(crate) fn suggestion_in_class(name: &str) -> String {
    let known: Vec<&'static str> =
        Id::all().filter(|id| id.is_of_class()).map(Id::name_in_class).collect();
    if let Some(id) = Id::named(&format!("loggops.{name}")) {
        return format!(
            "all pairs have it in common: set `{}` outside of the class",
            id.key().name
        );
    }
    let meant = synonyms::key_of("loggops", name).map(Key::short);
    let meant = meant.filter(|meant| known.contains(meant));
    meant.or_else(|| units::nearest(name, &known)).map_or_else(
        || format!("known keys of a class: {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    )
}

/// Returns whether a table of this name exists in that of a rail.
pub(crate) fn is_table_of_rail(name: &str) -> bool {
    matches!(name, "loggops" | "loggops.large") || is_table(&format!("network.{name}"))
}

/// Returns whether a table of this name exists, perhaps only as part of a longer name.
pub(crate) fn is_table(name: &str) -> bool {
    let within = |table: &str| table.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    TABLES.iter().any(|&(table, _)| table == name || within(table))
}

/// Returns advice on a name that no key of a rail has.
pub(crate) fn suggestion_in_rail(name: &str) -> String {
    if COMMON.contains(&name) {
        return format!("all rails have it in common: set `{name}` outside of the rail's table");
    }
    if name == "loggops.receive" {
        return "the interface of a rail is busy with bytes, as with \"nic\": leave it out"
            .to_owned();
    }
    let known: Vec<&'static str> =
        Id::all().filter(|id| id.is_of_rail()).map(Id::name_in_rail).collect();
    let meant = synonyms::key_of("", name).and_then(|key| Id::named(key.name));
    let meant = meant.filter(|id| id.is_of_rail()).map(Id::name_in_rail);
    if let Some(near) = meant.or_else(|| units::nearest(name, &known)) {
        return format!("did you mean `{near}`?");
    }
    if let Some(id) = Id::named(&format!("loggops.{name}")).filter(|id| id.is_of_rail()) {
        return format!("did you mean `{}`?", id.name_in_rail());
    }
    "a rail has the keys of [network] and [rail], and of [loggops] as `loggops.KEY`".to_owned()
}

/// Returns advice on a name that is neither a key nor a table: the key that another tool calls so,
/// the nearest one in the same table, the same key in another table, or all there are.
pub(crate) fn suggestion(table: &str, name: &str) -> String {
    if let Some(meant) = synonyms::suggestion(table, name) {
        return meant;
    }
    let inside: Vec<&'static str> =
        KEYS.iter().filter(|key| key.table() == table).map(Key::short).collect();
    let tables: Vec<&'static str> = TABLES
        .iter()
        .filter(|(other, _)| other.rsplit_once('.').map_or("", |(parent, _)| parent) == table)
        .map(|&(other, _)| other)
        .collect();
    if let Some(near) = units::nearest(name, &inside) {
        return format!("did you mean `{near}`?");
    }
    if let Some(key) = KEYS.iter().find(|key| key.short() == name) {
        return format!("`{name}` belongs to the table [{}]", key.table());
    }
    // Only the last part of a table's name: tables within one have the rest in common.
    let own = |table: &'static str| table.rsplit_once('.').map_or(table, |(_, own)| own);
    let names: Vec<&'static str> = tables.iter().map(|table| own(table)).collect();
    if let Some(near) = units::nearest(name, &names) {
        let full = tables.iter().find(|table| own(table) == near).unwrap_or(&near);
        return format!("did you mean the table [{full}]?");
    }
    if inside.is_empty() {
        format!("known tables: {}", tables.join(", "))
    } else {
        format!("known keys of [{table}]: {}", inside.join(", "))
    }
}
