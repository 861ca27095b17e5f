//! The traffic of a configuration: who sends to whom, when, how much and for how long.

use topology::Topology;
use traffic::{Arrivals, Destinations, Lengths, Misfit, OnOff, Pattern, Settings, Settling, Span};
use units::Time;

use super::{
    file,
    network::{CYCLE, FLIT},
    values::Values,
};
use crate::settings::diagnostic::Diagnostic;

type Mistakes = Vec<Diagnostic>;

/// The sizes of packets, in flits, with their weights.
pub(super) fn sizes(values: &Values) -> Result<Vec<(u32, f64)>, Diagnostic> {
    const MOST: u32 = 65_535;
    let flits = |text: &str| {
        text.parse().ok().filter(|size| (1..=MOST).contains(size)).ok_or_else(|| {
            let message = format!("expected flits from 1 to {MOST}, found `{text}`");
            values.wrong("packet_size", message)
        })
    };
    // An outer list is by class, of which there is one.
    let sizes = file::list(values.text("packet_size"));
    let sizes: Vec<u32> = sizes.into_iter().map(flits).collect::<Result<_, _>>()?;
    let rate = |text: &str| {
        let rate = text.parse().ok().filter(|rate: &f64| *rate > 0.0 && rate.is_finite());
        let message = || format!("expected a number above 0, found `{text}`");
        rate.ok_or_else(|| values.wrong("packet_size_rate", message()))
    };
    let rates = file::list(values.text("packet_size_rate"));
    let mut rates: Vec<f64> = rates.into_iter().map(rate).collect::<Result<_, _>>()?;
    if rates.len() > sizes.len() {
        let message = format!("{} rates for {} sizes of packets", rates.len(), sizes.len());
        return Err(values.wrong("packet_size_rate", message));
    }
    let last = rates.last().copied().unwrap_or(1.0);
    rates.resize(sizes.len(), last);
    Ok(sizes.into_iter().zip(rates).collect())
}

/// The settings of the measurement on hosts of a topology.
pub(super) fn settings(
    values: &Values,
    topology: &Topology,
    places: &[u32],
    sizes: &[(u32, f64)],
) -> Result<Settings, Mistakes> {
    let one = |wrong: Diagnostic| vec![wrong];
    let destinations = destinations(values, topology, places).map_err(one)?;
    let weight: f64 = sizes.iter().map(|size| size.1).sum();
    let mean = sizes.iter().map(|&(flits, rate)| f64::from(flits) * rate).sum::<f64>() / weight;
    let rate = values.number("injection_rate", 0.0, 1.0).map_err(one)?;
    let in_flits = values.word("injection_rate_uses_flits", &[("0", false), ("1", true)]);
    let packets = if in_flits.map_err(one)? { rate / mean } else { rate };
    let load = packets * mean;
    if !(load > 0.0 && load <= 1.0) {
        let message =
            format!("{load} flits per node and cycle: expected more than 0 and at most 1");
        return Err(vec![values.wrong("injection_rate", message)]);
    }
    let bytes = |flits: u32| u64::from(flits * FLIT);
    let lengths = match sizes {
        [(flits, _)] => Lengths::Fixed(bytes(*flits)),
        _ => Lengths::Listed(sizes.iter().map(|&(flits, rate)| (bytes(flits), rate)).collect()),
    };
    let period: u64 = values.number("sample_period", 8, 1 << 40).map_err(one)?;
    Ok(Settings {
        arrivals: arrivals(values, packets).map_err(one)?,
        lengths,
        span: Span::Settling(settling(values)?),
        batch: Some(Time::from_ps(period.saturating_mul(CYCLE))),
        seed: seed(values).map_err(one)?,
        ..Settings::new(destinations, load)
    })
}

/// The seed of all random numbers.
pub(super) fn seed(values: &Values) -> Result<u64, Diagnostic> {
    if values.text("seed") == "time" {
        let message = "a run of Heddle's can be repeated: give a number";
        return Err(values.wrong("seed", message));
    }
    values.number("seed", 0, u64::MAX)
}

fn settling(values: &Values) -> Result<Settling, Mistakes> {
    let mut wrong = Vec::new();
    let mut number = |name: &str| {
        values.number(name, -1e18, 1e18).map_err(|found| wrong.push(found)).unwrap_or(0.0)
    };
    // A negative threshold is none.
    let threshold = |value: f64| if value < 0.0 { f64::INFINITY } else { value };
    let [latency, accepted] =
        [["warmup_thres", "stopping_thres"], ["acc_warmup_thres", "acc_stopping_thres"]]
            .map(|names| names.map(|name| threshold(number(name))));
    let limit = number("latency_thres");
    let measures_latency = values
        .word("sim_type", &[("latency", true), ("throughput", false)])
        .map_err(|found| wrong.push(found))
        .unwrap_or_default();
    let mut count = |name: &str, least: u32| {
        values.number(name, least, 1 << 20).map_err(|found| wrong.push(found)).unwrap_or(least)
    };
    let (warm_up, most) = (count("warmup_periods", 0), count("max_samples", 1));
    let rule = Settling {
        warm_up,
        most,
        latency: measures_latency.then_some(latency),
        accepted,
        limit: (measures_latency && limit >= 0.0).then_some(limit * CYCLE as f64),
    };
    if wrong.is_empty() { Ok(rule) } else { Err(wrong) }
}

/// The process of injection: `bernoulli`, or `on_off` with alpha, beta and r1, of which one follows
/// from the rate in packets and the other two.
fn arrivals(values: &Values, rate: f64) -> Result<Arrivals, Diagnostic> {
    const KEY: &str = "injection_process";
    let (word, given) = file::call(values.text(KEY));
    let on_off = values.word_of(KEY, word, &[("bernoulli", false), ("on_off", true)])?;
    if !on_off {
        return if given.is_empty() {
            Ok(Arrivals::Bernoulli)
        } else {
            Err(values.wrong(KEY, "bernoulli has no parameters"))
        };
    }
    if given.len() > 3 {
        return Err(values.wrong(KEY, "on_off has the parameters alpha, beta and r1"));
    }
    let part = |index: usize, name: &str| match given.get(index) {
        None => values.number(name, -1.0, 1.0),
        Some(text) => {
            let number = text.parse().ok().filter(|number| (-1.0..=1.0).contains(number));
            let message = || format!("expected a number from -1 to 1, found `{text}`");
            number.ok_or_else(|| values.wrong(KEY, message()))
        }
    };
    let (on, off, made) = (part(0, "burst_alpha")?, part(1, "burst_beta")?, part(2, "burst_r1")?);
    let process = match (on < 0.0, off < 0.0, made < 0.0) {
        (true, false, false) => OnOff { on: off * rate / (made - rate), off, rate: made },
        (false, true, false) => OnOff { on, off: on * (made - rate) / rate, rate: made },
        (false, false, true) => OnOff { on, off, rate: rate * (on + off) / on },
        _ => {
            let message = "exactly one of alpha, beta and r1 must be negative: it follows from the \
                           others and the rate";
            return Err(values.wrong(KEY, message));
        }
    };
    let OnOff { on, off, rate: made } = process;
    if [on, off, made].iter().all(|chance| (0.0..=1.0).contains(chance)) {
        return Ok(Arrivals::OnOff(process));
    }
    let message = format!(
        "no source that is on or off makes {rate} packets a cycle with alpha = {on}, beta = {off} \
         and r1 = {made}"
    );
    Err(values.wrong(KEY, message))
}

/// The numbers that patterns of digits need: nodes in a row, and dimensions.
struct Digits {
    row: u32,
    dimensions: u32,
}

fn digits(values: &Values, given: &[&str]) -> Result<Digits, Diagnostic> {
    let number = |index: usize, name: &str| match given.get(index) {
        None => values.number(name, 1, 1 << 16),
        Some(text) => text.parse().map_err(|_| {
            values.wrong("traffic", format!("expected a whole number, found `{text}`"))
        }),
    };
    let (radix, dimensions, wide) = (number(0, "k")?, number(1, "n")?, number(2, "xr")?);
    Ok(Digits { row: u32::saturating_mul(radix, wide).max(1), dimensions })
}

impl Digits {
    /// Every node to the one that lies a shift further in each dimension.
    fn shifted(&self, nodes: u32, shift: u32) -> Vec<(u32, u32)> {
        let to = |node: u32| {
            let (mut offset, mut to) = (1_u64, 0);
            for _ in 0..self.dimensions {
                if offset > u64::from(nodes) {
                    break;
                }
                let digit = u64::from(node) / offset % u64::from(self.row);
                to += offset * ((digit + u64::from(shift)) % u64::from(self.row));
                offset *= u64::from(self.row);
            }
            to as u32
        };
        (0..nodes).map(|node| (node, to(node))).filter(|(from, to)| from != to).collect()
    }
}

const PATTERNS: &[(&str, &str)] = &[
    ("uniform", "uniform-with-self"),
    ("bitcomp", "bit-complement"),
    ("transpose", "transpose"),
    ("bitrev", "bit-reversal"),
    ("shuffle", "shuffle"),
    ("diagonal", "diagonal"),
    ("asymmetric", "asymmetric"),
    ("taper64", "taper64"),
    ("bad_dragon", "next-group"),
    ("badperm_yarc", "columns"),
    ("randperm", ""),
    ("tornado", ""),
    ("neighbor", ""),
    ("hotspot", ""),
    ("background", ""),
];

fn destinations(
    values: &Values,
    topology: &Topology,
    places: &[u32],
) -> Result<Destinations, Diagnostic> {
    let (word, given) = file::call(values.text("traffic"));
    let ours = values.word_of("traffic", word, PATTERNS)?;
    let nodes = places.len() as u32;
    let misfit = |misfit: Misfit| values.wrong("traffic", misfit.to_string());
    let most = match word {
        "hotspot" => 2,
        "tornado" | "neighbor" => 3,
        "randperm" | "background" => 1,
        _ => 0,
    };
    if given.len() > most {
        let message = format!("{word} has at most {most} parameters here");
        return Err(values.wrong("traffic", message));
    }
    fits(values, word, nodes)?;
    let pattern = match word {
        "randperm" => {
            let seed = match given.first() {
                None => values.number("perm_seed", 0, u64::MAX)?,
                Some(text) => text.parse().map_err(|_| {
                    values.wrong("traffic", format!("expected a seed, found `{text}`"))
                })?,
            };
            Pattern::RandomPermutation { seed }
        }
        "tornado" | "neighbor" => {
            let digits = digits(values, &given)?;
            let shift = if word == "tornado" { digits.row.div_ceil(2) - 1 } else { 1 };
            let flows = digits.shifted(nodes, shift);
            if flows.iter().any(|&(_, to)| to >= nodes) {
                let Digits { row, dimensions } = digits;
                let message = format!(
                    "{word} shifts nodes in rows of {row} and {dimensions} dimensions, which \
                     {nodes} nodes do not fill"
                );
                let help = format!("{word}(K,N) says others than the keys k and n");
                return Err(values.wrong("traffic", message).help(help));
            }
            Pattern::Flows(flows)
        }
        "hotspot" => hot_spots(values, &given, nodes)?,
        "background" => {
            let excluded = numbers(values, NODE, given.first().copied().unwrap_or_default())?;
            let others = (0..nodes).filter(|node| !excluded.contains(node));
            Pattern::Weighted(others.map(|node| (node, 1)).collect())
        }
        _ => Pattern::named(ours).map_err(misfit)?,
    };
    pattern.placed_with_senders(topology, places).map_err(misfit)
}

/// Refuses patterns that follow from the numbers of another network than the one that is there.
fn fits(values: &Values, word: &str, nodes: u32) -> Result<(), Diagnostic> {
    if word == "bad_dragon" && values.text("topology") != "dragonflynew" {
        return Err(values.wrong("traffic", "bad_dragon sends to groups of a dragonflynew"));
    }
    let row = digits(values, &[])?.row;
    if word == "badperm_yarc" && u64::from(row).pow(2) != u64::from(nodes) {
        let message =
            format!("badperm_yarc needs rows and columns of {row} nodes, found {nodes} nodes");
        return Err(values.wrong("traffic", message));
    }
    Ok(())
}

/// A number of the list that patterns have.
const NODE: &str = "a number of a node";

fn numbers(values: &Values, what: &str, text: &str) -> Result<Vec<u32>, Diagnostic> {
    let number = |text: &str| {
        text.parse()
            .map_err(|_| values.wrong("traffic", format!("expected {what}, found `{text}`")))
    };
    file::list(text).into_iter().map(number).collect()
}

/// All traffic to some nodes, in proportion to their rates.
fn hot_spots(values: &Values, given: &[&str], nodes: u32) -> Result<Pattern, Diagnostic> {
    let spots = match given.first() {
        Some(text) => numbers(values, NODE, text)?,
        // BookSim draws one; a run of Heddle's can be repeated.
        None => vec![nodes / 2],
    };
    let mut rates = match given.get(1) {
        Some(text) => numbers(values, "a whole number as a rate", text)?,
        None => vec![1],
    };
    let last = rates.last().copied().unwrap_or(1);
    rates.resize(spots.len(), last);
    Ok(Pattern::Weighted(spots.into_iter().zip(rates).collect()))
}
