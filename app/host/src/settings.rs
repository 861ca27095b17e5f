//! The settings of a simulation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kernel::TransportKind;
use loggops::{Classes, Parameters};
use units::Time;

use crate::{Error, Noise, SendDone, rails::Rails};

/// The way in which a message larger than the eager limit S waits for its receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rendezvous {
    /// The data travels at once; the sender is released at the match, with no message back.
    #[default]
    Abstract,
    /// A request and a clear-to-send travel as messages before the data does.
    RtsCts,
}

/// The progress of a simulation, for whoever watches from another thread.
#[derive(Debug, Default)]
pub struct Meter {
    /// Events handled: operations and messages.
    pub events: AtomicU64,
    /// Signals between processes of the network: packets and credits.
    pub signals: AtomicU64,
    /// Simulated time, in picoseconds.
    pub time_ps: AtomicU64,
    /// True once the simulation is to end early, with [`crate::Error::Stopped`].
    pub stop: AtomicBool,
}

impl Meter {
    pub(crate) fn advance(&self, events: u64, signals: u64, time: Time) {
        self.events.fetch_add(events, Ordering::Relaxed);
        if signals > 0 {
            self.signals.fetch_add(signals, Ordering::Relaxed);
        }
        self.time_ps.fetch_max(time.ps(), Ordering::Relaxed);
    }

    /// Returns an error if the simulation is to end early.
    pub(crate) fn goes_on(&self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// The settings of a simulation over LogGOPS.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The parameter set of LogGOPS. The costs of hosts come from it ([`crate::Costs`]), and so
    /// does the wire, where no other network takes its place.
    pub parameters: Parameters,
    /// Protocol of large messages.
    pub rendezvous: Rendezvous,
    /// The moment at which sends are done.
    pub send_done: SendDone,
    /// The rails of the hosts, where these are on several networks; the costs of messages between
    /// hosts come from them then.
    pub rails: Option<Arc<Rails>>,
    /// Classes of pairs of hosts that have costs of their own; on the wire of LogGOPS only.
    pub classes: Option<Arc<Classes>>,
    /// Interruptions by the operating system.
    pub noise: Noise,
    /// Length of the schedule's time unit, in which `calc` counts.
    pub time_unit: Time,
    /// Worker threads; at least 1.
    pub threads: usize,
    /// The transport of messages between workers.
    pub transport: TransportKind,
    /// Seed of all random streams.
    pub seed: u64,
    /// The meter that is told how far the simulation has come.
    pub progress: Option<Arc<Meter>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parameters: Parameters::default(),
            rendezvous: Rendezvous::default(),
            send_done: SendDone::default(),
            rails: None,
            classes: None,
            noise: Noise::default(),
            time_unit: Time::from_ps(1_000),
            threads: 1,
            transport: TransportKind::default(),
            seed: 1,
            progress: None,
        }
    }
}
