//! Measuring points, curves and saturation.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use host::Record;
use kernel::{Config, Probe, Silent, TransportKind, execute};
use network::{Harness, Links, Transfer, Worker};
use serde::Serialize;
use units::Time;

use crate::model::{Crew, Delivery, FAR, Observer, Traffic, numbers};
use crate::statistics::{Estimate, Histogram};
use crate::steady_state::{MOST_WARM, Span};
use crate::{Arrivals, Bounds, Destinations, Lengths, OnOff};

/// The settings of a measurement: the traffic, and for how long it runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The pattern: who sends to whom.
    pub destinations: Destinations,
    /// The times at which messages enter.
    pub arrivals: Arrivals,
    /// The lengths of messages.
    pub lengths: Lengths,
    /// Offered load of a host that sends: the part of its link's bandwidth, above 0 and at most 1.
    pub load: f64,
    /// The length of the run.
    pub span: Span,
    /// Time of a batch; if `None`, that of 1000 messages on average, or of 10 latencies if that is
    /// longer.
    pub batch: Option<Time>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Worker threads of one run.
    pub threads: usize,
    /// The transport of mail between them.
    pub transport: TransportKind,
}

impl Settings {
    /// Poisson arrivals of messages of 2 KiB, to a precision of 2 % within 200 batches.
    pub const fn new(destinations: Destinations, load: f64) -> Self {
        Self {
            destinations,
            arrivals: Arrivals::Poisson,
            lengths: Lengths::Fixed(2048),
            load,
            span: Span::Precise { half_width: 0.02, batches: 200 },
            batch: None,
            seed: 1,
            threads: 1,
            transport: TransportKind::Shared,
        }
    }
}

/// Why traffic cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A load that no link can carry.
    #[error("a load of {0} is not above 0 and at most 1")]
    Load(String),
    /// Bursts of less than a message.
    #[error("bursts of {0} messages: the mean must be 1 or more")]
    Burst(String),
    /// A chance that is none.
    #[error("sources that are on or off: a probability of {0} is not between 0 and 1")]
    Chance(String),
    /// Hosts that are not there.
    #[error("traffic of {traffic} hosts on a network of {network}")]
    Hosts {
        /// Those of the pattern.
        traffic: u32,
        /// Those of the network.
        network: u32,
    },
    /// The network's parts hear each other at once.
    #[error(
        "traffic needs a network with a lookahead: on some link a packet or a credit takes no time"
    )]
    Lookahead,
    /// More than 17 s.
    #[error(
        "{batches} batches of {batch} take longer than 17 s of simulated time; shorten the batches"
    )]
    Long {
        /// The number of batches.
        batches: u64,
        /// Of what.
        batch: Time,
    },
    /// A batch in which nothing can travel.
    #[error("batches of {batch} are shorter than eight times the lookahead of {lookahead}")]
    Short {
        /// Their time.
        batch: Time,
        /// The network's lookahead.
        lookahead: Time,
    },
    /// The executor stopped: simulated time left its range, or a model broke its promises.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
}

/// The results of one load. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The load that was asked for.
    pub load: f64,
    /// The load that entered.
    pub offered: f64,
    /// The load that was delivered; of a deadlock 0, as it stays.
    pub accepted: Estimate,
    /// Mean latency, if a message was measured.
    pub latency: Option<Estimate>,
    /// Its smallest value, median, 95th and 99th percentile (to 1/32) and largest value.
    pub percentiles: Option<[u64; 5]>,
    /// Mean number of links that a message crossed.
    pub hops: Option<f64>,
    /// Mean time that messages wait at their hosts beyond that on their links, where a probe
    /// listens and the network tells.
    #[serde(skip)]
    pub wait: Option<f64>,
    /// Messages measured.
    pub messages: u64,
    /// Time of the warm-up.
    pub warm_up: u64,
    /// Time measured.
    pub measured: u64,
    /// Batches kept.
    pub batches: u32,
    /// True if latency had settled when the measurement began, and what was then accepted did not
    /// lag behind what was offered.
    pub steady: bool,
    /// True if ever more traffic is outstanding.
    pub growing: bool,
    /// True if the network delivers less than enters: unsteady, or growing.
    pub saturated: bool,
    /// The deadlock that it came to, if it did. Then it is not called saturated.
    pub deadlock: Option<Deadlock>,
    /// The load at which the busiest link is full, if it was counted; see [`Bounds`].
    pub bound: Option<f64>,
    /// Mean latency on the idle network, if it was counted.
    pub zero_load: Option<f64>,
}

impl Point {
    /// Adds what the routes say of the traffic.
    #[must_use]
    pub fn with(self, bounds: Bounds) -> Self {
        Self { bound: bounds.load, zero_load: bounds.latency, ..self }
    }

    /// Returns true if the network delivers all that enters.
    pub const fn sustained(&self) -> bool {
        !self.saturated && self.deadlock.is_none()
    }
}

/// Messages that wait for each other for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Deadlock {
    /// The end of the last batch in which something moved, in picoseconds.
    pub since: u64,
    /// Messages that had entered and were not delivered when it was found out.
    pub messages: u64,
}

/// A point with all that is known of it.
#[derive(Debug)]
pub struct Observed<B> {
    /// The point.
    pub point: Point,
    /// Accepted load of each source.
    pub by_source: Vec<f64>,
    /// The time from which on it was measured, and the time at which that ended.
    pub span: (Time, Time),
    /// Latencies.
    pub latencies: Histogram,
    /// Messages that entered and that were delivered in the whole run, and their times on their
    /// hosts' links in picoseconds.
    pub entered: (u64, u64),
    /// See `entered`.
    pub delivered: (u64, u64),
    /// Flits times links crossed, of all delivered messages.
    pub flit_hops: u64,
    /// Deliveries in order of time, destination and source, if they were asked for.
    pub log: Vec<Delivery>,
    /// The workers' probes.
    pub probes: Vec<B>,
}

/// Measures one load.
pub fn run<N: Links>(network: &N, settings: &Settings) -> Result<Point, Error> {
    Ok(observe(network, settings, false, || Silent)?.point)
}

/// Measures one load and watches it: `log` keeps every delivery, `probe` makes the probe of each
/// worker. Where the run is spread over several processes of the system, each gets the probes of
/// its own workers, and all the rest.
pub fn observe<N: Links, B: Probe<Record<N::Detail>>>(
    network: &N,
    settings: &Settings,
    log: bool,
    probe: impl Fn() -> B,
) -> Result<Observed<B>, Error> {
    let batch = check(network, settings)?;
    let hosts = settings.destinations.hosts();
    // Batches may be shorter than it takes to cross the network.
    let crossings = 10 * transit(network, settings).ps() / batch;
    let patience = crossings.clamp(5, FAR) as u32;
    let all = network.hosts().unwrap_or(hosts);
    let numbers = numbers(settings, all);
    let endpoint = Traffic { network, settings, numbers, batch, patience, log, probe: PhantomData };
    let harness = Harness { network, endpoint, hosts: all };
    let config = Config { workers: settings.threads, transport: settings.transport };
    let count = all.saturating_add(network.devices());
    let finished = execute(&harness, count, config, || Worker::new(Crew::new(probe(), hosts)))?;
    let mut here = Crew::new((), hosts);
    let probes = finished.workers.into_iter().map(|worker| here.merge(worker.own)).collect();
    let mut all = Crew::new((), hosts);
    settings.transport.exchange(here).into_iter().for_each(|crew| all.merge(crew));
    all.log.sort_unstable_by_key(|d| (d.at, d.destination, d.source, d.entered));
    let Some(observer) = all.observer.take() else { return Err(Error::Lookahead) };
    Ok(sum_up(settings, batch, &observer, all, probes))
}

fn sum_up<B>(
    settings: &Settings,
    batch: u64,
    observer: &Observer,
    all: Crew<()>,
    probes: Vec<B>,
) -> Observed<B> {
    let hosts = settings.destinations.hosts();
    let senders = (0..hosts).filter(|&host| settings.destinations.sends(host)).count() as f64;
    let state = &observer.steady_state;
    let scale = 1.0 / (batch as f64 * senders);
    let offered = state.offered() * scale;
    let deadlock = deadlock(settings, batch, observer, &all);
    let moves = deadlock.is_none();
    let steady = state.steady && !(moves && state.lags());
    let growing = moves && state.grows();
    let Estimate { mean, half_width } = match deadlock {
        Some(_) => Estimate::default(),
        None => state.accepted(),
    };
    let accepted = Estimate { mean: mean * scale, half_width: half_width * scale };
    let (least, most) = all.latency.extremes();
    let share = |share| all.latency.percentile(share);
    let measured = observer.end.saturating_sub(observer.measured);
    let messages = all.latency.count();
    let any = messages > 0;
    let rate = |link: u64| link as f64 / measured.ps().max(1) as f64;
    let point = Point {
        load: settings.load,
        offered,
        accepted,
        latency: state.latency(),
        percentiles: any.then(|| [least, share(0.5), share(0.95), share(0.99), most]),
        hops: any.then(|| all.hops as f64 / messages as f64),
        wait: (all.left.0 > 0).then(|| all.left.1 as f64 / all.left.0 as f64),
        messages,
        warm_up: u64::from(state.warm_up()) * batch,
        measured: measured.ps(),
        batches: state.kept.len() as u32,
        steady,
        growing,
        saturated: moves && (!steady || growing),
        deadlock,
        bound: None,
        zero_load: None,
    };
    Observed {
        point,
        by_source: all.by_source.into_iter().map(rate).collect(),
        span: (observer.measured, observer.end),
        latencies: all.latency,
        entered: all.entered,
        delivered: all.delivered,
        flit_hops: all.flit_hops,
        log: all.log,
        probes,
    }
}

/// Finds out if the network has come to a standstill: nothing moved for several batches, or it ran
/// empty with messages left.
fn deadlock(
    settings: &Settings,
    batch: u64,
    observer: &Observer,
    all: &Crew<()>,
) -> Option<Deadlock> {
    let state = &observer.steady_state;
    let left = all.entered.0 - all.delivered.0;
    let ran_empty = matches!(settings.span, Span::Batches { .. });
    (state.deadlocked() || ran_empty && left > 0).then(|| Deadlock {
        since: u64::from(state.batches - state.idle) * batch,
        messages: if ran_empty { left } else { state.outstanding },
    })
}

/// Checks the settings; the answer is the time of a batch.
fn check<N: Links>(network: &N, settings: &Settings) -> Result<u64, Error> {
    let Settings { load, arrivals, destinations, .. } = settings;
    if !(*load > 0.0 && *load <= 1.0) {
        return Err(Error::Load(load.to_string()));
    }
    if let Arrivals::OnOff(OnOff { on, off, rate }) = arrivals
        && let Some(wrong) =
            [on, off, rate].into_iter().find(|chance| !(0.0..=1.0).contains(*chance))
    {
        return Err(Error::Chance(wrong.to_string()));
    }
    if let Arrivals::Bursty(burst) = arrivals
        && !(1.0..f64::INFINITY).contains(burst)
    {
        return Err(Error::Burst(burst.to_string()));
    }
    let traffic = destinations.places().iter().map(|host| host.0 + 1).max().unwrap_or(0);
    if let Some(network) = network.hosts().filter(|&hosts| hosts < traffic) {
        return Err(Error::Hosts { traffic, network });
    }
    let lookahead = network.lookahead();
    if lookahead == Time::ZERO {
        return Err(Error::Lookahead);
    }
    let batch = settings.batch.unwrap_or_else(|| usual_batch(network, settings));
    if batch.ps() / 8 < lookahead.ps() {
        return Err(Error::Short { batch, lookahead });
    }
    let batches = match settings.span {
        Span::Precise { batches, .. } => u64::from(batches.max(10)) + u64::from(MOST_WARM) + 2,
        Span::Batches { warm_up, kept } => u64::from(warm_up) + u64::from(kept),
        Span::Settling(rule) => u64::from(rule.most),
    };
    match batch.ps().checked_mul(batches) {
        Some(all) if all < FAR => Ok(batch.ps()),
        _ => Err(Error::Long { batches, batch }),
    }
}

/// The time of a message of mean length on the idle network between hosts half of it apart.
fn transit<N: Links>(network: &N, settings: &Settings) -> Time {
    let Settings { destinations, lengths, .. } = settings;
    let hosts = destinations.hosts();
    let Some(source) = (0..hosts).find(|&host| destinations.sends(host)) else { return Time::ZERO };
    #[allow(clippy::cast_sign_loss, reason = "lengths are not negative")]
    let bytes = lengths.mean(|bytes| bytes as f64) as u64;
    let destination = (source + hosts / 2) % hosts;
    let [source, destination] = [source, destination].map(|number| destinations.place(number));
    network.uncontended(Transfer::new(source, destination, bytes)).transit
}

/// The time in which the hosts make 1000 messages, at least 10 times what one takes on the idle
/// network, and 5 times the mean interval at a host.
fn usual_batch<N: Links>(network: &N, settings: &Settings) -> Time {
    let Settings { destinations, lengths, load, .. } = settings;
    let hosts = destinations.hosts();
    let interval = |host: u32| {
        lengths.mean(|bytes| network.link_time(destinations.place(host), bytes).ps() as f64) / load
    };
    let senders: Vec<u32> = (0..hosts).filter(|&host| destinations.sends(host)).collect();
    if senders.is_empty() {
        return Time::ZERO;
    }
    // Links of hosts hardly ever differ: a few of them stand for all.
    let step = senders.len().div_ceil(16);
    let sample: Vec<f64> = senders.iter().step_by(step).map(|&host| interval(host)).collect();
    let mean_interval = sample.iter().sum::<f64>() / sample.len() as f64;
    let transit = transit(network, settings).ps() as f64;
    let time = (1000.0 * mean_interval / senders.len() as f64).max(10.0 * transit);
    let time = time.max(5.0 * mean_interval).max(8.0 * network.lookahead().ps() as f64);
    #[allow(clippy::cast_sign_loss, reason = "a time")]
    let time = (time / 1000.0).ceil() as u64;
    Time::from_ps(time.saturating_mul(1000))
}

/// Measures several loads, on as many threads as the settings say: a thread per load at a time.
pub fn curve<N: Links>(
    network: &N,
    settings: &Settings,
    loads: &[f64],
) -> Result<Vec<Point>, Error> {
    if settings.transport.peers().is_some() {
        // All processes measure the same load at a time.
        let point = |load: &f64| run(network, &Settings { load: *load, ..settings.clone() });
        return loads.iter().map(point).collect();
    }
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let each = || {
        while let Some((index, &load)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            loads.get(index).map(|load| (index, load))
        } {
            let point = run(network, &Settings { load, threads: 1, ..settings.clone() });
            found.lock().unwrap_or_else(PoisonError::into_inner).push((index, point));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..settings.threads.clamp(1, loads.len().max(1)) {
            scope.spawn(each);
        }
        each();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, point)| point).collect()
}

/// The load at which a network saturates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saturation {
    /// The largest load found that is accepted, and the smallest that is not, or at which nothing
    /// moves any more; the latter is above 1 if all is accepted.
    pub between: [f64; 2],
    /// The load that a saturated network accepts, at the smallest load that is not accepted.
    pub throughput: f64,
    /// The points that were measured, by load.
    pub points: Vec<Point>,
}

/// Finds by bisection, to `within`, the load from which on a network is saturated.
pub fn saturation<N: Links>(
    network: &N,
    settings: &Settings,
    within: f64,
) -> Result<Saturation, Error> {
    let measure = |load: f64| run(network, &Settings { load, ..settings.clone() });
    let full = measure(1.0)?;
    let mut throughput = full.accepted.mean;
    if full.sustained() {
        return Ok(Saturation { between: [1.0, f64::INFINITY], throughput, points: vec![full] });
    }
    let (mut low, mut high) = (0.0, 1.0);
    let mut points = vec![full];
    while high - low > within.max(0.001) {
        let load = f64::midpoint(low, high);
        let point = measure(load)?;
        if point.sustained() {
            low = load;
        } else {
            (high, throughput) = (load, point.accepted.mean);
        }
        points.push(point);
    }
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    Ok(Saturation { between: [low, high], throughput, points })
}
