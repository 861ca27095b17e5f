//! The least VFT, which grows by g + G(s-1) with each message (seed 003, section 4.4.2). Rails are
//! compared in the order of their g.

use crate::parameters::Ticks;
use crate::scheduler::Rail;

pub(super) const fn cost(rail: &Rail) -> Ticks {
    rail.finish
}

pub(super) fn used(rail: &mut Rail, bytes: u64) {
    rail.finish = rail.finish.saturating_add(rail.parameters.busy(bytes));
}
