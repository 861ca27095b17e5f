//! Observers of a simulation, which do not change it.

/// A receiver of records of type `R`. It is statically dispatched, so that the calls vanish where
/// nobody listens.
///
/// A model calls it while processes run. Every worker has a probe of its own, and records of one
/// process arrive in its order of execution; between processes there is no order.
pub trait Probe<R>: Send {
    /// True if records are wanted at all. Code that only builds records tests this first.
    const LISTENS: bool;

    /// Takes one record.
    fn record(&mut self, record: R);
}

/// A probe that does not listen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<R> Probe<R> for Silent {
    const LISTENS: bool = false;

    #[inline]
    fn record(&mut self, _: R) {}
}
