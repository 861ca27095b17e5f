//! An estimate of how much work a simulation is, for a person who waits.

use host::{Rendezvous, Settings};
use results::Work;
use schedule::{Kind, Program};

use crate::models::Signals;

/// The number of ranks, and of operations of each, that are sampled to estimate the work.
const SAMPLE: u32 = 64;

/// About how much work a program is: its operations, and an arrival for each message, with those of
/// request and answer before it if it is a large one; over a network with switches also, for each
/// link that a packet crosses, the packet and the credit for it. Which share of the operations are
/// sends, and how far and of how many packets, is taken from a sample.
pub(crate) fn work(program: &impl Program, settings: &Settings, signals: &Signals<'_>) -> Work {
    let operations: u64 = (0..program.ranks()).map(|rank| u64::from(program.ops(rank))).sum();
    let stride = (program.ranks() / SAMPLE).max(1) as usize;
    let asks = settings.rendezvous == Rendezvous::RtsCts;
    let (mut seen, mut arrivals, mut sent) = (0_u64, 0_u64, 0_u64);
    for rank in (0..program.ranks()).step_by(stride) {
        for index in 0..program.ops(rank).min(SAMPLE) {
            let op = program.op(rank, index);
            seen += 1;
            if op.kind == Kind::Send {
                let crossed = |bytes| signals(rank, op.peer, bytes);
                let large = asks && op.size > settings.parameters.eager_limit;
                arrivals += if large { 3 } else { 1 };
                sent += crossed(op.size) + if large { 2 * crossed(0) } else { 0 };
            }
        }
    }
    let all = |sampled: u64| {
        let all = u128::from(operations) * u128::from(sampled) / u128::from(seen.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    };
    Work { operations: operations.saturating_add(all(arrivals)), signals: all(sent) }
}

#[cfg(test)]
mod tests;
