//! Long work in a thread of its own, while the calling thread serves the interpreter.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use experiment::{Meter, Observer, Work};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// Time between two looks at signals and progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Watches one piece of work: how far it is, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Watch {
    state: Mutex<State>,
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The meter of the simulation that goes on.
    meter: Arc<Meter>,
    /// The work of that simulation, if it is known.
    total: Option<Work>,
    /// The share of the work, where it is counted in parts.
    parts: Option<f64>,
}

impl Watch {
    /// Notes how many of all parts are done.
    pub fn part(&self, done: usize, of: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.parts = Some(done as f64 / of.max(1) as f64);
    }

    /// True once the work is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.meter.stop.store(true, Ordering::Relaxed);
    }

    /// The share of the work that is done, if it is known.
    fn share(&self) -> Option<f64> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let meter = &state.meter;
        let of_run = || Some(state.total?.share(load(&meter.events), load(&meter.signals)));
        state.parts.or_else(of_run)
    }
}

impl Observer for Watch {
    fn meter(&self) -> Option<Arc<Meter>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.meter = Arc::default();
        state.meter.stop.store(self.is_stopped(), Ordering::Relaxed);
        Some(Arc::clone(&state.meter))
    }

    fn begins(&self, total: Option<Work>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).total = total;
    }
}

/// Does `work` in a thread of its own and waits for it without the interpreter's lock. Meanwhile
/// handlers of signals run, and `progress` is called with the share that is done. An exception of
/// either, such as that of Ctrl-C, tells the work to stop and is raised at once.
pub fn carry_out<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let (sender, mut receiver) = mpsc::channel();
    let watched = Arc::clone(&watch);
    let begun = thread::Builder::new().name("heddle".to_owned()).spawn(move || {
        // Where nobody waits any more, nobody misses the result.
        let _ = sender.send(work(&watched));
    });
    begun.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    loop {
        let (received, same) = py.detach(move || (receiver.recv_timeout(PERIOD), receiver));
        receiver = same;
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                let message = "a defect of heddle: the thread of the simulation panicked";
                return Err(PyRuntimeError::new_err(message));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let shown = || match (progress, watch.share()) {
            (Some(progress), Some(share)) => progress.call1((share,)).map(|_| ()),
            _ => Ok(()),
        };
        if let Err(exception) = py.check_signals().and_then(|()| shown()) {
            watch.stop();
            return Err(exception);
        }
    }
}
