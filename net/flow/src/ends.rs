//! The times at which the variables of one group complete their next flows.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::system::System;

/// The variables of a group by the reading of the group's clock at which they complete a flow.
/// Entries that no longer hold are left out when they come up.
#[derive(Debug, Default)]
pub struct Ends {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Ends {
    /// Notes the next end of a variable of the group.
    pub fn expect(&mut self, system: &System, variable: u32) {
        let state = &system.variables[variable as usize];
        self.heap.push(Reverse(((state.offset + state.first_end).to_bits(), variable)));
    }

    /// The reading of the clock of `group` at its next end, and the variable that ends.
    pub fn next(&mut self, system: &System, group: u32) -> Option<(f64, u32)> {
        while let Some(&Reverse((bits, variable))) = self.heap.peek() {
            let state = &system.variables[variable as usize];
            if state.group == group && (state.offset + state.first_end).to_bits() == bits {
                return Some((f64::from_bits(bits), variable));
            }
            self.heap.pop();
        }
        None
    }

    /// Removes the entry that [`Ends::next`] returns.
    pub fn pop(&mut self) {
        self.heap.pop();
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.heap.clear();
    }
}
