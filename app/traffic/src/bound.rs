//! Bounds of traffic that follow from its routes alone: the load at which the busiest link is full,
//! and the latency on the idle network.
//!
//! Both are expectations over the destinations of a host and the ways that a message draws among,
//! counted one by one. The load of a link is the part of its time that it is busy when all hosts
//! offer a load of 1; its inverse bounds what the network can accept (Dally and Towles, "Principles
//! and Practices of Interconnection Networks", 2004, section 3.3.1).
//!
//! Not modelled: where load decides about ways there is no expectation to count, and no bound.

use network::{Links, Transfer};

use crate::Settings;

/// The most ways that are counted.
const MOST: u64 = 1 << 21;

/// The bounds that routes set to a measurement, known before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The offered load at which the busiest link is full; `None` if load decides about ways, or
    /// if they are more than two million.
    pub load: Option<f64>,
    /// The mean latency of messages on the idle network in picoseconds; `None` if messages have
    /// several lengths or ways are too many. Where load decides, messages take their shortest ways.
    pub latency: Option<f64>,
}

/// Finds the bounds of traffic on a network. Time and memory are bounded, whatever its size.
pub fn bounds<N: Links>(network: &N, settings: &Settings) -> Bounds {
    let destinations = &settings.destinations;
    let hosts = destinations.hosts();
    if u64::from(hosts).saturating_mul(destinations.most_chances()) > MOST {
        return Bounds::default();
    }
    let senders = || (0..hosts).filter(|&host| destinations.sends(host));
    let pairs = || {
        senders().flat_map(|from| {
            destinations.chances(from).into_iter().map(move |(to, chance)| (from, to, chance))
        })
    };
    let places = |from, to| (destinations.place(from), destinations.place(to));
    let (mut all, mut by_load) = (0, false);
    for (from, to, _) in pairs() {
        let (from, to) = places(from, to);
        let ways = network.ways(from, to);
        by_load |= ways == 0;
        all += u64::from(ways.max(1));
        if all > MOST {
            return Bounds::default();
        }
    }
    let bytes = settings.lengths.quantile(0.5);
    let (_, flits) = network.packets_and_flits(bytes);
    let mut busy: Vec<Vec<f64>> = Vec::new();
    let (mut latency, mut messages, mut lost) = (0.0, 0.0, false);
    for (from, to, chance) in pairs() {
        let (from, to) = places(from, to);
        // The time of a message on its host's link, and so the messages of the host in it.
        let time = network.link_time(from, bytes).ps().max(1) as f64;
        let (ways, transfer) = (network.ways(from, to).max(1), Transfer::new(from, to, bytes));
        let share = chance / f64::from(ways);
        for way in 0..ways {
            let transit = network.follow(transfer, way, &mut |device, port| {
                let flit = network.flit_time(device, port).unwrap_or_default().ps() as f64;
                let flit = flit / f64::from(network.side_by_side(device, port));
                let device = device.index();
                if busy.len() <= device {
                    busy.resize(device + 1, Vec::new());
                }
                let ports = &mut busy[device];
                if ports.len() <= usize::from(port) {
                    ports.resize(usize::from(port) + 1, 0.0);
                }
                ports[usize::from(port)] += share * flits as f64 * flit / time;
            });
            lost |= transit.is_none();
            latency += share / time * transit.unwrap_or_default().ps() as f64;
            messages += share / time;
        }
    }
    let busiest = busy.iter().flatten().copied().fold(0.0, f64::max);
    // Sums of chances are not exact in their last digits.
    let rounded = |value: f64, digits: f64| (value * digits).round() / digits;
    let load = (!by_load && !lost && busiest > 0.0).then(|| rounded(1.0 / busiest, 1e12));
    let fixed = settings.lengths.is_fixed() && !lost;
    Bounds { load, latency: fixed.then(|| rounded(latency / messages, 1e3)) }
}
