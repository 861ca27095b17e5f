//! A point with what only the packets themselves can tell: the links that they crossed where load
//! decides about their ways, and how long they waited at their hosts.

use host::Record;
use kernel::Probe;
use network::{Links, Record as Network};
use units::Time;

use crate::run::{Error, Point, Settings, observe};
use crate::steady_state::Span;

/// A probe that counts the links which messages crossed that arrive from a time on.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    from: Time,
    messages: u64,
    links: u64,
}

impl<D> Probe<Record<D>> for Crossed {
    const LISTENS: bool = true;

    fn record(&mut self, record: Record<D>) {
        if let Record::Network { at, record: Network::Arrived { hops, .. }, .. } = record
            && at >= self.from
        {
            self.messages += 1;
            self.links += u64::from(hops);
        }
    }
}

/// Measures one load. The mean number of links is that of the ways that packets really took, from
/// the end of a warm-up of known length on; the wait at hosts is known if the network tells.
pub fn followed<N: Links>(network: &N, settings: &Settings) -> Result<Point, Error> {
    let samples = match settings.span {
        Span::Batches { warm_up, .. } => warm_up,
        Span::Settling(rule) => rule.warm_up,
        Span::Precise { .. } => 0,
    };
    let batch = settings.batch.map_or(0, Time::ps);
    let from = Time::from_ps(batch.saturating_mul(samples.into()));
    let observed = observe(network, settings, false, || Crossed { from, messages: 0, links: 0 })?;
    let sum = |of: fn(&Crossed) -> u64| observed.probes.iter().map(of).sum::<u64>();
    let (messages, links) = (sum(|probe| probe.messages), sum(|probe| probe.links));
    let hops = (messages > 0).then(|| links as f64 / messages as f64);
    Ok(Point { hops: hops.or(observed.point.hops), ..observed.point })
}
