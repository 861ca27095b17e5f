//! The calls of ranks, where somebody wants to know them.
//!
//! A rank runs ahead of the simulation, so that the times of a call become known later than the
//! call: those of the operations that its beginning hangs on.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

/// A call of MPI that took part in the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the function in C; empty for what is none, such as a look at the host's clock.
    pub name: Arc<str>,
    /// The place in the program that it was called from; empty if that is not known.
    pub place: Arc<str>,
    /// The index of its first operation. Where that starts, the call before is over.
    pub first: u32,
    /// Is true if that is the computation before the call, which begins when it is done.
    pub computes: bool,
}

/// The calls of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The calls in order.
    pub calls: Vec<Call>,
    /// Is true if the rank came to its end.
    pub finished: bool,
}

/// The calls of all ranks, which are there when the states of the ranks are gone.
#[derive(Clone, Debug)]
pub struct Kept(Arc<[Mutex<Calls>]>);

impl Kept {
    /// Makes room for the calls of so many ranks.
    pub fn new(ranks: u32) -> Self {
        Self((0..ranks).map(|_| Mutex::default()).collect())
    }

    /// Takes the calls, by rank.
    pub fn take(&self) -> Vec<Calls> {
        let own = |calls: &Mutex<Calls>| {
            std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.0.iter().map(own).collect()
    }
}

/// The calls of a rank that lives.
#[derive(Debug)]
pub struct CallLog {
    rank: u32,
    kept: Kept,
    /// The names of the functions that it has called, and of places.
    names: FxHashSet<Arc<str>>,
    /// The places that it has told; the first one is none.
    places: Vec<Arc<str>>,
    /// The place that it calls from, among these.
    at: usize,
    /// The function that it has called, as long as no operation is known of the call.
    fresh: Option<Arc<str>>,
    own: Calls,
}

impl CallLog {
    /// A log of a rank, whose calls are `kept` in the end.
    pub fn new(rank: u32, kept: Kept) -> Self {
        let (names, places, own) = (FxHashSet::default(), vec!["".into()], Calls::default());
        Self { rank, kept, names, places, at: 0, fresh: None, own }
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        let known = self.names.get(name).cloned();
        known.unwrap_or_else(|| {
            let name: Arc<str> = name.into();
            self.names.insert(Arc::clone(&name));
            name
        })
    }

    /// The rank calls from a new place from now on.
    pub fn place(&mut self, name: &str) {
        let name = self.name(name);
        self.at = self.places.len();
        self.places.push(name);
    }

    /// The rank calls from a place that it has told.
    pub const fn at(&mut self, number: u32) {
        self.at = number as usize;
    }

    /// The rank is in a function of MPI from now on, or with an empty name in none.
    pub fn begin(&mut self, name: &str) {
        self.fresh = Some(self.name(name));
    }

    /// The rank has an operation more; it may be the computation before the present call.
    pub fn add(&mut self, first: u32, computes: bool) {
        if let Some(name) = self.fresh.take() {
            let place = self.places.get(self.at).cloned().unwrap_or_default();
            self.own.calls.push(Call { name, place, first, computes });
        }
    }

    /// The rank comes to its end.
    pub const fn finish(&mut self) {
        self.own.finished = true;
    }
}

impl Drop for CallLog {
    fn drop(&mut self) {
        if let Some(kept) = self.kept.0.get(self.rank as usize) {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = std::mem::take(&mut self.own);
        }
    }
}
