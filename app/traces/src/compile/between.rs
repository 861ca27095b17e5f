//! Compiles what a rank does between two calls, if its trace tells amounts: computation and sleep.

use schedule::Edge;

use super::rank::Compiler;
use crate::options::{Mode, Window};
use crate::record::{Between, Record};
use crate::source::Stream;

/// The error of a call whose time lies beyond the range.
pub const BEYOND: &str = "it begins after more than 213 days, where time ends";

/// Whole picoseconds, if they lie in the range of time.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn whole(time: f64) -> Option<u64> {
    (0.0..u64::MAX as f64).contains(&time).then_some(time as u64)
}

impl Compiler<'_> {
    /// Returns where the trace tells amounts, they take the place of the time between calls:
    /// computation takes as long as on its host, sleep as long as it says.
    pub fn between(&mut self, record: &Record, stream: &Stream) -> Result<(), String> {
        let Some(Between { computed, slept }) = stream.between() else { return Ok(()) };
        let by_clock =
            self.options.mode == Mode::Aligned || matches!(self.options.window, Window::Times(..));
        if by_clock && record.enter == u64::MAX {
            return Err(BEYOND.to_owned());
        }
        let Some(chain) = self.threads.first_mut() else { return Ok(()) };
        chain.clock = record.enter;
        let computed = (computed * self.factor).round();
        let times =
            [(&mut chain.carry, computed, "computation"), (&mut chain.slept, slept, "sleep")];
        for (sum, time, what) in times {
            *sum = whole(time).and_then(|time| sum.checked_add(time)).ok_or_else(|| {
                format!("the {what} before it takes {:e} s; time goes up to 213 days", time * 1e-12)
            })?;
        }
        Ok(())
    }

    /// Adds the sleep before the current call, ahead of the computation `before` it; gives what
    /// comes first.
    pub fn sleep(&mut self, before: u32) -> u32 {
        let chain = self.threads.get_mut(self.now.thread);
        let time = chain.map_or(0, |chain| std::mem::take(&mut chain.slept));
        if time == 0 || !self.inside {
            return before;
        }
        let sleep = self.calc(time);
        self.out.draft.depend(before, sleep, Edge::Done);
        if self.options.blocking {
            self.out.sleeps.push(sleep);
        }
        sleep
    }
}
