//! The model `loggops`: a message takes L in the network, and messages do not meet. What it costs
//! its hosts is in [`super::hosts`], pairs of hosts with costs of their own are in
//! [`super::classes`]. Valid where the network is not the bottleneck; see the chapter "LogGOPS" of
//! the book.

use std::time::Instant;

use host::Work;
use kernel::Silent;
use results::Tables;

use super::{Model, Run, Simulated};
use crate::{job::Failure, settings::diagnostic::Diagnostic};

/// A network that is a wire between any two hosts; L stands in the settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Loggops;

#[expect(clippy::unnecessary_wraps, reason = "models are made alike")]
pub(crate) fn resolve() -> Result<(Loggops, Vec<String>), Vec<Diagnostic>> {
    Ok((Loggops, Vec::new()))
}

impl Model for Loggops {
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        run.watched(&|_, _, _| 0, |settings| {
            let start = Instant::now();
            let (outcome, tables) = if run.records() {
                let probe = || run.collector();
                let (outcome, probes) = host::simulate(program, settings, probe)?;
                (outcome, run.merge(probes)?)
            } else {
                (host::simulate(program, settings, || Silent)?.0, Tables::default())
            };
            Ok(Simulated::new(outcome, tables, start.elapsed()))
        })
    }
}
