//! Compiles the costs of calls, and looks at what others have done.

use calls::{Class, polling};

use super::rank::Compiler;
use crate::options::Mode;
use crate::source::Stream;

impl Compiler<'_> {
    /// A look at the clock of a simulated run: it ends the computation so far.
    pub fn look_at_clock(&mut self) {
        if self.options.mode != Mode::Gaps {
            return;
        }
        let gap = self.computed();
        if gap > polling::BUSY {
            self.times = 0;
        }
        self.times += 1;
        let cost = polling::look_at_clock(self.options.simulated_calls.clock, self.times);
        self.ends(gap.saturating_add(cost));
        if let Some(chain) = self.threads.get_mut(self.now.thread) {
            chain.clock = self.now.leave;
        }
    }

    /// A turn of a simulated run that is no part of a call.
    pub fn turn_alone(&mut self) {
        if self.options.mode == Mode::Gaps {
            self.turn();
            if let Some(chain) = self.threads.get_mut(self.now.thread) {
                chain.clock = self.now.leave;
            }
        }
    }

    /// Returns the cost of a call besides what it waits for.
    pub fn cost(&self, class: Class, simulated: bool) -> u64 {
        let options = self.options;
        let costs = if simulated { &options.simulated_calls } else { &options.calls };
        match class {
            _ if options.mode != Mode::Gaps => 0,
            Class::Init => costs.init,
            Class::Iprobe | Class::Improbe => costs.iprobe,
            _ if class.is_look() => costs.test,
            _ => 0,
        }
    }

    /// Lets the cost of a call pass. For a look of a simulated run it grows with the number of
    /// looks in a row; for other calls it is part of the computation before them.
    pub fn look(&mut self, class: Class, stream: &Stream) {
        let is_flush = matches!(
            class,
            Class::Flush
                | Class::FlushAll
                | Class::FlushLocal
                | Class::FlushLocalAll
                | Class::Lock
                | Class::LockAll
                | Class::Unlock
                | Class::UnlockAll
        );
        if is_flush {
            // What they wait for tells whether they are looks.
            return;
        }
        let simulated = class.is_look() && stream.is_simulated();
        let mut cost = self.cost(class, simulated);
        if stream.between().is_some() {
            cost = cost.saturating_mul(self.tested.1);
        }
        if !simulated || self.options.mode != Mode::Gaps {
            if let Some(chain) = self.threads.get_mut(self.now.thread) {
                chain.carry += cost;
            }
            return;
        }
        self.times = 0;
        let gap = self.computed();
        if gap >= cost.saturating_mul(polling::APART) {
            self.looks = 0;
        }
        self.looks += 1;
        self.moment(gap, cost.saturating_mul(self.looks));
        if self.options.blocking && self.inside {
            self.out.looks.push(self.now.behind);
        }
    }
}
