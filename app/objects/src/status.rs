//! The status of a message that has been received (MPI 4.1, sections 3.2.5 and 5.1.11).

use std::ffi::c_int;

use crate::abi::{self, Status};

impl Status {
    /// The status of no message.
    pub fn empty() -> Self {
        Self { source: abi::ANY_SOURCE, tag: abi::ANY_TAG, error: abi::SUCCESS, internal: [0; 5] }
    }

    /// The status of an operation that was cancelled.
    pub fn of_cancelled() -> Self {
        let mut status = Self::empty();
        status.set_cancelled(true);
        status
    }

    /// Bytes received.
    pub fn bytes(&self) -> u64 {
        let [low, high, ..] = self.internal;
        u64::from(high as u32) << 32 | u64::from(low as u32)
    }

    /// Says how many bytes were received.
    pub fn set_bytes(&mut self, bytes: u64) {
        let [low, high, ..] = &mut self.internal;
        (*low, *high) = (bytes as c_int, (bytes >> 32) as c_int);
    }

    /// True if the operation was cancelled.
    pub fn cancelled(&self) -> bool {
        self.internal[2] != 0
    }

    /// Says whether the operation was cancelled.
    pub fn set_cancelled(&mut self, cancelled: bool) {
        self.internal[2] = c_int::from(cancelled);
    }
}
