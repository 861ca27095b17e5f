//! Schedules small enough to compute by hand, one behaviour each. All times are in nanoseconds.
//!
//! Unless a case says otherwise, L = 2500, o = 1500, g = 1000, G = 6, O = 0 and S = 65535 hold, so
//! that a message of 1 byte sent at 0 leaves its sender's CPU free at 1500, arrives at 4000 and is
//! received by 5500.

mod completion;
mod endings;
mod flows;
mod messages;
mod path;
mod rails;
mod receive;
mod rendezvous;
mod resources;
mod shared;

use host::{Error, Outcome, Settings, simulate, simulate_loggopsim};
use kernel::Silent;
use loggops::{Costs, Parameters};
use schedule::goal::Image;
use units::{Time, TimePerByte};

/// The parameters of one set, in nanoseconds, and S.
#[derive(Clone, Copy)]
struct Machine {
    l: u64,
    o: u64,
    g: u64,
    g_byte: u64,
    o_byte: u64,
    s: u64,
}

const DEFAULT: Machine = Machine { l: 2500, o: 1500, g: 1000, g_byte: 6, o_byte: 0, s: 65_535 };
const NOTHING: Machine = Machine { l: 0, o: 0, g: 0, g_byte: 0, o_byte: 0, s: 65_535 };

const fn ns(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

impl Machine {
    fn costs(self) -> Costs {
        let rate = |ns: u64| TimePerByte::new(ns * 1000, 1).expect("one byte");
        Costs {
            latency: ns(self.l),
            send_overhead: ns(self.o),
            receive_overhead: ns(self.o),
            gap: ns(self.g),
            gap_per_byte: rate(self.g_byte),
            send_overhead_per_byte: rate(self.o_byte),
            receive_overhead_per_byte: rate(self.o_byte),
        }
    }

    fn settings(self) -> Settings {
        let (costs, eager_limit) = (self.costs(), self.s);
        let parameters =
            Parameters { small: costs, large: costs, eager_limit, ..Parameters::default() };
        Settings { parameters, ..Settings::default() }
    }
}

fn image(text: &str) -> Image {
    Image::from_text(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}")).0
}

/// By the default rules.
fn run(text: &str, settings: &Settings) -> Result<Outcome, Error> {
    simulate(&image(text), settings, || Silent).map(|(outcome, _)| outcome)
}

/// As LogGOPSim does.
fn run_compat(text: &str, settings: &Settings) -> Result<Outcome, Error> {
    simulate_loggopsim(&image(text), settings, Silent).map(|(outcome, _)| outcome)
}

fn finish(outcome: Result<Outcome, Error>) -> Vec<u64> {
    let outcome = outcome.expect("it runs");
    assert_eq!(outcome.deadlock, None);
    outcome.ranks.iter().map(|rank| rank.finish.ps() / 1000).collect()
}

/// Finish times by the default rules.
#[track_caller]
fn check(text: &str, settings: &Settings, expected: &[u64]) {
    assert_eq!(finish(run(text, settings)), expected);
}

/// Finish times under `compat`.
#[track_caller]
fn check_compat(text: &str, settings: &Settings, expected: &[u64]) {
    assert_eq!(finish(run_compat(text, settings)), expected);
}

/// Finish times that are the same by both.
#[track_caller]
fn check_both(text: &str, settings: &Settings, expected: &[u64]) {
    check(text, settings, expected);
    check_compat(text, settings, expected);
}
