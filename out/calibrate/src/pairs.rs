//! Pairs among many hosts: the parameters of each, and the classes of pairs that are equal.
//!
//! Each pair is estimated by itself, from round trips between its hosts in either direction. A
//! class is estimated once more, from the samples of its middle pairs together, as one
//! interconnect.

mod classes;
mod output;

use std::collections::BTreeMap;

use crate::{
    estimate::{Calibration, Estimate, Options, fit, fit_set},
    samples::{Operation, Sample},
};

/// The parameters by which pairs are told apart.
pub const TOLD_APART: [&str; 2] = ["L", "G"];

/// Replicates of the intervals of single pairs: enough for intervals, and there may be many pairs.
const REPLICATES: u32 = 200;

/// A class is estimated from at most so many pairs, those with the middle L.
const MIDDLE: usize = 16;

/// Replicates where only the order of L counts.
const FEW: u32 = 50;

/// The operations that are single calls.
const CALLS: [Operation; 4] =
    [Operation::Send, Operation::Isend, Operation::Receive, Operation::ReceiveBusy];

/// A pair of hosts.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The places of its hosts in [`Pairs::hosts`], the smaller first.
    pub hosts: [usize; 2],
    /// The parameters.
    pub fitted: Calibration,
    /// The place of its class; none if L or G was refused.
    pub class: Option<usize>,
}

/// Pairs whose L and G are equal as far as the samples tell.
#[derive(Clone, Debug)]
pub struct Class {
    /// The name, of the letter c and the number of the class from 1 on, in the order of L.
    pub name: String,
    /// The places of its pairs.
    pub pairs: Vec<usize>,
    /// The parameters of its middle pairs together.
    pub fitted: Calibration,
}

/// The pairs of a set of samples.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The names of the hosts. Where all names begin with the number of a rank, `3:node`, hosts
    /// have these places; otherwise they stand in the order of the samples.
    pub hosts: Vec<String>,
    /// The pairs, in the order of their hosts.
    pub pairs: Vec<Pair>,
    /// The classes, in the order of L.
    pub classes: Vec<Class>,
    /// The place of the class that has the pair with the median L; none without classes.
    pub median: Option<usize>,
    /// The calls of the median class, if some pairs have such samples and others have none.
    pub calls: Option<Box<Calls>>,
}

/// The costs of calls between some pairs of a class.
#[derive(Clone, Debug)]
pub struct Calls {
    /// The places of these pairs; none if only pairs of other classes have such samples.
    pub pairs: Vec<usize>,
    /// All that the samples of these pairs say.
    pub fitted: Calibration,
}

impl Pairs {
    /// Returns the median class.
    pub fn median(&self) -> Option<&Class> {
        self.classes.get(self.median?)
    }
}

/// Returns whether samples are of more than one pair of hosts.
pub fn are_several(samples: &[Sample]) -> bool {
    let mut pairs = samples.iter().filter_map(|sample| sample.pair.as_ref());
    let Some((one, other)) = pairs.next() else { return false };
    pairs.any(|pair| *pair != (one.clone(), other.clone()) && *pair != (other.clone(), one.clone()))
}

/// Returns the samples of each pair, by the places of its hosts.
fn by_pair(samples: &[Sample], hosts: &[String]) -> BTreeMap<[usize; 2], Vec<Sample>> {
    let places: BTreeMap<&str, usize> =
        hosts.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let mut by_pair: BTreeMap<[usize; 2], Vec<Sample>> = BTreeMap::new();
    for sample in samples {
        let Some((source, destination)) = &sample.pair else { continue };
        let (one, other) = (places[source.as_str()], places[destination.as_str()]);
        by_pair.entry([one.min(other), one.max(other)]).or_default().push(sample.clone());
    }
    by_pair
}

fn is_call(sample: &Sample) -> bool {
    CALLS.contains(&sample.operation)
}

/// Returns the hosts of the pair with the median L, or of the only one.
pub fn median_pair(samples: &[Sample]) -> Option<[String; 2]> {
    let hosts = hosts(samples);
    let by_pair = by_pair(samples, &hosts);
    let mut found = by_pair.keys().copied().next()?;
    if by_pair.len() > 1 {
        let few = Options { replicates: FEW };
        let pair = |(hosts, own): (&[usize; 2], &Vec<Sample>)| Pair {
            hosts: *hosts,
            fitted: fit(own, &few),
            class: None,
        };
        let pairs: Vec<Pair> = by_pair.iter().map(pair).collect();
        found = pairs[middle(&pairs)?].hosts;
    }
    Some(found.map(|place| hosts[place].clone()))
}

/// Returns the place of the pair with the median L.
fn middle(pairs: &[Pair]) -> Option<usize> {
    let known = ascending(&(0..pairs.len()).collect::<Vec<_>>(), pairs);
    known.get(known.len().saturating_sub(1) / 2).copied()
}

/// Estimates each pair of hosts and the classes of equal pairs. Samples without hosts are left out.
/// Samples of calls say nothing of classes if not all pairs have them: both sides are taken to be
/// alike in all pairs.
pub fn fit_pairs(samples: &[Sample], options: &Options) -> Pairs {
    let hosts = hosts(samples);
    let whole = by_pair(samples, &hosts);
    let all_call = whole.values().all(|own| own.iter().any(is_call));
    let mut by_pair = whole.clone();
    if !all_call {
        for own in by_pair.values_mut() {
            own.retain(|sample| !is_call(sample));
        }
    }
    let few = Options { replicates: options.replicates.min(REPLICATES) };
    let mut pairs: Vec<Pair> = by_pair
        .iter()
        .map(|(hosts, own)| Pair { hosts: *hosts, fitted: fit(own, &few), class: None })
        .collect();
    let values: Vec<Option<[Estimate; 2]>> =
        pairs.iter().map(|pair| told_apart(&pair.fitted)).collect();
    let found = classes::find(&values);
    let all: Vec<&Vec<Sample>> = by_pair.values().collect();
    let mut classes = Vec::with_capacity(found.len());
    for (place, members) in found.into_iter().enumerate() {
        for &member in &members {
            pairs[member].class = Some(place);
        }
        // Pairs of different classes have different samples, whose noise is independent.
        let own = together(&ascending(&members, &pairs), &all);
        let fitted = fit_set(&own, place as u32, *options);
        classes.push(Class { name: format!("c{}", place + 1), pairs: members, fitted });
    }
    let median = middle(&pairs).and_then(|pair| pairs[pair].class);
    let whole: Vec<&Vec<Sample>> = whole.values().collect();
    let some_call = whole.iter().any(|own| own.iter().any(is_call));
    let calls = median.filter(|_| some_call && !all_call).map(|median| {
        let mut members = ascending(&classes[median].pairs, &pairs);
        members.retain(|&pair| whole[pair].iter().any(is_call));
        let own = together(&members, &whole);
        let fitted = if own.is_empty() { Calibration::default() } else { fit(&own, options) };
        Box::new(Calls { pairs: members, fitted })
    });
    Pairs { hosts, pairs, classes, median, calls }
}

/// Returns the names of all hosts by place.
fn hosts(samples: &[Sample]) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let named = samples.iter().filter_map(|sample| sample.pair.as_ref());
    for name in named.flat_map(|(source, destination)| [source, destination]) {
        let next = seen.len();
        seen.entry(name).or_insert(next);
    }
    let number = |name: &str| name.split_once(':')?.0.parse::<usize>().ok();
    let numbers: BTreeMap<usize, &String> =
        seen.keys().filter_map(|name| Some((number(name)?, *name))).collect();
    // Numbers far beyond those of the hosts that are there are no places.
    let last = numbers.keys().next_back().copied().unwrap_or(0);
    if numbers.len() == seen.len() && last < 100 * seen.len() {
        let name = |place| numbers.get(&place).map_or_else(String::new, |name| (*name).clone());
        return (0..=last).map(name).collect();
    }
    let mut names: Vec<(usize, &String)> =
        seen.into_iter().map(|(name, place)| (place, name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name.clone()).collect()
}

/// Returns L and G of a pair, if both are known.
fn told_apart(fitted: &Calibration) -> Option<[Estimate; 2]> {
    let [latency, per_byte] = TOLD_APART.map(|name| fitted.parameters.get(name).copied());
    Some([latency?, per_byte?])
}

/// Returns those of some pairs whose L is known, in its order.
fn ascending(members: &[usize], pairs: &[Pair]) -> Vec<usize> {
    let known = |&pair: &usize| Some((told_apart(&pairs[pair].fitted)?[0].value, pair));
    let mut all: Vec<(f64, usize)> = members.iter().filter_map(known).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    all.into_iter().map(|(_, pair)| pair).collect()
}

/// Returns the samples of the middle ones of some pairs in the order of L, as samples of one
/// interconnect: a run of each pair is a run of its own, so that what differs from pair to pair is
/// in the intervals.
fn together(ascending: &[usize], samples: &[&Vec<Sample>]) -> Vec<Sample> {
    let from = ascending.len().saturating_sub(MIDDLE) / 2;
    let middle = &ascending[from..(from + MIDDLE).min(ascending.len())];
    let count = middle.len() as u32;
    let renamed = |(number, &pair): (usize, &usize)| {
        let rename = move |sample: &Sample| {
            let run = sample.run.saturating_mul(count).saturating_add(number as u32);
            Sample { run, ..sample.clone() }
        };
        samples[pair].iter().map(rename)
    };
    middle.iter().enumerate().flat_map(renamed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    /// Round trips between two hosts with L = `latency` and o = 1 us, G = 1 ns/B and g = 2 us, each
    /// longer by some thousandths.
    fn pair(hosts: [&str; 2], latency: f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        let [source, destination] = hosts.map(str::to_owned);
        for step in 0..12_u64 {
            let bytes = 1 + 2000 * step;
            let rest = (bytes - 1) as f64;
            let delay = 2.0 * (2000.0 + 24_000.0);
            for (messages, delay) in [(1, 0.0), (16, 0.0), (16, delay)] {
                let further = f64::max(1000.0 + delay, 2000.0 + rest);
                let trip = 2.0 * (2000.0 + latency + rest);
                let time = trip + f64::from(messages - 1) * further;
                for repetition in 0..8 {
                    let late = 1.0 + 1e-4 * f64::from((repetition * 7 + step as u32 * 3) % 5);
                    samples.push(Sample {
                        messages,
                        delay,
                        run: repetition / 4,
                        pair: Some((source.clone(), destination.clone())),
                        ..Sample::simple(Operation::RoundTrip, bytes, repetition % 4, time * late)
                    });
                }
            }
        }
        samples
    }

    fn correlation(one: &[f64], other: &[f64]) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let product = |one: &[f64], other: &[f64]| {
            let (of_one, of_other) = (mean(one), mean(other));
            one.iter().zip(other).map(|(a, b)| (a - of_one) * (b - of_other)).sum::<f64>()
        };
        product(one, other) / (product(one, one) * product(other, other)).sqrt()
    }

    /// Two hosts in each of two racks: 5 us within, 20 us between them. The four pairs between
    /// racks are the median class.
    fn racks() -> Vec<Sample> {
        let rack = |host: usize| host / 2;
        let all = (0..4).flat_map(|one| (one + 1..4).map(move |other| [one, other]));
        let of = |pair_of: [usize; 2]| {
            let near = rack(pair_of[0]) == rack(pair_of[1]);
            pair(pair_of.map(|host| NAMES[host]), if near { 5000.0 } else { 20_000.0 })
        };
        // The order of samples says nothing of places.
        let mut samples: Vec<Sample> = all.flat_map(of).collect();
        samples.reverse();
        samples
    }

    const NAMES: [&str; 4] = ["0:a", "1:a", "2:b", "3:b"];

    #[test]
    fn two_classes() {
        let (names, samples) = (NAMES, racks());
        assert!(are_several(&samples));
        let found = fit_pairs(&samples, &Options { replicates: 200 });
        assert_eq!(found.hosts, names);
        let members = |class: &Class| {
            class.pairs.iter().map(|&pair| found.pairs[pair].hosts).collect::<Vec<_>>()
        };
        let [near, far] = &found.classes[..] else { panic!("{:?}", found.classes) };
        assert_eq!((near.name.as_str(), members(near)), ("c1", vec![[0, 1], [2, 3]]));
        assert_eq!(members(far), [[0, 2], [0, 3], [1, 2], [1, 3]]);
        assert_eq!(found.median().map(|class| class.name.as_str()), Some("c2"));
        let file = found.file();
        assert!(file.starts_with("source,destination,class\n0,1,c1\n0,2,c2\n"), "{file}");
        let machine = found.machine(&crate::Provenance::default(), "m.pairs.csv");
        assert!(machine.contains("\n# pairs = \"m.pairs.csv\"\n"), "{machine}");
        assert!(machine.contains("\n# 2 of 6 pairs.\n[loggops.class.c1]\nL = \""), "{machine}");
        assert!(machine.contains("\n[calibration.loggops.class.c1.L]\nlow = \""), "{machine}");
        // Replicates of [loggops] are those of the median class. Those of the other are independent
        // of them: of 200, the correlation is between -0.3 and 0.3 in all but one of 50000 cases.
        let table = found.replicates_table();
        let names: Vec<&str> = table.lines().next().unwrap_or_default().split(',').collect();
        let column = |name: &str| -> Vec<f64> {
            let place = names.iter().position(|found| *found == name).expect("a column");
            let cell = |line: &str| line.split(',').nth(place)?.parse().ok();
            table.lines().skip(1).filter_map(cell).collect()
        };
        assert_eq!(column("loggops.L"), column("loggops.class.c2.L"));
        let (one, other) = (column("loggops.class.c1.L"), column("loggops.class.c2.L"));
        assert!(one.len() > 190 && correlation(&one, &other).abs() < 0.3, "{one:?} {other:?}");
        let json = found.json();
        assert_eq!(json["matrix"]["L"][0][1], json["matrix"]["L"][1][0]);
        assert!(json["matrix"]["L"][2][2].is_null() && json["parameters"]["L"].is_object());
        assert_eq!(json["classes"][1]["pairs"][0], serde_json::json!([0, 2]));
        assert!(found.table().contains("\nc2"), "{}", found.table());
        for (class, truth) in [(near, 5000.0), (far, 20_000.0)] {
            let latency = class.fitted.parameters["L"];
            assert!((latency.value / truth - 1.0).abs() < 0.01, "{latency:?}");
        }
    }

    /// Sends and receives of 700 ns + 0.1 ns/B between two hosts.
    fn calls(hosts: [&str; 2]) -> Vec<Sample> {
        let call = |operation: &Operation, place: u32| {
            let bytes = 1 + 1000 * u64::from(place / 8);
            let time = (700.0 + 0.1 * bytes as f64) * (1.0 + 1e-4 * f64::from(place * 7 % 5));
            let [source, destination] = hosts.map(str::to_owned);
            let pair = Some((source, destination));
            Sample { run: 2, pair, ..Sample::simple(operation.clone(), bytes, place % 8, time) }
        };
        let all = [Operation::Send, Operation::Receive];
        all.iter().flat_map(|operation| (0..96).map(move |place| call(operation, place))).collect()
    }

    /// Calls of a pair of the median class are its costs in the model of flows, and change nothing
    /// else: 22 us + 1 ns/B one way, without 1.4 us + 0.2 ns/B for calls and with 16 bytes of an
    /// envelope, are 20.6 us - 1 ns - 0.8 · 16 ns + 0.8 ns/B. Those of another class are left out.
    #[test]
    fn calls_of_a_pair_are_those_of_flows() {
        let options = Options { replicates: 100 };
        let plain = fit_pairs(&racks(), &options);
        let machine = |found: &Pairs| found.machine(&crate::Provenance::default(), "m.pairs.csv");
        assert!(!machine(&plain).contains("[flow]"));
        let [one, other] = median_pair(&racks()).expect("a pair");
        assert_ne!(one.split_once(':').unwrap().1, other.split_once(':').unwrap().1);
        let found = fit_pairs(&[racks(), calls(["0:a", "2:b"])].concat(), &options);
        let text = machine(&found);
        let head = "[flow]\n# This is of the class c2, measured between 0:a and 2:b.\n";
        assert!(text.contains(head), "{text}");
        let without = text.split("\n[flow]").next().unwrap_or_default();
        assert!(machine(&plain).starts_with(without), "{text}");
        let number = |before: &str, after: &str| -> f64 {
            let rest = text.split_once(before).expect(before).1;
            rest.split_once(after).expect(after).0.parse().expect("a number")
        };
        for key in ["os", "or"] {
            assert!((number(&format!("\n{key} = \"0B:"), "ns:") / 700.0 - 1.0).abs() < 0.01);
        }
        let latency = number("route with a latency of ", " ns");
        assert!((latency / 20_586.2 - 1.0).abs() < 0.01, "{latency}");
        let bandwidth = number("a bandwidth of ", " GB/s");
        assert!((bandwidth * 0.8 - 1.0).abs() < 0.01, "{bandwidth}");
        assert!(found.json()["segments"]["send"].is_array());
        let near = fit_pairs(&[racks(), calls(["2:b", "3:b"])].concat(), &options);
        let text = machine(&near);
        assert!(text.contains("were timed between no pair of the class c2.\n"), "{text}");
        assert!(!text.contains("[flow]"), "{text}");
    }

    /// Both directions of a pair are one, and names without numbers have the order of the samples.
    #[test]
    fn one_pair_is_none_of_several() {
        let samples = [pair(["x", "b"], 5000.0), pair(["b", "x"], 5000.0)].concat();
        assert!(!are_several(&samples));
        assert_eq!(hosts(&samples), ["x", "b"]);
        let found = fit_pairs(&samples, &Options { replicates: 100 });
        assert_eq!((found.pairs.len(), found.classes.len(), found.median), (1, 1, Some(0)));
    }
}
