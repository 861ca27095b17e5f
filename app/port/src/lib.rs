//! The boundary between a live rank and the simulator.
