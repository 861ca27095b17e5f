//! SimGrid's configuration items (`--cfg NAME:VALUE`), as far as they concern the model `flow`.

use ::flow::{Factors, Parameters};
use collectives::{Collective, Way, find};
use host::{Piece, Pieces, Protocol, seconds};
use units::Time;

/// The settings that configuration items change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Items {
    /// Links and routes.
    pub parameters: Parameters,
    /// Modes and overheads.
    pub protocol: Protocol,
    /// Time of `MPI_Test`, `MPI_Iprobe`, `MPI_Wtime` and `MPI_Init`.
    pub calls: Calls,
    /// Bandwidth in bytes per second and latency in seconds of a host to itself, where its zone
    /// says nothing.
    pub loopback: (Option<f64>, Option<f64>),
    /// Operations per second of the machine on which a trace was recorded.
    pub speed: Option<f64>,
    /// The library that chooses collective algorithms.
    pub library: Option<&'static str>,
    /// Algorithms of single collectives, or of a library's choice.
    pub algorithms: Vec<(Collective, &'static str)>,
}

/// Times of calls that only cost their caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// Unless it is said, a look of a replayed time-independent trace costs [`TEST`].
    pub test: Option<Time>,
    pub iprobe: Time,
    pub wtime: Time,
    pub init: Time,
}

/// The cost of a test in SMPI's replay if `smpi/test` is not said.
pub(crate) const TEST: Time = Time::from_ps(100_000_000);

/// All items that are known, each by the name and the older name that SimGrid has for it.
const KNOWN: &[(&str, &str)] = &[
    ("smpi/async-small-thresh", ""),
    ("smpi/send-is-detached-thresh", ""),
    ("smpi/os", ""),
    ("smpi/ois", ""),
    ("smpi/or", ""),
    ("smpi/test", ""),
    ("smpi/iprobe", ""),
    ("smpi/wtime", ""),
    ("smpi/init", ""),
    ("smpi/host-speed", "smpi/running-power"),
    ("smpi/coll-selector", ""),
    ("network/bandwidth-factor", "smpi/bw-factor"),
    ("network/latency-factor", "smpi/lat-factor"),
    ("network/weight-S", "network/sender-gap"),
    ("network/TCP-gamma", "network/TCP_gamma"),
    ("network/crosstraffic", ""),
    ("network/loopback-bw", ""),
    ("network/loopback-lat", ""),
    ("network/model", ""),
];

/// Collectives of which the algorithm can be chosen, as `smpi/NAME`.
const COLLECTIVES: &[&str] = &[
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "barrier",
    "bcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
];

/// A number with a unit of SimGrid, in its basic unit (seconds, bytes per second, flop per second,
/// bytes).
pub(crate) fn quantity(text: &str) -> Result<f64, String> {
    let wrong = || format!("expected a number and perhaps a unit, found `{text}`");
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E');
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    if !number.is_finite() || number < 0.0 {
        return Err(wrong());
    }
    let factor = match unit.trim() {
        "" | "s" | "f" | "B" | "Bps" => 1.0,
        "ps" => 1e-12,
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        unit => prefixed(unit).ok_or_else(wrong)?,
    };
    Ok(number * factor)
}

/// A unit with a prefix: `GiBps`, `Mbps`, `Gf`, `kB`.
fn prefixed(unit: &str) -> Option<f64> {
    let base = ["flops", "flop/s", "Bps", "bps", "f", "B"]
        .into_iter()
        .find(|base| unit.ends_with(base))?;
    let bits = if base == "bps" { 0.125 } else { 1.0 };
    let power = |letter| "kMGTPE".find(letter).map(|place| i32::try_from(place).unwrap_or(0) + 1);
    let prefix = unit.strip_suffix(base)?.trim();
    let letters: Vec<char> = prefix.chars().collect();
    let factor = match letters.as_slice() {
        [] => 1.0,
        ['K'] => 1e3,
        [letter] => 1000f64.powi(power(*letter)?),
        ['K', 'i'] => 1024.0,
        [letter, 'i'] => 1024f64.powi(power(*letter)?),
        _ => return None,
    };
    Some(bits * factor)
}

fn number(text: &str) -> Result<f64, String> {
    quantity(text).map_err(|_| format!("expected a number, found `{text}`"))
}

fn size(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("expected a number of bytes, found `{text}`"))
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "true" | "1" => Ok(true),
        "no" | "off" | "false" | "0" => Ok(false),
        _ => Err(format!("expected yes or no, found `{text}`")),
    }
}

/// `SIZE:BASE:PER_BYTE;…`, in bytes and seconds.
fn pieces(text: &str) -> Result<Pieces, String> {
    let piece = |part: &str| {
        let mut words = part.split(':');
        let above = size(words.next().unwrap_or_default())?;
        let values = words.map(number).collect::<Result<Vec<_>, _>>()?;
        let value = |place: usize| values.get(place).copied().unwrap_or(0.0);
        Ok(Piece { above, base: value(0), per_byte: value(1) })
    };
    text.split(';').map(piece).collect::<Result<_, String>>().map(Pieces::new)
}

/// `SIZE:FACTOR;…`, or one factor for all sizes.
fn factors(text: &str) -> Result<Factors, String> {
    if let Ok(factor) = number(text) {
        return Ok(Factors::new(vec![(0, factor)]));
    }
    let pair = |part: &str| {
        let (above, factor) =
            part.split_once(':').ok_or("expected SIZE:FACTOR between semicolons")?;
        Ok((size(above)?, number(factor)?))
    };
    text.split(';').map(pair).collect::<Result<_, String>>().map(Factors::new)
}

impl Items {
    /// Applies an item `NAME:VALUE`. Returns a warning if the item has no effect here, and none on
    /// the results of SimGrid either.
    pub fn apply(&mut self, item: &str) -> Result<Option<String>, (String, String)> {
        let (name, value) = item.split_once(':').ok_or_else(|| {
            (
                "there is no `:`".to_owned(),
                "write NAME:VALUE, such as network/crosstraffic:no".to_owned(),
            )
        })?;
        let current = KNOWN.iter().find(|(now, before)| [*now, *before].contains(&name));
        if let Some((known, _)) = current {
            let set = self.set(known, value);
            return set
                .map(|()| None)
                .map_err(|message| (format!("{name}: {message}"), String::new()));
        }
        if let Some(collective) =
            name.strip_prefix("smpi/").filter(|name| COLLECTIVES.contains(name))
        {
            return self.choose(collective, value).map(|()| None);
        }
        if HARMLESS.iter().any(|prefix| name.starts_with(prefix)) {
            return Ok(Some(format!(
                "the configuration item {name} has no effect: {}",
                reason(name)
            )));
        }
        let message = format!("the configuration item {name} is not taken: {}", reason(name));
        let names: Vec<_> = KNOWN.iter().map(|(name, _)| *name).collect();
        let near = units::nearest(name, &names);
        Err((message, near.map_or_else(String::new, |near| format!("did you mean {near}?"))))
    }

    /// Sets the algorithm of a collective.
    fn choose(&mut self, name: &str, value: &str) -> Result<(), (String, String)> {
        let mistake = |message| (format!("smpi/{name}: {message}"), String::new());
        let collective = collectives::named(name).map_err(|error| mistake(error.to_string()))?;
        let entry = find(collective, choice(value).unwrap_or(value));
        let entry = entry.map_err(|error| mistake(error.to_string()))?;
        if matches!(entry.way, Way::Automatic) {
            return Err(mistake("in traces, an algorithm has to be named".to_owned()));
        }
        self.algorithms.retain(|(other, _)| *other != collective);
        self.algorithms.push((collective, entry.name));
        Ok(())
    }

    // Long because it lists the items.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let Self { parameters, protocol, calls, .. } = self;
        match name {
            "smpi/async-small-thresh" => protocol.eager_below = size(value)?,
            "smpi/send-is-detached-thresh" => protocol.detached_below = size(value)?,
            "smpi/os" => protocol.send = pieces(value)?,
            "smpi/ois" => protocol.isend = pieces(value)?,
            "smpi/or" => protocol.receive = pieces(value)?,
            "smpi/test" => calls.test = Some(seconds(number(value)?)),
            "smpi/iprobe" => calls.iprobe = seconds(number(value)?),
            "smpi/wtime" => calls.wtime = seconds(number(value)?),
            "smpi/init" => calls.init = seconds(number(value)?),
            "smpi/host-speed" => self.speed = Some(quantity(value)?),
            "smpi/coll-selector" => self.library = Some(library(value)?),
            "network/bandwidth-factor" => {
                let found = factors(value)?;
                if found.pairs().iter().any(|(_, factor)| *factor <= 0.0) {
                    return Err("a factor of 0 lets nothing through".to_owned());
                }
                parameters.bandwidth_factors = found;
            }
            "network/latency-factor" => parameters.latency_factors = factors(value)?,
            "network/weight-S" => parameters.weight = number(value)?,
            "network/TCP-gamma" => parameters.window = number(value)?,
            "network/crosstraffic" => parameters.cross_traffic = switch(value)?,
            "network/loopback-bw" => {
                let found = Some(quantity(value)?).filter(|bandwidth| *bandwidth > 0.0);
                self.loopback.0 = Some(found.ok_or("a bandwidth of 0 lets nothing through")?);
            }
            "network/loopback-lat" => self.loopback.1 = Some(quantity(value)?),
            _ => self.model(value)?,
        }
        Ok(())
    }

    /// The parameters of SimGrid's network models.
    fn model(&mut self, name: &str) -> Result<(), String> {
        let one = |factor| Factors::new(vec![(0, factor)]);
        let (bandwidth, latency, weight) = match name {
            "SMPI" => {
                let usual = Parameters::default();
                (usual.bandwidth_factors, usual.latency_factors, usual.weight)
            }
            "LV08" => (one(0.97), one(13.01), 20_537.0),
            "CM02" => (one(1.0), one(1.0), 0.0),
            _ => return Err(format!("expected SMPI, LV08 or CM02, found `{name}`")),
        };
        let parameters = &mut self.parameters;
        (parameters.bandwidth_factors, parameters.latency_factors) = (bandwidth, latency);
        parameters.weight = weight;
        Ok(())
    }
}

/// The names under which the choices of SMPI stand among the algorithms, each with SMPI's own name.
/// Those of Open MPI and MPICH are not what the libraries choose.
const CHOICES: [(&str, &str); 5] = [
    ("default", "default"),
    ("ompi", "smpi_ompi"),
    ("mpich", "smpi_mpich"),
    ("mvapich2", "mvapich2"),
    ("impi", "impi"),
];

fn choice(name: &str) -> Option<&'static str> {
    CHOICES.iter().find(|(theirs, _)| *theirs == name).map(|(_, own)| *own)
}

fn library(name: &str) -> Result<&'static str, String> {
    let known = CHOICES.map(|(name, _)| name);
    choice(name).ok_or_else(|| format!("expected one of {}, found `{name}`", known.join(", ")))
}

/// The beginnings of the names of items that do not change what SimGrid's replay computes.
const HARMLESS: [&str; 29] = [
    "bmf/",
    "clean-atexit",
    "contexts/",
    "cpu/optim",
    "cpu/solver",
    "debug/",
    "exception/",
    "help",
    "host/solver",
    "log",
    "maxmin/",
    "network/optim",
    "network/solver",
    "path",
    "precision/",
    "smpi/auto-shared-malloc-thresh",
    "smpi/display",
    "smpi/errors-are-fatal",
    "smpi/keep-temps",
    "smpi/list-leaks",
    "smpi/papi-events",
    "smpi/pedantic",
    "smpi/privatiz",
    "smpi/shared-malloc",
    "smpi/tmpdir",
    "smpi/trace-call",
    "surf/precision",
    "tracing",
    "verbose-exit",
];

/// Why an item has no place here.
fn reason(name: &str) -> &'static str {
    let starts = |prefix| name.starts_with(prefix);
    match name {
        _ if starts("surf/precision") || starts("precision/") || starts("maxmin/") => {
            "time is exact to the picosecond, and shares up to rounding"
        }
        "network/optim" | "network/solver" | "cpu/optim" | "host/solver" => {
            "there is one solver, with one result"
        }
        _ if starts("tracing") => "tables and timelines are those of [output]",
        _ if HARMLESS.iter().any(|prefix| starts(prefix)) => {
            "it sets how SimGrid runs, not what it computes"
        }
        _ if starts("smpi/IB-penalty") => {
            "the model IB is not there; the model infiniband has switches"
        }
        _ if starts("smpi/") => "it is no part of point to point, collectives, or a replay",
        _ => "it means nothing to the model flow",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_units_of_simgrid() {
        for (text, value) in [
            ("1.5", 1.5),
            ("8.9e-6", 8.9e-6),
            ("10us", 1e-5),
            ("1Gf", 1e9),
            ("1Gbps", 1.25e8),
            ("2GiBps", 2_147_483_648.0),
            ("3kBps", 3000.0),
            ("1Gflop/s", 1e9),
        ] {
            let found = quantity(text).unwrap();
            assert!((found - value).abs() <= 1e-12 * value, "{text}: {found}");
        }
        for text in ["", "-1", "1 parsec", "us"] {
            assert!(quantity(text).is_err(), "{text}");
        }
    }

    #[test]
    fn items_change_what_they_name() {
        let mut items = Items::default();
        items.apply("smpi/os:0:8.9e-6:7.8e-10;1000:2e-6").unwrap();
        // 1000 bytes belong to the piece above 0: 8.9 us + 1000 · 0.78 ns.
        assert_eq!(items.protocol.send.cost(1000), Time::from_ps(9_680_000));
        assert_eq!(items.protocol.send.cost(1001), Time::from_ps(2_000_000));
        assert_eq!(items.protocol.send.cost(0), Time::from_ps(8_900_000));
        items.apply("smpi/bw-factor:100:0.5").unwrap();
        let factors = &items.parameters.bandwidth_factors;
        assert_eq!((factors.of(100), factors.of(101)), (1.0, 0.5));
        items.apply("smpi/alltoall:ring").unwrap();
        items.apply("smpi/alltoall:bruck").unwrap();
        items.apply("smpi/bcast:ompi").unwrap();
        let chosen = [(Collective::Alltoall, "bruck"), (Collective::Bcast, "smpi_ompi")];
        assert_eq!(items.algorithms, chosen);
        items.apply("smpi/coll-selector:mpich").unwrap();
        assert_eq!(items.library, Some("smpi_mpich"));
        assert!(items.apply("smpi/coll-selector:lam").unwrap_err().0.contains("ompi, mpich"));
        assert!(items.apply("smpi/bcast:binomal").unwrap_err().0.contains("\"binomial\""));
        let (message, help) = items.apply("network/crosstrafic:no").unwrap_err();
        assert!(message.contains("network/crosstrafic") && help.contains("network/crosstraffic"));
        let warning = items.apply("network/optim:Full").unwrap();
        assert!(warning.is_some_and(|warning| warning.contains("one solver")));
        for nothing in ["smpi/bw-factor:0", "smpi/bw-factor:0:1;9:0", "network/loopback-bw:0"] {
            assert!(items.apply(nothing).unwrap_err().0.contains("lets nothing through"));
        }
    }
}
