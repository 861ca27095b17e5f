//! mpi.
