//! The least VFT, which grows by g with each message (seed 003, section 4.4.1). Rails are compared
//! in the order of their g.

use crate::parameters::Ticks;
use crate::scheduler::Rail;

pub(super) const fn cost(rail: &Rail) -> Ticks {
    rail.finish
}

pub(super) const fn used(rail: &mut Rail) {
    rail.finish = rail.finish.saturating_add(rail.parameters.gap);
}
