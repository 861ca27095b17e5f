//! Progress of a simulation, for a person who waits.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use host::{Meter, Rendezvous, Settings};
use network::Links;
use results::{Progress, Work};
use schedule::{Kind, Program};
use units::{HostId, MessageId};

/// How many ranks, and operations of each, are looked at to estimate the work.
const SAMPLE: u32 = 64;

/// Does `work` by these settings. If standard error is a terminal, it shows how far it is of the
/// work that `total` expects.
pub(crate) fn during<T>(
    total: impl FnOnce() -> Option<Work>,
    settings: &Settings,
    work: impl FnOnce(&Settings) -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work(settings);
    }
    let meter = Arc::new(Meter::default());
    let settings = Settings { progress: Some(Arc::clone(&meter)), ..settings.clone() };
    let progress = Progress {
        operations: &meter.events,
        signals: &meter.signals,
        simulated_ps: &meter.time_ps,
        total: total(),
    };
    progress.during(|| work(&settings))
}

/// About how much work a program is: its operations, and an arrival for each message, with those of
/// request and answer before it if it is a large one; over a network with switches also, for each
/// link that a packet crosses, the packet and the credit for it. Which share of the operations are
/// sends, and how far and of how many packets, is taken from a sample.
pub(crate) fn estimate(
    program: &impl Program,
    settings: &Settings,
    network: Option<&(impl Links, Vec<u32>)>,
) -> Work {
    let operations: u64 = (0..program.ranks()).map(|rank| u64::from(program.ops(rank))).sum();
    let stride = (program.ranks() / SAMPLE).max(1) as usize;
    let asks = settings.rendezvous == Rendezvous::RtsCts;
    let (mut seen, mut arrivals, mut signals) = (0_u64, 0_u64, 0_u64);
    for rank in (0..program.ranks()).step_by(stride) {
        for index in 0..program.ops(rank).min(SAMPLE) {
            let op = program.op(rank, index);
            seen += 1;
            if op.kind == Kind::Send {
                let crossed =
                    |bytes| network.map_or(0, |network| crossings(network, rank, op.peer, bytes));
                let large = asks && op.size > settings.parameters.eager_limit;
                arrivals += if large { 3 } else { 1 };
                signals += crossed(op.size) + if large { 2 * crossed(0) } else { 0 };
            }
        }
    }
    let all = |sampled: u64| {
        let all = u128::from(operations) * u128::from(sampled) / u128::from(seen.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    };
    Work { operations: operations.saturating_add(all(arrivals)), signals: all(signals) }
}

/// Packets and credits of a message on its way.
fn crossings(
    (network, hosts): &(impl Links, Vec<u32>),
    source: u32,
    destination: u32,
    bytes: u64,
) -> u64 {
    let host = |rank: u32| hosts.get(rank as usize).copied();
    let (Some(source), Some(destination)) = (host(source), host(destination)) else { return 0 };
    if source == destination {
        return 0;
    }
    let (packets, _) = network.packets_and_flits(bytes);
    let hops = u64::from(network.hops(HostId(source), HostId(destination), MessageId(0)));
    packets.saturating_mul(2 * hops)
}

#[cfg(test)]
mod tests;
