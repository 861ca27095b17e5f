//! What calls cost, and looks at what others have done.

use super::rank::Compiler;
use crate::format::table::Class;
use crate::options::Mode;
use crate::source::Stream;

impl Compiler<'_> {
    /// What a call costs besides what it waits for.
    pub fn cost(&mut self, class: Class, stream: &Stream) -> u64 {
        let options = self.options;
        let simulated = class.is_look() && stream.is_simulated();
        let costs = if simulated { &options.simulated_calls } else { &options.calls };
        let cost = match class {
            _ if options.mode != Mode::Gaps => return 0,
            Class::Init => costs.init,
            Class::Iprobe | Class::Improbe => costs.iprobe,
            _ if class.is_look() => costs.test,
            // What they wait for tells whether they are looks.
            Class::Flush
            | Class::FlushAll
            | Class::FlushLocal
            | Class::FlushLocalAll
            | Class::Lock
            | Class::LockAll
            | Class::Unlock
            | Class::UnlockAll => return 0,
            _ => 0,
        };
        self.looks = if simulated { self.looks + 1 } else { 0 };
        cost.saturating_mul(self.looks.max(1))
    }

    /// What a call costs besides what it waits for passes, if it is a look of a simulated run; otherwise that is part of the
    /// computation before it.
    pub fn look(&mut self, class: Class, stream: &Stream) {
        let cost = self.cost(class, stream);
        if let Some(chain) = self.threads.get_mut(self.now.thread) {
            chain.carry += cost;
        }
        if self.looks > 0 {
            // By itself, so that what comes is received between one look and the next.
            self.passes();
        }
    }
}
