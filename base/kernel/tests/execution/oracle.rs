//! The toy model on a plain heap: one event after the other, in the order (time, round, source,
//! sequence). A message that takes effect at the instant of its cause belongs to the next round.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::toy::{Effect, Seen, State, Token, Toy, WAKE};

/// (time, round, whether an alarm ends, source, sequence, token, destination)
type Entry = (u64, u32, bool, u32, u32, Token, u32);

/// Returns the events that each process sees.
pub fn logs(toy: &Toy) -> Vec<Vec<Seen>> {
    let mut states: Vec<State> = (0..toy.processes).map(|_| State::default()).collect();
    let mut heap = BinaryHeap::new();
    for id in 0..toy.processes {
        let state = &mut states[id as usize];
        let effects = toy.start(id, state);
        apply(id, state, (0, 0), effects, &mut heap);
    }
    while let Some(Reverse((time, round, _, source, sequence, token, id))) = heap.pop() {
        let state = &mut states[id as usize];
        let effects = toy.react(id, state, Seen { time, source, sequence, token });
        apply(id, state, (time, round), effects, &mut heap);
    }
    states.into_iter().map(|state| state.log).collect()
}

fn apply(
    id: u32,
    state: &mut State,
    (now, round): (u64, u32),
    effects: Vec<Effect>,
    heap: &mut BinaryHeap<Reverse<Entry>>,
) {
    for effect in effects {
        heap.push(Reverse(match effect {
            Effect::Wake { delay, token } => (now + delay, 0, true, id, WAKE, token, id),
            Effect::Send { to, delay, token } => {
                let sequence = state.sequence;
                state.sequence += 1;
                let round = if delay == 0 { round + 1 } else { 0 };
                (now + delay, round, false, id, sequence, token, to)
            }
        }));
    }
}
