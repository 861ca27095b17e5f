//! The least of max(VFT, now): a VFT in the past is as good as now (seed 003, section 4.4.3). Rails
//! are compared in the order of their g.

use crate::parameters::Ticks;
use crate::scheduler::Rail;

pub(super) fn cost(rail: &Rail, now: Ticks) -> Ticks {
    rail.ready(now)
}
