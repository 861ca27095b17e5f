//! Topologies, routes and what is said of them.

mod common;
mod deadlock;
mod figures;
mod imports;
mod placement;
mod routes;
