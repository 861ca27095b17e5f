//! Calls that neither send nor receive.

use super::completion::missed;
use super::rank::{Chain, Compiler};
use crate::record::Record;
use crate::source::Stream;
use calls::Class;

impl Compiler<'_> {
    /// Handles a call that needs no operations of its own; returns false for any other.
    pub fn needs_no_operations(&mut self, class: Class, record: &Record, stream: &Stream) -> bool {
        match class {
            Class::Local => {}
            // The program may be waiting for others to change its memory.
            Class::WinSync => {
                if stream.is_simulated() {
                    self.begin(record);
                    self.look(Class::WinSync, stream);
                    missed(self);
                }
            }
            Class::Init => {
                let early = if self.clock.is_some() { record.leave } else { 0 };
                let carry = early + self.cost(Class::Init, false);
                self.threads = vec![Chain { clock: record.leave, carry, ..Chain::default() }];
                self.window(record);
            }
            Class::Region => {
                self.region = Some(record.arguments().number());
                // Computation so far belongs to the region that ends.
                self.begin(record);
                self.pause();
                self.factor = self.options.scale.factor(self.rank, self.region);
            }
            Class::Abort => self.count(
                "MPI_Abort ends the trace; what other ranks would still have sent or received is \
                 missing",
            ),
            _ => return false,
        }
        true
    }
}
