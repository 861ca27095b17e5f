//! Ways through butterflies: the digits of the destination, highest first, name the outputs.

use crate::shape::Butterfly;

/// The ways of a butterfly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Formula {
    radix: u32,
    stages: u32,
    width: u32,
}

impl Formula {
    pub const fn new(shape: Butterfly) -> Self {
        Self { radix: shape.radix, stages: shape.stages, width: shape.width() }
    }

    /// The output port.
    #[inline]
    pub const fn port(&self, switch: u32, destination: u32) -> u16 {
        let stage = switch / self.width;
        let digit = destination / self.radix.pow(self.stages - 1 - stage) % self.radix;
        (self.radix + digit) as u16
    }

    /// True if packets enter the network at a switch.
    pub const fn is_entry(&self, switch: u32) -> bool {
        switch < self.width
    }
}
