//! The queues between threads: one for each pair of workers and each of the last turns.

use super::meeting::SETS;
use crate::sync::{Mutex, PoisonError};

/// Two workers between which mail travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The worker that sends.
    pub from: usize,
    /// The worker that receives.
    pub to: usize,
}

/// The queue from one worker to another.
#[repr(align(128))]
struct Lane<T, B> {
    items: Vec<T>,
    /// Empty buffers that the receiver gives back for those that it got, so that the sender need
    /// not make new ones.
    back: Vec<B>,
}

/// Queues of items of type `T` whose buffers of type `B` go back to their senders.
pub struct Lanes<T, B> {
    workers: usize,
    lanes: [Vec<Mutex<Lane<T, B>>>; SETS],
}

impl<T, B> Lanes<T, B> {
    pub fn new(workers: usize) -> Self {
        let lane = |_| Mutex::new(Lane { items: Vec::new(), back: Vec::new() });
        Self { workers, lanes: std::array::from_fn(|_| (0..workers * workers).map(lane).collect()) }
    }

    fn with<R>(
        &self,
        turn: usize,
        Route { from, to }: Route,
        use_it: impl FnOnce(&mut Lane<T, B>) -> R,
    ) -> R {
        let lane = &self.lanes[turn % SETS][from * self.workers + to];
        use_it(&mut lane.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves items into a queue, and the buffers that have come back into `back`.
    pub fn post(&self, turn: usize, route: Route, items: &mut Vec<T>, back: &mut Vec<B>) {
        self.with(turn, route, |lane| {
            lane.items.append(items);
            back.append(&mut lane.back);
        });
    }

    /// Hands the items of a queue to `each`, together with `spare`, and gives back as many buffers
    /// of those that are spare then, if there are so many.
    pub fn collect(
        &self,
        turn: usize,
        route: Route,
        spare: &mut Vec<B>,
        mut each: impl FnMut(T, &mut Vec<B>),
    ) {
        self.with(turn, route, |lane| {
            let count = lane.items.len();
            lane.items.drain(..).for_each(|item| each(item, spare));
            lane.back.extend(spare.drain(spare.len().saturating_sub(count)..));
        });
    }
}
