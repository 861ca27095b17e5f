//! As 4.4.4, but the sender's overhead passes while the interface is still busy: the listing of
//! seed 003, section 4.4.5, whose two cases are printed in the wrong order above it.

use crate::parameters::Ticks;
use crate::scheduler::Rail;

pub(super) fn cost(rail: &Rail, now: Ticks) -> Ticks {
    let overhead = rail.parameters.send_overhead;
    let hidden = rail.finish.saturating_sub(now).min(overhead);
    rail.ready(now).saturating_add(rail.parameters.way()).saturating_sub(hidden)
}
