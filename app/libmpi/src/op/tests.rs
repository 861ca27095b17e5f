//! Results are calculated by hand from the definitions of the operations.
