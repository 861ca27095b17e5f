//! A line on the terminal that says how far a simulation is.

use std::{
    io::{self, IsTerminal},
    sync::{
        Arc, Mutex,
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
};

use experiment::{Meter, Observer, Work};
use results::Progress;

/// Shows the progress of simulations, one after the other, if standard error is a terminal.
#[derive(Default)]
pub struct Terminal {
    meter: Mutex<Arc<Meter>>,
    shown: Mutex<Option<Shown>>,
}

/// A thread that shows progress until it is told to stop.
struct Shown {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Observer for Terminal {
    fn meter(&self) -> Option<Arc<Meter>> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let meter = Arc::new(Meter::default());
        *self.meter.lock().ok()? = Arc::clone(&meter);
        Some(meter)
    }

    fn begins(&self, total: Option<Work>) {
        let (Ok(meter), Ok(mut shown)) = (self.meter.lock(), self.shown.lock()) else { return };
        let meter = Arc::clone(&meter);
        let (stop, stopped) = mpsc::channel();
        let show = move || {
            let progress = Progress {
                operations: &meter.events,
                signals: &meter.signals,
                simulated_ps: &meter.time_ps,
                total,
            };
            progress.during(|| {
                // A sender that is gone says the same as one that sends.
                let _ = stopped.recv();
            });
        };
        // Where the system has no room for a thread, nothing is shown.
        let thread = thread::Builder::new().spawn(show);
        *shown = thread.ok().map(|thread| Shown { stop, thread });
    }

    fn ends(&self) {
        let Some(Shown { stop, thread }) =
            self.shown.lock().ok().and_then(|mut shown| shown.take())
        else {
            return;
        };
        drop(stop);
        // It has nothing to give back, and a panic in it has been shown.
        let _ = thread.join();
    }
}
