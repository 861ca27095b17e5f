//! The costs of messages and calls over flows: the tables `[flow]` and `[host]`, SimGrid's items,
//! and what a platform says of them.

use std::collections::BTreeMap;

use ::flow::{Contention, Factors};
use host::{Piece, Pieces, Protocols};
use platform::Platform;
use units::{Bandwidth, Bytes, Time, TimePerByte};

use super::items::{Items, quantity};
use crate::settings::{
    configuration::Configuration,
    diagnostic::{Diagnostic, Place},
    keys::{self, Setting},
};

type Mistakes = Vec<Diagnostic>;

/// A speed in operations per second.
pub(super) fn speed(
    configuration: &Configuration,
    key: Setting<String>,
) -> Result<Option<f64>, Mistakes> {
    let Some(text) = configuration.value(key) else { return Ok(None) };
    let text = text.replace(' ', "");
    let known = text.ends_with("flop/s") || text.ends_with("flops") || text.ends_with('f');
    let found = quantity(&text).ok().filter(|speed| known && *speed > 0.0);
    let message = || format!("expected a speed such as `10 Gflop/s`, found `{text}`");
    found.map(Some).ok_or_else(|| vec![configuration.mistake(key, message())])
}

/// Configuration items in the platform's file.
pub(super) fn of_platform(
    configuration: &Configuration,
    platform: &Platform,
    items: &mut Items,
    warnings: &mut Vec<String>,
) -> Mistakes {
    let file = configuration.platform();
    let name = file.as_ref().map_or_else(String::new, |file| format!("{}: ", file.display()));
    let inside = platform.properties.iter().filter(|property| property.zone.is_none());
    inside
        .filter_map(|property| {
            let (line, column) = property.place;
            if property.name == "network/model" {
                // The launcher sets the model, which comes before what the file says.
                warnings.push(format!(
                    "{name}line {line}: the platform's network/model has no effect: smpirun sets \
                     SMPI; give the model as an item of the run"
                ));
                return None;
            }
            let item = format!("{}:{}", property.name, property.value);
            let (message, help) = match items.apply(&item) {
                Ok(warning) => {
                    warnings.extend(warning.map(|text| format!("{name}line {line}: {text}")));
                    return None;
                }
                Err(wrong) => wrong,
            };
            let place = match &file {
                Some(file) => Place::File(file.clone()),
                None => configuration.place(keys::network::TOPOLOGY),
            };
            let message = format!("line {line}, column {column}: {message}");
            Some(Diagnostic::new(place, message).help(Some(help).filter(|help| !help.is_empty())))
        })
        .collect()
}

/// Overheads that hosts have of their own, by their properties.
pub(super) fn of_hosts(
    configuration: &Configuration,
    platform: &Platform,
    items: &Items,
    mistakes: &mut Mistakes,
) -> BTreeMap<u32, host::Protocol> {
    let names = ["smpi/os", "smpi/ois", "smpi/or"];
    let mut others = BTreeMap::new();
    for (number, host) in (0..).zip(&platform.hosts) {
        let mut own = items.clone();
        let said = host.properties.iter().filter(|(name, _)| names.contains(&name.as_str()));
        let mut any = false;
        for (name, value) in said {
            any = true;
            if let Err((message, _)) = own.apply(&format!("{name}:{value}")) {
                let message = format!("host {}: {message}", host.name);
                mistakes.push(configuration.mistake(keys::network::TOPOLOGY, message));
            }
        }
        if any {
            others.insert(number, own.protocol);
        }
    }
    others
}

/// `SIZE:…` between semicolons, each with the rest of its words.
fn by_size<T>(text: &str, rest: impl Fn(&[&str]) -> Option<T>) -> Result<Vec<(u64, T)>, String> {
    let part = |part: &str| {
        let words: Vec<_> = part.split(':').map(str::trim).collect();
        let (size, words) = words.split_first()?;
        Some((size.parse::<Bytes>().ok()?.get(), rest(words)?))
    };
    text.split(';').map(|text| part(text).ok_or_else(|| text.trim().to_owned())).collect()
}

/// Reads the table `[flow]`.
// Long because it lists the keys.
pub(super) fn keys(configuration: &Configuration, items: &mut Items) -> Mistakes {
    let mut mistakes = Vec::new();
    let mut listed =
        |key: Setting<String>, example: &str, read: &mut dyn FnMut(&str) -> Result<(), String>| {
            let Some(text) = configuration.value(key) else { return };
            if let Err(part) = read(&text) {
                let message = format!("expected {example} between semicolons, found `{part}`");
                mistakes.push(configuration.mistake(key, message));
            }
        };
    let piece = |words: &[&str]| match words {
        [base] => Some((base.parse().ok()?, TimePerByte::ZERO)),
        [base, rate] => Some((base.parse::<Time>().ok()?, rate.parse().ok()?)),
        _ => None,
    };
    let pieces = |text: &str| {
        let made = |(above, (base, rate)): (u64, (Time, TimePerByte))| {
            let (ps, bytes) = rate.parts();
            let per_byte = ps as f64 * 1e-12 / bytes.max(1) as f64;
            Piece { above, base: base.ps() as f64 * 1e-12, per_byte }
        };
        by_size(text, piece).map(|parts| Pieces::new(parts.into_iter().map(made).collect()))
    };
    let factor = |words: &[&str]| match words {
        [factor] => factor.parse().ok().filter(|factor: &f64| *factor > 0.0 && factor.is_finite()),
        _ => None,
    };
    let factors = |text: &str| by_size(text, factor).map(Factors::new);
    let (protocol, parameters) = (&mut items.protocol, &mut items.parameters);
    let example = "SIZE:TIME or SIZE:TIME:RATE";
    listed(keys::flow::OS, example, &mut |text| pieces(text).map(|found| protocol.send = found));
    listed(keys::flow::OIS, example, &mut |text| pieces(text).map(|found| protocol.isend = found));
    listed(keys::flow::OR, example, &mut |text| pieces(text).map(|found| protocol.receive = found));
    listed(keys::flow::BANDWIDTH_FACTORS, "SIZE:FACTOR", &mut |text| {
        factors(text).map(|found| parameters.bandwidth_factors = found)
    });
    listed(keys::flow::LATENCY_FACTORS, "SIZE:FACTOR", &mut |text| {
        factors(text).map(|found| parameters.latency_factors = found)
    });
    let bytes = |key: Setting<Bytes>| configuration.said(key).map(Bytes::get);
    protocol.eager_below = bytes(keys::flow::EAGER_BELOW).unwrap_or(protocol.eager_below);
    match detached_below(configuration) {
        Ok(limit) => protocol.detached_below = limit.unwrap_or(protocol.detached_below),
        Err(found) => mistakes.push(found),
    }
    parameters.weight = bytes(keys::flow::WEIGHT).map_or(parameters.weight, |bytes| bytes as f64);
    parameters.window = bytes(keys::flow::WINDOW).map_or(parameters.window, |bytes| bytes as f64);
    if configuration.is_said(keys::flow::CROSS_TRAFFIC) {
        parameters.cross_traffic = configuration.switch(keys::flow::CROSS_TRAFFIC);
    }
    let time = |key: Setting<Time>, place: &mut Time| {
        *place = configuration.said(key).unwrap_or(*place);
    };
    items.calls.test = configuration.said(keys::flow::TEST).or(items.calls.test);
    time(keys::flow::IPROBE, &mut items.calls.iprobe);
    time(keys::flow::INIT, &mut items.calls.init);
    mistakes.extend(loopback(configuration, items));
    match speed(configuration, keys::flow::host::RECORDED_SPEED) {
        Ok(speed) => items.speed = speed.or(items.speed),
        Err(found) => mistakes.extend(found),
    }
    mistakes
}

/// Reads the size from which on sends are not detached. Either of two keys says it; for this run
/// rather than for the machine, and of a machine the model's own.
fn detached_below(configuration: &Configuration) -> Result<Option<u64>, Diagnostic> {
    const OWN: Setting<Bytes> = keys::flow::DETACHED_BELOW;
    const BUFFER: Setting<Bytes> = keys::protocol::SEND_BUFFER;
    let own = configuration.said(OWN).map(Bytes::get);
    let buffered = configuration.said(BUFFER).map(|buffer| buffer.get().saturating_add(1));
    let of_run = configuration.is_said_of_run(BUFFER);
    if of_run && configuration.is_said_of_run(OWN) && own != buffered {
        let message = "`flow.detached-below` says something else";
        return Err(configuration.mistake(BUFFER, message));
    }
    Ok(if of_run { buffered } else { own.or(buffered) })
}

/// Reads the bandwidth and latency of messages of a host to itself.
fn loopback(configuration: &Configuration, items: &mut Items) -> Option<Diagnostic> {
    const KEY: Setting<String> = keys::flow::LOOPBACK_BANDWIDTH;
    if let Some(latency) = configuration.value(keys::flow::LOOPBACK_LATENCY) {
        items.loopback.1 = Some(latency.ps() as f64 * 1e-12);
    }
    let text = configuration.value(KEY)?;
    if let Ok(bits @ 1..) = text.parse::<Bandwidth>().map(Bandwidth::bits_per_second) {
        items.loopback.0 = Some(bits as f64 / 8.0);
        return None;
    }
    let message = format!("expected a bandwidth such as `10 GB/s`, found `{text}`");
    Some(configuration.mistake(KEY, message))
}

/// The items of `flow.cfg`.
pub(super) fn said_items(
    configuration: &Configuration,
    items: &mut Items,
    warnings: &mut Vec<String>,
) -> Mistakes {
    const KEY: Setting<String> = keys::flow::CFG;
    let text = configuration.value(KEY).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|item| {
            let (message, help) = match items.apply(item) {
                Ok(warning) => {
                    warnings.extend(warning);
                    return None;
                }
                Err(wrong) => wrong,
            };
            let help = Some(help).filter(|help| !help.is_empty());
            Some(configuration.mistake(KEY, message).help(help))
        })
        .collect()
}

/// Leaves out what the simpler variants do not model.
pub(super) fn variant(configuration: &Configuration, items: &mut Items, protocols: &mut Protocols) {
    match configuration.word(keys::flow::VARIANT) {
        "fluid" => {
            items.parameters.bandwidth_factors = Factors::default();
            items.parameters.latency_factors = Factors::default();
            let all = protocols.others.values_mut().chain([&mut protocols.usual]);
            for protocol in all {
                protocol.send = Pieces::default();
                protocol.isend = Pieces::default();
                protocol.receive = Pieces::default();
            }
        }
        "loggps" => items.parameters.contention = Contention::None,
        _ => {}
    }
}
