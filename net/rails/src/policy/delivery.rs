//! The earliest delivery, max(VFT, now) + 2o + L + G(s-1): the text of seed 003, section 4.4.4.

use crate::parameters::Ticks;
use crate::scheduler::Rail;

pub(super) fn cost(rail: &Rail, now: Ticks, bytes: u64) -> Ticks {
    rail.ready(now).saturating_add(rail.parameters.delivery(bytes))
}
