//! Weighted fair queuing (seed 003, section 4.3.4.3): each rail has a virtual finishing time, which
//! begins at the reciprocal of its share and grows by that with each message; the least is taken.

use crate::parameters::Ticks;
use crate::scheduler::{MOST_RAILS, Message, Rail};

/// The virtual finishing times of the rails; they have nothing to do with real time.
#[derive(Clone, Debug)]
pub(super) struct Served([Ticks; MOST_RAILS]);

impl Served {
    pub fn new(rails: &[Rail]) -> Self {
        let mut times = [0; MOST_RAILS];
        for (time, rail) in times.iter_mut().zip(rails) {
            *time = rail.parameters.share();
        }
        Self(times)
    }
}

pub(super) fn choose(Served(times): &mut Served, rails: &[Rail], message: Message) -> usize {
    let usable = (0..rails.len()).filter(|rail| message.can_take(*rail));
    let rail = usable.min_by_key(|rail| times[*rail]).unwrap_or(0);
    times[rail] = times[rail].saturating_add(rails[rail].parameters.share());
    rail
}
