//! Topologies, routes and what is said of them.

mod common;
mod deadlock;
mod figures;
mod routes;
