//! What watches a simulation without changing it.

/// Receives records of type `R`. Statically dispatched; where nobody listens, the calls vanish.
///
/// Every worker has a probe of its own; records of one process arrive in its order of execution.
pub trait Probe<R>: Send {
    /// Whether records are wanted at all. Code that only builds records tests this first.
    const LISTENS: bool;

    /// Takes one record.
    fn record(&mut self, record: R);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<R> Probe<R> for Silent {
    const LISTENS: bool = false;

    #[inline]
    fn record(&mut self, _: R) {}
}
