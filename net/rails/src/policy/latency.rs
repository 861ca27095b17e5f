//! The least of max(VFT, now) + 2o + L: the listing of seed 003, section 4.4.4. It leaves out the
//! bytes of the message, so that a slow rail that is free seems better than a fast one that is busy
//! for a moment.

use crate::parameters::Ticks;
use crate::scheduler::Rail;

pub(super) fn cost(rail: &Rail, now: Ticks) -> Ticks {
    rail.ready(now).saturating_add(rail.parameters.way())
}
