//! Messages as flows over the routes of a platform.

use kernel::{Probe, Silent};
use units::Time;

use crate::{Contention, Flow, Fluid, Link, Load, Parameters, Sharing, Use};

/// A platform, as far as messages see it.
pub trait Routes {
    /// Puts the links of the way between two hosts into `links`, in order; gives its latency in
    /// seconds.
    ///
    /// # Errors
    /// There is no way; the text says between which hosts.
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String>;
}

impl<R: Routes + ?Sized> Routes for std::sync::Arc<R> {
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String> {
        (**self).route(from, to, links)
    }
}

/// Part of what a message carries that its way back carries too.
const CROSS_TRAFFIC: f64 = 0.05;

/// A probe that keeps all loads.
#[derive(Clone, Debug, Default)]
pub struct Loads(pub Vec<Load>);

impl Probe<Load> for Loads {
    const LISTENS: bool = true;

    fn record(&mut self, load: Load) {
        self.0.push(load);
    }
}

/// The time of a message that is alone in the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// The time in which it meets nothing but latency.
    pub latency: Time,
    /// The time in which it then uses bandwidth.
    pub serialisation: Time,
}

/// The parameters of the flow of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub latency: Time,
    pub penalty: f64,
    pub bound: f64,
    pub factor: f64,
    pub work: f64,
    /// Bytes per second on the links if it is alone.
    pub rate: f64,
}

impl Way {
    /// Returns the seconds for which it uses bandwidth if it is alone.
    pub fn alone(&self) -> f64 {
        self.work / (self.rate * self.factor)
    }
}

/// A network of flows.
pub struct Network<R, P = Silent> {
    routes: R,
    parameters: Parameters,
    bandwidths: Vec<f64>,
    fluid: Fluid<P>,
    /// By host, the link that stands for its cores, where they are shared.
    cores: Vec<Option<u32>>,
    /// By link, the bytes that it has to carry.
    carried: Vec<f64>,
    links: Vec<u32>,
    uses: Vec<Use>,
}

impl<R: Routes, P: Probe<Load>> Network<R, P> {
    /// A network of these links. `cores` tells, by host, how many cores its ranks share if they are
    /// too few for all; they are links behind the others. `probe` hears of the loads of links.
    pub fn new(
        routes: R,
        links: &[Link],
        cores: &[Option<u32>],
        parameters: Parameters,
        probe: P,
    ) -> Self {
        let mut all: Vec<Link> = links.to_vec();
        if parameters.contention == Contention::None {
            for link in &mut all {
                link.sharing = Sharing::FatPipe;
            }
        }
        let mut place = |count: &Option<u32>| {
            count.map(|count| {
                all.push(Link { bandwidth: f64::from(count), sharing: Sharing::Shared });
                all.len() as u32 - 1
            })
        };
        let cores = cores.iter().map(&mut place).collect();
        Self {
            routes,
            parameters,
            bandwidths: all.iter().map(|link| link.bandwidth).collect(),
            carried: vec![0.0; all.len()],
            fluid: Fluid::watched(all, probe),
            cores,
            links: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// Lets a message of `bytes` bytes set out between two hosts and returns what it takes on an
    /// idle network. When it has arrived, [`Network::advance`] gives its token back.
    ///
    /// # Errors
    /// There is no way; the text says between which hosts.
    pub fn send(
        &mut self,
        now: Time,
        ends: (u32, u32),
        bytes: u64,
        token: u32,
    ) -> Result<Idle, String> {
        self.send_late(now, Time::ZERO, ends, bytes, token)
    }

    /// Does the same for a message that set out `since` ago, which is at most its latency.
    pub(crate) fn send_late(
        &mut self,
        now: Time,
        since: Time,
        ends: (u32, u32),
        bytes: u64,
        token: u32,
    ) -> Result<Idle, String> {
        let bandwidth = |link: u32| self.bandwidths[link as usize];
        let (links, uses) = (&mut self.links, &mut self.uses);
        let way = way(&self.routes, &self.parameters, bandwidth, ends, bytes, links, uses)?;
        let Way { penalty, bound, factor, work, .. } = way;
        for Use { link, weight } in &self.uses {
            self.carried[*link as usize] += weight * work / factor;
        }
        let latency = way.latency.saturating_sub(since);
        let flow = Flow { uses: &self.uses, penalty, bound, factor, latency, work };
        self.fluid.start(now, &flow, token);
        // Rounded up, as the ends of flows are.
        let serialisation = seconds((way.alone() * 1e12).ceil() * 1e-12);
        Ok(Idle { latency: way.latency, serialisation })
    }

    /// A computation that takes `time` alone begins on a host; false if it need not share the
    /// host's cores.
    pub fn compute(&mut self, now: Time, host: u32, time: Time, token: u32) -> bool {
        let Some(Some(link)) = self.cores.get(host as usize) else { return false };
        let work = time.ps() as f64 * 1e-12;
        let uses = &[Use { link: *link, weight: 1.0 }];
        let flow = Flow { uses, penalty: 1.0, bound: 1.0, factor: 1.0, latency: Time::ZERO, work };
        self.fluid.start(now, &flow, token);
        true
    }

    /// Bytes that a link has to carry for all messages so far, with what the factors add to them
    /// and the traffic on the way back.
    pub fn carried(&self, link: u32) -> f64 {
        self.carried.get(link as usize).copied().unwrap_or(0.0)
    }

    /// The probe, at the end.
    pub fn into_probe(self) -> P {
        self.fluid.into_probe()
    }

    /// The next moment at which something happens by itself.
    pub fn next_event(&mut self) -> Option<Time> {
        self.fluid.next_event()
    }

    /// Goes on to a moment; appends the tokens of what is done then.
    pub fn advance(&mut self, to: Time, done: &mut Vec<u32>) {
        self.fluid.advance(to, done);
    }
}

#[expect(clippy::cast_sign_loss, reason = "latencies are not negative")]
fn seconds(time: f64) -> Time {
    Time::from_ps((time * 1e12).round() as u64)
}

/// Finds what a message has on its way, and the links that it uses; `links` is scratch space.
pub(crate) fn way(
    routes: &impl Routes,
    parameters: &Parameters,
    bandwidth: impl Fn(u32) -> f64,
    (from, to): (u32, u32),
    bytes: u64,
    links: &mut Vec<u32>,
    uses: &mut Vec<Use>,
) -> Result<Way, String> {
    uses.clear();
    let latency = routes.route(from, to, links)?;
    let bytes = bytes.saturating_add(parameters.envelope);
    let mut bound = f64::INFINITY;
    let mut penalty = latency;
    for link in links.iter() {
        let bandwidth = bandwidth(*link);
        bound = bound.min(bandwidth);
        penalty += parameters.weight / bandwidth;
        uses.push(Use { link: *link, weight: 1.0 });
    }
    // A Vivaldi zone adds a distance to no link at all; SimGrid has no window there.
    if latency > 0.0 && parameters.window > 0.0 && !links.is_empty() {
        bound = bound.min(parameters.window / (2.0 * latency));
    }
    let mut rate = bound;
    // As in SimGrid, a route without latency does not count its links.
    if latency <= 0.0 {
        penalty = 1.0;
    }
    if parameters.cross_traffic && parameters.contention == Contention::Shared {
        routes.route(to, from, links)?;
        // A link that both ways share has less for each.
        for Use { link, .. } in uses.iter().filter(|way| links.contains(&way.link)) {
            rate = rate.min(bandwidth(*link) / (1.0 + CROSS_TRAFFIC));
        }
        uses.extend(links.iter().map(|link| Use { link: *link, weight: CROSS_TRAFFIC }));
    }
    let latency = seconds(latency * parameters.latency_factors.of(bytes));
    let factor = parameters.bandwidth_factors.of(bytes);
    Ok(Way { latency, penalty, bound, factor, work: bytes as f64, rate })
}
